#!/bin/sh
# Runs every fuzz target of the project for a time each: fuzz.sh 30s
# FUZZFLAGS are more flags of `go test`, as in FUZZFLAGS="-parallel 1"
set -eu
time=${1:-30s}
status=0
for file in $(grep -rl --include='*_test.go' '^func Fuzz' cmd configs models pipeline stages); do
	for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file"); do
		echo "== $(dirname "$file") $target"
		go test "./$(dirname "$file")" -run '^$' -fuzz "^$target\$" -fuzztime "$time" ${FUZZFLAGS:-} || status=1
	done
done
exit $status
