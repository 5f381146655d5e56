#!/usr/bin/env python3
"""Writes models/word/gazetteer/names/world-*.txt: names of people from all over the world, for rules alone.

    scripts/data/lists/world.py FOLDER

FOLDER holds, unpacked, what `pip download --no-deps faker==40.54.0 mimesis==22.2.0 names==0.3.0` and
`npm pack @faker-js/faker@9.9.0` fetch; node reads the last. All names of the locales below are taken whole, the census of
the United States (a public-domain table in PyPI names) from its top. Names of other scripts are written in Latin letters as
passports of the country do (names.py). Left out is what shipped lists know, words of the language, drugs, months, and what
texts write in small letters. Needs ../shared/data (VELUM_DATA).
"""
import collections, gzip, importlib, json, os, pathlib, re, subprocess, sys, unicodedata

import names
from names import LISTS, fold, latin

NAMES = LISTS.parent / "names"
FAKER = "es es_AR es_CL es_CO es_ES es_MX es_CA en en_GB en_IE en_NZ en_KE fr_BE fr_CA fr_CH fr_FR fr_QC de_CH de_LI de_LU it_IT nl_BE hr_HR hu_HU cs_CZ sk_SK sl_SI lt_LT lv_LV et_EE az_AZ mk_MK ro_RO bn_BD ne_NP id_ID vi_VN sw zu_ZA".split() + list(names.LOCALES)
MIMESIS = "cs de de-at de-ch en en-au en-ca en-gb es es-mx fr hu it nl nl-be pl pt pt-br ro ru sk tr uk hr kk".split()
FAKERJS = "de de_AT de_CH en_AU en_CA en_GH en_IN en_IE en_NG en_US en_ZA es es_MX fr fr_BE fr_CH fr_SN hr hu id_ID it nl nl_BE pl pt_BR pt_PT ro ro_MD ru sk tr uk cs_CZ sr_RS_latin uz_UZ_latin yo_NG zu_ZA".split()
SCRIPT = {"ru": "ru_RU", "uk": "uk_UA"}
CENSUS = 9000  # surnames, from the most frequent: seven people in ten
EPONYMS = "Bence Budd Brown Jude Duke Simpson Dubin Gill Howell Jolly Christ York Dandy Calmette Treadmill Wright Swan Ganz Killip Kimball".split()  # of two names, in reports
RARE = 3  # times in small letters in texts: a word, not a name
MALE, FEMALE, LAST = ("names", "male"), ("names", "female"), ("surnames", None)
DUMP = """import * as f from './package/dist/index.js';
const out = {};
for (const [k, v] of Object.entries(f.allLocales)) if (v.person) out[k] = {given: v.person.first_name, last: v.person.last_name};
console.log(JSON.stringify(out));"""


def flat(value):
    """All strings below a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):  # names are keys where the values are weights
        for k, v in value.items():
            yield from flat(k if isinstance(v, (int, float)) else v)
    elif isinstance(value, (list, tuple, set)):
        for v in value:
            yield from flat(v)


def faker(folder):
    sys.path.insert(0, str(folder))
    for locale in FAKER:
        try:
            p = importlib.import_module(f"faker.providers.person.{locale}").Provider
        except ModuleNotFoundError:
            continue
        for part in dir(p):
            kind = "given" if part.startswith("first") else "last" if part.startswith("last") else None
            if kind:
                yield from ((kind, latin(n, locale)) for n in flat(getattr(p, part)))


def mimesis(folder):
    for locale in MIMESIS:
        path = folder / "mimesis/datasets" / locale / "person.json"
        if path.exists():
            person = json.loads(path.read_text(encoding="utf-8"))
            for kind, key in (("given", "names"), ("last", "surnames")):
                yield from ((kind, latin(n, SCRIPT.get(locale, ""))) for n in flat(person.get(key)))


def fakerjs(folder):
    out = subprocess.run(["node", "--input-type=module", "-e", DUMP], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout
    all_locales = json.loads(out)
    for locale in FAKERJS:
        for kind in ("given", "last"):
            yield from ((kind, latin(n, SCRIPT.get(locale, ""))) for n in flat(all_locales.get(locale, {}).get(kind)))


def census(folder):
    for kind, name, most in (("last", "dist.all.last", CENSUS), ("given", "dist.male.first", 5000), ("given", "dist.female.first", 5000)):
        for line in (folder / "names-0.3.0/names" / name).read_text().splitlines()[:most]:
            yield kind, line.split()[0].title()


def small_words():
    """How often texts write a word in small letters, and how often with a capital."""
    low, high = collections.Counter(), collections.Counter()
    data = pathlib.Path(os.environ.get("VELUM_DATA", "../shared/data"))
    for path in [*data.glob("unlabelled-*/*.gz"), *data.glob("general/es/*.gz"), *data.glob("general/ca/*.gz")]:
        with gzip.open(path, "rt", encoding="utf-8") as f:
            for w in re.findall(r"[^\W\d_]+", f.read()):
                if w.islower():
                    low[fold(w)] += 1
                elif w.istitle():
                    high[fold(w)] += 1
    return low, high


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    found = {"given": set(), "last": set()}
    for source in (faker, mimesis, fakerjs, census):
        before = {k: len(v) for k, v in found.items()}
        for kind, name in source(folder):
            name = unicodedata.normalize("NFC", name.strip())
            if names.LETTERS.fullmatch(name):
                found[kind].add(name)
        print(source.__name__, {k: len(v) - before[k] for k, v in found.items()})
    low, high = small_words()
    word = lambda n: low[fold(n)] >= RARE and 5 * low[fold(n)] > high[fold(n)]
    never = {fold(e) for e in EPONYMS} | names.entries("own-medical.txt", "own-drugs.txt", "own-months.txt", "own-weekdays.txt", "own-common.txt", "stopwordsiso-common.txt", "own-countries.txt", "own-provinces.txt")
    for kind, cls, file in (("given", "GivenName", "given-names"), ("last", "Surname", "surnames")):
        known = names.entries(*(p.name for pattern in ("*given-names.txt", "*surnames.txt") for p in LISTS.glob(pattern)))  # of either class: no García, María
        known |= {fold(line.strip()) for line in (NAMES / f"own-{file}.txt").read_text(encoding="utf-8").splitlines()}
        kept = {}
        for n in sorted(found[kind]):
            if fold(n) not in known | never and not word(n) and len(n) > 3:
                kept.setdefault(fold(n), n)
        (NAMES / f"world-{file}.txt").write_text(
            f"# class: {cls}\n# source: PyPI Faker 40.54.0, mimesis 22.2.0, names 0.3.0 (US Census 1990), npm @faker-js/faker 9.9.0; made by scripts/data/lists/world.py\n"
            "# version: 1\n# licence: MIT; census: public domain\n" + "".join(n + "\n" for n in sorted(kept.values())), encoding="utf-8")
        print(file, len(kept))


if __name__ == "__main__":
    main()
