#!/usr/bin/env python3
"""Identifiers of others, behind the cues of others: which stay readable.

Values come from Faker (Spain and 13 more countries), python-stdnum (the valid numbers
of its doctests, compact and formatted), phonenumbers (an example of every country) and
the expressions of Presidio's recognizers (passports, by rstr); cues are Presidio's
context words and what python-stdnum and Faker call the number; the words around are
Faker's. None of it was written for velum, and no rule of velum is read here.

    pip install faker python-stdnum phonenumbers presidio-analyzer rstr
    pip download python-stdnum --no-deps --no-binary :all: && tar xzf python_stdnum-*.tar.gz
    scripts/bench/identifiers.py bin/velum python_stdnum-*/ [--profile meddocan] [--show]

A value is readable when half of its letters and digits stand in a row outside of spans.
Prints a table by kind: notes, readable as written, readable with one digit changed.
"""

import collections
import glob
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile

import faker
import phonenumbers
import rstr
import stdnum.util

LOCALES = ["es_ES", "es_ES", "es_ES", "es_MX", "es_CO", "es_AR", "pt_PT", "fr_FR", "it_IT", "ro_RO", "de_DE", "en_GB", "pl_PL", "uk_UA", "bg_BG"]
FRAMES = ["{c} {v}", "{c}: {v}", "{c} nº {v}", "{c}\n{v}", "{c}: {v}, {w}", "{v} ({c})"]

# What python-stdnum's modules of Spain and its neighbours say that the number is, in Spanish.
STDNUM = {
    "es.nif": "NIF", "es.dni": "DNI", "es.nie": "NIE", "es.cif": "CIF", "es.ccc": "CCC", "es.iban": "IBAN", "es.referenciacatastral": "referencia catastral",
    "iban": "IBAN", "imei": "IMEI", "mac": "MAC", "be.nn": "identidad", "be.iban": "IBAN", "bg.egn": "identidad", "pl.pesel": "PESEL", "pt.cc": "documento de identidad",
    "it.codicefiscale": "documento de identidad", "ro.cnp": "documento de identidad", "mx.curp": "CURP", "cl.rut": "RUT", "nl.bsn": "BSN", "br.cpf": "CPF",
    "co.nit": "identificación", "do.cedula": "cédula", "ec.ci": "cédula", "luhn": "tarjeta",
}


def values(rng, home):
    """Yields (kind, cue, value)."""
    for locale in LOCALES:
        f = faker.Faker(locale)
        f.seed_instance(rng.random())
        for provider, kind, cues in (
            ("nif", "NIF", ["NIF", "documento nacional de identidad"]), ("nie", "NIE", ["NIE", "número de identificación de extranjero"]), ("cif", "CIF", ["CIF"]),
            ("doi", "NIF", ["DNI", "identificación"]), ("iban", "IBAN", ["IBAN"]), ("phone_number", "telephone", ["teléfono", "phone", "mobile", "call"]),
            ("email", "e-mail", ["email"]), ("mac_address", "MAC", ["MAC", "ethernet", "mac address"]), ("ipv4", "IP", ["IP", "ipv4"]), ("ipv6", "IP", ["IP", "ipv6"]),
            ("credit_card_number", "card", ["visa", "mastercard", "tarjeta"]), ("license_plate", "plate", ["matrícula"]), ("vin", "plate", ["bastidor"]),
            ("passport_number", "passport", ["pasaporte", "passport", "número de pasaporte", "passport number"]), ("ssn", "ssn", ["seguridad social", "número de la seguridad social"]),
        ):
            if locale != "es_ES" and provider in ("ipv4", "ipv6", "mac_address", "email", "vin"):
                continue
            for _ in range(20):
                try:
                    value = getattr(f, provider)()
                except AttributeError:
                    break
                if re.search(r"[^\x00-\x7f]", value):
                    continue
                yield kind, rng.choice(cues), value
    for region in phonenumbers.SUPPORTED_REGIONS:
        number = phonenumbers.example_number(region)
        if number:
            for form in (phonenumbers.PhoneNumberFormat.INTERNATIONAL, phonenumbers.PhoneNumberFormat.E164, phonenumbers.PhoneNumberFormat.NATIONAL):
                yield "telephone of a country", rng.choice(["teléfono", "phone", "mobile"]), phonenumbers.format_number(number, form)
    expressions = rstr.Rstr(rng)
    presidio = importlib.util.find_spec("presidio_analyzer").submodule_search_locations[0]  # its files alone: importing it takes spaCy
    for path in sorted(glob.glob(os.path.join(presidio, "predefined_recognizers", "**", "*passport*.py"), recursive=True)):
        for expression in re.findall(r'Pattern\(\s*"[^"]*",\s*r?"([^"]+)"', open(path).read().replace('"\n            r"', "")):
            for _ in range(20):
                try:
                    value = expressions.xeger(re.sub(r"\(\?[:<!=][^)]*\)?|\\b", "", expression)).strip()
                except Exception:
                    break
                if 5 <= len(value) <= 12 and len(re.findall(r"\d", value)) >= 4:
                    yield "passport by Presidio", rng.choice(["pasaporte", "passport", "número de pasaporte", "passport number"]), value
    tests = "\n".join(open(p, encoding="utf-8").read() for p in glob.glob(os.path.join(home, "tests", "*.doctest")) + glob.glob(os.path.join(home, "stdnum", "**", "*.py"), recursive=True))
    quoted = sorted(set(re.findall(r"'([A-Z0-9][A-Za-z0-9 ./:-]{5,40})'", tests)))
    for name, cue in STDNUM.items():
        module = importlib.import_module("stdnum." + name)
        for value in [v for v in quoted if module.is_valid(v)][:60]:
            if name in ("luhn",) and len(re.sub(r"\D", "", value)) < 15:
                continue
            yield "stdnum " + name, cue, value
            if hasattr(module, "format"):
                yield "stdnum " + name, cue, module.format(module.compact(value))


def readable(value, covered):
    """Tells whether half of the letters and digits stand in a row uncovered."""
    signs = [i for i, c in enumerate(value) if c.isalnum()]
    run = longest = 0
    for i in signs:
        run = 0 if covered[i] else run + 1
        longest = max(longest, run)
    return 2 * longest >= len(signs)


def main():
    binary, home = sys.argv[1], sys.argv[2]
    options = [a for a in sys.argv[3:] if a != "--show"]
    rng = random.Random(7)
    words = faker.Faker("es_ES")
    words.seed_instance(7)
    notes = []
    for kind, cue, value in values(rng, home):
        digits = [i for i, c in enumerate(value) if c.isdigit()]
        typo = list(value)
        if digits:
            k = rng.choice(digits)
            typo[k] = str((int(typo[k]) + rng.randint(1, 9)) % 10)
        for form, written in (("as is", value), ("typo", "".join(typo))):
            body = rng.choice(FRAMES).format(c=cue, v="\0" + written + "\0", w=words.word())
            text = words.sentence(6) + " " + body + " " + words.sentence(4)
            start = text.index("\0")
            notes.append((kind, form, cue, written, start, text.replace("\0", "")))
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "in.jsonl"), os.path.join(folder, "out.jsonl")
        with open(source, "w") as f:
            for i, n in enumerate(notes):
                f.write(json.dumps({"id": str(i), "text": n[5]}) + "\n")
        subprocess.check_call([binary, "tag", "--quiet", "--in", source, "--out", out, *options])
        found = {int(n["id"]): n["spans"] for n in map(json.loads, open(out))}
    table = collections.defaultdict(lambda: [0, 0, 0, 0])
    for i, (kind, form, cue, value, start, text) in enumerate(notes):
        covered = [any(s["start"] <= start + k < s["end"] for s in found[i]) for k in range(len(value))]
        row = table[kind]
        column = 0 if form == "as is" else 2
        row[column] += 1
        if readable(value, covered):
            row[column + 1] += 1
            if "--show" in sys.argv:
                print(kind, form, repr(text[max(start - 40, 0):start + len(value) + 15]))
    total = [sum(r[k] for r in table.values()) for k in range(4)]
    for kind, (n, leaks, m, typos) in sorted(table.items()) + [("all", total)]:
        print("%-28s %5d  readable %4d %6.2f %%  one digit changed %4d %6.2f %%" % (kind, n, leaks, 100 * leaks / n, typos, 100 * typos / m))


if __name__ == "__main__":
    main()
