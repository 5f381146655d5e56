#!/usr/bin/env python3
"""How many offsets of dates the range of an archive leaves, tried by an outsider who shares no line with `velum prove attack`.

  scripts/bench/range.py attack --velum VELUM [--seed 1] [--notes 12]   what velum writes with the policy research
  scripts/bench/range.py months --velum VELUM [--months 12] [--ids keep|keyed]   whether a row of monthly files tells its month
  scripts/bench/range.py designs                                       ways to hide it, weighed: what each costs and leaves

attack: an archive of --days days, --patients patients with --notes notes each on drawn days, is masked; the outsider has the public
notes with their dates, grouped by patient, the range, the policy, and velum itself under keys of their own. An offset is possible if the
policy can draw it and it leaves all dates within the range. Where between first and last possible one the true one lies is learned on --own
archives of the outsider's own, by how many offsets are possible: the effective number is e to the entropy of that. Intervals draw patients again.
"""
import argparse, bisect, collections, datetime, glob, math, os, random, statistics, subprocess, tempfile

import pyarrow as pa
import pyarrow.parquet as pq

FROM = datetime.date(2023, 1, 1).toordinal()
NEAR = {k * 365 + leap + d for k in range(1, 11) for leap in range(k // 4, (k + 3) // 4 + 1) for d in range(-3, 4)}
CAN = [o for o in range(-3650, 3651) if abs(o) >= 30 and o % 7 and abs(o) not in NEAR]  # what the policy says that it draws
BINS = 8


def archive(seed, a):
    r = random.Random(f"range {seed}")
    return {f"p{p}": [r.randrange(a.days) for _ in range(a.notes)] for p in range(a.patients)}


def masked(a, patients, key):
    """public days of each patient, by note: the day that it was, what it has become"""
    with tempfile.TemporaryDirectory(dir=a.work) as d:
        rows = [(f"{p}-{k}", p, day) for p, days in patients.items() for k, day in enumerate(days)]
        random.Random(key).shuffle(rows)
        columns = {"note_id": [i for i, _, _ in rows], "patient_id": [p for _, p, _ in rows], "date": [datetime.date.fromordinal(FROM + day) for _, _, day in rows], "text": ["Control."] * len(rows)}
        pq.write_table(pa.table(columns), d + "/a.parquet")
        with open(d + "/key", "w") as f:
            f.write(random.Random(f"key {key}").randbytes(16).hex())
        os.chmod(d + "/key", 0o400)
        options = {"read.columns.patient": "patient_id", "read.columns.date": "date", "key.file": d + "/key", "choose.use": "false", "tag.fast": "true", "tag.recall": "0", "read.keep": "date"}
        subprocess.run([a.velum, "run", "--quiet", "--in", d + "/a.parquet", "--out", d + "/out", "--policy", a.policy, *(x for o in options.items() for x in ("--set", "=".join(o)))],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        out = collections.defaultdict(list)
        for part in glob.glob(d + "/out/masked/**/*.parquet", recursive=True):
            for row in pq.read_table(part, columns=["note_id", "date"]).to_pylist():
                p, k = row["note_id"].split("-")
                out[p].append((patients[p][int(k)], row["date"].toordinal() - FROM))
        return out


def possible(public, days):
    """offsets that the policy can draw and that leave all dates within the range"""
    return [o for o in CAN if min(public) - o >= 0 and max(public) - o < days]


def place(offsets, true):
    return min(BINS - 1, offsets.index(true) * BINS // len(offsets))


def attack(a):
    learned = collections.defaultdict(lambda: [1] * BINS)
    size = lambda offsets: min(int(math.log2(len(offsets)) * 2), 16)
    for k in range(a.own):
        for notes in masked(a, archive(f"own {a.seed} {k}", a), f"own {a.seed} {k}").values():
            offsets = possible([d for _, d in notes], a.days)
            learned[size(offsets)][place(offsets, notes[0][1] - notes[0][0])] += 1
    truth = archive(a.seed, a)
    out = masked(a, truth, a.seed)
    left, effective, hits, told = [], [], 0, 0.0
    r = random.Random(a.seed)
    for notes in out.values():
        offsets = possible([d for _, d in notes], a.days)
        counts = learned[size(offsets)]
        weights = [counts[min(BINS - 1, k * BINS // len(offsets))] for k in range(len(offsets))]
        ps = [w / sum(weights) for w in weights]
        left.append(len(offsets))
        effective.append(math.exp(-sum(p * math.log(p) for p in ps)))
        best = r.choice([o for o, p in zip(offsets, ps) if p == max(ps)])
        hits += best == notes[0][1] - notes[0][0]
        told += 1 / len(offsets)
    fifth = lambda x: sorted(x)[len(x) // 20]
    again = sorted(fifth(r.choices(effective, k=len(effective))) for _ in range(400))
    public = sum(map(len, out.values()))
    print(f"{a.policy}, seed {a.seed}, {a.days} days, {a.patients} patients x {a.notes}: at the 5th percentile {fifth(left)} offsets are possible, effectively {fifth(effective):.0f} ({again[10]:.0f}-{again[389]:.0f}), "
          f"half {statistics.median(left):.0f}; first guess right {hits} of {len(out)} (by chance {told:.1f}); {1 - public / (a.patients * a.notes):.3f} of the notes held back", flush=True)


def months(a):
    """what share of the rows an outsider puts into the right month, who has been told the month of every second row"""
    r = random.Random(a.seed)
    with tempfile.TemporaryDirectory(dir=a.work) as d:
        truth, at = {}, 0
        os.mkdir(d + "/in")
        for month in range(a.months):
            rows = []
            for _ in range(a.notes * a.patients // a.months):
                at += 1
                truth[f"n{at:07d}"] = month
                rows.append((f"n{at:07d}", f"p{r.randrange(a.patients)}", FROM + month * 30 + r.randrange(30)))
            pq.write_table(pa.table({"note_id": [i for i, _, _ in rows], "patient_id": [p for _, p, _ in rows], "date": [datetime.date.fromordinal(x) for _, _, x in rows], "text": [f"Control {i}." for i, _, _ in rows]}), f"{d}/in/{month:02d}.parquet")
        with open(d + "/key", "w") as f:
            f.write(random.Random(f"key {a.seed}").randbytes(16).hex())
        os.chmod(d + "/key", 0o400)
        options = {"read.columns.patient": "patient_id", "read.columns.date": "date", "key.file": d + "/key", "choose.use": "false", "tag.fast": "true", "tag.recall": "0", "read.ids": a.ids}
        subprocess.run([a.velum, "run", "--quiet", "--in", d + "/in", "--out", d + "/out", "--policy", a.policy, *(x for o in options.items() for x in ("--set", "=".join(o)))], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        rows = []  # month, and what the public tree has of the row
        for part in sorted(glob.glob(d + "/out/masked/**/*.parquet", recursive=True)):
            f = pq.ParquetFile(part)
            footer = f"{sorted((f.schema_arrow.metadata or {}).items())} {f.metadata.num_columns}"
            place = 0
            for g in range(f.num_row_groups):
                for row in f.read_row_group(g).to_pylist():
                    told = row["text"].split()[-1].rstrip(".")  # a mark of ours, which masking leaves
                    rows.append((truth[told], {"file name": part, "column part": row.get("part"), "position in the part": (part, place), "row": row["row"], "row group": (part, g), "footer": footer, "note_id": row["note_id"]}))
                    place += 1
        r.shuffle(rows)
        half = len(rows) // 2
        known, asked = rows[:half], rows[half:]
        guess = collections.Counter(m for m, _ in known).most_common(1)[0][0]
        print(f"{a.months} months, {len(rows)} rows, ids {a.ids}, seed {a.seed}: guessing {sum(m == guess for m, _ in asked) / len(asked):.3f}", end="")
        for name in known[0][1]:
            order = sorted((x[name], m) for m, x in known)
            values = [v for v, _ in order]
            right = 0
            for m, x in asked:  # the month that most of the 15 nearest known rows have
                at = bisect.bisect(values, x[name])
                right += collections.Counter(k for _, k in order[max(at - 8, 0):at + 7]).most_common(1)[0][0] == m
            print(f", by {name} {right / len(asked):.3f}", end="")
        print(flush=True)

def designs(a):
    R = a.days

    def window(r, days, edge, all_of_them):
        if not all_of_them and R - (max(days) - min(days)) >= edge:
            return days, 0
        first = r.randrange(edge + 1)
        kept = [d for d in days if first <= d < R - edge + first]
        return kept, len(days) - len(kept)

    def drop(r, days, edge):
        days, n, side = sorted(days), len(days), r.randrange(2) - 1
        while R - (days[-1] - days[0]) < edge:
            days.pop(side)
        return days, n - len(days)

    def pull(r, days, edge):
        first = r.randrange(edge + 1)
        moved = [min(max(d, first), R - edge + first - 1) for d in days]
        return moved, sum(x != y for x, y in zip(days, moved))

    ways = {"nothing": lambda r, d, e: (d, 0), "a window for everybody": lambda r, d, e: window(r, d, e, True), "a window for those who span": lambda r, d, e: window(r, d, e, False),
            "as many as must, from one end": drop, "notes pulled in to a window": pull}
    for notes in (4, 12, 40):
        for name, way in ways.items():
            r, left, cost, at = random.Random(a.seed), [], 0, collections.defaultdict(list)
            for _ in range(5000):
                days, gone = way(r, [r.randrange(R) for _ in range(notes)], a.edge)
                cost += gone
                if days:
                    n = R - (max(days) - min(days))
                    left.append(n)
                    at[n // 8].append(min(days) * 10 // n)
            h = [(len(v), math.exp(-sum(c / len(v) * math.log(c / len(v)) for c in collections.Counter(v).values())) / min(10, len(v))) for v in at.values()]
            print(f"{notes:3d} notes, {name:30s} days left at the 5th percentile {sorted(left)[len(left) // 20]:4d}, even {sum(n * e for n, e in h) / len(left):.2f}; {cost / 5000 / notes:.3f} held back or wrong", flush=True)
        r, left, cuts, width = random.Random(a.seed), [], 0, R // 2
        for _ in range(5000):
            by, phase = collections.defaultdict(list), r.randrange(width)
            for d in (r.randrange(R) for _ in range(notes)):
                by[(d + phase) // width].append(d)
            left.append(R - sum(max(v) - min(v) + 1 for v in by.values()))  # the stretches follow each other
            cuts += len(by) - 1
        print(f"{notes:3d} notes, {'an offset for each half year':30s} days left at the 5th percentile {sorted(left)[len(left) // 20]:4d}; {cuts / 5000 / max(notes - 1, 1):.3f} of the intervals lost", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["attack", "months", "designs"])
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--policy", default="research")
    p.add_argument("--months", type=int, default=12)
    p.add_argument("--ids", default="keep")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--days", type=int, default=365)
    p.add_argument("--patients", type=int, default=300)
    p.add_argument("--notes", type=int, default=12)
    p.add_argument("--edge", type=int, default=72)
    p.add_argument("--own", type=int, default=8)
    p.add_argument("--work", default="/tmp")
    a = p.parse_args()
    globals()[a.do](a)


if __name__ == "__main__":
    main()
