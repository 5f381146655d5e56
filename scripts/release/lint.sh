#!/bin/sh
# Lints: golangci-lint as .golangci.yml says, where it is installed; else
# staticcheck alone, the pinned version, which needs the Go module proxy and
# nothing else. Where neither can be had: gofmt and vet, and says so. Import
# rules and the length of functions are tests (cmd/velum).
set -eu
pinned=$1
# Files for other systems than Linux are compiled by nothing else. Windows has no
# umask, no owner of a file and no signals as velum uses them: it is not supported.
GOOS=darwin go vet ./...
if command -v golangci-lint >/dev/null; then
	exec golangci-lint run
fi
unformatted=$(gofmt -l cmd configs models pipeline scripts stages)
test -z "$unformatted" || { echo "gofmt these:"; echo "$unformatted"; exit 1; }
go vet ./...
if go run "$pinned" -version >/dev/null 2>&1; then
	exec go run "$pinned" -checks 'all,-ST1000,-ST1003,-ST1016,-ST1020,-ST1021,-ST1022,-QF*' ./...
fi
echo "lint: neither golangci-lint nor the module proxy: gofmt and go vet only" >&2
