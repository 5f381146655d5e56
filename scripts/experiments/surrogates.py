#!/usr/bin/env python3
"""Whether surrogates are like what they stand for.

  surrogates.py judge [--seed 1]                   gender, language, frequency, by INE's and Barcelona's tables
  surrogates.py genders [--seed 1] [--keys 10]     of names in gold spans of nubes-phi and notes-voices, train, by INE's tables
  surrogates.py places [--seed 1]                  street, code, town, province, hospital: whether they go together
  surrogates.py dates [--seed 1]                   gold spans of MEDDOCAN and nubes-phi, dev: the share of dates that is moved
  surrogates.py offsets [--seed 1]                 how many an archive's range leaves to a patient, and what more would cost; no Go
  surrogates.py crf --velum bin/velum [--keys 4]   strict F1 on MEDDOCAN dev of a CRF that learned from surrogates in train, beside the originals
  surrogates.py speed --velum bin/velum            processor time of placeholders by that of policy research, by part, 30,000 notes of attack.py, runs in turns

How well they hide what was missed is outsider.py's. Needs ../shared/data and Go; scratch in --work.
"""
import argparse, collections, csv, functools, gzip, io, json, math, os, random, re, resource, shutil, statistics, subprocess, unicodedata

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


@functools.cache
def built(work):
    tool = os.path.join(work, "surrogates")
    subprocess.run(["go", "build", "-o", tool, "./scripts/experiments/surrogates"], cwd=ROOT, check=True)
    return tool


def masked(notes, operator, seed, work, names=None, categories=("PERSON", "LOCATION")):
    """notes: text, spans in characters -> the same masked; --operator for all."""
    tool = built(work)
    rows = []
    for n in notes:
        at = [0]
        for c in n["text"]:
            at.append(at[-1] + len(c.encode()))
        rows.append(json.dumps({"id": n["id"], "patient": n["patient"], "text": n["text"], "spans": [[at[s], at[e], c] for s, e, c in n["spans"] if c in categories]}, ensure_ascii=False))
    out = subprocess.run([tool, "--operator", operator, "--seed", str(seed), *(["--names", names] if names else [])], input="\n".join(rows).encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    back = []
    for line in out.splitlines():
        d = json.loads(line)
        b = d["text"].encode()
        back.append((d["text"], [(b[s:e].decode(), c) for s, e, c in d["spans"] or []]))
    return back


def tokens(name):
    return [w for w in re.findall(r"[^\W\d_]+", fold(name)) if len(w) > 2 and w not in ("del", "las", "los")]


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
        back = masked(rows, operator, a.seed, a.work, a.names)
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


ANY_HOSPITAL = set("de del la las el els los da hospital general universitario universitari clinico clinic provincial comarcal materno infantil regional san santa sant virgen".split())


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
        all_in = re.sub(r"\W+", " ", hospitals.get(t, "")) + " "
        h = fold(hospital.split(" ", 1)[1]) if " " in hospital else ""
        ok["hospital of the town"] = not h or t in h.replace(" ", "") or any(f" {w} " in all_in for w in h.split() if w not in ANY_HOSPITAL) or not all_in.strip()
        for key, good in ok.items():
            right[key] += good
            if a.v and not good:
                print(key, ":", address, "|", hospital)
        right["all"] += all(ok.values())
        right["n"] += 1
    n = right.pop("n")
    print(", ".join(f"{k} {v / n:.4f}" for k, v in right.items()), f"of {n}")


def gold_names():
    """nubes-phi's train and notes-voices': notes with the spans of people."""
    with gzip.open(os.path.join(DATA, "unlabelled-es-clinical", "nubes.jsonl.gz"), "rt", encoding="utf-8") as f:
        texts = {d["id"]: d["text"].split("\n") for d in map(json.loads, f)}
    for row in open(os.path.join(DATA, "labelled", "nubes-phi", "train.tsv"), encoding="utf-8"):
        if row[0] != "#" and "PERSON:" in row:
            doc, k, found = row.rstrip("\n").split("\t")[:3]
            yield "nubes-phi", texts[doc][int(k)], sorted([int(s), int(e), c] for c, s, e in (x.split(":") for x in found.split()) if c == "PERSON")
    for row in map(json.loads, open(os.path.join(DATA, "labelled", "notes-voices", "train.jsonl"), encoding="utf-8")):
        spans = sorted([s["start"], s["end"], s["label"]] for s in row["spans"] if s["label"] == "PERSON")
        if spans:
            yield "notes-voices", row["text"], spans


def genders(a):
    """Of names whose first word nearly all bearers of one gender have; that word of the surrogate."""
    t, notes = Tables(), list(gold_names())

    def gender(name):
        men, women = t.gender.get(fold(re.split(r"[\s,.]", name)[0]), (0, 0))
        return None if max(men, women) <= 20 * min(men, women) else "woman" if women > men else "man"
    shares = []
    for seed in range(a.seed, a.seed + a.keys):
        same, all_of = collections.Counter(), collections.Counter()
        back = masked([{"id": str(k), "patient": str(k), "text": text, "spans": spans} for k, (_, text, spans) in enumerate(notes)], a.operator, seed, a.work, a.names)
        for (source, text, spans), (_, values) in zip(notes, back):
            for (s, e, _), (value, _) in zip(spans, values):
                was, now = gender(text[s:e]), gender(value)
                if was and now and " " in text[s:e]:
                    all_of[source] += 1
                    same[source] += was == now
                    if a.v and was != now:
                        print(source, ":", text[s:e], "->", value)
        shares.append(sum(same.values()) / sum(all_of.values()))
        print(f"key {seed}: " + ", ".join(f"{k} {same[k]} of {n} ({same[k] / n:.4f})" for k, n in all_of.items()), flush=True)
    print(f"{a.keys} keys: {min(shares):.4f} to {max(shares):.4f}, mean {statistics.mean(shares):.4f}")


def gold_dates():
    """MEDDOCAN's dev, and nubes-phi's: notes with the spans of dates."""
    dev = os.path.join(DATA, "meddocan", "dev")
    for name in sorted(os.listdir(dev)):
        if name.endswith(".ann"):
            spans = [l.split("\t")[1].split(" ") for l in open(os.path.join(dev, name), encoding="utf-8") if l[0] == "T"]
            text = open(os.path.join(dev, name[:-4] + ".txt"), encoding="utf-8", newline="").read()
            yield "MEDDOCAN dev", text, sorted([int(s), int(e), "DATE"] for c, s, e in spans if c == "FECHAS")
    with gzip.open(os.path.join(DATA, "unlabelled-es-clinical", "nubes.jsonl.gz"), "rt", encoding="utf-8") as f:
        texts = {d["id"]: d["text"].split("\n") for d in map(json.loads, f)}
    for row in open(os.path.join(DATA, "labelled", "nubes-phi", "dev.tsv"), encoding="utf-8"):
        if row[0] == "#":
            continue
        doc, k, *rest = row.rstrip("\n").split("\t")
        spans = [x.split(":") for x in (rest[0].split() if rest else []) if x.startswith("DATE")]
        if spans:
            yield "nubes-phi dev", texts[doc][int(k)], sorted([int(s), int(e), "DATE"] for _, s, e in spans)


def dates(a):
    notes = list(gold_dates())
    rows = [{"id": str(k), "patient": str(k), "text": text, "spans": spans} for k, (_, text, spans) in enumerate(notes)]
    moved, all_of = collections.Counter(), collections.Counter()
    for (source, text, spans), (_, back) in zip(notes, masked(rows, "shift scope=patient days=3650", a.seed, a.work, categories=("DATE",))):
        for (s, e, _), (value, _) in zip(spans, back):
            all_of[source] += 1
            moved[source] += value[0] != "["
            if a.v and value[0] == "[":
                print(source, ":", text[max(0, s - 12):s] + "<" + text[s:e] + ">" + text[e:e + 12].replace("\n", " "))
    print(", ".join(f"{k} {moved[k]} of {n} ({moved[k] / n:.4f})" for k, n in all_of.items()))


def offsets(a):
    """300 patients with a note in each month of a year, as in attack.py. Who knows the year is left with the offsets under which all
    that has one offset lies in it. Of days .84 can be offsets: neither whole weeks nor nearly whole years."""
    r, year, wanted, may = random.Random(a.seed), 366, 100, .84
    patients = [sorted(int((k + r.random()) * 365 / a.notes) for k in range(a.notes)) for _ in range(a.patients)]
    spans = lambda of, days: [(days - (p[-1] - p[0])) * may for p in of if p]
    fifth = lambda left: sorted(left)[len(left) // 20]
    print(f"as it is: {fifth(spans(patients, year)):.0f} left; with three more months of other patients before and behind: {fifth(spans(patients, year + 182)):.0f}")
    width = year - math.ceil(wanted / may)
    windows = []
    for p in patients:
        begin = r.randint(0, year - width)
        windows.append([d for d in p if begin <= d < begin + width])
    print(f"a window of {width} days of each patient, the rest left out, or its dates hidden: {fifth(spans(windows, year)):.0f} left; {1 - sum(map(len, windows)) / a.patients / a.notes:.3f} of notes or dates lost")
    print(f"patients with longer spans left out: {sum(p[-1] - p[0] > year - wanted / may for p in patients) / a.patients:.3f} of patients lost")
    ordered, apart, kept = [], [], 0
    for p in patients:
        cut = r.randint(1, a.notes - 1)
        halves = p[:cut], p[cut:]
        kept += sum(len(h) * (len(h) - 1) for h in halves) / a.notes / (a.notes - 1) / a.patients
        alone = [(year - (h[-1] - h[0])) * may for h in halves]
        apart.append(min(alone))
        ordered.append((year - sum(h[-1] - h[0] for h in halves)) * may)  # what is sooner stands before what is later
    print(f"two offsets, changed at one note of a patient: {fifth(apart):.0f} left, if nobody knows which half is the earlier one, else {fifth(ordered):.0f}; {kept:.2f} of intervals stay exact")


def crf(a):
    """Dates, ages and sex stay as they are: their operators in policy research are others."""
    stay = {"FECHAS", "EDAD_SUJETO_ASISTENCIA", "SEXO_SUJETO_ASISTENCIA"}
    train = os.path.join(a.work, "train.jsonl")
    subprocess.run([a.velum, "convert", "--quiet", "--in", os.path.join(DATA, "meddocan", "train"), "--out", train], check=True)
    notes = [json.loads(line) for line in open(train, encoding="utf-8")]
    for n in notes:
        n["patient"], n["spans"] = n["id"], sorted((s["start"], s["end"], s["label"]) for s in n["spans"])
    categories = {c for n in notes for _, _, c in n["spans"]} - stay

    def strict(path):
        model = path[:-6] + ".velum"
        subprocess.run([a.velum, "train", "--quiet", "--kind", "crf", "--template", "meddocan", "--labels", "meddocan", "--iterations", "30", "--train", path, "--out", model], check=True, stdout=subprocess.DEVNULL)
        out = subprocess.run([a.velum, "evaluate", "--quiet", "--json", "--gold", os.path.join(DATA, "meddocan", "dev"), "--model", model], check=True, stdout=subprocess.PIPE).stdout
        return {m["name"]: m for m in json.loads(out)["measures"]}["strict"]["f1"]

    original, lost = strict(train), []
    print(f"originals {original:.4f}", flush=True)
    for seed in range(a.seed, a.seed + a.keys):
        path = os.path.join(a.work, f"surrogates-{seed}.jsonl")
        with open(path, "w", encoding="utf-8") as to:
            for n, (text, back) in zip(notes, masked(notes, a.operator, seed, a.work, a.names, categories)):
                it, shift, spans = iter(back), 0, []
                for s, e, c in n["spans"]:
                    end = e + shift if c in stay else s + shift + len(next(it)[0])
                    spans.append({"start": s + shift, "end": end, "label": c})
                    shift = end - e
                to.write(json.dumps({"id": n["id"], "text": text, "spans": spans}, ensure_ascii=False) + "\n")
        lost.append(original - strict(path))
        print(f"key {seed}: {lost[-1]:.4f} lost", flush=True)
    print(f"mean of {a.keys} keys: {statistics.mean(lost):.4f} lost")


PARTS = [("operators", ["--set", "tag.recall=0", "--set", "inverse.model="]), ("without the calendar", ["--set", "tag.recall=0", "--set", "inverse.model=", "--set", "mask.calendar="]),
         ("with the recall dial", ["--set", "inverse.model="]), ("all, with the inverse look", [])]


def speed(a):
    import attack
    archive, out = os.path.join(a.work, "speed"), os.path.join(a.work, "speed.out")
    shutil.rmtree(archive, ignore_errors=True)
    attack.archive(argparse.Namespace(generator="notes", patients=2500, notes=12, sorted=False), random.Random(a.seed), archive)
    notes, key = os.path.join(archive, "in"), os.path.join(archive, "key")

    def seconds(*more):
        for d in (out, out + ".private"):
            shutil.rmtree(d, ignore_errors=True)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([a.velum, "run", "--quiet", "--in", notes, "--out", out, "--set", "read.columns.patient=patient_id", "--set", "read.columns.date=date", "--set", "choose.use=false", *more], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    for name, more in PARTS:
        of = [seconds() / seconds("--policy", "research", "--set", f"key.file={key}", *more) for _ in range(a.pairs)]
        print(f"{name}: {statistics.median(of):.3f} ({min(of):.3f} to {max(of):.3f}, {a.pairs} pairs)", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["judge", "genders", "places", "dates", "offsets", "crf", "speed"])
    p.add_argument("--velum", default=os.path.join(ROOT, "bin", "velum"))
    p.add_argument("--keys", type=int, default=4)
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--patients", type=int, default=300)
    p.add_argument("--notes", type=int, default=12)
    p.add_argument("--draws", type=int, default=20000)
    p.add_argument("--operator", default="surrogate strategy=markov")
    p.add_argument("--work", default="/tmp")
    p.add_argument("--names", help="table of names, as attack.py writes it")
    p.add_argument("-v", action="store_true")
    a = p.parse_args()
    globals()[a.do](a)


if __name__ == "__main__":
    main()
