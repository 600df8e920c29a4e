"""Many marginals from one statement: the same counts, of the same records, as one by one."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.curator.synthetic.make import SynthesisRequest
from discreet.queries.workload.universe import LARGEST
from discreet.relational.execute import several_counts, table_counts
from discreet.relational.execute.several_counts import SeveralCounts
from discreet.relational.execute.table_counts import TableCounts
from discreet.synthetic.encoding.category_column import CategoryColumn
from tests.synthetic.invented import DECLARED, visits

UNITS = [dp.Row(), dp.Person("patient", max_rows=2), dp.Replace(dp.Row())]
COLUMNS: dict[str, Any] = {
    **dict.fromkeys(DECLARED),
    "sex": CategoryColumn(["f", "m"], missing=False),  # one in twenty rows has no cell
}


def request(unit: Any, bins: int = 400) -> SynthesisRequest:
    table = dp.table(pl.DataFrame(visits(700)), unit=unit, columns=DECLARED)
    curator = dp.Curator(visits=table, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory())
    return SynthesisRequest.of(curator.context, "visits", columns=COLUMNS, bins=bins, ways=2)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: type(unit).__name__)
def test_many_at_once_are_the_same_as_one_by_one(
    unit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(several_counts, "TOGETHER", 4)
    made = request(unit)
    assert made.source.universe.size > LARGEST
    several = SeveralCounts.of(made.source, made.expected())
    names = made.encoding.universe.names
    asked = [list(each) for size in (1, 2) for each in combinations(names, size)]
    for each in (*asked, list(names[1::-1])):
        assert (several.counts(each) == made.source.counts(each)).all(), each
    assert len(several._known) == len(made.expected())


def test_a_set_that_nobody_expected_is_counted_by_itself() -> None:
    made = request(dp.Row(), bins=3)
    several = SeveralCounts.of(made.source, [])
    names = made.encoding.universe.names[:3]
    assert (several.counts(names) == made.source.counts(names)).all()
    assert several.unit == dp.Row()
    assert several.domain("ill") == made.source.domain("ill")


def test_statements_are_few_and_chosen_by_public_order(monkeypatch: pytest.MonkeyPatch) -> None:
    made = request(dp.Row())
    ran: list[str] = []
    numbers = type(made.source.engine).numbers

    def listening(engine: Any, text: str) -> Any:
        ran.append(text)
        return numbers(engine, text)

    monkeypatch.setattr(type(made.source.engine), "numbers", listening)
    several = SeveralCounts.of(made.source, made.expected())
    for first, second in combinations(made.encoding.universe.names, 2):
        several.counts([first, second])
    assert len(ran) == 1
    totals = {int(several.counts([name]).sum()) for name in made.encoding.universe.names}
    assert len(totals) == 1
    assert len(ran) == 2
    assert all(np.asarray(counts).min() >= 1 for _, counts in several._known.values())


def test_many_columns_of_people_are_looked_at_in_several_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = request(dp.Person("patient", max_rows=2))
    whole = made.source
    names = made.encoding.universe.names
    expected = {name: whole.counts([name]) for name in names[:2]}
    monkeypatch.setattr(table_counts, "MAX_NODES", 2000)
    apart = TableCounts(whole.universe, whole.query, whole.engine, whole.salt, whole.private)
    assert whole.text(names[:1]).count("WHERE") < apart.text(names[:1]).count("WHERE")
    for name, counts in expected.items():
        assert (apart.counts([name]) == counts).all()
