#!/usr/bin/env python3
"""What models find where nobody tuned: the one table by which recipes, lists, rules and patterns are chosen (`make transfer`).

    scripts/bench/real/transfer.py [--work out/transfer] [--kinds crf,network,cascade] [--rows ...] [--set KEY=VALUE] [--hands]

A row is a source, scored by models that have not seen it, or its writers, or its kinds of document:
    source   a model trained without the source (NUBes; notes-ca; notes-voices and our own hands; short MEDDOCAN; generated)
    writer   five models, each without a fifth of the writers of notes-voices and of our own hands
    kind     the same five models, each without some kinds of document of NUBes and of its translations in notes-ca
Every measure is of the whole product (model, patterns, rules, repeats); intervals are of 1,000 draws of documents, by `velum prove evaluate`.
Trained models are kept in --work, so that another setting (--set) costs the tagging alone. What was trained on a note's copies is left out with it.
"""
import argparse, collections, json, os, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

import gold, notes

TIMES = {"nubes": 2, "notes-ca": 2, "voices": 4, "hands": 5}  # redrawn copies
FOLDS = 5
KINDS = [{"preil"}, {"progr"}, {"chico"}, {"recom", "surhi"}]  # of NUBes, by size; the fifth fold has the others
WITHOUT = {"nubes": ["nubes"], "notes-ca": ["notes-ca"], "voices": ["voices"], "all-hands": ["voices", "hands"], "short": ["short"], "generated": ["generated"]}
PLAIN = {"short": ["short-train", "short-background"], "generated": ["generated"]}
HELD = {"short": "short-dev", "generated": "synth-dev"}
TRAIN = {
    "crf": ["--kind", "crf", "--iterations", "60", "--set", "train.bias=0.5"],
    "network": ["--kind", "bilstm", "--epochs", "4", "--template", "network-lean", "--set", "network.noise=0.1", "--set", "network.blind=0.3"],
}

CASCADE = ["--set", "ensemble.threshold=0.95", "--set", "ensemble.first=0.2", "--set", "ensemble.bias=0.6"]


def fold_of(source, note, hands):
    group = gold.GOLD[source][1](note.split("~")[0])
    if source in hands:
        return hands[source].index(group) % FOLDS
    return next((k for k, kinds in enumerate(KINDS) if group in kinds), FOLDS - 1)


class Bench:
    def __init__(self, a):
        self.a, self.work = a, a.work
        self.path = lambda name: os.path.join(self.work, name)
        self.hands = {s: sorted({gold.hand(n) for n, _, _ in notes.read(self.path(f"gold-{s}.jsonl"))}) for s in ("voices", "hands")}

    def lines(self, source):
        if source in PLAIN:
            files = PLAIN[source]
        else:
            files = [f"gold-{source}", f"empty-{source}"] + [f"copy-{source}-{k}" for k in range(1, TIMES[source] + 1)]
        for name in files:
            with open(self.path(name + ".jsonl"), encoding="utf-8") as f:
                yield from f

    def corpus(self, name, fold=None, without=()):
        """Writes what a model is trained on, and what it is held against."""
        out = self.path(f"{name}.train.jsonl")
        with open(out, "w", encoding="utf-8") as f:
            for source in [*gold.GOLD, *PLAIN]:
                if source in without:
                    continue
                for line in self.lines(source):
                    if fold is None or source in PLAIN or fold_of(source, json.loads(line)["id"], self.hands) != fold:
                        f.write(line)
        return out

    def held(self, source, fold=None):
        """The notes of a source, or of a fold of it."""
        if source in PLAIN:
            return self.path(HELD[source] + ".jsonl")
        if fold is None:
            return self.path(f"gold-{source}.jsonl")
        out = self.path(f"held-{source}-{fold}.jsonl")
        with open(self.path(f"gold-{source}.jsonl"), encoding="utf-8") as f, open(out, "w", encoding="utf-8") as to:
            to.writelines(line for line in f if fold_of(source, json.loads(line)["id"], self.hands) == fold)
        return out

    def velum(self, *args):
        subprocess.run([self.a.velum, *args, "--quiet", "--profile", "primary-care"], check=True, stdout=subprocess.DEVNULL)

    def train(self, job):
        name, fold, without, kind = job
        out = self.path(f"{name}-{kind}.velum")
        if os.path.exists(out):
            return
        if kind in TRAIN:
            self.velum("teach", "train", "--labels", "primary-care", "--workers", "1", *TRAIN[kind], "--train", self.path(f"{name}.train.jsonl"), "--out", out)
            return
        members = ",".join(self.path(f"{name}-{k}.velum") for k in TRAIN)
        self.velum("teach", "train", "--labels", "primary-care", "--kind", "ensemble", "--mode", kind, *CASCADE, "--members", members,
                   "--train", self.held("notes-ca", 0), "--out", out)

    def jobs(self):
        models = [(f"fold{k}", k, ()) for k in self.a.folds]
        return models + [(f"without-{s}", None, WITHOUT[s]) for s in self.a.sources]

    def run(self):
        jobs = self.jobs()
        members = [k for k in TRAIN if k in self.a.kinds or set(self.a.kinds) - set(TRAIN)]
        for name, fold, without in jobs:
            if not all(os.path.exists(self.path(f"{name}-{k}.velum")) for k in members):
                self.corpus(name, fold, without)
        with ThreadPoolExecutor(self.a.jobs) as pool:
            list(pool.map(self.train, [(*j, kind) for kind in members for j in jobs]))
            list(pool.map(self.train, [(*j, kind) for kind in self.a.kinds if kind not in TRAIN for j in jobs]))
        for kind in self.a.kinds:
            for s in self.a.sources:
                for held in ("voices", "hands") if s == "all-hands" else (s,):
                    self.row(kind, f"{held} left out" + (", all hands" if s == "all-hands" else ""), held, [(f"without-{s}", self.held(held))])
            if self.a.folds:
                for s in gold.GOLD:
                    self.row(kind, f"{s} by {'writer' if s in self.hands else 'kind'}", s, [(f"fold{k}", self.held(s, k)) for k in self.a.folds])

    def row(self, kind, title, source, parts):
        """Prints the measures of notes tagged by several models, each note by one."""
        name = f"{kind}-{title.replace(' ', '-')}"
        both, system = self.path(name + ".gold.jsonl"), self.path(name + ".system.jsonl")
        with open(both, "w", encoding="utf-8") as g, open(system, "w", encoding="utf-8") as s:
            for model, held in parts:
                if os.path.getsize(held) == 0:
                    continue
                tagged = self.path(name + ".tagged.jsonl")
                self.velum("model", "tag", "--in", held, "--from", "jsonl", "--to", "jsonl", "--out", tagged, "--model", self.path(f"{model}-{kind}.velum"), *self.more())
                for path, to in ((held, g), (tagged, s)):
                    with open(path, encoding="utf-8") as f:
                        to.write(f.read())
        if os.path.getsize(both) == 0:
            return
        print(show(kind, title, self.evaluate(both, system)), flush=True)
        if self.a.hands and source in self.hands:
            self.each_hand(source, both, system)

    def more(self):
        return [x for s in self.a.set for x in ("--set", s)]

    def evaluate(self, both, system, draws="1000"):
        out = subprocess.run([self.a.velum, "prove", "evaluate", "--quiet", "--json", "--draws", draws, "--profile", "primary-care", "--gold", both, "--system", system,
                              "--categories", "primary-care"], check=True, stdout=subprocess.PIPE, text=True).stdout
        return json.loads(out)

    def each_hand(self, source, both, system):
        """Mean and least of the hands, each scored by itself."""
        found = collections.defaultdict(list)
        tagged = {json.loads(line)["id"]: line for line in open(system, encoding="utf-8")}
        for line in open(both, encoding="utf-8"):
            note = json.loads(line)["id"]
            found[gold.hand(note)].append((line, tagged[note]))
        rows = {}
        for hand, lines in found.items():
            for k, path in enumerate(("hand.gold.jsonl", "hand.system.jsonl")):
                with open(self.path(path), "w", encoding="utf-8") as f:
                    f.writelines(x[k] for x in lines)
            rows[hand] = masked(self.evaluate(self.path("hand.gold.jsonl"), self.path("hand.system.jsonl"), "-1"))
        everyone = sorted(rows.items(), key=lambda x: x[1][0])
        mean = [sum(x[k] for x in rows.values()) / len(rows) for k in (0, 1)]
        print(f"    {len(rows)} hands: mean masked {mean[0]:.3f}, PERSON {mean[1]:.3f}; least " + ", ".join(f"{h} {x[0]:.3f}/{x[1]:.3f}" for h, x in everyone[:5]), flush=True)


def masked(r):
    m = {x["name"]: x for x in r["measures"]}["masked_entities"]
    person = next((x for x in r["categories"] if x["category"] == "PERSON"), {"gold": 0, "masked": 0})
    return m["recall"], person["masked"] / person["gold"] if person["gold"] else 1


def show(kind, title, r):
    m = {x["name"]: x for x in r["measures"]}
    all_, strict = m["masked_entities"], m["strict"]
    lo, hi = all_["interval"]["recall"]
    f = strict["interval"]["f1"]
    clean = m["clean_notes"]
    return (f"{kind:8s} {title:32s} masked {all_['recall']:.4f} [{lo:.3f}, {hi:.3f}] of {all_['gold']:5d}  PERSON {masked(r)[1]:.4f}  touched {all_['precision']:.4f}  "
            f"strict F1 {strict['f1']:.4f} [{f[0]:.3f}, {f[1]:.3f}]  notes that keep one {clean['gold'] - clean['found']} of {clean['gold']}")


def prepare(a):
    """All sources, once."""
    if os.path.exists(os.path.join(a.work, "generated.jsonl")):
        return
    at = lambda name: os.path.join(a.work, name)
    gold.write(a.work, TIMES)
    subprocess.run([sys.executable, "scripts/bench/real/corpora.py", "bodies", "--work", a.work], check=True)
    for name, folder, seed in (("short-train", os.path.join(notes.data, "meddocan/train"), 1), ("short-background", at("background-bodies"), 3), ("short-dev", os.path.join(notes.data, "meddocan/dev"), 2)):
        subprocess.run([sys.executable, "scripts/data/shortnotes.py", "--in", folder, "--out", at(name + ".jsonl"), "--seed", str(seed)], check=True)
    subprocess.run([sys.executable, "scripts/bench/real/corpora.py", "short", "--work", a.work], check=True)
    for name, n, seed, split in (("synth-dev", 8000, 2, "test"), ("generated", 5000, 1, "train")):
        subprocess.run([a.velum, "teach", "synth", "--quiet", "--notes", str(n), "--seed", str(seed), "--split", split, "--density", "3", "--out", at(name + ".jsonl")], check=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--work", default="out/transfer")
    p.add_argument("--kinds", default="crf,network,cascade", type=lambda s: s.split(","), help="what is scored: crf, network, or a mode of an ensemble of both")
    p.add_argument("--sources", default=",".join(WITHOUT), type=lambda s: [x for x in s.split(",") if x], help="sources that are left out")
    p.add_argument("--folds", default="0,1,2,3,4", type=lambda s: [int(x) for x in s.split(",") if x], help="of the five folds of writers and kinds")
    p.add_argument("--hands", action="store_true", help="mean and least of the hands")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    p.add_argument("--prepare", action="store_true", help="make the sources and what all of them train on (all.train.jsonl), and stop")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    prepare(a)
    bench = Bench(a)
    if a.prepare:
        bench.corpus("all")
        return
    bench.run()


if __name__ == "__main__":
    main()
