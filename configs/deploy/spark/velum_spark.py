"""Mask an archive on Spark: velum run plan here, its shards on the executors, velum run finish here.

    spark-submit velum_spark.py --velum /usr/bin/velum --shards 64 --out /nfs/masked -- --in /nfs/archive --config /etc/velum/night.yaml

What stands behind -- goes to `velum run plan`. Spark moves numbers of shards and exit codes and no
text of a note: each task is a process of velum beside the executor. See README.md.
"""

import argparse
import subprocess
import sys

from pyspark.sql import SparkSession

# Exit codes that no second try mends: configuration, key, integrity, privacy.
NEVER_AGAIN = (10, 12, 13, 15)


def call(*args):
    """Run velum on the driver and end with its exit code if that is no success."""
    code = subprocess.run(args, stdin=subprocess.DEVNULL).returncode
    if code != 0:
        sys.exit(code)


def shard(velum, plan, k, n):
    """Do one share. Spark tries again what raises, and not what returns a code."""
    done = subprocess.run(
        [velum, "run", "--quiet", "--plan", plan, "--shard", f"{k}/{n}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    if done.returncode == 0:
        return k, 0, ""
    why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]  # ids and paths, never text of a note
    if done.returncode in NEVER_AGAIN:
        return k, done.returncode, why
    raise RuntimeError(f"shard {k}/{n}: exit code {done.returncode}: {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--velum", default="velum", help="the binary, at the same path on every machine")
    parser.add_argument("--shards", type=int, required=True, help="about two or three for each core of the executors")
    parser.add_argument("--out", required=True, help="DIR to write, which every machine sees at this path")
    parser.add_argument("plan", nargs="*", help="options of velum run plan")
    o = parser.parse_args()
    call(o.velum, "plan", "--quiet", "--out", o.out, *o.plan)
    velum, plan, n = o.velum, o.out, o.shards  # no self and no session in the closure
    spark = SparkSession.builder.appName("velum").getOrCreate()
    try:
        numbers = spark.sparkContext.parallelize(range(1, n + 1), n)
        refused = [r for r in numbers.map(lambda k: shard(velum, plan, k, n)).collect() if r[1] != 0]
    finally:
        spark.stop()
    for k, code, why in refused:
        print(f"shard {k}/{n}: {why}", file=sys.stderr)
    if refused:
        sys.exit(refused[0][1])
    call(o.velum, "finish", o.out)


if __name__ == "__main__":
    main()
