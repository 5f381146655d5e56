#!/bin/sh
# A run on the cores of one machine, or of several with a shared file system: xargs.sh ARCHIVE DIR N [options of velum run plan].
# A shard that fails is tried twice more, unless no second try mends it (exit codes 10, 12, 13, 15).
set -eu
archive=$1 out=$2 shards=$3
shift 3
velum run plan --quiet --in "$archive" --out "$out" "$@"
seq "$shards" | xargs -P "${JOBS:-$(nproc)}" -I{} sh -c '
    for try in 1 2 3; do
        code=0
        velum run --quiet --plan "$1" --shard "$2/$3" || code=$?
        case $code in 0) exit 0 ;; 10 | 12 | 13 | 15) exit 255 ;; esac # 255: xargs starts no others
    done
    exit 1' sh "$out" {} "$shards"
velum run finish "$out"
