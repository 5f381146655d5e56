#!/usr/bin/env python3
"""Mutation testing: changes the code of packages at places drawn by a seed, one at a time, in a copy of the tree, and runs the package's own tests on each change. A change that
the tests let pass survives: a test is missing there, or the change means nothing.

    mutate.py --places 60 ./pipeline/idset ./stages/score        prints each survivor, and the share that was killed"""
import argparse, os, random, re, shutil, subprocess, tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
CHANGES = [  # what is replaced, by what: comparisons, arithmetic, logic, numbers, branches
    (r"(?<![<>=!:+\-*/&|^])<(?![<=\-])", "<="), (r"(?<=\s)>(?=\s)", ">="), (r"<=", "<"), (r">=", ">"), (r"==", "!="), (r"!=", "=="),
    (r"(?<=\s)\+(?=\s)", "-"), (r"(?<=\s)-(?=\s)", "+"), (r"&&", "||"), (r"\|\|", "&&"), (r"\+\+", "--"), (r"\+=", "-="),
    (r"(?<![\w.\"])\b1\b(?![\w.\"])", "2"), (r"(?<![\w.\"])\b0\b(?![\w.\"])", "1"), (r"\bmin\(", "max("), (r"\bmax\(", "min("),
    (r"\bcontinue$", "break"), (r"\breturn true$", "return false"), (r"\breturn false$", "return true"), (r"(?<=\bif )(?=[^;{]*\{$)", "false && "),
]


def places(folder):
    """File, line, column range and replacement of every change that a package allows."""
    for name in sorted(os.listdir(os.path.join(ROOT, folder))):
        if not name.endswith(".go") or name.endswith("_test.go"):
            continue
        text = open(os.path.join(ROOT, folder, name), encoding="utf-8").read()
        if text.startswith("//go:build") or "Code generated" in text:
            continue
        raw = False
        for k, line in enumerate(text.split("\n")):
            code = re.sub(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)+\'|`[^`]*`', lambda m: "\0" * len(m[0]), line)
            was, raw = raw, raw ^ (code.count("`") % 2 == 1)
            code = code.split("//")[0].rstrip()
            if was or raw or not code.startswith("\t") or code.lstrip().startswith(("case \0", "import", "const")) or re.match(r"\t\w+ +[\w.\[\]*]+$", code):
                continue
            for what, by in CHANGES:
                for m in re.finditer(what, code):
                    yield os.path.join(folder, name), k, m.start(), m.end(), by


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("packages", nargs="+")
    p.add_argument("--places", type=int, default=60)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--timeout", type=int, default=120, help="seconds for building and testing a package; what takes longer counts apart, for it hangs or the machine is busy")
    a = p.parse_args()
    by_package = {}
    for package in a.packages:
        folder = os.path.normpath(package)
        by_package[folder] = list(places(folder))
    draw, drawn = random.Random(a.seed), []
    while len(drawn) < a.places and any(by_package.values()):
        for folder, all_ in by_package.items():  # packages take turns, so that small ones count
            if all_ and len(drawn) < a.places:
                drawn.append((folder, all_.pop(draw.randrange(len(all_)))))
    tree = tempfile.mkdtemp(prefix="mutate")
    try:
        copy = os.path.join(tree, "tree")
        shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".git", "out", "bin"), symlinks=True)
        killed, void, late, survivors = 0, 0, 0, []
        for folder, (file, k, start, end, by) in drawn:
            path = os.path.join(copy, file)
            was = open(path, encoding="utf-8").read()
            lines = was.split("\n")
            lines[k] = lines[k][:start] + by + lines[k][end:]
            open(path, "w", encoding="utf-8").write("\n".join(lines))
            try:
                if subprocess.run(["go", "build", "./" + folder], cwd=copy, capture_output=True).returncode:
                    void += 1  # no program
                    continue
                try:
                    failed = subprocess.run(["go", "test", "-short", "-vet=off", "./" + folder], cwd=copy, capture_output=True, timeout=a.timeout).returncode != 0
                except subprocess.TimeoutExpired:
                    late += 1
                    continue
                killed += failed
                if not failed:
                    survivors.append(f"{file}:{k + 1}: {lines[k].strip()}")
                    print("survives", survivors[-1], flush=True)
            finally:
                open(path, "w", encoding="utf-8").write(was)
        n = killed + len(survivors)
        print(f"{killed} of {n} changes were killed by the tests of their own package ({killed / max(n, 1):.0%}); {void} more did not compile, {late} took longer than {a.timeout} s")
    finally:
        shutil.rmtree(tree)


if __name__ == "__main__":
    main()
