#!/usr/bin/env python3
"""k of the public tables of an extract that was made with anonymity.k, by PyPI's pycanon, beside what the run says.

  python3 -m venv /tmp/venv && /tmp/venv/bin/pip install pycanon pyarrow
  /tmp/venv/bin/python scripts/experiments/k_pycanon.py EXTRACT
"""
import glob
import json
import sys

import pandas
from pycanon import anonymity

extract = sys.argv[1].rstrip("/")
files = glob.glob(f"{extract}/quasi/**/*.parquet", recursive=True)
notes = pandas.concat(pandas.read_parquet(f, partitioning=None) for f in files)
columns = [c for c in notes.columns if c not in ("note_id", "row")]
k = anonymity.k_anonymity(notes, columns)
wanted = json.load(open(f"{extract}/report.json"))["k_anonymity"]["k"]
print(f"{len(notes)} notes, {columns}: pycanon says k = {k}, the run was asked for {wanted}")
sys.exit(k < wanted)
