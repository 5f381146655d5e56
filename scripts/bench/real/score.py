#!/usr/bin/env python3
"""Scores models on real notes with the whole product (model, patterns, rules, lists).

    scripts/bench/real/score.py [--out out/real/scores.json] [--sets nubes-dev,...] [--set KEY=VALUE] MODEL...

MODEL is an embedded model or a file. The sets are made by scripts/bench/real/corpora.py sets. Prints a line a set: strict F1,
share of entities masked, share of detections that touch an entity, F1 by category; for MEDDOPLACE how many of the named
places, named facilities and generic places are touched. Models of MEDDOCAN's labels are scored on MEDDOCAN dev and MEDDOPLACE.
"""
import argparse, json, os, subprocess, tempfile

import notes

CATEGORIES = "PERSON LOCATION DATE AGE".split()
SETS = "nubes-dev nubes-dev-r101 nubes-dev-r102 nubes-dev-r103 nubes-dev-unseen notes-ca-dev short-dev synth-dev ancora-ca meddoplace".split()


def evaluate(velum, model, gold, scheme, more):
    out = subprocess.run([velum, "evaluate", "--quiet", "--json", "--draws", "-1", "--profile", scheme, "--gold", gold, "--model", model, "--categories", scheme, *more],
                         check=True, stdout=subprocess.PIPE, text=True).stdout
    r = json.loads(out)
    m = {x["name"]: x for x in r["measures"]}
    row = {"strict": m["strict"]["f1"], "masked": m["masked_entities"]["recall"], "touch": m["masked_entities"]["precision"],
           "span": m["span"]["f1"], "merged": m["merged"]["f1"]}
    for c in r["categories"]:
        row[c["category"]] = {k: c[k] for k in ("gold", "precision", "recall", "f1")} | {"masked": c["masked"] / c["gold"] if c["gold"] else 1}
    return row


def places(velum, model, scheme, work, more):
    """Touched named places and facilities of the held-out sentences of MEDDOPLACE, and generic ones touched by LOCATION alone."""
    gold = {n: (t, s) for n, t, s in notes.meddoplace(held=True)}
    plain, tagged = os.path.join(work, "in.jsonl"), os.path.join(work, "out.jsonl")
    with open(plain, "w", encoding="utf-8") as f:
        for n, (t, _) in gold.items():
            f.write(json.dumps({"id": n, "text": t}, ensure_ascii=False) + "\n")
    subprocess.run([velum, "tag", "--quiet", "--profile", scheme, "--in", plain, "--from", "jsonl", "--to", "jsonl", "--out", tagged, "--model", model, *more], check=True, stdout=subprocess.DEVNULL)
    touched, of = {}, {}
    for n, _, found in notes.read(tagged):
        spans = gold[n][1]
        named = [(s, e) for s, e, c in spans if c in notes.NAMED]
        for s, e, c in spans:
            kind = "facilities" if c == "FAC_NOM" else "places" if c in notes.NAMED else "generic" if c in notes.GENERIC else None
            if kind is None or kind == "generic" and any(a < e and s < b for a, b in named):
                continue
            of[kind] = of.get(kind, 0) + 1
            touched[kind] = touched.get(kind, 0) + any(a < e and s < b for a, b, _ in found)
    return {k: touched[k] / of[k] for k in of} | {"of": of}


def show(name, row):
    if "strict" not in row:
        return f"{name:18s} " + "  ".join(f"{k} {v:.3f} of {row['of'][k]}" for k, v in row.items() if k != "of")
    kinds = "  ".join(f"{c[:3]} {row[c]['precision']:.3f}/{row[c]['recall']:.3f}={row[c]['f1']:.3f}" for c in CATEGORIES if c in row)
    if kinds == "" or "FECHAS" in row:
        kinds = f"span {row['span']:.4f} merged {row['merged']:.4f}"
    return f"{name:18s} strict {row['strict']:.4f} masked {row['masked']:.4f} touch {row['touch']:.4f}  {kinds}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="+")
    p.add_argument("--work", default="out/real")
    p.add_argument("--out")
    p.add_argument("--sets", default=",".join(SETS))
    p.add_argument("--scheme", default="primary-care")
    p.add_argument("--set", action="append", default=[])
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    a = p.parse_args()
    more = [x for s in a.set for x in ("--set", s)]
    scores = {}
    for model in a.models:
        meddocan = a.scheme == "meddocan"
        scores[model] = rows = {}
        print(model)
        with tempfile.TemporaryDirectory() as work:
            for name in ["meddocan-dev", "meddoplace"] if meddocan else a.sets.split(","):
                if name == "meddoplace":
                    rows[name] = places(a.velum, model, a.scheme, work, more)
                else:
                    gold = os.path.join(notes.data, "meddocan/dev") if name == "meddocan-dev" else os.path.join(a.work, name + ".jsonl")
                    rows[name] = evaluate(a.velum, model, gold, a.scheme, more)
                print(show(name, rows[name]), flush=True)
    if a.out:
        with open(a.out, "w") as f:
            json.dump(scores, f, indent=1)


if __name__ == "__main__":
    main()
