#!/bin/sh
# A night where archive and output lie in an object store that rclone reaches: bucket.sh ARCHIVE MASKED PRIVATE VERB [options]
#
#   bucket.sh s3:archive/2026 s3:research/masked s3:vault/masked.private run --recall 0.985
#   bucket.sh s3:archive/2026 s3:research/masked s3:vault/masked.private forget '2019-*/*'
#
# SCRATCH (default /var/tmp/velum) is a folder that only its owner may read. It holds the archive and both trees, has the same
# path on every machine, and may be removed between two nights. One writer at a time: see README.md.
set -eu
umask 077
archive=$1 masked=$2 private=$3 verb=$4
shift 4
scratch=${SCRATCH:-/var/tmp/velum}
mkdir -p "$scratch"
exec 9>"$scratch/lock"
flock -n 9 || { echo "bucket.sh: another run uses $scratch" >&2; exit 11; }

# What the store holds now must be what this folder last put there or brought: else somebody else has written.
rclone cat "$masked/manifest.json" >"$scratch/now" 2>"$scratch/said" || {
    # A manifest that cannot be read is not one that is missing.
    rclone lsf "$masked" --include manifest.json >"$scratch/listed" || exit 1
    test ! -s "$scratch/listed" || { cat "$scratch/said" >&2; exit 1; }
    : >"$scratch/now"
}
if [ ! -e "$scratch/committed" ]; then
    rclone sync "$masked" "$scratch/out"
    rclone sync "$private" "$scratch/out.private"
    mv "$scratch/now" "$scratch/committed"
elif ! cmp -s "$scratch/now" "$scratch/committed"; then
    echo "bucket.sh: $masked was written by another run: remove $scratch, so that it is brought again" >&2
    exit 11
fi

case $verb in
run) rclone sync --checksum "$archive" "$scratch/archive" && set -- --in "$scratch/archive" "$@" ;;
esac
code=0
velum "$verb" --out "$scratch/out" "$@" || code=$?
case $code in
0 | 3) ;; # 3: the output is whole, and more is in quarantine than allowed
4) # nothing to do, unless a run that was killed has left what is not in the store yet
    test -e "$scratch/out/manifest.json" || exit 4
    ! cmp -s "$scratch/out/manifest.json" "$scratch/committed" || exit 4
    code=0
    ;;
*) exit "$code" ;; # nothing was committed
esac
velum check --quiet "$scratch/out" # the bytes that leave are those that were written

# Parts first, under names that hold a hash of their bytes; then the private tree; the manifest last. Whoever reads the
# bucket goes by manifest.json, and finds every part that it names before, during and after these lines.
rclone copy --checksum --exclude /manifest.json "$scratch/out" "$masked"
rclone copy --checksum --exclude /manifest.json "$scratch/out.private" "$private"
rclone check --one-way --exclude /manifest.json "$scratch/out" "$masked"
rclone check --one-way --exclude /manifest.json "$scratch/out.private" "$private"
rclone copyto --checksum "$scratch/out.private/manifest.json" "$private/manifest.json"
rclone copyto --checksum "$scratch/out/manifest.json" "$masked/manifest.json"
cp "$scratch/out/manifest.json" "$scratch/committed"
# What no manifest names any more, parts of files that were forgotten among it, goes now.
rclone sync --checksum "$scratch/out" "$masked"
rclone sync --checksum "$scratch/out.private" "$private"
exit "$code"
