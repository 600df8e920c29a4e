"""How a stream looks in a terminal: a table that moves with its ticks, a curve for each key."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from discreet.cli import display

if TYPE_CHECKING:
    from discreet.streams.live.tick import Tick

_BARS = "▁▂▃▄▅▆▇█"
_LATEST = 40
_MOST = 30


def sparkline(values: Sequence[float]) -> str:
    """A curve of one line: each value between the least and the greatest.

    >>> sparkline([0, 1, 2, 7])
    '▁▂▃█'
    """
    low, high = min(values), max(values)
    span = (high - low) or 1
    return "".join(_BARS[int((value - low) / span * (len(_BARS) - 1))] for value in values)


class StreamTable:
    """The latest ticks as a table."""

    def __init__(self, ticks: int) -> None:
        """Of a stream with so many ticks in all."""
        self._ticks = ticks
        self._told: deque[Tick] = deque(maxlen=_LATEST)

    def add(self, tick: Tick) -> Table:
        """The table with one tick more."""
        self._told.append(tick)
        table = Table(box=box.SIMPLE, pad_edge=False)
        table.title = f"{tick.ends:%Y-%m-%d %H:%M:%S} UTC, tick {tick.number + 1} of {self._ticks}"
        table.add_column("key")
        table.add_column("estimate", justify="right")
        table.add_column(f"within ({100 * tick.confidence:g}%)", justify="right")
        table.add_column("latest ticks")
        for key in list(tick)[:_MOST]:
            curve = sparkline([each[key] for each in self._told if key in each.values])
            off = "" if tick.within is None else f"± {display.upward(tick.within)}"
            table.add_row(Text(key), f"{tick[key]:,.6g}", off, curve)
        if len(tick) > _MOST:
            table.caption = f"and {len(tick) - _MOST} more keys; --json has all"
        return table


class View:
    """Shows ticks as they come."""

    def __init__(self, ticks: int, console: Console, live: Live | None) -> None:
        """On a console; in place where ``live`` is given, else line by line."""
        self._table = StreamTable(ticks)
        self._console = console
        self._live = live

    def show(self, tick: Tick) -> None:
        """One tick more."""
        if self._live is None:
            self._console.print(Text(str(tick)), soft_wrap=True)
        else:
            self._live.update(self._table.add(tick), refresh=True)


class JSONView:
    """One line of JSON for each tick."""

    def show(self, tick: Tick) -> None:
        """One tick more."""
        display.as_json(tick.to_dict())


@contextmanager
def view(ticks: int, *, machine: bool) -> Iterator[View | JSONView]:
    """What fits where the output goes: JSON, a moving table in a terminal, or plain lines."""
    if machine:
        yield JSONView()
        return
    console = Console(highlight=False)
    if not console.is_terminal or console.is_dumb_terminal:
        yield View(ticks, console, None)
        return
    with Live(console=console, auto_refresh=False) as live:
        yield View(ticks, console, live)
