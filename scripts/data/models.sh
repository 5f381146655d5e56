#!/bin/sh
# Make the embedded models, each by one command: models.sh morph|clusters|meddocan|primary-care|cascade|inverse; and reports, which is not embedded.
# morph: parts of speech and lemmas, from ../shared/data/labelled/ud.
# The others need ../shared/data: MEDDOCAN (CC BY 4.0), and primary-care the real
# notes and hands of labelled/ too, all of them: what nobody tuned on is what others
# hold back. Scores and dial are of writers and kinds that were left out.
# meddocan that ships trains on train, dev and the background reports whole, with
# what was chosen before: its scores and dial are those of the same recipe without
# dev (train and the bodies of the background reports).
#
# cascade is primary-care and a network: make it after, with a binary that holds
# the new primary-care.
#
# --real names the notes that were held out: what a report says of what is left
# rests on them. `velum model measure` does the same to a model that there is.
#
# reports is the network of meddocan, four more and a CRF in one file, for archives of hospital reports that may cost more. It stays in $work; its
# SHA-256 is printed.
#
# A CRF's objective is convex: begun at the weights of a model of most of the same
# notes (--init), a third of the iterations lead as far.
set -eu
data=${VELUM_DATA:-../shared/data}
work=${VELUM_WORK:-out/models}
velum=${VELUM:-bin/velum}
mkdir -p "$work"
# What primary-care and cascade learn from is made by scripts/bench/real/transfer.py in $real: all.train.jsonl, of all writers and sources. Their scores,
# dial and risk are those of the same recipe without the first fold of writers and kinds of document, on that fold.
real=$work/real
fold0=$real/held-nubes-0.jsonl,$real/held-notes-ca-0.jsonl,$real/held-voices-0.jsonl,$real/held-hands-0.jsonl
held="writers and kinds of document left out: nubes-phi, notes-ca, notes-voices, our hands"

# Strangers and reports together, then four passes over reports alone: strict F1 .9722 to .9738 on dev, and names of strangers .988 to .969.
network() { # NAME SEED "options of the first pass" FOLDERS...
	out=$work/meddocan-$1-$2 seed=$2 options=$3
	shift 3
	folders=$(IFS=,; echo "$*")
	"$velum" teach train --profile meddocan --kind bilstm --labels meddocan --name meddocan $options --set network.seed="$seed" --set network.noise=0.1 --set network.blind=0.1 \
		--train "$folders,$work/real/strangers.jsonl" --out "$out-first.velum"
	"$velum" teach train --profile meddocan --kind bilstm --labels meddocan --name meddocan --init "$out-first.velum" --epochs 4 --set network.rate=0.0015 \
		--set network.seed=$((seed + 5)) --train "$folders" --out "$out.velum"
}

# Each network is made twice: "dev" has seen nothing of dev, nor the headers of the background reports, which are shared with dev; scores and dial are its.
networks() { # SEEDS...
	python3 scripts/bench/real/corpora.py bodies --work "$work/real"
	# Names of strangers in short notes: our hands and notes-voices with other names, in MEDDOCAN's labels. What the hands do not mark (sex, kin) is what a CRF of
	# reports alone finds in their notes; a fifth of its reports once more in small letters, a tenth in capitals.
	python3 scripts/bench/real/cases.py "$work/real/cases-dev" "$data/meddocan/train" "$work/real/background-bodies"
	"$velum" teach train --profile meddocan --kind crf --labels meddocan --out "$work/meddocan-reports.velum" \
		--train "$data/meddocan/train,$work/real/background-bodies,$work/real/cases-dev"
	VELUM="$velum" python3 scripts/bench/real/strangers.py "$work/meddocan-reports.velum" "$work/real/strangers.jsonl"
	for seed; do
		network dev "$seed" "" "$data/meddocan/train" "$work/real/background-bodies"
		network all "$seed" "--init $work/meddocan-dev-$seed-first.velum --epochs 4" "$data/meddocan/train" "$data/meddocan/dev" "$work/real/background"
	done
}

case ${1:-} in
morph)
	ud=$data/labelled/ud
	"$velum" teach train --kind morph --name morph \
		--train "$ud/es_ancora-ud-dev.conllu.gz,$ud/es_gsd-ud-dev.conllu.gz,$ud/ca_ancora-ud-dev.conllu.gz" --out "$work/morph.velum"
	cp "$work/morph.velum" models/embedded/resources/
	exit
	;;
meddocan)
	networks 4
	"$velum" model measure --profile meddocan --model "$work/meddocan-dev-4.velum" --gold "$data/meddocan/dev" --real "MEDDOCAN dev" --out "$work/meddocan-scores.velum"
	"$velum" model measure --profile meddocan --model "$work/meddocan-all-4.velum" --scores "$work/meddocan-scores.velum" --out "$work/meddocan.velum"
	;;
reports)
	networks 4 5 6 7 8
	# The CRF decides the lines of which it is sure; it and the networks, with half of the mean each, the others.
	"$velum" teach train --profile meddocan --kind crf --labels meddocan --name meddocan-crf --init "$work/meddocan-reports.velum" --iterations 40 \
		--train "$data/meddocan/train,$data/meddocan/dev,$work/real/background,$work/real/cases-dev" --out "$work/meddocan-crf.velum"
	together() { # NAME CRF OPTIONS...
		name=$1 members=$2
		for seed in 4 5 6 7 8; do members=$members,$work/meddocan-$1-$seed.velum; done
		shift 2
		"$velum" teach train --profile meddocan --kind ensemble --mode cascade --set ensemble.threshold=0.99 --labels meddocan --name reports --members "$members" \
			--train "$data/meddocan/dev" "$@" --out "$work/reports-$name.velum"
	}
	together dev "$work/meddocan-reports.velum" --dev "$data/meddocan/dev" --real "MEDDOCAN dev"
	together all "$work/meddocan-crf.velum" --scores "$work/reports-dev.velum"
	mv "$work/reports-all.velum" "$work/reports.velum"
	cd "$work"
	exec sha256sum reports.velum
	;;
clusters)
	# Clusters of words from clinical and general text without labels, of which each model of short notes holds its own copy: a
	# training takes those of primary-care in the binary, unless VELUM_CLUSTERS names this file.
	text=$work/text
	mkdir -p "$text"
	for file in "$data"/unlabelled-es-clinical/*.jsonl.gz; do
		gunzip -c "$file" | grep -v '"meddocan": *"dev:' | gzip -1 >"$text/$(basename "$file")"
	done
	set -- --in "$data/meddocan/train"
	for file in "$text"/*.jsonl.gz "$data"/unlabelled-ca/*.gz "$data"/general/es/*.txt.gz "$data"/general/ca/*.txt.gz; do
		set -- "$@" --in "$file"
	done
	"$velum" teach embed --quiet --workers 1 "$@" --normalization fold --epochs 4 --clusters 128,1024 --out "$work/fold.velum"
	exit
	;;
primary-care)
	# 60 iterations from cold, 220 s of processor time.
	# The calibration in the header is of the first two folds, trained as what ships: velum model measure --held FOLD0=... --held FOLD1=... For cascade they and their networks.
	python3 scripts/bench/real/transfer.py --work "$real" --velum "$velum" --prepare
	python3 scripts/bench/real/transfer.py --work "$real" --velum "$velum" --kinds crf --sources "" --folds 0
	"$velum" model measure --profile primary-care --model "$real/fold0-crf.velum" --gold "$fold0" --real "$held" --out "$work/primary-care-fold0.velum"
	"$velum" teach train --profile primary-care --kind crf --labels primary-care --name primary-care --iterations 60 --set train.bias=0.5 --workers 1 --train "$real/all.train.jsonl" \
		${VELUM_CLUSTERS:+--clusters "c128=$VELUM_CLUSTERS:128,c1024=$VELUM_CLUSTERS:1024"} --scores "$work/primary-care-fold0.velum" --out "$work/primary-care.velum"
	;;
inverse)
	# No note of a hospital: none of NUBes, nor what was put into Catalan from it. Words of MEDDOCAN dev's bodies are left out.
	real=out/real
	mkdir -p "$real" "$work/text"
	python3 scripts/bench/real/corpora.py bodies
	python3 scripts/bench/real/corpora.py capitals
	python3 scripts/data/shortnotes.py --in "$data/meddocan/train" --out "$real/short-train.jsonl" --seed 1
	python3 scripts/data/shortnotes.py --in "$real/background-bodies" --out "$real/short-background.jsonl" --seed 3
	python3 scripts/bench/real/corpora.py short
	"$velum" teach synth --quiet --notes 30000 --seed 1 --split train --density 3 --out "$real/synth-train.jsonl"
	set -- "$1" "$data/meddocan/train,$real/general.jsonl,$real/synth-train.jsonl,$data/unlabelled-en-clinical/casimedicos-en.jsonl.gz,$work/text/codiesp-en-mt.jsonl.gz"
	# Documents of MEDDOCAN dev, in Spanish and as machines translate them.
	for note in "$data"/meddocan/dev/*.txt; do echo "\"id\": \"$(basename "$note" .txt)\""; done >"$work/text/dev-ids"
	gunzip -c "$data/unlabelled-en-clinical/codiesp-en-mt.jsonl.gz" | grep -vFf "$work/text/dev-ids" | gzip -1 >"$work/text/codiesp-en-mt.jsonl.gz"
	for name in cantemist multicardioner casimedicos codiesp; do
		gunzip -c "$data/unlabelled-es-clinical/$name.jsonl.gz" | grep -v '"meddocan": *"dev:' | gzip -1 >"$work/text/$name.jsonl.gz"
		set -- "$1" "$2,$work/text/$name.jsonl.gz"
	done
	"$velum" teach train --kind words --min-count 3 --min-patients 2 --archive "$2" --out "$work/words.velum"
	# Two CRFs: one of reports and generated notes, and one that went on from there with general sentences, which knows names in running text. Each
	# lets in what the other masks; their mean loses a third fewer safe words at equal recall. The second one that ships is the one of before, made of words of
	# 5 in 3 notes, with 60 iterations of the first. Its counts held the English machine translations of documents of MEDDOCAN dev (counts of words,
	# nothing else), which are left out above: no figure for MEDDOCAN is of this model.
	notes=$data/meddocan/train,$real/short-train.jsonl,$real/short-background.jsonl,$real/synth-train.jsonl
	"$velum" teach train --kind inverse --words "$work/words.velum" --train "$notes" --iterations 50 --out "$work/inverse-first.velum"
	"$velum" teach train --kind inverse --words "$work/words.velum" --init "$work/inverse-first.velum" --iterations 30 \
		--train "$notes,$real/capitals.jsonl" --out "$work/inverse-second.velum"
	# A mean takes nothing from its notes, but wants some.
	"$velum" teach train --kind inverse --name inverse --learner ensemble --mode mean --members "$work/inverse-first.velum,$work/inverse-second.velum" \
		--train "$data/meddocan/train" --out "$work/inverse.velum"
	;;
cascade)
	# primary-care of the binary, and a network on the same notes; four fifths of the mean are the network's in the lines of which that is not sure. 200 s of processor time each, the
	# network from cold: four passes more from the weights of before lost .005 of writers left out.
	python3 scripts/bench/real/transfer.py --work "$real" --velum "$velum" --prepare
	python3 scripts/bench/real/transfer.py --work "$real" --velum "$velum" --kinds cascade --sources "" --folds 0
	"$velum" model measure --profile primary-care --model "$real/fold0-cascade.velum" --gold "$fold0" --real "$held" --out "$work/cascade-fold0.velum"
	"$velum" teach train --profile primary-care --kind bilstm --labels primary-care --name primary-care-network --epochs 4 --workers 1 \
		--template network-lean --set network.noise=0.1 --set network.blind=0.3 --train "$real/all.train.jsonl" --out "$work/primary-care-network.velum"
	"$velum" teach train --profile primary-care --kind ensemble --mode cascade --labels primary-care --name cascade --set ensemble.threshold=0.95 --set ensemble.first=0.2 --set ensemble.bias=0.6 \
		--members "primary-care,$work/primary-care-network.velum" --train "$real/held-notes-ca-0.jsonl" --scores "$work/cascade-fold0.velum" --out "$work/cascade.velum"
	;;
*)
	echo "usage: models.sh morph|clusters|meddocan|primary-care|cascade|inverse|reports" >&2
	exit 2
	;;
esac
cp "$work/$1.velum" models/embedded/
go run ./scripts/data/pack
