#!/usr/bin/env python3
"""The attacks of `velum attack` on an archive that velum has not made: attack.py --velum bin/velum [--generator notes|cards]

Fillers are real and hand-written notes (../shared/data/labelled), whose persons are redrawn: every patient has names, relatives
and staff of their own, by the frequency that the names have at INE and in Barcelona. --generator cards puts values of
../shared/tools/note_cards.py behind real notes without personal data instead. The archive is tagged, masked and attacked;
planted misses are the attack's own, natural ones are what the model missed of what was put there.
"""
import argparse, csv, datetime, glob, gzip, io, json, os, random, re, subprocess, sys, unicodedata

SHARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")
DATA = os.path.join(SHARED, "data")
STAFF = re.compile(r"(?i)(dra?|doctora?|metge(ssa)?|inf|due|enfermer[ao]|infermer[ao]?|trabajadora social|treballadora social|psic[oò]log[ao]|fisio|comadrona|llevadora)\.?\s*:?\s*$")


def plain(s):
    return unicodedata.normalize("NFC", "".join(c for c in unicodedata.normalize("NFD", s) if unicodedata.category(c) != "Mn" or c in "\u0303\u0327"))


def table(path, name, count, delimiter=","):
    with gzip.open(os.path.join(DATA, "gazetteers", path)) as f:
        return [(r[name], float(r[count] or 0)) for r in csv.DictReader(io.TextIOWrapper(f, encoding="utf-8"), delimiter=delimiter)]


class Names:
    """Draws names by frequency, with the accents that they are written with."""

    def __init__(self, r):
        self.r = r
        self.accents = {}
        with gzip.open(os.path.join(DATA, "gazetteers", "softcatala-dict", "nomspropis-lt.txt.gz"), "rt", encoding="utf-8") as f:
            for line in f:
                form = line.split()[0]
                if plain(form) != form:
                    self.accents[plain(form).upper()] = form
        for form in "García Martínez López Sánchez Pérez Gómez Martín Jiménez Hernández Díaz Álvarez Gutiérrez Vázquez Ramón María José Ángel Jesús Andrés Mónica Lucía Sofía".split():
            self.accents[plain(form).upper()] = form
        self.tables = {}
        for kind, parts in {"m": [("names-es-ine/hombres.csv.gz", "nombre", "frec", ",")], "f": [("names-es-ine/mujeres.csv.gz", "nombre", "frec", ",")],
                            "s": [("names-es-ine/apellidos.csv.gz", "apellido", "frec_pri", ","), ("cognoms-barcelona/cognoms-bcn-2024.tsv.gz", "cognom", "valor", "\t")]}.items():
            rows = []
            for path, name, count, delimiter in parts:
                t = table(path, name, count, delimiter)
                total = sum(n for _, n in t)
                rows += [(a, n / total) for a, n in t]
            at, cumulated = 0, []
            for _, n in rows:
                at += n
                cumulated.append(at)
            self.tables[kind] = ([a for a, _ in rows], cumulated)

    def draw(self, kind):
        names, cumulated = self.tables[kind]
        name = self.r.choices(names, cum_weights=cumulated)[0]
        return " ".join(self.accents.get(w, w.title() if w not in ("DE", "DEL", "LA", "LOS", "I", "Y") else w.lower()) for w in name.split())

    def person(self, surnames=None):
        return self.draw(self.r.choice("mf")), *(surnames or (self.draw("s"), self.draw("s")))


def like(old, new, accents):
    """new in the case and with the accents of old and its note"""
    letters = [c for c in old if c.isalpha()]
    if len(letters) > 1 and all(c.isupper() for c in letters):
        new = new.upper()
    elif letters and all(c.islower() for c in letters):
        new = new.lower()
    return new if accents else plain(new)


def filled(value, who, staff, accents, r):
    """a value in the form of value for a person (given, surname, surname)"""
    words = value.split()
    long = [w for w in words if len(w.strip(".,")) > 2 or "." not in w and len(w) > 1]
    given, one, two = who
    first = given if r.random() < .5 else given.split()[-1]  # of "María Carmen" both or the last: nobody says María alone
    if not long:
        return like(value, "".join(x[0] + ("." if "." in value else "") for x in who)[:max(len(value), 2)], accents)
    if "," in value:
        new = f"{one} {two}, {given}"
    elif len(words) == 1:
        new = one if staff and r.random() < .7 else given if r.random() < .3 else first
    elif len(words[0].strip(".")) == 1:
        new = f"{given[0]}. {one}"
    elif len(words[-1].strip(".")) == 1:
        new = f"{first} {one[0]}."
    elif len(words) == 2:
        new = f"{first} {one}"
    else:
        new = f"{given} {one} {two}"
    if r.random() < .02 and len(new) > 4:  # an error
        k = r.randrange(1, len(new) - 1)
        new = new[:k] + r.choice(["", new[k] * 2, new[k + 1]]) + new[k + 1:]
    return like(value, new, accents)


def fillers():
    notes = []
    for path in ["notes-voices/train.jsonl", "notes-voices/dev.jsonl", "notes-ca/train.jsonl", "notes-ca/dev.jsonl"]:
        for line in open(os.path.join(DATA, "labelled", path), encoding="utf-8"):
            d = json.loads(line)
            notes.append((d["text"], [(s["start"], s["end"], s["label"]) for s in d["spans"]]))
    texts = {}
    for row in gzip.open(os.path.join(DATA, "unlabelled-es-clinical", "nubes.jsonl.gz"), "rt", encoding="utf-8"):
        d = json.loads(row)
        texts[d["id"]] = d["text"].split("\n")
    for part in ("train", "dev"):
        for row in open(os.path.join(DATA, "labelled", "nubes-phi", part + ".tsv"), encoding="utf-8"):
            if row.startswith("#"):
                continue
            doc, k, *rest = row.rstrip("\n").split("\t")
            spans = sorted((int(s), int(e), c) for c, s, e in (x.split(":") for x in (rest[0].split() if rest and ":" in rest[0] else [])))
            if doc in texts and int(k) < len(texts[doc]) and "presumed" not in row:
                notes.append((texts[doc][int(k)], spans))
    return notes


def written(text, spans, day, names, patient, accents, r):
    """the note with other persons, and dates near its own"""
    out, moved, at = "", [], 0
    for start, end, label in spans:
        value = text[start:end]
        out += text[at:start]
        if label == "PERSON":
            staff = bool(STAFF.search(text[:start][-24:]))
            k = r.random()
            who = r.choice(patient["staff"]) if staff else patient["self"] if k < .55 else r.choice(patient["kin"]) if k < .9 else r.choice(patient["staff"])
            value = filled(value, who, staff, accents, r)
        elif label == "DATE" and re.fullmatch(r"\d{1,2}[/.-]\d{1,2}[/.-](\d{2}|\d{4})", value):
            d, sign = day + datetime.timedelta(days=r.randint(-60, 20)), re.sub(r"\d", "", value)[0]
            value = f"{d.day:02}{sign}{d.month:02}{sign}{str(d.year)[-len(re.split(r'[/.-]', value)[-1]):]}"
        moved.append((len(out), len(out) + len(value), label))
        out += value
        at = end
    return out + text[at:], moved


def table_of_names(path):
    """INE's tables as one, as mask.names and velum attack --people take it"""
    with open(path, "w", encoding="utf-8") as f:
        f.write("kind,name,people\n")
        for kind, file, name, count in [("man", "hombres", "nombre", "frec"), ("woman", "mujeres", "nombre", "frec"), ("surname", "apellidos", "apellido", "frec_pri"), ("surname", "apellidos-20", "apellido", "frec_pri")]:
            for n, c in table(f"names-es-ine/{file}.csv.gz", name, count):
                f.write(f'{kind},"{n}",{c:.0f}\n')
    return path


def made(a, r):
    """rows (id, patient, day, text) of an archive, and what stands where in each"""
    names, all_notes = Names(r), fillers()
    r.shuffle(all_notes)
    with_persons = [n for n in all_notes if any(l == "PERSON" for _, _, l in n[1])]
    without = [n for n in all_notes if not n[1] and len(n[0]) > 40]
    cards = None
    if a.generator == "cards":
        sys.path.insert(0, os.path.join(SHARED, "tools"))
        import note_cards
        cards = note_cards.Values(r, False)
    staff = [names.person() for _ in range(a.patients // 5)]
    rows, gold = [], []
    for p in range(a.patients):
        me = names.person()
        patient = {"self": me, "kin": [names.person(), names.person((me[1], names.draw("s"))), names.person((names.draw("s"), me[1]))], "staff": r.sample(staff, 4)}
        if cards:  # values of the card tool, by frequency to a random power
            patient = {"self": (cards.pick(cards.given), cards.pick(cards.family), cards.pick(cards.family)), "kin": [(cards.pick(cards.given), cards.pick(cards.family), cards.pick(cards.family)) for _ in range(3)],
                       "staff": patient["staff"]}
        for k in range(a.notes):
            day = datetime.date(2024, 1, 1) + datetime.timedelta(days=int((k + r.random()) * 365 / a.notes))
            if cards:
                text, spans = r.choice(without)
                text, spans = text.rstrip(" .") + ".", []
                for cue in r.sample(["Pac. Ana Puig Ferrer", "acude con Ana Puig", "Dra. Puig", "hija Ana", "avisar a Ana Puig, ", "Acompanyat per Ana Puig", "inf. Ana", "PUIG FERRER, ANA", "mare Ana P."], r.choice([0, 1, 1, 2, 2, 3])):
                    m = re.search(r"PUIG FERRER, ANA|Ana Puig Ferrer|Ana Puig|Ana P\.|Ana|Puig", cue)
                    spans.append((len(text) + 1 + m.start(), len(text) + 1 + m.end(), "PERSON"))
                    text += " " + cue + "."
            else:
                text, spans = r.choice(with_persons if r.random() < .7 else without)
            accents = plain(text) != text
            text, spans = written(text, spans, day, names, patient, accents, r)
            key = f"{p}|{k}|{len(rows)}"
            rows.append((key, f"p{p:04}", day, text))
            gold.append({"id": key, "text": text, "spans": [{"start": s, "end": e, "label": "DNI" if l == "ID" else l} for s, e, l in spans]})
    return rows, gold


def archive(a, r, out):
    rows, gold = made(a, r)
    order = list(range(len(rows)))
    r.shuffle(order)
    if a.sorted:
        order.sort(key=lambda i: rows[i][2])
    import pyarrow as pa, pyarrow.parquet as pq
    os.makedirs(os.path.join(out, "in"))
    cols = list(zip(*(rows[i] for i in order)))
    pq.write_table(pa.table({"note_id": list(cols[0]), "patient_id": list(cols[1]), "date": pa.array(cols[2], pa.date32()), "text": list(cols[3])}), os.path.join(out, "in", "notes.parquet"))
    with open(os.path.join(out, "gold.jsonl"), "w", encoding="utf-8") as f:
        for i in order:
            f.write(json.dumps(gold[i], ensure_ascii=False) + "\n")
    table_of_names(os.path.join(out, "names.csv"))
    with open(os.path.join(out, "key"), "w") as f:
        f.write("%064x" % r.getrandbits(256))
    os.chmod(os.path.join(out, "key"), 0o400)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--generator", choices=["notes", "cards"], default="notes")
    p.add_argument("--patients", type=int, default=300)
    p.add_argument("--notes", type=int, default=12)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--policy", default="research")
    p.add_argument("--model", default="cascade")
    p.add_argument("--misses", default="0.01")
    p.add_argument("--table", action="store_true", help="the house gives velum INE's table of names (mask.names)")
    p.add_argument("--out", default="out/attack")
    p.add_argument("--sorted", action="store_true", help="rows by date, not shuffled")
    p.add_argument("--only")
    p.add_argument("--json", action="store_true")
    p.add_argument("--set", action="append", default=[], help="further options of velum")
    a = p.parse_args()
    subprocess.run(["rm", "-rf", a.out], check=True)
    archive(a, random.Random(a.seed), a.out)
    common = ["--model", a.model, "--policy", a.policy, "--set", f"key.file={a.out}/key", "--set", "read.columns.patient=patient_id", "--set", "read.columns.date=date", "--set", "read.skip_unknown=true", "--set", "choose.use=false", "--set", "write.max_quarantined=1"]
    if a.table:
        common += ["--set", f"mask.names={a.out}/names.csv"]
    for s in a.set:
        common += ["--set", s]
    subprocess.run([a.velum, "run", "-q", "--in", f"{a.out}/in", "--out", f"{a.out}/study", *common], check=True)
    command = [a.velum, "attack", f"{a.out}/study", "--gold", f"{a.out}/gold.jsonl", "--people", f"{a.out}/names.csv", "--misses", a.misses, "-q"]
    command += [x for x in common if x != "--" ]
    if a.only:
        command += ["--only", a.only]
    if a.json:
        command += ["--json"]
    sys.exit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
