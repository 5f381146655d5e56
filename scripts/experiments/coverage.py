#!/usr/bin/env python3
"""Whether the number of notes expected to keep something, and the bounds that a reading proves, hold where nobody tuned (`make coverage`).

    scripts/experiments/coverage.py [--work out/coverage] [--velum bin/velum]

CRFs of 25 iterations learn without a source (nubes-phi, notes-ca, notes-voices, our own hands) or without half of the writers and kinds of document. What each
makes of notes that it has not seen is kept: doubt, category, whether something is left.
    months    a model without a source, calibrated by the halves on the other sources; months of 5,000 notes of the source, and of each writer or kind of it,
              drawn with replacement: does the interval of report.json hold the true number?
    kinds     what was left of each category (plainMissed of models/tag/calibrate)
    bounds    archives drawn of what three models left in three sources, read by every design (scripts/experiments/strata)
Needs ../shared/data. With `make coverage`, some 30 minutes on two busy cores, most of it training.
"""
import argparse, collections, glob, json, os, random, subprocess, sys

import pyarrow.parquet as pq

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../bench/real"))
import gold, notes

NAMES = list(gold.GOLD)
FIT = ["--kind", "crf", "--labels", "primary-care", "--iterations", "25", "--workers", "1", "--set", "train.bias=0.5"]


class Bench:
    def __init__(self, a):
        self.a, self.path = a, lambda name: os.path.join(a.work, name)
        self.gold = {s: list(notes.read(self.path(f"gold-{s}.jsonl"))) for s in NAMES}
        self.groups = {s: sorted({self.group(s, n) for n, _, _ in found}) for s, found in self.gold.items()}

    def group(self, source, note):
        return gold.GOLD[source][1](note.split("~")[0])

    def half(self, source, note):
        return self.groups[source].index(self.group(source, note)) % 2

    def velum(self, *args):
        subprocess.run([self.a.velum, *args, "--quiet", "--profile", "primary-care"], check=True, stdout=subprocess.DEVNULL)

    def model(self, name, keep):
        out = self.path(name + ".velum")
        if not os.path.exists(out):
            train = [(n, t, s) for source in NAMES for part in (f"gold-{source}", f"copy-{source}-1") for n, t, s in notes.read(self.path(part + ".jsonl")) if keep(source, n)]
            notes.write(self.path("train.jsonl"), train)
            self.velum("train", *FIT, "--train", self.path("train.jsonl"), "--out", out)
        return out

    def run(self, model, found, name):
        """The private report of a run, and of each masked note: bin of doubt, categories in which something is left."""
        archive, out = self.path("archive.jsonl"), self.path(name)
        subprocess.run(["rm", "-rf", out, out + ".private"], check=True)
        notes.write(archive, found)
        done = subprocess.run([self.a.velum, "run", "--quiet", "--in", archive, "--out", out, "--id-column", "id", "--model", model], capture_output=True, text=True)
        if done.returncode not in (0, 3):
            raise SystemExit(done.stderr)
        covered, sure = collections.defaultdict(set), {}
        for part in glob.glob(out + ".private/original/*.parquet"):
            for r in pq.read_table(part, columns=["row", "start_char", "end_char"]).to_pylist():
                covered[r["row"]].update(range(r["start_char"], r["end_char"]))
        for part in glob.glob(out + ".private/notes/*.parquet"):
            for r in pq.read_table(part, columns=["row", "confidence"]).to_pylist():
                sure[r["row"]] = r["confidence"]
        left = [{c for s, e, c in spans if any(t[i].isalnum() and i not in covered[row] for i in range(s, e))} for row, (_, t, spans) in enumerate(found)]
        with open(out + ".private/report.json", encoding="utf-8") as f:
            return json.load(f), [(sure[row], left[row]) for row in sorted(sure)]

    def months(self, halves):
        """Models without a source against months of it."""
        seen = collections.Counter()
        for source in NAMES:
            model, calibrated = self.model(f"wo-{source}", lambda s, n: s != source), self.path(f"wo-{source}-calibrated.velum")
            held = []
            for k, half in enumerate(halves):
                files = []
                for s in NAMES:
                    if s != source:
                        files.append(self.path(f"half-{k}-{s}.jsonl"))
                        notes.write(files[-1], [x for x in self.gold[s] if self.half(s, x[0]) == k])
                held += ["--held", half + "=" + ",".join(files)]
            self.velum("models", "measure", "--model", model, *held, "--sources", r"^(?:ca:)?sample-\d+\.[a-z]+\.([a-z]+)|^((?:own:)?voice:.*)\d{3}$", "--out", calibrated)
            for title, parts in (("source", [(source, self.gold[source])]), ("part", [(g, [x for x in self.gold[source] if self.group(source, x[0]) == g]) for g in self.groups[source]])):
                lines = []
                for name, found in parts:
                    if len(found) < 30:
                        continue
                    drawn = random.Random(name).choices(found, k=5000)
                    report, outcome = self.run(calibrated, [(f"{i}:{n}", t, s) for i, (n, t, s) in enumerate(drawn)], "month")
                    left, true = report["risk"]["expected_left"], sum(bool(x) for _, x in outcome)
                    seen[title] += 1
                    seen[title + " holds"] += left["low"] <= true <= left["high"]
                    lines.append(f"{left['notes']} [{left['low']}-{left['high']}]:{true}")
                print(f"{source:10s} left out, months by {title}: {'  '.join(lines)}", flush=True)
        for title in ("source", "part"):
            print(f"the interval holds the true number in {seen[title + ' holds']} of {seen[title]} months by {title}", flush=True)

    def outcomes(self, models):
        """What models left, for scripts/experiments/strata; and what was left of each category."""
        missed, spans = collections.Counter(), collections.Counter()
        with open(self.path("outcomes.jsonl"), "w", encoding="utf-8") as f:
            for name, model in models.items():
                for source in NAMES[:3]:
                    found = [x for x in self.gold[source] if not name.startswith("half") or self.half(source, x[0]) == int(name[-1])]
                    report, outcome = self.run(model(source), found, "pool")
                    for sure, left in outcome:
                        f.write(json.dumps({"model": name, "source": source, "confidence": sure, "leaks": bool(left)}) + "\n")
                        if name.startswith("half"):
                            missed.update(left)
                    if name.startswith("half"):
                        spans.update({c["category"]: c["count"] for c in report["spans"]["categories"]})
        print("notes that keep something, and spans found, by category:", {c: (missed[c], spans[c]) for c in sorted(spans | missed)}, flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", default="out/coverage")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    p.add_argument("--only", default="kinds,months,bounds")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    if not os.path.exists(os.path.join(a.work, "copy-hands-1.jsonl")):
        gold.write(a.work, dict.fromkeys(NAMES, 1))
    b = Bench(a)
    halves = [b.model(f"fold{k}", lambda s, n, k=k: b.half(s, n) != k) for k in (0, 1)]
    if "kinds" in a.only:
        b.outcomes({"half 0": lambda _: halves[0], "half 1": lambda _: halves[1], "without": lambda s: b.model(f"wo-{s}", lambda t, n: t != s), "meddocan": lambda _: "meddocan"})
    if "bounds" in a.only:
        subprocess.run(["go", "run", "./scripts/experiments/strata", b.path("outcomes.jsonl")], check=True)
    if "months" in a.only:
        b.months(halves)


if __name__ == "__main__":
    main()
