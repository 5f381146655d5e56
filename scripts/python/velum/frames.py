"""Notes of pandas, Polars, pyarrow, datasets and lists, in and out."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence, Sized
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, overload

from .process import VERBS, Options, Span, VelumError, flags, lost, missing, pipe, rows
from .progress import shown

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: rows of a record batch that is sent, at the most
BATCH = 10_000

#: bytes of a record batch that is sent, about
BATCH_BYTES = 1 << 23


class Shaped(Protocol):
    """A frame or a column of pandas, Polars, pyarrow or Hugging Face, for checkers of types."""

    @property
    def shape(self) -> Any: ...


Frame = TypeVar("Frame", bound=Shaped)


class Columns(NamedTuple):
    """The columns of a frame that are looked at, by what they are."""

    text: str
    id: str | None
    patient: str | None
    date: str | None
    keep: tuple[str, ...]

    def all(self) -> list[str]:
        """Return the names, each once."""
        return list(dict.fromkeys(name for name in (self.id, self.text, self.patient, self.date, *self.keep) if name is not None))

    def check(self, have: Sequence[Any]) -> None:
        """Raise TypeError, KeyError or ValueError unless a frame that has these columns has all of them, once."""
        for name in self.all():
            if not isinstance(name, str):
                raise TypeError(f"the name of a column is a str, not {type(name).__name__}; frame.rename(columns=str) makes them so")
            if (n := list(have).count(name)) != 1:
                raise (KeyError if n == 0 else ValueError)(f"{n} columns are called {name!r}; there are: {', '.join(map(str, have))}")

    def args(self, options: Options, workers: int | None = None) -> list[str]:
        """Return all options as flags of the program. What is named here is what counts, whatever a configuration says."""
        columns = {"read.columns.id": self.id, "read.columns.text": self.text, "read.columns.patient": self.patient or "",
                   "read.columns.date": self.date or "", "read.keep": list(self.keep)}  # fmt: skip
        own: Options = {"workers": workers, **options, "settings": {**(options.get("settings") or {}), **columns}}
        return flags(**own)


@overload
def mask(data: Frame, *, text: str = ..., id: str | None = ..., patient: str | None = ..., date: str | None = ..., keep: Sequence[str] = ..., progress: bool | None = ..., **options: Unpack[Options]) -> Frame: ...
@overload
def mask(data: Iterable[str | None], *, text: str = ..., id: str | None = ..., patient: str | None = ..., date: str | None = ..., keep: Sequence[str] = ..., progress: bool | None = ..., **options: Unpack[Options]) -> list[str | None]: ...
@overload
def mask(data: object, *, text: str = ..., id: str | None = ..., patient: str | None = ..., date: str | None = ..., keep: Sequence[str] = ..., progress: bool | None = ..., **options: Unpack[Options]) -> Any: ...
def mask(data: Any, *, text: str = "text", id: str | None = None, patient: str | None = None, date: str | None = None, keep: Sequence[str] = (), progress: bool | None = None, **options: Unpack[Options]) -> Any:
    """Mask notes, and return them as they came: same length, order and index.

    data is a list of str and None, a Series (pandas, Polars), an Array (pyarrow), or a frame: a
    DataFrame (pandas, Polars), a LazyFrame, a Table or RecordBatch (pyarrow), a Dataset (Hugging Face).
    A RecordBatchReader, a Dataset or Scanner of pyarrow, a relation of DuckDB, and whatever else has
    ``__arrow_c_stream__``, come back as a RecordBatchReader, which reads as it is read and never holds
    all rows. It raises VelumError while it is read, so nothing of it counts before its end.

    Of a frame come back the columns id (if named), text, status, and those named in keep; no other
    column is looked at. status is "masked", or the reason for which text is null, and with it all of
    keep. id names the notes; without it they are numbered. Ids that are whole numbers stay whole numbers
    of their type, unless the program writes others (``read.ids``). patient names the column of the patient:
    a policy that moves dates or draws surrogates by patient, such as research, needs it, or
    ``without_patient=True``: then each note stands alone, and dates of one patient move apart.
    date names a column that a policy may need: dates,
    datetimes, or text.

    progress shows how many notes have come back: True from the beginning, False never, None (as it is) after
    some seconds in a notebook or on a terminal, and nowhere else. It is a bar of tqdm if that is installed.

    Options: profile, model, policy, recall, key, people, without_patient, workers, config, settings;
    see ``velum.process.flags``. Raises VelumError; nothing of it comes back then.

    >>> frame = velum.mask(frame, text="nota", id="codigo", patient="nhc", keep=["year"], policy="research", key="study.key")
    """
    return _through("mask", data, _columns(text, id, patient, date, keep), options, progress)


@overload
def tag(data: Shaped, *, text: str = ..., id: str | None = ..., patient: str | None = ..., date: str | None = ..., keep: Sequence[str] = ..., progress: bool | None = ..., **options: Unpack[Options]) -> Any: ...
@overload
def tag(data: Iterable[str | None], *, text: str = ..., id: str | None = ..., patient: str | None = ..., date: str | None = ..., keep: Sequence[str] = ..., progress: bool | None = ..., **options: Unpack[Options]) -> list[list[Span] | None]: ...
@overload
def tag(data: object, *, text: str = ..., id: str | None = ..., patient: str | None = ..., date: str | None = ..., keep: Sequence[str] = ..., progress: bool | None = ..., **options: Unpack[Options]) -> Any: ...
def tag(data: Any, *, text: str = "text", id: str | None = None, patient: str | None = None, date: str | None = None, keep: Sequence[str] = (), progress: bool | None = None, **options: Unpack[Options]) -> Any:
    """Find the spans of personal health information, without masking.

    Of a list, Series or Array come back lists of Span, None for a note that a run would set
    aside. Of a frame, a column spans beside those of ``mask``. Offsets count characters. progress
    is that of ``mask``.
    """
    return _through("tag", data, _columns(text, id, patient, date, keep), options, progress)


def map_in_arrow(verb: str = "mask", *, text: str = "text", id: str = "note_id", patient: str | None = None, date: str | None = None, keep: Sequence[str] = (), **options: Unpack[Options]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function for ``DataFrame.mapInArrow`` of Spark: one program a partition, with one worker.

    The columns that come back are note_id, text, status and those of keep, in this order.

    >>> masked = frame.mapInArrow(velum.map_in_arrow(keep=["year"]), "note_id string, text string, status string, year int")
    """
    columns = _columns(text, id, patient, date, keep)
    args = columns.args(options, workers=1)

    def partition(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        first = next(batches, None)
        if first is None:
            return
        columns.check(first.schema.names)
        selected = (batch.select(columns.all()) for batch in itertools.chain([first], batches))
        with contextlib.closing(_batches(verb, first.select(columns.all()).schema, selected, args)) as back:
            for out in back:
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
        doc.ents = tuple(spacy.util.filter_spans([p for p in places if p is not None]))
        docs.add(doc)
    return docs


def to_dataset(texts: Sequence[str | None], spans: Sequence[Sequence[Span] | None]) -> Any:
    """Return a Hugging Face Dataset with columns text and spans; notes without spans of ``tag`` are left out."""
    import datasets

    kept = [(t, [s._asdict() for s in found]) for t, found in zip(texts, spans, strict=True) if t is not None and found is not None]
    return datasets.Dataset.from_dict({"text": [t for t, _ in kept], "spans": [s for _, s in kept]})


def _columns(text: str, id: str | None, patient: str | None, date: str | None, keep: Sequence[str]) -> Columns:
    if isinstance(keep, str):
        raise TypeError("keep is a list of names of columns, not one name")
    return Columns(text, id, patient, date, tuple(keep))


def _batches(verb: str, schema: Any, batches: Iterator[Any], args: list[str]) -> Generator[Any, None, None]:
    """Send record batches, and yield those that come back: one for each, with as many rows."""
    import pyarrow as pa

    sizes: deque[int] = deque()

    def feed(to: IO[bytes]) -> None:
        with pa.ipc.new_stream(to, schema) as stream:
            for batch in batches:
                sizes.append(len(batch))
                stream.write_batch(batch)
                to.flush()  # or a small one waits for others, which may be long in coming

    with contextlib.closing(pipe([*VERBS[verb], "-", "-", *args], feed, lambda out: iter(pa.ipc.open_stream(out)))) as back:
        for out in back:
            if not sizes or len(out) != sizes.popleft():
                raise lost("a batch has another number of rows")
            yield out
    if sizes:
        raise lost(f"{len(sizes)} batches are missing")


def _stream(verb: str, schema: Any, batches: Iterator[Any], columns: Columns, options: Options, progress: bool | None, total: int | None = None) -> Any:
    """Send record batches, of total rows if somebody knows, through the program, and return a RecordBatchReader of what comes back."""
    import pyarrow as pa

    number = "velum number"
    columns.check(schema.names)
    sent = pa.schema([f.with_type(_plain(f.type, f.name == columns.text)) for f in map(schema.field, columns.all())])
    if columns.id is None:
        sent = sent.append(pa.field(number, pa.int64()))

    def parts() -> Iterator[Any]:
        came = 0
        for batch in batches:
            arrays = [c if c.type == (kind := sent.field(name).type) else c.cast(kind) for name in columns.all() for c in [batch.column(name)]]
            if columns.id is None:
                arrays.append(pa.array(range(came, came + len(batch)), pa.int64()))
            came += len(batch)
            whole = pa.RecordBatch.from_arrays(arrays, schema=sent)
            size = max(1, min(BATCH, BATCH_BYTES * len(whole) // max(whole.nbytes, 1)))
            yield from (whole.slice(start, size) for start in range(0, len(whole), size))
        if not came:
            yield pa.RecordBatch.from_pylist([], schema=sent)

    back = shown(_batches(verb, sent, parts(), columns._replace(id=columns.id or number).args(options)), len, total, progress)
    first = next(back)
    names = [columns.id or number, columns.text, *first.schema.names[2:]]
    kind = sent.field(names[0]).type
    if not pa.types.is_integer(kind) or _cast(first.column(0), kind) is None:
        kind = first.schema.field(0).type
    own = [pa.field(name, f.type) for name, f in zip(names, first.schema)]
    made = pa.schema([own[0].with_type(kind), *own[1:]] if columns.id is not None else own[1:])

    def out() -> Iterator[Any]:
        with contextlib.closing(back):
            for batch in itertools.chain([first], back):
                ids = _cast(batch.column(0), kind)
                if ids is None:
                    raise VelumError("the first ids are whole numbers, and later ones are not", 1, "give the ids as text")
                yield pa.RecordBatch.from_arrays([ids, *batch.columns[1:]][-len(made) :], schema=made)

    return pa.RecordBatchReader.from_batches(made, out())


def _cast(ids: Any, kind: Any) -> Any:
    """Return ids as a type, None if they are none of it. The error of pyarrow would quote them."""
    import pyarrow as pa

    try:
        return ids.cast(kind)
    except pa.ArrowInvalid:
        return None


def _table(verb: str, table: Any, columns: Columns, options: Options, progress: bool | None) -> Any:
    """Send a table of pyarrow through the program."""
    import pyarrow as pa

    columns.check(table.column_names)
    if (notes := table.column(columns.text)).null_count == len(notes):  # of whatever type, none is a note
        table = table.set_column(table.column_names.index(columns.text), columns.text, pa.nulls(len(notes), pa.string()))
    return _stream(verb, table.schema, iter(table.select(columns.all()).to_batches()), columns, options, progress, len(notes)).read_all()


def _plain(kind: Any, words: bool) -> Any:
    """Return a type that the program's library knows in place of one that is younger; one of notes is text."""
    import pyarrow as pa

    if words and pa.types.is_null(kind):
        return pa.string()
    if getattr(pa.types, "is_string_view", lambda _: False)(kind):
        return pa.large_string()
    return kind


def _spans(row: dict[str, Any]) -> list[Span] | None:
    return [Span(**s) for s in row["spans"]] if row["status"] == "tagged" else None


def _through(verb: str, data: Any, columns: Columns, options: Options, progress: bool | None) -> Any:
    library, name = type(data).__module__.partition(".")[0], type(data).__name__
    if isinstance(data, (str, bytes)):
        raise TypeError("put the note into a list: velum.mask([note]); or use velum.Session for one note after another")
    if library not in ("pandas", "polars", "pyarrow", "datasets") and not hasattr(data, "__arrow_c_stream__"):
        total = len(data) if isinstance(data, Sized) else None
        found = shown(rows(verb, data, flags(**options)), lambda _: 1, total, progress)
        return [_spans(r) for r in found] if verb == "tag" else [r["text"] for r in found]
    try:
        import pyarrow as pa
    except ImportError as problem:
        raise ImportError("frames go to the program by way of pyarrow: pip install pyarrow; lists need nothing") from problem

    def table(of: Any) -> Any:
        return _table(verb, of, columns, options, progress)

    if (library, name) == ("pandas", "DataFrame"):
        return _pandas(data, columns, table)
    if library == "polars" and name in ("DataFrame", "LazyFrame"):
        out = _polars(data.lazy(), columns, table)
        return out.lazy() if name == "LazyFrame" else out
    if (library, name) == ("datasets", "Dataset"):
        columns.check(data.column_names)
        made = type(data)(table(data.select_columns(columns.all()).with_format("arrow")[:]))
        for kept in columns.keep:
            made = made.cast_column(kept, data.features[kept])
        return made
    if isinstance(data, pa.RecordBatch):
        out = table(pa.Table.from_batches([data]))
        return out.combine_chunks().to_batches()[0] if len(out) else pa.RecordBatch.from_pylist([], schema=out.schema)
    one = isinstance(data, (pa.Array, pa.ChunkedArray)) or library in ("pandas", "polars") and name == "Series"
    if isinstance(data, pa.Table):
        return table(data)
    if not one and (reader := _reader(data)) is not None:
        return _stream(verb, reader.schema, _read(reader, type(data).__name__), columns, options, progress)
    if not one:
        raise TypeError(f"notes do not come as {library}.{name}; see help(velum.mask) for what they may come as")
    alone = Columns("text", None, None, None, ())
    return _series(library, data, lambda of: _table(verb, of, alone, options, progress), verb)


def _reader(data: Any) -> Any:
    """Return a RecordBatchReader of data, None if there is none. The errors of readers may quote rows; these do not."""
    import pyarrow as pa

    try:
        if type(data).__module__ == "pyarrow._dataset":  # a dataset or scanner
            return (data if hasattr(data, "to_reader") else data.scanner()).to_reader()
        if hasattr(data, "__arrow_c_stream__"):
            return pa.RecordBatchReader.from_stream(data)
        return None
    except Exception as problem:  # noqa: BLE001 of whatever library the rows come from
        said = type(problem).__name__
    raise TypeError(f"the rows of {type(data).__name__} cannot be read: {said}")


def _read(reader: Any, name: str) -> Iterator[Any]:
    """Yield the batches of a reader. Its errors may quote rows; this one does not."""
    try:
        yield from reader
        return
    except Exception as problem:  # noqa: BLE001 of whatever library the rows come from
        said = type(problem).__name__
    raise TypeError(f"the rows of {name} cannot be read: {said}")


def _pandas(data: Any, columns: Columns, table: Callable[[Any], Any]) -> Any:
    """Send a DataFrame; what is kept has the types that it had, as far as pandas has a null for them."""
    import pyarrow as pa

    columns.check(data.columns)
    got = table(pa.table({c: _arrow(data[c], c, c == columns.text) for c in columns.all()}))
    out = got.to_pandas().set_axis(data.index, axis=0)
    if columns.id is not None and pa.types.is_integer((ids := got.column(0)).type):
        kind = data[columns.id].dtype
        null = ids.null_count > 0 and getattr(kind, "kind", "") in "iu" and isinstance(kind, sys.modules["numpy"].dtype)
        out[columns.id] = type(data[columns.id])(ids.to_pylist(), index=data.index, dtype="Int64" if null else kind)
    released = (out["status"] == "masked") | (out["status"] == "tagged")
    for name in columns.keep:
        out[name] = data[name].where(released.to_numpy())
    return out


def _polars(data: Any, columns: Columns, table: Callable[[Any], Any]) -> Any:
    """Send a LazyFrame; what is kept has the types that it had."""
    polars = sys.modules["polars"]
    columns.check(data.collect_schema().names())
    frame = data.select(columns.all()).collect()
    out = polars.from_arrow(table(frame.to_arrow(compat_level=polars.CompatLevel.oldest())))
    released = out["status"].is_in(["masked", "tagged"])
    return out.with_columns(polars.when(released).then(frame[name]).alias(name) for name in columns.keep)


def _arrow(values: Any, name: Any, words: bool) -> Any:
    """Return a column of pandas as one of pyarrow. The errors of pyarrow quote values; these name the row."""
    import pyarrow as pa

    if words and values.dtype == object:
        values = [None if missing(v) else v for v in values]
        for row, value in enumerate(values):
            if value is not None and not isinstance(value, str):
                raise TypeError(f"column {name!r}: the value of row {row} is {type(value).__name__}, not str or None")
        try:
            return pa.array(values, pa.large_string())
        except UnicodeEncodeError:  # half a character: velum sets the note aside
            return pa.array([None if v is None else v.encode("utf-8", "surrogatepass") for v in values], pa.large_binary()).view(pa.large_string())
    try:
        return pa.array(values, from_pandas=True)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        pass
    raise TypeError(f"column {name!r} has values of several types; make them one, as frame[{name!r}].astype(str) does")


def _series(library: str, data: Any, through: Callable[[Any], Any], verb: str) -> Any:
    """Send one column through the program, and return another with its index and name."""
    import pyarrow as pa

    values = data.to_arrow() if library == "polars" else _arrow(data, data.name, True) if library == "pandas" else data
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
