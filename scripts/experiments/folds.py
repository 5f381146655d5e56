#!/usr/bin/env python3
"""Five folds of MEDDOCAN train + dev (750 documents): what an ensemble of a CRF and a network gains over the CRF.

    scripts/experiments/folds.py [--folds 5] [--only 1,2] [--work out/folds] [--network KEY=VALUE]...

Each fold is tagged by models that the other folds trained, with patterns and rules, and counted by document. What is
printed: strict F1 of CRF, network and ensemble over the folds that are done, and the 95 % interval of the differences,
1,000 draws of documents, the same documents for both sides. What is there is not done again. NEURAL.md says why:
dev alone cannot tell .002 from chance.
"""
import argparse, json, os, random, subprocess

DATA = os.environ.get("VELUM_DATA", "../shared/data")
SYSTEMS = ["crf", "network", "mean"]


def documents():
    """Ids of all documents with the paths of their two files, in an order drawn once."""
    found = []
    for part in ("train", "dev"):
        for folder, _, names in os.walk(os.path.join(DATA, "meddocan", part)):
            found += [os.path.join(folder, n[:-4]) for n in names if n.endswith(".txt")]
    found.sort(key=os.path.basename)
    random.Random(2026).shuffle(found)
    return found


def link(paths, folder):
    os.makedirs(folder, exist_ok=True)
    for path in paths:
        for end in (".txt", ".ann"):
            at = os.path.join(folder, os.path.basename(path) + end)
            if not os.path.exists(at):
                os.symlink(os.path.realpath(path + end), at)


def run(velum, *args):
    subprocess.run([velum, *args, "--quiet", "--profile", "meddocan"], check=True, stdout=subprocess.DEVNULL)


def train(a, work):
    """The models of a fold."""
    crf, net, both = (os.path.join(work, n + ".velum") for n in ("crf", "network", "mean"))
    gold = ["--train", os.path.join(work, "train"), "--labels", "meddocan"]
    if not os.path.exists(crf):
        run(a.velum, "train", "--kind", "crf", *gold, "--out", crf)
    if not os.path.exists(net):
        more = [x for s in a.network for x in ("--set", s)]
        run(a.velum, "train", "--kind", "bilstm", *gold, *more, "--checkpoint", os.path.join(work, "state"), "--out", net)
    if not os.path.exists(both):  # a mean takes nothing from the notes; a few will do
        link(sorted(documents())[:1], os.path.join(work, "one"))
        run(a.velum, "train", "--kind", "ensemble", "--members", f"{crf},{net}", "--mode", "mean",
            "--train", os.path.join(work, "one"), "--labels", "meddocan", "--out", both)


def spans(path):
    with open(path, encoding="utf-8") as f:
        return {r["id"]: {(s["start"], s["end"], s["label"]) for s in r.get("spans", [])} for r in map(json.loads, f)}


def count(a, work):
    """Right, system and gold spans of each document by system."""
    held = os.path.join(work, "held")
    gold = os.path.join(work, "gold.jsonl")
    if not os.path.exists(gold):
        run(a.velum, "convert", "--in", held, "--from", "brat", "--out", gold)
    right = spans(gold)
    rows = {}
    for system in SYSTEMS:
        said = os.path.join(work, system + ".jsonl")
        if not os.path.exists(said):
            run(a.velum, "tag", "--in", held, "--from", "brat", "--out", said, "--model", os.path.join(work, system + ".velum"))
        for note, found in spans(said).items():
            rows.setdefault(note, {})[system] = (len(found & right[note]), len(found), len(right[note]))
    return rows


def f1(rows, system):
    r, s, g = (sum(row[system][k] for row in rows) for k in range(3))
    return 2 * r / (s + g)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--only", default="")
    p.add_argument("--work", default="out/folds")
    p.add_argument("--network", action="append", default=[], metavar="KEY=VALUE")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    all_documents = documents()
    rows = []
    for k in range(a.folds):
        if a.only and str(k + 1) not in a.only.split(","):
            continue
        work = os.path.join(a.work, str(k + 1))
        link(all_documents[k::a.folds], os.path.join(work, "held"))
        link([d for i, d in enumerate(all_documents) if i % a.folds != k], os.path.join(work, "train"))
        train(a, work)
        fold = list(count(a, work).values())
        rows += fold
        print(f"fold {k + 1}, {len(fold)} documents: " + ", ".join(f"{s} {f1(fold, s):.4f}" for s in SYSTEMS), flush=True)
    print(f"all, {len(rows)} documents: " + ", ".join(f"{s} {f1(rows, s):.4f}" for s in SYSTEMS))
    draw = random.Random(1)
    draws = [[draw.choice(rows) for _ in rows] for _ in range(1000)]
    for better, than in (("mean", "crf"), ("network", "crf"), ("mean", "network")):
        gains = sorted(f1(d, better) - f1(d, than) for d in draws)
        print(f"{better} - {than}: {f1(rows, better) - f1(rows, than):+.4f}, 95 % {gains[24]:+.4f} to {gains[974]:+.4f}")


if __name__ == "__main__":
    main()
