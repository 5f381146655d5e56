#!/usr/bin/env python3
"""Who is masked whole in sentences that other hands wrote, and what is masked of text in which nobody is named (`make strangers`).

    scripts/bench/real/names.py [--velum bin/velum] MODEL...

Frames are notes of notes-voices dev that hold one person: 13 for the names of 30 origins (scripts/bench/real/origins.txt: given name and surname), 96 each; 6 for
1,600 surnames of INE, drawn from all of them by one seed, each with a capital, in a note of small letters and in one of capitals. Then 10,000 lines of case
reports (CANTEMIST, CardioCCC; names were never in them): lines with a person or a place.
"""
import argparse, collections, json, os, random, re, subprocess, tempfile

import notes, renaming


def frames(n, several):
    """Notes of voices dev around their one person, of several words or of one."""
    found = []
    for _, text, spans in notes.read(os.path.join(notes.data, "labelled/notes-voices/dev.jsonl")):
        persons = [s for s in spans if s[2] == "PERSON"]
        if len(persons) != 1 or text == text.upper() or text == text.lower():
            continue
        s, e, _ = persons[0]
        if (" " in text[s:e]) == several and text[s].isupper() and e - s > 3:
            found.append((text[:s], text[e:]))
    return random.Random(1).sample(found, n)


def origins(r):
    for line in open("scripts/bench/real/origins.txt", encoding="utf-8"):
        if line.strip() and not line.startswith("#"):
            origin, given, surnames = (x.strip() for x in line.split("|"))
            words = lambda list_: [w.replace("-", " ") for w in list_.split()]
            for _ in range(96):
                yield origin, f"{r.choice(words(given))} {r.choice(words(surnames))}"


def surnames(r):
    head, *rows = renaming.rows(os.path.join(notes.data, "gazetteers/names-es-ine/apellidos-contextsafe.tsv.gz"))
    return r.sample([renaming.title(row[0]) for row in rows if row[0].isalpha()], 1600)


def lines():
    found = []
    for name in ("cantemist", "multicardioner"):
        for line in notes.lines(os.path.join(notes.data, f"unlabelled-es-clinical/{name}.jsonl.gz")):
            d = json.loads(line)
            if '"meddocan": "dev' not in line:
                found += [x.strip() for x in re.split(r"\n|(?<=[a-z]\.) ", d["text"]) if 20 < len(x.strip()) < 300]
    return random.Random(1).sample(found, 10000)


def tag(velum, model, texts, more):
    with tempfile.TemporaryDirectory() as work:
        plain, out = os.path.join(work, "in.jsonl"), os.path.join(work, "out.jsonl")
        with open(plain, "w", encoding="utf-8") as f:
            for k, text in enumerate(texts):
                f.write(json.dumps({"id": str(k), "text": text}, ensure_ascii=False) + "\n")
        subprocess.run([velum, "tag", "--quiet", "--profile", "primary-care", "--in", plain, "--from", "jsonl", "--to", "jsonl", "--out", out, "--model", model, *more], check=True, stdout=subprocess.DEVNULL)
        return [[(s["start"], s["end"], s["label"]) for s in json.loads(line)["spans"]] for line in open(out, encoding="utf-8")]


def whole(text, at, name, spans):
    hidden = {k for s, e, _ in spans for k in range(s, e)}
    return all(k in hidden for k in range(at, at + len(name)) if text[k].isalnum())


def measure(velum, model, more):
    r, cases, group = random.Random(7), [], []
    for origin, name in origins(r):
        for before, behind in frames(13, True):
            cases.append((before + name + behind, len(before), name))
            group.append(origin)
    for name in surnames(r):
        for before, behind in frames(6, False):
            for case in ("as is", "lower", "upper"):
                change = {"lower": str.lower, "upper": str.upper}.get(case, str)
                text = change(before) + change(name) + change(behind)
                if len(text) == len(before + name + behind):
                    cases.append((text, len(before), name))
                    group.append("surname " + case)
    right, of = collections.Counter(), collections.Counter()
    for g, (text, at, name), spans in zip(group, cases, tag(velum, model, [c[0] for c in cases], more)):
        of[g] += 1
        right[g] += whole(text, at, name, spans)
    share = lambda keep: sum(right[g] for g in of if keep(g)) / sum(of[g] for g in of if keep(g))
    print(f"{model}: names of 30 origins {share(lambda g: not g.startswith('surname')):.3f}; surnames {share(lambda g: g.startswith('surname')):.3f} "
          f"({', '.join(f'{g[8:]} {right[g] / of[g]:.3f}' for g in of if g.startswith('surname'))})")
    print("    least: " + ", ".join(f"{g} {right[g] / of[g]:.3f}" for g in sorted((g for g in of if not g.startswith("surname")), key=lambda g: right[g] / of[g])[:6]))
    texts, n = lines(), collections.Counter()
    for text, spans in zip(texts, tag(velum, model, texts, more)):
        n.update({c for _, _, c in spans})
        n["a person or a place"] += any(c in ("PERSON", "LOCATION") for _, _, c in spans)
    print(f"    10,000 lines of case reports: {dict(n)}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    for model in a.models:
        measure(a.velum, model, [x for s in a.set for x in ("--set", s)])


if __name__ == "__main__":
    main()
