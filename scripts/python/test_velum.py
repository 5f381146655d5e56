"""Tests of the package velum. All notes are invented.

Without ALL_LIBRARIES=all, what needs a library that is not there is left out.
"""

import importlib.util
import os
import unittest

import velum

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
        self.assertEqual(caught.exception.code, 12)
        self.assertIn("key", str(caught.exception))
        self.assertNotIn("Puigdomènech", str(caught.exception))
        for wrong in ("Puigdomènech", b"x", [1]):
            with self.assertRaises(TypeError) as caught:
                velum.mask(wrong)
            self.assertNotIn("Puigdomènech", str(caught.exception))

    def test_program(self):
        kept = os.environ.get("VELUM_BINARY")
        os.environ["VELUM_BINARY"] = "/nowhere/velum"
        try:
            self.assertTrue(os.access(velum.program(), os.X_OK))  # the next one is taken
        except velum.VelumError as problem:
            self.assertIn("VELUM_BINARY", problem.remedy)
        finally:
            os.environ.pop("VELUM_BINARY")
            if kept is not None:
                os.environ["VELUM_BINARY"] = kept

    def test_run(self):
        import json
        import tempfile

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
        self.assertEqual(list(masked["codigo"]), ["3", "1", "2", "5", "4"])
        self.assertEqual(list(masked["status"]), ["masked", "null_text", "masked", "strict_finding", "masked"])
        self.assertEqual(list(masked["year"].dropna()), [2021, 2023, 2025])
        series = velum.mask(frame["nota"])
        self.assertEqual((list(series), series.name, list(series.index)), (MASKED, "nota", [10, 30, 20, 30, 5]))
        self.assertEqual(velum.tag(frame["nota"]).iloc[0][0].label, "PERSON")
        self.assertEqual(len(velum.mask(frame.iloc[:0], text="nota")), 0)
        with self.assertRaises(KeyError):
            velum.mask(frame)

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

    @needs("datasets", "pyarrow")
    def test_datasets(self):
        import datasets

        masked = velum.mask(datasets.Dataset.from_dict(self.columns()), text="nota", id="codigo")
        self.assertEqual((masked["nota"][:], masked["codigo"][:]), (MASKED, ["3", "1", "2", "5", "4"]))

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
        from presidio_anonymizer import AnonymizerEngine
        from presidio_anonymizer.entities import OperatorConfig

        from velum.presidio import VelumOperator, VelumRecognizer

        class Blank(SpacyNlpEngine):  # Spanish words, and no model from a network
            def __init__(self):
                super().__init__()
                self.nlp = {"es": spacy.blank("es")}

        registry = RecognizerRegistry(supported_languages=["es"])
        registry.add_recognizer(VelumRecognizer())
        analyzer = AnalyzerEngine(registry=registry, nlp_engine=Blank(), supported_languages=["es"])
        found = analyzer.analyze(NOTES[0], language="es")
        self.assertEqual(sorted((r.entity_type, NOTES[0][r.start : r.end]) for r in found), [("PERSON", "Jordi Puigdomènech"), ("PHONE_NUMBER", "600 123 456")])
        self.assertEqual([r.entity_type for r in analyzer.analyze(NOTES[0], language="es", entities=["PERSON"])], ["PERSON"])
        self.assertEqual([(r.entity_type, r.start, r.end) for r in analyzer.analyze(NOTES[3], language="es")], [("VELUM_UNSAFE", 0, len(NOTES[3]))])
        engine = AnonymizerEngine()
        engine.add_anonymizer(VelumOperator)
        text = engine.anonymize(NOTES[0], found, {"DEFAULT": OperatorConfig("velum")}).text
        self.assertNotIn("Puigdomènech", text)
        self.assertNotIn("600 123", text)
        self.assertRegex(text, r"^Avisa a \[\w+\], tel \[\w+\]$")


if __name__ == "__main__":
    unittest.main()
