#!/usr/bin/env python3
"""Write models/form/surrogate/lists/given.txt: given names with gender (m, f) and origin (es, ca, other), from PyPI Faker.

  pip install faker==40.54.0 && python3 scripts/data/lists/given.py > models/form/surrogate/lists/given.txt

A name that is both a man's and a woman's is left out. Catalan is what only the Catalan lists have, what is written with letters or
endings that Spanish lacks, and the names below, written by hand.
"""
import importlib
import re

CATALAN = """m Jordi Pere Joan Josep Carles Ramon Xavier Jaume Ferran Miquel Guillem Roger Oriol Marc Pau Albert Arnau Bernat Biel Enric Ernest Eudald
Gerard Ignasi Isidre Jan Lluc Llorenç Manel Mateu Narcís Pol Quim Rafel Salvador Sergi Toni Vicenç Aleix Bartomeu Francesc Joaquim Lluís
f Laia Mercè Núria Neus Dolors Carme Meritxell Mireia Anna Aina Berta Roser Montserrat Remei Consol Empar Assumpta Concepció Elisenda Eulàlia
Gemma Griselda Imma Jordina Judit Lluïsa Magda Margarida Mariona Mònica Nativitat Octàvia Queralt Rosalia Queta Txell Vinyet Glòria Fina Joana Caterina"""


def names(locale, what):
    provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
    return set(getattr(provider, what, ()))


def one_word(name):
    return re.fullmatch(r"[^\W\d_]{3,14}", name) and name[0].isupper() and name[1:].islower() and all(ord(c) < 0x180 for c in name)


OTHERS = """m Mohamed Mohammed Mohammad Ahmed Ali Youssef Hassan Omar Abdul Ibrahim Said Rachid Hamza Karim Samir Mustafa Khalid Moussa Mamadou
f Fatima Fátima Aicha Aisha Khadija Zineb Meryem Imane Hafida Naima Latifa Samira Fatoumata Aminata Oumou Zahra Karima"""


def by_hand(text):
    for line in text.replace("\nf ", "|f ").replace("\n", " ").split("|"):
        gender, *those = line.split()
        yield from ((name, gender) for name in those)


def main():
    genders, origins = {}, {}
    # the first locale that knows a name decides; of a name that it gives to both, the next
    for origin, locales in (("es", "es_ES"), ("ca", "es_CA"), ("other", "es_MX es_AR es_CO es_CL fr_DZ ro_RO it_IT pt_PT fr_FR de_DE en_GB")):
        for locale in locales.split():
            men, women = names(locale, "first_names_male"), names(locale, "first_names_female")
            for name in men ^ women:
                if one_word(name) and name not in genders:
                    genders[name] = "m" if name in men else "f"
                    origins[name] = origin
    for hand, origin in ((CATALAN, "ca"), (OTHERS, "other")):
        for name, gender in by_hand(hand):
            genders[name], origins[name] = gender, origin
    for name in sorted(genders):
        if origins[name] == "es" and re.search(r"[àèòïç]|ŀ|l·l", name.lower()):
            origins[name] = "ca"
        print(genders[name], origins[name], name)


if __name__ == "__main__":
    print("# Given names with gender and origin: PyPI Faker 40.54.0 (MIT), made by scripts/data/lists/given.py; Catalan and Maghreb names in part by hand.")
    main()
