#!/usr/bin/env python3
"""Puts invented people, places, dates and numbers into English clinical text, for what an inverse model masks in a language of which no labelled notes can be had.

    scripts/experiments/english.py IN.jsonl.gz OUT.jsonl [NOTES]

Every name is made of syllables, so that no list has it; the sentences are ours. Same input, same bytes.
"""
import gzip, json, random, sys

START = "Bra Cle Dor Fen Gal Har Kel Lan Mor Nor Pem Quil Ros Stan Thor Wen".split()
END = "combe dale field ford ham ley low mere ridge sey stead ton wick worth".split()
SENTENCES = [
    "Mr. {N} {N} was seen by Dr. {N} on {D}.",
    "{N} {N}, who lives in {N}, was referred from {N} Hospital.",
    "His wife, {N} {N}, can be reached at {T}.",
    "Reviewed by {N} {N}, MD, {N} Clinic, record {I}.",
    "She moved from {N} to {N} in {M}.",
]
MONTHS = "January February March April May June July August September October November December".split()


def filled(r, template):
    """A sentence and its spans."""
    make = {
        "N": lambda: (r.choice(START) + r.choice(END), "PERSON"),
        "D": lambda: (f"{r.choice(MONTHS)} {r.randint(1, 28)}, {r.randint(2005, 2022)}", "DATE"),
        "M": lambda: (f"{r.choice(MONTHS)} {r.randint(1990, 2020)}", "DATE"),
        "T": lambda: (f"{r.randint(200, 989)}-555-{r.randint(1000, 9999)}", "TELEPHONE"),
        "I": lambda: (str(r.randint(1000000, 9999999)), "SANITARY_CARD_ID"),
    }
    text, spans = "", []
    for piece in template.replace("}", "{").split("{"):
        if piece in make:
            value, label = make[piece]()
            spans.append([len(text), len(text) + len(value), label])
            piece = value
        text += piece
    return text, spans


def main(source, target, notes="200"):
    r = random.Random(1)
    with gzip.open(source, "rt", encoding="utf-8") as f, open(target, "w", encoding="utf-8") as out:
        for line in list(f)[: int(notes)]:
            note = json.loads(line)
            text, spans = "", []
            for k, sentence in enumerate(note["text"].split(". ")):
                text += sentence + ("" if sentence.endswith(".") else ". ")
                if k % 4 == 1:
                    more, found = filled(r, r.choice(SENTENCES))
                    text += " " if not text.endswith(" ") else ""
                    spans += [[s + len(text), e + len(text), c] for s, e, c in found]
                    text += more + " "
            out.write(json.dumps({"id": note["id"], "text": text, "spans": [{"start": s, "end": e, "label": c} for s, e, c in spans]}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
