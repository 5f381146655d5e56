#!/usr/bin/env python3
"""What a note costs: processor time of `velum run` as a multiple of gzip -6.

    python3 scripts/bench/price.py [--pairs 5] [--notes 600000] [--velum bin/velum]

Two archives: generated notes, and 61,000 real lines (NUBes, Catalan health
sentences, notes-voices train, CANTEMIST), which only ../shared/data has. Each
turn runs gzip -6 over the text and then every setting with one worker, so
that a change of the machine's speed moves all of them alike; the figure is
the median of the ratios of one turn. Start and end of the program count.
Prints the table, for BENCHMARKS.md.
"""
import argparse, datetime, gzip, json, os, platform, resource, shutil, statistics, subprocess

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SETTINGS = [("default (`cascade`)", []), ("`--fast`", ["--fast"]), ("`meddocan`", ["--model", "meddocan"])]


def lines(path, split):
    """Texts of a file of JSON lines or plain lines, cut at split where a note has several."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as f:
        for line in f:
            text = json.loads(line)["text"] if ".jsonl" in path else line.strip()
            yield from (part for part in (text.split(split) if split else [text]) if part.strip())


def real(data, n):
    """The first n real notes; no byte of them leaves the folder of work."""
    out = []
    for name, split in (("unlabelled-es-clinical/nubes.jsonl.gz", "\n"), ("unlabelled-ca/health-sentences.txt.gz", ""), ("labelled/notes-voices/train.jsonl", ""),
                        ("unlabelled-es-clinical/cantemist.jsonl.gz", ". "), ("unlabelled-es-clinical/codiesp.jsonl.gz", ". ")):
        out += lines(os.path.join(data, name), split)
    return out[:n]


def archive(folder, texts):
    os.makedirs(folder)
    with open(os.path.join(folder, "notes.jsonl"), "w", encoding="utf-8") as f:
        f.writelines(json.dumps({"note_id": f"n{i}", "text": t}, ensure_ascii=False) + "\n" for i, t in enumerate(texts))
    with open(folder + ".txt", "w", encoding="utf-8") as f:
        f.writelines(t.replace("\n", " ") + "\n" for t in texts)


def cost(args):
    """Processor seconds of a command, its children included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    code = subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    if code not in (0, 3):
        raise SystemExit(f"{args[:2]} ended with exit code {code}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--pairs", type=int, default=5)
    p.add_argument("--notes", type=int, default=600000)
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--data", default="../shared/data")
    p.add_argument("--work", default="out/price")
    a = p.parse_args()
    os.chdir(TOP)
    shutil.rmtree(a.work, ignore_errors=True)
    os.makedirs(a.work, mode=0o700)
    generated = os.path.join(a.work, "generated.jsonl")
    subprocess.run([a.velum, "teach", "synth", "--quiet", "--notes", str(a.notes), "--seed", "7", "--split", "train", "--out", generated], check=True)
    sets = [(f"{a.notes:,} generated", "gen", list(lines(generated, ""))), ("61,000 real", "real", real(a.data, 61000))]
    rows = []
    for name, folder, texts in sets:
        folder = os.path.join(a.work, folder)
        archive(folder, texts)
        ratios, seconds = {s: [] for s, _ in SETTINGS}, {s: [] for s, _ in SETTINGS}
        for _ in range(a.pairs):
            base = cost(["gzip", "-6", "-c", folder + ".txt"])
            for setting, options in SETTINGS:
                out = os.path.join(a.work, "o")
                for tree in (out, out + ".private"):
                    shutil.rmtree(tree, ignore_errors=True)
                s = cost([a.velum, "run", "--quiet", "--in", folder, "--out", out, "--workers", "1"] + options)
                seconds[setting].append(s)
                ratios[setting].append(s / base)
        rows += [(name, s, f"{statistics.median(seconds[s]):.2f}", f"{statistics.median(ratios[s]):.2f} ({min(ratios[s]):.2f} to {max(ratios[s]):.2f})") for s, _ in SETTINGS]
    text = f"title: Processor time of a run over gzip -6\ncommand: `make price`, {a.pairs} turns, one worker, start included\n"
    text += f"machine: {machine()}\ndate: {datetime.date.today()}\n\n| notes | setting | seconds | times gzip -6 |\n|---|---|---|---|\n"
    text += "".join("| " + " | ".join(row) + " |\n" for row in rows) + "\nWanted: `--fast` 3.0 on generated and 2.6 on real notes, the default 5.\n"
    print(text)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        name = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    return f"{name}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}"


if __name__ == "__main__":
    main()
