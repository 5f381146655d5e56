#!/usr/bin/env python3
"""Our CRF against CRFsuite (PyPI: python-crfsuite), same features, same data.

    make compare
    python3 scripts/bench/crfsuite_compare.py --train DIR --dev DIR --out DIR [--c2 0.5]

The Go program scripts/bench/crfsuite writes every token's attributes as items. CRFsuite and we train on
them with the same objective and the same rule to stop, once as precisely as both can (final
objectives, F1 on dev), which also gives the times; then each tags dev with the weights that it learned.
Building CRFsuite's items is timed apart. Everything runs on one core, and our training on two as
well. Ratios are of processor seconds, which other work on the machine does not inflate, except for
our two cores against one, which are of the clock. The last line is a JSON record of all figures. The files in --out hold words of the notes.
"""
import argparse, json, os, re, shutil, subprocess, sys, time

import pycrfsuite

ESCAPED = re.compile(r"\\(.)")


def call(binary, *args):
    out = subprocess.run([binary, *args], check=True, stdout=subprocess.PIPE, env={**os.environ, "GOMAXPROCS": "2"})
    return json.loads(out.stdout.splitlines()[-1]) if out.stdout else None


def split(attribute):
    """name, value of an attribute as the file has it"""
    parts = re.split(r"(?<!\\)(?:\\\\)*:", attribute)
    name = ESCAPED.sub(r"\1", parts[0])
    return name, float(parts[1]) if len(parts) > 1 else 1.0


def read(path):
    """sequences of (attributes, tags), and the processor seconds that making items of parsed attributes took"""
    xs, ys = [], []
    x, y = [], []
    took = 0.0
    with open(path, encoding="utf-8", newline="\n") as f:
        for line in f:
            line = line.rstrip("\n")
            if not line:
                began = time.process_time()
                xs.append(pycrfsuite.ItemSequence(x)), ys.append(y)
                took += time.process_time() - began
                x, y = [], []
                continue
            tag, *attributes = line.split("\t")
            item = {}
            for name, value in map(split, attributes):  # overlapping matches mark a token twice
                item[name] = item.get(name, 0.0) + value
            x.append(item), y.append(tag)
    return xs, ys, took


def spans(tags):
    """spans of BIO tags as (start, end, type); a stray I opens one"""
    found, start = [], None
    for i, t in enumerate(tags + ["O"]):
        if start is not None and t != "I-" + tags[start][2:]:
            found.append((start, i, tags[start][2:]))
            start = None
        if t != "O" and start is None:
            start = i
    return found


def f1(gold, system):
    right = found = wanted = 0
    for g, s in zip(gold, system):
        g, s = set(spans(g)), set(spans(s))
        right, found, wanted = right + len(g & s), found + len(s), wanted + len(g)
    return 2 * right / max(found + wanted, 1)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--train", required=True)
    a.add_argument("--dev", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--template", default="configs/templates/meddocan.txt")
    a.add_argument("--c1", type=float, default=0.0)
    a.add_argument("--c2", type=float, default=0.5)
    a.add_argument("--delta", type=float, default=1e-5)
    a.add_argument("--iterations", type=int, default=1000)
    a = a.parse_args()
    os.makedirs(a.out, mode=0o700, exist_ok=True)
    binary = os.path.join(a.out, "crfsuite")
    subprocess.run(["go", "build", "-o", binary, "./scripts/bench/crfsuite"], check=True)
    template = os.path.join(a.out, "template.txt")
    shutil.copyfile(a.template, template)
    same = ["--template", template, "--c1", str(a.c1), "--c2", str(a.c2), "--delta", str(a.delta),
            "--iterations", str(a.iterations)]
    report = {}
    for part in ("train", "dev"):
        call(binary, "items", "--template", template, "--in", getattr(a, part), "--out", f"{a.out}/{part}.items")
    for workers in (1, 2):
        report[f"ours_{workers}"] = call(binary, "train", *same, "--train", a.train, "--dev", a.dev, "--workers", str(workers))
        print(f"ours, {workers} core(s):", report[f"ours_{workers}"], flush=True)

    xs, ys, _ = read(f"{a.out}/train.items")
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(xs, ys):
        trainer.append(x, y)
    params = {"c2": a.c2, "delta": a.delta, "epsilon": 1e-5, "period": 10, "max_iterations": a.iterations}
    if a.c1:
        params["c1"] = a.c1
    trainer.set_params(params)
    began, cpu = time.perf_counter(), time.process_time()
    trainer.train(f"{a.out}/crfsuite.model")
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    last = trainer.logparser.last_iteration
    del xs, ys
    xs, gold, items = read(f"{a.out}/dev.items")
    tagger = pycrfsuite.Tagger()
    tagger.open(f"{a.out}/crfsuite.model")
    best = None
    for _ in range(3):
        began = time.process_time()
        tags = [tagger.tag(x) for x in xs]
        took = time.process_time() - began
        best = took if best is None else min(best, took)
    tokens = sum(map(len, tags))
    report["crfsuite"] = {"seconds": seconds, "cpu_seconds": cpu, "objective": last["loss"], "iterations": last["num"],
                          "weights": last["active_features"], "f1": f1(gold, tags),
                          "items_seconds": items, "tagging": {"tokens": tokens, "seconds": best}}
    print("CRFsuite:", report["crfsuite"], flush=True)

    o, c = report["ours_1"], report["crfsuite"]
    report["objective_relative"] = abs(o["objective"] - c["objective"]) / c["objective"]
    report["training_ratio"] = c["cpu_seconds"] / o["cpu_seconds"]
    report["two_cores_ratio"] = o["seconds"] / report["ours_2"]["seconds"]
    report["tagging_ratio"] = (o["tagged"] / o["tagging"]) / (tokens / best)
    print(json.dumps(report))


if __name__ == "__main__":
    sys.exit(main())
