"""A line at the terminal that says how far a question is, while it takes its time.

It says the public phase and the seconds that went by here; how far the engine is, nobody is told.
"""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Protocol, Self, TextIO

_FIRST = 0.5
_EVERY = 0.25
_WIDTH = 20
_DONE = {
    "asked": 0.1,
    "accepted": 0.25,
    "waiting_for_approval": 0.25,
    "started": 0.6,
    "finished": 1.0,
}
"""How much of the bar each phase fills."""


class Progress(Protocol):
    """Shows phases while one waits."""

    def __enter__(self) -> Self:
        """A question was asked."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """It was answered, or nobody waits for it any more."""

    def show(self, phase: str) -> None:
        """It has come so far."""


class Silent:
    """Shows nothing: where nobody looks, and in programs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        return None

    def show(self, phase: str) -> None:
        return None


class ProgressLine:
    """Draws one line, from half a second on, and takes it away at the end."""

    def __init__(self, stream: TextIO) -> None:
        """Draw on a stream."""
        self._stream = stream
        self._phase = "asked"
        self._began = 0.0
        self._drawn = 0
        self._over = threading.Event()
        self._drawing = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Self:
        self._began = time.monotonic()
        self._drawing.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._over.set()
        self._drawing.join()
        if self._drawn:
            self._write("\r" + " " * self._drawn + "\r")

    def show(self, phase: str) -> None:
        self._phase = phase

    def _draw(self) -> None:
        pause = _FIRST
        while not self._over.wait(pause):
            pause = _EVERY
            text = progress_text(self._phase, time.monotonic() - self._began)
            self._write("\r" + text.ljust(self._drawn))
            self._drawn = max(self._drawn, len(text))

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads; the answer comes all the same
            self._over.set()


def progress_text(phase: str, seconds: float) -> str:
    """The line.

    >>> progress_text("started", 2.4)
    'discreet [############........] started, 2 s'
    """
    full = round(_DONE.get(phase, 0.1) * _WIDTH)
    bar = "#" * full + "." * (_WIDTH - full)
    return f"discreet [{bar}] {phase.replace('_', ' ')}, {seconds:.0f} s"


def usual_progress() -> Progress:
    """A line where a person looks: at a terminal, or in a notebook."""
    watched = "ipykernel" in sys.modules or sys.stderr.isatty()
    return ProgressLine(sys.stderr) if watched else Silent()
