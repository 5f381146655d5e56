#!/bin/sh
# GoReleaser and cyclonedx-gomod, pinned, from the Go module proxy: tools.sh FOLDER
set -eu
to=$(mkdir -p "$1" && cd "$1" && pwd)
export GOBIN="$to" GOFLAGS=-trimpath CGO_ENABLED=0
test -x "$to/goreleaser" || go install github.com/goreleaser/goreleaser/v2@v2.15.1
test -x "$to/cyclonedx-gomod" && exit
# a module of its own: go install asks the proxy for a list of versions that not every mirror has
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
printf 'module tools\n\ngo 1.26\n\nrequire github.com/CycloneDX/cyclonedx-gomod v1.7.0\n' >go.mod
go build -mod=mod -o "$to/cyclonedx-gomod" github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
