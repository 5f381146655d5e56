#!/usr/bin/env python3
"""The models of the five papers by name, trained on MEDDOCAN train and notes-voices train and measured on their dev parts as the papers measured theirs:
papers.py [--only ROW...] [--table]. Each model and each measure stays in --work, so a run that was stopped goes on; --table prints what there is."""
import argparse, gzip, hashlib, json, os, re, subprocess

SHARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")
DATA = os.environ.get("VELUM_DATA", os.path.join(SHARED, "data"))
VOICES = ["--map", "ID=SANITARY_CARD_ID"]
CORPORA = {  # train, dev, options of both, label set
    "m": ("meddocan/train", "meddocan/dev", [], "primary-care"),  # in seven labels: 22 cost nine times the time
    "v": ("labelled/notes-voices/train.jsonl", "labelled/notes-voices/dev.jsonl", VOICES, "primary-care"),
    "m33": ("@meddocan/train:33", "meddocan/dev", [], "primary-care"),  # few labels, as BOOT's 331 notes
    "m100": ("@meddocan/train:100", "meddocan/dev", [], "primary-care"),  # networks: a minute of a core each and not five
    "v331": ("@labelled/notes-voices/train.jsonl:331", "labelled/notes-voices/dev.jsonl", VOICES, "primary-care"),
    "vrules": ("@rules:labelled/notes-voices/train.jsonl:331", "labelled/notes-voices/dev.jsonl", VOICES, "primary-care"),  # as BOOT's DIP-2.0: notes in which rules find a person or a place
}
CRF = ["--kind", "crf", "--iterations", "60"]
NET = ["--kind", "bilstm", "--set", "network.vectors={words}"]
BOOT = {"w": "word border", "wc": "cluster/wc", "lm": "lemma", "mph": "hasdigit prefix3 prefix4 suffix3 suffix4", "pos": "pos", "c": "capitals"}  # as configs/templates/boot.txt has them


def boot(groups, clusters=()):
    lines = [f"{group} -3..3" for name in ["w", *groups.split()] for group in BOOT[name].split()]
    return CRF + ["--template-text", "\n".join(["version 1", "sequence sentence", *lines, ""])] + (["--set", "train.clusters=" + ",".join("wc=" + c for c in clusters)] if clusters else [])


ONE, ALL = ["{lower}:1024"], ["{words}:128", "{words}:1024", "{lower}:128", "{lower}:1024", "{fold}:128", "{fold}:1024"]
INV = ["--kind", "inverse", "--learner", "bilstm", "--epochs", "4", "--set", "network.vectors={words}"]
DEEP = lambda th: ["--set", "inverse.dial=1", "--set", f"inverse.low={th}", "--set", f"inverse.high={th}", "--set", "inverse.never=[]"]
PAIR = lambda low, high: ["--set", "inverse.dial=1", "--set", f"inverse.low={low}", "--set", f"inverse.high={high}"]
MODELS = {
    "ngrid-crf": CRF + ["--template", "ngrid", "--scheme", "BIOESU", "--set", "train.min_count=4", "--l2", "0.1"],
    "ngrid": NET + ["--variant", "ngrid", "--scheme", "BIOESU", "--epochs", "12"],
    "ngrid-mix": ["--kind", "ensemble", "--members", "{ngrid-crf},{ngrid}", "--mode", "mean", "--scheme", "BIOESU"],
    "vigi-crf": CRF + ["--template", "vigi"],
    "vigi-net": CRF + ["--template", "vigi", "--l1", "0.13", "--l2", "0.87"],
    "vigi-svm": ["--kind", "svm", "--template", "vigi"],
    "vigi-both": ["--kind", "ensemble", "--members", "{vigi-crf},{vigi-svm}", "--mode", "priority"],
    "boot-1": boot("lm mph c"), "boot-2": boot("lm mph pos c"), "boot-3": boot("wc lm mph pos c", ONE), "boot-4": boot("wc lm mph pos c", ALL),
    "boot-5": boot("wc lm c", ALL), "boot-6": boot("wc c", ONE), "boot-7": boot("wc c", ALL), "boot-8": boot("wc", ONE), "boot-9": boot("wc", ALL),
    "boot": NET + ["--variant", "boot"], "fhu": NET + ["--variant", "fhu"], "ls": NET + ["--variant", "ls"],
    "a-1": INV + ["--variant", "a-1"], "c-1": INV + ["--variant", "c-1"], "b-1": INV + ["--variant", "b-1"], "d-2": INV + ["--variant", "d-2", "--seed", "2"],
    "binary": ["--kind", "dictionary", "--method", "binary", "--gazetteer", "{names}"],
    "divergence": ["--kind", "dictionary", "--method", "divergence", "--gazetteer", "{names}"],
    "words": ["--kind", "words", "--min-patients", "0", "--min-count", "20"],
    "rules-only": ["--kind", "inverse", "--words", "{words-list}"],
}
# Self-learning (BOOT 3.2.1): three turns over the notes of the corpus that the model did not begin with, the model of the last turn.
SELF = ["--turns", "3", "--slice", "1600", "--k", "400", "--set", "train.iterations=60"]
for name in ("boot-1", "boot-3"):
    MODELS["self-" + name[-1]] = SELF + MODELS[name][4:]
    alone = MODELS["alone-" + name[-1]] = SELF + MODELS[name][4:] + ["--start", "{divergence}", "--min-confidence", "0.5"]
    # Names that no list has stand as O in what is learned: an O is worth less then.
    MODELS[f"alone-{name[-1]}-bias"] = [x.replace("sequence sentence\n", "sequence sentence\nbias\n") for x in alone] + ["--set", "train.bias=1"]
PL = ["PERSON", "LOCATION"]
ROWS = [  # paper, row, theirs, model, corpora, measure, options of evaluate
    ("BOOT 3.2", "INE's names, binary: precision, recall", ".113, .564", "binary", ("v", "m"), "PERSON", []),
    ("BOOT 3.2", "INE's names, divergence: precision, recall", ".636, .300", "divergence", ("v", "m"), "PERSON", []),
    ("BOOT 4.3", "CRF (lm, mph, c)", ".567 / .364 / .446", "boot-1", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "CRF (lm, mph, pos, c)", ".560 / .323 / .419", "boot-2", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "CRF (wc, lm, mph, pos, c)", ".674 / .564 / .604", "boot-3", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "CRF (∀wc, lm, mph, pos, c)", ".686 / .409 / .505", "boot-4", ("v331",), "pl", []),
    ("BOOT 4.3", "CRF (∀wc, lm, c)", ".686 / .420 / .515", "boot-5", ("v331",), "pl", []),
    ("BOOT 4.3", "CRF (wc, c)", ".644 / .518 / .563", "boot-6", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "CRF (∀wc, c)", ".702 / .459 / .541", "boot-7", ("v331",), "pl", []),
    ("BOOT 4.3", "CRF (wc)", ".697 / .438 / .525", "boot-8", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "CRF (∀wc)", ".745 / .435 / .538", "boot-9", ("v331",), "pl", []),
    ("BOOT 4.3", "BiLSTM-CRF", ".533 / .436 / .494", "boot", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "BiLSTM-CRF (fhu)", ".634 / .458 / .531", "fhu", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "BiLSTM-CRF (ls)", ".529 / .323 / .423", "ls", ("v331", "m33"), "pl", []),
    ("BOOT 4.3", "after self-learning: CRF (lm, mph, c)", ".569 / .439 / .488", "self-1", ("v331",), "pl", []),
    ("BOOT 4.3", "after self-learning: CRF (wc, lm, mph, pos, c)", ".696 / .585 / .619", "self-3", ("v331",), "pl", []),
    ("BOOT 4.4", "notes that rules found: CRF (lm, mph, c)", ".612 / .585 / .597", "boot-1", ("vrules",), "pl", []),
    ("BOOT 4.4", "after self-learning: CRF (lm, mph, c)", ".597 / .610 / .609", "self-1", ("vrules",), "pl", []),
    ("BOOT 4.4", "after self-learning: CRF (wc, lm, mph, pos, c)", ".721 / .696 / .707", "self-3", ("vrules",), "pl", []),
    ("BOOT 4.5", "PERSON by INE's names alone, divergence", ".527", "divergence", ("v",), "person", []),
    ("BOOT 4.5", "after self-learning: CRF (lm, mph, c)", ".550", "alone-1", ("v",), "person", []),
    ("BOOT 4.5", "after self-learning: CRF (wc, lm, mph, pos, c)", "", "alone-3", ("v",), "person", []),
    ("BOOT 4.5", "CRF (lm, mph, c), O worth 1 less", "", "alone-1-bias", ("v",), "person", []),
    ("BOOT 4.5", "CRF (wc, lm, mph, pos, c), O worth 1 less", "", "alone-3-bias", ("v",), "person", []),
    ("NGRID 4", "CRF: strict, relaxed, token", ".880, .881, .907", "ngrid-crf", ("v", "m"), "ngrid", []),
    ("NGRID 4", "LSTM: strict, relaxed, token", ".899, .900, .922", "ngrid", ("v", "m100"), "ngrid", []),
    ("NGRID 7.1", "both mixed: strict, relaxed, token", ".857, .862, .898", "ngrid-mix", ("v", "m100"), "ngrid", []),
    ("VIGI 10", "expressions: strict F1 of dates, ages", ".935, .857", "rules", ("v", "m"), "dates", []),
    ("VIGI 11, 13", "CRF: strict, covering, overlapping", ".810, .819, .898; .912, .915, .922", "vigi-crf", ("v", "m"), "vigi", []),
    ("VIGI 15", "CRF, elastic net", ".882, .891, .914", "vigi-net", ("v", "m"), "vigi", []),
    ("VIGI 12, 14", "SVM", ".893, .897, .915; .917, .920, .968", "vigi-svm", ("v", "m"), "vigi", []),
    ("VIGI 5.8", "CRF before SVM", "", "vigi-both", ("v", "m"), "vigi", []),
    ("ATN 3", "rules that ship, all categories, overlap: precision, recall", ".489, .702", "rules", ("v", "m"), "atn", []),
    ("ATN 3", "PERSON, ours strict: precision, recall", ".445, .772", "rules", ("v", "m"), "PERSON", []),
    ("ATN 3", "LOCATION, ours strict: precision, recall", ".809, .371", "rules", ("v", "m"), "LOCATION", []),
    ("INV 5.3", "rules alone: token recall, precision", ".988, .117", "rules-only", ("v", "m"), "inv", ["--set", "inverse.dial=1"]),
    *(("INV 5.2", f"{n}, network alone at {th}", theirs, n, ("v", "m100"), "inv", DEEP(th)) for n, th, theirs in [
        ("b-1", .8, ".971, .713"), ("b-1", .9, ".983, .568"), ("b-1", .95, ".991, .498"), ("d-2", .8, ".971, .697"), ("d-2", .9, ".984, .586"), ("d-2", .95, ".990, .482")]),
    *(("INV 5.2", f"{n}, network alone at {th}", theirs, n, ("m100",), "inv", DEEP(th)) for n, th, theirs in [
        ("a-1", .8, ".946, .680"), ("a-1", .9, ".971, .571"), ("a-1", .95, ".985, .470"), ("c-1", .8, ".951, .665"), ("c-1", .9, ".977, .550"), ("c-1", .95, ".977, .550")]),
    ("INV 5.1", "a-1, adaptive .9 and .95", ".985, .493", "a-1", ("m100",), "inv", PAIR(.9, .95)),
    ("INV 5.1", "c-1, adaptive .9 and .95", ".987, .464", "c-1", ("m100",), "inv", PAIR(.9, .95)),
    ("INV 5.1", "b-1, adaptive .9 and .95", ".991, .518", "b-1", ("v", "m100"), "inv", PAIR(.9, .95)),
    ("INV 5.1", "d-2, adaptive .9 and .95", ".990, .505", "d-2", ("v", "m100"), "inv", PAIR(.9, .95)),
    *(("INV 5.8", f"d-2 of another corpus, {what}, adaptive {low} and {high}", theirs, n, ("v",), "inv", PAIR(low, high)) for n, what, low, high, theirs in [
        ("d-2-m", "as it is", .8, .9, ".901, .347"), ("d-2-m", "as it is", .9, .95, ".929, .285"), ("d-2-1", "one pass more", .8, .9, ".979, .550"),
        ("d-2-1", "one pass more", .9, .95, ".981, .389"), ("d-2-2", "two passes more", .8, .9, ".983, .570"), ("d-2-2", "two passes more", .9, .95, ".990, .455")]),
]
# Trained on MEDDOCAN in the labels of notes-voices, then fine-tuned on notes-voices.
MODELS["d-2-m"] = MODELS["d-2"]
MODELS["d-2-1"] = MODELS["d-2"][:4] + ["--variant", "d-2", "--seed", "2", "--init", "{d-2-m}", "--epochs", "1"]
MODELS["d-2-2"] = MODELS["d-2-1"][:-1] + ["2"]


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--work", default="out/papers")
    p.add_argument("--only", nargs="*", help="corpora (v, m, v331, m33, m100) and models; all by default")
    p.add_argument("--table", action="store_true", help="measure nothing, print the table")
    lab = Lab(p.parse_args())
    lab.fill()
    print(lab.table())


class Lab:
    def __init__(self, a):
        self.a = a
        os.makedirs(a.work, exist_ok=True)

    def path(self, name):
        return os.path.join(self.a.work, name)

    def run(self, *args):
        r = subprocess.run(["nice", self.a.velum, *args], capture_output=True, text=True)
        if r.returncode:
            raise SystemExit(f"velum {' '.join(args)}\n{r.stderr[-800:]}")
        return r.stdout

    def few(self, spec):
        """The first notes of a corpus, evenly spread: @PATH:N."""
        if not spec.startswith("@"):
            return os.path.join(DATA, spec)
        path, n = spec[1:].removeprefix("rules:").rsplit(":", 1)
        out = self.path(hashlib.sha1(spec.encode()).hexdigest()[:8])
        source, n = os.path.join(DATA, path), int(n)
        if os.path.isdir(source):
            os.makedirs(out, exist_ok=True)
            names = sorted({f[:-4] for f in os.listdir(source) if f.endswith(".txt")})
            for k in range(n):
                for end in (".txt", ".ann"):
                    link = os.path.join(out, names[k * len(names) // n] + end)
                    if not os.path.lexists(link):
                        os.symlink(os.path.abspath(os.path.join(source, os.path.basename(link))), link)
            return out
        lines = open(source, encoding="utf-8").readlines()
        if spec.startswith("@rules:"):
            self.run("model", "tag", "--model", "rules", "--profile", "primary-care", "--in", source, "--to", "jsonl", "--out", out + ".found")
            found = {d["id"] for d in map(json.loads, open(out + ".found", encoding="utf-8")) if any(s["label"] in PL for s in d["spans"])}
            lines = [line for line in lines if json.loads(line)["id"] in found]
        with open(out + ".jsonl", "w", encoding="utf-8") as f:
            f.writelines(lines[k * len(lines) // n] for k in range(n))
        return out + ".jsonl"

    def vectors(self, how):
        """Vectors and clusters of the words of both train parts, without their labels."""
        out = self.path(how + ".vectors")
        if not os.path.exists(out):
            texts = self.path("texts.txt")
            with open(texts, "w", encoding="utf-8") as f:
                folder = os.path.join(DATA, "meddocan/train")
                for name in sorted(os.listdir(folder)):
                    if name.endswith(".txt"):
                        f.write(open(os.path.join(folder, name), encoding="utf-8").read() + "\n")
                for line in open(os.path.join(DATA, CORPORA["v"][0]), encoding="utf-8"):
                    f.write(json.loads(line)["text"].replace("\n", " ") + "\n")
            self.run("teach", "embed", "--in", texts, "--from", "lines", "--normalization", {"words": "form"}.get(how, how), "--clusters", "128,1024", "--workers", "1", "--out", out)
        return out

    def names(self):
        """The names that INE counts: given names, surnames."""
        out, lists = self.path("names.velum"), []
        if not os.path.exists(out):
            for name in ("hombres", "mujeres", "apellidos"):
                lists.append(self.path(name + ".csv"))
                with gzip.open(os.path.join(DATA, "gazetteers/names-es-ine", name + ".csv.gz")) as f, open(lists[-1], "wb") as to:
                    to.write(f.read())
            self.run("teach", "gazetteer", "build", "--out", out, ",".join(lists[:2]), lists[2])
        return out

    def model(self, corpus, name):
        if name == "rules":
            return name
        out = self.path(f"{corpus}-{name}.velum")
        if os.path.exists(out):
            return out
        train, dev, options, labels = CORPORA[{"d-2-m": "m"}.get(name, corpus)]
        args, known = list(MODELS[name]), lambda m: self.vectors(m[1]) if m[1] in ("words", "lower", "fold") else self.names() if m[1] == "names" else self.model(corpus, {"words-list": "words"}.get(m[1], m[1]))
        if "--template-text" in args:
            i, file = args.index("--template-text"), self.path(name + ".txt")
            with open(file, "w", encoding="utf-8") as f:
                f.write(args[i + 1])
            args[i:i + 2] = ["--template", file]
        args = [re.sub(r"\{([^}]*)\}", known, x) for x in args]
        if SELF[0] in args:
            return self.taught(corpus, name, args, out)
        unlabelled = name in ("words", "binary", "divergence")
        i = next((i for i, x in enumerate(args) if x.startswith("train.clusters=") and "," in x), 0)
        if i:  # ∀wc: the best of all in three folds
            said = self.run("teach", "study", "grid", "--json", "--gold", self.few(train), "--labels", CORPORA[corpus][3], *options, "--k", "3", "--draws", "100", "--workers", "1", "--out", out + ".study",
                "--template", args[args.index("--template") + 1], "--iterations", "60", "--vary", args[i])
            args[i] = next(p["at"] for p in json.loads(said)["points"] if p.get("taken"))
        notes = ["--archive" if unlabelled else "--train", self.few(dev if "ensemble" in args else train)]
        if name == "rules-only":
            notes = []
        if not unlabelled and name != "rules-only":
            notes += ["--labels", CORPORA[corpus][3], *options]
        self.run("teach", "train", *args, *notes, "--workers", "1", "--out", out)
        return out

    def taught(self, corpus, name, args, out):
        """Self-learning on the rest of the corpus; the model of the last turn."""
        train, dev, options, labels = CORPORA[corpus]
        gold = [] if "--start" in args else ["--gold", self.few(train)]
        begun = {json.loads(line)["id"] for path in gold[1:] for line in open(path, encoding="utf-8")}
        folder, archive = out + ".turns", out + ".archive"
        os.makedirs(archive, exist_ok=True)
        with open(os.path.join(archive, "notes.jsonl"), "w", encoding="utf-8") as f:
            for d in map(json.loads, open(os.path.join(DATA, CORPORA["v"][0]), encoding="utf-8")):
                if d["id"] not in begun:
                    f.write(json.dumps({"id": d["id"], "text": d["text"]}, ensure_ascii=False) + "\n")
        self.run("teach", "learn", "--in", archive, *gold, "--dev", os.path.join(DATA, dev), "--labels", labels, *options, *args, "--workers", "1", "--out", folder)
        os.replace(os.path.join(folder, max(x for x in os.listdir(folder) if x.startswith("turn-")), "model.velum"), out)
        return out

    def fill(self):
        for i, (_, row, _, name, corpora, measure, options) in enumerate(ROWS):
            for corpus in corpora:
                file = self.measured(i, corpus)
                wanted = all(not set(self.a.only or ()) & set(all_) or one in self.a.only for one, all_ in ((corpus, CORPORA), (name, [r[3] for r in ROWS])))
                if self.a.table or os.path.exists(file) or not wanted:
                    continue
                _, dev, more, _ = CORPORA[corpus]
                said = self.run("prove", "evaluate", "--json", *(["--dial"] if measure == "inv" else ["--draws", "-1"]), "--gold", os.path.join(DATA, dev), "--model", self.model(corpus, name), *(more or ([] if measure == "inv" else ["--categories", CORPORA[corpus][3]])), *options)
                with open(file, "w", encoding="utf-8") as f:
                    f.write(said)
                print(f"{corpus}: {row}: {self.figure(i, corpus)}", flush=True)

    def measured(self, i, corpus):
        paper, row, *_ = ROWS[i]
        return self.path(f"{corpus}-{hashlib.sha1((paper + row).encode()).hexdigest()[:10]}.json")

    def figure(self, i, corpus):
        file = self.measured(i, corpus)
        if corpus not in ROWS[i][4] or not os.path.exists(file):
            return ""
        r = json.loads(open(file, encoding="utf-8").read().splitlines()[-1])
        short = lambda *xs: ", ".join(f"{x:.3f}".removeprefix("0") for x in xs)
        if "positions" in r:  # words, with a letter or digit, as INV §5.1 counts them
            return short(r["positions"][-1]["hipaa_word_recall"], r["positions"][-1]["word_precision"])
        m = {x["name"]: x for x in r["measures"]}
        c = {x["category"]: x for x in r["categories"]}
        f1 = lambda *names: sum(2 * c[n]["right"] for n in names if n in c) / max(1, sum(c[n]["gold"] + c[n]["system"] for n in names if n in c))
        return {
            **{n: lambda n=n: short(c[n]["precision"], c[n]["recall"]) for n in PL},
            "person": lambda: short(f1("PERSON")),
            "pl": lambda: short(*(f1(n) for n in PL), f1(*PL)).replace(", ", " / "),
            "ngrid": lambda: short(*(m[n]["f1"] for n in ("strict", "relaxed", "tokens"))),
            "vigi": lambda: short(*(m[n]["f1"] for n in ("strict", "covering", "overlapping"))),
            "dates": lambda: short(f1("DATE", "FECHAS"), f1("AGE", "EDAD_SUJETO_ASISTENCIA")),
            "atn": lambda: short(m["overlapping"]["precision"], m["overlapping"]["recall"]),
        }[ROWS[i][5]]()

    def table(self):
        few, lines, last = {"v331": "v", "vrules": "v", "m33": "m", "m100": "m"}, [], ""
        for i, (paper, row, theirs, _, corpora, _, _) in enumerate(ROWS):
            name, number = paper.split(" ", 1)
            if name != last:
                lines += ["", f"| {name} | row | theirs | notes-voices | MEDDOCAN |", "|---|---|---|---|---|"]
            ours, last = {few.get(c, c): self.figure(i, c) for c in corpora}, name
            lines.append(f"| {number} | {row} | {theirs} | {ours.get('v', '')} | {ours.get('m', '')} |")
        return "\n".join(lines)


main()
