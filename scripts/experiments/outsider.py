#!/usr/bin/env python3
"""Tells real names from surrogates as an outsider would who has the public tables and velum: outsider.py [--generator notes|cards] [--seed 1]

Judges surrogates without a line of velum's own attacks. On an archive of attack.py names are left in rounds of their own (half in all
notes of a patient, half one by one), the others masked with another key each round (scripts/experiments/surrogates). Where names
stand is granted. What is seen of a mention: how its words come again (again), how rare they are in INE's and Barcelona's tables and
among surrogates that the outsider had velum write for an archive of their own (rare), how they are written (spelled), which form
the name has (form). Rules are judged as they are; a logistic regression learns on half of the patients of other rounds (patients),
and on an archive of the outsider's own, of other people (archive). Each points at as many mentions as were left. Needs numpy, pyarrow.
"""
import argparse, collections, functools, hashlib, math, os, random, re
import numpy as np
import attack, surrogates

fold, tokens = functools.cache(surrogates.fold), functools.cache(surrogates.tokens)
plain = functools.cache(attack.plain)


def archive_of(generator, seed, patients, notes):
    r = random.Random(seed)
    rows, gold = attack.made(argparse.Namespace(generator=generator, patients=patients, notes=notes), r)
    return [{"id": key, "patient": patient, "text": text, "spans": [(s["start"], s["end"], s["label"]) for s in g["spans"]]} for (key, patient, _, text), g in zip(rows, gold)]


def extract(notes, share, seed, a):
    """Mentions of names of a masked archive in which a share of the names is left."""
    r = random.Random(seed)
    salt = str(seed).encode()
    left = []
    for n in notes:
        of = set()
        for k, (s, e, c) in enumerate(n["spans"]):
            words = tokens(n["text"][s:e])
            key = hashlib.sha256(salt + (n["patient"] + " " + (words[-1] if words else "")).encode()).digest()
            by_name = int.from_bytes(key[:8], "big") < share / 2 * 2**64
            if c == "PERSON" and (r.random() < share / 2 or by_name):
                of.add(k)
        left.append(of)
    back = surrogates.masked([{**n, "spans": [s for k, s in enumerate(n["spans"]) if k not in of]} for n, of in zip(notes, left)], a.operator, seed, a.work, a.names)
    mentions = []
    for i, (n, of, (text, places)) in enumerate(zip(notes, left, back)):
        it = iter(places)
        around = "".join(n["text"][x:y] for x, y in zip([0] + [e for _, e, _ in n["spans"]], [s for s, _, _ in n["spans"]] + [len(n["text"])]))
        for k, (s, e, c) in enumerate(n["spans"]):
            if c not in ("PERSON", "LOCATION"):
                continue
            value = n["text"][s:e] if k in of else next(it)[0]
            if c == "PERSON" and not value.startswith("["):
                before = n["text"][:s]
                mentions.append({"note": i, "patient": n["patient"], "name": value, "words": tokens(value), "left": k in of, "around": around,
                                 "staff": bool(attack.STAFF.search(before[-24:]))})
    return mentions


class Outsider:
    """What is known beforehand: the tables, and surrogates by word."""

    def __init__(self, own, a):
        t = surrogates.Tables()
        self.people, self.barcelona = collections.Counter(), t.in_barcelona
        for n, f in t.surnames + t.men + t.women:
            for w in tokens(n):
                self.people[w] += f
        self.total = sum(self.people.values())
        self.city = collections.Counter()
        for n, f in t.barcelona:
            for w in tokens(n):
                self.city[w] += f
        self.city_total = sum(self.city.values())
        self.pairs = {" ".join(tokens(n)) for n, _ in t.men + t.women}
        self.pool, self.accented = collections.Counter(), set()
        for k in range(a.runs):
            for m in extract(own, 0, 10_000 + k, a):
                self.pool.update(m["words"])
                self.accented |= {fold(w) for w in re.findall(r"[^\W\d_]+", m["name"]) if plain(w) != w}
        self.drawn = sum(self.pool.values())
        self.near = {w[:k] + w[k + 1:] for w in self.pool for k in range(len(w))}

    def known(self, w):
        """how rare a word is in both tables and among surrogates, and the odds of either"""
        real = (self.people[w] / self.total + self.city[w] / self.city_total + 2e-7) / 2
        fake = (self.pool[w] + .3) / (self.drawn + .3 * len(self.pool))
        return math.log2(self.people[w] + 1), math.log2(self.city[w] + 1), math.log2(self.pool[w] + 1), math.log2(real / fake)


def step(x, *edges):
    return sum(x >= e for e in edges)


KINDS = ("again", "rare", "spelled", "form")


def seen(mentions, o):
    """What is seen of each mention, by kind: small tuples, each a feature."""
    places, with_word, in_note, here = collections.defaultdict(set), collections.defaultdict(set), collections.Counter(), collections.Counter()
    whole = collections.defaultdict(set)
    order = collections.defaultdict(set)
    for m in mentions:
        order[m["patient"]].add(m["note"])
        whole[m["patient"], fold(m["name"])].add(m["note"])
        for w in m["words"]:
            places[m["patient"], w].add(m["note"])
            with_word[w].add(m["patient"])
            in_note[m["note"], w] += 1
            here[w] += 1
    for m in mentions:
        ws, p = m["words"], m["patient"]
        n = min(len(ws), 3)
        again = [len(places[p, w]) for w in ws] or [0]
        others = [len(with_word[w]) - 1 for w in ws] or [0]
        k = max(range(len(again)), key=lambda i: (again[i], -others[i]))
        spread = 0
        if again[k] > 1:
            at = places[p, ws[k]]
            spread = step((max(at) - min(at)) / max(1, max(order[p]) - min(order[p])), .2, .5, .8)
        most, least = step(max(again), 2, 3, 4, 5, 7, 9), step(min(again), 2, 3, 5)
        elsewhere = step(others[k], 1, 2, 4, 10, 30, 80)
        f = {"again": [("most", most), ("least", least, n), ("else", elsewhere), ("most else", most, elsewhere), ("spread", spread, most), ("share", step(again[k] / len(order[p]), .15, .3, .5, .7)),
                       ("whole", step(len(whole[p, fold(m["name"])]), 2, 3, 5), n), ("note", step(max([in_note[m["note"], w] for w in ws] or [0]), 2, 3), most), ("staff", m["staff"], most, elsewhere)]}
        known = [o.known(w) for w in ws]
        rare = [("none",)]
        if known:
            worst = max(known, key=lambda x: x[3])
            odds = step(worst[3], -4, -2, -1, -.5, 0, .5, 1, 1.5, 2, 3, 4, 6)
            rarest = min(known)
            rare = [("odds", odds), ("odds n", step(worst[3], -1, 0, 1, 2, 4), n), ("ine", step(rarest[0], 1, 5, 8, 10, 12, 14, 16, 18), ), ("city", step(min(x[1] for x in known), 1, 5, 7, 9)),
                    ("pool", step(worst[2], 1, 2, 3, 4, 6, 8)), ("ine pool", step(worst[0], 1, 7, 10, 13, 16), step(worst[2], 1, 2, 4, 6)), ("rarest pool", step(rarest[0], 1, 7, 10, 13, 16), step(rarest[2], 1, 2, 4, 6)),
                    ("least odds", step(min(x[3] for x in known), -6, -4, -2, -1, 0, 1, 2)), ("here", step(min(here[w] for w in ws), 2, 4, 8, 16), odds), ("length", step(max(map(len, ws)), 5, 7, 9, 11))]
        f["rare"] = rare
        style = 2 if m["name"].isupper() else 1 if m["name"].islower() else 0
        note = 2 if m["around"].isupper() else 1 if m["around"].islower() else 0
        marks = plain(m["name"]) != m["name"]
        could = any(fold(w) in o.accented and plain(w) == w for w in re.findall(r"[^\W\d_]+", m["name"]))
        here_marks = plain(m["around"]) != m["around"]
        odd = max([0 if o.people[w] or o.pool[w] else 1 + (w in o.near or any(w[:k] + w[k + 1:] in o.pool for k in range(len(w)))) for w in ws] or [0])
        f["spelled"] = [("style", style, note), ("marks", marks, could, here_marks), ("marks long", marks, could, here_marks, len(m["around"]) > 160, style == 2), ("odd", odd),
                        ("dot", "." in m["name"], n), ("enye", "ñ" in m["name"].lower(), "n" in m["name"].lower())]
        text = re.findall(r"[^\W\d_]+", m["name"])
        f["form"] = [("n", len(text), n), ("comma", "," in m["name"]), ("pair", len(ws) > 1 and " ".join(ws[:2]) in o.pairs, n), ("twice", len(set(ws)) < len(ws)), ("short", step(len(m["name"]), 2, 3, 4, 6, 9, 13, 20)), ("staff", m["staff"])]
        m["f"] = f


class Regression:
    """Logistic, of features that are there or not, with a penalty (Newton's method)."""

    def __init__(self, x, left, columns, penalty=3.):
        self.columns = columns
        x, y = x[:, columns], np.array(left, np.float32)
        share = y.mean()
        self.w = np.zeros(x.shape[1], np.float32)
        self.w[0] = math.log(share / (1 - share))
        lam = np.full(x.shape[1], penalty, np.float32)
        lam[0] = 1e-3
        for _ in range(15):
            p = 1 / (1 + np.exp(-np.clip(x @ self.w, -30, 30)))
            h = (x * (p * (1 - p))[:, None]).T @ x + np.diag(lam)
            d = np.linalg.solve(h, x.T @ (y - p) - lam * self.w)
            self.w += d * min(1, 1.5 / abs(d).max())  # a longer step goes astray
            if abs(d).max() < 1e-3:
                break

    def score(self, x):
        return x[:, self.columns] @ self.w


class Features:
    """Numbers of those that come twenty times."""

    def __init__(self, mentions):
        count = collections.Counter((k, x) for m in mentions for k in KINDS for x in m["f"][k])
        self.all = sorted((x for x, c in count.items() if c >= 20), key=repr)
        self.number = {x: i + 1 for i, x in enumerate(self.all)}

    def matrix(self, mentions):
        x = np.zeros((len(mentions), len(self.number) + 1), np.float32)
        x[:, 0] = 1
        for i, m in enumerate(mentions):
            x[i, [n for n in (self.number.get((k, f)) for k in KINDS for f in m["f"][k]) if n]] = 1
        return x

    def of(self, kinds):
        return np.array([0] + [i + 1 for i, (k, _) in enumerate(self.all) if k in kinds])


def judge(rounds, scores, r):
    """times guessing with the interval, patients named a round, guessing's: patients drawn again"""
    number = {p: i for i, p in enumerate(sorted({m["patient"] for e in rounds for m in e}))}
    sums = np.zeros((len(number), 4))  # all, left, pointed, right
    named, chance = 0, 0
    for e, s in zip(rounds, scores):
        for m in e:
            sums[number[m["patient"]]][:2] += 1, m["left"]
        left = sum(m["left"] for m in e)
        for which, order in enumerate((sorted(range(len(e)), key=lambda i: (-s[i], r.random()))[:left], r.sample(range(len(e)), left))):
            balance = collections.Counter()
            for i in order:
                balance[e[i]["patient"]] += 1 if e[i]["left"] else -1
                if not which:
                    sums[number[e[i]["patient"]]][2:] += 1, e[i]["left"]
            n = sum(b >= 0 for b in balance.values())
            named, chance = named + n * (not which), chance + n * which

    def lift(x):
        return x[3] / max(x[2], 1) / max(x[1] / max(x[0], 1), 1e-9)
    rng = np.random.default_rng(1)
    drawn = sorted(lift(sums[rng.integers(0, len(sums), len(sums))].sum(0)) for _ in range(400))
    return lift(sums.sum(0)), drawn[10], drawn[389], named / len(rounds), chance / len(rounds)


def rule(name, rounds, pick):
    chosen = [m for e in rounds for m in e if pick(m)]
    every = sum(len(e) for e in rounds)
    left = sum(m["left"] for e in rounds for m in e)
    right = sum(m["left"] for m in chosen)
    print(f"rule: {name:44} {len(chosen) / len(rounds):7.1f} a round, {right:4} right, times guessing {right / max(1, len(chosen)) / (left / every):.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--generator", choices=["notes", "cards"], default="notes")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--patients", type=int, default=300)
    p.add_argument("--notes", type=int, default=12)
    p.add_argument("--misses", type=float, default=.01)
    p.add_argument("--rounds", type=int, default=40)
    p.add_argument("--runs", type=int, default=10, help="of velum on the outsider's own archive, and rounds to learn of")
    p.add_argument("--learn", type=float, default=.05, help="share of the names left in these")
    p.add_argument("--operator", default="surrogate strategy=markov")
    p.add_argument("--table", action="store_true", help="the house gives velum INE's table of names (mask.names)")
    p.add_argument("--work", default="/tmp")
    p.add_argument("--weights", type=int, default=0, help="print so many features that tell most")
    a = p.parse_args()
    a.names = attack.table_of_names(os.path.join(a.work, "names.csv")) if a.table else None
    own = archive_of(a.generator, a.seed + 500_000, a.patients, a.notes)
    o = Outsider(own, a)
    these = archive_of(a.generator, a.seed, a.patients, a.notes)
    rounds = [extract(these, a.misses, a.seed * 1000 + k, a) for k in range(a.rounds)]
    learned = {name: [extract(notes, a.learn, a.seed * 1000 + at + k, a) for k in range(a.runs)] for at, (name, notes) in zip((500, 700), (("patients", these), ("archive", own)))}
    for e in rounds + learned["patients"] + learned["archive"]:
        seen(e, o)
    every = sum(len(e) for e in rounds)
    left = sum(m["left"] for e in rounds for m in e)
    print(f"{a.generator}, seed {a.seed}: {len(rounds)} rounds, {every} mentions, {left} left ({left / every:.4f}); {o.drawn} words of surrogates known")
    rule("a word in two notes of the patient", rounds, lambda m: m["f"]["again"][0][1] >= 1)
    rule("a word in five notes of the patient", rounds, lambda m: m["f"]["again"][0][1] >= 4)
    rule("no word in two notes of the patient", rounds, lambda m: m["f"]["again"][0][1] == 0)
    rule("in INE's tables, never a surrogate", rounds, lambda m: any(o.people[w] and not o.pool[w] for w in m["words"]))
    rule("in no table of INE", rounds, lambda m: any(not o.people[w] for w in m["words"]))
    rule("in no table, no surrogate", rounds, lambda m: any(not o.people[w] and not o.pool[w] for w in m["words"]))
    rule("accents where the note has none", rounds, lambda m: m["f"]["spelled"][1][1] and not m["f"]["spelled"][1][3])
    rule("none where the note and others have", rounds, lambda m: m["f"]["spelled"][1][2:] == (True, True))
    flat = {name: [m for e in es for m in e] for name, es in learned.items()}
    features = Features(flat["archive"])
    x = {name: features.matrix(ms) for name, ms in flat.items()}
    y = {name: np.array([m["left"] for m in ms]) for name, ms in flat.items()}
    half = lambda ms: np.array([int(m["patient"][1:]) % 2 for m in ms])
    side = half(flat["patients"])
    ours = [features.matrix(e) for e in rounds]
    halves = [half(e) for e in rounds]
    for kinds in [(k,) for k in KINDS] + [KINDS]:
        columns = features.of(kinds)
        by_patient = [Regression(x["patients"][side == 1 - s], y["patients"][side == 1 - s], columns) for s in (0, 1)]
        by_archive = Regression(x["archive"], y["archive"], columns)
        scores = {"patients": [np.where(h == 0, by_patient[0].score(m), by_patient[1].score(m)) for h, m in zip(halves, ours)], "archive": [by_archive.score(m) for m in ours]}
        for learner, s in scores.items():
            got, low, high, named, chance = judge(rounds, s, random.Random(1))
            print(f"{'+'.join(kinds):26} learned on {learner:9} times guessing {got:.2f} ({low:.2f}-{high:.2f}), patients named {named:.1f} (guessing {chance:.1f})", flush=True)
        if a.weights and len(kinds) == 1:
            every = np.concatenate(ours)
            real = np.array([m["left"] for e in rounds for m in e])
            top = np.concatenate([np.isin(np.arange(len(m)), np.argsort(-s, kind="stable")[:sum(z["left"] for z in e)]) for m, s, e in zip(ours, scores["archive"], rounds)])
            rows = []
            for c in columns[1:]:
                at = every[:, c] > 0
                if at.sum() >= 20:
                    rows.append(((at & top).sum(), at.sum(), (at & real).sum(), features.all[c - 1]))
            for pointed, n, r, f in sorted(rows, key=lambda z: -z[0])[:a.weights]:
                print(f"   {f}: {n / len(rounds):.1f} a round, {r / left:.3f} of those left, times guessing {r / n / real.mean():.2f}, pointed at {pointed / len(rounds):.1f}")


if __name__ == "__main__":
    main()
