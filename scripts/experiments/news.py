#!/usr/bin/env python3
"""Persons of AnCora-ca by folds of documents, with and without its other folds in training.

    scripts/experiments/news.py [--recipe alone,warm,silver] [--folds 0,1,2,3,4] [--work out/real]

Needs what `corpora.py sources` and `corpora.py named` made in WORK, and for silver `corpora.py silver`. Prints precision,
recall and masked share of PERSON, by sentence and by document (a name found once is masked at its other places), and strict
F1 / entities masked on nubes-phi dev and notes-ca dev.

    alone    from cold, 60 iterations: the other folds, 1,300 sentences with bare names, notes-ca train
    warm     the same notes, the folds three times, 20 iterations from primary-care's weights
    silver   no AnCora-ca: Catalan news tagged by the pipeline, with the bare names and notes-ca train, 20 iterations from primary-care's weights
"""
import argparse, json, os, subprocess, sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "bench", "real"))
import notes  # noqa: E402

RECIPES = {"alone": (1, ["--iterations", "60"]), "warm": (3, ["--init", "primary-care", "--iterations", "20"]), "silver": (0, ["--init", "primary-care", "--iterations", "20"])}


def documents(path, out):
    """The sentences of a document as the lines of one note."""
    by = {}
    for n, t, spans in notes.read(path):
        d = by.setdefault(n.rsplit(":", 1)[0], ["", []])
        d[1] += [[s + len(d[0]), e + len(d[0]), c] for s, e, c in spans]
        d[0] += t + "\n"
    notes.write(out, ((n, t, s) for n, (t, s) in by.items()))
    return out


class Lab:
    def __init__(self, a):
        self.a = a

    def path(self, name):
        return os.path.join(self.a.work, name)

    def train(self, recipe, fold):
        times, more = RECIPES[recipe]
        train = [self.path("bare-ca.jsonl"), self.path("notes-ca-train.jsonl")]
        if times == 0:
            train.append(self.path("silver.jsonl"))
        else:
            found = list(notes.read(self.path(f"ancora-without-{fold}.jsonl")))
            train.append(self.path(f"news-{recipe}-{fold}.jsonl"))
            notes.write(train[-1], ((f"{n}:{k}", t, s) for k in range(times) for n, t, s in found))
        out = self.path(f"news-{recipe}-{fold}.velum")
        subprocess.run([self.a.velum, "train", "--quiet", "--workers", "1", "--profile", "primary-care", "--kind", "crf", "--labels", "primary-care",
                        "--template", "configs/templates/primary-care.txt", *more, "--train", ",".join(train), "--out", out], check=True, stdout=subprocess.DEVNULL)
        return out

    def measured(self, model, gold):
        r = json.loads(subprocess.run([self.a.velum, "evaluate", "--quiet", "--json", "--draws", "-1", "--profile", "primary-care", "--gold", gold, "--model", model,
                                       "--categories", "primary-care"], check=True, stdout=subprocess.PIPE, text=True).stdout)
        return {m["name"]: m for m in r["measures"]}, next((c for c in r["categories"] if c["category"] == "PERSON"), None)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--recipe", default="alone,warm,silver")
    p.add_argument("--folds", default="0,1,2,3,4")
    p.add_argument("--work", default="out/real")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    lab = Lab(a)
    for recipe in a.recipe.split(","):
        model = lab.train(recipe, 0) if recipe == "silver" else None
        sums = {"sentences": [0, 0, 0, 0], "documents": [0, 0, 0, 0]}
        for k in a.folds.split(","):
            m, fold = model or lab.train(recipe, k), lab.path(f"ancora-fold-{k}.jsonl")
            for kind, gold in (("sentences", fold), ("documents", documents(fold, lab.path(f"ancora-documents-{k}.jsonl")))):
                c = lab.measured(m, gold)[1]
                sums[kind] = [x + c[y] for x, y in zip(sums[kind], ("gold", "system", "right", "masked"))]
                print(f"{recipe} fold {k} {kind}: precision {c['precision']:.3f} recall {c['recall']:.3f} masked {c['masked'] / c['gold']:.3f}", flush=True)
        for kind, (gold, system, right, masked) in sums.items():
            print(f"{recipe} {kind}: precision {right / system:.3f} recall {right / gold:.3f} masked {masked / gold:.3f} of {gold}", flush=True)
        for name in ("nubes-dev", "notes-ca-dev"):
            r = lab.measured(m, lab.path(name + ".jsonl"))[0]
            print(f"{recipe} {name}: {r['strict']['f1']:.4f} / {r['masked_entities']['recall']:.4f}", flush=True)


if __name__ == "__main__":
    main()
