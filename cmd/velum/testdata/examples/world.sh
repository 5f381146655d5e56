# The little world in which all examples of help texts and README.md run as they
# stand: everything that they name, small. All notes are invented (velum teach synth).
# Runs in an empty folder; SAMPLE is testdata/sample.
set -e
synth() { velum teach synth --quiet --density 6 "$@" > /dev/null; }

mkdir -p archive/2019-03 archive/2026-01 archive/2026-02 meddocan bin man
for month in 01 02; do
	cp "$SAMPLE/year=2026/month=$month/notes.parquet" 2026-$month.parquet
	cp 2026-$month.parquet archive/2026-$month/notes.parquet
done
synth --notes 40 --seed 9 --months 1 --out old-archive --to archive
cp old-archive/year=2026/month=01/notes.parquet archive/2019-03/notes.parquet
printf '#!/bin/sh\nexec velum "$@"\n' > bin/velum
chmod +x bin/velum

# Labelled notes, in brat and JSONL.
synth --notes 60 --seed 1 --split train --out train --to brat
synth --notes 40 --seed 2 --out notes --to brat
velum model tag --quiet --in notes --out dev --to brat --model meddocan > /dev/null
synth --notes 60 --seed 3 --out gold.jsonl
synth --notes 20 --seed 4 --out few.jsonl
cp -r train labelled
cp -r train meddocan/train
cp -r dev meddocan/dev
velum teach convert --quiet --in dev --out dev.jsonl > /dev/null
cp gold.jsonl selected.jsonl
sed 's/"PERSON"/"MEDICO"/g; s/"AGE"/"EDAT"/g' few.jsonl > theirs.jsonl
velum teach convert --quiet --in few.jsonl --out labels.jsonl --offsets-out utf16 > /dev/null
cp -r dev tagged
velum model tag --quiet --in notes --out old --to brat --model meddocan --recall 0.99 > /dev/null

# Notes without labels.
awk 'BEGIN { for (i = 1; i <= 40; i++) printf "{\"id\": \"%d\", \"text\": \"Acude con su hermana Rosa Puig, vive en Reus; la dra Mas. Control en %d semanas.\"}\n", i, i }' > notes.jsonl
gzip -k notes.jsonl
awk -F'"' 'BEGIN { print "codigo,nota" } { print $4 ",\"" $8 "\"" }' notes.jsonl > export.csv
cp export.csv notas.csv
velum init --quiet --yes export.csv

# Lists, treebanks, a key.
printf 'ID,NOMBRE,FRECUENCIA\n1,JUAN,300000\n2,PERE,30000\n' > hombres.csv
printf 'ID,NOMBRE,FRECUENCIA\n1,ROSA,300000\n2,MARIA CARMEN,600000\n' > mujeres.csv
printf 'ID,APELLIDO,FRECUENCIA\n1,GARCIA,1400000\n2,PUIG,30000\n' > apellidos.csv
printf 'de 9000\nla 8000\nrosa 100\n' > es_50k.txt
printf 'first,last\nAina,Ferrer\nPol,Bosch\n' > staff.csv
velum teach gazetteer build --quiet --out names.velum hombres.csv,mujeres.csv apellidos.csv --words es_50k.txt > /dev/null
velum teach gazetteer build --quiet --out staff.velum 'GivenName=staff.csv?form=first' 'Surname=staff.csv?form=last' > /dev/null
for language in es ca; do
	printf '1\tLa\tel\tDET\t_\tGender=Fem\t2\tdet\t_\t_\n2\tcasa\tcasa\tNOUN\t_\t_\t0\troot\t_\t_\n\n' | gzip > $language.conllu.gz
done
velum teach train --quiet --kind dictionary --gazetteer names.velum --archive notes.jsonl --out dictionary.velum > /dev/null
velum teach train --quiet --kind words --archive archive/2026-01/notes.parquet --out common.velum > /dev/null
printf 'center\ncenter-1\n' > people.csv
printf 'patient_id\nnobody-1\nnobody-2\n' > objections.csv
head -c 32 /dev/urandom > study.key
chmod 0400 study.key

# Rules that people write, questions and two curators' answers to them, names to try.
printf 'version 1\nwords ward sala planta\nnetwork ward LOCATION 0.9\n  begin words:ward -> name\n  name cap / open -> end\n' > old.atn
{ cat old.atn; printf 'words doctor dr dra\nnetwork doctor PERSON 0.9\n  begin words:doctor -> name\n  name cap / open -> end\n'; } > ours.atn
printf 'version 1\nwords +title hna sor\n' > words.atn
velum teach rules build --quiet shipped --out rules.velum > /dev/null
cp gold.jsonl questions.jsonl
cp few.jsonl anna.jsonl
sed 's/"PERSON"/"LOCATION"/' few.jsonl > pere.jsonl
cp few.jsonl answers.jsonl
mkdir -p DIR && rmdir DIR
printf 'Rosa Puig\nJoan Serra\nNuria Mas\n' > people.txt

# Models, a run, an extract with sealed values.
velum teach train --quiet --train train --dev dev --out my.model > /dev/null
velum teach train --quiet --train few.jsonl --dev dev --iterations 1 --out first.velum > /dev/null
velum teach train --quiet --kind bilstm --train train --dev dev --out net.model > /dev/null
for name in night all without-a without-b; do cp my.model $name.velum; done
mkdir -p out/english && cp my.model out/english/english.velum
cp gold.jsonl a.jsonl
synth --notes 60 --seed 13 --out b.jsonl
velum teach train --quiet --labels meddocan --train dev --out m.velum > /dev/null
velum teach train --quiet --kind bilstm --labels meddocan --train dev --out net.velum > /dev/null
velum model promote --quiet --force first.velum --models models/ > /dev/null
velum model promote --quiet --force m.velum --models models/ > /dev/null
velum teach embed --quiet --in archive/ --out words.velum --min-notes 5 > /dev/null
velum run --quiet --in archive/ --out masked/ --audit 598 > /dev/null
cp -r masked masked-new
cp -r masked.private masked-new.private
velum run --quiet --in 2026-01.parquet --out january/ --set read.columns.patient=patient_id > /dev/null
velum prove log masked/ --json | sed 's/.*"head":"\([0-9a-f]*\)".*/\1/' > head.txt
velum mask --quiet --tagged masked/ --in archive/ --out extract/ --set key.file=study.key --set 'mask.operators=PERSON=encrypt' > /dev/null
cp masked.private/_audit/audit.jsonl releases.jsonl
printf 'mask: {policy: research}\nkey: {file: study.key}\nread: {columns: {patient: patient_id, date: date}, keep: [center]}\nchoose: {use: false}\nanonymity: {k: 2, columns: {center: value}}\n' > study.yaml
velum run --quiet --config study.yaml --in archive/ --out study/ > /dev/null
velum evidence --facts-template > house.yaml
velum evidence --quiet study/ > /dev/null
echo '{"message_type":"finding","attack":"repetition","verdict":"passed"}' > attacks.json
# the key of RFC 8410, which everybody has
printf '%s\n' '-----BEGIN PRIVATE KEY-----' MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC '-----END PRIVATE KEY-----' > key.pem
printf '%s\n' '-----BEGIN PUBLIC KEY-----' MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE= '-----END PUBLIC KEY-----' > public.pem
cp "$(find extract/masked -name '*.parquet' | head -n 1)" extract/masked/part-000.parquet
cp extract/masked/part-000.parquet part.parquet

printf 'learn:\n  in: [archive/]\n  gold: [labelled/]\n' > learn.yaml
velum teach learn --quiet --config learn.yaml --out learned > /dev/null
velum teach learn --quiet --config learn.yaml --out learned --ask 20 --to brat --questions correct > /dev/null
printf 'tag:\n  recall: 0.98\n' > night.yaml

# documents of other systems
mkdir bulk
printf '%s\n' '{"resourceType":"DocumentReference","id":"1","subject":{"reference":"Patient/463","display":"Ana Rovira"},"description":"Avisa Ana Rovira"}' > bulk/notes.ndjson
printf 'MSH|^~\\&|LAB|HSP|EHR|HSP|20260105||ORU^R01|1|P|2.5\rPID|1||463||Rovira^Ana\rOBX|1|TX|1||Avisa Ana Rovira\r' > bulk/messages.hl7
printf '%s\n' '{"note_id":11,"person_id":4637,"note_date":"2026-01-05","note_text":"Avisa a la Dra. Rovira, tel 600 123 456."}' > note.jsonl
printf 'NOTE_ID,PERSON_ID,NOTE_DATE,NOTE_TEXT\n11,4637,2026-01-05,"Avisa a la Dra. Rovira, tel 600 123 456."\n' > note.csv
