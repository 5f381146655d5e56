#!/usr/bin/env python3
"""Makes the masked notes of an output a table of Delta Lake, by one commit a night: delta.py DIR TABLE

DIR is an output of `velum run` or `velum mask`, TABLE a folder on the same file system. Parts are linked there, and a
version lists just those that DIR/manifest.json lists: run it after each `velum run`, `mask` or `forget`. What the output has no
more is removed from the table's folder, too, since somebody may have been forgotten: older versions are history
without their files. Needs deltalake and pyarrow of PyPI.

The log cannot stand over DIR itself: readers take no paths outside a table's folder, and no file of others belongs into DIR.
"""

import json
import os
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable
from deltalake.transaction import AddAction


def nullable(schema):
    return pa.schema([pa.field(f.name, f.type) for f in schema])


def publish(out, table):
    out, table = os.path.realpath(out), os.path.realpath(table)
    if os.path.commonpath([out, table]) in (out, table):
        sys.exit(f"delta.py: {table} and {out} must not stand inside each other; name another folder for the table")
    with open(os.path.join(out, "manifest.json"), encoding="utf-8") as file:
        manifest = json.load(file)
    listed = [p for u in manifest["units"] for p in u["parts"]] + manifest.get("files", [])  # where dates move, the last step writes them
    parts = {p["path"]: p["bytes"] for p in listed if p["kind"] == "masked"}
    if os.path.isdir(table) and set(os.listdir(table)) - {"_delta_log", "masked"}:
        sys.exit(f"delta.py: {table} holds what is no such table; name another folder")
    schema = pa.schema([])
    for path in parts:
        there = os.path.join(table, path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if not os.path.exists(there):
            try:
                os.link(os.path.join(out, path), there)
            except OSError as e:
                sys.exit(f"delta.py: {there}: {e.strerror}; the table must lie on the file system of {out}")
        schema = pa.unify_schemas([schema, nullable(pq.read_schema(there))])
    if not parts:
        sys.exit(f"delta.py: {out} has no masked notes")
    known = DeltaTable.create(table, schema, mode="ignore")
    listed = set(pa.table(known.get_add_actions())["path"].to_pylist())
    changed = parts.keys() != listed
    if changed:
        now = int(time.time() * 1000)
        actions = [AddAction(path, size, {}, now, True, "{}") for path, size in sorted(parts.items())]
        known.create_write_transaction(actions, "overwrite", schema)
    for folder, _, names in os.walk(table):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), table)
            if path not in parts and not path.startswith("_delta_log"):
                os.remove(os.path.join(folder, name))
    print(f"{table}: version {DeltaTable(table).version()}, {len(parts)} files, {'new' if changed else 'nothing is new'}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    publish(sys.argv[1], sys.argv[2])
