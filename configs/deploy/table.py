#!/usr/bin/env python3
"""Writes what a table of Delta Lake or Iceberg says into files of Parquet: table.py TABLE DIR [VERSION]

TABLE is the folder of a table on this machine, VERSION a number of Delta Lake or the id of a snapshot of Iceberg; without it, the
newest. DIR gets a file for each file of the table, with the rows that count and under a name that is the same every night: what is
there stays, and what the table has no more is removed. So

    table.py TABLE DIR && velum run --in DIR --replace --out masked/

masks only what is new. What the table asks of its readers and the library does not do is an error of the library. Needs deltalake,
or pyiceberg with pyarrow, of PyPI.
"""

import glob
import hashlib
import os
import re
import sys

import pyarrow.parquet as pq


def delta(table, version):
    """Each file of a table of Delta Lake: its name, and a function that reads it."""
    from deltalake import DeltaTable

    rows = DeltaTable(table, version=int(version) if version else None).to_pyarrow_dataset()
    for fragment in rows.get_fragments():
        yield fragment.path, lambda fragment=fragment: fragment.to_table(schema=rows.schema)


def iceberg(table, version):
    """Each file of a table of Iceberg, with what deletes its rows."""
    from pyiceberg.io.pyarrow import ArrowScan
    from pyiceberg.table import StaticTable

    number = lambda path: int(re.match(r"v?(\d+)", os.path.basename(path)).group(1))  # noqa: E731
    files = sorted(glob.glob(os.path.join(glob.escape(table), "metadata", "*.metadata.json*")), key=number)
    if len(files) > 1 and number(files[-1]) == number(files[-2]):
        sys.exit(f"table.py: {table} has two files of metadata with the number {number(files[-1])}, and only its catalog knows which counts")
    known = StaticTable.from_metadata("file://" + files[-1])
    scan = known.scan(snapshot_id=int(version) if version else None)
    schema = scan.projection()
    for task in scan.plan_files():
        name = " ".join([task.file.file_path, *sorted(f.file_path for f in task.delete_files), str(schema)])
        yield name, lambda task=task: ArrowScan(known.metadata, known.io, schema, scan.row_filter).to_table([task])


def main(table, out, version=""):
    table, out = os.path.realpath(table), os.path.realpath(out)
    if os.path.commonpath([out, table]) in (out, table):
        sys.exit(f"table.py: {table} and {out} must not stand inside each other; name another folder")
    os.makedirs(out, mode=0o700, exist_ok=True)
    if any(not re.fullmatch(r"[0-9a-f]{20}\.parquet(\.tmp)?", name) for name in os.listdir(out)):
        sys.exit(f"table.py: {out} holds what is no file of a table; name another folder")
    there = set()
    for name, read in (delta if os.path.isdir(os.path.join(table, "_delta_log")) else iceberg)(table, version):
        path = os.path.join(out, hashlib.sha256(name.encode()).hexdigest()[:20] + ".parquet")
        there.add(path)
        if not os.path.exists(path):
            pq.write_table(read(), path + ".tmp", write_page_checksum=True)
            os.rename(path + ".tmp", path)
    for name in os.listdir(out):
        if os.path.join(out, name) not in there:
            os.remove(os.path.join(out, name))
    print(f"{out}: {len(there)} files")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
