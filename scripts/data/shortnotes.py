#!/usr/bin/env python3
"""Turns labelled reports (a brat folder such as MEDDOCAN train) into notes of the kind that primary care writes: the header stripped, the body cut into one to
three sentences, upper and lower case and accents mangled in part. Its output is a part of what models of short notes learn from. See `make models`.

    shortnotes.py --in ../shared/data/meddocan/train --out out/short.jsonl --seed 1"""
import argparse, json, os

KEEP_HEADER = 0.15  # of header lines: a card number or a birth date does turn up alone in a note
LOWERED, RAISED = 0.25, 0.15  # of notes: the whole note in lower case, in upper case
PLAIN = 0.35  # of notes: without accents
ACCENTS = str.maketrans("áéíóúüàèòïÁÉÍÓÚÜÀÈÒÏ", "aeiouuaeoiAEIOUUAEOI")
MASK = (1 << 64) - 1


class Random:
    """PCG-DXSM as the standard library of Go has it (math/rand/v2): the notes of a seed are those that the shipped models learned from."""

    def __init__(self, hi, lo):
        self.state = hi << 64 | lo

    def uint64(self):
        self.state = (self.state * (2549297995355413924 << 64 | 4865540595714422341) + (6364136223846793005 << 64 | 1442695040888963407)) & ((1 << 128) - 1)
        hi, lo = self.state >> 64, self.state & MASK
        hi ^= hi >> 32
        hi = hi * 0xDA942042E4DD58B5 & MASK
        hi ^= hi >> 48
        return hi * (lo | 1) & MASK

    def float(self):
        return (self.uint64() << 11 & MASK) / (1 << 64)

    def below(self, n):
        """A number below n, by Lemire's method on 32 bits; a power of two takes the low bits."""
        if n & (n - 1) == 0:
            return self.uint64() & (n - 1)
        prod = (self.uint64() >> 32) * n
        if prod & 0xFFFFFFFF < n:
            least = (1 << 32) % n
            while prod & 0xFFFFFFFF < least:
                prod = (self.uint64() >> 32) * n
        return prod >> 32


def cuts(rng, line, at, gold):
    """Runs of one to three sentences of a line; a cut never falls inside a span."""
    start, sentences, want = 0, 0, 1 + rng.below(3)
    for i, c in enumerate(line):
        stop = c == "." and line[i + 1 : i + 2] == " " and not any(s <= at + i < e for s, e, _ in gold)
        sentences += stop
        if i == len(line) - 1 or stop and sentences == want:
            if len(line[start : i + 1].encode()) > 12:
                yield at + start, at + i + 1
            start, sentences, want = i + 2, 0, 1 + rng.below(3)


def mangled(rng, text):
    """The text as a hurried hand writes it, with as many characters."""
    plain, p = rng.float() < PLAIN, rng.float()
    change = str.lower if p < LOWERED else str.upper if p < LOWERED + RAISED else str
    text = "".join(c if len(change(c)) != 1 else change(c) for c in text)
    return text.translate(ACCENTS) if plain else text


def report(rng, name, text, gold):
    """The notes of a report. The body begins where the header's short "Field: value." lines end."""
    body, at, n = text.find("Informe clínico"), 0, 0
    for line in text.removesuffix("\n").split("\n"):
        if not at < body or rng.float() < KEEP_HEADER:
            for start, end in list(cuts(rng, line, at, gold)):
                spans = [{"start": s - start, "end": e - start, "label": label} for s, e, label in gold if start <= s and e <= end]
                yield {"id": f"{name}:0:{n}", "text": mangled(rng, text[start:end]), "spans": spans}
                n += 1
        at += len(line) + 1


def brat(folder):
    """Name, text and spans of the notes of a folder."""
    for name in sorted(f[:-4] for f in os.listdir(folder) if f.endswith(".ann")):
        with open(os.path.join(folder, name + ".txt"), encoding="utf-8", newline="") as f:
            text = f.read()
        with open(os.path.join(folder, name + ".ann"), encoding="utf-8") as f:
            lines = [line.split("\t")[1].split(" ") for line in f if line.startswith("T")]
        yield name, text, sorted((int(s), int(e), label) for label, s, e in lines)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--in", dest="folder", required=True, help="brat folder of labelled reports")
    p.add_argument("--out", required=True, help="JSONL file to write")
    p.add_argument("--seed", type=int, default=1, help="of the cuts and of the mangling")
    a = p.parse_args()
    rng, notes, spans = Random(a.seed, 7), 0, 0
    with open(a.out, "w", encoding="utf-8") as f:
        for name, text, gold in brat(a.folder):
            for note in report(rng, name, text, gold):
                f.write(json.dumps(note, ensure_ascii=False, separators=(",", ":")) + "\n")
                notes, spans = notes + 1, spans + len(note["spans"])
    print(f"{notes} notes, {spans} spans")


if __name__ == "__main__":
    main()
