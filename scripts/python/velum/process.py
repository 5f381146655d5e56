"""The velum program as a process: found, started, fed and read. Standard library alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple


class VelumError(Exception):
    """What velum ended with.

    ``code`` is the exit code (``velum help exit-codes``), ``remedy`` what to do. Neither they nor
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

    Raises VelumError if there is none.
    """
    here = os.path.dirname(os.path.abspath(__file__))
    places = [
        os.environ.get("VELUM_BINARY", ""),
        os.path.join(sysconfig.get_path("scripts"), "velum"),
        os.path.join(here, "..", "bin", "velum"),  # pip install --target
        os.path.join(here, "..", "..", "..", "..", "bin", "velum"),  # pip install --user and --prefix
    ]
    for place in [*places, shutil.which("velum") or ""]:
        if place and os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.abspath(place)
    raise VelumError("the velum program is not there", 10, "install the wheel of this platform again, or name the program in VELUM_BINARY")


def flags(
    *,
    profile: str | None = None,
    model: str | None = None,
    policy: str | None = None,
    recall: float | None = None,
    key: str | None = None,
    people: str | None = None,
    workers: int | None = None,
    config: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[str]:
    """Return options as flags of the program.

    profile, model, policy, recall, people and workers are the flags of those names; key is the file
    of the secret key, config a file in YAML, and settings any other option by its key, as in
    ``{"read.ids": "keyed"}``.
    """
    args: list[str] = []
    for name, value in (("config", config), ("profile", profile)):
        if value is not None:
            args += [f"--{name}", str(value)]
    options = {
        "tag.model": model, "mask.policy": policy, "tag.recall": recall, "key.file": key,
        "people.table": people, "run.workers": workers, **(settings or {}),
    }  # fmt: skip
    for name, value in options.items():
        if isinstance(value, (list, tuple)):
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
        if end.get("message_type") == "exit_error":
            message = "; ".join([end["error"], *(m.get("message", "") for m in end.get("mistakes", []))])
            return VelumError(message, code, end.get("remedy", ""))
    return VelumError(f"velum ended with code {code}", code, "see `velum help exit-codes`")


def pipe(args: Sequence[str], feed: Callable[[IO[bytes]], None], take: Callable[[IO[bytes]], Iterator[Any]]) -> Iterator[Any]:
    """Yield what take makes of the program's output, while feed writes its input in a thread."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([program(), *args, "--json", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        problems: list[BaseException] = []

        def write() -> None:
            try:
                with process.stdin as to:  # type: ignore[union-attr]
                    feed(to)  # type: ignore[arg-type]
            except BrokenPipeError:
                pass  # the program ended: its code says why
            except BaseException as problem:  # noqa: BLE001 it is raised by who reads
                problems.append(problem)
                process.kill()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        try:
            stopped: Exception | None = None
            try:
                yield from take(process.stdout)  # type: ignore[arg-type]
            except (OSError, ValueError) as problem:  # an output that ends early, of which pyarrow's errors are
                stopped = problem
            code = process.wait()
            writer.join()
            if problems:
                raise problems[0]
            if code != 0:
                log.seek(0)
                raise failure(code, log.read())
            if stopped is not None:
                raise stopped
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stdout.close()  # type: ignore[union-attr]


def rows(verb: str, texts: Iterable[str | None], args: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Send texts as JSON, numbered from 0, and yield the rows that come back."""

    def feed(to: IO[bytes]) -> None:
        for number, text in enumerate(texts):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"note {number} is {type(text).__name__}, not str or None")
            to.write(json.dumps({"note_id": str(number), "text": text}).encode() + b"\n")

    return pipe([verb, "-", "-", *args], feed, lambda out: map(json.loads, out))


class Session:
    """A program that stays, for notes that come one by one.

    verb is ``mask`` or ``tag``; options are those of ``velum.mask``. Use it in a with statement,
    or close it. One thread at a time.

    >>> with velum.Session("mask") as session:
    ...     session("Tel 600 123 456")["text"]
    'Tel [TELEPHONE]'
    """

    def __init__(self, verb: str = "mask", **options: Any) -> None:
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen([program(), verb, "-", "-", *flags(**options), "--json", "--quiet"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log)

    def __call__(self, text: str) -> dict[str, Any]:
        """Return the row of a note: text (None if it is not released), status, and spans of tag."""
        if not isinstance(text, str):
            raise TypeError(f"a note is a str, not {type(text).__name__}")
        try:
            self._process.stdin.write(json.dumps({"note_id": "0", "text": text}).encode() + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass
        line = self._process.stdout.readline()  # type: ignore[union-attr]
        if not line:
            self._log.seek(0)
            raise failure(self._process.wait(), self._log.read())
        row: dict[str, Any] = json.loads(line)
        return row

    def close(self) -> None:
        """End the program."""
        self._process.communicate()
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


def run(archive: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], **options: Any) -> dict[str, Any]:
    """Mask an archive, ``velum run --in ARCHIVE --out OUT``, and return its summary.

    Options are those of ``velum.mask``. Raises VelumError with the exit code, 3 if more notes are
    in quarantine than allowed. An output that is up to date (4) is no error.
    """
    paths = [archive] if isinstance(archive, (str, os.PathLike)) else list(archive)
    ins = [part for path in paths for part in ("--in", os.fspath(path))]
    return _said(["run", *ins, "--out", os.fspath(out), "--quiet", *flags(**options)], (0, 4))


def evaluate(gold: str | os.PathLike[str], system: str | os.PathLike[str] | None = None, **options: Any) -> dict[str, Any]:
    """Score a model, or the output of an earlier run (system), against labelled notes.

    Options are those of ``velum.mask``. Returns what ``velum evaluate --json`` prints.
    """
    of = [] if system is None else ["--system", os.fspath(system)]
    return _said(["evaluate", "--gold", os.fspath(gold), *of, "--quiet", *flags(**options)])


def main() -> None:
    """Become the program: ``python -m velum``."""
    os.execv(program(), ["velum", *sys.argv[1:]])
