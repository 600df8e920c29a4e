"""Several tables of a curator: counted in the engine, paid by person, kept, put together again."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.conditional_network import ConditionalNetwork
from discreet.synthetic.privbayes import ConditionalPrivBayes, PrivBayes
from discreet.synthetic.tables.tables_model import TablesModel

PEOPLE = """SELECT p.region, COALESCE(v.visits, 0) AS visits, COUNT(*) AS n FROM patients AS p
LEFT JOIN (SELECT patient, LEAST(COUNT(*), 3) AS visits FROM visits GROUP BY patient) AS v
ON p.patient = v.patient GROUP BY 1, 2"""
ROWS = """SELECT p.region, v.ward, COUNT(*) AS n FROM visits AS v
JOIN patients AS p ON v.patient = p.patient GROUP BY 1, 2"""


def curator() -> tuple[dp.Curator, Any]:
    rng = np.random.default_rng(5)
    region = rng.integers(0, 2, 4000)
    each = rng.poisson(np.where(region == 0, 0.4, 1.8))
    owner = np.repeat(np.arange(4000), each)
    ward = np.where(rng.random(len(owner)) < 0.85, region[owner], 1 - region[owner])
    made = dp.Curator(
        patients=dp.table(
            {"patient": np.arange(4000), "region": np.array(["n", "s"])[region]},
            unit=dp.Person("patient", max_rows=1),
            columns={"region": dp.Category(["n", "s"])},
            snapshot="1",
        ),
        visits=dp.table(
            {"patient": owner, "ward": np.array(["A", "B"])[ward]},
            unit=dp.Person("patient", max_rows=3),
            columns={"ward": dp.Category(["A", "B"])},
            snapshot="1",
        ),
        budget=dp.PureDP(epsilon=8),
        ledger=dp.ledger.Memory(),
    )
    return made, np.array([np.minimum(each, 3)[region == code].mean() for code in (0, 1)])


def test_numbers_of_rows_and_wards_by_region_are_kept() -> None:
    """At epsilon 4 for each: means within .15, wards within .08, far outside of chance."""
    made, means = curator()
    people, rows = made.universe(PEOPLE), made.universe(ROWS)
    given = partial(ConditionalPrivBayes, given=("region",))
    spend = dp.PureDP(epsilon=4)
    first = made.synopsis(Workload.marginals(people, 1), mechanism=PrivBayes, spend=spend)
    second = made.synopsis(Workload.marginals(rows, 1), mechanism=given, spend=spend)
    again = made.synopsis(Workload.marginals(rows, 1), mechanism=given, spend=spend)
    assert again.id == second.id
    assert made.spent.epsilon == 8  # type: ignore[attr-defined]
    law = again.synopsis
    assert isinstance(law, ConditionalNetwork)
    assert second.event == law.event
    found = TablesModel(first.synopsis, {"visits": law}).sample()  # type: ignore[arg-type]
    visits = found.children["visits"]
    for code in (0, 1):
        here = found.codes[:, 0] == code
        mine = found.codes[visits.owners, 0] == code
        assert abs(mine.sum() / here.sum() - means[code]) < 0.15
        assert abs((visits.codes[mine, 0] == code).mean() - 0.85) < 0.08
    with pytest.raises(InvalidParameter, match="given_attributes"):
        second.answers(Workload.marginals(rows, 1))


def test_rows_of_other_people_are_refused() -> None:
    size = dp.queries.NoisyRecordCount()

    def law(universe: Universe, *given: str) -> ConditionalNetwork:
        asked = Workload.marginals(universe, 1)
        made = ConditionalPrivBayes(asked, dp.PureDP(epsilon=1), size, given=given)
        return made.release(np.ones(universe.shape, dtype=np.int64))

    people = Universe.of(region=["n", "s"], visits=range(3))
    model = PrivBayes(Workload.marginals(people, 1), dp.PureDP(epsilon=1), size).release(
        np.ones((2, 3), dtype=np.int64)
    )
    fits = law(Universe.of(region=["n", "s"], ward=["A", "B"]), "region")
    assert TablesModel(model, {"visits": fits}).attributes == ("region",)
    for name, other in (
        ("orders", fits),
        ("region", fits),
        ("visits", law(Universe.of(region=["n", "w"], ward=["A", "B"]), "region")),
        ("visits", law(Universe.of(sex=["f", "m"], ward=["A", "B"]), "sex")),
    ):
        with pytest.raises(InvalidParameter, match="tables_differ"):
            TablesModel(model, {name: other})
