"""The velum program as a process: found, started, fed and read. Standard library alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypedDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: the commands of velum that rows go through
VERBS = {"mask": ["mask"], "tag": ["model", "tag"]}


class Options(TypedDict, total=False):
    """The options of all functions, for checkers of types: those of ``flags``, which says what each is."""

    profile: str | None
    model: str | None
    policy: str | None
    recall: float | None
    key: str | os.PathLike[str] | None
    people: str | os.PathLike[str] | None
    without_patient: bool | None
    workers: int | None
    config: str | os.PathLike[str] | None
    settings: Mapping[str, Any] | None


class VelumError(Exception):
    """What velum ended with.

    ``code`` is the exit code (``velum help exit-codes``; -9 if signal 9 ended it), ``remedy`` what to do. Neither they nor
    the message hold text of a note.
    """

    def __init__(self, message: str, code: int = 1, remedy: str = "") -> None:
        super().__init__(f"{message}; {remedy}" if remedy else message)
        self.code = code
        self.remedy = remedy


class Span(NamedTuple):
    """A place in a note. ``start`` and ``end`` count characters, as Python does, half open."""

    start: int
    end: int
    label: str
    source: str
    score: float


def program() -> str:
    """Return the path of the velum program: of VELUM_BINARY, of this wheel, or of PATH.

    Raises VelumError if there is none, and if VELUM_BINARY names none.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    named = os.environ.get("VELUM_BINARY", "")
    places = [named] if named else [
        os.path.join(sysconfig.get_path("scripts"), "velum"),
        os.path.join(here, "..", "bin", "velum"),  # pip install --target
        os.path.join(here, "..", "..", "..", "..", "bin", "velum"),  # pip install --user and --prefix
    ]
    for place in places if named else [*places, shutil.which("velum") or ""]:
        if place and os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.abspath(place)
    raise VelumError("the velum program is not there", 10, "install the wheel of this platform again, or name the program in VELUM_BINARY")


def flags(
    *,
    profile: str | None = None,
    model: str | None = None,
    policy: str | None = None,
    recall: float | None = None,
    key: str | os.PathLike[str] | None = None,
    people: str | os.PathLike[str] | None = None,
    without_patient: bool | None = None,
    workers: int | None = None,
    config: str | os.PathLike[str] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return options as flags of the program.

    profile, model, policy, recall, people, without_patient and workers are the flags of those names;
    key is the file of the secret key, config a file in YAML, and settings any other option by its key, as in
    ``{"read.ids": "keyed"}``.
    """
    args: list[str] = []
    for name, value in (("config", config), ("profile", profile)):
        if value is not None:
            args += [f"--{name}", str(value)]
    options = {
        "tag.model": model, "mask.policy": policy, "tag.recall": recall, "key.file": key,
        "people.table": people, "mask.without_patient": without_patient, "run.workers": workers, **(settings or {}),
    }  # fmt: skip
    for name, value in options.items():
        if isinstance(value, (list, tuple)):
            if wrong := [v for v in value if "," in str(v)]:
                raise ValueError(f"{name}: {wrong[0]!r} has a comma, which parts the values of a list; call it something else")
            value = ",".join(map(str, value))
        if value is not None:
            args += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return args


def failure(code: int, said: bytes) -> VelumError:
    """Return the error that the last lines of the program's log tell of."""
    for line in reversed(said.decode("utf-8", "replace").splitlines()):
        try:
            end = json.loads(line)
        except ValueError:
            continue
        if isinstance(end, dict) and end.get("message_type") == "exit_error":
            mistakes = [": ".join(filter(None, (m.get("key"), m.get("message"), m.get("hint")))) for m in end.get("mistakes", [])]
            message = "; ".join([end["error"], *mistakes])
            return VelumError(message, code, end.get("remedy", ""))
    if code < 0:
        remedy = "start again; SIGKILL comes mostly from a system that is short of memory: give it more, or velum fewer workers"
        return VelumError(f"velum was killed by {signal.Signals(-code).name}", code, remedy)
    return VelumError(f"velum ended with code {code}", code, "see `velum help exit-codes`")


def warn(log: Iterable[bytes]) -> None:
    """Warn of what the program's log doubts: a language that the model does not know, rare facts that nobody looks for."""
    for line in log:
        if b'"doubt"' in line and (said := json.loads(line)).get("level") == "WARN":
            warnings.warn(said["msg"], stacklevel=2)


def lost(what: str) -> VelumError:
    """Return the error of an answer that is not that of the question. Nobody should ever see it."""
    return VelumError(f"what came back of velum is not what was sent: {what}", 1, "report it, and use nothing of what came back")


def pipe(args: Sequence[str], feed: Callable[[IO[bytes]], None], take: Callable[[IO[bytes]], Iterator[Any]]) -> Generator[Any, None, None]:
    """Yield what take makes of the program's output, while feed writes its input in a thread.

    Raises what feed raises, and VelumError if the program does not end well: who has not come to the end has nothing.
    """
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([program(), *args, "--json", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        problems: list[BaseException] = []

        def write() -> None:
            try:
                with process.stdin as to:  # type: ignore[union-attr]
                    feed(to)
            except BrokenPipeError as problem:
                problems.append(problem)  # the program's end says why, if it is that which has ended
            except BaseException as problem:  # noqa: BLE001 it is raised by who reads
                problems.append(problem)
                process.kill()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            broken = ""
            try:
                yield from take(process.stdout)  # type: ignore[arg-type]
            except Exception as problem:  # noqa: BLE001 an output that ends early; what it holds belongs in no message
                broken = type(problem).__name__
            code = process.wait()
            if code == 0:
                writer.join()  # else it may wait for rows that nobody wants any more
            if problems and not isinstance(problems[0], BrokenPipeError):
                raise problems[0]
            if code != 0:
                log.seek(0)
                raise failure(code, log.read())
            if problems:
                raise problems[0]
            if broken:
                raise lost(broken)
            log.seek(0)
            warn(log)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]


#: what the objects that are sent look like, whatever a configuration says of those of its archives
OBJECTS = flags(settings={"read.columns.id": "note_id", "read.columns.text": "text", "read.keep": "", "read.ids": "keep"})


def rows(verb: str, texts: Iterable[Any], args: Sequence[str]) -> Generator[dict[str, Any], None, None]:
    """Send texts as JSON, numbered from 0, and yield the rows that come back: as many, in their order."""
    sent = came = 0

    def feed(to: IO[bytes]) -> None:
        nonlocal sent
        for text in texts:
            if not isinstance(text, str) and not missing(text):
                raise TypeError(f"note {sent} is {type(text).__name__}, not str or None")
            to.write(json.dumps({"note_id": str(sent), "text": None if missing(text) else text}).encode() + b"\n")
            sent += 1

    for row in pipe([*VERBS[verb], "-", "-", *args, *OBJECTS], feed, lambda out: map(json.loads, out)):
        if row["note_id"] != str(came):
            raise lost(f"row {came} has another number")
        came += 1
        yield row
    if came != sent:
        raise lost(f"{came} rows of {sent}")


def missing(value: object) -> bool:
    """Tell whether a value is None, or what pandas puts in its place."""
    return value is None or isinstance(value, float) and value != value or type(value).__name__ in ("NAType", "NaTType")


class Session:
    """A program that stays, for notes that come one by one.

    verb is ``mask`` or ``tag``; options are those of ``velum.mask``. Use it in a with statement,
    or close it. Threads take turns; a forked process starts a program of its own.

    >>> with velum.Session("mask") as session:
    ...     session("Tel 600 123 456")["text"]
    'Tel [TELEPHONE]'
    """

    def __init__(self, verb: str = "mask", **options: Unpack[Options]) -> None:
        self._args = [*VERBS[verb], "-", "-", *flags(**options), *OBJECTS, "--json", "--quiet"]
        self._start()

    def _start(self) -> None:
        self._owner, self._turn, self._count = os.getpid(), threading.Lock(), 0
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen([program(), *self._args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)

    def __call__(self, text: str) -> dict[str, Any]:
        """Return the row of a note: text (None if it is not released), status, and spans of tag.

        Raises VelumError if the program has ended; no call after it gets an answer either.
        """
        if not isinstance(text, str):
            raise TypeError(f"a note is a str, not {type(text).__name__}")
        if self._owner != os.getpid():
            self._leave()
            self._start()
        with self._turn:
            try:
                return self._answer(text)
            except BaseException:
                self._process.kill()  # or the answer that nobody took would be the next note's
                raise

    def _leave(self) -> None:
        """Leave the program to the process from which this one was forked."""
        if not self._turn.locked():  # else something of a note may be in the buffer, which close would send
            self._process.stdin.close()  # type: ignore[union-attr]
            self._process.stdout.close()  # type: ignore[union-attr]
        self._process.returncode = 0
        self._log.close()

    def _answer(self, text: str) -> dict[str, Any]:
        self._count += 1
        to, back = self._process.stdin, self._process.stdout
        assert to is not None and back is not None
        try:
            to.write(json.dumps({"note_id": str(self._count), "text": text}).encode() + b"\n")
            to.flush()
        except BrokenPipeError:
            pass  # the program's end says why
        line = back.readline()
        if not line.endswith(b"\n"):
            code = self._process.wait()
            self._log.seek(0)
            raise failure(code, self._log.read())
        row: dict[str, Any] = json.loads(line)
        if row["note_id"] != str(self._count):
            raise lost("the row has another number")
        return row

    def close(self) -> None:
        """End the program. All answers are there, so nothing is lost if it does not end by itself."""
        if self._owner != os.getpid():
            return  # it is that of the process which was forked
        for end in (self._process.stdin, self._process.stdout):
            try:
                end.close()  # type: ignore[union-attr]
            except BrokenPipeError:
                pass
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:  # a forked process has its input open
            self._process.kill()
            self._process.wait()
        self._log.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _said(args: Sequence[str], allowed: Sequence[int] = (0,)) -> dict[str, Any]:
    """Run the program, and return the last JSON object of its standard output."""
    done = subprocess.run([program(), *args, "--json"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode not in allowed:
        raise failure(done.returncode, done.stderr)
    said: dict[str, Any] = {}
    decoder, text = json.JSONDecoder(), done.stdout.decode("utf-8").strip()
    while text:
        said, end = decoder.raw_decode(text)
        text = text[end:].strip()
    return said


def run(archive: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], **options: Unpack[Options]) -> dict[str, Any]:
    """Mask an archive, ``velum run --in ARCHIVE --out OUT``, and return its summary.

    Options are those of ``velum.mask``. Raises VelumError with the exit code, 3 if more notes are
    in quarantine than allowed. An output that is up to date (4) is no error.
    """
    paths = [archive] if isinstance(archive, (str, os.PathLike)) else list(archive)
    ins = [part for path in paths for part in ("--in", os.fspath(path))]
    return _said(["run", *ins, "--out", os.fspath(out), "--quiet", *flags(**options)], (0, 4))


def evaluate(gold: str | os.PathLike[str], system: str | os.PathLike[str] | None = None, **options: Unpack[Options]) -> dict[str, Any]:
    """Score a model, or the output of an earlier run (system), against labelled notes.

    Options are those of ``velum.mask``. Returns what ``velum prove evaluate --json`` prints.
    """
    of = [] if system is None else ["--system", os.fspath(system)]
    return _said(["prove", "evaluate", "--gold", os.fspath(gold), *of, "--quiet", *flags(**options)])


def main() -> None:
    """Become the program: ``python -m velum``."""
    os.execv(program(), ["velum", *sys.argv[1:]])
