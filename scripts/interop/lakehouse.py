#!/usr/bin/env python3
"""Does velum mask what the libraries that write a lakehouse's table read of it?

Tables of Delta Lake (deltalake) and Iceberg (pyiceberg) go through appends, deletes,
updates, merges, checkpoints, compaction, changes of schema and vacuum. Of every version
`configs/deploy/table.py` writes files, and `velum run --replace` makes one output anew, and
changes the output that has the version before: both must have the rows that deltalake and
pyiceberg read, by id, text and the columns that are kept. Then versions are read in any order.
Last, `configs/deploy/delta.py` makes a table of an output, night by night.

Called by `make interop`; needs bin/velum. PyPI packages go to .venv. All notes are
invented here, and have nothing to mask: so the text must come out as it went in.
"""

import datetime
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = ["deltalake>=1", "pyiceberg[sql-sqlite,pyarrow,pyiceberg-core]>=0.9", "pyarrow>=15"]

try:
    import deltalake  # noqa: F401
    import pyiceberg  # noqa: F401
except ImportError:
    if "--ready" in sys.argv:
        raise
    home = os.path.join(TOP, ".venv")
    python = os.path.join(home, "bin", "python")
    if not os.path.exists(python):
        subprocess.check_call([sys.executable, "-m", "venv", home])
    subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
    os.execv(python, [python, os.path.abspath(__file__), "--ready", *sys.argv[1:]])

import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from deltalake import DeltaTable, write_deltalake  # noqa: E402

TEXTS = ["Sin fiebre.", "Dolor abdominal leve.", "Refiere tos seca.", "Afebril y estable.", "Buena evolución.", "Niega alergias.", "Se pauta dieta blanda."]
VELUM = os.environ.get("VELUM", os.path.join(TOP, "bin", "velum"))
random.seed(27)
checks = failures = 0


def check(name, ok, detail=""):
    global checks, failures
    checks += 1
    failures += not ok
    if not ok or "-v" in sys.argv:
        print("ok   " if ok else "WRONG", name, "" if ok else detail, flush=True)


class Lake:
    """A table and what its library read of each version."""

    def __init__(self, name, folder, keep):
        self.name, self.folder, self.keep, self.versions = name, folder, keep, []

    def add(self, version, rows, what):
        self.versions.append((str(version), self.plain(rows), what, time.time()))
        time.sleep(0.02)

    def plain(self, rows):
        return sorted((str(r["note_id"]), r["text"], *(None if r.get(k) is None else str(r[k]) for k in self.keep)) for r in rows)


def velum(lake, out, version):
    files = out + ".files"
    p = subprocess.run([sys.executable, os.path.join(TOP, "configs/deploy/table.py"), lake.folder, files, *filter(None, [version])], capture_output=True, text=True)
    if p.returncode:
        return p
    return subprocess.run([VELUM, "run", "--replace", "--in", files, "--out", out, "--set", "read.keep=[%s]" % ",".join(lake.keep)], capture_output=True, text=True)


def rows_of(lake, out):
    rows = []
    for name in glob.glob(glob.escape(out) + "/masked/**/*.parquet", recursive=True):
        rows += pq.ParquetFile(name).read().to_pylist()
    return lake.plain(rows)


def compare(lake, out, version, want, what):
    p = velum(lake, out, version)
    ok = p.returncode in (0, 4) or not want
    check(f"{lake.name} {what}: exit", ok, p.stderr[-600:])
    if not ok or not want:
        return
    got = rows_of(lake, out)
    missing, more = [r for r in want if r not in got], [r for r in got if r not in want]
    check(f"{lake.name} {what}: {len(want)} rows", got == want, f"got {len(got)}, missing {missing[:3]}, more {more[:3]}")


def judge(lake, scratch):
    grown = os.path.join(scratch, "grown")
    for version, want, what, _ in lake.versions:
        compare(lake, grown, version, want, f"version {version} ({what}), grown")
        fresh = os.path.join(scratch, "fresh")
        compare(lake, fresh, version, want, f"version {version} ({what}), anew")
        if want:
            check(f"{lake.name} version {version}: masked texts of the grown output are those of the new one", masked(grown) == masked(fresh))
        for tree in (fresh, fresh + ".private", fresh + ".files"):
            shutil.rmtree(tree, ignore_errors=True)
    for version, want, what, _ in random.sample(lake.versions, min(5, len(lake.versions))):
        compare(lake, grown, version, want, f"version {version} ({what}), in any order")
    version, want, what, _ = lake.versions[-1]
    compare(lake, grown, None, want, "newest")
    for tree in (grown, grown + ".private", grown + ".files"):
        shutil.rmtree(tree, ignore_errors=True)


def masked(out):
    rows = []
    for name in glob.glob(glob.escape(out) + "/masked/**/*.parquet", recursive=True):
        rows += [(r["note_id"], r["text"]) for r in pq.ParquetFile(name).read(columns=["note_id", "text"]).to_pylist()]
    return sorted(rows)


def notes(first, count, **more):
    ids = [f"n{i}" for i in range(first, first + count)]
    return pa.table({"note_id": ids, "text": [TEXTS[i % len(TEXTS)] for i in range(first, first + count)], **{k: f(range(first, first + count)) for k, f in more.items()}})


WARDS = ["uci norte", "a/b", "100%", "ñandú=1", "", None]


def delta(scratch):
    folder = os.path.join(scratch, "delta notes")
    lake = Lake("delta", folder, ["ward", "seen", "beds", "n"])
    day = datetime.date(2026, 1, 31)
    columns = {
        "ward": lambda r: pa.array([WARDS[i % len(WARDS)] for i in r], pa.string()),
        "seen": lambda r: pa.array([day + datetime.timedelta(days=i % 2) for i in r], pa.date32()),
        "beds": lambda r: pa.array([i % 2 for i in r], pa.int32()),
        "n": lambda r: pa.array(list(r), pa.int64()),
    }

    def now(what):
        t = DeltaTable(folder)
        lake.add(t.version(), t.to_pyarrow_table().to_pylist(), what)

    write_deltalake(folder, notes(0, 40, **columns), partition_by=["ward", "seen", "beds"], configuration={"delta.logRetentionDuration": "interval 30 days"})
    now("created")
    write_deltalake(folder, notes(40, 30, **columns), mode="append")
    now("append")
    DeltaTable(folder).delete("note_id in ('n3', 'n44')")
    now("delete")
    DeltaTable(folder).update(updates={"text": "'Alta a domicilio.'"}, predicate="n % 7 = 0")
    now("update")
    DeltaTable(folder).create_checkpoint()
    fresh = notes(60, 20, **columns)
    fresh = fresh.set_column(1, "text", pa.array(["Control en un mes."] * 20))
    DeltaTable(folder).merge(fresh, "t.note_id = s.note_id", source_alias="s", target_alias="t").when_matched_update_all().when_not_matched_insert_all().execute()
    now("merge")
    DeltaTable(folder).delete("ward = 'a/b'")
    now("delete of a partition")
    for i in range(12):
        write_deltalake(folder, notes(100 + i, 1, **columns), mode="append")
    now("twelve appends")
    DeltaTable(folder).create_checkpoint()
    DeltaTable(folder).optimize.compact()
    now("compaction")
    write_deltalake(folder, notes(200, 5, **columns, extra=lambda r: pa.array([f"x{i}" for i in r])), mode="append", schema_mode="merge")
    now("a column more")
    DeltaTable(folder).optimize.z_order(["n"])
    now("z-order")
    DeltaTable(folder).alter.add_constraint({"positive": "n >= 0"})
    now("no data")
    DeltaTable(folder).restore(2)
    now("restore")
    DeltaTable(folder).delete()
    now("all rows deleted")
    write_deltalake(folder, notes(300, 9, **columns), mode="append")
    now("append to nothing")
    judge(lake, scratch)
    DeltaTable(folder).vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    last = lake.versions[-1]
    out = os.path.join(scratch, "vacuumed")
    compare(lake, out, None, last[1], "after vacuum")
    check("delta: a version that was vacuumed is refused", velum(lake, os.path.join(scratch, "gone"), "1").returncode not in (0, 4))
    return lake


def iceberg(scratch):
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.expressions import EqualTo, In
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import DayTransform, IdentityTransform
    from pyiceberg.types import DateType, IntegerType, LongType, NestedField, StringType

    for version in ("1", "2", "3"):
        house = os.path.join(scratch, "house" + version)
        os.makedirs(house)
        catalog = SqlCatalog("v" + version, uri=f"sqlite:///{house}/catalog.db", warehouse=f"file://{house}")
        catalog.create_namespace("h")
        schema = Schema(
            NestedField(1, "note_id", StringType(), required=False), NestedField(2, "text", StringType(), required=False),
            NestedField(3, "ward", StringType(), required=False), NestedField(4, "seen", DateType(), required=False),
            NestedField(5, "beds", IntegerType(), required=False), NestedField(6, "n", LongType(), required=False))
        spec = PartitionSpec(PartitionField(3, 1000, IdentityTransform(), "ward"), PartitionField(4, 1001, DayTransform(), "seen_day"))
        properties = {"format-version": version, "write.delete.mode": "merge-on-read", "write.update.mode": "merge-on-read"}
        try:
            t = catalog.create_table("h.notes", schema, partition_spec=spec, properties=properties)
        except Exception as e:
            print(f"pyiceberg writes no tables of version {version}: {e}")
            continue
        folder = t.location().removeprefix("file://")
        lake = Lake("iceberg v" + version, folder, ["ward", "seen", "beds", "n"])
        day = datetime.date(2026, 1, 31)
        columns = {
            "ward": lambda r: pa.array([WARDS[i % len(WARDS)] for i in r], pa.string()),
            "seen": lambda r: pa.array([day + datetime.timedelta(days=i % 2) for i in r], pa.date32()),
            "beds": lambda r: pa.array([i % 2 for i in r], pa.int32()),
            "n": lambda r: pa.array(list(r), pa.int64()),
        }

        def now(what):
            t.refresh()
            lake.add(t.current_snapshot().snapshot_id, t.scan().to_arrow().to_pylist(), what)

        t.append(notes(0, 40, **columns))
        now("created")
        t.append(notes(40, 30, **columns))
        now("append")
        t.delete(In("note_id", ["n3", "n44"]))
        now("delete")
        t.overwrite(notes(7, 1, **columns).set_column(1, "text", pa.array(["Alta a domicilio."])), EqualTo("note_id", "n7"))
        now("overwrite")
        fresh = notes(60, 20, **columns)
        t.upsert(fresh.set_column(1, "text", pa.array(["Control en un mes."] * 20)), join_cols=["note_id"])
        now("upsert")
        for i in range(5):
            t.append(notes(100 + i, 1, **columns))
        now("five appends")
        t.delete(EqualTo("ward", "a/b"))
        now("delete of a partition")
        whole = t.scan().to_arrow()
        t.overwrite(whole)
        now("all rewritten")
        with t.update_schema() as u:
            u.add_column("extra", StringType())
        t.append(notes(200, 5, **columns, extra=lambda r: pa.array([f"x{i}" for i in r])))
        now("a column more")
        judge(lake, scratch)
        with t.update_schema() as u:
            u.rename_column("ward", "unit")
            u.delete_column("extra")
        t.refresh()
        lake.keep = ["unit", "seen", "beds", "n"]
        t.append(notes(300, 4, **{("unit" if k == "ward" else k): f for k, f in columns.items()}))
        out = os.path.join(scratch, "renamed" + version)
        compare(lake, out, None, lake.plain(t.scan().to_arrow().to_pylist()), "a column renamed")


def published(scratch):
    """What configs/deploy/delta.py publishes has the rows of the output, and no file of what was forgotten."""
    archive, out, table = (os.path.join(scratch, name) for name in ("published-in", "published-out", "published-table"))
    os.makedirs(archive)

    def night(name, *args):
        subprocess.run([VELUM, *args, "-q"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([sys.executable, os.path.join(TOP, "configs/deploy/delta.py"), out, table], check=True, stdout=subprocess.DEVNULL)
        files = glob.glob(os.path.join(out, "masked/**/*.parquet"), recursive=True)
        want = pa.concat_tables([pq.read_table(f, partitioning=None) for f in files], promote_options="permissive")
        t = DeltaTable(table)
        have = t.to_pyarrow_table().select(want.column_names)
        rows = [sorted(map(repr, x.to_pylist())) for x in (have, want)]
        check(f"published {name}: rows", rows[0] == rows[1], f"{have.num_rows}, want {want.num_rows}")
        left = glob.glob(os.path.join(table, "masked/**/*.parquet"), recursive=True)
        check(f"published {name}: files", len(left) == len(files), f"{len(left)}, want {len(files)}")
        return t.version()

    for month in (1, 2):
        pq.write_table(notes(1000 * month, 50), os.path.join(archive, f"{month}.parquet"))
    versions = [night("anew", "run", "--in", archive, "--out", out)]
    pq.write_table(notes(3000, 50, ward=lambda r: pa.array([f"w{i}" for i in r])), os.path.join(archive, "3.parquet"))
    versions.append(night("a month and a column more", "run", "--in", os.path.join(archive, "3.parquet"), "--out", out, "--set", "read.keep=ward"))
    versions.append(night("a month forgotten", "run", "forget", "--out", out, "--set", "read.keep=ward", "2.parquet"))
    check("published: a version a night", versions == [1, 2, 3], str(versions))


with tempfile.TemporaryDirectory() as scratch:
    for make in (delta, iceberg, published):
        if len([a for a in sys.argv[1:] if not a.startswith("-")]) == 0 or make.__name__ in sys.argv:
            make(scratch)
print(f"{checks} checks, {failures} wrong")
sys.exit(failures > 0)
