"""A synopsis travels as text, and answers the same afterwards, bit for bit."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

import discreet as dp
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.curator.synopsis.stored_form import synopsis_from_json, synopsis_to_json
from discreet.errors import DiscreetError
from discreet.queries import MWEM, MarginalMechanism, MatrixMechanism, Workload
from tests.curator.tables import private


def made(mechanism: Any) -> SynopsisRelease:
    curator = private(budget=dp.PureDP(epsilon=10))
    universe = curator.universe("visits", "ward", month="EXTRACT(MONTH FROM day)", old="age > 50")
    workload = Workload.marginals(universe, 2)
    return curator.synopsis(workload, mechanism=mechanism, spend=dp.PureDP(epsilon=1))


@pytest.mark.parametrize(
    "mechanism", [MarginalMechanism, MatrixMechanism, partial(MWEM, rounds=2)], ids=str
)
def test_it_answers_the_same_without_tables_and_ledger(mechanism: Any) -> None:
    release = made(mechanism)
    text = synopsis_to_json(release)
    again = synopsis_from_json(text)
    assert synopsis_to_json(again) == text
    assert again.universe.attributes == release.universe.attributes
    for ways in (1, 2):
        mine = Workload.marginals(again.universe, ways)
        theirs = Workload.marginals(release.universe, ways)
        assert again.answers(mine).tolist() == release.answers(theirs).tolist()
    assert str(again.table("ward", "old")) == str(release.table("ward", "old"))
    assert (again.id, again.guarantee, again.rmse) == (release.id, release.guarantee, release.rmse)
    assert str(again.statement) == str(release.statement)


def test_days_stay_days() -> None:
    curator = private(budget=dp.PureDP(epsilon=10))
    universe = curator.universe("visits", month="date_trunc('month', day)")
    release = curator.synopsis(
        Workload.marginals(universe, 1), mechanism=MatrixMechanism, spend=dp.PureDP(epsilon=1)
    )
    again = synopsis_from_json(synopsis_to_json(release))
    assert again.universe.attributes == universe.attributes


def test_what_is_no_synopsis_is_refused() -> None:
    plain = json.loads(synopsis_to_json(made(MatrixMechanism)))
    for wrong in (
        "",
        "[]",
        "{}",
        json.dumps({**plain, "form": "synopsis-release/9"}),
        json.dumps({**plain, "attributes": plain["attributes"][:1]}),
        json.dumps({**plain, "event": {"kind": "nonsense"}}),
    ):
        with pytest.raises(DiscreetError):
            synopsis_from_json(wrong)
