"""How many notes have come back, in a notebook or on a terminal. It needs the standard library alone."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Generator
from typing import Any, TypeVar

#: seconds of work after which it is shown, if nobody said whether it should be
AFTER = 3.0

#: seconds between two changes of what is shown
PAUSE = 0.2

Part = TypeVar("Part")


def shown(parts: Generator[Part, None, None], size: Callable[[Part], int], total: int | None, progress: bool | None) -> Generator[Part, None, None]:
    """Return parts, and show meanwhile how many notes have come of total (None: nobody knows how many there are).

    size tells the notes of a part. progress is True to show it at once, False never to, and None to show it after some
    seconds, in a notebook or on a terminal alone.
    """
    if progress is None:
        progress, wait = in_notebook() or sys.stderr is not None and sys.stderr.isatty(), AFTER
    else:
        wait = 0.0
    return _shown(parts, size, total, wait) if progress else parts


def _shown(parts: Generator[Part, None, None], size: Callable[[Part], int], total: int | None, wait: float) -> Generator[Part, None, None]:
    begun, count, line = time.monotonic(), 0, None
    due = begun + wait
    with contextlib.closing(parts):
        try:
            for part in parts:
                count += size(part)
                if (now := time.monotonic()) >= due:
                    due = now + PAUSE
                    line = line or Line(total, begun)
                    line.show(count)
                yield part
        finally:
            if line is not None:
                line.close(count)


def in_notebook() -> bool:
    """Tell whether a kernel of IPython runs this, which has no terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


class Line:
    """A bar of tqdm, if that is installed; else a line of text that changes in its place."""

    def __init__(self, total: int | None, begun: float) -> None:
        self._total, self._begun = total, begun
        self._bar: Any = None
        self._display: Any = None
        with warnings.catch_warnings(), contextlib.suppress(ImportError):
            warnings.simplefilter("ignore")  # of widgets that are missing: the bar is text then
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, unit=" notes", smoothing=0)
            self._bar.start_t -= time.monotonic() - begun  # it counts from its own beginning

    def show(self, count: int) -> None:
        """Show that so many notes have come."""
        if self._bar is not None:
            self._bar.update(count - self._bar.n)
            return
        of = "" if self._total is None else f" of {self._total:,}"
        text = f"velum: {count:,}{of} notes, {time.monotonic() - self._begun:.0f} s"
        if self._display is not None:
            self._display.update({"text/plain": text}, raw=True)
        elif in_notebook():
            from IPython import display

            untyped: Any = display.display
            self._display = untyped({"text/plain": text}, raw=True, display_id=True)
        elif sys.stderr is not None:
            print(f"\r{text}", end="", file=sys.stderr, flush=True)

    def close(self, count: int) -> None:
        """Show the last count, and leave it there."""
        self.show(count)
        if self._bar is not None:
            self._bar.close()
        elif self._display is None and sys.stderr is not None:
            print(file=sys.stderr)
