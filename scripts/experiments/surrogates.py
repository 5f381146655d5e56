#!/usr/bin/env python3
"""How well surrogates hide names that were missed, and whether they are like what they stand for.

  surrogates.py archive OUT.jsonl [--seed 1]       300 patients x 12 notes: snippets of notes-voices, names by INE's frequency
  surrogates.py attack OUT.jsonl [--misses .01] [--operator "surrogate strategy=markov"]
  surrogates.py judge [--seed 1]                   gender, language, frequency, by INE's and Barcelona's tables
  surrogates.py places [--seed 1]                  street, code, town, province, hospital: whether they go together

Where names stand is granted to every attack, and nothing else. Two kinds of misses: of mentions, each by itself, and of values,
which are then missed wherever they stand. `bins` is no attack that anybody has: it is told of half of the patients what is real,
and shows what could be told from repetition, spelling and frequency together. Needs ../shared/data and Go; scratch in --work.
"""
import argparse, collections, csv, gzip, io, json, math, os, random, re, subprocess, sys, unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
DATA = os.path.join(ROOT, "..", "shared", "data")
LISTS = os.path.join(ROOT, "models", "word", "gazetteer")


def fold(s):
    s = "".join(c for c in unicodedata.normalize("NFD", s.lower()) if unicodedata.category(c) != "Mn")
    return s.replace("·", "").replace("-", "").replace("'", "").replace("’", "")


def table(path, name, count, delimiter=","):
    with gzip.open(os.path.join(DATA, "gazetteers", path)) as f:
        return [(r[name], float(r[count] or 0)) for r in csv.DictReader(io.TextIOWrapper(f, encoding="utf-8"), delimiter=delimiter)]


class Tables:
    """The outside lists: INE's, by people who bear a name, and Barcelona's."""

    def __init__(self):
        self.men = table("names-es-ine/hombres.csv.gz", "nombre", "frec")
        self.women = table("names-es-ine/mujeres.csv.gz", "nombre", "frec")
        self.surnames = table("names-es-ine/apellidos.csv.gz", "apellido", "frec_pri") + table("names-es-ine/apellidos-20.csv.gz", "apellido", "frec_pri")
        self.barcelona = table("cognoms-barcelona/cognoms-bcn-2024.tsv.gz", "cognom", "valor", "\t")
        self.count = collections.Counter()
        for n, f in self.surnames:
            self.count[fold(n)] += f
        self.in_barcelona = collections.Counter()
        for n, f in self.barcelona:
            self.in_barcelona[fold(n)] += f
        self.gender = collections.defaultdict(lambda: [0, 0])
        for k, names in enumerate((self.men, self.women)):
            for n, f in names:
                self.gender[fold(n)][k] += f

    def draw(self, r, names):
        if not hasattr(self, "_cum"):
            self._cum = {}
        if id(names) not in self._cum:
            total, cum = 0, []
            for _, f in names:
                total += f
                cum.append(total)
            self._cum[id(names)] = cum
        return r.choices(names, cum_weights=self._cum[id(names)])[0][0]


def spelling():
    """Accents for names that the tables have in capitals without."""
    forms = {}
    for folder, first in (("lists", "own-"), ("lists", "faker-"), ("names", "")):
        for f in sorted(os.listdir(os.path.join(LISTS, folder))):
            if "names" in f and f.startswith(first):
                for line in open(os.path.join(LISTS, folder, f), encoding="utf-8"):
                    w = line.split("\t")[0].strip()
                    if w and w[0] != "#":
                        forms.setdefault(fold(w), w)
    return forms


class People:
    def __init__(self, r, t, forms):
        self.r, self.t, self.forms = r, t, forms

    def write(self, name):
        return " ".join(self.forms.get(fold(w), w.capitalize() if w not in ("DE", "LA", "DEL", "LOS", "LAS") else w.lower()) for w in name.split())

    def person(self, catalan, family=None, woman=None):
        woman = self.r.random() < .5 if woman is None else woman
        given = self.write(self.t.draw(self.r, self.t.women if woman else self.t.men))
        names = self.t.barcelona if catalan else self.t.surnames
        last = [self.write(self.t.draw(self.r, names)) for _ in range(2)]
        if family:
            last[self.r.randrange(2)] = self.r.choice(family["last"])
        return {"given": given, "last": last, "woman": woman}


STAFF = re.compile(r"(?i)(\bdra?\.?|\bdoctora?|\benf\w*\.?|\bdue|\binf\w*\.?|\bmetge\w*|\btso?c?\.?)\s*$")
CATALAN = re.compile(r"(?i)\b(amb|els|és|dels|que no|avui|pels|això|per al|des de fa|anys|mare|pare|té|ha vingut|li)\b")


def snippets():
    rows = [json.loads(l) for f in ("train", "dev") for l in open(os.path.join(DATA, "labelled", "notes-voices", f + ".jsonl"), encoding="utf-8")]
    return [(n["text"], [(s["start"], s["end"], s["label"]) for s in n["spans"]], len(CATALAN.findall(n["text"])) >= 2) for n in rows if len(n["text"]) < 700]


def form(r, p, was, accents):
    """The name of p in the form that the snippet had a name in."""
    words = re.findall(r"[^\W\d_]+\.?", was)
    if len(words) <= 1:
        name = p["given"] if r.random() < .6 else p["last"][0]
        if len(was) <= 3 and was.isupper() and len(was) > 1:
            name = "".join(w[0] for w in [p["given"], *p["last"]])[: len(was)]
    elif "," in was:
        name = f"{p['last'][0]} {p['last'][1]}, {p['given']}" if len(words) > 2 else f"{p['last'][0]}, {p['given']}"
    elif len(words[-1].rstrip(".")) == 1:
        name = f"{p['given']} {p['last'][0][0]}."
    elif len(words[0].rstrip(".")) == 1:
        name = f"{p['given'][0]}. {p['last'][0]}"
    else:
        name = " ".join([p["given"], *p["last"][: len(words) - 1]])
    if was.isupper():
        name = name.upper()
    elif was.islower():
        name = name.lower()
    if not accents:
        name = "".join(c for c in unicodedata.normalize("NFD", name) if unicodedata.category(c) != "Mn" or c == "\u0303")
        name = unicodedata.normalize("NFC", name)
    return name


def archive(a):
    r, t = random.Random(a.seed), Tables()
    people = People(r, t, spelling())
    pool = snippets()
    named = {c: [s for s in pool if s[2] == c and any(l == "PERSON" for _, _, l in s[1])] for c in (False, True)}
    other = {c: [s for s in pool if s[2] == c and not any(l == "PERSON" for _, _, l in s[1])] for c in (False, True)}
    staff = [people.person(r.random() < .5) for _ in range(80)]
    notes = []
    for k in range(a.patients):
        catalan = r.random() < .5
        patient = people.person(catalan)
        around = [people.person(catalan, patient) for _ in range(r.randint(1, 3))] + [people.person(catalan)]
        own = [staff[min(int(r.expovariate(1 / 12)), 79)] for _ in range(3)]
        for m in range(a.notes):
            text, spans, mentions = "", [], []
            chosen = [r.choice(named[catalan]) for _ in range(r.randint(1, 3))] + [r.choice(other[catalan]) for _ in range(r.randint(0, 2))]
            r.shuffle(chosen)
            for snippet, marks, _ in chosen:
                accents = bool(re.search("[áéíóúàèòïü]", snippet))
                at, who = 0, {}
                for start, end, label in sorted(marks):
                    was = snippet[start:end]
                    text += snippet[at:start]
                    value, p = was, None
                    if label == "PERSON":
                        if was not in who:
                            q = r.random()
                            who[was] = r.choice(own) if STAFF.search(snippet[max(0, start - 14):start]) else patient if q < .55 else r.choice(around)
                        p = who[was]
                        value = form(r, p, was, accents)
                    begin = len(text)
                    text += value
                    spans.append([begin, len(text), label])
                    mentions.append({"role": None if p is None else "patient" if p is patient else "staff" if p in staff else "around", "given": p and p["given"]})
                    at = end
                text += snippet[at:] + "\n"
            notes.append({"id": f"{k}-{m}", "patient": f"p{k}", "catalan": catalan, "text": text, "spans": spans, "mentions": mentions, "name": patient})
    with open(a.file, "w", encoding="utf-8") as f:
        for n in notes:
            f.write(json.dumps(n, ensure_ascii=False) + "\n")
    print(len(notes), "notes,", sum(s[2] == "PERSON" for n in notes for s in n["spans"]), "mentions of names")


def masked(notes, operator, seed, work):
    """notes: text, spans in characters -> the same masked; --operator for all."""
    tool = os.path.join(work, "surrogates")
    subprocess.run(["go", "build", "-o", tool, "./scripts/experiments/surrogates"], cwd=ROOT, check=True)
    rows = []
    for n in notes:
        at = [0]
        for c in n["text"]:
            at.append(at[-1] + len(c.encode()))
        rows.append(json.dumps({"id": n["id"], "patient": n["patient"], "text": n["text"], "spans": [[at[s], at[e], c] for s, e, c in n["spans"] if c in ("PERSON", "LOCATION")]}, ensure_ascii=False))
    out = subprocess.run([tool, "--operator", operator, "--seed", str(seed)], input="\n".join(rows).encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    back = []
    for line in out.splitlines():
        d = json.loads(line)
        b = d["text"].encode()
        back.append((d["text"], [(b[s:e].decode(), c) for s, e, c in d["spans"] or []]))
    return back


def tokens(name):
    return [w for w in re.findall(r"[^\W\d_]+", fold(name)) if len(w) > 2 and w not in ("del", "las", "los")]


def plant(notes, misses, regime, r):
    """Which mentions are left: of each note, by number of span."""
    left, missed = [], {}
    for n in notes:
        of = set()
        for k, (s, e, c) in enumerate(n["spans"]):
            if c != "PERSON":
                continue
            value = n["patient"], fold(n["text"][s:e])
            if regime == "mention":
                gone = r.random() < misses
            else:
                if value not in missed:
                    missed[value] = r.random() < misses * 1.4
                gone = missed[value] and r.random() < .7
            if gone:
                of.add(k)
        left.append(of)
    return left


def mentions_of(notes, left, operator, seed, work):
    """All names of the extract as the attacker sees them, and which are real."""
    back = masked([{**n, "spans": [s for k, s in enumerate(n["spans"]) if k not in of]} for n, of in zip(notes, left)], operator, seed, work)
    out = []
    for i, (n, of, (text, places)) in enumerate(zip(notes, left, back)):
        it = iter(places)
        for k, (s, e, c) in enumerate(n["spans"]):
            if c != "PERSON":
                if c == "LOCATION":
                    next(it)
                continue
            value, real = (n["text"][s:e], True) if k in of else (next(it)[0], False)
            if not value.startswith("["):
                out.append({"note": i, "patient": n["patient"], "name": value, "tokens": tokens(value), "real": real, "plain": not re.search("[áéíóúàèòïü]", n["text"]),
                            "own": n["mentions"][k]["role"] == "patient", "first": n["name"]["given"]})
    return out


def features(all, public, count):
    notes_of, docs, in_note = collections.defaultdict(set), collections.defaultdict(set), collections.Counter()
    for m in all:
        for w in m["tokens"]:
            notes_of[m["patient"], w].add(m["note"])
            docs[w].add(m["patient"])
            in_note[m["note"], w] += 1
    last = None
    for m in all:
        most = max((len(notes_of[m["patient"], w]) for w in m["tokens"]), default=0)
        least = min((len(notes_of[m["patient"], w]) for w in m["tokens"]), default=0)
        m["repeats"] = most
        m["f"] = [("patient", min(most, 9)), ("least", min(least, 5)), ("note", max((min(in_note[m["note"], w], 4) for w in m["tokens"]), default=0)),
                  ("patients", max((min(int(math.log2(len(docs[w]))), 6) for w in m["tokens"]), default=0)),
                  ("pool", sum(w not in public for w in m["tokens"]) > 0),
                  ("count", min((int(math.log2(count[w] + 1)) // 2 for w in m["tokens"]), default=-1)),
                  ("accent", bool(re.search("[áéíóúàèòïü]", m["name"])), m["plain"]),
                  ("case", m["name"].isupper(), m["name"].islower())]
    for m in all:
        m["f"].append(("fullname", sum(len(notes_of[m["patient"], w]) > 1 for w in m["tokens"]), len(m["tokens"])))


def public_names():
    names = set()
    for folder in ("lists", "names"):
        for f in os.listdir(os.path.join(LISTS, folder)):
            if "names" in f or "geonames" in f or "municip" in f:
                names |= {w for line in open(os.path.join(LISTS, folder, f), encoding="utf-8") if line[0] != "#" for w in fold(line.split("\t")[0]).split()}
    for f in ("frequent", "surnames", "own-surnames", "given"):
        for line in open(os.path.join(ROOT, "models/form/surrogate/lists", f + ".txt"), encoding="utf-8"):
            if line[0] not in "#=":
                names |= set(fold(line).split())
    return names


def bins(all):
    """A naive judge that was told of the other half of the patients."""
    patients = sorted({m["patient"] for m in all})
    half = {p: k % 2 for k, p in enumerate(patients)}
    for side in (0, 1):
        real, sur = collections.Counter(), collections.Counter()
        nr = ns = 0
        for m in all:
            if half[m["patient"]] != side:
                (real if m["real"] else sur).update(m["f"])
                nr, ns = nr + m["real"], ns + (not m["real"])
        for m in all:
            if half[m["patient"]] == side:
                m["score"] = sum(math.log((real[x] + 2) / (nr + 40)) - math.log((sur[x] + 2 * ns / max(nr, 1)) / (ns + 40 * ns / max(nr, 1))) for x in m["f"])


def report(name, all, chosen, share):
    right = sum(m["real"] for m in chosen)
    left = sum(m["real"] for m in all)
    p = right / max(len(chosen), 1)
    print(f"{name:34} {len(chosen):6} {right:5} of {left:5}  precision {p:.4f}  x{p / share:.2f}")


def attack(a):
    notes = [json.loads(l) for l in open(a.file, encoding="utf-8")]
    public, count = public_names(), Tables().count
    for regime in ("mention", "value"):
        r = random.Random(a.seed * 7 + len(regime))
        all = mentions_of(notes, plant(notes, a.misses, regime, r), a.operator, a.seed, a.work)
        features(all, public, count)
        bins(all)
        left = sum(m["real"] for m in all)
        share = left / len(all)
        print(f"-- misses of a {regime}: {left} of {len(all)} ({share:.4f}); {a.operator}")
        for k in (2, 3, 5, 8):
            report(f"a token in {k} notes or more", all, [m for m in all if m["repeats"] >= k], share)
        report("a token in one note", all, [m for m in all if m["repeats"] == 1], share)
        report("a token in no public pool", all, [m for m in all if ("pool", True) in m["f"]], share)
        report("an accent in a note without", all, [m for m in all if ("accent", True, True) in m["f"]], share)
        report("no accent in a note without", all, [m for m in all if ("accent", False, True) in m["f"]], share)
        top = sorted(all, key=lambda m: -m["score"])
        report("bins, as many as are left", all, top[:left], share)
        report("bins, twenty times that", all, top[: 20 * left], share)
        full = [m for m in all if m["repeats"] >= 2 and len(m["tokens"]) >= 2]
        named = []
        for choose in (lambda m: m["repeats"], lambda m: m["score"]):
            best = {}
            for m in full:
                if m["patient"] not in best or choose(m) > choose(best[m["patient"]]):
                    best[m["patient"]] = m
            named.append(sum(m["real"] and m["own"] for m in best.values()))
        print(f"patients named, one guess each: by repetition {named[0]}, by bins {named[1]} of {len({m['patient'] for m in all})}; by chance {sum(sum(x['real'] and x['own'] for x in all if x['patient'] == p) / max(1, sum(x['patient'] == p for x in all)) for p in {m['patient'] for m in all}):.1f}")


def distance(x, y):
    """Kolmogorov's, of two samples."""
    x, y = sorted(x), sorted(y)
    i = j = 0
    worst = 0
    while i < len(x) and j < len(y):
        v = min(x[i], y[j])
        while i < len(x) and x[i] == v:
            i += 1
        while j < len(y) and y[j] == v:
            j += 1
        worst = max(worst, abs(i / len(x) - j / len(y)))
    return worst


def judge(a):
    r, t = random.Random(a.seed), Tables()
    people = People(r, t, spelling())
    with gzip.open(os.path.join(DATA, "gazetteers/softcatala-dict/nomspropis-lt.txt.gz"), "rt", encoding="utf-8") as f:
        catalan_words = {fold(l.split(" ")[0]) for l in f}

    def tongue(w):
        """Catalan, Spanish, or neither: by how many of those who bear a surname live in Barcelona, and whether Softcatala has it."""
        r = t.in_barcelona[w] / 2 / max(t.count[w], 1)
        return "Catalan" if r > .14 and w in catalan_words else "Spanish" if r < .08 and t.count[w] > 300 else None
    for operator in (a.operator,):
        rows, kinds = [], []
        for k in range(a.draws):
            catalan, woman = k % 2 == 1, r.random() < .5
            given = people.write(t.draw(r, t.women if woman else t.men))
            last = people.write(t.draw(r, t.barcelona if catalan else t.surnames))
            name = f"{given} {last}"
            text = f"Avui ve {name} per control, és a casa amb la mare." if catalan else f"Acude {name} a la consulta con sus hijos, mejoría."
            at = text.index(name)
            rows.append({"id": str(k), "patient": f"p{k}", "text": text, "spans": [[at, at + len(name), "PERSON"]]})
            kinds.append((given, last, woman, catalan))
        back = masked(rows, operator, a.seed, a.work)
        same = known = unknown = 0
        freq, lang = {False: ([], []), True: ([], [])}, [0, 0]
        given_freq = ([], [])
        for (given, last, woman, catalan), (_, places) in zip(kinds, back):
            name = places[0][0]
            if name[0] == "[":
                print("nothing for", given, last)
            words = name.split(" ")
            n = len(given.split())
            g, s = fold(" ".join(words[:n])), fold(" ".join(words[n:]))
            men, women = t.gender[g] if g in t.gender else t.gender.get(g.split()[0], (0, 0))
            wm, ww = t.gender[fold(given)]
            if max(wm, ww) > 20 * min(wm, ww) and (ww > wm) == woman:
                if men + women:
                    known += 1
                    same += (women > men) == woman
                    if a.v and (women > men) != woman:
                        print("gender:", given, last, "->", name)
                else:
                    unknown += 1
            x, y = freq[catalan]
            x.append(t.count[fold(last)])
            y.append(t.count[s])
            was, now = tongue(fold(last)), tongue(s)
            if was and now:
                lang[1] += 1
                lang[0] += was == now
                if a.v and was != now:
                    print("language:", last, was, "->", name)
            if not catalan:
                given_freq[0].append(max(t.gender[fold(given)]))
                given_freq[1].append(max(t.gender[g]) if g in t.gender else 0)
                if a.v and g not in t.gender:
                    print("no such given name:", given, "->", name)
            if a.v and not t.count[s]:
                print("no such surname:", last, "->", name)
        print(f"{operator}: {len(rows)} names")
        print(f"gender: {same} of {known} ({same / known:.4f}), {unknown} that no table has")
        for catalan, (x, y) in freq.items():
            print("surnames,", "Barcelona" if catalan else "INE", f"Kolmogorov distance of frequency {distance(x, y):.4f}; no such name: {sum(v == 0 for v in y) / len(y):.4f} (of originals {sum(v == 0 for v in x) / len(x):.4f})")
        print(f"Catalan surnames for Catalan, Spanish for Spanish: {lang[0] / lang[1]:.4f} of {lang[1]}")
        print(f"given names, INE: {distance(*given_freq):.4f}; no such name {sum(v == 0 for v in given_freq[1]) / len(given_freq[1]):.4f}")
        if a.v:
            for q in range(0, 100, 5):
                x, y = (sorted(v) for v in freq[False])
                print(q, x[q * len(x) // 100], y[q * len(y) // 100], *(sorted(v)[q * len(v) // 100] for v in freq[True]), *(sorted(v)[q * len(v) // 100] for v in given_freq))
            print(*(f"{g} {l} -> {b[1][0][0]}" for (g, l, _, _), b in list(zip(kinds, back))[:60]), sep="\n")


def rows(path, delimiter=","):
    with gzip.open(os.path.join(DATA, "gazetteers", path)) as f:
        return list(csv.DictReader(io.TextIOWrapper(f, encoding="utf-8"), delimiter=delimiter))


def places(a):
    """Addresses of INE's towns and codes, streets of Barcelona's; judged by the same tables, hospitals by REGCESS."""
    r = random.Random(a.seed)
    provinces = {p["provincia_id"].zfill(2): p["nombre"] for p in rows("places-es/provincias.csv.gz")}
    plain = lambda n: fold(" ".join(reversed(n.split("/")[0].split(", ")))).replace(" ", "")
    towns = {m["municipio_id"].zfill(5): m["nombre"] for m in rows("places-es/municipios.csv.gz")}
    of_code, codes = collections.defaultdict(set), collections.defaultdict(list)
    for c in rows("places-es/codigos_postales_municipios.csv.gz"):
        of_code[c["codigo_postal"].zfill(5)] |= {plain(x) for x in [towns.get(c["municipio_id"].zfill(5), "?")]} | {fold(y).replace(" ", "") for y in towns.get(c["municipio_id"].zfill(5), "?").split("/")}
        codes[c["municipio_id"].zfill(5)].append(c["codigo_postal"].zfill(5))
    names_of = {k: {plain(v), fold(v).replace(" ", "")} | {fold(x).replace(" ", "") for x in v.split("/")} for k, v in provinces.items()}
    hospitals = collections.defaultdict(str)
    for h in rows("hospitals-es/hospitals.tsv.gz", "\t"):
        hospitals[fold(h["geo_loc_city"]).replace(" ", "")] += "|" + fold(h["collecting_institution"])
    streets = [f"{s['TIPUS_VIA']} {s['PARTICULES']}".strip() + ("" if s["PARTICULES"].endswith("'") else " ") + s["NOM"] for s in rows("streets-barcelona/nomenclator-bcn.csv.gz") if s.get("NOM")]
    big = [t for t in towns if t in codes]
    notes, kinds = [], []
    for k in range(a.draws // 10):
        t = r.choice(big)
        name = " ".join(reversed(towns[t].split("/")[0].split(", ")))
        catalan = t[:2] in ("08", "17", "25", "43")
        street = r.choice(streets) if catalan else r.choice(["calle Mayor", "Avda. de la Constitución", "Plaza de España", "C/ San Juan", "calle del Doctor Marañón", "Paseo de la Alameda"])
        address = f"{street} {r.randint(1, 99)}, {r.choice(codes[t])} {name} ({' '.join(reversed(provinces[t[:2]].split('/')[0].split(', ')))})"
        text = f"Vive en {address}. Ingresó en el Hospital de {name}"
        x, y = text.index(address), text.rindex("Hospital de")
        notes.append({"id": str(k), "patient": str(k), "text": text, "spans": [[x, x + len(address), "PERSON"], [y, len(text), "PERSON"]]})
        kinds.append(catalan)
    for n in notes:
        n["spans"] = [[s, e, "LOCATION"] for s, e, _ in n["spans"]]
    right = collections.Counter()
    for catalan, (_, spans) in zip(kinds, masked(notes, a.operator, a.seed, a.work)):
        address, hospital = spans[0][0], spans[1][0]
        m = re.match(r"(.+) \d+, (\d{5}) (.+) \((.+)\)$", address)
        if not m:
            right["not masked"] += address[0] == "["
            right["no address"] += 1
            if a.v:
                print("no address:", address)
            continue
        street, code, town, province = m.groups()
        t = fold(town).replace(" ", "")
        ok = {"code in province": fold(province).replace(" ", "") in names_of.get(code[:2], ()), "code of town": any(t in x or x in t for x in of_code.get(code, ())),
              "language": bool(re.match(r"(?i)(carrer|av|pl|pas|rambla|ronda|cam|tra|gran|jardins|via|torrent|pg|baixada|riera|parc|moll|mol|ptge|pujada|rda|c/|cal)", street)) and
              bool(re.search(r"(?i)\b(de la fuente|calle|de las|san |virgen|de los)\b", street)) <= (not catalan),
              "no doubled particle": not re.search(r"(?i)\b(la|del|les|els|las|los) (de|del|dels|d')\b", street)}
        all_in = hospitals.get(t, "")
        h = fold(hospital.split(" ", 1)[1]) if " " in hospital else ""
        ok["hospital of the town"] = not h or t in h.replace(" ", "") or any(w in all_in for w in h.split() if len(w) > 3) or not all_in
        for key, good in ok.items():
            right[key] += good
            if a.v and not good:
                print(key, ":", address, "|", hospital)
        right["all"] += all(ok.values())
        right["n"] += 1
    n = right.pop("n")
    print(", ".join(f"{k} {v / n:.4f}" for k, v in right.items()), f"of {n}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["archive", "attack", "judge", "places"])
    p.add_argument("file", nargs="?")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--misses", type=float, default=.01)
    p.add_argument("--patients", type=int, default=300)
    p.add_argument("--notes", type=int, default=12)
    p.add_argument("--draws", type=int, default=20000)
    p.add_argument("--operator", default="surrogate strategy=markov")
    p.add_argument("--work", default="/tmp")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    globals()[a.do](a)


if __name__ == "__main__":
    main()
