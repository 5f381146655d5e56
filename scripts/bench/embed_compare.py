"""velum embed beside fastText and gensim, on the same words.

    make embed-compare            python3 scripts/bench/embed_compare.py [NOTES.jsonl.gz]

Makes a virtual environment of its own in out/embed-compare. All three get the
same tokens (those of velum: its CoNLL, one note a line), skip-gram, 100
numbers, window 5, 5 negatives, minimum count 5, sample 1e-3, rate 0.025, 5
epochs, 2 threads, no n-grams. It prints words a second of the wall clock and of
the processor (others may use the machine too), and how many of the ten
nearest neighbours two sets of vectors share for the 1,000 most frequent words,
with two seeds of one program as the ceiling.
"""

import json
import os
import re
import resource
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OUT = ROOT / "out" / "embed-compare"
NOTES = ROOT / "../shared/data/unlabelled-es-clinical/cantemist.jsonl.gz"
VELUM = os.environ.get("VELUM", str(ROOT / "bin/velum"))
EPOCHS = int(os.environ.get("EPOCHS", "5"))
PACKAGES = ["fasttext-wheel==0.9.2", "gensim==4.4.0", "numpy"]


def prepare():
    """Runs this script again inside its environment."""
    python = OUT / "venv/bin/python"
    if not python.exists():
        venv.create(OUT / "venv", with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), __file__, "--inside", *sys.argv[1:]])


def tokens(notes):
    """The words that velum sees, a note a line, in a file; returns how many."""
    conll, text = OUT / "notes.conll", OUT / "notes.txt"
    subprocess.run([VELUM, "convert", "--quiet", "--in", notes, "--out", conll, "--columns=false"], check=True, stdout=subprocess.DEVNULL)
    count, line = 0, []
    with open(conll) as src, open(text, "w") as dst:
        for row in src:
            if row.startswith("-DOCSTART-") or re.match(r"# ?(id|doc|newdoc)", row):
                dst.write(" ".join(line) + "\n" if line else "")
                line = []
            elif row.strip() and not row.startswith("#"):
                line.append(row.split()[0])
                count += 1
        dst.write(" ".join(line) + "\n")
    return text, count


def timed(run):
    """Seconds of the wall clock and of the processor, children too."""
    def cpu():
        return sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))

    before, began = cpu(), time.time()
    result = run()
    return result, time.time() - began, cpu() - before


def with_velum(text, seed, workers=1):
    def run():
        out = OUT / f"velum-{seed}-{workers}.velum"
        subprocess.run([VELUM, "embed", "--quiet", "--in", text, "--from", "lines", "--out", out, "--min-notes", "1", "--clusters", "0",
                        "--epochs", str(EPOCHS), "--seed", str(seed), "--workers", str(workers)], check=True, stdout=subprocess.DEVNULL)
        return out

    out, wall, cpu = timed(run)
    return read(out), wall, cpu


def read(path):
    """Vectors of a velum file, whose layout models/modelfile tells."""
    import numpy as np

    data = path.read_bytes()
    n = int.from_bytes(data[16:20], "little")
    at = {}
    for i in range(n):
        e = data[24 + 40 * i:][:40]
        start, size = int.from_bytes(e[16:24], "little"), int.from_bytes(e[24:32], "little")
        at[e[:16].rstrip(b"\0").decode()] = data[start:start + size]
    start = np.frombuffer(at["start"], "<u4")
    words = [at["text"][a:b].decode() for a, b in zip(start, start[1:])]
    vectors = np.frombuffer(at["vector"], "i1").reshape(len(words), -1) * np.frombuffer(at["scale"], "<f4")[:, None]
    return dict(zip(words, vectors))


def with_fasttext(text):
    import fasttext

    def run():
        return fasttext.train_unsupervised(str(text), model="skipgram", dim=100, ws=5, neg=5, minCount=5, t=1e-3, lr=0.025, epoch=EPOCHS, thread=2, maxn=0, verbose=0)

    model, wall, cpu = timed(run)
    matrix = model.get_input_matrix()
    return dict(zip(model.words, matrix)), wall, cpu


def with_gensim(text, seed):
    from gensim.models import Word2Vec

    def run():
        return Word2Vec(corpus_file=str(text), vector_size=100, window=5, sg=1, negative=5, min_count=5, sample=1e-3, epochs=EPOCHS, workers=2, seed=seed)

    model, wall, cpu = timed(run)
    return {w: model.wv[w] for w in model.wv.index_to_key}, wall, cpu


def nearest(vectors, words, all_words):
    import numpy as np

    m = np.array([vectors[w] for w in all_words], dtype=np.float32)
    m /= np.linalg.norm(m, axis=1, keepdims=True) + 1e-9
    near = np.argsort(-(m[:len(words)] @ m.T), axis=1)[:, :11]
    return [set(row) - {i} for i, row in enumerate(near)]


def main(notes):
    text, count = tokens(notes)
    runs = {
        "velum, seed 1": with_velum(text, 1),
        "velum, seed 2": with_velum(text, 2),
        "velum, two workers": with_velum(text, 1, 2),
        "fastText": with_fasttext(text),
        "gensim, seed 1": with_gensim(text, 1),
        "gensim, seed 2": with_gensim(text, 2),
    }
    print(f"{count} words, {EPOCHS} epochs, 2 threads")
    for name, (vectors, wall, cpu) in runs.items():
        print(f"{name:20} {len(vectors):6} forms  {count * EPOCHS / wall:9.0f} words/s, {count * EPOCHS / cpu:9.0f} words/s of processor")
    common = set.intersection(*(set(v) for v, _, _ in runs.values()))
    ordered = [w for w in runs["velum, seed 1"][0] if w in common]
    frequent = ordered[:1000]
    near = {name: nearest(v, frequent, ordered) for name, (v, _, _) in runs.items()}
    pairs = [("gensim, seed 1", "gensim, seed 2"), ("velum, seed 1", "velum, seed 2"), ("velum, seed 1", "gensim, seed 1"), ("velum, two workers", "gensim, seed 1"),
             ("velum, seed 1", "velum, two workers"), ("velum, seed 1", "fastText"), ("gensim, seed 1", "fastText")]
    for a, b in pairs:
        share = sum(len(x & y) for x, y in zip(near[a], near[b])) / (10 * len(frequent))
        print(json.dumps({"first": a, "second": b, "shared_neighbours": round(share, 3)}))


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    if sys.argv[1:2] == ["--inside"]:
        main((sys.argv[2:] or [NOTES])[0])
    else:
        prepare()
