"""TopDown through a curator: priced, kept, found again; people bounded; blocks in the engine."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.curator.synopsis.stored_form import synopsis_from_json, synopsis_to_json
from discreet.errors import DiscreetError
from discreet.relational.execute import table_counts as counting
from discreet.synthetic.hierarchy import tree
from discreet.synthetic.hierarchy.cell_table import CellTable
from discreet.synthetic.hierarchy.levels import Hierarchy, Level
from discreet.synthetic.hierarchy.tables import level_counts
from discreet.synthetic.hierarchy.topdown import TopDown, ToyDown

TOWNS = [f"t{number}" for number in range(12)]
REGIONS = {town: "NS"[number % 2] for number, town in enumerate(TOWNS)}
LEVELS = Hierarchy(
    (Level("nation"), Level("region", by="town", groups=REGIONS), Level("town", by="town"))
)


def curator_of(unit: Any) -> tuple[dp.Curator, Any]:
    rng = np.random.default_rng(3)
    rows = {
        "who": rng.integers(0, 300, 900),
        "town": rng.choice(TOWNS, 900, p=np.arange(1, 13) / 78),
        "sex": rng.choice(["f", "m"], 900),
    }
    table = dp.table(
        rows,
        unit=unit,
        columns={"town": dp.Category(TOWNS), "sex": dp.Category(["f", "m"])},
        snapshot="1",
    )
    made = dp.Curator(people=table, budget=dp.PureDP(epsilon=50), ledger=dp.ledger.Memory())
    return made, rows


@pytest.mark.parametrize("kind", [TopDown, ToyDown])
def test_a_release_is_paid_once_kept_and_found_again(kind: Any) -> None:
    curator, _ = curator_of(dp.Row())
    universe = curator.universe("people", "town", "sex")
    asked = dp.queries.Workload.marginal(universe, ["town"])
    ask = partial(curator.synopsis, asked, spend=dp.PureDP(epsilon=2))
    one = ask(mechanism=partial(kind, hierarchy=LEVELS))
    again = ask(mechanism=partial(kind, hierarchy=LEVELS))
    assert one.id == again.id
    assert curator.spent == dp.PureDP(epsilon=2, unit=dp.Row())
    assert np.array_equal(one.answers(asked), again.answers(asked))
    other = Hierarchy((*LEVELS.levels[:2], Level("town", by="town", share=2)))
    assert ask(mechanism=partial(kind, hierarchy=other)).id != one.id
    read = synopsis_from_json(synopsis_to_json(one), universe=universe)
    assert np.array_equal(read.answers(asked), one.answers(asked))
    assert kind.__name__ in repr(one)


def test_what_is_wrong_is_refused_and_costs_nothing() -> None:
    curator, _ = curator_of(dp.Row())
    universe = curator.universe("people", "sex")
    asked = dp.queries.Workload.marginal(universe, ["sex"])
    with pytest.raises(DiscreetError, match="attribute_unknown"):
        curator.synopsis(
            asked, mechanism=partial(TopDown, hierarchy=LEVELS), spend=dp.PureDP(epsilon=1)
        )
    assert curator.spent == dp.PureDP(epsilon=0, unit=dp.Row())


@pytest.mark.parametrize("unit", [dp.Row(), dp.Person("who", max_rows=2)])
def test_blocks_counted_in_the_engine_are_the_table(
    monkeypatch: pytest.MonkeyPatch, unit: Any
) -> None:
    """At an epsilon that leaves no noise to speak of, in blocks of one region."""
    curator, rows = curator_of(unit)
    universe = curator.universe("people", "town", "sex")
    monkeypatch.setattr(counting, "LARGEST", 23)
    monkeypatch.setattr(tree.Tree, "block", 12)
    made: list[int] = []
    blocks = tree.Tree.blocks

    def counted(self: tree.Tree) -> Any:
        found = list(blocks(self))
        made.append(len(found))
        return iter(found)

    monkeypatch.setattr(tree.Tree, "blocks", counted)
    monkeypatch.setattr(tree.Tree.__init__, "__defaults__", (12,))
    released = curator.synopsis(
        dp.queries.Workload.marginal(universe, ["town"]),
        mechanism=partial(TopDown, hierarchy=LEVELS),
        spend=dp.PureDP(epsilon=48),
    )
    assert set(made) == {2}
    assert isinstance(released.synopsis, CellTable)
    towns = level_counts(LEVELS, released, "town")
    if isinstance(unit, dp.Row):
        truth = {(town,): float((rows["town"] == town).sum()) for town in TOWNS}
        assert max(abs(towns[key] - truth[key]) for key in truth) <= 4
    else:
        kept = np.minimum(np.bincount(rows["who"]), 2).sum()
        assert abs(sum(towns.values()) - kept) <= 12
