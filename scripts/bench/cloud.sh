#!/bin/bash
# velum-cloud against servers of three kinds on this machine: scripts/bench/cloud.sh [ARCHIVE]
# Servers come from the registries, once, into out/cloud: versitygw (S3), fake-gcs-server, azurite (npm).
set -euo pipefail
cd "$(dirname "$0")/../.."
archive=$(realpath "${1:-cmd/velum/testdata/sample}")
at=${CLOUD_SERVERS:-$PWD/out/cloud}
mkdir -p "$at"
test -x "$at/versitygw" || GOBIN=$at nice -n 10 go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
test -x "$at/fake-gcs-server" || GOBIN=$at nice -n 10 go install github.com/fsouza/fake-gcs-server@v1.56.1
test -x "$at/node_modules/.bin/azurite-blob" || npm install --prefix "$at" --no-fund --no-audit azurite@3.37.0
work=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null || true; wait; rm -rf "$work"' EXIT
mkdir -p "$work/s3/velum" "$work/gcs/velum" "$work/azure"
"$at/versitygw" --quiet --port 127.0.0.1:17070 --access test --secret testsecret posix "$work/s3" >"$work/s3.log" 2>&1 & pids="$pids $!"
"$at/fake-gcs-server" -scheme http -host 127.0.0.1 -port 17090 -backend memory -data "$work/gcs" -log-level error >"$work/gcs.log" 2>&1 & pids="$pids $!"
node "$at/node_modules/azurite/dist/src/blob/main.js" --silent --skipApiVersionCheck --blobHost 127.0.0.1 --blobPort 17100 --location "$work/azure" >"$work/azure.log" 2>&1 & pids="$pids $!"
sleep 5
# the account and key that Azurite documents for everybody
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=testsecret AWS_REGION=us-east-1
export AZURE_STORAGE_ACCOUNT=devstoreaccount1
export AZURE_STORAGE_KEY=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
# Azurite begins without containers; the two others take folders for buckets
python3 - <<'END'
import base64, email.utils, hashlib, hmac, os, urllib.request
account, key = os.environ["AZURE_STORAGE_ACCOUNT"], base64.b64decode(os.environ["AZURE_STORAGE_KEY"])
date = email.utils.formatdate(usegmt=True)
said = f"PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-12-02\n/{account}/{account}/velum\nrestype:container"
sign = base64.b64encode(hmac.new(key, said.encode(), hashlib.sha256).digest()).decode()
r = urllib.request.Request(f"http://127.0.0.1:17100/{account}/velum?restype=container", method="PUT", data=b"", headers={
    "x-ms-date": date, "x-ms-version": "2021-12-02", "Authorization": f"SharedKey {account}:{sign}", "Content-Length": "0", "Content-Type": ""})
urllib.request.urlopen(r)
END
export VELUM_CLOUD_BIN=$PWD/bin VELUM_CLOUD_ARCHIVE=$archive
export VELUM_CLOUD_SERVERS="${SERVERS:-
S3 s3://velum/PATH?endpoint=http://HOST&use_path_style=true 127.0.0.1:17070
GCS gs://velum/PATH 127.0.0.1:17090
Azure azblob://velum/PATH?protocol=http&domain=HOST&localemu=true 127.0.0.1:17100}"
cd cmd/velum-cloud && nice -n 10 go test -count 1 -timeout 60m -v -run TestServers .
