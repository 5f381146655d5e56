#!/bin/sh
# Make the embedded models, each by one command: models.sh morph|meddocan|primary-care.
# morph: parts of speech and lemmas, from ../shared/data/labelled/ud.
# The others need ../shared/data/meddocan (MEDDOCAN train and dev, CC BY 4.0).
# Trains on train, scores and sets the recall dial on dev; nothing else of the
# corpus is looked at.
set -eu
data=${VELUM_DATA:-../shared/data}
work=${VELUM_WORK:-out/models}
velum=${VELUM:-bin/velum}
mkdir -p "$work"
case ${1:-} in
morph)
	ud=$data/labelled/ud
	"$velum" train --kind morph --name morph \
		--train "$ud/es_ancora-ud-dev.conllu.gz,$ud/es_gsd-ud-dev.conllu.gz,$ud/ca_ancora-ud-dev.conllu.gz" --out "$work/morph.velum"
	cp "$work/morph.velum" models/embedded/resources/
	exit
	;;
meddocan)
	"$velum" train --profile meddocan --kind crf --labels meddocan --name meddocan \
		--train "$data/meddocan/train" --dev "$data/meddocan/dev" --out "$work/meddocan.velum"
	;;
primary-care)
	# Reports as short notes: headers stripped, case and accents mangled in part;
	# three times, so that the same sentences come in several cases and cuts.
	go run ./scripts/shortnotes --in "$data/meddocan/train" --out "$work/short-train.jsonl" --seed 1 --copies 3
	go run ./scripts/shortnotes --in "$data/meddocan/dev" --out "$work/short-dev.jsonl" --seed 2
	# Generated notes; the templates and names of the two splits are disjoint.
	"$velum" synth --quiet --notes 60000 --seed 1 --split train --density 3 --out "$work/synth-train.jsonl"
	"$velum" synth --quiet --notes 8000 --seed 2 --split test --density 3 --out "$work/synth-dev.jsonl"
	"$velum" train --profile primary-care --kind crf --labels primary-care --name primary-care \
		--train "$work/short-train.jsonl,$work/synth-train.jsonl" \
		--dev "$work/short-dev.jsonl,$work/synth-dev.jsonl" --out "$work/primary-care.velum"
	;;
*)
	echo "usage: models.sh morph|meddocan|primary-care" >&2
	exit 2
	;;
esac
cp "$work/$1.velum" models/embedded/
