#!/usr/bin/env python3
"""Do other Parquet programs read our files, and do we read theirs?

Ours: the parts that `velum run` writes of an archive without identifiers open in DuckDB,
pyarrow and pandas with the rows that went in.
`--fixtures DIR` writes files of every type of pyarrow, pandas, Polars and
DuckDB, which Go tests read (stages/read/archive/testdata/writers).
Theirs: files written by pyarrow and DuckDB, with dictionary and plain pages,
large strings, nulls, every codec, data pages v1 and v2, page checksums and
page indexes or none, are read by us as they were written. What we do not
read is refused with a message that says so.

Called by `make interop`. Makes a virtual environment in .venv with duckdb,
pyarrow and pandas from PyPI the first time (about 150 MB), and needs Go.
All notes are invented here.
"""

import datetime
import decimal
import glob
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PACKAGES = ["duckdb>=1.5", "pyarrow>=15", "pandas>=2", "polars>=1"]


def in_venv():
    """Starts this script again in the virtual environment."""
    home = os.path.join(TOP, ".venv")
    python = os.path.join(home, "bin", "python")
    if not os.path.exists(os.path.join(home, "interop-ready-2")):
        subprocess.check_call([sys.executable, "-m", "venv", home])
        subprocess.check_call([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
        open(os.path.join(home, "interop-ready-2"), "w").close()
    os.execv(python, [python, os.path.abspath(__file__), "--ready", *sys.argv[1:]])


if "--ready" not in sys.argv:
    try:
        import duckdb, pandas, polars, pyarrow  # noqa: F401  already there
    except ImportError:
        in_venv()

import duckdb  # noqa: E402
import pandas  # noqa: E402
import polars  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

failures = 0
checks = 0


def check(name, ok, detail=""):
    """Counts and prints one result."""
    global failures, checks
    checks += 1
    if not ok:
        failures += 1
    if not ok or "-v" in sys.argv:
        print(("ok    " if ok else "WRONG ") + name, detail if not ok else "")


def velum(binary, path, out, keep="", ids="note_id", text="text"):
    """Runs an archive through velum with its rules alone: in the notes here they find nothing."""
    return subprocess.run([binary, "run", "--in", path, "--out", out, "--model", "rules", "--id-column", ids, "--text-column", text,
                           "--set", "read.keep=" + keep, "--set", "write.max_quarantined=1", "--set", "choose.use=false"], capture_output=True, text=True)


def read_by_us(binary, path, keep="", ids="note_id", text="text"):
    """What we read of a file: rows in their order, or the message of the error."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        p = velum(binary, path, out, keep, ids, text)
        if p.returncode != 0:
            return None, p.stderr.strip()
        rows = []
        for part in glob.glob(out + "/masked/*.parquet") + glob.glob(out + ".private/quarantine/*.parquet"):
            for r in pq.read_table(part).to_pylist():
                extra = {c: r[c] for c in keep.split(",") if c and c in r}
                rows.append({"row": r["row"], "id": r["note_id"], "text": r.get("text", ""), "reason": r.get("reason", "sound"), "extra": extra})
        return sorted(rows, key=lambda r: r["row"]), ""


WORDS = "pac que finaliza tto refiere dolor lumbar de días evolución sin fiebre ñ ŀ 😀 control cada 8h".split()


def notes(n):
    """Invented notes: short ones, empty ones, nulls, repeated ones, a long one."""
    rows = []
    for i in range(n):
        text = " ".join(WORDS[(i * 7 + k * k) % len(WORDS)] for k in range(i % 23))
        if i % 97 == 0:
            text = None
        if i == n // 2:
            text = "informe " * 20000
        rows.append({"note_id": i * 3 - 5, "text": text, "date": i % 20000, "center": None if i % 5 == 0 else "C%d" % (i % 40)})
    return rows


def table(rows, text=pa.string()):
    return pa.table({
        "note_id": pa.array([r["note_id"] for r in rows], pa.int64()),
        "text": pa.array([r["text"] for r in rows], text),
        "date": pa.array([r["date"] for r in rows], pa.int32()).cast(pa.date32()),
        "center": pa.array([r["center"] for r in rows], pa.string()),
    })


EPOCH = datetime.date(1970, 1, 1)


def same(rows, got):
    """Compares what was written with what we read."""
    if got is None or len(got) != len(rows):
        return "%s rows of %d" % (None if got is None else len(got), len(rows))
    for want, have in zip(rows, got):
        reason = "null_text" if want["text"] is None else "sound"
        if (have["id"], have["text"], have["reason"]) != (str(want["note_id"]), want["text"] or "", reason):
            return "row %d" % have["row"]
        if reason == "sound" and have["extra"] != {"date": EPOCH + datetime.timedelta(want["date"]), "center": want["center"]}:
            return "row %d, other columns" % have["row"]
    return ""


def theirs(binary, folder):
    """Files of pyarrow and DuckDB, read by us."""
    rows = notes(3000)
    path = os.path.join(folder, "theirs.parquet")

    def reads(name):
        got, message = read_by_us(binary, path, "date,center")
        wrong = same(rows, got)
        check("velum reads " + name, not wrong, wrong + " " + message)

    for text in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())):
        for codec in ("none", "snappy", "gzip", "zstd", "brotli"):
            for version in ("1.0", "2.0"):
                for dictionary in (True, False, ["center"]):
                    pq.write_table(table(rows, text), path, compression=codec, data_page_version=version, use_dictionary=dictionary,
                                   row_group_size=1100, data_page_size=5000, write_page_checksum=version == "2.0",
                                   write_page_index=codec == "zstd", write_statistics=codec != "gzip")
                    reads("pyarrow %s %s page v%s dictionary %s" % (text, codec, version, dictionary))
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
        pq.write_table(table(rows), path, use_dictionary=False, column_encoding={"text": encoding, "note_id": "DELTA_BINARY_PACKED"})
        reads("pyarrow " + encoding)
    pq.write_table(table(rows), path, dictionary_pagesize_limit=2000, data_page_size=3000)
    reads("pyarrow dictionary that gives way to plain pages")

    db = duckdb.connect()
    db.register("notes", table(rows))
    for codec in ("uncompressed", "snappy", "gzip", "zstd", "brotli"):
        for version in ("V1", "V2"):
            db.execute("copy notes to '%s' (format parquet, compression %s, parquet_version %s, row_group_size 2048)" % (path, codec, version))
            reads("DuckDB %s parquet %s" % (codec, version))

    # Ids and other types.
    pq.write_table(table(rows).rename_columns(["a", "nota", "date", "center"]).append_column("b", pa.array(["x%d" % i for i in range(len(rows))])), path)
    got, message = read_by_us(binary, path, ids="a,b", text="nota")
    check("velum reads an id of two columns", got is not None and got[7]["id"] == "16|x7", message)
    pq.write_table(table(rows[:9]).append_column("when", pa.array([None if i == 3 else i * 1000001 for i in range(9)], pa.timestamp("ns"))), path)
    got, message = read_by_us(binary, path, "when")
    nanoseconds = [None if i == 3 else pandas.Timestamp(i * 1000001) for i in range(1, 9)]  # the note of row 0 is null
    check("velum reads nanoseconds", got is not None and [r["extra"]["when"] for r in got[1:]] == nanoseconds, message)
    pq.write_table(table([]), path)
    got, message = read_by_us(binary, path)
    check("velum reads a file without rows", got == [], message)

    # What is refused, and how.
    one = pa.array([1])
    for name, columns, want in (
        ("a list for text", {"note_id": one, "text": pa.array([["a"]])}, "nested"),
        ("a struct for text", {"note_id": one, "text": pa.array([{"a": "b"}])}, "nested"),
        ("a number for text", {"note_id": one, "text": one}, "INT64"),
        ("a decimal for the id", {"note_id": pa.array([decimal.Decimal("1.5")]), "text": pa.array(["a"])}, "DECIMAL"),
        ("no text", {"note_id": one, "Text": pa.array(["a"])}, "did you mean"),
    ):
        pq.write_table(pa.table(columns), path)
        got, message = read_by_us(binary, path)
        check("velum refuses " + name, got is None and want in message and "panic" not in message, message)


def every_type(binary, folder):
    """Every type of every writer goes through us and stays what it is."""
    import interop_types
    files = os.path.join(folder, "types")
    os.mkdir(files)
    interop_types.write(files)
    for name in sorted(os.listdir(files)):
        path, out = os.path.join(files, name), os.path.join(folder, "out " + name)
        kept = [c for c in pq.ParquetFile(path).schema_arrow.names if c not in ("note_id", "text")]
        p = velum(binary, path, out, ",".join(kept))
        check("velum keeps the columns of " + name, p.returncode == 0, p.stderr)
        if p.returncode != 0:
            continue
        masked = os.path.join(out, "masked")
        part = os.path.join(masked, os.listdir(masked)[0])
        check("velum reads " + name, pq.ParquetFile(part).metadata.num_rows == interop_types.N)
        theirs, mine = leaves(path, kept), leaves(part, kept)
        for leaf in theirs:
            check("%s: %s is of the same type" % (name, leaf), theirs[leaf] == mine.get(leaf), (theirs[leaf], mine.get(leaf)))
        before, after = pq.read_table(path), pq.read_table(part)
        for c in kept:
            a, b = before.column(c), after.column(c)
            if pa.types.is_duration(a.type):
                a, b = a.cast(pa.int64()), b.cast(pa.int64())
            same = repr(a.to_pylist()) == repr(b.to_pylist()) or a.to_pylist() == b.to_pylist()
            check("%s: %s has the same values" % (name, c), same, (a.type, b.type))
        for reader in (polars.read_parquet, pandas.read_parquet):
            if rows_of(reader, path) == interop_types.N:  # or it cannot read the writer's own file
                check("%s reads what became of %s" % (reader.__module__, name), rows_of(reader, part) == interop_types.N)


def rows_of(reader, path):
    """Rows that a reader finds; -1 if it fails."""
    try:
        return len(reader(path))
    except BaseException as e:  # Polars panics on types that it does not have: no Exception
        if isinstance(e, KeyboardInterrupt):
            raise
        return -1


def leaves(path, kept):
    """Physical and logical types of the leaves of columns."""
    schema = pq.ParquetFile(path).schema
    found = {}
    for i in range(len(schema.names)):
        c = schema.column(i)
        if c.path.split(".")[0] in kept:
            found[c.path] = (c.physical_type, str(c.logical_type), c.length, c.max_repetition_level)
    return found


def ours(binary, folder):
    """Our parts, read by the others."""
    rows = [r for r in notes(250_000) if r["text"] is not None]
    source, out = os.path.join(folder, "source.parquet"), os.path.join(folder, "out")
    pq.write_table(table(rows), source, row_group_size=60_000)
    p = velum(binary, source, out, "date,center")
    check("velum masks what holds nothing", p.returncode == 0, p.stderr)
    parts = os.path.join(out, "masked", "*.parquet")
    wanted = table(rows)

    db = duckdb.connect()
    db.register("source", wanted)
    n, = db.execute("select count(*) from '%s'" % parts).fetchone()
    check("DuckDB counts", n == len(rows), n)
    n, = db.execute("select count(*) from '%s' p join source s on p.note_id = s.note_id::varchar "
                    "where p.text = s.text and p.date = s.date and p.center is not distinct from s.center" % parts).fetchone()
    check("DuckDB reads every row", n == len(rows), n)
    # Engines that skip by bounds must find the rows all the same.
    n, = db.execute("select count(*) from '%s' where note_id = '%d'" % (parts, rows[-1]["note_id"])).fetchone()
    check("DuckDB finds one id", n == 1, n)
    n, = db.execute("select count(*) from '%s' where row >= %d" % (parts, len(rows) - 10)).fetchone()
    check("DuckDB finds the last rows", n == 10, n)

    files = sorted(os.path.join(out, "masked", f) for f in os.listdir(os.path.join(out, "masked")))
    got = pa.concat_tables(pq.read_table(f, page_checksum_verification=True) for f in files)
    check("pyarrow reads every row", got.column("text").to_pylist() == [r["text"] for r in rows])
    check("pyarrow reads the other columns", got.column("center").to_pylist() == [r["center"] for r in rows]
          and got.column("note_id").to_pylist() == [str(r["note_id"]) for r in rows] and got.column("row").to_pylist() == list(range(len(rows))))
    found = pq.read_table(files[-1], filters=[("note_id", "==", str(rows[-1]["note_id"]))])
    check("pyarrow finds one id", found.num_rows == 1, found.num_rows)
    for f in files:
        meta = pq.ParquetFile(f).metadata
        for g in range(meta.num_row_groups):
            for c in range(meta.num_columns):
                s = meta.row_group(g).column(c).statistics
                check("no bounds in a part", s is None or not s.has_min_max)
    frame = pandas.concat(pandas.read_parquet(f) for f in files)
    check("pandas reads every row", frame["text"].tolist() == [r["text"] for r in rows] and str(frame["n_other"].dtype) == "int32")

    # Our own files as input.
    got, message = read_by_us(binary, files[0], "center")
    check("velum reads its own part", got is not None and len(got) > 0 and got[0]["text"] == rows[0]["text"], message)


def documented(folder):
    """What README shows of reading an output, on one whose folders have names and one whose rows are mixed over files."""
    velum, key = os.path.join(folder, "velum"), os.path.join(folder, "key")
    with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
        f.write(os.urandom(32))
    with open(os.path.join(TOP, "README.md")) as f:
        lines = f.read().split("```python\n")[1].split("```")[0]
    for name, parts, options in (("by folder", 2, []), ("mixed", 1, ["--policy", "research", "--set", "key.file=" + key, "--set", "read.columns.patient=patient"])):
        at = os.path.join(folder, "documented", name)
        for month in "01", "02":
            os.makedirs(os.path.join(at, "archive", "year=2026", "month=" + month))
            pq.write_table(pa.table({"note_id": ["1", "2"], "patient": ["7", "8"], "text": ["Visto el 12/03/2026", "sin cambios"]}), os.path.join(at, "archive", "year=2026", "month=" + month, "n.parquet"))
        subprocess.check_call([velum, "run", "--quiet", "--in", "archive", "--out", "masked", *options], cwd=at, stderr=subprocess.DEVNULL)
        p = subprocess.run([sys.executable, "-c", lines + "\nassert len(frame) == 4 and len(set(frame['part'])) == %d" % parts], cwd=at, capture_output=True, text=True)
        check("README reads an output whose rows are " + name, p.returncode == 0, p.stderr)


def main():
    if "--fixtures" in sys.argv:
        import interop_types
        interop_types.write(sys.argv[sys.argv.index("--fixtures") + 1])
        return
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "velum")
        subprocess.check_call(["go", "build", "-trimpath", "-o", binary, "./cmd/velum"], cwd=TOP)
        theirs(binary, folder)
        every_type(binary, folder)
        ours(binary, folder)
        documented(folder)
    print("%d checks, %d wrong (duckdb %s, pyarrow %s, pandas %s, polars %s)"
          % (checks, failures, duckdb.__version__, pa.__version__, pandas.__version__, polars.__version__))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
