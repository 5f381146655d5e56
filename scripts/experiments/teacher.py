#!/usr/bin/env python3
"""Measures what `velum learn` gains from an archive of another kind than its labelled notes, and what questions gain.

    scripts/experiments/teacher.py [--only none,reports,network,all,ask] [--draws 5] [--first 1] [--sizes 50,100] [--set KEY=VALUE] [--work out/teacher]

No gold of the target is used but for scores (and by the oracle of "ask"): the archive is 9,000 sentences of nubes-phi train,
drawn, as text without labels; scores are those of the whole product on nubes-phi dev, as it is and with every name redrawn (seed
101), of "network" on notes-ca dev too. Everything goes through the verbs: gazetteer build, synth, train, learn, evaluate.

    none     no labelled note: binary dictionary tagger of given names and surnames, no validation notes
    reports  100 reports of MEDDOCAN train
    network  the same with the kinds of --kinds, each beside the network that learned from these reports alone
    all      MEDDOCAN train cut into short notes, 3,200 of them, and 1,500 generated notes
    ask      "all", and notes of the archive answered by their gold: asked for, and drawn at random

A draw is another draw of reports, of cuts and generated notes, of the archive. What was done is not done again.
Needs ../shared/data.
"""
import argparse, json, os, random, shutil, statistics, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "bench", "real"))
import notes  # noqa: E402
import score  # noqa: E402

ARCHIVE = 9000
CATEGORIES = ["PERSON", "LOCATION", "DATE"]


class Lab:
    def __init__(self, a):
        self.a, self.velum, self.work = a, a.velum, a.work
        os.makedirs(self.work, exist_ok=True)
        self.lists()
        for part in ["train", "dev"]:
            self.gold(part, None)
        self.gold("dev", 101)
        notes.write(self.path("ca.jsonl"), list(notes.read(os.path.join(notes.data, "labelled/notes-ca/dev.jsonl"))))

    def path(self, *names):
        return os.path.join(self.work, *names)

    def do(self, *args):
        subprocess.run(["nice", "-n", os.environ.get("NICE", "10"), self.velum, *args], check=True, stdout=subprocess.DEVNULL)

    def gold(self, part, rename):
        """A part of nubes-phi with gold."""
        path = self.path(f"{part}{rename or ''}.jsonl")
        if not os.path.exists(path):
            notes.nubes(part, path, rename)
            notes.write(path, list(notes.read(path)))
        return path

    def lists(self):
        """The lists of names, and the binary tagger of them."""
        if os.path.exists(self.path("binary.velum")):
            return
        at = os.path.join(notes.data, "gazetteers")
        ine = os.path.join(at, "names-es-ine")
        names = [os.path.join(ine, f) for f in ("hombres.csv.gz", "mujeres.csv.gz", "apellidos.csv.gz", "apellidos-20.csv.gz", "apellidos-contextsafe.tsv.gz")]
        self.do("gazetteer", "build", "--quiet", "--out", self.path("names.velum"), *names, os.path.join(at, "cognoms-barcelona/cognoms-bcn-2024.tsv.gz"))
        self.do("gazetteer", "build", "--quiet", "--out", self.path("words.velum"), "CommonWord=" + os.path.join(at, "wordfreq/es_50k.txt.gz"))
        self.do("train", "--quiet", "--kind", "dictionary", "--method", "binary", "--gazetteer", self.path("names.velum"), "--negative", self.path("words.velum"), "--out", self.path("binary.velum"))

    def archive(self, seed):
        """Sentences of nubes-phi train without labels, drawn."""
        folder = self.path(f"archive-{seed}")
        if not os.path.exists(folder):
            found = [(n, t, []) for n, t, _ in notes.read(self.path("train.jsonl"))]
            random.Random(seed).shuffle(found)
            notes.write(self.path(f"archive-{seed}.jsonl"), found[:ARCHIVE])
            os.makedirs(folder + ".new", exist_ok=True)
            self.do("convert", "--quiet", "--in", self.path(f"archive-{seed}.jsonl"), "--out", os.path.join(folder + ".new", "notes.parquet"), "--to", "parquet")
            os.rename(folder + ".new", folder)
        return folder

    def notes(self, seed):
        """MEDDOCAN train as short notes, and generated ones."""
        short, synth = self.path(f"short-{seed}.jsonl"), self.path(f"synth-{seed}.jsonl")
        if not os.path.exists(short):
            subprocess.run(["go", "run", "./scripts/experiments/shortnotes", "--in", os.path.join(notes.data, "meddocan/train"), "--out", short, "--seed", str(seed)], check=True, stdout=subprocess.DEVNULL)
            notes.write(short, list(notes.read(short))[seed % 3 :: 3])
        if not os.path.exists(synth):
            self.do("synth", "--quiet", "--notes", "1500", "--seed", str(100 + seed), "--split", "train", "--density", "3", "--out", synth)
        return f"{short},{synth}"

    def dev(self):
        """Fifty documents of MEDDOCAN dev: learning wants validation notes. They choose nothing here."""
        folder = self.path("validation")
        if not os.path.exists(folder):
            os.makedirs(folder)
            at = os.path.join(notes.data, "meddocan/dev")
            for name in sorted(f[:-4] for f in os.listdir(at) if f.endswith(".ann"))[::5]:
                for end in (".ann", ".txt"):
                    shutil.copy(os.path.join(at, name + end), folder)
        return folder

    def learn(self, name, seed, *more):
        """Learns in a folder, unless it is there."""
        out = self.path(name)
        args = ["learn", "--quiet", "--in", self.archive(seed), "--labels", "primary-care", "--seed", str(seed), "--out", out,
                "--slice", "100000", "--k", "20000", "--set", "learn.again=true", "--set", "learn.patience=20"]
        self.do(*args, *more, *[x for s in self.a.set for x in ("--set", s)])
        return out

    def scores(self, out, sets):
        """Scores of every turn, kept beside the turns."""
        rows = []
        for name in sorted(t for t in os.listdir(out) if t.startswith("turn-")):
            row, model = {}, os.path.join(out, name, "model.velum")
            for gold in sets:
                r = score.evaluate(self.velum, model, self.path(gold + ".jsonl"), "primary-care", [])
                row[gold] = {"f1": r["strict"], "masked": r["masked"]} | {c: r[c]["f1"] for c in CATEGORIES}
            rows.append(row)
        return rows

    def measured(self, name, learn, sets=("dev", "dev101")):
        known = self.path(name + ".json")
        if not os.path.exists(known):
            rows = self.scores(learn(), sets)
            with open(known, "w") as f:
                json.dump(rows, f)
        with open(known) as f:
            return json.load(f)


# C_min of .97 holds for what stands outside spans; that of a category is the quantile where it is lower.
TAUGHT = ["--set", "train.iterations=60", "--set", "choose.without_spans=0.6", "--min-confidence", "0.97"]
QUESTIONS = ["--k", "0", "--set", "train.iterations=25"]


def none(lab, seed):
    around = os.path.join(here, "around.txt")
    return lab.measured(f"none-{seed}", lambda: lab.learn(
        f"none-{seed}", seed, "--start", lab.path("binary.velum"), "--turns", "2", *TAUGHT,
        "--set", f"learn.templates={around},{around},primary-care", "--set", "learn.retag=true", "--set", "learn.warm=false"))


def reports(lab, seed):
    return lab.measured(f"reports-{seed}", lambda: lab.learn(
        f"reports-{seed}", seed, "--gold", os.path.join(notes.data, "meddocan/train"), "--labelled", "100", "--dev", lab.dev(), "--turns", "1", *TAUGHT))


def network(lab, seed):
    """Scores by kinds: of the network of the labelled reports alone, then of the last turn with each of --kinds."""
    gold = ["--gold", os.path.join(notes.data, "meddocan/train"), "--labelled", "100", "--dev", lab.dev(), *TAUGHT]
    got = {}
    for kinds in ["bilstm", *lab.a.kinds.split(";")]:
        name, turns = f"network-{kinds}-{seed}".replace(",", "-"), "0" if kinds == "bilstm" and got == {} else lab.a.turns
        rows = lab.measured(f"{name}-{turns}", lambda: lab.learn(f"{name}-{turns}", seed, *gold, "--turns", turns, "--set", f"learn.kinds={kinds}"), SETS)
        got["network of the reports" if turns == "0" else kinds] = rows[-1]
        if kinds.startswith("crf,"):
            got["CRF of the reports"] = rows[0]
    return got


def everything(lab, seed):
    around = os.path.join(here, "around.txt")
    return lab.measured(f"all-{seed}", lambda: lab.learn(
        f"all-{seed}", seed, "--gold", lab.notes(seed), "--dev", lab.dev(), "--turns", "2", *TAUGHT,
        "--set", f"learn.templates=primary-care,{around},primary-care", "--set", "learn.retag=true", "--set", "learn.warm=false"))


def ask(lab, seed):
    """Rows of (notes, how, spans in them, scores): the first is the model that has seen none."""
    base, gold = lab.path(f"ask-{seed}"), ["--gold", lab.notes(seed), "--dev", lab.dev(), "--oracle", lab.path("train.jsonl")]
    spans = {n: len(s) for n, _, s in notes.read(lab.path("train.jsonl"))}
    rows = [(0, "", 0, lab.measured(f"ask-{seed}", lambda: lab.learn(f"ask-{seed}", seed, *gold, "--turns", "0", "--k", "0", "--set", "train.iterations=60"))[0])]
    for n in map(int, lab.a.sizes.split(",")):
        for how, share in (("asked", "0.1"), ("random", "1")):
            name = f"ask-{seed}-{n}-{how}"

            def run():
                if not os.path.exists(lab.path(name)):
                    os.makedirs(lab.path(name))
                    shutil.copytree(os.path.join(base, "turn-00"), lab.path(name, "turn-00"))
                return lab.learn(name, seed, *gold, *QUESTIONS, "--turns", "1", "--back-to", "0", "--set", f"learn.ask={n}", "--set", f"learn.ask_random={share}")

            got = lab.measured(name, run)[-1]
            with open(lab.path(name, "turn-01", "asked.json")) as f:
                asked = json.load(f)["notes"]
            rows.append((len(asked), how, sum(spans[q["id"]] for q in asked), got))
    return rows


def spread(values):
    return f"{statistics.mean(values):.4f}" + (f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else "")


def gains(title, draws):
    """A table of the turns of several draws."""
    print(f"\n**{title}**, {len(draws)} draws\n\n| | strict F1 | gain | entities masked | " + " | ".join(CATEGORIES) + " |\n|" + "---|" * (4 + len(CATEGORIES)))
    for gold, name in (("dev", ""), ("dev101", ", names redrawn")):
        for k in range(min(map(len, draws))):
            at = [d[k][gold] for d in draws]
            gain = spread([d[k][gold]["f1"] - d[0][gold]["f1"] for d in draws]) if k else ""
            print(f"| turn {k}{name} | {spread([x['f1'] for x in at])} | {gain} | {spread([x['masked'] for x in at])} | " + " | ".join(spread([x[c] for x in at]) for c in CATEGORIES) + " |", flush=True)


SETS = ("dev", "dev101", "ca")


def kinds(draws):
    """A table of the kinds of "network": strict F1, its gain over the network of the reports, entities masked."""
    print(f"\n**100 reports, by kinds**, {len(draws)} draws\n\n| learned | nubes-phi dev: F1, gain, masked | names redrawn | notes-ca dev |\n|---|---|---|---|")
    for name in draws[0]:
        cells = []
        for s in SETS:
            at = [d[name][s] for d in draws]
            gain = spread([d[name][s]["f1"] - next(iter(d.values()))[s]["f1"] for d in draws])
            cells.append(f"{spread([x['f1'] for x in at])}, {gain}, {spread([x['masked'] for x in at])}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def curve(draws):
    print(f"\n**Questions**, {len(draws)} draws\n\n| notes corrected | how chosen | spans in them | strict F1 | names redrawn | entities masked |\n|---|---|---|---|---|---|")
    for rows in zip(*draws):
        print(f"| {rows[0][0]} | {rows[0][1]} | {statistics.mean(r[2] for r in rows):.0f} | {spread([r[3]['dev']['f1'] for r in rows])} | {spread([r[3]['dev101']['f1'] for r in rows])} | {spread([r[3]['dev']['masked'] for r in rows])} |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--only", default="none,reports,all,ask")
    p.add_argument("--draws", type=int, default=5)
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--sizes", default="50,100,200,400,800", help="notes that are asked about")
    p.add_argument("--kinds", default="crf,bilstm;crf,crf+bilstm", help="values of learn.kinds for network, with a semicolon between them")
    p.add_argument("--turns", default="1", help="turns of network")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--work", default="out/teacher")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    lab = Lab(a)
    for name in a.only.split(","):
        do = {"none": none, "reports": reports, "network": network, "all": everything, "ask": ask}[name]
        draws = [do(lab, seed) for seed in range(a.first, a.first + a.draws)]
        if name == "ask":
            curve(draws)
        elif name == "network":
            kinds(draws)
        else:
            gains({"none": "No labelled notes", "reports": "100 reports", "all": "MEDDOCAN train and generated notes"}[name], draws)


if __name__ == "__main__":
    main()
