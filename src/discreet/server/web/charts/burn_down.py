"""What is left of budgets as time goes by: a step down for each charge, up for each grant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate

from discreet.server.web.charts.scale import scale_of

WIDTH, HEIGHT = 560, 180
_LEFT, _RIGHT, _TOP, _FOOT = 64, 544, 12, 148


@dataclass(frozen=True)
class BudgetChange:
    """At a moment, in seconds, so much more (a grant) or less (a charge) is left."""

    at: float
    amount: float


@dataclass(frozen=True)
class BurnDownChart:
    """All that a template needs to draw it; ``steps`` and ``area`` are paths.

    Attributes:
        name: Whose budgets, or what for.
        left: What is left of ``granted`` now.
        granted: All that was set aside.
        axis: Round numbers of what is left, with their places.
        times: The first and the last moment, in words.
        words: What it shows, for who does not see it.
    """

    name: str
    left: float
    granted: float
    steps: str
    area: str
    axis: tuple[tuple[float, str], ...]
    times: tuple[str, str]
    words: str


def burn_down(name: str, changes: Sequence[BudgetChange], now: float) -> BurnDownChart:
    """The chart of some budgets, up to now.

    >>> made = burn_down("beds", [BudgetChange(0, 2.0), BudgetChange(5, -0.5)], now=10)
    >>> made.left, made.granted
    (1.5, 2.0)
    """
    ordered = sorted(changes, key=lambda change: change.at)
    totals = list(accumulate(change.amount for change in ordered))
    granted = sum(change.amount for change in ordered if change.amount > 0)
    first = min([change.at for change in ordered], default=now)
    across = scale_of([first, max(now, first + 1)], _LEFT, _RIGHT, zero=False)
    up = scale_of([0.0, *totals, granted], _FOOT, _TOP, zero=True)
    steps = f"M{across(first)} {up(0.0)}" + "".join(
        f"H{across(change.at)}V{up(total)}" for change, total in zip(ordered, totals, strict=True)
    )
    steps += f"H{_RIGHT}"
    left = max(0.0, totals[-1]) if totals else 0.0
    spent = len([change for change in ordered if change.amount < 0])
    return BurnDownChart(
        name=name,
        left=_short(left),
        granted=_short(granted),
        steps=steps,
        area=f"{steps}V{up(0.0)}Z",
        axis=tuple(up.marks(3)),
        times=(_day(first), _day(now)),
        words=f"{name}: {_short(left):g} of {_short(granted):g} left after {spent} charges.",
    )


def _short(value: float) -> float:
    return float(f"{value:.6g}")


def _day(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%d %b %Y, %H:%M}"
