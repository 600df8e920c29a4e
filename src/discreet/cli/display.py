"""How results look: tables and panels for people, one line of JSON for machines.

Numbers for people are rounded to the safe side: what is an upper bound rounds up, what is a lower
bound rounds down. JSON holds them in full.
"""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import typer
from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from discreet.accounting.compare import Quote
from discreet.cli.expression import Misread
from discreet.core.errors import DiscreetError

DIGITS = 5


def upward(value: float) -> str:
    """``value`` with five significant digits, rounded up.

    >>> upward(6.188113), upward(1202), upward(1e-7 / 3), upward(float("inf"))
    ('6.1882', '1202', '3.3334e-08', '∞')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "-∞"
    shown = f"{value:.{DIGITS}g}"
    if float(shown) >= value:
        return shown
    exponent = math.floor(math.log10(abs(value))) - DIGITS + 1
    step = Fraction(10) ** exponent
    return f"{float(math.ceil(Fraction(value) / step) * step):.{DIGITS}g}"


def downward(value: float) -> str:
    """``value`` with five significant digits, rounded down.

    >>> downward(6.18664), downward(0)
    ('6.1866', '0')
    """
    return upward(-value).removeprefix("-") if value > 0 else "0"


def show(
    headline: str, quotes: tuple[Quote, ...], notes: list[str], *, console: Console | None = None
) -> None:
    """A headline, the accountants side by side, and what the numbers are about."""
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("accountant")
    table.add_column("epsilon at most", justify="right")
    table.add_column("time", justify="right")
    table.add_column("")
    best = min(quote.epsilon for quote in quotes)
    for quote in quotes:
        tightest = math.isfinite(best) and quote.epsilon == best
        table.add_row(
            quote.accountant,
            upward(quote.epsilon) if quote.refusal is None else "–",
            f"{quote.seconds * 1000:.1f} ms",
            "tightest" if tightest else _reason(quote),
            style="bold" if tightest else "",
        )
    written = console or Console(highlight=False)
    written.print(Text(headline, style="bold"))
    written.print(table)
    for note in notes:
        written.print(Text(note, style="dim"))


def show_curves(alphas: tuple[float, ...], curves: Mapping[str, list[float]]) -> None:
    """Misses against false alarms, one column for each event."""
    table = Table(box=box.SIMPLE, pad_edge=False, title=None)
    table.add_column("false alarms")
    for name in curves:
        table.add_column(name, justify="right")
    for row, alpha in enumerate(alphas):
        table.add_row(f"{alpha:g}", *(downward(misses[row]) for misses in curves.values()))
    console = Console(highlight=False)
    console.print(Text("misses of any test for one person's presence, at least", style="bold"))
    console.print(table)
    console.print(Text("Guessing misses 1 - false alarms.", style="dim"))


def saved(path: Path) -> None:
    """Say on standard error where a picture is, so that JSON stays alone on standard output."""
    Console(stderr=True, highlight=False).print(Text(f"drawn: {path}"), soft_wrap=True)


def _reason(quote: Quote) -> str:
    if quote.refusal is not None:
        return _REASONS.get(quote.refusal.code, quote.refusal.code)
    return "" if math.isfinite(quote.epsilon) else "no bound at this delta"


_REASONS = {"unpriced": "has no price for it", "delta_zero": "needs delta > 0"}


def as_json(values: Mapping[str, object], *, console: Console | None = None) -> None:
    """One line of JSON on standard output; what is infinite is null."""
    written = console or Console()
    written.print(
        json.dumps(plain(values), allow_nan=False),
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
    )


def plain(value: object) -> object:
    """``value`` in what JSON knows."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Quote):
        return {
            "accountant": value.accountant,
            "epsilon": plain(value.epsilon),
            "seconds": value.seconds,
            "refusal": None if value.refusal is None else value.refusal.code,
        }
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def readable_errors(*, machine: bool) -> Iterator[None]:
    """Show a refusal as a panel, or as JSON, on standard error; leave with code 2.

    A fault of the library itself leaves with code 1.
    """
    try:
        yield
    except DiscreetError as error:
        console = Console(stderr=True, highlight=False)
        if machine:
            as_json({"error": _parts(error)}, console=console)
        else:
            console.print(_panel(error))
        raise typer.Exit(2) from None
    except (ArithmeticError, LookupError, MemoryError, TypeError, ValueError) as fault:
        text = Text(
            f"{type(fault).__name__}: {fault}\nThis is a fault of discreet: please report it."
        )
        Console(stderr=True).print(Panel(text, title="fault", title_align="left"))
        raise typer.Exit(1) from fault


def _parts(error: DiscreetError) -> dict[str, object]:
    parts: dict[str, object] = {
        "code": error.code,
        "expectation": error.expectation,
        "received": None if error.received is None else str(error.received),
        "remedy": error.remedy,
    }
    if isinstance(error, Misread):
        parts |= {"start": error.start, "end": error.end}
    return parts


def _panel(error: DiscreetError) -> Panel:
    lines = [Text(f"Expected {error.expectation}.")]
    if isinstance(error, Misread):
        lines.insert(0, Text(error.pointer() + "\n", no_wrap=True, overflow="crop"))
    elif error.received is not None:
        lines.append(Text(f"Got {textwrap.shorten(repr(error.received), 200)}."))
    lines.append(Text(error.remedy, style="bold"))
    return Panel(Group(*lines), title=error.code, title_align="left", border_style="red")
