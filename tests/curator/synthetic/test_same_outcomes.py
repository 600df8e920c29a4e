"""Whatever one person's rows hold, only noise hides them: tables at a curator, and several of them.

One person comes or goes, with more rows than the limits allow, missing and foreign values, and
rows that break constraints; the engine counts all cells at once, or marginal by marginal. Nothing
here can fail by chance.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.curator.synopsis.stored_form import synopsis_to_json
from discreet.relational.execute import table_counts
from discreet.synthetic import Hierarchy, Impossible, Level, PrivateBins
from tests.synthetic.neighbours import Told, compare

Generator = np.random.Generator
MINE = 3
"""The one who comes or goes."""
TYPES: Any = {"who": pl.Int64, "ward": pl.Utf8, "age": pl.Float64, "ok": pl.Boolean}
ODD: dict[str, list[Any]] = {
    "ward": [None, "", "elsewhere", "a"],
    "age": [None, float("nan"), float("inf"), -float("inf"), 1e300, -5.0],
    "ok": [None],
}
COLUMNS: dict[str, Any] = {
    "ward": dp.Category(["A", "B", "C"]),
    "age": dp.Number(0, 99),
    "ok": dp.Boolean(),
}
NEVER = Impossible({"ward": ["A"], "ok": [True]})
LEVELS = Hierarchy(
    (
        Level("all"),
        Level("part", by="ward", groups={"A": 1, "B": 1, "C": 2}),
        Level("ward", by="ward"),
    )
)
SPENDS: dict[Guarantee, Guarantee] = {
    dp.PureDP(epsilon=1): dp.PureDP(epsilon=3),
    dp.ZCDP(rho=0.5): dp.ZCDP(rho=2),
    dp.ApproxDP(epsilon=1, delta=1e-4): dp.ApproxDP(epsilon=3, delta=1e-3),
}


def rows(rng: Generator, number: int, who: list[int | None]) -> dict[str, list[Any]]:
    usual: dict[str, list[Any]] = {
        "ward": ["ABC"[each] for each in rng.integers(0, 3, number)],
        "age": rng.integers(0, 100, number).astype(float).tolist(),
        "ok": rng.integers(0, 2, number).astype(bool).tolist(),
    }
    for name, odd in ODD.items():
        for place in np.flatnonzero(rng.random(number) < 0.3):
            usual[name][place] = odd[rng.integers(len(odd))]
    return {"who": who, **usual}


def owned(rng: Generator, number: int) -> dict[str, list[Any]]:
    """About every third row is the one person's; some rows are nobody's."""
    who = [
        MINE if rng.random() < 0.3 else None if rng.random() < 0.1 else int(each)
        for each in rng.integers(0, 9, number)
    ]
    return rows(rng, number, who)


def table(held: dict[str, list[Any]], limit: int, *, without: bool) -> Any:
    frame = pl.DataFrame(held, schema=TYPES)
    if without:
        frame = frame.filter(pl.col("who").is_null() | (pl.col("who") != MINE))
    return dp.table(frame, unit=dp.Person("who", max_rows=limit), columns=COLUMNS, snapshot="one")


def topdown(source: dp.Curator, spend: Guarantee) -> Any:
    universe = source.universe("visits", "ward", "ok")
    asked = dp.queries.Workload.marginal(universe, ["ward"])
    made = partial(dp.synthetic.TopDown, hierarchy=LEVELS)
    return source.synopsis(asked, mechanism=made, spend=spend)


SAMPLE = {"ward": ["A", "B"], "age": [3.0, 90.0], "ok": [True, False]}
DOORS: dict[str, Callable[[dp.Curator, Guarantee], Any]] = {
    "AIM": lambda c, s: c.synthesize("visits", bins=4, constraints=[NEVER], spend=s),
    "PrivBayes on private bins": lambda c, s: c.synthesize(
        "visits", bins=PrivateBins(3, of=8), mechanism=dp.synthetic.PrivBayes, spend=s
    ),
    "TopDown": topdown,
    "tables": lambda c, s: c.synthesize_tables("people", ["visits", "orders"], bins=3, spend=s),
    "tables in private bins": lambda c, s: c.synthesize_tables(
        "people", ["visits"], bins=PrivateBins(2, of=5), spend=s
    ),
    "evaluation": lambda c, s: c.evaluate_synthetic("visits", SAMPLE, ways=(1, 2), spend=s),
}
FEW, MANY = range(2), range(2, 14)


def told(ask: Callable[[dp.Curator, Guarantee], Any], source: dp.Curator, spend: Guarantee) -> Told:
    """All that an analyst sees but the random names."""
    released = ask(source, spend)
    text = synopsis_to_json(released) if hasattr(released, "synopsis") else released.to_json()
    plain = json.loads(text)
    name = plain.pop("id", "no name")
    seen = repr(released).replace(str(name), "")
    kinds = [entry.kind for entry in source.ledger.entries()]
    return json.dumps(plain, sort_keys=True), seen, repr(source.remaining), repr(kinds)


@pytest.mark.parametrize("seeds", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("door", DOORS)
def test_one_person_changes_what_noise_hides_and_nothing_else(
    door: str, seeds: range, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_counts, "integer", lambda *_: 12345)  # the salt of both worlds
    most = 0.0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        limit, number = 1 + seed % 3, int(rng.integers(5, 60))
        # Marginal by marginal, or all cells at once.
        monkeypatch.setattr(table_counts, "LARGEST", 40 if seed % 2 else 1 << 24)
        twice = [MINE, MINE, *range(7)]  # somebody stands twice in the table of people
        people = rows(rng, 9, [*twice])
        visits, orders = owned(rng, number), owned(rng, number)
        spend, budget = list(SPENDS.items())[seed % len(SPENDS)]

        def world(*, without: bool) -> Told:
            source = dp.Curator(
                people=table(people, 1, without=without),  # noqa: B023 -- called at once
                visits=table(visits, limit, without=without),  # noqa: B023
                orders=table(orders, 2, without=without),  # noqa: B023
                budget=budget,  # noqa: B023
                ledger=dp.ledger.Memory(),
            )
            return told(DOORS[door], source, spend)  # noqa: B023

        worlds = partial(world, without=False), partial(world, without=True)
        lost = compare(*worlds, spend=spend, seed=seed)
        most = max(most, *lost.values())
    assert most > 0.4, "nobody was hidden: the tables do not differ"
