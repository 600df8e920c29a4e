"""Blocks of a large table: parts of one table, over the same records, whoever owns the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.source import BlockCountSource
from discreet.core.unit import Replace
from discreet.errors import DiscreetError
from discreet.relational.execute import table_counts as counting
from discreet.relational.plan.keyed_universe import column_questions
from tests.relational.execute.test_table_counts import counts_of, exchanging
from tests.relational.neighbours.worlds import Stand, one

QUESTIONS = column_questions("t", ["w", "x"], [("half", "y > 0")])
COLUMNS = {
    "w": dp.Category(["A", "B", "C"]),
    "x": dp.Integer(0, 4),
    "y": dp.Number(-1, 1),
}
BLOCKS: list[dict[str, list[int]]] = [
    {},
    {"w": [0]},
    {"w": [2, 0], "x": [1, 4, 3]},
    {"x": [0]},
    {"half": [1, 0]},
    {"w": [0, 1], "x": [0], "half": [0]},
]


def rows(seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "pid": rng.integers(0, 40, 200),
            "w": rng.choice(["A", "B", "C", "elsewhere"], 200),
            "x": rng.integers(0, 5, 200),
            "y": rng.choice([-1.0, 0.0, 1.0], 200),
        }
    )


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("pid", max_rows=2), Replace(dp.Row())])
@pytest.mark.parametrize("names", [["w", "x", "half"], ["x", "w"], ["half"]])
def test_blocks_are_parts_of_one_table(
    monkeypatch: pytest.MonkeyPatch, unit: Any, names: list[str]
) -> None:
    stand = Stand(one(rows(1), unit, COLUMNS))
    make = exchanging if isinstance(unit, Replace) else counts_of
    at_once = make(stand, QUESTIONS)
    assert isinstance(at_once, BlockCountSource)
    wanted = {tuple(b): at_once.block_counts(names, b) for b in BLOCKS}
    monkeypatch.setattr(counting, "LARGEST", 29)
    source = make(stand, QUESTIONS)
    whole = source.counts(names) if np.prod(at_once.counts(names).shape) <= 29 else None
    for block in BLOCKS:
        within = {name: codes for name, codes in block.items() if name in names}
        shape = [
            within.get(name, range(source.universe.shape[source.universe.place(name)]))
            for name in names
        ]
        if np.prod([len(side) for side in shape]) > 29:
            with pytest.raises(DiscreetError, match="universe_too_large"):
                source.block_counts(names, within)
            continue
        found = source.block_counts(names, within)
        if whole is not None:
            assert np.array_equal(found, whole[np.ix_(*shape)])
        if not isinstance(unit, dp.Person):
            assert np.array_equal(found, at_once.counts(names)[np.ix_(*shape)])
    assert wanted


def test_blocks_of_people_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks share out the table: together no person has more records than allowed."""
    monkeypatch.setattr(counting, "LARGEST", 15)
    frame = pl.DataFrame(
        {"pid": [7] * 6, "w": list("AABBCC"), "x": [0, 1, 2, 3, 4, 0], "y": [1.0] * 6}
    )
    stand = Stand(one(frame, dp.Person("pid", max_rows=2), COLUMNS))
    for salt in range(6):
        source = counts_of(stand, QUESTIONS, salt)
        parts = [source.block_counts(["w", "x", "half"], {"w": [code]}) for code in range(3)]
        assert sum(int(part.sum()) for part in parts) == 2
