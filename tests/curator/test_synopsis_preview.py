"""Previews of synopses: foretold from public facts, free, and kept by what is then released."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries import MWEM, MarginalMechanism, MatrixMechanism, Workload
from tests.curator.tables import PERSON, private

HALF = dp.PureDP(epsilon=0.5)


def pairs(curator: Any) -> Workload:
    return Workload.marginals(curator.universe("visits", "ward", decade="FLOOR(age / 10)"), 2)


@pytest.mark.parametrize("unit", [dp.Row(), PERSON, dp.Replace(dp.Row())], ids=str)
@pytest.mark.parametrize("mechanism", [MatrixMechanism, MarginalMechanism])
def test_what_is_foretold_is_what_is_released(mechanism: Any, unit: Any) -> None:
    """With the curator's own unit and number of records, whatever the caller would guess."""
    curator = private(unit=unit)
    workload = pairs(curator)
    ahead = curator.preview(workload, mechanism=mechanism, spend=HALF)
    made = curator.synopsis(workload, mechanism=mechanism, spend=HALF)
    assert ahead.rmse == made.rmse
    assert ahead.query == made.query
    assert ahead.price == curator.spent


def test_it_touches_nothing_and_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    curator = private(budget=dp.PureDP(epsilon=1.2))
    workload = pairs(curator)
    monkeypatch.setattr(curator.context.database.engine, "snapshot", None)
    ahead = curator.preview(workload, mechanism=MatrixMechanism, spend=HALF)
    assert ahead.affordable == 2
    assert len(curator.history()) == 0
    assert curator.spent == dp.PureDP(epsilon=0, unit=dp.Row())


def test_each_marginal_has_its_noise_and_the_worst_is_named() -> None:
    curator = private()
    universe = curator.universe("visits", "ward", decade="FLOOR(age / 10)")
    workload = Workload.of(
        universe, *(families_of(universe, names) for names in (["ward"], ["ward", "decade"]))
    )
    ahead = curator.preview(workload, mechanism=MarginalMechanism, spend=HALF)
    mechanism = MarginalMechanism(workload=workload, spend=HALF)
    assert [each.attributes for each in ahead.marginals] == [("ward",), ("ward", "decade")]
    for each in ahead.marginals:
        spread = mechanism.deviations(Workload.marginal(universe, each.attributes))
        assert each.queries == len(spread)
        assert each.sd == pytest.approx(np.sqrt(np.mean(spread**2)))
        assert each.worst == pytest.approx(spread.max())
    assert ahead.worst == max(ahead.marginals, key=lambda each: each.sd)
    assert ahead.mean == pytest.approx(np.mean([each.sd for each in ahead.marginals]))
    assert f"worst marginal: ± {ahead.worst.sd:.4g}" in str(ahead)


def families_of(universe: Any, names: list[str]) -> dict[str, Any]:
    families = Workload.marginal(universe, names).products[0].families
    return {name: families[universe.place(name)] for name in names}


def test_what_depends_on_the_data_is_not_foretold() -> None:
    curator = private()
    ahead = curator.preview(pairs(curator), mechanism=partial(MWEM, rounds=2), spend=HALF)
    assert (ahead.rmse, ahead.marginals, ahead.worst, ahead.mean) == (None, (), None, None)
    assert "depends on the data" in str(ahead)


def test_refusals_are_those_of_the_synopsis() -> None:
    curator = private()
    workload = pairs(curator)
    given: dict[str, Any]
    for given, code in (
        ({"mechanism": MatrixMechanism}, "spend_or_accuracy"),
        ({"mechanism": MatrixMechanism, "accuracy": dp.Within(3)}, "spend_or_accuracy"),
        ({"mechanism": MatrixMechanism, "spend": 1.0}, "not_a_spend"),
        ({"spend": HALF}, "not_a_synopsis_mechanism"),
    ):
        with pytest.raises(InvalidParameter) as refusal:
            curator.preview(workload, **given)
        assert refusal.value.code == code
    with pytest.raises(InvalidParameter, match="not_a_workload"):
        curator.preview(workload.universe, mechanism=MatrixMechanism, spend=HALF)  # type: ignore[call-overload]
