#!/usr/bin/env python3
"""Invented reports in which people come again, for `velum attack --gold`: two or three people, each mentioned two to
seven times, as clinicians do (first the whole name, then a surname or a given name, with a title).

  scripts/experiments/parrot.py 2000 1 > out/parrot.jsonl

Names are drawn from the lists of models/gazetteer; no sentence is anybody's.
"""
import json
import pathlib
import random
import sys

LISTS = pathlib.Path(__file__).resolve().parents[2] / "models/gazetteer/lists"
SENTENCES = [
    "Acude {} por dolor de rodilla.", "Refiere {} que duerme mal.", "Avisado {} por teléfono.", "Hablo con {} y acepta el plan.",
    "Se explica a {} el tratamiento.", "{} no toma la medicación.", "Visto por {} en consultas.", "Pendiente de {} para la analítica.",
    "Valorado con {}, sin cambios.", "Según {}, come poco.", "{} trae el informe.", "Citar a {} en dos semanas.",
]
FILLER = ["TA 130/80.", "Auscultación normal.", "Se pauta paracetamol.", "No fiebre.", "Control en un mes.", "Abdomen blando.", "Afebril."]


def names(*files):
    words = set()
    for name in files:
        for line in (LISTS / name).read_text().splitlines():
            form = line.split("\t")[0].strip()
            if form and not form.startswith("#") and " " not in form and len(form) > 3:
                words.add(form.title())
    return sorted(words)


def main():
    count, rng = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    given, surnames = names("faker-given-names.txt"), names("faker-surnames.txt")
    for n in range(count):
        people = [(rng.choice(given), rng.choice(surnames)) for _ in range(rng.choice([2, 2, 3]))]
        mentions = [p for p in people for _ in range(rng.randint(2, 7))]
        rng.shuffle(mentions)
        text, spans, known = "", [], set()
        for p in mentions:
            whole = p not in known or rng.random() < 0.4
            known.add(p)
            name = f"{p[0]} {p[1]}" if whole else rng.choice(p)
            before, after = rng.choice(SENTENCES).split("{}")
            text += (" " if text else "") + before
            spans.append({"start": len(text), "end": len(text) + len(name), "label": "PERSON"})
            text += name + after
            if rng.random() < 0.5:
                text += " " + rng.choice(FILLER)
        print(json.dumps({"id": f"p{n}", "text": text, "spans": spans}, ensure_ascii=False))


main()
