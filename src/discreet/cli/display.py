"""How results look: tables and panels for people, one line of JSON for machines.

Numbers for people are rounded to the safe side: what is an upper bound rounds up, what is a lower
bound rounds down; a price within a billionth of a short decimal is that decimal. JSON holds
numbers in full, and those of a guarantee to twelve digits.
"""

from __future__ import annotations

import json
import math
import shlex
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from discreet.cli.misread import Misread
from discreet.core.errors import DiscreetError
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.written import FORMS

if TYPE_CHECKING:
    from discreet.accounting.compare import Quote

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


def beside(told: Iterable[str]) -> None:
    """Say on standard error what columns on standard output do not."""
    for line in told:
        Console(stderr=True, highlight=False).print(Text(line, style="dim"), soft_wrap=True)


def saved(path: Path) -> None:
    """Say on standard error where a picture is, so that JSON stays alone on standard output."""
    Console(stderr=True, highlight=False).print(Text(f"drawn: {path}"), soft_wrap=True)


def lines(text: str) -> None:
    """Text as it stands, on standard output; long lines are left to the terminal."""
    Console(highlight=False, markup=False, emoji=False).print(Text(text), soft_wrap=True)


def note(text: str) -> None:
    """A line beside the answer."""
    Console(highlight=False).print(Text(text, style="dim"), soft_wrap=True)


def next_steps(project: Path, query: str, *, declared: bool) -> None:
    """What to do with a project file that was just written."""
    named = "" if str(project) == "discreet.toml" else f" --project {shlex.quote(str(project))}"
    sign = "'" if '"' in query else '"'
    asked = f"{sign}{query}{sign} --epsilon 0.1{named}"
    told = [
        f"written: {project}  (open it: every line says what it is for)",
        "",
        f"  discreet profile --not-private{named}    # for you alone: does the data fit this?",
        f"  discreet preview {asked}    # how accurate? free",
        f"  discreet query {asked}",
        f"  discreet ledger show{named}    # what was asked and spent",
    ]
    if not declared:
        told.append("No column is declared yet: only rows can be counted.")
    lines("\n".join(told))


def _reason(quote: Quote) -> str:
    if quote.refusal is not None:
        return _REASONS.get(quote.refusal.code, quote.refusal.code)
    return "" if math.isfinite(quote.epsilon) else "no bound at this delta"


_REASONS = {"unpriced": "has no price for it", "delta_zero": "needs delta > 0"}


def quoted(quote: Quote) -> dict[str, object]:
    """What one accountant says, as plain JSON."""
    return {
        "accountant": quote.accountant,
        "epsilon": plain(quote.epsilon),
        "seconds": quote.seconds,
        "refusal": None if quote.refusal is None else quote.refusal.code,
    }


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
    known = value
    match value:
        case Mapping():
            known = {str(key): plain(each) for key, each in value.items()}
        case list() | tuple():
            known = [plain(each) for each in value]
        case Guarantee():
            numbers = {name: _digits(number) for name, number in _numbers(value).items()}
            known = {"notion": FORMS[type(value)].tag, **numbers}
        case Event():
            known = json.loads(value.to_json())
        case Fraction():
            known = float(value)
        case date():
            known = value.isoformat()
        case float() if not math.isfinite(value):
            known = None
        case _ if is_dataclass(value) and not isinstance(value, type):
            known = plain(members(value))
    return known


def members(value: Any) -> dict[str, object]:
    """The fields of a frozen object, by name."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


def describe_remaining_budget(remaining: Guarantee) -> str:
    """What remains, in words, rounded down.

    What lies below a short decimal by less than a billionth of it is shown as that decimal.

    >>> from discreet.core.guarantee import PureDP
    >>> [describe_remaining_budget(PureDP(epsilon=e)) for e in (0.8999999999999999, 0.89999999)]
    ['epsilon 0.9', 'epsilon 0.89999']
    """
    return ", ".join(f"{name} {_short(value)}" for name, value in _numbers(remaining).items())


def _short(value: float) -> str:
    nearest = f"{value:.{DIGITS}g}"
    return nearest if math.isclose(float(nearest), value, rel_tol=1e-9) else downward(value)


def _digits(value: float) -> float:
    """To twelve significant digits: 0.1 + 0.2 is written as 0.3."""
    return float(f"{value:.12g}")


def _numbers(guarantee: Guarantee) -> dict[str, float]:
    names = ("alpha", "epsilon", "delta", "rho", "mu")
    return {name: float(getattr(guarantee, name)) for name in names if hasattr(guarantee, name)}


@contextmanager
def readable_errors(*, machine: bool) -> Iterator[None]:
    """Show a refusal as a panel, or as JSON, on standard error; leave with code 2.

    An error of the library itself leaves with code 1.
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
    except BrokenPipeError:  # the reader has seen enough
        raise
    except (ArithmeticError, LookupError, MemoryError, OSError, TypeError, ValueError) as error:
        text = Text(
            f"{type(error).__name__}: {error}\nThis is an error of discreet: please report it."
        )
        Console(stderr=True).print(Panel(text, title="internal error", title_align="left"))
        raise typer.Exit(1) from error


_HINTS = {  # how a shell says what a remedy says in Python
    "sql_syntax": 'Names with spaces, and words of SQL, stand in double quotes: "date of birth".',
    "accuracy_columns": "Here: --within n=5 --within total=1000, once for each aggregate.",
    "accuracy_depends_on_data": "Here: --rows-at-least 100, or --epsilon.",
    "accuracy_too_expensive": "Here: --at-most 20; a share is --within n=5% --rows-at-least 1000.",
    "spend_notion": 'The part [budget] of the project file says which; with kind = "pure" '
    "leave --delta and --rho out.",
    "ledger_terms": "The project file says other terms than its ledger. Write those of the ledger "
    "into it, then use `discreet ledger amend`; or set `ledger =` in it to a new name, which "
    "starts another ledger, and both count in full.",
    "policy_asker": "Here: --as NAME.",
    "policy_purpose": "Here: --purpose TEXT.",
    "bound_not_positive": "In the project file: number:1:120.",
    "restore_refused": "Here, where the service's state alone is lost and the ledger is not: "
    "`discreet service restore FOLDER --state-only`.",
    "not_a_head": "Here: what `discreet ledger verify` prints after `checkpoint:`.",
    "type_clash": "Columns of a CSV file are text until the project file declares them.",
}


def remedy(error: DiscreetError) -> str:
    """What to do about it, also in words of the command line."""
    return _at_a_shell(" ".join(filter(None, (error.remedy, _HINTS.get(error.code)))))


def _at_a_shell(text: str) -> str:
    """An argument of Python as an option of the command.

    >>> _at_a_shell("Pass `checkpoint=`.")
    'Pass `--checkpoint`.'
    """
    return text.replace("`checkpoint=`", "`--checkpoint`")


def _parts(error: DiscreetError) -> dict[str, object]:
    parts: dict[str, object] = {
        "code": error.code,
        "expectation": _at_a_shell(error.expectation),
        "received": None if error.received is None else str(error.received),
        "remedy": remedy(error),
    }
    if isinstance(error, Misread):
        parts |= {"start": error.start, "end": error.end}
    return parts


def _panel(error: DiscreetError) -> Panel:
    lines = [Text(f"Expected {_at_a_shell(error.expectation)}.")]
    if isinstance(error, Misread):
        lines.insert(0, Text(error.pointer() + "\n", no_wrap=True, overflow="crop"))
    elif error.received is not None:
        lines.append(Text(f"Got {textwrap.shorten(repr(error.received), 200)}."))
    lines.append(Text(remedy(error), style="bold"))
    return Panel(Group(*lines), title=error.code, title_align="left", border_style="red")
