#!/bin/sh
# Two releases of the commit, in two folders with compiler caches of their own, have the same sums. Then the archive
# and the packages are installed into folders, and velum is run from there (needs dpkg and rpm): twice.sh FOLDER
set -eu
to=$(rm -rf "$1" && mkdir -p "$1" && cd "$1" && pwd)
here=$(pwd)
for n in first second; do
	git clone -q --no-hardlinks "$here" "$to/$n/velum"
	mkdir -p "$to/$n/velum/out"
	ln -s "$here/out/tools" "$to/$n/velum/out/tools"
	(test $n = first || export GOCACHE="$to/cache"; make -C "$to/$n/velum" release >"$to/$n.log" 2>&1) || { tail -20 "$to/$n.log"; exit 1; }
done
rm -rf "$to/cache"
cmp "$to/first/velum/out/release/SHA256SUMS" "$to/second/velum/out/release/SHA256SUMS"
cat "$to/first/velum/out/release/SHA256SUMS"
scripts/release/install.sh "$to/first/velum/out/release"
