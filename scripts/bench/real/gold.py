"""The notes that short-note models learn from and are chosen on, by source: every note with the writer or the kind of document that it is of, and redrawn
copies (renaming.py), so that a source, a writer or a kind can be left out of a training whole.

    sources(work)   {name: Source}, and the files of models.sh's trainings by them

A copy has its note's id and a suffix; what is left out of a training is left out with all its copies.
"""
import glob, json, os, random, subprocess, zlib

import notes, renaming

HANDS = "scripts/data/hands"
QUIET = {"lower": 0, "upper": 0, "bare": 0, "untokenized": 0, "glued": 0}  # as NUBes writes
HAND = {"lower": 0.12, "upper": 0.05, "bare": 0.2, "untokenized": 0, "glued": 0.1, "typos": 0.06}  # hands are hurried by themselves


INVENTED = tuple(map(float, os.environ.get("INVENTED", ".12,.05,.15").split(",")))


def nubes(work):
    for part in ("train", "dev"):
        path = os.path.join(work, f"nubes-{part}.jsonl")
        notes.nubes(part, path)
        yield from notes.read(path)


def catalan(_):
    for part in ("train", "dev"):
        yield from notes.read(os.path.join(notes.data, f"labelled/notes-ca/{part}.jsonl"))


def voices(_):
    yield from notes.read(os.path.join(notes.data, "labelled/notes-voices/train.jsonl"))


def hands(_):
    """Our own hands (scripts/data/hands), written as those of notes-voices are."""
    paths = sorted(glob.glob(os.path.join(os.environ.get("VELUM_HANDS", HANDS), "*.tsv")))
    if not paths:
        return
    out = subprocess.run(["python3", os.path.join(notes.tools, "voices.py"), *paths], check=True, stdout=subprocess.PIPE, text=True).stdout
    for line in out.splitlines():
        d = json.loads(line)
        yield "own:" + d["id"], d["text"], [[s["start"], s["end"], notes.LABEL.get(s["label"], s["label"])] for s in d["spans"]]


def kind(note):
    """The kind of document that a sentence of NUBes, or its translation, is of: present illness, progress, chief complaint, recommendations and others."""
    return note.split(":")[1 if note.startswith("ca:") else 0].rsplit(".", 1)[-1]


def hand(note):
    """The writer of a note: all of its id but the number."""
    return note[:-3]


GOLD = {"nubes": (nubes, kind), "notes-ca": (catalan, kind), "voices": (voices, hand), "hands": (hands, hand)}


def copies(name, found, k):
    """The k-th redrawn copy of a source's notes that have spans."""
    names = renaming.Names(100 * k + zlib.crc32(name.encode()) % 100, invented=INVENTED)
    by_hand = name in ("voices", "hands")
    noise = HAND if by_hand else QUIET if k == 1 else {"typos": 0.03}
    more = {"dates": k % 2 == 0, "shapes": 0.35 if by_hand else 0.2, "towns": 0.08 if k % 2 == 0 else 0, "small": 0.4 if by_hand else 0.1}
    for n, t, s in found:
        r = random.Random(zlib.crc32(f"{n} {k}".encode()))
        yield (f"{n}~{k}", *renaming.noisy(*renaming.rename(t, s, names, **more), r, **noise))


def disturbed(name, found, k):
    """The notes without spans once more, by a hurried hand."""
    noise = HAND if name in ("voices", "hands") else {"typos": 0.03}
    for n, t, s in found:
        yield (f"{n}~{k}", *renaming.noisy(t, s, random.Random(zlib.crc32(f"{n} {k}".encode())), **noise))


def write(work, times):
    """Writes every source with so many redrawn copies: work/gold-NAME.jsonl as it is, work/copy-NAME-K.jsonl, work/empty-NAME.jsonl."""
    for name, (read, _) in GOLD.items():
        found = list(read(work))
        marked, empty = [n for n in found if n[2]], [n for n in found if not n[2]]
        notes.write(os.path.join(work, f"gold-{name}.jsonl"), found)
        notes.write(os.path.join(work, f"empty-{name}.jsonl"), disturbed(name, empty, 0))
        for k in range(1, times[name] + 1):
            notes.write(os.path.join(work, f"copy-{name}-{k}.jsonl"), copies(name, marked, k))
