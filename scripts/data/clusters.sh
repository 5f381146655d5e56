#!/bin/sh
# Vectors and clusters of words from text without labels, in three
# normalizations, for cluster/NAME groups of a tagger:
#
#   scripts/data/clusters.sh [OUT] [OPTIONS of velum embed]     OUT: out/clusters
#
# From ../shared/data: Spanish clinical text without the bodies of MEDDOCAN's
# dev documents, documents of MEDDOCAN's kind without labels, the texts of
# MEDDOCAN train, general Spanish and Catalan. Nothing of dev is read.
set -eu
cd "$(dirname "$0")/../.."
out=${1:-out/clusters}
[ $# -eq 0 ] || shift
velum=${VELUM:-bin/velum}
data=../shared/data
umask 077
mkdir -p "$out/text"

for file in "$data"/unlabelled-es-clinical/*.jsonl.gz; do
	gunzip -c "$file" | grep -v '"meddocan": *"dev:' | gzip -1 >"$out/text/$(basename "$file")"
done
if gunzip -c "$out"/text/*.jsonl.gz | grep -q '"meddocan": *"dev:'; then
	echo "clusters.sh: a body of a dev document was left in" >&2
	exit 1
fi

set -- "$@" --in "$data/meddocan/train"
for file in "$out"/text/*.jsonl.gz "$data"/unlabelled-es-phi/*.jsonl.gz "$data"/general/es/*.txt.gz "$data"/general/ca/*.txt.gz; do
	set -- "$@" --in "$file"
done
# one worker each: the same files every time
for norm in form lower fold; do
	"$velum" embed --workers 1 "$@" --normalization "$norm" --out "$out/clusters-$norm.velum" &
done
wait
ls -l "$out"/clusters-*.velum
