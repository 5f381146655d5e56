#!/usr/bin/env python3
"""Makes notes from which velum's models learn, beside those of gold.py, out of the labelled corpora of ../shared.

    scripts/bench/real/corpora.py bodies   [--work out/real]     the reports of the MEDDOCAN track's background, whole and without their headers
    scripts/bench/real/corpora.py short    [--work out/real]     dates of reports cut to short notes, as the guide of nubes-phi has them
    scripts/bench/real/corpora.py capitals [--work out/real]     general text for the inverse model, and names of AnCora-ca without organizations

Run from the root of the repository, with ../shared/data (VELUM_DATA). Same input, same bytes.
"""
import argparse, os, re

import bare, notes


def bodies(work):
    found = list(notes.background())
    notes.write_brat(os.path.join(work, "background"), ((n, t, s) for n, t, s, _ in found))
    notes.write_brat(os.path.join(work, "background-bodies"), (notes.cut(n, t, s, at) for n, t, s, at in found))


YEAR = re.compile(r"(?i)a[ñn]o\s+")


def short(work):
    """Reports cut to short notes (scripts/data/shortnotes.py) with dates as the guide of nubes-phi has them: the year without its word."""
    for name in ("short-train", "short-background", "short-dev"):
        path = os.path.join(work, name + ".jsonl")
        if not os.path.exists(path):
            continue
        found = list(notes.read(path))
        for _, t, spans in found:
            for s in spans:
                if s[2] == "FECHAS" and (m := YEAR.match(t[s[0] : s[1]])):
                    s[0] += m.end()
        notes.write(path, found)


def capitals(work):
    """General text of three languages in which what has a capital is personal: for the inverse model, with none of NUBes and none of AnCora-ca.
    And the words of the two sets of names of AnCora-ca that are persons and places."""
    general = os.path.join(notes.data, "general")
    paths = [os.path.join(general, name + ".txt.gz") for name in ("ca/cc0-sentences", "ca/globalvoices.ca", "es/apertium-tatoeba-10000", "es/don-quijote", "en/globalvoices.en")]
    notes.write(os.path.join(work, "capitals.jsonl"), bare.capitals(paths, 1, 2000))
    notes.write(os.path.join(work, "general.jsonl"), ((f"{path.split('/')[-1]}:{k}", line, []) for path in paths + [os.path.join(notes.data, "unlabelled-ca/health-sentences.txt.gz")]
        for k, line in enumerate(notes.lines(path)) if line.strip()))
    notes.write(os.path.join(work, "ancora-ca-names.jsonl"), ((n, t, s) for n, t, s in notes.ancora_notes(1, 0, True, ("PER", "LOC"))))


def main():
    what = {"bodies": bodies, "short": short, "capitals": capitals}
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=what)
    p.add_argument("--work", default="out/real")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    what[a.what](a.work)


if __name__ == "__main__":
    main()
