"""Notes of pandas, Polars, pyarrow, datasets and lists, in and out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

from .process import Span, flags, pipe, rows

#: rows of a record batch that is sent
BATCH = 10_000


def mask(data: Any, *, text: str = "text", id: str | None = None, patient: str | None = None, date: str | None = None, keep: Sequence[str] = (), **options: Any) -> Any:
    """Mask notes, and return them as they came: same length, order and index.

    data is a list of str and None, a Series (pandas, Polars), an Array (pyarrow), or a frame: a
    DataFrame (pandas, Polars), a Table or RecordBatch (pyarrow), a Dataset (Hugging Face).

    Of a frame come back the columns id (if named), text, status, and those named in keep; no other
    column is looked at. status is "masked", or the reason for which text is null, and with it all of
    keep. id names the notes; without it they are numbered. patient and date name columns that a
    policy may need.

    Options: profile, model, policy, recall, key, people, workers, config, settings; see
    ``velum.process.flags``. Raises VelumError; nothing of it comes back then.

    >>> frame = velum.mask(frame, text="nota", id="codigo", keep=["year"], policy="research", key="study.key")
    """
    return _through("mask", data, text, id, patient, date, keep, options)


def tag(data: Any, *, text: str = "text", id: str | None = None, patient: str | None = None, date: str | None = None, keep: Sequence[str] = (), **options: Any) -> Any:
    """Find the spans of personal health information, without masking.

    Of a list, Series or Array come back lists of Span, None for a note that a run would set
    aside. Of a frame, a column spans beside those of ``mask``. Offsets count characters.
    """
    return _through("tag", data, text, id, patient, date, keep, options)


def map_in_arrow(verb: str = "mask", *, text: str = "text", id: str = "note_id", patient: str | None = None, date: str | None = None, keep: Sequence[str] = (), **options: Any) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function for ``DataFrame.mapInArrow`` of Spark: one program a partition.

    The columns that come back are note_id, text, status and those of keep, in this order.

    >>> masked = frame.mapInArrow(velum.map_in_arrow(keep=["year"]), "note_id string, text string, status string, year int")
    """
    args = _args(text, id, patient, date, keep, options)
    wanted = _columns(text, id, patient, date, keep)

    def partition(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        first = next(batches, None)
        if first is None:
            return

        def selected() -> Iterator[Any]:
            yield first.select(wanted)
            for batch in batches:
                yield batch.select(wanted)

        for out in _batches(verb, first.select(wanted).schema, selected(), args):
            yield pa.RecordBatch.from_arrays([c.cast(pa.string()) if pa.types.is_large_string(c.type) else c for c in out.columns], names=out.schema.names)

    return partition


def to_docbin(texts: Sequence[str | None], spans: Sequence[Sequence[Span] | None], language: str = "es") -> Any:
    """Return a spaCy DocBin of notes with the spans of ``tag`` as entities; notes without are left out.

    A span that begins or ends within a token of spaCy takes the whole token.
    """
    import spacy
    from spacy.tokens import DocBin

    nlp, docs = spacy.blank(language), DocBin()
    for text, found in zip(texts, spans, strict=True):
        if text is None or found is None:
            continue
        doc = nlp.make_doc(text)
        places = (doc.char_span(s.start, s.end, label=s.label, alignment_mode="expand") for s in found)
        doc.ents = spacy.util.filter_spans([p for p in places if p is not None])
        docs.add(doc)
    return docs


def to_dataset(texts: Sequence[str | None], spans: Sequence[Sequence[Span] | None]) -> Any:
    """Return a Hugging Face Dataset with columns text and spans; notes without spans of ``tag`` are left out."""
    import datasets

    kept = [(t, [s._asdict() for s in found]) for t, found in zip(texts, spans, strict=True) if t is not None and found is not None]
    return datasets.Dataset.from_dict({"text": [t for t, _ in kept], "spans": [s for _, s in kept]})


def _columns(text: str, id: str | None, patient: str | None, date: str | None, keep: Sequence[str]) -> list[str]:
    if isinstance(keep, str):
        raise TypeError("keep is a list of names of columns, not one name")
    return list(dict.fromkeys(name for name in (id, text, patient, date, *keep) if name is not None))


def _args(text: str, id: str, patient: str | None, date: str | None, keep: Sequence[str], options: dict[str, Any]) -> list[str]:
    columns = {"read.columns.id": id, "read.columns.text": text, "read.columns.patient": patient, "read.columns.date": date, "read.keep": list(keep) or None}
    settings = dict(options.pop("settings", None) or {})
    return flags(settings={**settings, **columns}, **options)


def _batches(verb: str, schema: Any, batches: Iterator[Any], args: list[str]) -> Iterator[Any]:
    """Send record batches, and yield those that come back: one for each, with as many rows."""
    import pyarrow as pa

    def feed(to: IO[bytes]) -> None:
        with pa.ipc.new_stream(to, schema) as stream:
            for batch in batches:
                stream.write_batch(batch)

    return pipe([verb, "-", "-", *args], feed, lambda out: iter(pa.ipc.open_stream(out)))


def _table(verb: str, table: Any, text: str, id: str | None, patient: str | None, date: str | None, keep: Sequence[str], options: dict[str, Any]) -> Any:
    """Send a table of pyarrow through the program."""
    import pyarrow as pa

    number = "velum number"
    if missing := [name for name in _columns(text, id, patient, date, keep) if name not in table.column_names]:
        raise KeyError(f"no column {missing[0]!r}; there are: {', '.join(map(str, table.column_names))}")
    sent = table.select(_columns(text, id, patient, date, keep))
    sent = pa.table([_plain(c) for c in sent.columns], names=sent.column_names)
    if id is None:
        sent = sent.append_column(number, pa.array(range(len(table)), pa.int64()))
    args = _args(text, id or number, patient, date, keep, options)
    out = list(_batches(verb, sent.schema, iter(sent.to_batches(max_chunksize=BATCH)), args))
    if not out:  # a table without rows has no record batches
        out = list(_batches(verb, sent.schema, iter([pa.RecordBatch.from_pylist([], schema=sent.schema)]), args))
    got = pa.Table.from_batches(out)
    if len(got) != len(table):
        raise RuntimeError(f"{len(got)} rows came back of {len(table)}")  # never: velum loses no row
    got = got.rename_columns({"note_id": id or number, "text": text})
    return got if id is not None else got.drop_columns([number])


def _plain(column: Any) -> Any:
    """Return a column with no type that is younger than the program's library."""
    import pyarrow as pa

    if getattr(pa.types, "is_string_view", lambda _: False)(column.type):
        return column.cast(pa.large_string())
    return column


def _spans(row: dict[str, Any]) -> list[Span] | None:
    return [Span(**s) for s in row["spans"]] if row["status"] == "tagged" else None


def _through(verb: str, data: Any, text: str, id: str | None, patient: str | None, date: str | None, keep: Sequence[str], options: dict[str, Any]) -> Any:
    library = type(data).__module__.partition(".")[0]
    if isinstance(data, (str, bytes)):
        raise TypeError("put the note into a list: velum.mask([note]); or use velum.Session for one note after another")
    if library not in ("pandas", "polars", "pyarrow", "datasets"):
        found = rows(verb, data, flags(**options))
        return [_spans(r) for r in found] if verb == "tag" else [r["text"] for r in found]
    try:
        import pyarrow as pa
    except ImportError as problem:
        raise ImportError("frames go to the program by way of pyarrow: pip install pyarrow; lists need nothing") from problem

    def table(of: Any) -> Any:
        return _table(verb, of, text, id, patient, date, keep, options)

    name = type(data).__name__
    if library == "pandas" and name == "DataFrame":
        out = table(pa.table({c: pa.array(data[c], from_pandas=True) for c in _columns(text, id, patient, date, keep)})).to_pandas()
        return out.set_axis(data.index, axis=0)
    if library == "polars" and name == "DataFrame":
        return sys.modules["polars"].from_arrow(table(data.select(_columns(text, id, patient, date, keep)).to_arrow()))
    if library == "datasets":
        return type(data)(table(data.with_format("arrow")[:]))
    if name in ("Table", "RecordBatch"):
        out = table(pa.Table.from_batches([data]) if name == "RecordBatch" else data)
        return out if name == "Table" else out.combine_chunks().to_batches()[0] if len(out) else pa.RecordBatch.from_pylist([], schema=out.schema)
    return _series(library, data, lambda of: _table(verb, of, "text", None, None, None, (), options), verb)


def _series(library: str, data: Any, through: Callable[[Any], Any], verb: str) -> Any:
    """Send one column through the program, and return another with its index and name."""
    import pyarrow as pa

    values = data.to_arrow() if library == "polars" else pa.array(data, from_pandas=True) if library == "pandas" else data
    out = through(pa.table({"text": values}))
    if verb == "tag":
        made: Any = [_spans(r) for r in out.to_pylist()]
    else:
        made = out.column("text")
    if library == "pandas":
        return type(data)(made if verb == "tag" else made.to_pylist(), index=data.index, name=data.name, dtype=object)
    if library == "polars":
        polars = sys.modules["polars"]
        return polars.Series(data.name, made, dtype=polars.Object) if verb == "tag" else polars.Series(data.name, polars.from_arrow(made))
    return made if verb == "tag" or type(data).__name__ == "ChunkedArray" else made.combine_chunks()
