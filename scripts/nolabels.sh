#!/bin/sh
# Names of persons without a labelled corpus, see scripts/nolabels/main.go:
# lists of names from INE, then dictionary taggers, then CRFs. Options are
# handed on: nolabels.sh --draws 1 --without 20
# Needs ../shared/data (gazetteers, meddocan, unlabelled-es-*).
set -eu
cd "$(dirname "$0")/.."
data=${VELUM_DATA:-../shared/data}
work=${VELUM_WORK:-out/nolabels}
velum=${VELUM:-bin/velum}
lists=$data/gazetteers
ine=$lists/names-es-ine
mkdir -p "$work"
"$velum" gazetteer build --quiet --out "$work/names.velum" \
	"$ine/hombres.csv.gz,$ine/mujeres.csv.gz" "$ine/apellidos.csv.gz,$ine/apellidos-20.csv.gz" \
	"$ine/apellidos-contextsafe.tsv.gz" "$lists/cognoms-barcelona/cognoms-bcn-2024.tsv.gz"
"$velum" gazetteer build --quiet --out "$work/words.velum" CommonWord="$lists/wordfreq/es_50k.txt.gz"
go run ./scripts/nolabels --data "$data" --gazetteer "$work/names.velum" --negative "$work/words.velum" "$@"
