"""A frame of notes by every library, and by Spark, row for row as velum run masks it.

    python scripts/python/bench.py [NOTES] [--without-spark]

Prints seconds of this machine and of processor time; ends with 1 if a row differs.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import datasets
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq

import velum


def generated(notes: int, folder: str) -> pa.Table:
    """Return notes of velum teach synth, with some that no run releases."""
    path = os.path.join(folder, "notes.jsonl")
    subprocess.run([velum.program(), "teach", "synth", "--quiet", "--notes", str(notes), "--seed", "3", "--out", path], check=True)
    with open(path, encoding="utf-8") as f:
        texts = [json.loads(line)["text"] for line in f]
    for i in range(0, notes, 1000):
        texts[i] = [None, "cuestionario t@m..hipoacusia", "NUL \x00"][i // 1000 % 3]
    return pa.table({"note_id": [f"n{i}" for i in range(notes)], "text": texts, "year": [2000 + i % 26 for i in range(notes)]})


def of_run(table: pa.Table, folder: str) -> dict[str, str]:
    """Return the masked texts of velum run by id."""
    archive, out = os.path.join(folder, "notes.parquet"), os.path.join(folder, "masked")
    pq.write_table(table, archive)
    velum.run(archive, out, settings={"write.max_quarantined": 1})
    parts = pa.concat_tables([pq.read_table(os.path.join(d, f), columns=["note_id", "text"], partitioning=None) for d, _, files in os.walk(os.path.join(out, "masked")) for f in files])
    return dict(zip(parts["note_id"].to_pylist(), parts["text"].to_pylist()))


def spark(table: pa.Table, folder: str) -> list:
    """Return the rows that mapInArrow makes in four partitions."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    frame = session.read.parquet(os.path.join(folder, "notes.parquet")).repartition(4)
    rows = frame.mapInArrow(velum.map_in_arrow(keep=["year"]), "note_id string, text string, status string, year long").collect()
    session.stop()
    return [(r.note_id, r.text) for r in rows]


def main() -> None:
    arguments = [a for a in sys.argv[1:] if a[0] != "-"]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        table = generated(int(arguments[0]) if arguments else 100_000, folder)
        want = of_run(table, folder)
        ids = table["note_id"].to_pylist()
        frame = table.to_pandas()
        ways = {
            "list": lambda: zip(ids, velum.mask(table["text"].to_pylist())),
            "pyarrow": lambda: zip(ids, velum.mask(table, id="note_id", keep=["year"])["text"].to_pylist()),
            "pandas": lambda: zip(ids, (t if isinstance(t, str) else None for t in velum.mask(frame, id="note_id", keep=["year"])["text"])),
            "Polars": lambda: zip(ids, velum.mask(polars.from_arrow(table), id="note_id", keep=["year"])["text"].to_list()),
            "datasets": lambda: zip(ids, velum.mask(datasets.Dataset(table), id="note_id", keep=["year"])["text"][:]),
        }
        assert isinstance(frame, pandas.DataFrame)
        if "--without-spark" not in sys.argv:
            ways["Spark mapInArrow"] = lambda: spark(table, folder)
        for name, way in ways.items():
            began, used = time.time(), resource.getrusage(resource.RUSAGE_CHILDREN)
            rows = list(way())
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            differ = sum(want.get(i) != text for i, text in rows) + abs(len(rows) - len(ids))
            wrong += differ
            print(f"{name}: {len(rows)} rows, {differ} not as velum run; {time.time() - began:.1f} s, processor time of children {after.ru_utime - used.ru_utime + after.ru_stime - used.ru_stime:.1f} s", flush=True)
    print(f"{len(want)} of {len(ids)} notes are masked")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
