"""Whatever one unit's rows hold, only noise hides them: whole tables, fitted in memory.

Rows hold what people's files hold, and worse. Nothing here can fail by chance: the tables are
seeded, and the claims hold for every outcome of noise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.noise.randomness import Seeded
from discreet.synthetic import bounded_records
from tests.synthetic.neighbours import Told, compare

Generator = np.random.Generator
Values = list[Any]


class Unwilling:
    """Fails at whatever it is asked."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise ValueError

    def __float__(self) -> float:
        raise RuntimeError

    def __repr__(self) -> str:
        raise TypeError


ODD: Values = [
    *(None, float("nan"), float("inf"), -float("inf"), 10**400, -(10**400)),
    *(Decimal("NaN"), Decimal("sNaN"), np.float32("nan"), np.datetime64("NaT")),
    *("", "A\x00", "elsewhere", "\ud800", b"A", "31", [1], {}, (bool, True)),
    *(date(1, 1, 1), date(9999, 12, 31), datetime(2024, 1, 1, 3)),
    *(True, False, 0, 1, 1.0, Fraction(1, 3), 1 + 2j),
    *(np.array([1, 2]), np.array(1.5), Unwilling()),
]
USUAL: dict[str, Callable[[Generator], Any]] = {
    "ward": lambda rng: "ABC"[rng.integers(3)],
    "age": lambda rng: float(rng.integers(100)),
    "kids": lambda rng: int(rng.integers(5)),
    "ok": lambda rng: bool(rng.integers(2)),
    "day": lambda rng: date(2024, 1, 1 + int(rng.integers(30))),
    "town": lambda rng: "xy"[rng.integers(2)],
}
DECLARED: dict[str, Any] = {
    "ward": dp.Category(["A", "B", "C"]),
    "age": dp.Number(0, 99),
    "kids": dp.Integer(0, 4),
    "ok": dp.Boolean(),
    "day": dp.Dates(date(2024, 1, 1), date(2024, 1, 31)),
    "town": dp.Category(["x", "y"]),
}
MECHANISMS: dict[str, Any] = {
    "AIM": dp.synthetic.AIM,
    "MST": dp.synthetic.MST,
    "MWEMPGM": partial(dp.synthetic.MWEMPGM, rounds=2),
    "IndependentMarginals": dp.synthetic.IndependentMarginals,
    "FullHistogram": dp.synthetic.FullHistogram,
    "PrivBayes": dp.synthetic.PrivBayes,
}
SPENDS = (
    dp.PureDP(epsilon=1),
    dp.ZCDP(rho=0.5),
    dp.ZCDP(rho=9),
    dp.ApproxDP(epsilon=1, delta=1e-4),
    dp.ApproxDP(epsilon=1, delta=1e-6, by=dp.ZCDP),
)
MINE = 3
"""The one who comes or goes."""


def row(rng: Generator, odd: float, owner: int) -> Values:
    return [
        ODD[rng.integers(len(ODD))] if rng.random() < odd else usual(rng)
        for usual in USUAL.values()
    ] + [owner]


def columns_of(rows: list[Values]) -> dict[str, Values]:
    return {name: [each[place] for each in rows] for place, name in enumerate([*USUAL, "id"])}


def neighbours(unit: Any, rng: Generator) -> tuple[list[Values], list[Values]]:
    """Tables in which one row, or all rows of one person, come, go, or are exchanged."""
    odd = float(rng.choice([0, 0.1, 0.5]))
    rows = [row(rng, odd, int(rng.integers(8))) for _ in range(rng.integers(3, 50))]
    if unit == dp.Row():
        return [*rows, row(rng, 0.5, 0)], rows
    if unit == dp.Replace(dp.Row()):
        return rows, [*rows[1:], row(rng, 0.5, 0)]
    others = [each for each in rows if each[-1] != MINE]
    mine = [row(rng, 0.5, MINE) for _ in range(rng.integers(1, 9))]
    if rng.random() < 0.5:
        mine = mine[:1] * len(mine)
    mixed = [*others, *mine]
    return [mixed[place] for place in rng.permutation(len(mixed))], others


def synthesizer(unit: Any, kind: str, spend: Guarantee, rng: Generator) -> dp.synthetic.Synthesizer:
    """With constraints, private bins and public rows, now and then."""
    names = rng.permutation(list(DECLARED))[: rng.integers(2, 5)].tolist()
    rules: list[Any] = []
    if {"ward", "ok"} <= set(names):
        rules.append(dp.synthetic.Impossible({"ward": ["A"], "ok": [True]}))
    if {"ward", "town"} <= set(names):
        follows: dict[object, object] = {"A": "x", "B": "y", "C": "x"}
        rules.append(dp.synthetic.Determined("town", by="ward", values=follows))
    bins = dp.synthetic.PrivateBins(3, of=8) if rng.random() < 0.4 else int(rng.integers(2, 6))
    public = None
    if kind in ("AIM", "MST") and isinstance(bins, int) and rng.random() < 0.4:
        public = columns_of([row(rng, 0.0, 0) for _ in range(20)])
    return dp.synthetic.Synthesizer(
        columns={name: DECLARED[name] for name in names},
        unit=unit,
        spend=spend,
        mechanism=MECHANISMS[kind],
        constraints=rules,
        bins=bins,
        public=public,
    )


def told(maker: dp.synthetic.Synthesizer, rows: list[Values]) -> Told:
    """All that is seen of a release but its random name."""
    released = maker.fit(columns_of(rows)).release_
    assert released is not None
    plain = json.loads(released.to_json())
    assert plain.pop("id") == released.id
    statement = str(released.statement).replace(released.id, "")
    return json.dumps(plain, sort_keys=True), repr(released), statement, repr(released.event)


UNITS = {
    "rows come and go": dp.Row(),
    "rows are exchanged": dp.Replace(dp.Row()),
    "people come and go": dp.Person("id", max_rows=3),
}
FEW, MANY = range(5), range(5, 30)


@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("kind", MECHANISMS)
def test_neighbours_differ_in_what_noise_hides_and_in_nothing_else(
    kind: str, unit: str, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, protected = 0.0, UNITS[unit]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        spend = SPENDS[seed % len(SPENDS)]
        one, other = neighbours(protected, rng)
        maker = synthesizer(protected, kind, spend, rng)

        def release(rows: list[Values], maker: dp.synthetic.Synthesizer = maker) -> Told:
            monkeypatch.setattr(bounded_records, "SYSTEM", Seeded(5))  # the salt of both worlds
            return told(maker, rows)

        worlds = partial(release, one), partial(release, other)
        found = compare(*worlds, spend=spend, seed=seed)
        most = max(most, *found.values())
    assert most > 0.9, "nobody was hidden: the tables do not differ"
