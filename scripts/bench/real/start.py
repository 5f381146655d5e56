#!/usr/bin/env python3
"""A first month without labels, whose curator is the hidden gold (`make start-figures`).

    scripts/bench/real/start.py [--work out/start] [--sources nubes,voices] [--ask 50] [--evenings 3] [--set KEY=VALUE]

`velum start` gets the notes of a source without their marks, with a model that has not heard the source or anything made of it (a CRF of the
other sources of transfer.py, with one redrawn copy) and the inverse model of the binary, which has heard neither. What it asks is answered by
the marks. Rows: the masked month, and after each evening the model in use on documents (NUBes) or writers (voices) that are not in the archive.
"""
import argparse, json, os, shutil, subprocess, time

import gold, notes

SOURCES = {"nubes": ["voices", "hands"], "voices": ["nubes", "notes-ca"]}  # and what the first model is made of, beside reports cut short and generated notes
HELD = {"nubes": "dev", "voices": 5}  # documents of the development part; each fifth hand


class Bench:
    def __init__(self, a, source):
        self.a, self.source, self.at = a, source, os.path.join(a.work, source)
        os.makedirs(self.at, exist_ok=True)
        self.gold = {}

    def path(self, name):
        return os.path.join(self.at, name)

    def velum(self, *args):
        return subprocess.run([self.a.velum, *args], check=True, stdout=subprocess.PIPE, text=True).stdout

    def split(self):
        """Writes the archive without marks, and what is left out of it."""
        if self.source == "nubes":
            notes.nubes("train", self.path("in.jsonl"))
            notes.nubes("dev", self.path("held.jsonl"))
            inside, held = (list(notes.read(self.path(x))) for x in ("in.jsonl", "held.jsonl"))
        else:
            both = [n for p in ("train", "dev") for n in notes.read(os.path.join(notes.data, f"labelled/notes-voices/{p}.jsonl"))]
            hands = sorted({gold.hand(n[0]) for n in both})
            held = [n for n in both if hands.index(gold.hand(n[0])) % HELD["voices"] == 0]
            inside = [n for n in both if hands.index(gold.hand(n[0])) % HELD["voices"]]
        notes.write(self.path("in.jsonl"), inside)
        notes.write(self.path("held.jsonl"), held)
        notes.write(self.path("archive.jsonl"), [(n, text, []) for n, text, _ in inside])
        with open(self.path("in.jsonl"), encoding="utf-8") as f:
            self.gold = {json.loads(line)["id"]: line for line in f}

    def first(self):
        """The model that has not heard the source."""
        out, train = self.path("first.velum"), self.path("first.train.jsonl")
        if os.path.exists(out):
            return out
        parts = [f"{p}-{s}{k}" for s in SOURCES[self.source] for p, k in (("gold", ""), ("empty", ""), ("copy", "-1"))]
        with open(train, "w", encoding="utf-8") as to:
            for name in [*parts, "short-train", "generated"]:
                with open(os.path.join(self.a.transfer, name + ".jsonl"), encoding="utf-8") as f:
                    to.writelines(f)
        self.velum("train", "--quiet", "--profile", "primary-care", "--labels", "primary-care", "--kind", "crf", "--iterations", "45", "--set", "train.bias=0.5", "--train", train, "--out", out)
        return out

    def answered(self, k, out):
        """Answers the questions of an evening."""
        asked = os.path.join(out, "learned", f"ask-{k:02d}", "notes.jsonl")
        with open(asked, encoding="utf-8") as f, open(os.path.join(out, f"answers-{k:02d}.jsonl"), "w", encoding="utf-8") as to:
            to.writelines(self.gold[json.loads(line)["id"]] for line in f)

    def scores(self, *args):
        r = json.loads(self.velum("evaluate", "--quiet", "--json", "--profile", "primary-care", "--draws", "1000", *args))
        m = {x["name"]: x for x in r["measures"]}
        f, masked = m["strict"], m["masked_entities"]
        return (f"strict F1 {f['f1']:.4f} [{f['interval']['f1'][0]:.3f}, {f['interval']['f1'][1]:.3f}]  masked {masked['recall']:.4f} "
                f"[{masked['interval']['recall'][0]:.3f}, {masked['interval']['recall'][1]:.3f}] of {masked['gold']}")

    def run(self):
        self.split()
        out = self.path("start")
        shutil.rmtree(out, ignore_errors=True)
        args = ["start", "--quiet", "--in", self.path("archive.jsonl"), "--out", out, "--model", self.first(), "--ask", str(self.a.ask), "--more", *self.a.more]
        for k in range(self.a.evenings + 1):
            began = time.time()
            said = json.loads(self.velum(*args, "--json"))
            print(f"{self.source} evening {k + 1}, {time.time() - began:.0f} s: the month, whatever it is called: {self.scores('--gold', self.path('in.jsonl'), '--system', os.path.join(out, 'masked'))}", flush=True)
            model = os.path.join(out, "learned", "models")
            print(f"    left out, {said['notes_read']} answers: {self.scores('--gold', self.path('held.jsonl'), '--model', model)}", flush=True)
            for e in said["evenings"]:
                print(f"      {json.dumps(e)}", flush=True)
            print(f"      {said['judged']} agreed {said['agreed']}", flush=True)
            if k in (0, self.a.evenings):
                print(self.velum("evaluate", "--quiet", "--profile", "primary-care", "--gold", self.path("held.jsonl"), "--model", model, "--inverse", "inverse", "--dial"), flush=True)
            if k < self.a.evenings:
                self.answered(k + 1, out)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", default="out/start")
    p.add_argument("--transfer", default="out/transfer", help="where transfer.py --prepare has put its sources")
    p.add_argument("--sources", default="nubes,voices", type=lambda s: s.split(","))
    p.add_argument("--ask", type=int, default=50)
    p.add_argument("--evenings", type=int, default=3)
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    a.more = [x for s in a.set for x in ("--set", s)]
    for source in a.sources:
        Bench(a, source).run()


if __name__ == "__main__":
    main()
