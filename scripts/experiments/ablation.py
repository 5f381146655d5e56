#!/usr/bin/env python3
"""Which feature groups and settings help: trains variants of a template and scores them.

    scripts/experiments/ablation.py --plan groups [--folds 3] [--base FILE] [--add 'lemma -1..1;pos -1..1'] [--out FILE.jsonl]

A variant is the base template with lines added, groups taken out or given
another window, and options of `velum train`. It is trained on MEDDOCAN train
and scored on dev or, with --folds k, on the k parts of train in turn (every
k-th document), trained on the others. One line of JSON a result; --table
prints all results of a file, by variant, with mean and spread over the folds.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

CATEGORIES = ("INSTITUCION", "HOSPITAL", "CALLE", "TERRITORIO", "FAMILIARES_SUJETO_ASISTENCIA")
MEASURES = ("strict", "span", "merged")

# name: (lines added or changed, groups taken out, options of velum train)
PLANS = {
    "base": {"base": ("", "", "")},
    "groups": {
        "base": ("", "", ""),
        "+pos": ("pos -1..1", "", ""),
        "+lemma": ("lemma -2..2", "", ""),
        "+bigram": ("bigram 0..1", "", ""),
        "+phrase": ("phrase -1..1", "", ""),
        "+key": ("key 0", "", ""),
        "+place": ("lineinnote 0;linefromend 0;tokeninline 0", "", ""),
        "+folded": ("folded -2..2", "", ""),
        "note": ("sequence note", "", ""),
        "-gazetteer": ("", "gazetteer", ""),
        "-pattern": ("", "pattern", ""),
    },
    "settings": {
        "l2 0.3": ("", "", "--l2 0.3"),
        "l2 2": ("", "", "--l2 2"),
        "l1 0.05 l2 0.5": ("", "", "--l1 0.05 --l2 0.5"),
        "l1 0.2 l2 0.5": ("", "", "--l1 0.2 --l2 0.5"),
        "min-count 1": ("", "", "--set train.min_count=1"),
        "min-count 4": ("", "", "--set train.min_count=4"),
        "BIOESU": ("", "", "--scheme BIOESU"),
    },
}


def edit(template, add, remove):
    """The template with lines added, groups replaced, groups taken out."""
    out = [line.split("#")[0].strip() for line in template.splitlines()]
    for line in filter(None, add.split(";")):
        name = line.split()[0]
        out = [o for o in out if not o.startswith(name + " ") and o != name] + [line.strip()]
    gone = set(filter(None, remove.split(";")))
    return "\n".join(o for o in out if o and o.split()[0] not in gone) + "\n"


def splits(args, work):
    """(name, folders to train on, folder to score on)."""
    train, dev = (os.path.join(args.data, "meddocan", part) for part in ("train", "dev"))
    if args.folds == 0:
        return [("dev", [train], dev)]
    names = sorted(n[:-4] for n in os.listdir(train) if n.endswith(".ann"))
    parts = []
    for k in range(args.folds):
        parts.append(os.path.join(work, f"part{k}"))
        os.mkdir(parts[k])
        for name in names[k :: args.folds]:
            for end in (".txt", ".ann"):
                os.symlink(os.path.abspath(os.path.join(train, name + end)), os.path.join(parts[k], name + end))
    return [(f"fold {k}", [p for p in parts if p != parts[k]], parts[k]) for k in range(args.folds)]


def measure(args, work, name, variant, train, test):
    add, remove, options = variant
    template, model = os.path.join(work, "template.txt"), os.path.join(work, "model.velum")
    with open(args.base) as f:
        text = edit(f.read(), args.add, args.remove)
    with open(template, "w") as f:
        f.write(edit(text, add, remove))
    made = subprocess.run(
        [args.velum, "train", "--quiet", "--json", "--profile", "meddocan", "--labels", "meddocan", "--train", ",".join(train),
         "--template", template, "--out", model, *args.options.split(), *options.split()],
        check=True, stdout=subprocess.PIPE, text=True)
    made = json.loads(made.stdout)
    scored = subprocess.run(
        [args.velum, "evaluate", "--quiet", "--json", "--profile", "meddocan", "--draws", "-1", "--gold", test, "--model", model],
        check=True, stdout=subprocess.PIPE, text=True)
    report = json.loads(scored.stdout)
    by_name = {m["name"]: m for m in report["measures"]}
    lost = {c["category"]: c["gold"] - c["right"] for c in report["categories"]}
    return {"variant": name, "template": args.add + (" -" + args.remove if args.remove else ""), "options": args.options,
            **{m: by_name[m]["f1"] for m in MEASURES}, "recall": by_name["strict"]["recall"],
            **{c: lost.get(c, 0) for c in CATEGORIES}, "weights": made["weights"], "bytes": made["bytes"]}


def table(path):
    rows = {}
    with open(path) as f:
        for line in f:
            r = json.loads(line)
            rows.setdefault((r["variant"], r["template"], r["options"]), []).append(r)
    print("| variant | base | options | split | strict | span | merged | lost: " + ", ".join(c[:10] for c in CATEGORIES) + " | weights |")
    for (name, base, options), all_ in rows.items():
        for split, some in (("dev", [r for r in all_ if r["split"] == "dev"]), ("folds", [r for r in all_ if r["split"] != "dev"])):
            if not some:
                continue
            cells = []
            for m in MEASURES:
                v = [r[m] for r in some]
                cells.append(f"{statistics.mean(v):.4f}" + (f" ± {statistics.stdev(v):.4f}" if len(v) > 1 else ""))
            lost = ", ".join(str(sum(r[c] for r in some)) for c in CATEGORIES)
            print(f"| {name} | {base} | {options} | {split} {len(some)} | " + " | ".join(cells) + f" | {lost} | {some[0]['weights']} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--plan", default="base", help="one of " + ", ".join(PLANS) + ", or variants as 'name=lines added=groups taken out=options', joined with |")
    p.add_argument("--only", default="", help="names of variants of the plan, separated by commas")
    p.add_argument("--base", default="configs/templates/meddocan.txt")
    p.add_argument("--add", default="", help="lines added to the base, separated by ;")
    p.add_argument("--remove", default="", help="groups taken out of the base")
    p.add_argument("--options", default="", help="options of velum train for all variants")
    p.add_argument("--folds", type=int, default=0, help="score on parts of train, not on dev")
    p.add_argument("--velum", default=os.environ.get("VELUM", "bin/velum"))
    p.add_argument("--data", default=os.environ.get("VELUM_DATA", "../shared/data"))
    p.add_argument("--out", default="out/ablation.jsonl")
    p.add_argument("--table", metavar="FILE", help="print the results of a file, and do nothing else")
    args = p.parse_args()
    if args.table:
        return table(args.table)
    os.makedirs(os.path.dirname(args.out) or ".", exist_ok=True)
    plan = PLANS.get(args.plan)
    if plan is None:
        plan = {}
        for v in args.plan.split("|"):
            name, add, remove, options = (v.split("=", 3) + ["", "", ""])[:4]
            plan[name] = (add, remove, options)
    only = set(filter(None, args.only.split(",")))
    with tempfile.TemporaryDirectory() as work:
        for split, train, test in splits(args, work):
            for name, variant in plan.items():
                if only and name not in only:
                    continue
                r = measure(args, work, name, variant, train, test)
                r["split"] = split
                with open(args.out, "a") as f:
                    f.write(json.dumps(r) + "\n")
                print(f"{name:16s} {split:8s} " + " ".join(f"{r[m]:.4f}" for m in MEASURES), [r[c] for c in CATEGORIES], r["weights"], flush=True)


if __name__ == "__main__":
    sys.exit(main())
