#!/usr/bin/env python3
"""Precision of detections on notes without gold, by reading a sample.

    judge.py lines NUBES.jsonl.gz LINES.jsonl     every line of a document a note, id DOCUMENT#LINE
    judge.py draw TAGGED.jsonl --seed S --n 200   show a sample to read, and print it without verdicts
    judge.py score VERDICTS.tsv [TAGGED.jsonl]    precision by category, with 95 % Wilson intervals

A verdict is `right` (personal information of that category), `border` (that,
but a word too long or too short), `category` (personal information of another
category) or `wrong` (not personal information). The file of verdicts holds document, line,
start and end in bytes of the line, category and verdict: never text. With
TAGGED.jsonl, score draws the sample again and says whether it is the same one.
"""
import argparse
import collections
import gzip
import json
import math
import random
import sys


def lines(source, target):
    with gzip.open(source, "rt") as docs, open(target, "w") as notes:
        for doc in map(json.loads, docs):
            for number, text in enumerate(doc["text"].split("\n")):
                if text.strip():
                    note = {"id": f"{doc['id']}#{number}", "text": text}
                    notes.write(json.dumps(note, ensure_ascii=False) + "\n")


def detections(tagged):
    """Rows (document, line, start, end, category) in bytes, and their texts."""
    rows = {}
    for line in open(tagged):
        note = json.loads(line)
        document, number = note["id"].rsplit("#", 1)
        text = note["text"]
        for span in note["spans"]:
            before, inside = text[: span["start"]], text[span["start"] : span["end"]]
            start = len(before.encode())
            row = (document, int(number), start, start + len(inside.encode()), span["label"])
            rows[row] = f"{before[-60:]}[[{inside}]]{text[span['end']:][:40]}"
    return rows


def sample(rows, seed, n):
    return random.Random(seed).sample(sorted(rows), n)


def draw(tagged, seed, n):
    rows = detections(tagged)
    print(f"# seed {seed}, {n} of {len(rows)} detections")
    for row in sample(rows, seed, n):
        print(rows[row], file=sys.stderr)
        print(*row, sep="\t")


def wilson(right, n, z=1.96):
    p = right / n
    middle = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (middle - half) / (1 + z * z / n), (middle + half) / (1 + z * z / n)


def score(verdicts, tagged):
    seed, judged, tally = None, [], collections.defaultdict(collections.Counter)
    for line in open(verdicts):
        if line.startswith("# seed "):
            seed = int(line.split()[2].rstrip(","))
        if line.startswith("#") or not line.strip():
            continue
        document, number, start, end, category, verdict = line.rstrip("\n").split("\t")
        judged.append((document, int(number), int(start), int(end), category))
        for key in (category, "all"):
            tally[key][verdict] += 1
    if tagged:
        rows = detections(tagged)
        same = sorted(sample(rows, seed, len(judged))) == sorted(judged)
        print("sample drawn again:", "the same" if same else "another one", end="; ")
        print(sum(row in rows for row in judged), "of", len(judged), "judged detections are among these")
    print("category\tn\tright\tborder\tcategory\twrong\tprecision\tPHI\t95 % of precision")
    for category in sorted(tally):
        t = tally[category]
        n = sum(t.values())
        low, high = wilson(t["right"], n)
        print(category, n, t["right"], t["border"], t["category"], t["wrong"], f"{t['right'] / n:.3f}",
              f"{(n - t['wrong']) / n:.3f}", f"{low:.3f}-{high:.3f}", sep="\t")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    v = verbs.add_parser("lines")
    v.add_argument("source")
    v.add_argument("target")
    v = verbs.add_parser("draw")
    v.add_argument("tagged")
    v.add_argument("--seed", type=int, default=1)
    v.add_argument("--n", type=int, default=200)
    v = verbs.add_parser("score")
    v.add_argument("verdicts")
    v.add_argument("tagged", nargs="?")
    a = parser.parse_args()
    if a.verb == "lines":
        lines(a.source, a.target)
    elif a.verb == "draw":
        draw(a.tagged, a.seed, a.n)
    else:
        score(a.verdicts, a.tagged)


if __name__ == "__main__":
    main()
