#!/usr/bin/env python3
"""Writes models/word/gazetteer/lists/faker-origin-*.txt: given names and surnames of people from all over the world.

    pip download --no-deps faker==40.54.0, unpack it; then: names.py FOLDER (needs ../shared/data, VELUM_DATA)

Names of other scripts are written in Latin letters as passports of the country do. Left out is what the lists that taggers
know have already, words of the language, drugs, eponyms, months, and what clinical notes write in small letters.
"""
import collections, gzip, importlib, json, os, pathlib, re, sys, unicodedata

LOCALES = ("pt_BR de_DE de_AT pl_PL en_US en_IN en_PK fr_DZ ig_NG yo_NG ha_NG tw_GH tr_TR nl_NL uk_UA ru_RU bg_BG ka_GE hy_AM "
           "zh_CN en_NG").split()
LISTS = pathlib.Path("models/word/gazetteer/lists")
FREQUENT = 15  # times in small letters in the notes: a word, not a name


def table(letters, latin):
    return dict(zip(letters, ("" if x == "|" else x for x in latin.split())))


TABLES = {
    "uk_UA": table("абвгґдеєжзиіїйклмнопрстуфхцчшщьюя'’", "a b v h g d e ie zh z y i i i k l m n o p r s t u f kh ts ch sh shch | iu ia | |"),
    "ru_RU": table("абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch | y | e yu ya"),
    "bg_BG": table("абвгдежзийклмнопрстуфхцчшщъьюя", "a b v g d e zh z i y k l m n o p r s t u f h ts ch sh sht a y yu ya"),
    "ka_GE": table("აბგდევზთიკლმნოპჟრსტუფქღყშჩცძწჭხჯჰ", "a b g d e v z t i k l m n o p zh r s t u p k gh q sh ch ts dz ts ch kh j h"),
    "hy_AM": table("աբգդեզէըթժիլխծկհձղճմյնշոչպջռսվտրցւփքօֆև", "a b g d e z e y t zh i l kh ts k h dz gh ch m y n sh o ch p j r s v t r ts v p k o f ev"),
}
INITIAL = {"є": "ye", "ї": "yi", "й": "y", "ю": "yu", "я": "ya"}  # of Ukrainian words
LETTERS = re.compile(r"[A-ZÀ-ŽŁŚŻŠČÖÜÇĐØÅƏ][a-zà-žłńóśźżšč'əğışöüç]{2,14}(-[A-Z][a-z]+)?")


def latin(word, locale):
    t = TABLES.get(locale)
    if t is None:
        return word
    small = word.lower().replace("ու", "u") if locale == "hy_AM" else word.lower()
    out = "".join(INITIAL[c] if locale == "uk_UA" and k == 0 and c in INITIAL else t.get(c, c) for k, c in enumerate(small))
    return "-".join(p[:1].upper() + p[1:] for p in out.split("-"))


def fold(s):
    return "".join(c for c in unicodedata.normalize("NFD", s.lower()) if not unicodedata.combining(c))


def entries(*names):
    return {fold(line.strip()) for n in names for line in open(LISTS / n, encoding="utf-8") if not line.startswith("#")}


def small_words():
    low = collections.Counter()
    data = os.environ.get("VELUM_DATA", "../shared/data")
    for name in ("cantemist", "codiesp", "nubes"):
        for line in gzip.open(f"{data}/unlabelled-es-clinical/{name}.jsonl.gz", "rt", encoding="utf-8"):
            for w in re.findall(r"(?<![\w])[a-záéíóúüñçàèòï]+(?![\w])", json.loads(line)["text"]):
                low[fold(w)] += 1
    return low


def collect(parts):
    found = set()
    for locale in LOCALES:
        try:
            p = importlib.import_module(f"faker.providers.person.{locale}").Provider
        except ModuleNotFoundError:
            continue
        for part in parts:
            names = getattr(p, part, None) or ()
            found |= {latin(str(n), locale) for n in (() if callable(names) else names)}
    return {n for n in found if LETTERS.fullmatch(n)}


def write(name, cls, found, known, low, not_names):
    kept = sorted(n for n in found if not {fold(n)} & (known | not_names) and low[fold(n)] < FREQUENT)
    (LISTS / name).write_text(f"# class: {cls}\n# source: PyPI Faker, locales {' '.join(LOCALES)}; those of other scripts in Latin letters\n"
                            "# version: 40.54.0\n# licence: MIT\n" + "".join(n + "\n" for n in kept), encoding="utf-8")
    print(f"{name}: {len(kept)}")


def main():
    sys.path.insert(0, sys.argv[1])
    low = small_words()
    not_names = entries("own-medical.txt", "own-drugs.txt", "own-eponyms.txt", "own-months.txt", "own-weekdays.txt", "own-common.txt", "stopwordsiso-common.txt")
    given = collect(("first_names", "first_names_male", "first_names_female", "first_names_unisex", "first_romanized_names"))
    last = collect(("last_names", "last_names_male", "last_names_female", "last_names_unisex", "last_romanized_names"))
    write("faker-origin-given-names.txt", "GivenName", given, entries("own-given-names.txt", "faker-given-names.txt", "own-origin-given-names.txt"), low, not_names)
    write("faker-origin-surnames.txt", "Surname", last, entries("own-surnames.txt", "faker-surnames.txt", "own-origin-surnames.txt"), low, not_names)


if __name__ == "__main__":
    main()
