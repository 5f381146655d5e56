#!/usr/bin/env python3
"""Builds the archive that the benchmarks run on: a month of short notes as Parquet, of any size, as like a primary-care archive as open text allows.

    archive.py --notes 3000000 --out out/archive --data ../shared/data

A share of the notes (--generated) is made by `velum teach synth`, which gives them PHI at the densities of BOOT appendix B. The others are cut from real clinical
text under --data (NUBes, CANTEMIST, CardioCCC, CodiEsp, Catalan health sentences): sentences are recombined into notes of 19 words on average, their numbers
varied, misspelt, glued, their case changed at random. Without --data all notes are generated, and the program says so. With --kind reports both are documents
of about 3 kB. It ends with the share of repeated notes, and the number of types.

All words are counted: those between white space, punctuation included. The archive of BOOT has 3.43 M types in 631 M words; this one has more, since numbers
and misspellings are drawn anew, so that caches find less here."""
import argparse, gzip, json, os, random, re, subprocess

CORPORA = ["unlabelled-es-clinical/nubes.jsonl.gz", "unlabelled-es-clinical/cantemist.jsonl.gz", "unlabelled-es-clinical/multicardioner.jsonl.gz",
    "unlabelled-es-clinical/codiesp.jsonl.gz", "unlabelled-ca/health-sentences.txt.gz"]


def sentences(data):
    """The sentences of the corpora that are there: lines, cut at full stops, as lists of words."""
    all_ = []
    for path in (os.path.join(data, name) for name in CORPORA):
        if not os.path.exists(path):
            continue
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for line in f:
                text = json.loads(line)["text"] if ".jsonl" in path else line
                all_ += [s.split() for part in text.split("\n") for s in re.split(r"(?<=\. )", part) if len(s.strip()) > 3]
    return all_


class Notes:
    def __init__(self, rng, pool):
        self.rng, self.pool = rng, pool

    def vary(self, word):
        """The word with other digits; one in eighty is misspelt."""
        rng = self.rng.random
        if not word.isalpha():
            word = "".join(str(1 + int(rng() * 9)) if "0" < c <= "9" else c for c in word)
        if len(word) > 4 and rng() < 1 / 80:
            i = 1 + int(rng() * (len(word) - 3))
            word = word[:i] + (word[i + 1] + word[i] + word[i + 2 :] if rng() < 0.5 else word[i + 1 :])
        return word

    def words(self, limit, stop, between):
        """Sentences recombined into so many words at most. One in stop is the last one (0: none). Those that follow each other in a text do so half of the time."""
        rng, out, n, at = self.rng.random, [], 0, int(self.rng.random() * len(self.pool))
        while n < limit:
            space = between
            for word in self.pool[at][: limit - n]:
                if out and rng() >= 1 / 60:  # else glued
                    out.append(space)
                out.append(self.vary(word))
                space, n = " ", n + 1
            if stop and rng() < 1 / stop:
                break
            at = int(rng() * len(self.pool)) if rng() < 0.5 else (at + 1) % len(self.pool)
        text, case = "".join(out), int(rng() * 8)
        return text.upper() if case == 0 else text.lower() if case < 3 else text

    def note(self):
        return self.words(int(4 + self.rng.expovariate(1) * 20), 6, " ")

    def report(self):
        return self.words(380 + int(self.rng.random() * 200), 0, "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--notes", type=int, default=3_000_000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--data", default="../shared/data", help="folder of the corpora; generated notes only if it is not there")
    p.add_argument("--out", default="out/archive", help="folder to write, which is not there yet")
    p.add_argument("--generated", type=float, default=0.4, help="share of generated notes")
    p.add_argument("--kind", choices=("notes", "reports"), default="notes", help="notes of 19 words, or reports of 3 kB")
    p.add_argument("--velum", default="bin/velum")
    a = p.parse_args()
    rng, pool = random.Random(a.seed), sentences(a.data)
    if not pool:
        print(f"no corpora under {a.data}: all notes are generated")
        a.generated = 1
    real = Notes(rng, pool)
    write = real.report if a.kind == "reports" else real.note
    made = round(a.notes * a.generated)
    os.makedirs(os.path.dirname(os.path.abspath(a.out)), exist_ok=True)
    parts, seen, types, repeated, words = a.out + ".jsonl", set(), set(), 0, 0
    synth = subprocess.Popen([a.velum, "teach", "synth", "--quiet", "--notes", str(max(made, 1)), "--seed", str(a.seed), "--split", "test", "--density", str(1 / a.generated),
        "--reports", "1" if a.kind == "reports" else "0", "--to", "jsonl", "--out", "-"], stdout=subprocess.PIPE, text=True)
    try:
        with open(parts, "w", encoding="utf-8") as f:
            for i in range(a.notes):
                if rng.random() * (a.notes - i) < made:  # so many of those that are left are generated
                    text, made = json.loads(synth.stdout.readline())["text"], made - 1
                else:
                    text = write()
                f.write(json.dumps({"id": f"1|{1 + i // 1000}|{i}", "text": text}, ensure_ascii=False) + "\n")
                h = hash(text)
                repeated += h in seen
                seen.add(h)
                for word in text.split():
                    words += 1
                    types.add(hash(word))
        synth.stdout.close()
        synth.wait()
        subprocess.run([a.velum, "teach", "convert", "--quiet", "--in", parts, "--to", "archive", "--out", a.out], check=True)
    finally:
        os.remove(parts)
    print(f"{a.notes} notes, {words / max(a.notes, 1):.2f} words a note, {repeated / max(a.notes, 1):.1%} repeated, {len(types)} types")


if __name__ == "__main__":
    main()
