#!/usr/bin/env python3
"""Write models/form/surrogate/lists/surnames.txt: surnames of Spain and Spanish America, from PyPI Faker.

  pip install faker==40.54.0 && python3 scripts/data/lists/surnames.py > models/form/surrogate/lists/surnames.txt
"""
import importlib
import re


def main():
    names = set()
    for locale in "es_ES es_MX es_CL es_CO es_AR".split():
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        names |= {n for n in provider.last_names if re.fullmatch(r"[^\W\d_]{3,14}", n)}
    print("# Surnames of Spain and Spanish America: PyPI Faker 40.54.0 (MIT), made by scripts/data/lists/surnames.py")
    print("\n".join(sorted(names)))


if __name__ == "__main__":
    main()
