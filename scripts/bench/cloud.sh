#!/bin/bash
# velum-cloud against servers of three kinds on this machine: scripts/bench/cloud.sh [ARCHIVE]
# Servers come from the registries, once, into out/cloud: versitygw (S3), fake-gcs-server, azurite (npm).
set -euo pipefail
cd "$(dirname "$0")/../.."
at=${CLOUD_PROGRAMS:-$PWD/out/cloud}
mkdir -p "$at"
test -x "$at/versitygw" || GOBIN=$at nice -n 10 go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
test -x "$at/fake-gcs-server" || GOBIN=$at nice -n 10 go install github.com/fsouza/fake-gcs-server@v1.56.1
test -x "$at/node_modules/.bin/azurite-blob" || npm install --prefix "$at" --no-fund --no-audit azurite@3.37.0
work=$(mktemp -d)
archive=${1:-$work/archive} # 24,000 generated notes in six months
test $# -gt 0 || go run ./scripts/data/archive --data "$work/none" --notes 24000 --months 6 --out "$archive"
pids=
trap 'kill $pids 2>/dev/null || true; wait; rm -rf "$work"' EXIT
mkdir -p "$work/s3/velum" "$work/gcs/velum" "$work/azure"
"$at/versitygw" --quiet --port 127.0.0.1:17070 --access test --secret testsecret posix "$work/s3" >"$work/s3.log" 2>&1 & pids="$pids $!"
"$at/fake-gcs-server" -scheme http -host 127.0.0.1 -port 17090 -public-host 127.0.0.1:17091 -external-url http://127.0.0.1:17091 -backend memory -data "$work/gcs" -log-level error >"$work/gcs.log" 2>&1 & pids="$pids $!"
node "$at/node_modules/azurite/dist/src/blob/main.js" --silent --skipApiVersionCheck --blobHost 127.0.0.1 --blobPort 17100 --location "$work/azure" >"$work/azure.log" 2>&1 & pids="$pids $!"
for port in 17070 17090 17100; do
  for _ in $(seq 60); do (echo >/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 1; done
done
# the account and key that Azurite documents for everybody
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=testsecret AWS_REGION=us-east-1
export AZURE_STORAGE_ACCOUNT=devstoreaccount1
export AZURE_STORAGE_KEY=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
export CLOUD_BIN=$PWD/bin CLOUD_ARCHIVE=$(realpath "$archive")
export CLOUD_SERVERS="${SERVERS:-
S3 s3://velum/PATH?endpoint=http://HOST&use_path_style=true 127.0.0.1:17070
GCS gs://velum/PATH 127.0.0.1:17090
Azure azblob://velum/PATH?protocol=http&domain=HOST&localemu=true 127.0.0.1:17100}"
(cd cmd/velum-cloud && nice -n 5 go test -count 1 -timeout 60m -v -run TestServers .)
if grep -rlE 'Zanahoriez|Qwertzuiop|48213397' "$work"/*.log; then
  echo "a word of a note is in the log of a server" >&2
  exit 1
fi
