#!/bin/sh
# What goes into a release beside the binary: manual pages, completions, and the licences of all that is linked.
#   before.sh FOLDER SECONDS VERSION COMMIT
set -eu
to=$1 seconds=$2
rm -rf "$to"
mkdir -p "$to/man" "$to/completions" "$to/wheels"
velum=$to/velum
CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$3 -X main.revision=$4" -o "$velum" ./cmd/velum
"$velum" help man "$to/man"
gzip -9 -n "$to"/man/*
for shell in bash zsh fish; do "$velum" completion $shell >"$to/completions/velum.$shell"; done
rm "$velum"

# every module of the binaries and Go itself, with each file that holds a licence or a notice
{
	go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/velum | LC_ALL=C sort -u
	echo "std $(go env GOVERSION) $(go env GOROOT)"
} | while read -r module version dir; do
	found=$(find "$dir" -maxdepth 1 -type f | grep -iE '/(LICEN[CS]E|COPYING|NOTICE|UNLICENSE|PATENTS)(\.[a-z]+)?$' | LC_ALL=C sort)
	test -n "$found" || found=$(find "$dir" -maxdepth 1 -iname 'README*' -exec grep -liE 'permission is hereby granted|redistribution and use|public domain' {} +) ||
		{ echo "$module has no licence" >&2; exit 1; }
	for file in $found; do
		printf '%s\n%s %s: %s\n\n' "$(printf '%080d' 0 | tr 0 =)" "$module" "$version" "${file##*/}"
		cat "$file"
		printf '\n\n'
	done
done >"$to/THIRD_PARTY_LICENSES"
test "$(grep -c '^====' "$to/THIRD_PARTY_LICENSES")" -gt 20
find "$to" -exec touch -h -d "@$seconds" {} +
