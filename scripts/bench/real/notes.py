"""Reading and writing of labelled notes, and what the labelled corpora of ../shared/data hold.

A note is (id, text, spans), a span [start, end, label] in code points.
"""
import gzip, json, os, re, subprocess, sys, zlib

data = os.environ.get("VELUM_DATA", "../shared/data")
tools = os.path.join(data, "..", "tools")

LABEL = {"ID": "SANITARY_CARD_ID"}  # the only kind of number among the marks of NUBes that no scheme of velum has
NAMED = {"GPE_NOM", "GEO_NOM", "FAC_NOM"}
GENERIC = {"FAC_GEN", "DEPARTAMENTO", "TRANSPORTE", "GPE_GEN", "GEO_GEN"}


def lines(path):
    with (gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8")) as f:
        yield from f


def read(path):
    for line in lines(path):
        d = json.loads(line)
        yield d["id"], d["text"], [[s["start"], s["end"], LABEL.get(s["label"], s["label"])] for s in d.get("spans") or []]


def write(path, notes):
    n = spans = 0
    with open(path, "w", encoding="utf-8") as f:
        for note, text, found in notes:
            f.write(json.dumps({"id": note, "text": text, "spans": [{"start": s, "end": e, "label": c} for s, e, c in found]}, ensure_ascii=False) + "\n")
            n, spans = n + 1, spans + len(found)
    print(f"{path}: {n} notes, {spans} spans", file=sys.stderr)


def share(text, parts):
    """Which of so many parts a text belongs to, by its hash."""
    return zlib.crc32(text.strip().encode()) % parts


def nubes(part, out, rename=None):
    """Writes a part of nubes-phi, with its own names or others."""
    more = [] if rename is None else ["--rename", str(rename)]
    subprocess.run([sys.executable, os.path.join(tools, "nubes_phi.py"), os.path.join(data, f"labelled/nubes-phi/{part}.tsv"), out, "--to", "jsonl", *more],
                   check=True, stdout=subprocess.DEVNULL)


def meddoplace(held):
    """The sentences of MEDDOPLACE, those held out by us (a quarter) or the others, with its own tags."""
    for k, line in enumerate(lines(os.path.join(data, "labelled/meddoplace/train.jsonl.gz"))):
        d = json.loads(line)
        if (share(d["text"], 4) == 0) == held:
            yield f"{d['id']}:{k}", d["text"], [list(s) for s in d["spans"]]


def outermost(spans):
    """Drops spans that lie in others."""
    kept = []
    for s in sorted(spans, key=lambda s: (s[0], -s[1])):
        if not kept or s[0] >= kept[-1][1]:
            kept.append(s)
    return kept


def background():
    """The reports of the MEDDOCAN track's background with corrected marks: (id, text, spans, where the body begins)."""
    texts = {}
    for line in lines(os.path.join(data, "unlabelled-es-phi/meddocan-background-clean.jsonl.gz")):
        d = json.loads(line)
        texts[d["id"]] = d["text"]
    for line in lines(os.path.join(data, "labelled/meddocan-background/corrected.tsv")):
        if line.startswith("#"):
            continue
        note, spans, *_ = line.rstrip("\n").split("\t")
        found = [[int(s), int(e), c] for c, s, e in (x.split(":") for x in spans.split())]
        yield note, texts[note], sorted(found), body(texts[note])


def body(text):
    """Where the last header line ("Field: value") of the first 1,500 characters ends."""
    at = end = 0
    while at < min(len(text), 1500):
        nl = text.find("\n", at)
        nl = len(text) if nl < 0 else nl + 1
        if ":" in text[at:min(nl, at + 45)]:
            end = nl
        at = nl
    return end


def brat(folder):
    """Notes of a brat folder."""
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8", newline="") as f:
            text = f.read()
        spans = []
        for line in lines(os.path.join(folder, name[:-3] + "ann")):
            if line.startswith("T"):
                label, *offsets = line.split("\t")[1].replace(";", " ").split(" ")
                spans.append([int(offsets[0]), int(offsets[-1]), label])
        yield name[:-4], text, sorted(spans)


def write_brat(folder, found):
    os.makedirs(folder, exist_ok=True)
    for note, text, spans in found:
        with open(os.path.join(folder, note + ".txt"), "w", encoding="utf-8", newline="") as f:
            f.write(text)
        with open(os.path.join(folder, note + ".ann"), "w", encoding="utf-8") as f:
            for k, (s, e, c) in enumerate(spans, 1):
                f.write(f"T{k}\t{c} {s} {e}\t" + re.sub(r"\s", " ", text[s:e]) + "\n")


def cut(note, text, spans, at):
    """What stands behind at."""
    return note, text[at:], [[s - at, e - at, c] for s, e, c in spans if s >= at]


def ancora():
    """The sentences of AnCora-ca by document: [[(form, tag)...]...]; only persons, places, organizations."""
    docs = []
    for line in lines(os.path.join(data, "labelled/ancora-ca-ner/ca_ancora_ner.train.tsv.gz")):
        if line.startswith("# doc"):
            docs.append([[]])
            continue
        columns = line.rstrip("\n").split("\t")
        if len(columns) == 4:
            docs[-1][-1].append((columns[0], "O" if columns[3].endswith(("MISC", "UNK")) else columns[3]))
        elif docs and docs[-1][-1]:
            docs[-1].append([])
    return [[s for s in d if s] for d in docs]


NOSPACE = set(".,;:)]%?!")
ANCORA = {"PER": "PERSON", "LOC": "LOCATION", "ORG": "LOCATION"}


def sentence(words, kept=("PER", "LOC", "ORG")):
    """Joins the words of a sentence as they are written, with spans of primary-care."""
    text, spans, glue = "", [], True
    for form, tag in words:
        if not glue and form not in NOSPACE:
            text += " "
        at, text = len(text), text + form
        if tag[2:] not in kept:
            tag = "O"
        if tag.startswith("B-"):
            spans.append([at, len(text), ANCORA[tag[2:]]])
        elif tag.startswith("I-") and spans:
            spans[-1][1] = len(text)
        glue = form.endswith(("'", "(", "[", "¿", "¡"))
    return text, spans


def ancora_notes(folds, fold, held, kept=("PER", "LOC", "ORG")):
    for k, doc in enumerate(ancora()):
        if (k % folds == fold) == held:
            for i, words in enumerate(doc):
                yield (f"ancora:{k}:{i}", *sentence(words, kept))
