#!/bin/sh
# Runs golangci-lint: the installed one, else the pinned version through
# `go run`; where neither can be had, gofmt and vet alone, and says so.
set -eu
pinned=$1
if command -v golangci-lint >/dev/null; then
	exec golangci-lint run
fi
if go run "$pinned" version >/dev/null 2>&1; then
	exec go run "$pinned" run
fi
echo "lint: golangci-lint is not installed and cannot be fetched; gofmt and go vet only" >&2
unformatted=$(gofmt -l cmd configs models pipeline scripts stages)
test -z "$unformatted" || { echo "gofmt these:"; echo "$unformatted"; exit 1; }
exec go vet ./...
