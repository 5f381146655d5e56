#!/usr/bin/env python3
"""Makes the notes on which velum is scored and from which its models learn, out of the labelled corpora of ../shared.

    scripts/bench/real/corpora.py sets    [--work out/real]     what score.py scores on: dev parts, renamed draws, held-out sentences
    scripts/bench/real/corpora.py sources [--work out/real]     what models.sh trains on, one file a source
    scripts/bench/real/corpora.py short   [--work out/real]     dates of reports cut to short notes, as the guide of nubes-phi has them
    scripts/bench/real/corpora.py capitals [--work out/real]    general text for the inverse model, and names of AnCora-ca without organizations
    scripts/bench/real/corpora.py archive [--text FOLDER]       notes without labels, for velum synth --contexts: none of nubes-phi, none of MEDDOCAN dev
    scripts/bench/real/corpora.py named --model MODEL           corpora that mark places alone (MEDDOPLACE, our part) or names alone (AnCora-ca,
                                                          general text by lists): dates, ages and the like are what MODEL finds
    scripts/bench/real/corpora.py silver --model MODEL          Catalan news tagged by MODEL with rules and repeats, a dozen sentences a note: what a model learns
                                                          from that has no labels of news
    scripts/bench/real/corpora.py mentions --model MODEL        kin of LivingNER and professions of MEDDOPROF by the conventions of MEDDOCAN, the rest as MODEL
                                                          finds it: none of MEDDOCAN's own sentences; a quarter by hash held out

Run from the root of the repository, with ../shared/data (VELUM_DATA). Same input, same bytes.
"""
import argparse, json, os, random, re, subprocess, zlib

import bare, mentions, notes, renaming


def sets(work):
    out = lambda name: os.path.join(work, name + ".jsonl")
    notes.nubes("dev", out("nubes-dev"))
    for seed in (101, 102, 103):
        notes.nubes("dev", out(f"nubes-dev-r{seed}"), seed)
    names = renaming.Names(9, held=True)
    notes.write(out("nubes-dev-unseen"), ((n, *renaming.rename(t, s, names)) for n, t, s in notes.read(out("nubes-dev"))))
    notes.write(out("notes-ca-dev"), notes.read(os.path.join(notes.data, "labelled/notes-ca/dev.jsonl")))
    notes.write(out("ancora-ca"), notes.ancora_notes(1, 0, True))


def noisy(found, seed, **more):
    for n, t, s in found:
        yield (n, *renaming.noisy(t, s, random.Random(zlib.crc32(f"{n} {seed}".encode())), **more))


def renamed(found, seed, **more):
    names = renaming.Names(seed)
    for n, t, s in found:
        yield (n, *renaming.rename(t, s, names, **more))


def numbered(found, suffix):
    for n, t, s in found:
        yield f"{n}:{suffix}", t, s


def sources(work):
    out = lambda name: os.path.join(work, name + ".jsonl")
    notes.nubes("train", out("nubes-train"))
    plain = list(notes.read(out("nubes-train")))
    marked = [n for n in plain if n[2]]
    empty = [n for n in plain if not n[2]]
    notes.write(out("nubes-marked"), marked)
    notes.write(out("nubes-empty-0"), empty)
    for k in (1, 2, 3, 4, 5):
        notes.write(out(f"nubes-r{k}"), numbered(noisy(renamed(marked, k), k, **({} if k > 1 else QUIET)), f"r{k}"))
    for k in (1, 2):
        notes.write(out(f"nubes-empty-{k}"), numbered(noisy(empty, k), f"e{k}"))
    catalan = list(notes.read(os.path.join(notes.data, "labelled/notes-ca/train.jsonl")))
    notes.write(out("notes-ca-train"), catalan)
    for k in (1, 2, 3):
        notes.write(out(f"notes-ca-r{k}"), numbered(noisy(renamed(catalan, 10 + k), k), f"r{k}"))
    # For networks: dates and all other numbers redrawn too (d), a town behind a quarter of the houses (t); even ones noisy.
    dates = {"dates": True, "towns": 0.08}
    for name, found, seed, kind, more in (("nubes-d11", marked, 11, "d11", dates), ("nubes-d12", marked, 12, "d12", dates), ("nubes-t21", marked, 21, "t21", {"towns": 0.25}),
                                          ("notes-ca-d11", catalan, 21, "d11", dates), ("notes-ca-t21", catalan, 31, "t21", {"towns": 0.25}), ("nubes-empty-d11", empty, 11, "d11", dates)):
        noise = int(kind[1:])
        notes.write(out(name), numbered(noisy(renamed(found, seed, **more), noise, **(QUIET if noise % 2 else {})), kind))
    bodies = list(notes.background())
    notes.write_brat(os.path.join(work, "background"), ((n, t, s) for n, t, s, _ in bodies))
    notes.write_brat(os.path.join(work, "background-bodies"), (notes.cut(n, t, s, at) for n, t, s, at in bodies))


def tagged(found, model, work, velum, profile="primary-care"):
    """What a model finds in notes: their spans by id."""
    plain, out = os.path.join(work, "tag-in.jsonl"), os.path.join(work, "tag-out.jsonl")
    notes.write(plain, ((n, t, []) for n, t, _ in found))
    subprocess.run([velum, "tag", "--quiet", "--profile", profile, "--in", plain, "--from", "jsonl", "--to", "jsonl", "--out", out, "--model", model], check=True, stdout=subprocess.DEVNULL)
    return {n: s for n, _, s in notes.read(out)}


EPONYM = re.compile(r"(?i)(declaraci[oó]n|criterios?|consenso|escala|clasificaci[oó]n|gripe|protocolo|convenio|virus|sistema|score|índice|test)\s+(de\s+(la\s+|los\s+)?)?$")


KIND = re.compile(r"(?:(?:el|la|los|las) )?(?:ciudad|provincia|municipio|estado|regi[oó]n|isla|pueblo|distrito|condado|prefectura|localidad|departamento|zona|comunidad)(?: (?:de la|del|de los|de|norte|sur))* ")


def places(found, model):
    """Named places as marked, everywhere they are named; what the model finds of other kinds; no sentence in which it finds
    another place where nothing is marked, for then one of the two is wrong."""
    for n, t, spans in found:
        bare = lambda s, e: s + (m.end() if (m := KIND.match(t[s:e])) else 0)
        named = notes.outermost([[bare(s, e), e, "LOCATION"] for s, e, c in spans if c in notes.NAMED and not EPONYM.search(t[:s])])
        again = [[m.start(), m.end(), "LOCATION"] for s, e, _ in named for m in re.finditer(r"\b" + re.escape(t[s:e]) + r"\b", t)]
        kept = notes.outermost(named + again)
        marked = kept + [[s, e, c] for s, e, c in spans]
        apart = lambda x, others: not any(a < x[1] and x[0] < b for a, b, _ in others)
        if any(c == "LOCATION" and apart([s, e], marked) for s, e, c in model[n]):
            continue
        yield n, t, sorted(kept + [x for x in model[n] if x[2] != "LOCATION" and apart(x, kept)])


def names(found, model):
    """Persons and places as marked, the rest as the model finds it."""
    for n, t, spans in found:
        apart = lambda x: not any(a < x[1] and x[0] < b for a, b, _ in spans)
        yield n, t, sorted(spans + [x for x in model[n] if x[2] not in ("PERSON", "LOCATION") and apart(x)])


YEAR = re.compile(r"(?i)a[ñn]o\s+")


def short(work):
    """Reports cut to short notes (scripts/experiments/shortnotes) with dates as the guide of nubes-phi has them: the year without its word."""
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


def archive(work, text):
    """The clinical texts without labels that models.sh has put aside, but documents of nubes-phi, and Catalan health sentences."""
    document = lambda note: note.rsplit(":", 1)[0]
    marked = {document(n) for part in ("train", "dev") for n, _, _ in notes.read(os.path.join(work, f"nubes-{part}.jsonl"))}
    def lines():
        for name in ("nubes", "cantemist", "multicardioner", "codiesp", "casimedicos"):
            for line in notes.lines(os.path.join(text, name + ".jsonl.gz")):
                d = json.loads(line)
                if d["id"] not in marked:
                    yield f"{name}:{d['id']}", d["text"], []
        for k, line in enumerate(notes.lines(os.path.join(notes.data, "unlabelled-ca/health-sentences.txt.gz"))):
            yield f"ca:{k}", line.rstrip("\n"), []
    notes.write(os.path.join(work, "archive.jsonl"), lines())


def capitals(work):
    """General text of three languages in which what has a capital is personal: for the inverse model, with none of NUBes and none of AnCora-ca.
    And the words of the two sets of names of AnCora-ca that are persons and places."""
    general = os.path.join(notes.data, "general")
    paths = [os.path.join(general, name + ".txt.gz") for name in ("ca/cc0-sentences", "ca/globalvoices.ca", "es/apertium-tatoeba-10000", "es/don-quijote", "en/globalvoices.en")]
    notes.write(os.path.join(work, "capitals.jsonl"), bare.capitals(paths, 1, 2000))
    notes.write(os.path.join(work, "general.jsonl"), ((f"{path.split('/')[-1]}:{k}", line, []) for path in paths + [os.path.join(notes.data, "unlabelled-ca/health-sentences.txt.gz")]
        for k, line in enumerate(notes.lines(path)) if line.strip()))
    notes.write(os.path.join(work, "ancora-ca-names.jsonl"), ((n, t, s) for n, t, s in notes.ancora_notes(1, 0, True, ("PER", "LOC"))))


def named(work, model, velum):
    out = lambda name: os.path.join(work, name + ".jsonl")
    found = list(notes.meddoplace(held=False))
    notes.write(out("meddoplace-train"), places(found, tagged(found, model, work, velum)))
    general = os.path.join(notes.data, "general")
    found = list(bare.draw([os.path.join(general, "ca", name + ".txt.gz") for name in ("globalvoices.ca", "cc0-sentences")], 1, 700, 300, 300))
    notes.write(out("bare-ca"), names(found, tagged(found, model, work, velum)))
    found = list(notes.ancora_notes(1, 0, True))
    found = list(names(found, tagged(found, model, work, velum)))
    notes.write(out("ancora-all"), found)
    for k in range(5):
        notes.write(out(f"ancora-without-{k}"), (x for x in found if int(x[0].split(":")[1]) % 5 != k))
        notes.write(out(f"ancora-fold-{k}"), notes.ancora_notes(5, k, True))


def silver(work, model, velum):
    """Sentences of Catalan news in which the pipeline finds a person and is not unsure of anything, and as many without. Twelve
    sentences are a note: a surname alone is known by the whole name before it, and that is what the model is to learn."""
    lines = [line.strip() for line in notes.lines(os.path.join(notes.data, "general/ca/globalvoices.ca.txt.gz"))]
    plain, out = os.path.join(work, "tag-in.jsonl"), os.path.join(work, "tag-out.jsonl")
    notes.write(plain, ((f"gv:{k}", "\n".join(x for x in lines[k : k + 12] if x), []) for k in range(0, len(lines), 12)))
    subprocess.run([velum, "tag", "--quiet", "--in", plain, "--from", "jsonl", "--to", "jsonl", "--out", out, "--model", model], stdout=subprocess.DEVNULL)  # 3: some hold control characters
    persons, others = [], []
    for line in notes.lines(out):
        d, at = json.loads(line), 0
        for k, text in enumerate(d["text"].split("\n")):
            inside = [s for s in d["spans"] if at <= s["start"] and s["end"] <= at + len(text)]
            row = f"{d['id']}:{k}", text, [[s["start"] - at, s["end"] - at, s["label"]] for s in inside]
            if any(s["label"] == "PERSON" for s in inside):
                if min(s["score"] for s in inside) > 0.4:
                    persons.append(row)
            elif 20 < len(text) < 240:
                others.append(row)
            at += len(text) + 1
    notes.write(os.path.join(work, "silver.jsonl"), persons + random.Random(1).sample(others, min(len(persons), len(others))))


QUIET = {"lower": 0, "upper": 0, "bare": 0, "untokenized": 0, "glued": 0}  # as NUBes writes


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("what", choices=["sets", "sources", "short", "archive", "named", "silver", "capitals", "mentions"])
    p.add_argument("--model", default="primary-care")
    p.add_argument("--text", default="out/models/text")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    p.add_argument("--work", default="out/real")
    a = p.parse_args()
    os.makedirs(a.work, exist_ok=True)
    if a.what == "short":
        return short(a.work)
    if a.what == "archive":
        return archive(a.work, a.text)
    if a.what in ("named", "silver"):
        return {"named": named, "silver": silver}[a.what](a.work, a.model, a.velum)
    if a.what == "mentions":
        for name, found in mentions.sources(lambda found: tagged(found, a.model, a.work, a.velum, "meddocan")):
            for part, held in (("train", False), ("held", True)):
                notes.write(os.path.join(a.work, f"{name}-{part}.jsonl"), (x for x in found if (notes.share(x[1], 4) == 0) == held))
        return
    {"sets": sets, "sources": sources, "capitals": capitals}[a.what](a.work)


if __name__ == "__main__":
    main()
