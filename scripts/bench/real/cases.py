#!/usr/bin/env python3
"""Copies of labelled documents in small letters, one in five, and in capitals, one in ten.

    scripts/bench/real/cases.py OUT FOLDER...

FOLDERs are of brat files, at any depth; OUT gets case-NAME.txt and .ann with the same offsets. The choice is by the order of names
and one seed. Hospitals write whole notes in one case: a CRF that never saw one left 246 of 250 such reports with a name in them.
"""
import os, random, sys


def capitals(text):
    """Upper case of the same length: ß and the like stay."""
    return "".join(u if len(u := c.upper()) == 1 else c for c in text)


def documents(folder):
    for at, _, names in os.walk(folder):
        yield from (os.path.join(at, n[:-4]) for n in names if n.endswith(".txt"))


def read(path):
    with open(path, encoding="utf-8", newline="") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def annotation(line, change):
    """A line of an .ann file with the text of its span changed."""
    if not line.startswith("T"):
        return line
    head, text = line.rsplit("\t", 1)
    return head + "\t" + change(text)


def main(out, *folders):
    os.makedirs(out, exist_ok=True)
    draw = random.Random(2)
    for folder in folders:
        for path in sorted(documents(folder)):
            r = draw.random()
            change = str.lower if r < .2 else capitals if r < .3 else None
            if change is None:
                continue
            text = read(path + ".txt")
            if len(change(text)) != len(text):
                continue
            to = os.path.join(out, "case-" + os.path.basename(path))
            write(to + ".txt", change(text))
            write(to + ".ann", "\n".join(annotation(line, change) for line in read(path + ".ann").split("\n")))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
