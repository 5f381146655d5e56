#!/usr/bin/env python3
"""What an extract with surrogates gives away, tried by an outsider who shares no line with velum's own attacks.

  go test -c -o mask.test ./stages/mask
  scripts/bench/surrogates.py linkage   --tool mask.test [--table]     candidates found from surrogates alone
  scripts/bench/surrogates.py leftovers --tool mask.test [--table]     names that were missed, told from surrogates
  scripts/bench/surrogates.py kept      --tool mask.test [--table]     whether sex and language of a name stay
  scripts/bench/surrogates.py crf       --tool mask.test --velum VELUM  strict F1 of a CRF that learned from surrogates

The archive has --patients patients with --notes notes each: real sentences of hospitals (nubes-phi, those without a span) and of
notes in Catalan around names of people who are drawn by INE's frequencies. --table gives velum INE's table of names (mask.names).
The outsider has the tables, velum itself under keys of their own, and the public extract, grouped by patient. Where names stand is granted.
linkage: how surrogates go by names is counted over 6,000 people of the outsider's own; each patient's mentions then speak for and against
each candidate of the list (sex and name). leftovers: --misses of the names stay, half in all notes of a patient and half one by one;
a logistic regression learns on an archive of the outsider's own. Intervals draw patients again. Needs ../shared/data.
crf: of nubes-phi and notes-voices a third of the documents and writers is left out, in turn; one CRF learns from the others as they are, one
with the policy research in place of their spans, and both tag what was left out, as it is. --only gives some categories surrogates alone, --source takes one of the two.
"""
import argparse, collections, csv, functools, gzip, hashlib, io, json, math, os, random, re, statistics, subprocess, tempfile, unicodedata

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
DATA = os.path.join(ROOT, "..", "shared", "data")


@functools.cache
def fold(s):
    return "".join(c for c in unicodedata.normalize("NFD", s.lower()) if unicodedata.category(c) != "Mn").replace("·", "").replace("-", " ").replace("'", "")


def table(path, name, count, delimiter=","):
    with gzip.open(os.path.join(DATA, "gazetteers", path)) as f:
        return [(r[name], float(r[count] or 0)) for r in csv.DictReader(io.TextIOWrapper(f, encoding="utf-8"), delimiter=delimiter)]


class Tables:
    def __init__(self):
        self.by_sex = [table(f"names-es-ine/{k}.csv.gz", "nombre", "frec") for k in ("hombres", "mujeres")]
        self.surnames = table("names-es-ine/apellidos.csv.gz", "apellido", "frec_pri")
        self.given, self.last = collections.Counter(), collections.Counter()
        self.sex = collections.defaultdict(lambda: [0, 0])
        for k, names in enumerate(self.by_sex):
            for n, f in names:
                self.given[fold(n)] += f
                self.sex[fold(n)][k] += f
        for n, f in self.surnames:
            self.last[fold(n)] += f
        city = collections.Counter()
        for n, f in table("cognoms-barcelona/cognoms-bcn-2024.tsv.gz", "cognom", "valor", "\t"):
            city[fold(n)] += f
        with gzip.open(os.path.join(DATA, "gazetteers/softcatala-dict/nomspropis-lt.txt.gz"), "rt", encoding="utf-8") as f:
            self.words = {fold(line.split(" ")[0]) for line in f}
        self.share = {w: city[w] / 2 / max(self.last[w], 1) for w in city}
        self.cum = {}

    def draw(self, r, names):
        if id(names) not in self.cum:
            total, cum = 0, []
            for _, f in names:
                total += f
                cum.append(total)
            self.cum[id(names)] = cum
        return r.choices(names, cum_weights=self.cum[id(names)])[0][0]

    def tongue(self, w):
        """1 a Catalan surname, 0 a Spanish one, None: neither for sure."""
        r = self.share.get(w, 0)
        return 1 if r > .14 and w in self.words else 0 if r < .08 and self.last[w] > 300 else None


@functools.cache
def spelling():
    forms = {}
    lists = os.path.join(ROOT, "models", "word", "gazetteer")
    for folder, first in (("lists", "own-"), ("lists", "faker-"), ("names", "")):
        for f in sorted(os.listdir(os.path.join(lists, folder))):
            if "names" in f and f.startswith(first):
                for line in open(os.path.join(lists, folder, f), encoding="utf-8"):
                    w = line.split("\t")[0].strip()
                    if w and w[0] != "#":
                        forms.setdefault(fold(w), w)
    return forms


def written(name):
    return " ".join(spelling().get(fold(w), w.capitalize() if w not in ("DE", "LA", "DEL", "LOS", "LAS") else w.lower()) for w in name.split())


@functools.cache
def filler():
    with gzip.open(os.path.join(DATA, "unlabelled-es-clinical", "nubes.jsonl.gz"), "rt", encoding="utf-8") as f:
        texts = {d["id"]: d["text"].split("\n") for d in map(json.loads, f)}
    es = []
    for row in open(os.path.join(DATA, "labelled", "nubes-phi", "train.tsv"), encoding="utf-8"):
        f = row.rstrip("\n").split("\t")
        if row[0] != "#" and len(f) > 2 and not f[2] and f[0] in texts and 20 < len(texts[f[0]][int(f[1])]) < 220:
            es.append(texts[f[0]][int(f[1])])
    ca = [d["text"] for d in map(json.loads, open(os.path.join(DATA, "labelled", "notes-ca", "train.jsonl"), encoding="utf-8")) if not d.get("spans") and 20 < len(d["text"]) < 300]
    return es, ca


class Person:
    def __init__(self, r, t):
        self.sex = r.randrange(2)
        self.raw = t.draw(r, t.by_sex[self.sex]), t.draw(r, t.surnames), t.draw(r, t.surnames)
        self.given, self.one, self.two = map(written, self.raw)

    def form(self, r, kind):
        g, a, b = self.given, self.one, self.two
        if kind == "patient":
            return r.choices([f"{g} {a} {b}", f"{g} {a}", g, f"{a} {b}, {g}", f"{g} {a} {b}".upper()], [5, 4, 3, 2, 1])[0]
        return r.choices([g, f"{g} {a}", f"{g} {a} {b}"], [5, 3, 1])[0] if kind == "kin" else r.choices([a, f"{g} {a}"], [3, 1])[0]


ES = {"patient": ["Paciente {}.", "Acude {} a consulta.", "{} refiere mejoría.", "Nombre: {}", "Se cita a {} en un mes.", "Llamo a {}, no contesta."],
      "kin": ["Acude con su hija {}.", "Vive con {}.", "Su cuidadora {} comenta que come poco.", "Llama {}, familiar.", "Hablo con {} por teléfono."],
      "staff": ["Dr. {}.", "Valorada por la Dra. {}.", "Firmado: Dr. {}", "Comentado con la Dra. {}."]}
CA = {"patient": ["Pacient {}.", "Ve {} a consulta.", "{} refereix millora.", "Nom: {}", "Se cita {} d'aquí a un mes."],
      "kin": ["Ve amb la seva filla {}.", "Viu amb {}.", "La cuidadora {} comenta que menja poc.", "Truca {}, familiar."],
      "staff": ["Dr. {}.", "Valorada per la Dra. {}.", "Signat: Dra. {}"]}
STAFF = re.compile(r"Dra?\. $")


def archive(a, seed, patients):
    """notes: id, patient, catalan, text, spans in characters; people by patient"""
    r, t = random.Random(seed), tables()
    es, ca = filler()
    staff = [Person(r, t) for _ in range(40)]
    notes, people = [], {}
    for k in range(patients):
        p = people[f"p{k}"] = Person(r, t)
        kin, doctors = [Person(r, t) for _ in range(2)], r.sample(staff, 2)
        for i in range(a.notes):
            catalan = r.random() < .25
            lines, say, parts = ca if catalan else es, CA if catalan else ES, []
            if r.random() < .7:
                parts.append((r.choice(say["patient"]), p.form(r, "patient")))
            if r.random() < .45:
                parts.append((r.choice(say["kin"]), (r.choice(kin) if r.random() < .8 else Person(r, t)).form(r, "kin")))
            if r.random() < .5:
                parts.append((r.choice(say["staff"]), r.choice(doctors).form(r, "staff")))
            parts += [(r.choice(lines).replace("{", "(").replace("}", ")"), None) for _ in range(r.randint(1, 3))]
            r.shuffle(parts)
            text, spans = "", []
            for frame, name in parts:
                text += " " if text else ""
                if name:
                    at = len(text) + frame.index("{}")
                    spans.append((at, at + len(name)))
                    frame = frame.replace("{}", name)
                text += frame
            notes.append({"id": f"{seed}-{k}-{i}", "patient": f"p{k}", "catalan": catalan, "text": text, "spans": spans})
    return notes, people


@functools.cache
def tables():
    return Tables()


def masked(a, notes, key):
    """the surrogates of each note, in order, and its text"""
    with tempfile.TemporaryDirectory(dir=a.work) as d:
        with open(d + "/in", "w", encoding="utf-8") as f:
            for n in notes:
                at = [0]
                for c in n["text"]:
                    at.append(at[-1] + len(c.encode()))
                json.dump({**n, "spans": [[at[s], at[e], "PERSON"] for s, e in n["spans"]]}, f, ensure_ascii=False)
                f.write("\n")
        env = {**os.environ, "VELUM_LINES": d + "/in", "VELUM_LINES_OUT": d + "/out", "VELUM_LINES_POLICY": a.policy, "VELUM_LINES_KEY": str(key)}
        if a.table:
            env["VELUM_LINES_NAMES"] = d + "/names"
            with open(d + "/names", "w", encoding="utf-8") as f:
                w = csv.writer(f)
                w.writerow(["kind", "name", "people"])
                for kind, names in zip(("man", "woman", "surname"), (*tables().by_sex, tables().surnames)):
                    w.writerows((kind, n, int(x)) for n, x in names)
        subprocess.run([a.tool, "-test.run", "^TestLines$"], env=env, check=True, stdout=subprocess.DEVNULL)
        out = []
        for row in map(json.loads, open(d + "/out", encoding="utf-8")):
            b = row["text"].encode()
            out.append(([b[s:e].decode() for s, e, _ in row["spans"] or []], row["text"]))
        return out


def parse(name, alone=False):
    """given run and surnames of a name, folded; alone: a single word is a surname"""
    t = tables()
    if "," in name:
        last, given = name.split(",", 1)
        return fold(given).strip(), fold(last).split()
    words = [w for w in fold(name).split() if w not in ("de", "la", "del", "los", "las", "el")]
    if alone and len(words) == 1:
        return "", words
    n = 1
    if len(words) > 1 and (" ".join(words[:2]) in t.given and (t.given[words[1]] > t.last[words[1]] or len(words) == 4 or len(words) == 2 and t.given[words[1]] > .5 * t.last[words[1]])):
        n = 2
    return " ".join(words[:n]), words[n:]


def given_features(g):
    t = tables()
    men, women = t.sex.get(g) or t.sex.get(g.split(" ")[0]) or (0, 0)
    sex = "?" if not men + women else "f" if women > men else "m"
    both = max(t.given[g], 0)
    return {"sex": sex, "words": min(len(g.split()), 2), "often": int(math.log2(both)) if both else -1, "ca": any(w in t.words and t.given[w] < 60_000 for w in g.split())}


def last_features(w):
    t = tables()
    return {"often": int(math.log2(t.last[w])) if t.last[w] else -1, "ca": t.tongue(w)}


class Channel:
    """P(features of a surrogate | features of a name), counted: joint where there is enough, frequencies a little smoothed."""

    def __init__(self):
        self.both, self.of, self.out, self.n = collections.Counter(), collections.Counter(), collections.Counter(), 0

    @staticmethod
    def views(x):
        yield "oc", (x["often"], x["ca"])
        if "sex" in x:
            yield "s", x["sex"]
            yield "w", x["words"]

    def learn(self, was, now):
        for (k, x), (_, y) in zip(self.views(was), self.views(now)):
            near = [(x, 1.)] if k != "oc" else [((x[0] + d, x[1]), w) for d, w in ((0, 1.), (-1, .4), (1, .4))]
            for x, w in near:
                self.both[k, x, y] += w
                self.of[k, x] += w
            self.out[k, y] += 1
        self.n += 1

    def odds(self, was, now):
        """log P(now | was) / P(now)"""
        total = 0
        for (k, x), (_, y) in zip(self.views(was), self.views(now)):
            base = (self.out[k, y] + .5) / (self.n + 20)
            total += math.log((self.both[k, x, y] + 8 * base) / (self.of[k, x] + 8) / base)
        return total


def channels(a, seed):
    """learned of people of the outsider's own, under their own keys"""
    r, t = random.Random(seed), tables()
    given, last = Channel(), Channel()
    for key in range(2):
        people = [Person(r, t) for _ in range(3000)]
        notes = []
        for k, p in enumerate(people):
            name = f"{p.given} {p.one} {p.two}"
            notes.append({"id": f"{key}-{k}", "patient": f"own{k}", "catalan": k % 4 == 0, "text": f"Acude {name}, refiere que no mejoró del pie.", "spans": [(6, 6 + len(name))]})
        for p, (names, _) in zip(people, masked(a, notes, f"own {seed} {key}")):
            if names[0].startswith("["):
                continue
            g, rest = parse(names[0])
            given.learn(given_features(fold(p.raw[0])), given_features(g))
            for raw, w in zip(p.raw[1:], rest[-2:]):
                last.learn(last_features(fold(raw)), last_features(w))
    return given, last


def linkage(a):
    r = random.Random(a.seed)
    given, last = channels(a, a.seed + 500_000)
    notes, people = archive(a, a.seed, a.patients)
    seen = collections.defaultdict(lambda: (collections.Counter(), collections.Counter()))
    for n, (names, text) in zip(notes, masked(a, notes, a.seed)):
        at = 0
        for name in names:
            at = text.index(name, at)
            before, at = text[:at], at + len(name)
            if STAFF.search(before) or name.startswith("["):
                continue
            g, rest = parse(name)
            gs, ls = seen[n["patient"]]
            if g:
                gs[g] += 1
            for k, w in enumerate(rest[:2]):
                ls[w, k] += 1
    order = list(people)
    features = {p: [given_features(fold(x.raw[0])), last_features(fold(x.raw[1])), last_features(fold(x.raw[2]))] for p, x in people.items()}

    def score(p, c):
        gs, ls = seen[p]
        fg, f1, f2 = features[c]
        mix = lambda x: math.log(.6 * math.exp(min(x, 20)) + .4)  # others than the patient are named, too
        total = sum(mix(given.odds(fg, given_features(g))) for g in gs)
        return total + sum(mix(last.odds((f1, f2)[k], last_features(w))) for w, k in ls)

    scores = {p: {c: score(p, c) for c in order} for p in order}
    ranks = lambda truth: [1 + sum(s > scores[p][truth[p]] for s in scores[p].values()) + sum(scores[p][c] == scores[p][truth[p]] for c in order if c != truth[p]) / 2 for p in order]
    top = lambda rs: sum(x < 1.5 for x in rs)
    got = ranks({p: p for p in order})
    other = order[:]
    r.shuffle(other)
    by_chance = ranks(dict(zip(order, other)))
    with_sex = [sorted((-scores[p][c], c) for c in order if people[c].sex == people[p].sex) for p in order]
    alike = [1 + [c for _, c in s].index(p) for p, s in zip(order, with_sex)]
    drawn = sorted(statistics.median(r.choices(got, k=len(got))) for _ in range(400))
    tops = sorted(top(r.choices(got, k=len(got))) for _ in range(400))
    print(f"{a.policy}{', INE table' if a.table else ''}, seed {a.seed}: first guess right {top(got)} of {len(order)} ({tops[10]}-{tops[389]}), median rank {statistics.median(got):.0f} ({drawn[10]:.0f}-{drawn[389]:.0f}); "
          f"patients shuffled {top(by_chance)}, {statistics.median(by_chance):.0f}; among candidates of the same sex {sum(x == 1 for x in alike)}, median {statistics.median(alike):.0f} of {statistics.mean(map(len, with_sex)):.0f}", flush=True)


def tokens(name):
    return [w for w in re.findall(r"[^\W\d_]+", fold(name)) if len(w) > 2 and w not in ("del", "las", "los")]


def extract(a, notes, share, key):
    """mentions of a masked archive in which a share of the names is left"""
    r = random.Random(f"{key} {share}")
    left = []
    for n in notes:
        of = set()
        for k, (s, e) in enumerate(n["spans"]):
            last = (tokens(n["text"][s:e]) or [""])[-1]
            h = int(hashlib.sha256(f"{key} {n['patient']} {last}".encode()).hexdigest()[:8], 16)
            if r.random() < share / 2 or h < share / 2 * 2**32:
                of.add(k)
        left.append(of)
    back = masked(a, [{**n, "spans": [s for k, s in enumerate(n["spans"]) if k not in of]} for n, of in zip(notes, left)], key)
    out = []
    for i, (n, of, (names, _)) in enumerate(zip(notes, left, back)):
        it = iter(names)
        for k, (s, e) in enumerate(n["spans"]):
            value = n["text"][s:e] if k in of else next(it)
            if value[0] != "[":
                around = n["text"][:s] + n["text"][e:]
                out.append({"note": i, "patient": n["patient"], "name": value, "words": tokens(value), "left": k in of, "staff": bool(STAFF.search(n["text"][:s])), "accents": fold(around) != around.lower(), "catalan": n["catalan"]})
    return out


def step(x, *edges):
    return sum(x >= e for e in edges)


def describe(mentions, pool, drawn):
    t = tables()
    total = sum(t.last.values()) + sum(t.given.values())
    places, who = collections.defaultdict(set), collections.defaultdict(set)
    notes = collections.defaultdict(set)
    for m in mentions:
        notes[m["patient"]].add(m["note"])
        for w in m["words"]:
            places[m["patient"], w].add(m["note"])
            who[w].add(m["patient"])
    for m in mentions:
        ws, p = m["words"], m["patient"]
        again = sorted(len(places[p, w]) for w in ws) or [0]
        most = max(ws, key=lambda w: (len(places[p, w]), -len(who[w])), default="")
        spread = 0
        if len(places[p, most]) > 1:
            spread = step((max(places[p, most]) - min(places[p, most])) / max(1, max(notes[p]) - min(notes[p])), .2, .5, .8)
        a, b, others = step(again[-1], 2, 3, 4, 6, 9), step(again[0], 2, 3, 5), step(len(who[most]) if most else 0, 2, 3, 6, 15, 40)
        count = lambda w: t.last[w] + t.given[w]
        odds = [math.log2((count(w) + 20) / total * (drawn + 1) / (pool[w] + .3)) for w in ws] or [0]
        o, rare = step(max(odds), -4, -2, -1, -.5, 0, .5, 1, 1.5, 2, 3, 4, 6), step(min(map(count, ws), default=0), 1, 100, 1000, 10_000, 50_000, 200_000)
        never = sum(not pool[w] for w in ws)
        accents, style = fold(m["name"]) != m["name"].lower(), 2 if m["name"].isupper() else m["name"].islower()
        n = min(len(ws), 4)
        m["f"] = [("again", a, b), ("again", a, n, m["staff"]), ("others", others, a), ("spread", spread, a), ("odds", o), ("odds", o, n), ("rare", rare, step(min((pool[w] for w in ws), default=0), 1, 2, 4, 8)), ("rare", rare, never),
                  ("least", step(min(odds), -6, -4, -2, -1, 0, 1, 2)), ("accents", accents, m["accents"], style), ("n", n, m["staff"]), ("a/o", a, step(max(odds), 0, 1, 3)), ("share", step(again[-1] / len(notes[p]), .15, .3, .5, .7)),
                  ("ca", tuple(sorted(str(t.tongue(w)) for w in ws)), m["catalan"])]
    return mentions


def learn(mentions, r):
    w, g2 = collections.defaultdict(float), collections.defaultdict(lambda: 1e-8)
    left = [m for m in mentions if m["left"]]
    data = left + r.sample([m for m in mentions if not m["left"]], min(15 * len(left), len(mentions) - len(left)))
    for _ in range(12):
        r.shuffle(data)
        for m in data:
            g = 1 / (1 + math.exp(-max(-30, min(30, sum(w[f] for f in m["f"]))))) - m["left"]
            for f in m["f"]:
                d = g + 1e-3 * w[f]
                g2[f] += d * d
                w[f] -= .1 * d / math.sqrt(g2[f])
    return w


def leftovers(a):
    r = random.Random(a.seed)
    own, _ = archive(a, a.seed + 700_000, a.patients)
    pool = collections.Counter(w for k in range(a.runs) for m in extract(a, own, 0, f"pool {k}") for w in m["words"])
    drawn = sum(pool.values())
    w = learn([m for k in range(a.runs) for m in describe(extract(a, own, .05, f"learn {k}"), pool, drawn)], r)
    these, _ = archive(a, a.seed, a.patients)
    sums = collections.defaultdict(lambda: [0, 0, 0, 0])
    kinds = collections.Counter()
    for k in range(a.rounds):
        e = describe(extract(a, these, a.misses, f"{a.seed} round {k}"), pool, drawn)
        left = sum(m["left"] for m in e)
        tie = {id(m): r.random() for m in e}
        for m in e:
            sums[m["patient"]][0] += 1
            sums[m["patient"]][1] += m["left"]
        for m in sorted(e, key=lambda m: (-sum(w[f] for f in m["f"]), tie[id(m)]))[:left]:
            sums[m["patient"]][2] += 1
            sums[m["patient"]][3] += m["left"]
        for m in e:
            for f in m["f"]:
                kinds[f, m["left"]] += 1

    def lift(x):
        s = [sum(y) for y in zip(*x)]
        return s[3] / max(s[2], 1) / max(s[1] / max(s[0], 1), 1e-9), s
    rows = list(sums.values())
    got, s = lift(rows)
    again = sorted(lift(r.choices(rows, k=len(rows)))[0] for _ in range(400))
    print(f"{a.policy}{', INE table' if a.table else ''}, seed {a.seed}: {s[1]} of {s[0]} left over {a.rounds} rounds, {s[3]} of {s[2]} right: {got:.2f} times guessing ({again[10]:.2f}-{again[389]:.2f})", flush=True)
    if a.v:
        base = s[1] / s[0]
        for f in sorted(w, key=lambda f: -w[f])[:a.v]:
            n = kinds[f, True] + kinds[f, False]
            print(f"  {f}: weight {w[f]:.2f}, {n} mentions, {kinds[f, True] / max(n, 1) / base:.1f} times guessing")


def kept(a):
    """sex of a given name, language of a surname; half of the surnames are drawn of Barcelona's"""
    r, t = random.Random(a.seed), tables()
    city = [(n, f) for n, f in table("cognoms-barcelona/cognoms-bcn-2024.tsv.gz", "cognom", "valor", "\t")]
    notes, was = [], []
    for k in range(12_000):
        sex, catalan = r.randrange(2), k % 2 == 1
        given, last = t.draw(r, t.by_sex[sex]), t.draw(r, city if catalan else t.surnames)
        name = f"{written(given)} {written(last)}"
        text = f"Avui ve {name} per control, és a casa amb la mare." if catalan else f"Acude {name} a la consulta con sus hijos, mejoría."
        notes.append({"id": str(k), "patient": f"k{k}", "catalan": catalan, "text": text, "spans": [(text.index(name), text.index(name) + len(name))]})
        was.append((fold(given), fold(last), sex))
    same, known, tongue, told = 0, 0, 0, 0
    often = ([], [])
    for (g, l, sex), (names, _) in zip(was, masked(a, notes, f"kept {a.seed}")):
        g2, l2 = parse(names[0])
        m, f = t.sex.get(g, (0, 0))
        if max(m, f) > 20 * min(m, f) and (f > m) == bool(sex):
            m, f = t.sex.get(g2) or t.sex.get(g2.split(" ")[0]) or (0, 0)
            if m + f:
                known += 1
                same += (f > m) == bool(sex)
        x, y = t.tongue(l), t.tongue(l2[-1]) if l2 else None
        if x is not None and y is not None:
            told += 1
            tongue += x == y
        if l2 and t.last[l] and t.last[l2[-1]]:
            often[0].append(math.log(t.last[l]))
            often[1].append(math.log(t.last[l2[-1]]))
    print(f"{a.policy}{', INE table' if a.table else ''}: sex {same / known:.4f} of {known}, language of surnames {tongue / told:.4f} of {told}, correlation of log frequency {statistics.correlation(*often):.3f}", flush=True)


RESEARCH = "surrogate strategy=markov; DATE=shift scope=patient days=3650; AGE=age over=89 class=5"


def marked():
    """real and invented notes with their spans: source, whose they are, text, [(start, end, label)]"""
    with gzip.open(os.path.join(DATA, "unlabelled-es-clinical", "nubes.jsonl.gz"), "rt", encoding="utf-8") as f:
        texts = {d["id"]: d["text"].split("\n") for d in map(json.loads, f)}
    for row in open(os.path.join(DATA, "labelled", "nubes-phi", "train.tsv"), encoding="utf-8"):
        f = row.rstrip("\n").split("\t")
        if row[0] != "#" and f[0] in texts and (f[2] or int(hashlib.sha256(row.encode()).hexdigest(), 16) % 5 == 0):
            spans = [s.split(":") for s in f[2].split()]
            yield "nubes-phi", f[0], texts[f[0]][int(f[1])], [(int(a), int(b), "SANITARY_CARD_ID" if c == "ID" else c) for c, a, b in spans]
    for d in map(json.loads, open(os.path.join(DATA, "labelled", "notes-voices", "train.jsonl"), encoding="utf-8")):
        yield "notes-voices", d["id"][:-3], d["text"], [(s["start"], s["end"], "SANITARY_CARD_ID" if s["label"] == "ID" else s["label"]) for s in d["spans"]]


def replaced(a, rows, key):
    """the notes with surrogates in place of the spans"""
    catalan = lambda t: len(re.findall(r"\b(amb|és|els|dels|per|i|una?|té|ha|al)\b", t)) > len(re.findall(r"\b(con|es|los|y|del|por|el|tiene|las|su)\b", t))
    only = set(a.only.split(",")) if a.only else None
    with tempfile.TemporaryDirectory(dir=a.work) as d:
        with open(d + "/in", "w", encoding="utf-8") as f:
            for k, (_, _, text, spans) in enumerate(rows):
                at = [0]
                for c in text:
                    at.append(at[-1] + len(c.encode()))
                given = [[at[s], at[e], c] for s, e, c in sorted(spans) if not only or c in only]
                f.write(json.dumps({"id": str(k), "text": text, "catalan": catalan(text), "spans": given}, ensure_ascii=False) + "\n")
        env = {**os.environ, "VELUM_LINES": d + "/in", "VELUM_LINES_OUT": d + "/out", "VELUM_LINES_POLICY": RESEARCH, "VELUM_LINES_KEY": key}
        subprocess.run([a.tool, "-test.run", "^TestLines$"], env=env, check=True, stdout=subprocess.DEVNULL)
        for (source, of, was, spans), row in zip(rows, map(json.loads, open(d + "/out", encoding="utf-8"))):
            places = [tuple(p) for p in row["spans"] or []]
            b = row["text"].encode()
            chars = [(len(b[:s].decode()), len(b[:e].decode()), c) for s, e, c in places if e > s]
            if only:  # what is left stands as far from the places as it stood from the spans
                given, left = sorted(s for s in spans if s[2] in only), [s for s in spans if s[2] not in only]
                moved = lambda s: sum((y[1] - y[0]) - (x[1] - x[0]) for x, y in zip(given, chars) if x[1] <= s)
                chars += [(s + moved(s), e + moved(s), c) for s, e, c in left]
            yield source, of, row["text"], sorted(chars)


def put(path, rows):
    with open(path, "w", encoding="utf-8") as f:
        for k, (_, _, text, spans) in enumerate(rows):
            f.write(json.dumps({"id": str(k), "text": text, "spans": [{"start": s, "end": e, "label": c} for s, e, c in spans]}, ensure_ascii=False) + "\n")


def crf(a):
    rows = [r for r in marked() if r[0].startswith(a.source)]
    counts = collections.defaultdict(lambda: [0] * 5)  # by source and document: gold; found and right of both
    kinds = collections.defaultdict(lambda: [0] * 5)
    for split in range(a.splits):
        out = [int(hashlib.sha256(f"{a.seed} {r[0]} {r[1]}".encode()).hexdigest(), 16) % a.splits == split for r in rows]
        with tempfile.TemporaryDirectory(dir=a.work) as d:
            held, learned = [r for r, o in zip(rows, out) if o], [r for r, o in zip(rows, out) if not o]
            put(d + "/held.jsonl", held)
            found = []
            for k, notes in enumerate((learned, list(replaced(a, learned, f"{a.seed} {split}")))):
                put(d + "/train.jsonl", notes)
                quiet = ["--quiet", "--profile", "primary-care"]
                subprocess.run([a.velum, "teach", "train", "--labels", "primary-care", "--kind", "crf", "--iterations", "60", "--train", d + "/train.jsonl", "--out", d + f"/{k}.velum", *quiet], check=True, stdout=subprocess.DEVNULL)
                subprocess.run([a.velum, "model", "tag", "--in", d + "/held.jsonl", "--from", "jsonl", "--to", "jsonl", "--out", d + "/tagged.jsonl", "--model", d + f"/{k}.velum", *quiet], check=True, stdout=subprocess.DEVNULL)
                by = {x["id"]: {(s["start"], s["end"], s["label"]) for s in x["spans"]} for x in map(json.loads, open(d + "/tagged.jsonl", encoding="utf-8"))}
                found.append([by[str(i)] for i in range(len(held))])
            for (source, of, _, spans), *both in zip(held, *found):
                for c in {s[2] for s in spans} | {s[2] for f in both for s in f}:
                    gold = {s for s in spans if s[2] == c}
                    for n in (counts[source, of], kinds[c]):
                        n[0] += len(gold)
                        for k, f in enumerate(both):
                            mine = {s for s in f if s[2] == c}
                            n[1 + 2 * k] += len(mine)
                            n[2 + 2 * k] += len(mine & gold)
    f1 = lambda n, k: 2 * n[2 + 2 * k] / max(n[0] + n[1 + 2 * k], 1)
    loss = lambda ns: (lambda n: f1(n, 0) - f1(n, 1))([sum(x) for x in zip(*ns)])
    r = random.Random(a.seed)
    for source in ("nubes-phi", "notes-voices", ""):
        ns = [n for (s, _), n in sorted(counts.items()) if s.startswith(source)]
        if not ns:
            continue
        n, drawn = [sum(x) for x in zip(*ns)], sorted(loss(r.choices(ns, k=len(ns))) for _ in range(1000))
        print(f"{source or 'both'}, seed {a.seed}{', ' + a.only if a.only else ''}: {n[0]} spans of {len(ns)} documents and writers; strict F1 {f1(n, 0):.4f}, from surrogates {f1(n, 1):.4f}: {loss(ns):+.4f} lost ({drawn[24]:+.4f} to {drawn[974]:+.4f})", flush=True)
    for c, n in sorted(kinds.items(), key=lambda x: -x[1][0]):
        print(f"  {c}: {n[0]} spans, {f1(n, 0):.4f}, {f1(n, 1):.4f}: {f1(n, 0) - f1(n, 1):+.4f}", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("do", choices=["linkage", "leftovers", "kept", "crf"])
    p.add_argument("--tool", required=True)
    p.add_argument("--policy", default="surrogate strategy=markov")
    p.add_argument("--table", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--patients", type=int, default=300)
    p.add_argument("--notes", type=int, default=12)
    p.add_argument("--misses", type=float, default=.01)
    p.add_argument("--rounds", type=int, default=15)
    p.add_argument("--runs", type=int, default=6)
    p.add_argument("--work", default="/tmp")
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--splits", type=int, default=3)
    p.add_argument("--only", default="")
    p.add_argument("--source", default="")
    p.add_argument("-v", type=int, default=0)
    a = p.parse_args()
    globals()[a.do](a)


if __name__ == "__main__":
    main()
