"""Tests of the package velum. All notes are invented.

Without ALL_LIBRARIES=all, what needs a library that is not there is left out.
"""

import importlib.util
import inspect
import io
import json
import multiprocessing
import os
import signal
import stat
import sys
import tempfile
import threading
import time
import traceback
import unittest
from unittest import mock

import velum
from velum import process, progress

NOTES = ["Avisa a Jordi Puigdomènech, tel 600 123 456", None, "", "cuestionario t@m..zurdoquimera izq", "refiere tos"]
MASKED = ["Avisa a [PERSON], tel [TELEPHONE]", None, "", None, "refiere tos"]


def needs(*names: str):
    """Leave a test out if libraries are missing, unless all are wanted."""
    missing = [n for n in names if importlib.util.find_spec(n) is None]
    return unittest.skipIf(missing and os.environ.get("ALL_LIBRARIES") != "all", f"no {missing}")


class Lists(unittest.TestCase):
    def test_mask(self):
        self.assertEqual(velum.mask(NOTES), MASKED)
        self.assertEqual(velum.mask(iter(NOTES * 500), workers=2), MASKED * 500)
        self.assertEqual(velum.mask([]), [])

    def test_policy(self):
        self.assertEqual(velum.mask(["tel 600 123 456"], policy="idiap", settings={"patterns.use": True}), ["tel [TELEPHONE]"])

    def test_tag(self):
        tagged = velum.tag(NOTES)
        self.assertEqual([t and [(s.start, s.end, s.label) for s in t] for t in tagged], [[(8, 26, "PERSON"), (32, 43, "TELEPHONE")], None, [], None, []])
        self.assertEqual(NOTES[0][8:26], "Jordi Puigdomènech")

    def test_session(self):
        with velum.Session("mask") as session:
            self.assertEqual([session(n)["text"] for n in NOTES if n is not None], [m for n, m in zip(NOTES, MASKED) if n is not None])
            self.assertEqual(session(NOTES[3])["status"], "strict_finding")

    def test_errors(self):
        with self.assertRaises(velum.VelumError) as caught:
            velum.mask(["Puigdomènech"], policy="nope")
        self.assertEqual(caught.exception.code, 10)
        self.assertIn("placeholder", str(caught.exception))
        with self.assertRaises(velum.VelumError) as caught:
            velum.mask(["Puigdomènech"], policy="research")
        self.assertEqual(caught.exception.code, 10)
        self.assertIn("patient", str(caught.exception))
        with self.assertRaises(velum.VelumError) as caught:
            velum.mask(["Puigdomènech"], policy="research", without_patient=True)
        self.assertEqual(caught.exception.code, 12)
        self.assertIn("key", str(caught.exception))
        self.assertNotIn("Puigdomènech", str(caught.exception))
        for wrong in ("Puigdomènech", b"x", [1]):
            with self.assertRaises(TypeError) as caught:
                velum.mask(wrong)
            self.assertNotIn("Puigdomènech", str(caught.exception))

    def test_program(self):
        with mock.patch.dict(os.environ, VELUM_BINARY="/nowhere/velum"):
            with self.assertRaises(velum.VelumError) as caught:
                velum.program()  # another one than that which is named is not taken
        self.assertIn("VELUM_BINARY", caught.exception.remedy)

    def test_missing(self):
        self.assertEqual(velum.mask([float("nan"), "refiere tos", None]), [None, "refiere tos", None])
        self.assertEqual(velum.mask(["roto \udc80"]), [None])
        with self.assertRaises(TypeError):
            velum.mask([1.5])

    def test_iterator_fails(self):
        for problem in (BrokenPipeError, ValueError):

            def notes():
                yield from NOTES
                raise problem("of the source")

            with self.assertRaises(problem):
                velum.mask(notes())

    def test_configuration(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as config:
            config.write("read: {columns: {id: [codigo], text: nota}, keep: [year]}\n")
            config.flush()
            self.assertEqual(velum.mask(NOTES, config=config.name), MASKED)  # a list has no columns
        with self.assertRaisesRegex(ValueError, "comma"):
            velum.mask(NOTES, settings={"read.keep": ["a,b"]})

    def test_run(self):
        with tempfile.TemporaryDirectory() as folder:
            archive, out = os.path.join(folder, "notes.jsonl"), os.path.join(folder, "masked")
            with open(archive, "w", encoding="utf-8") as f:
                for i, text in enumerate(NOTES):
                    f.write(json.dumps({"id": str(i), "text": text, "spans": []}) + "\n")
            summary = velum.run(archive, out, settings={"write.max_quarantined": 1})
            self.assertEqual((summary["rows"], summary["masked"]), (5, 3))
            self.assertEqual(velum.run([archive], out, settings={"write.max_quarantined": 1})["units_reused"], 1)
            with self.assertRaises(velum.VelumError) as caught:
                velum.run(os.path.join(folder, "none"), out)
            self.assertEqual(caught.exception.code, 10)
            gold = os.path.join(folder, "gold.jsonl")
            with open(gold, "w", encoding="utf-8") as f:
                f.write(json.dumps({"id": "1", "text": "tel 600 123 456", "spans": [{"start": 4, "end": 15, "label": "TELEPHONE"}]}) + "\n")
            self.assertTrue(velum.evaluate(gold))


    def test_language(self):
        with self.assertWarnsRegex(UserWarning, "language"):
            velum.mask(["Le patient se plaint de douleurs thoraciques depuis trois jours, examen sans particularité"] * 60)

    def test_rare(self):
        with self.assertWarnsRegex(UserWarning, "mask.rare: review does nothing"):
            velum.mask(["refiere tos"], settings={"mask.rare": "review"})


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Progress(unittest.TestCase):
    """Each case stands for all clocks: what is due is due at once, or never."""

    def said(self, err, data, after=0.0, modules={"tqdm": None, "tqdm.auto": None}, **options):
        with mock.patch.object(progress, "AFTER", after), mock.patch.object(progress, "PAUSE", 0), mock.patch.dict(sys.modules, modules), mock.patch.object(sys, "stderr", err):
            out = velum.mask(data, **options)
            self.assertEqual(out if isinstance(out, list) else out.read_all()["text"].to_pylist() if hasattr(out, "read_all") else out.to_pylist(), MASKED)
        return err.getvalue()

    def test_when(self):
        for case, (err, after, wanted, shows) in {
            "a script": (io.StringIO(), 0, None, False),
            "a script that wants it": (io.StringIO(), 1e9, True, True),
            "a terminal": (Terminal(), 0, None, True),
            "a terminal, little work": (Terminal(), 1e9, None, False),
            "a terminal that does not want it": (Terminal(), 0, False, False),
        }.items():
            with self.subTest(case):
                said = self.said(err, NOTES, after, progress=wanted)
                self.assertEqual("velum: 5 of 5 notes" in said, shows, said)
                self.assertEqual(bool(said), shows)
        with mock.patch.object(sys, "stderr", None):  # of a program without a console
            self.assertEqual(velum.mask(NOTES), MASKED)

    def test_of_what(self):
        said = self.said(Terminal(), iter(NOTES))
        self.assertRegex(said, r"^(\rvelum: \d notes, \d+ s)+\n$")
        self.assertIn("velum: 5 notes", said)
        self.assertNotIn("Avisa", said)

    @needs("pyarrow")
    def test_frames(self):
        import pyarrow

        table = pyarrow.table({"text": NOTES})
        self.assertIn("velum: 5 of 5 notes", self.said(Terminal(), table["text"]))
        self.assertIn("velum: 5 notes", self.said(Terminal(), table.to_reader()))
        self.assertEqual(self.said(io.StringIO(), table.to_reader()), "")

    @needs("tqdm")
    def test_tqdm(self):
        self.assertRegex(self.said(Terminal(), NOTES, modules={}), r"5/5 \[.* notes/s\]\n$")

    def test_fails(self):
        def notes():
            yield from NOTES
            raise KeyError("of the source")

        err = Terminal()
        with mock.patch.dict(sys.modules, {"tqdm": None, "tqdm.auto": None}), mock.patch.object(sys, "stderr", err), self.assertRaises(KeyError):
            velum.mask(notes(), progress=True)
        self.assertIn(err.getvalue()[-1:], ("", "\n"))

    @needs("nbclient", "ipykernel")
    def test_notebook(self):
        import nbclient
        import nbformat

        for tqdm, shows in (False, "velum: 5 of 5 notes"), (True, " notes/s"):
            if tqdm and importlib.util.find_spec("tqdm") is None:
                continue
            without = "" if tqdm else "import sys; sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None\n"
            place = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(velum.__file__))!r})\n"
            cell = nbformat.v4.new_code_cell(f"{place}{without}from velum import mask, progress\nprogress.AFTER = 0\nassert mask({NOTES!r}) == {MASKED!r}")
            book = nbformat.v4.new_notebook(cells=[cell])
            nbclient.NotebookClient(book, kernel_name="python3").execute()
            outputs = book.cells[0].outputs
            self.assertIn(shows, json.dumps(outputs))
            if not tqdm:  # one line, which changed in its place
                self.assertEqual([o.output_type for o in outputs], ["display_data"])


class Program:
    """A program in place of velum, which does what the shell says."""

    def __init__(self, script: str):
        self.script = script

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        name = os.path.join(self.folder.name, "velum")
        with open(name, "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\n" + self.script)
        os.chmod(name, stat.S_IRWXU)
        self.patch = mock.patch.dict(os.environ, VELUM_BINARY=name)
        self.patch.start()

    def __exit__(self, *_):
        self.patch.stop()
        self.folder.cleanup()


ROW = 'echo \'{"note_id":"0","text":"Puigdomenech","status":"masked"}\'\n'


class Ends(unittest.TestCase):
    """Whatever becomes of the program, there is an exception and never a shorter answer, and no text is in it."""

    def test_lists(self):
        for name, (script, code, says) in {
            "killed": (ROW + "kill -9 $$", -9, "SIGKILL"),
            "killed within a row": ("printf '{\"note_id\":\"0\",\"text\":\"Puigdom'; kill -9 $$", -9, "memory"),
            "killed at once": ("kill -15 $$", -15, "SIGTERM"),
            "fewer rows": (ROW + "cat > /dev/null", 1, "1 rows of 3"),
            "another order": (ROW + ROW + ROW + "cat > /dev/null", 1, "another number"),
            "half a row": ("cat > /dev/null; printf '{\"note_id\":\"0\",\"text\":\"Puigdom'", 1, "not what was sent"),
            "much said": ("head -c 3000000 /dev/zero >&2; echo 5 >&2; echo '{\"message_type\":\"exit_error\",\"error\":\"so\",\"remedy\":\"that\"}' >&2; exit 7", 7, "so; that"),
        }.items():
            with self.subTest(name), Program(script):
                with self.assertRaises(velum.VelumError) as caught:
                    velum.mask(["Puigdomenech"] * 3)
                self.assertEqual(caught.exception.code, code)
                self.assertIn(says, str(caught.exception))
                self.assertTrue(caught.exception.remedy)
                self.assertNotIn("Puigdom", "".join(traceback.format_exception(caught.exception)))

    def test_no_rows_come(self):
        never = threading.Event()

        def notes():
            yield "refiere tos"
            never.wait()

        with Program("exit 3"), self.assertRaises(velum.VelumError):
            velum.mask(notes())  # hangs here if it waits for the rows
        never.set()

    @needs("pyarrow")
    def test_frames(self):
        import pyarrow as pa

        table = pa.table({"text": ["refiere tos"] * 30_000})
        whole = ['exec "$REAL" "$@"', f'"$REAL" "$@" | head -c {1 << 19}; kill -9 $$', f'"$REAL" "$@" | head -c {1 << 19}']
        with mock.patch.dict(os.environ, REAL=velum.program()):
            with Program(whole[0]):
                self.assertEqual(len(velum.mask(table)), 30_000)
            for script in whole[1:]:
                with Program(script), self.assertRaises(velum.VelumError):
                    velum.mask(table)

    def test_session(self):
        session = velum.Session("mask")
        session._process.send_signal(signal.SIGKILL)
        for _ in range(2):
            with self.assertRaises(velum.VelumError) as caught:
                session("Puigdomenech")
        self.assertEqual(caught.exception.code, -9)
        session.close()
        with Program("read a; echo '{\"note_id\":\"7\"}'; read a"), velum.Session() as session:
            with self.assertRaisesRegex(velum.VelumError, "another number"):
                session("Puigdomenech")

    def test_session_interrupted(self):
        with velum.Session() as session:
            with mock.patch("json.loads", side_effect=KeyboardInterrupt):
                with self.assertRaises(KeyboardInterrupt):
                    session("refiere tos")
            with self.assertRaises(velum.VelumError):  # not the answer that nobody took
                session("tel 600 123 456")

    def test_session_threads(self):
        with velum.Session() as session:
            wrong = []

            def ask(number):
                for i in range(50):
                    text = f"refiere tos {number} {i}"
                    if session(text)["text"] != text:
                        wrong.append(number)

            threads = [threading.Thread(target=ask, args=(n,)) for n in range(4)]
            [t.start() for t in threads]
            [t.join() for t in threads]
            self.assertEqual(wrong, [])

    def test_session_forked(self):
        with velum.Session() as session:
            session("refiere tos")
            fork = multiprocessing.get_context("fork")

            def child(to):
                to.put(session("tel 600 123 456")["text"])
                time.sleep(30)

            answers = fork.SimpleQueue()
            process = fork.Process(target=child, args=(answers,))
            process.start()
            self.assertEqual(session("refiere tos")["text"], "refiere tos")
            self.assertEqual(answers.get(), "tel [TELEPHONE]")
            session.close()  # though the other one has its input open
            process.kill()
            process.join()


class Frames(unittest.TestCase):
    def columns(self):
        return {"codigo": [3, 1, 2, 5, 4], "nota": NOTES, "year": [2021, 2022, 2023, 2024, 2025], "other": ["Puigdomènech"] * 5}

    @needs("pandas", "pyarrow")
    def test_pandas(self):
        import pandas

        frame = pandas.DataFrame(self.columns(), index=[10, 30, 20, 30, 5])
        masked = velum.mask(frame, text="nota", id="codigo", keep=["year"])
        self.assertEqual(list(masked.columns), ["codigo", "nota", "status", "year"])
        self.assertEqual(list(masked.index), [10, 30, 20, 30, 5])
        self.assertEqual([t if isinstance(t, str) else None for t in masked["nota"]], MASKED)
        self.assertEqual((list(masked["codigo"]), masked["codigo"].dtype), ([3, 1, 2, 5, 4], "int64"))
        self.assertEqual(list(masked["status"]), ["masked", "null_text", "masked", "strict_finding", "masked"])
        self.assertEqual(list(masked["year"].dropna()), [2021, 2023, 2025])
        series = velum.mask(frame["nota"])
        self.assertEqual((list(series), series.name, list(series.index)), (MASKED, "nota", [10, 30, 20, 30, 5]))
        self.assertEqual(velum.tag(frame["nota"]).iloc[0][0].label, "PERSON")
        self.assertEqual(len(velum.mask(frame.iloc[:0], text="nota")), 0)
        with self.assertRaises(KeyError):
            velum.mask(frame)

    @needs("pandas", "pyarrow")
    def test_pandas_odd(self):
        import pandas

        index = pandas.MultiIndex.from_tuples([("a", 1), ("a", 1), ("b", 2), ("b", 3), ("c", 1)])
        odd = pandas.DataFrame(
            {"text": NOTES, "ward": pandas.Categorical(["x", "y", "x", "z", "y"]), "n": pandas.array([1, 2, None, 4, 5], dtype="Int64"), "list": [[1], [2], [], None, [3]],
             "when": pandas.to_datetime(["2024-01-02"] * 5).tz_localize("Europe/Madrid")},
            index=index,
        )  # fmt: skip
        keep = ["ward", "n", "list", "when"]
        masked = velum.mask(odd, keep=keep)
        self.assertTrue(masked.index.equals(index))
        self.assertEqual([str(masked[c].dtype) for c in keep], [str(odd[c].dtype) for c in keep])
        self.assertEqual((masked["ward"].isna().tolist(), masked["list"].iloc[0], masked["n"].isna().tolist()), ([False, True, False, True, False], [1], [False, True, True, True, False]))
        self.assertEqual(list(velum.mask(odd["text"].astype("category"))), MASKED)
        self.assertEqual(list(velum.mask(odd["text"].astype("string[pyarrow]"))), MASKED)
        self.assertEqual(list(velum.mask(pandas.Series([float("nan"), None]))), [None, None])  # a column without notes is of numbers
        self.assertEqual(list(velum.mask(pandas.Series(["roto \udc80", pandas.NA, "refiere tos"], dtype=object))), [None, None, "refiere tos"])
        for wrong, problem, says in (
            (pandas.DataFrame({"text": ["Puigdomènech", 7]}), TypeError, "row 1 is int"),
            (pandas.DataFrame({"text": NOTES[:1], "who": [object()]}), TypeError, "'who'"),
            (pandas.DataFrame({"text": ["x"] * 2, "who": [1, "Puigdomènech"]}), TypeError, "'who'"),
            (pandas.DataFrame([["x", "x"]], columns=["text", "text"]), ValueError, "2 columns"),
            (pandas.DataFrame([["x", "x"]], columns=["text", "a,b"]), ValueError, "comma"),
            (pandas.DataFrame([["x"]]), TypeError, "rename"),
        ):  # fmt: skip
            names = [c for c in wrong.columns if c not in ("text",)]
            with self.assertRaises(problem) as caught:
                velum.mask(wrong, text=0) if 0 in names else velum.mask(wrong, keep=names)
            self.assertIn(says, str(caught.exception))
            self.assertNotIn("Puigdomènech", "".join(traceback.format_exception(caught.exception)))
        with self.assertRaisesRegex(velum.VelumError, "nota|column of every row"):
            velum.mask(pandas.DataFrame({"nota": ["x"], "text": ["y"]}), text="nota", keep=["text"])
        with self.assertRaises(velum.VelumError):
            velum.mask(odd, keep=["text"])  # the text as it was

    @needs("polars", "pyarrow")
    def test_polars_odd(self):
        import polars

        frame = polars.DataFrame({"text": NOTES}).with_columns(
            ward=polars.Series(["x", "y", "x", "z", "y"], dtype=polars.Categorical), kind=polars.Series(["a", "b", "a", "b", "a"], dtype=polars.Enum(["a", "b", "c"])),
            more=polars.struct(polars.Series([1, 2, 3, 4, 5]).alias("n"), polars.Series(["s"] * 5).alias("s")),
        )  # fmt: skip
        keep = ["ward", "kind", "more"]
        masked = velum.mask(frame.lazy(), keep=keep).collect()
        self.assertEqual((masked["text"].to_list(), [masked.schema[c] for c in keep]), (MASKED, [frame.schema[c] for c in keep]))
        self.assertEqual([masked[c].is_null().to_list() for c in keep], [[False, True, False, True, False]] * 3)
        self.assertEqual(velum.mask(frame["text"].cast(polars.Categorical)).to_list(), MASKED)
        self.assertEqual(velum.mask(polars.Series([None, None])).to_list(), [None, None])
        self.assertEqual(velum.mask(polars.concat([frame, frame], rechunk=False), keep=["ward"])["text"].to_list(), MASKED * 2)
        with self.assertRaises(KeyError):
            velum.mask(frame, text="nota")

    @needs("pyarrow")
    def test_pyarrow_odd(self):
        import pyarrow as pa

        notes = pa.chunked_array([pa.array(NOTES[:2]).dictionary_encode(), pa.array(NOTES[2:]).dictionary_encode(), pa.array([], pa.string()).dictionary_encode()])
        wards = pa.chunked_array([["Puigdomènech", "x"], pa.array([None, "Serrallonga", "y"])]).dictionary_encode()
        for text in (notes, pa.chunked_array([NOTES[:1], NOTES[1:]]).cast(pa.string_view()), pa.chunked_array([NOTES[:4], NOTES[4:]]).cast(pa.large_string())):
            masked = velum.mask(pa.table({"text": text, "ward": wards}), keep=["ward"])
            self.assertEqual((masked["text"].to_pylist(), masked["ward"].to_pylist()), (MASKED, ["Puigdomènech", None, None, None, "y"]))
            # the row of this one is set aside: it is in no dictionary either
            self.assertNotIn("Serrallonga", str(masked["ward"].combine_chunks().dictionary))
            self.assertEqual(velum.mask(text).to_pylist(), MASKED)
        with self.assertRaises(velum.VelumError):
            velum.mask(pa.array([1, 2]))

    @needs("polars", "pyarrow")
    def test_polars(self):
        import polars

        frame = polars.DataFrame(self.columns())
        masked = velum.mask(frame, text="nota", id="codigo", keep=["year"])
        self.assertEqual((masked.columns, masked["nota"].to_list()), (["codigo", "nota", "status", "year"], MASKED))
        self.assertEqual(velum.mask(frame["nota"]).to_list(), MASKED)
        self.assertEqual(velum.tag(frame, text="nota")["spans"].to_list()[0][0]["label"], "PERSON")

    @needs("pyarrow")
    def test_pyarrow(self):
        import pyarrow

        table = pyarrow.table(self.columns())
        for text in (table["nota"], table["nota"].combine_chunks(), table["nota"].cast(pyarrow.large_string()), table["nota"].dictionary_encode()):
            self.assertEqual(velum.mask(text).to_pylist(), MASKED)
        masked = velum.mask(table, text="nota", keep=["year"])
        self.assertEqual((masked.column_names, masked["year"].to_pylist()), (["nota", "status", "year"], [2021, None, 2023, None, 2025]))
        self.assertEqual(velum.mask(table.to_batches()[0], text="nota").column("nota").to_pylist(), MASKED)
        with self.assertRaises(velum.VelumError) as caught:
            velum.mask(table, text="year")
        self.assertIn("int64", str(caught.exception))

    @needs("pyarrow")
    def test_pyarrow_readers(self):
        import pyarrow
        import pyarrow.dataset

        table = pyarrow.table(self.columns())
        want = velum.mask(table, text="nota", id="codigo", keep=["year"])
        whole = pyarrow.dataset.dataset(table)
        for data in (table.to_reader(), whole, whole.scanner(), whole.scanner(filter=pyarrow.dataset.field("codigo") != 0), whole.scanner().to_reader()):
            out = velum.mask(data, text="nota", id="codigo", keep=["year"])
            self.assertIsInstance(out, pyarrow.RecordBatchReader)
            self.assertTrue(out.read_all().equals(want), type(data))
        self.assertEqual(velum.tag(table.to_reader(), text="nota").read_all()["spans"].to_pylist()[0][0]["label"], "PERSON")
        empty = velum.mask(whole.scanner(filter=pyarrow.dataset.field("codigo") == 0), text="nota", id="codigo").read_all()
        self.assertEqual((len(empty), empty.schema.field("codigo").type), (0, pyarrow.int64()))

        def broken():
            yield table.to_batches()[0]
            raise ValueError("Puigdomènech")

        for wrong in (pyarrow.scalar("Puigdomènech"), pyarrow.RecordBatchReader.from_batches(table.schema, broken()), pyarrow.schema([("Puigdomènech", "string")])):
            with self.assertRaises(TypeError) as caught:
                velum.mask(wrong, text="nota").read_all()
            self.assertNotIn("Puigdomènech", str(caught.exception))
            self.assertIsNone(caught.exception.__context__)

    @needs("pyarrow")
    def test_pyarrow_flows(self):
        """Rows come out while others are still to come, and whatever happens then is told."""
        import pyarrow

        batch = pyarrow.record_batch({"n": pyarrow.array([1, 2, 3, 4, 5], pyarrow.int32()), "text": NOTES})
        more = threading.Event()

        def batches(last):
            yield batch
            more.wait()
            yield last

        def reader(last=batch):
            more.clear()
            return velum.mask(pyarrow.RecordBatchReader.from_batches(batch.schema, batches(last)), id="n")

        out = reader()
        self.assertEqual(out.read_next_batch().to_pydict()["text"], MASKED)  # hangs here if it waits for all rows
        more.set()
        self.assertEqual(out.read_all().to_pydict(), {"n": [1, 2, 3, 4, 5], "text": MASKED, "status": ["masked", "null_text", "masked", "strict_finding", "masked"]})
        large = velum.mask(pyarrow.table({"text": ["refiere tos"] * 25_000}).to_reader(max_chunksize=25_000))
        self.assertEqual([len(b) for b in large], [10_000, 10_000, 5_000])
        out = reader()
        out.read_next_batch()
        out.close()  # the program ends with who read it
        more.set()
        with mock.patch.dict(os.environ, REAL=velum.program()), Program('"$REAL" "$@" | head -c 90000; kill -9 $$'):
            with self.assertRaises(velum.VelumError):
                velum.mask(pyarrow.RecordBatchReader.from_batches(batch.schema, iter([batch] * 5000)), id="n").read_all()

    @needs("pandas", "pyarrow")
    def test_ids(self):
        import pandas
        import pyarrow

        for kind, ids in (("uint64", [2**63, 1]), ("int64", [2**53 + 1, -1]), ("int8", [7, 8]), ("large_string", ["7", "08"])):
            masked = velum.mask(pyarrow.table({"n": pyarrow.array(ids, getattr(pyarrow, kind)()), "text": ["tos"] * 2}), id="n")
            self.assertEqual((masked["n"].to_pylist(), pyarrow.types.is_integer(masked["n"].type)), (ids, kind != "large_string"))
        for ids, want in (
            (pandas.Series([2**53 + 1, 2]), "int64"),
            (pandas.Series([2**53 + 1, 2], dtype="Int64"), "Int64"),
            (pandas.Series([2**53 + 1, None], dtype="Int64"), "Int64"),
            (pandas.Series([2**53 + 1, 2], dtype=object), "object"),
        ):
            masked = velum.mask(pandas.DataFrame({"n": ids, "text": ["tos"] * 2}), id="n")
            self.assertEqual((masked["n"].iloc[0], str(masked["n"].dtype), masked["n"].isna().tolist()), (2**53 + 1, want, ids.isna().tolist()))
        with tempfile.NamedTemporaryFile() as key:
            key.write(bytes(range(100, 132)))
            key.flush()
            keyed = velum.mask(pyarrow.table({"n": [1, 2], "text": ["tos"] * 2}), id="n", key=key.name, settings={"read.ids": "keyed"})
        self.assertEqual((keyed["n"].type, len(set(keyed["n"].to_pylist()) | {"1", "2"})), (pyarrow.string(), 4))

    @needs("pandas", "pyarrow")
    def test_datetimes(self):
        """A date is the same date however Python writes it."""
        import datetime

        import pandas

        day, moment = datetime.date(2024, 1, 2), datetime.datetime(2024, 1, 2, 10, 11, 12, 345678)
        utc = moment.replace(tzinfo=datetime.timezone.utc)
        columns = [[v, w] for v in (day, moment, utc, pandas.Timestamp(moment), str(day), str(moment), moment.isoformat(), utc.isoformat()) for w in (v, None)]
        columns += [[day, moment], pandas.to_datetime([moment] * 2), pandas.to_datetime([utc] * 2)]
        with tempfile.NamedTemporaryFile() as key:
            key.write(bytes(range(100, 132)))
            key.flush()
            texts = set()
            for dates in columns:
                frame = pandas.DataFrame({"text": ["Visto el 02/01/2024", "bien"], "nhc": [1, 1], "fecha": dates})
                masked = velum.mask(frame, patient="nhc", date="fecha", policy="research", key=key.name, settings={"mask.rare": "off"})
                self.assertEqual(masked["status"].iloc[0], "masked", dates)
                texts.add(masked["text"].iloc[0])
        self.assertEqual(len(texts), 1, texts)

    @needs("duckdb", "pyarrow")
    def test_duckdb(self):
        import duckdb

        notes = duckdb.sql("select * from (values (1, 'Avisa a Jordi Puigdomènech, tel 600 123 456'), (2, null)) as t(n, nota) order by n")
        for data in (lambda: notes, notes.arrow):
            self.assertEqual(velum.mask(data(), text="nota", keep=["n"]).read_all().to_pylist(), [{"nota": MASKED[0], "status": "masked", "n": 1}, {"nota": None, "status": "null_text", "n": None}])
        with self.assertRaises(TypeError) as caught:
            velum.mask(duckdb.sql("select cast(nota as int) as text from (values ('Puigdomènech')) as t(nota)"))
        self.assertNotIn("Puigdomènech", str(caught.exception))

    @needs("pyarrow")
    def test_identifying_ids(self):
        import pyarrow

        masked = velum.mask(pyarrow.table({"codigo": ["12345678Z", "7"], "text": ["refiere tos"] * 2}), id="codigo")
        self.assertEqual(masked.to_pylist(), [{"codigo": None, "text": None, "status": "identifying_id"}, {"codigo": "7", "text": "refiere tos", "status": "masked"}])

    @needs("datasets", "pyarrow")
    def test_datasets(self):
        import datasets

        masked = velum.mask(datasets.Dataset.from_dict(self.columns()), text="nota", id="codigo")
        self.assertEqual((masked["nota"][:], masked["codigo"][:]), (MASKED, [3, 1, 2, 5, 4]))

    @needs("pyarrow")
    def test_map_in_arrow(self):
        import pyarrow

        batches = pyarrow.table({"note_id": [str(i) for i in range(50)], "text": (NOTES * 10), "other": [1.5] * 50}).to_batches(max_chunksize=7)
        out = list(velum.map_in_arrow()(iter(batches)))
        self.assertEqual([len(b) for b in out], [7] * 7 + [1])
        self.assertEqual([t for b in out for t in b.column("text").to_pylist()], MASKED * 10)
        self.assertEqual(list(velum.map_in_arrow()(iter([]))), [])

    @needs("pyarrow")
    def test_abandoned(self):
        import pyarrow

        batch = pyarrow.record_batch({"note_id": ["1"] * 5, "text": NOTES})
        out = velum.map_in_arrow()(iter([batch] * 500))
        next(out)
        out.close()  # the program ends with who read it

        def failing():
            yield batch
            raise RuntimeError("the partition is gone")

        with self.assertRaisesRegex(RuntimeError, "the partition is gone"):
            list(velum.map_in_arrow()(failing()))


class OMOP(unittest.TestCase):
    """NOTE and NOTE_NLP in the tables that the specification 5.4 publishes (OMOPCDM_duckdb_5.4_ddl.sql and its primary keys)."""

    DDL = """
    create table note (note_id integer primary key, person_id integer not null, note_date date not null, note_datetime timestamp, note_type_concept_id integer not null,
        note_class_concept_id integer not null, note_title varchar(250), note_text text not null, encoding_concept_id integer not null, language_concept_id integer not null,
        provider_id integer, visit_occurrence_id integer, visit_detail_id integer, note_source_value varchar(50), note_event_id integer, note_event_field_concept_id integer);
    create table note_nlp (note_nlp_id integer primary key, note_id integer not null, section_concept_id integer, snippet varchar(250), "offset" varchar(50),
        lexical_variant varchar(250) not null, note_nlp_concept_id integer, note_nlp_source_concept_id integer, nlp_system varchar(250), nlp_date date not null,
        nlp_datetime timestamp, term_exists varchar(1), term_temporal varchar(50), term_modifiers varchar(2000));
    """
    NOTE = """note_id,person_id,note_date,note_datetime,note_type_concept_id,note_class_concept_id,note_title,note_text,encoding_concept_id,language_concept_id,provider_id
11,4637,2026-01-05,2026-01-05 10:11:12,32831,0,Nota,"Avisa a Jordi Puigdomènech, tel 600 123 456",32678,4182511,9
12,4637,2026-01-06,,32831,0,,refiere tos,32678,4182511,
"""

    @needs("duckdb")
    def test_load(self):
        import duckdb

        with tempfile.TemporaryDirectory() as folder:
            note, key = os.path.join(folder, "note.csv"), os.path.join(folder, "key")
            with open(note, "w", encoding="utf-8") as f:
                f.write(self.NOTE)
            with open(os.open(key, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as k:
                k.write(bytes(range(100, 132)))
            for ids in "keep", "keyed":
                out = os.path.join(folder, ids)
                velum.run(note, out, profile="omop", key=key, settings={"read.ids": ids})
                db = duckdb.connect()
                db.execute(self.DDL)
                for table, columns in ("note", "*"), ("note_nlp", "row_number() over (), * exclude note_nlp_id"):
                    db.execute(f"insert into {table} select {columns} from read_csv('{out}/{table}/**/*.csv', all_varchar=true, header=true)")
                rows = db.sql("select note_text, lexical_variant from note join note_nlp using (note_id) order by cast(\"offset\" as integer)").fetchall()
                self.assertEqual(rows, [(MASKED[0], "[PERSON]"), (MASKED[0], "[TELEPHONE]")])
                self.assertEqual(db.sql("select count(*), count(note_title) from note").fetchall(), [(2, 0)])


class Types(unittest.TestCase):
    def test_options(self):
        """What checkers of types know is what flags takes."""
        names = [n for n in inspect.signature(process.flags).parameters]
        self.assertEqual(names, list(process.Options.__annotations__))

    @needs("mypy", "pandas", "pyarrow")
    def test_mypy(self):
        from mypy import api

        calls = ['mask(["x"]', 'tag(["x"]', 'Session("mask"', 'run("in", "out"', 'evaluate("gold"', "map_in_arrow("]
        good = "notes: list[str | None] = velum.mask(['x', None], policy='research')\nspans: list[list[velum.Span] | None] = velum.tag(['x'])\n"
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "calls.py")
            with open(name, "w", encoding="utf-8") as f:
                f.write("import velum\n" + "".join(f"velum.{c}, polcy='research')\n".replace("(, ", "(") for c in calls) + good)
            with mock.patch.dict(os.environ, MYPYPATH=os.path.dirname(os.path.dirname(velum.__file__))):
                said = api.run(["--strict", "--ignore-missing-imports", "--follow-imports=silent", "--hide-error-context", "--cache-dir", os.devnull, name])[0]
        lines = {int(line.split(":")[1]) for line in said.splitlines() if ": error:" in line}
        self.assertEqual((lines, said.count('"polcy"')), (set(range(2, 2 + len(calls))), len(calls)), said)


class Exports(unittest.TestCase):
    @needs("spacy")
    def test_docbin(self):
        import spacy

        docs = list(velum.to_docbin(NOTES, velum.tag(NOTES)).get_docs(spacy.blank("es").vocab))
        self.assertEqual([[(e.text, e.label_) for e in d.ents] for d in docs], [[("Jordi Puigdomènech", "PERSON"), ("600 123 456", "TELEPHONE")], [], []])

    @needs("datasets")
    def test_dataset(self):
        made = velum.to_dataset(NOTES, velum.tag(NOTES))
        self.assertEqual((len(made), made[0]["spans"][0]["label"]), (3, "PERSON"))


class Presidio(unittest.TestCase):
    @needs("presidio_analyzer", "presidio_anonymizer", "spacy")
    def test_both(self):
        import spacy
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import SpacyNlpEngine
        from presidio_analyzer.predefined_recognizers import EsNieRecognizer, EsNifRecognizer, EsPassportRecognizer
        from presidio_anonymizer import AnonymizerEngine
        from presidio_anonymizer.entities import OperatorConfig

        from velum.presidio import VelumOperator, VelumRecognizer

        class Blank(SpacyNlpEngine):  # Spanish words, and no model from a network
            def __init__(self):
                super().__init__()
                self.nlp = {"es": spacy.blank("es")}

        def engine(*recognizers):
            registry = RecognizerRegistry(supported_languages=["es"])
            for r in recognizers:
                registry.add_recognizer(r)
            return AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["es"])

        analyzer = engine(VelumRecognizer())
        found = analyzer.analyze(NOTES[0], language="es")
        self.assertEqual(sorted((r.entity_type, NOTES[0][r.start : r.end]) for r in found), [("PERSON", "Jordi Puigdomènech"), ("PHONE_NUMBER", "600 123 456")])
        self.assertEqual([r.entity_type for r in analyzer.analyze(NOTES[0], language="es", entities=["PERSON"])], ["PERSON"])
        self.assertEqual([(r.entity_type, r.start, r.end) for r in analyzer.analyze(NOTES[3], language="es")], [("VELUM_UNSAFE", 0, len(NOTES[3]))])
        of_presidio = [EsNifRecognizer(), EsNieRecognizer(), EsPassportRecognizer()]
        alone, both = engine(*of_presidio), engine(*of_presidio, VelumRecognizer())
        for text in ("DNI 12345678Z", "NIE X-1234567-L", "Nie y7654321g", "pasaporte ABC123456", "DNI 12345678A", "código 401-023-2138"):
            for entity in ("ES_NIF", "ES_NIE", "ES_PASSPORT"):  # what Presidio finds by itself stands, or lies in what velum finds
                by_itself, with_velum = ([(r.start, r.end) for r in e.analyze(text, language="es", entities=[entity]) if r.entity_type == entity] for e in (alone, both))
                self.assertTrue(all(any(a <= start and end <= b for a, b in with_velum) for start, end in by_itself), (text, entity))
            self.assertTrue(both.analyze(text, language="es"), text)
        anonymizer = AnonymizerEngine()
        anonymizer.add_anonymizer(VelumOperator)
        text = anonymizer.anonymize(NOTES[0], found, {"DEFAULT": OperatorConfig("velum")}).text
        self.assertNotIn("Puigdomènech", text)
        self.assertNotIn("600 123", text)
        self.assertRegex(text, r"^Avisa a \[\w+\], tel \[\w+\]$")


if __name__ == "__main__":
    unittest.main()
