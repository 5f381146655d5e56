#!/usr/bin/env python3
"""What a corpus gains that is asked for turn by turn, beside notes drawn at random (ATN §5).

    scripts/experiments/corpus.py [--turns 4] [--notes 100] [--draws 2]

The train part of nubes-phi is the archive, its gold answers as a person would; a CRF is trained on the corpus
after each turn and scored on the dev part. Needs ../shared/data and bin/velum; works in out/corpus.
"""
import argparse, json, os, random, shutil, subprocess

KEPT = {"PERSON", "LOCATION", "DATE", "AGE", "TELEPHONE", "EMAIL"}


def velum(*args):
    return subprocess.run(("bin/velum",) + args, check=True, stdout=subprocess.PIPE, text=True).stdout


def part(name, out):
    subprocess.run(["python3", "../shared/tools/nubes_phi.py", f"../shared/data/labelled/nubes-phi/{name}.tsv", out, "--to", "jsonl"], check=True, stdout=subprocess.DEVNULL)
    notes = [json.loads(line) for line in open(out)]
    for n in notes:
        n["spans"] = [s for s in n["spans"] if s["label"] in KEPT]
    write(out, notes)
    return notes


def write(path, notes):
    with open(path, "w") as f:
        f.writelines(json.dumps(n, ensure_ascii=False) + "\n" for n in notes)


def score(corpus, dev):
    velum("train", "--quiet", "--kind", "crf", "--train", corpus, "--out", "out/corpus/m.velum", "--set", "train.iterations=80")
    r = json.loads(velum("evaluate", "--quiet", "--json", "--gold", dev, "--model", "out/corpus/m.velum", "--draws", "-1"))
    return next(m["f1"] for m in r["measures"] if m["name"] == "strict")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--turns", type=int, default=4)
    p.add_argument("--notes", type=int, default=100)
    p.add_argument("--draws", type=int, default=2)
    a = p.parse_args()
    shutil.rmtree("out/corpus", ignore_errors=True)
    os.makedirs("out/corpus")
    train, dev = part("train", "out/corpus/gold.jsonl"), "out/corpus/dev.jsonl"
    part("dev", dev)
    gold = {n["id"]: n for n in train}
    write("out/corpus/archive.jsonl", [dict(n, spans=[]) for n in train])
    print("notes\tasked\trandom")
    for turn in range(1, a.turns + 1):
        query = ["--query", "dra,dr,hospital,clínica,centro,hija,vive,doctor"] if turn == 1 else []
        velum("corpus", "next", "--out", "out/corpus/c", "--in", "out/corpus/archive.jsonl", "--notes", str(a.notes), *query)
        asked = json.load(open(f"out/corpus/c/turn-{turn:03d}/asked.json"))["notes"]
        write("out/corpus/answers.jsonl", [gold[n["id"]] for n in asked])
        velum("corpus", "take", "--out", "out/corpus/c", "--answers", "out/corpus/answers.jsonl")
        corpus = [json.loads(line) for line in open("out/corpus/c/corpus.jsonl")]
        drawn = []
        for seed in range(a.draws):
            write("out/corpus/random.jsonl", random.Random(seed).sample(train, len(corpus)))
            drawn.append(score("out/corpus/random.jsonl", dev))
        print(f"{len(corpus)}\t{score('out/corpus/c/corpus.jsonl', dev)}\t{drawn}", flush=True)


main()
