#!/bin/bash
# configs/deploy/bucket.sh against a server of S3 on this machine: scripts/cloud/test.sh bin/velum. Needs rclone (Debian has it);
# versitygw comes from the Go module proxy, once, into out/cloud.
set -euo pipefail
cd "$(dirname "$0")/../.."
velum=$(realpath "$1")
at=${CLOUD_PROGRAMS:-$PWD/out/cloud}
mkdir -p "$at"
command -v rclone >/dev/null || { echo "no rclone: apt-get install rclone" >&2; exit 1; }
test -x "$at/versitygw" || GOBIN=$at nice -n 10 go install github.com/versity/versitygw/cmd/versitygw@v1.8.0
work=$(mktemp -d)
pid=
trap 'kill $pid 2>/dev/null || true; wait; rm -rf "$work"' EXIT
mkdir -p "$work/store" "$work/path" "$work/archive"
ln -s "$velum" "$work/path/velum"
export PATH="$work/path:$PATH" SCRATCH="$work/scratch"
unset AWS_CA_BUNDLE
export RCLONE_CONFIG=/dev/null RCLONE_CONFIG_S3_TYPE=s3 RCLONE_CONFIG_S3_PROVIDER=Other RCLONE_CONFIG_S3_ENDPOINT=http://127.0.0.1:17070 \
  RCLONE_CONFIG_S3_ACCESS_KEY_ID=test RCLONE_CONFIG_S3_SECRET_ACCESS_KEY=testsecret RCLONE_CONFIG_S3_REGION=us-east-1
"$at/versitygw" --quiet --port 127.0.0.1:17070 --access test --secret testsecret posix "$work/store" >"$work/server.log" 2>&1 & pid=$!
for _ in $(seq 60); do (echo >/dev/tcp/127.0.0.1/17070) 2>/dev/null && break; sleep 1; done
rclone mkdir s3:velum

fail() { echo "make cloud: $*" >&2; exit 1; }
night() { # night SECONDS EXIT-CODE VERB [options]: the recipe, killed after SECONDS
  local seconds=$1 want=$2 got=0
  shift 2
  timeout -s KILL "$seconds" configs/deploy/bucket.sh s3:velum/in s3:velum/masked s3:velum/masked.private "$@" >"$work/said" 2>&1 || got=$?
  test "$got" = "$want" || { cat "$work/said" >&2; fail "$* ended with $got, want $want"; }
}
same() { # the bucket holds what velum alone writes, but for reports and logs, which tell the time
  rm -rf "$work/got"
  rclone copy s3:velum/masked "$work/got/out"
  rclone copy s3:velum/masked.private "$work/got/out.private"
  velum check --quiet "$work/got/out" || fail "$1: what the bucket holds is not whole"
  diff -rq "$work/got/out/masked" "$work/alone/masked" && diff -rq "$work/got/out/spans" "$work/alone/spans" || fail "$1: not what velum writes"
}
alone() { rm -rf "$work/alone" "$work/alone.private"; velum run --quiet --in "$work/archive" --out "$work/alone"; }

sample=cmd/velum/testdata/sample
cp -r "$sample/year=2026/month=01" "$work/archive/"
rclone copy "$work/archive" s3:velum/in
night 600 0 run --quiet
alone
same "the first night"

cp -r "$sample/year=2026/month=02" "$work/archive/"
rclone copy "$work/archive" s3:velum/in
alone
for seconds in 1 2 3; do # a night that is killed leaves the bucket whole, and the next one goes on
  timeout -s KILL "$seconds" configs/deploy/bucket.sh s3:velum/in s3:velum/masked s3:velum/masked.private run --quiet >/dev/null 2>&1 || true
  rm -rf "$work/got"
  rclone copy s3:velum/masked "$work/got/out"
  python3 - "$work/got/out" <<'P' || fail "killed after $seconds s: the manifest names a part that is not there"
import json, os, sys
parts = [p for u in json.load(open(sys.argv[1] + "/manifest.json"))["units"] for p in u.get("parts", [])]
sys.exit(not parts or any(os.path.getsize(os.path.join(sys.argv[1], p["path"])) != p["bytes"] for p in parts))
P
done
night 600 0 run --quiet
same "the second night"

rm -rf "$SCRATCH" # another machine, or an emptied one
night 600 0 run --quiet
same "a night with an empty scratch"

rm -rf "$work/archive/month=01"
night 600 0 forget --quiet 'month=01'
alone
same "a month forgotten"

echo '{}' | rclone rcat s3:velum/masked/manifest.json # another writer
night 600 11 run --quiet
echo "make cloud: $*" >&2; exit 1; }
night() { # night SECONDS EXIT-CODE VERB [options]: the recipe, killed after SECONDS
  local seconds=$1 want=$2 got=0
  shift 2
  timeout -s KILL "$seconds" configs/deploy/bucket.sh s3:velum/in s3:velum/masked s3:velum/masked.private "$@" >"$work/said" 2>&1 || got=$?
  test "$got" = "$want" || { cat "$work/said" >&2; fail "$* ended with $got, want $want"; }
}
same() { # the bucket holds what velum alone writes, but for reports and logs, which tell the time
  rm -rf "$work/got"
  rclone copy s3:velum/masked "$work/got/out"
  rclone copy s3:velum/masked.private "$work/got/out.private"
  velum check --quiet "$work/got/out" || fail "$1: what the bucket holds is not whole"
  diff -rq "$work/got/out/masked" "$work/alone/masked" && diff -rq "$work/got/out/spans" "$work/alone/spans" || fail "$1: not what velum writes"
}
alone() { rm -rf "$work/alone" "$work/alone.private"; velum run --quiet --in "$work/archive" --out "$work/alone"; }

sample=cmd/velum/testdata/sample
cp -r "$sample/year=2026/month=01" "$work/archive/"
rclone copy "$work/archive" s3:velum/in
night 600 0 run --quiet
alone
same "the first night"

cp -r "$sample/year=2026/month=02" "$work/archive/"
rclone copy "$work/archive" s3:velum/in
alone
for seconds in 1 2 3; do # a night that is killed leaves the bucket whole, and the next one goes on
  timeout -s KILL "$seconds" configs/deploy/bucket.sh s3:velum/in s3:velum/masked s3:velum/masked.private run --quiet >/dev/null 2>&1 || true
  rm -rf "$work/got"
  rclone copy s3:velum/masked "$work/got/out"
  python3 - "$work/got/out" <<'P' || fail "killed after $seconds s: the manifest names a part that is not there"
import json, os, sys
parts = [p for u in json.load(open(sys.argv[1] + "/manifest.json"))["units"] for p in u.get("parts", [])]
sys.exit(not parts or any(os.path.getsize(os.path.join(sys.argv[1], p["path"])) != p["bytes"] for p in parts))
P
done
night 600 0 run --quiet
same "the second night"

rm -rf "$SCRATCH" # another machine, or an emptied one
night 600 0 run --quiet
same "a night with an empty scratch"

rm -rf "$work/archive/month=01"
night 600 0 forget --quiet 'month=01'
alone
same "a month forgotten"

echo '{}' | rclone rcat s3:velum/masked/manifest.json # another writer
night 600 11 run --quiet

if grep -rlE 'Zanahoriez|Qwertzuiop|masked/.*@' "$work/server.log"; then fail "a word of a note is in the log of the server"; fi
echo "make cloud: passed"
