#!/usr/bin/env python3
"""Names in Catalan news: F1 of person, place and organization on AnCora-ca.

    scripts/data/ancora.py [--clusters FILE:K ...] [--folds 5]

Trains on all folds but one and scores on that one, by document, once with the
template of primary-care and once with the clusters added (normalizations and
sizes as given, window -2..2). Parts of speech are left out: those of the
binary were learned from the same sentences. MISC and the one UNK count as no names.
"""
import argparse, gzip, json, os, statistics, subprocess, tempfile


def documents(path):
    docs = []
    with gzip.open(path, "rt", encoding="utf-8") as f:
        for line in f:
            if line.startswith("# doc"):
                docs.append([])
                continue
            columns = line.rstrip("\n").split("\t")
            tag = columns[-1] if len(columns) == 4 else ""
            docs[-1].append(columns[0] + "\t" + ("O" if tag.endswith(("MISC", "UNK")) else tag) if tag else "")
    return docs


def run(*command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--clusters", nargs="*", default=[], metavar="FILE:K")
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("--options", default="", help="options of velum train")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    p.add_argument("--data", default=os.environ.get("VELUM_DATA", "../shared/data"))
    args = p.parse_args()
    docs = documents(os.path.join(args.data, "labelled/ancora-ca-ner/ca_ancora_ner.train.tsv.gz"))
    with open("configs/templates/primary-care.txt") as f:
        plain = f.read().rstrip("\n") + "\n"
    names = [f"c{i}" for i in range(len(args.clusters))]
    variants = {"without clusters": (plain, [])}
    if names:
        given = [a for n, c in zip(names, args.clusters) for a in ("--clusters", f"{n}={c}")]
        variants["with clusters"] = (plain + "".join(f"cluster/{n} -2..2\n" for n in names), given)
    with tempfile.TemporaryDirectory() as work:
        parts = []
        for k in range(args.folds):
            parts.append(os.path.join(work, f"part{k}.conll"))
            with open(parts[k], "w", encoding="utf-8") as f:
                for i in range(k, len(docs), args.folds):
                    f.write(f"# id = {i}\n" + "\n".join(docs[i]).rstrip("\n") + "\n\n")
        for name, (template, options) in variants.items():
            path, model = os.path.join(work, "template.txt"), os.path.join(work, "model.velum")
            with open(path, "w") as f:
                f.write(template)
            scores, counts = [], {}
            for k in range(args.folds):
                run(args.velum, "train", "--quiet", "--json", "--labels", "names", "--train", ",".join(q for q in parts if q != parts[k]),
                    "--template", path, "--out", model, *options, *args.options.split())
                report = run(args.velum, "evaluate", "--quiet", "--json", "--draws", "-1", "--categories", "names", "--gold", parts[k], "--model", model)
                scores.append(next(m["f1"] for m in report["measures"] if m["name"] == "strict"))
                for c in report["categories"]:
                    have = counts.setdefault(c["category"], [0, 0, 0])
                    for i, what in enumerate(("gold", "system", "right")):
                        have[i] += c[what]
            by_class = ", ".join(f"{c} {2 * r / max(g + s, 1):.4f}" for c, (g, s, r) in sorted(counts.items()))
            g, s, r = (sum(c[i] for c in counts.values()) for i in range(3))
            print(f"{name}: strict F1 {2 * r / max(g + s, 1):.4f} (folds {statistics.mean(scores):.4f} ± {statistics.stdev(scores):.4f}); {by_class}", flush=True)


if __name__ == "__main__":
    main()
