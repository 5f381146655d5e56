#!/usr/bin/env python3
"""How many planted singular facts `velum run --set mask.rare=review` puts among the worst 5 % of an archive's notes.

  scripts/bench/rare.py [--velum bin/velum] [--side tune|final] [--planted FILE...] [--alarms FILE...] [--at-once 30] [--missed]

--planted are notes of `id<TAB>text` in which [[RARE:...]] marks the fact; --alarms are ordinary notes of the same hands, counted as false
alarms. So many at once are put among 3,000 ordinary notes of ../shared/data (real samples, notes in Catalan, invented ones, exam questions,
case reports; the two sides share no document), each note a patient. A note counts as found if it stands among the first 5 % of the list;
as marked, if words of its fact are among those that the list marks.

The notes in scripts/bench/rare/ are invented. Those who wrote rules have read them, so their figures are no measurement any more, and the
program says so: a new one needs notes of hands that nobody who writes rules has read.
"""
import argparse, glob, gzip, json, math, os, pathlib, random, re, subprocess, tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DATA = os.path.join(ROOT, "..", "shared", "data")
OURS = os.path.join(ROOT, "scripts", "bench", "rare")


MARK = re.compile(r"\[\[RARE:(.*?)\]\]")


def unmarked(line):
    """The id, the text without marks, and where the facts stand, of a line of a file of notes."""
    name, text = line.rstrip("\n").split("\t")
    plain, facts, at = "", [], 0
    for m in MARK.finditer(text):
        plain += text[at:m.start()]
        facts.append((len(plain), len(plain) + len(m[1])))
        plain += m[1]
        at = m.end()
    return name, plain + text[at:], facts


def notes(files):
    return [unmarked(line) for f in files for line in open(f, encoding="utf-8") if not line.startswith("#")]


def lines(path):
    with (gzip.open if path.endswith("gz") else open)(os.path.join(DATA, path), "rt", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def pieces(r, documents, least, most, sentences):
    """Notes of a few lines or sentences each."""
    for d in documents:
        parts = [p for p in re.split(r"\n+", d["text"]) if p.strip()]
        if sentences:
            parts = [s for p in parts for s in re.split(r"(?<=[.;]) +", p)]
        while parts:
            n = r.randint(least, most)
            text, parts = " ".join(parts[:n]), parts[n:]
            if 30 < len(text) < 900:
                yield text


def hand(n):
    """Who wrote an invented note: ids are numbers, 150 a hand, or HAND-NUMBER."""
    who, _, rest = n["id"].split(":")[1].partition("-")
    return who if rest else str((int(who) - 1) // 150)


def ordinary(side):
    """3,000 notes of a side; no document and no hand is on both."""
    r, out = random.Random(42), []

    def half(things):
        things = sorted(things, key=str)
        r.shuffle(things)
        return things[: len(things) // 2] if side == "tune" else things[len(things) // 2:]

    for name, want, most, sentences in (("nubes", 1300, 4, False), ("casimedicos", 125, 4, True), ("cantemist", 125, 4, True)):
        some = list(pieces(r, half(lines(f"unlabelled-es-clinical/{name}.jsonl.gz")), 1, most, sentences))
        r.shuffle(some)
        out += some[:want]
    out += [n["text"] for n in half(lines("labelled/notes-ca/train.jsonl"))[:650]]
    voices = lines("labelled/notes-voices/train.jsonl")
    hands = set(half({hand(n) for n in voices}))
    some = [n["text"] for n in voices if hand(n) in hands]
    r.shuffle(some)
    out += some[:800]
    return [(f"ordinary-{i}", text) for i, text in enumerate(out)]


def listed(velum, rows, sets):
    """The first 5 % of what a run over rows lists, by id: where its words stand."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        with open(at / "in.jsonl", "w", encoding="utf-8") as f:
            for name, text in rows:
                f.write(json.dumps({"id": name, "text": text}, ensure_ascii=False) + "\n")
        subprocess.run([velum, "run", "--in", at / "in.jsonl", "--out", at / "out", "--set", "mask.rare=review", *sets],
                       check=False, capture_output=True)
        lines = (at / "out.private" / "rare" / "rare.jsonl").read_text(encoding="utf-8").splitlines()
    worst = [json.loads(line) for line in lines[: len(rows) // 20]]
    return {n["note_id"]: [(s["start"], s["end"]) for s in n["spans"]] for n in worst}


def interval(k, n):
    """Wilson's interval of 95 %."""
    z, p = 1.96, k / n
    mid, wide = p + z * z / 2 / n, z * math.sqrt(p * (1 - p) / n + z * z / 4 / n / n)
    return f"{k} of {n}, {p:.2f} [{(mid - wide) / (1 + z * z / n):.2f}, {(mid + wide) / (1 + z * z / n):.2f}]"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--velum", default=os.path.join(ROOT, "bin", "velum"))
    p.add_argument("--side", choices=("tune", "final"), default="final")
    p.add_argument("--planted", nargs="+", default=sorted(glob.glob(os.path.join(OURS, "planted-*.tsv"))))
    p.add_argument("--alarms", nargs="*", default=sorted(glob.glob(os.path.join(OURS, "ordinary-*.tsv"))))
    p.add_argument("--at-once", type=int, default=30)
    p.add_argument("--set", nargs="*", default=[])
    p.add_argument("--missed", action="store_true", help="print the ids of what is missed and of false alarms")
    o = p.parse_args()
    if any(os.path.realpath(f).startswith(os.path.realpath(OURS)) for f in o.planted):
        print("the notes of scripts/bench/rare have been tuned on: this is no measurement")
    archive = ordinary(o.side)
    sets = [x for s in o.set for x in ("--set", s)]
    for what, all in (("planted", notes(o.planted)), ("ordinary of the same hands", notes(o.alarms))):
        found, marked, missed = 0, 0, []
        for first in range(0, len(all), o.at_once):
            some = all[first:first + o.at_once]
            worst = listed(o.velum, archive + [(name, text) for name, text, _ in some], sets)
            for name, text, facts in some:
                found += name in worst
                marked += any(a < d and c < b for a, b in worst.get(name, []) for c, d in facts)
                if (name in worst) == (what != "planted"):
                    missed.append(name)
        if all:
            print(f"{what}: {interval(found, len(all))} found; {interval(marked, len(all))} by words of the fact")
        if o.missed:
            print(" ".join(missed))


main()
