#!/bin/sh
# Names of persons without a labelled corpus, through the product alone: lists of
# names, a dictionary tagger (BOOT §3.6) counted in the archive, then learning
# that starts from it (BOOT §4.5). A few labelled notes choose thresholds and
# say when to stop; nothing is trained on them. Options are handed on to learn:
# nolabels.sh --turns 2 --k 5000
# Needs ../shared/data (gazetteers, meddocan, unlabelled-es-phi).
set -eu
cd "$(dirname "$0")/../.."
data=${VELUM_DATA:-../shared/data}
work=${VELUM_WORK:-out/nolabels}
velum=${VELUM:-bin/velum}
slice=${SLICE:-50} # labelled documents, the first of train
lists=$data/gazetteers
ine=$lists/names-es-ine
rm -rf "$work" && mkdir -p "$work/few" "$work/archive"
"$velum" gazetteer build --quiet --out "$work/names.velum" \
	"$ine/hombres.csv.gz,$ine/mujeres.csv.gz" "$ine/apellidos.csv.gz,$ine/apellidos-20.csv.gz" \
	"$ine/apellidos-contextsafe.tsv.gz" "$lists/cognoms-barcelona/cognoms-bcn-2024.tsv.gz"
"$velum" gazetteer build --quiet --out "$work/words.velum" CommonWord="$lists/wordfreq/es_50k.txt.gz"
find "$data/meddocan/train" -name '*.ann' | sort | head -n "$slice" | while read -r ann; do
	cp "$ann" "${ann%.ann}.txt" "$work/few/"
done
"$velum" convert --quiet --in "$data/meddocan/train" --from brat --out "$work/archive/train.jsonl" --to jsonl
"$velum" train --quiet --kind dictionary --gazetteer "$work/names.velum" --negative "$work/words.velum" \
	--archive "$work/archive/train.jsonl" --dev "$work/few" --out "$work/names-model.velum"
"$velum" learn --quiet --in "$work/archive" --dev "$work/few" --start "$work/names-model.velum" --labels primary-care \
	--out "$work/learned" --set learn.unit=line --set learn.again=true --set choose.classes=PERSON=1 "$@"
for model in "$work/names-model.velum" "$work/learned/models"; do
	echo "$model"
	"$velum" evaluate --quiet --gold "$data/meddocan/dev" --from brat --model "$model" --categories primary-care --draws -1 --brief
done
