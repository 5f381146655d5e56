#!/usr/bin/env python3
"""One epoch of velum's network in PyTorch: tokens a second, by the clock and by processor time, beside `velum train --kind bilstm`.

    scripts/bench/torch_epoch.py [--train ../shared/data/meddocan/train] [--threads 2] [--velum bin/velum] [--steps N]

The network is models/bilstm's default: vectors of words (104), characters by convolution (24, width 3, 48 filters), some 30 features a
token as a sum of vectors (64), one layer of 104 units a direction, dropout, a chain of 45 tags, Adam, 48 lines of like length a step.
What is timed does not depend on what is learned, so features and tags are hashes. Needs PyTorch (PyPI: torch).
"""
import argparse, glob, os, random, re, resource, subprocess, tempfile, time, zlib

import torch
from torch import nn

TAGS, FEATURES, TABLE, BATCH = 45, 30, 40000, 48


class Network(nn.Module):
    def __init__(self, words, chars):
        super().__init__()
        self.words, self.chars = nn.Embedding(words, 104), nn.Embedding(chars, 24)
        self.filters = nn.Conv1d(24, 48, 3, padding=1)
        self.features = nn.EmbeddingBag(TABLE, 64, mode="sum")
        self.recurrent = nn.LSTM(104 + 48 + 64, 104, bidirectional=True, batch_first=True)
        self.input, self.output = nn.Dropout(0.2), nn.Dropout(0.4)
        self.scores, self.pairs = nn.Linear(208, TAGS), nn.Parameter(torch.zeros(TAGS, TAGS))

    def forward(self, word, char, features, lengths, gold):
        n, t = word.shape
        chars = self.filters(self.chars(char).transpose(1, 2)).amax(2).relu()
        features = self.features(features.view(-1, FEATURES)).view(n, t, 64)
        x = self.input(torch.cat([self.words(word), chars.view(n, t, 48), features], 2))
        x = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        x, _ = nn.utils.rnn.pad_packed_sequence(self.recurrent(x)[0], batch_first=True)
        return self.loss(self.scores(self.output(x)), lengths, gold)

    def loss(self, s, lengths, gold):
        """The path's likelihood, lines of falling length side by side."""
        n, t, _ = s.shape
        mask = torch.arange(t)[None] < lengths[:, None]
        path = (s.gather(2, gold[..., None]).squeeze(2) * mask).sum() + (self.pairs[gold[:, :-1], gold[:, 1:]] * mask[:, 1:]).sum()
        alpha, ends = s[:, 0], []
        for i in range(1, t):
            live = int(mask[:, i].sum())
            ends.append(alpha[live:])
            alpha = torch.logsumexp(alpha[:live, :, None] + self.pairs, 1) + s[:live, i]
        return sum(e.logsumexp(1).sum() for e in ends + [alpha]) - path


def lines(folder):
    """Lines as words, those of more than 192 words cut."""
    for name in sorted(glob.glob(os.path.join(folder, "**", "*.txt"), recursive=True)):
        for line in open(name, encoding="utf-8"):
            words = re.findall(r"\w+|[^\w\s]", line)
            for at in range(0, len(words), 192):
                yield words[at:at + 192]


def batches(corpus):
    random.shuffle(corpus)
    for at in range(0, len(corpus), 20 * BATCH):
        pool = sorted(corpus[at:at + 20 * BATCH], key=len, reverse=True)
        yield from (pool[i:i + BATCH] for i in range(0, len(pool), BATCH))


def tensors(batch, known):
    t = len(batch[0])
    word, gold = torch.zeros(len(batch), t, dtype=torch.long), torch.zeros(len(batch), t, dtype=torch.long)
    feature = torch.zeros(len(batch), t, FEATURES, dtype=torch.long)
    widest = min(40, max(len(w) for line in batch for w in line))
    char = torch.zeros(len(batch) * t, widest, dtype=torch.long)
    for k, line in enumerate(batch):
        for i, w in enumerate(line):
            number, chars, features = known[w]
            word[k, i], gold[k, i], feature[k, i] = number, number % TAGS, features
            char[k * t + i, :min(len(chars), widest)] = chars[:widest]
    return word, char, feature, torch.tensor([len(line) for line in batch]), gold


def record(w, number):
    return number, torch.tensor([1 + zlib.crc32(c.encode()) % 255 for c in w]), torch.tensor([zlib.crc32(f"{w} {j}".encode()) % TABLE for j in range(FEATURES)])


def processor():
    u = resource.getrusage(resource.RUSAGE_SELF)
    return u.ru_utime + u.ru_stime


def said(who, tokens, seconds, cpu):
    print(f"{who}: {tokens} tokens, {seconds:.1f} s of the clock, {cpu:.1f} s of processor time: {tokens / seconds:.0f} and {tokens / cpu:.0f} tokens/s")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--train", default="../shared/data/meddocan/train")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--velum", default="bin/velum")
    p.add_argument("--steps", type=int, default=0, help="PyTorch: so many steps, and not a whole epoch")
    o = p.parse_args()
    torch.set_num_threads(o.threads)
    random.seed(1), torch.manual_seed(1)
    corpus = [line for line in lines(o.train) if line]
    known = {w: record(w, i) for i, w in enumerate(sorted({w for line in corpus for w in line}))}
    network = Network(len(known), 256)
    solver = torch.optim.Adam(network.parameters(), lr=3e-3)
    todo = list(batches(corpus))[:o.steps or None]
    tokens, start, cpu, filling = 0, time.time(), processor(), 0.0
    for batch in todo:
        at = processor()
        x = tensors(batch, known)
        filling += processor() - at
        solver.zero_grad()
        (network(*x) / len(batch)).backward()
        nn.utils.clip_grad_norm_(network.parameters(), 5)
        solver.step()
        tokens += sum(map(len, batch))
    said("PyTorch " + torch.__version__, tokens, time.time() - start, processor() - cpu)
    print(f"  of which filling batches in Python: {filling:.1f} s of processor time")
    with tempfile.TemporaryDirectory() as folder:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        r = subprocess.run([o.velum, "train", "--kind", "bilstm", "--profile", "meddocan", "--labels", "meddocan", "--train", o.train,
                            "--epochs", "1", "--workers", str(o.threads), "--out", os.path.join(folder, "net.velum"), "--json"],
                           check=True, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    print("velum, reading and features of all notes included, lines without spans every second epoch:", r.stderr.strip().splitlines()[-1][-120:])
    print(f"  {time.time() - start:.1f} s of the clock, {after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime:.1f} s of processor time")


if __name__ == "__main__":
    main()
