#!/usr/bin/env python3
"""How long an archive takes on many cores, out of parts that were measured on one (BENCHMARKS.md, several machines):

    T(cores) = plan + the longest share of units + finish

The units go to shares as `velum run --plan --shard I/N` deals them, two for each core, and a core does its shares one
after the other.

    scripts/bench/cost.py --notes 330e6 --cores 64
"""

import argparse

START = 0.2        # seconds of a process: model, lists
UNIT = 0.03        # of a unit: syncs and renames
GIGABYTE = 0.7     # of a GB of input, hashed by the plan
LAST = 240e-9      # of a note in the last step, however many there are
LEVELS = 240e-9    # of a note with anonymity.k: levels are chosen by one
TABLES = 740e-9    # the same: what workers read, count and write
MIXED = 2700e-9    # of a note where rows are mixed: masked and two spans, which up to six workers merge; a quarter more for 100 units


def total(notes, unit, gigabytes, note, k, mixed, cores, each):
    units = max(-(-notes // unit), 1)
    free = [0.0] * cores  # when each core is free; the next share goes to the first one
    for share in range(cores * each):
        mine = len(range(share, units, cores * each))
        of = mine * unit - (unit * units - notes if mine and (units - 1) % (cores * each) == share else 0)
        at = free.index(min(free))
        free[at] += START + of * note + mine * UNIT
    return START + gigabytes * GIGABYTE + max(free) + START + notes * (LAST + (LEVELS + TABLES / cores if k else 0) + (MIXED / min(cores, 6) if mixed else 0))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--notes", type=float, default=330e6, help="notes of the archive")
    p.add_argument("--bytes", type=float, default=60, help="bytes of input a note")
    p.add_argument("--unit", type=int, default=100_000, help="notes of a unit, as a row group has them")
    p.add_argument("--cores", type=int, default=0, help="cores; 0: a table up to 256")
    p.add_argument("--us", type=float, default=25, help="processor time of a note in microseconds: 25 primary-care, 40 cascade")
    p.add_argument("--k", action="store_true", help="with anonymity.k")
    p.add_argument("--mixed", action="store_true", help="with a policy that moves dates")
    a = p.parse_args()
    job = int(a.notes), a.unit, a.notes * a.bytes / 1e9, a.us * 1e-6, a.k, a.mixed
    one = total(*job, 1, 1)
    for cores in [a.cores] if a.cores else [2 ** k for k in range(9)]:
        t = total(*job, cores, 2)
        print(f"{cores:3d} cores: {t:8.0f} s, {one / t:5.1f} times one core")


if __name__ == "__main__":
    main()
