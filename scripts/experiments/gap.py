#!/usr/bin/env python3
"""Measures what an archive teaches whose notes are of another kind than the labelled ones: 100 reports, short notes.

    scripts/experiments/gap.py [--only base,self,...] [--draws 5] [--first 1] [--iterations 30] [--work out/gap]

Labels are those of 100 reports of MEDDOCAN train, drawn by the seed; the archive is 6,000 sentences of nubes-phi train with
every name redrawn and 2,500 notes of the train hands of notes-voices, as text without labels. Scores are those of the whole
product (model, patterns, rules) on nubes-phi dev with names redrawn by another seed, and on the two hands of notes-voices dev.
No gold of the target chooses anything; it answers "asked50", and "random50" of notes drawn. What was done is not done again. Needs ../shared/data.
"""
import argparse, json, os, random, statistics, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "bench", "real"))
import notes  # noqa: E402

SHORT, VOICES = 6000, 2500
TAUGHT = ["--set", "choose.without_spans=0.6", "--min-confidence", "0.97"]


class Lab:
    def __init__(self, a):
        self.a = a
        os.makedirs(a.work, exist_ok=True)

    def more(self):
        return [x for s in self.a.set for x in ("--set", s)]

    def path(self, *names):
        return os.path.join(self.a.work, *names)

    def do(self, *args):
        subprocess.run(["nice", "-n", "10", self.a.velum, *args], check=True, stdout=subprocess.DEVNULL)

    def made(self, name, make):
        """The path of a file, which make(path) writes if it is not there."""
        path = self.path(name)
        if not os.path.exists(path):
            new = os.path.join(os.path.dirname(path), "new-" + os.path.basename(path))
            make(new)
            os.rename(new, path)
        return path

    def nubes(self, part, seed):
        def make(path):
            notes.nubes(part, path + ".raw", seed)
            notes.write(path, list(notes.read(path + ".raw")))
            os.remove(path + ".raw")
        return self.made(f"nubes-{part}-{seed}.jsonl", make)

    def voices(self, part):
        return self.made(f"voices-{part}.jsonl", lambda path: notes.write(path, list(notes.read(os.path.join(notes.data, f"labelled/notes-voices/{part}.jsonl")))))

    def archive(self, seed):
        """Notes without labels, drawn, as Parquet."""
        def text(path):
            draw = random.Random(seed)
            some = draw.sample(list(notes.read(self.nubes("train", seed))), SHORT) + draw.sample(list(notes.read(self.voices("train"))), VOICES)
            draw.shuffle(some)
            notes.write(path, [(n, t, []) for n, t, _ in some])
        flat = self.made(f"archive-{seed}.jsonl", text)

        def make(path):
            os.makedirs(path)
            self.do("convert", "--quiet", "--in", flat, "--out", os.path.join(path, "notes.parquet"), "--to", "parquet")
        return self.made(f"archive-{seed}", make)

    def gold(self, seed):
        """The labelled reports."""
        def make(path):
            at = os.path.join(notes.data, "meddocan/train")
            self.do("convert", "--quiet", "--in", at, "--from", "brat", "--out", path + ".all", "--to", "jsonl")
            every = list(open(path + ".all", encoding="utf-8"))
            os.remove(path + ".all")
            random.Random(seed).shuffle(every)
            with open(path, "w", encoding="utf-8") as f:
                f.writelines(every[:100])
        return self.made(f"reports-{seed}.jsonl", make)

    def sets(self, seed):
        return {"nubes": self.nubes("dev", 100 + seed), "voices": self.voices("dev")}

    def train(self, name, seed, files, *more):
        """The model that the files make, and its scores."""
        model = self.made(f"{name}-{seed}.velum", lambda path: self.do(
            "train", "--quiet", "--kind", "crf", "--labels", "primary-care", "--set", f"train.iterations={self.a.iterations}", "--train", ",".join(files), "--out", path, *more))
        return self.scores(name, seed, model)

    def scores(self, name, seed, model):
        path = self.path(f"{name}-{seed}.json")
        if not os.path.exists(path):
            row = {}
            for key, gold in self.sets(seed).items():
                out = subprocess.run([self.a.velum, "evaluate", "--quiet", "--json", "--draws", "-1", "--profile", "primary-care", "--gold", gold, "--model", model,
                                      "--categories", "primary-care", *self.more()], check=True, stdout=subprocess.PIPE, text=True).stdout
                r = json.loads(out)
                m = {x["name"]: x for x in r["measures"]}
                row[key] = {"f1": m["strict"]["f1"], "masked": m["masked_entities"]["recall"], "precision": m["masked_entities"]["precision"]} | {
                    c["category"]: [round(c["precision"], 4), round(c["recall"], 4), c["gold"]] for c in r["categories"]}
            with open(path, "w") as f:
                json.dump(row, f)
        with open(path) as f:
            return json.load(f)

    def learned(self, name, seed, gold, turns, *more):
        """A folder of learning: turns on the archive. The scores of the labelled notes on themselves decide nothing."""
        return self.made(f"learn-{name}-{seed}", lambda path: self.do(
            "learn", "--quiet", "--in", self.archive(seed), "--labels", "primary-care", "--seed", str(seed), "--gold", ",".join(gold), "--dev", self.gold(seed), "--turns", str(turns),
            "--slice", "100000", "--k", "20000", "--set", f"train.iterations={self.a.iterations}", "--set", "learn.again=true", *TAUGHT, *self.more(), "--out", path, *more))

    def turns(self, name, seed, gold, turns, *more):
        """The scores of the last turn."""
        return self.scores(name, seed, os.path.join(self.learned(name, seed, gold, turns, *more), f"turn-{turns:02d}", "model.velum"))


def questions(lab, s, notes_asked, share):
    """The scores after answers to so many notes of the archive, a share of them drawn at random; nothing else is learned from the archive."""
    oracle = lab.nubes("train", s) + "," + lab.voices("train")
    gold = ["--labels", "primary-care", "--seed", str(s), "--gold", lab.gold(s), "--dev", lab.gold(s), "--oracle", oracle, "--slice", "100000", "--k", "0", "--in", lab.archive(s),
            "--set", f"train.iterations={lab.a.iterations}", "--set", "choose.without_spans=0.01", "--set", "learn.turns=1", *lab.more()]
    begun = lab.made(f"learn-asked-{s}", lambda path: lab.do("learn", "--quiet", *gold, "--turns", "0", "--out", path))

    def answered(path):
        os.makedirs(path)
        subprocess.run(["cp", "-r", os.path.join(begun, "turn-00"), path], check=True)
        lab.do("learn", "--quiet", *gold, "--out", path, "--back-to", "0", "--set", f"learn.ask={notes_asked}", "--set", f"learn.ask_random={share}")
    name = f"asked-{notes_asked}-{share}"
    return lab.scores(name, s, os.path.join(lab.made(f"learn-{name}-{s}", answered), "turn-01", "model.velum"))


def taught(name, turns, *more):
    """Turns of self-learning, as the product does them."""
    return lambda lab, s: lab.turns(name, s, [lab.gold(s)], turns, *more)


WAYS = {
    "base": lambda lab, s: lab.train("base", s, [lab.gold(s)]),
    "self": taught("self", 1),
    "self2": taught("self2", 2),
    "plain": taught("plain", 1, "--set", "learn.redraw=0"),
    "copies2": taught("copies2", 1, "--set", "learn.redraw=2"),
    "asked50": lambda lab, s: questions(lab, s, 50, 0.1),
    "random50": lambda lab, s: questions(lab, s, 50, 1),
    "asked100": lambda lab, s: questions(lab, s, 100, 0.1),
    "random100": lambda lab, s: questions(lab, s, 100, 1),
}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default=",".join(WAYS))
    p.add_argument("--draws", type=int, default=5)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--iterations", type=int, default=30)
    p.add_argument("--set", action="append", default=["resolve.packs=shipped"], help="option of learning and of scores")
    p.add_argument("--work", default="out/gap")
    p.add_argument("--velum", default="bin/velum")
    lab = Lab(p.parse_args())
    for way in lab.a.only.split(","):
        rows = [WAYS[way](lab, s) for s in range(lab.a.first, lab.a.first + lab.a.draws)]
        cells = []
        for key in rows[0]:
            f1 = [r[key]["f1"] for r in rows]
            cells.append(f"{key} {statistics.mean(f1):.4f} [" + " ".join(f"{x:.4f}" for x in f1) + f"] masked {statistics.mean(r[key]['masked'] for r in rows):.4f}")
        print(way, "|", " | ".join(cells), flush=True)


if __name__ == "__main__":
    main()
