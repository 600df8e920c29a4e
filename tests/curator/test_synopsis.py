"""Synopses through the curator: counted in the engine, paid for once, free afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.events.event import Event
from discreet.core.source import CountSource
from discreet.core.unit import PrivacyUnit
from discreet.curator.session import Session
from discreet.curator.synopsis.fingerprint import fingerprint_of, request_fingerprint
from discreet.curator.synopsis.mechanism import GIVEN
from discreet.errors import DiscreetError, EngineFailed, InvalidParameter
from discreet.noise import Noiseless
from discreet.queries import MWEM, All, Each, Listed, MatrixMechanism, Ranges, Workload
from discreet.queries.synopses.synopsis import Synopsis
from tests.curator.tables import COLUMNS, PERSON, by_person, by_row, private, visits

HALF = dp.PureDP(epsilon=0.5)
FEW = partial(MWEM, rounds=2)


def wards(curator: Session, *more: str, **expressions: str) -> Workload:
    """All pairs of ward, decade and whatever else."""
    universe = curator.universe("visits", "ward", *more, decade="FLOOR(age / 10)", **expressions)
    return Workload.marginals(universe, 2)


def exactly(curator: Session, workload: Workload) -> np.ndarray[Any, Any]:
    """The answers without noise."""
    release = curator.synopsis(workload, mechanism=MatrixMechanism, spend=HALF)
    return np.rint(release.answers(workload))


def test_without_noise_the_answers_are_the_counts() -> None:
    curator = by_row()
    workload = wards(curator, old="age > 40")
    frame = visits().with_columns(decade=pl.col("age") // 10, old=pl.col("age") > 40)
    release = curator.synopsis(workload, mechanism=MatrixMechanism, spend=HALF)
    table = release.table("old", "ward").to_polars()
    wanted = frame.group_by("old", "ward").len()
    both = table.join(wanted, on=["old", "ward"], how="left")
    assert both["n"].round().to_list() == both["len"].to_list()
    assert round(release.table().value) == frame.height
    assert release.answers(workload).shape == (workload.queries,)


def test_people_count_with_at_most_their_rows() -> None:
    curator = by_person(unit=dp.Person("patient_id", max_rows=2))
    workload = wards(curator)
    assert exactly(curator, workload).sum() == 60 * 2


def test_it_is_paid_for_once_and_then_free() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    workload = wards(curator)
    release = curator.synopsis(workload, mechanism=FEW, spend=HALF)
    assert curator.spent == dp.PureDP(epsilon=0.5, unit=dp.Row())
    again = curator.synopsis(workload, mechanism=FEW, spend=HALF)
    assert curator.spent == dp.PureDP(epsilon=0.5, unit=dp.Row())
    assert (again.id, again.statement) == (release.id, release.statement)
    np.testing.assert_array_equal(again.answers(workload), release.answers(workload))
    assert release.guarantee == dp.PureDP(epsilon=Fraction(1, 2), unit=dp.Row())


@pytest.mark.parametrize(
    ("mechanism", "spend", "analyst"),
    [
        (partial(MWEM, rounds=3), HALF, "analyst"),
        (FEW, dp.PureDP(epsilon=0.4), "analyst"),
        (FEW, HALF, "somebody else"),
        (MatrixMechanism, HALF, "analyst"),
    ],
)
def test_another_question_is_another_charge(mechanism: Any, spend: Any, analyst: str) -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    workload = wards(curator)
    first = curator.synopsis(workload, mechanism=FEW, spend=HALF)
    second = curator.synopsis(workload, mechanism=mechanism, spend=spend, analyst=analyst)
    assert second.id != first.id
    assert curator.spent != dp.PureDP(epsilon=0.5, unit=dp.Row())


def test_another_workload_over_the_same_universe_is_another_question() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    universe = curator.universe("visits", "ward")
    rows = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    first = Workload.of(universe, {"ward": Listed(rows)})
    curator.synopsis(first, mechanism=MatrixMechanism, spend=HALF)
    curator.synopsis(
        Workload.of(universe, {"ward": Listed(rows)}), mechanism=MatrixMechanism, spend=HALF
    )
    assert len(curator.history()) == 1
    other = Workload.of(universe, {"ward": Listed([rows[0], [0.0, 1.0, 1.0]])})
    curator.synopsis(other, mechanism=MatrixMechanism, spend=HALF)
    assert len(curator.history()) == 2


def test_it_is_found_again_in_a_ledger_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "visits.ledger"
    with private(ledger=path) as curator:
        workload = wards(curator)
        first = curator.synopsis(workload, mechanism=FEW, spend=HALF)
    with private(ledger=path) as curator:
        workload = wards(curator)
        spent = curator.spent
        again = curator.synopsis(workload, mechanism=FEW, spend=HALF)
        assert (again.id, curator.spent) == (first.id, spent)
        np.testing.assert_array_equal(again.answers(workload), first.answers(workload))


@dataclass(frozen=True)
class Elsewhere:
    """A mechanism that is not described: perhaps it is another one tomorrow."""

    workload: Workload
    spend: Any
    size: Any
    records: int
    randomness: Any

    @property
    def inner(self) -> MatrixMechanism:
        return MatrixMechanism(
            self.workload, self.spend, records=self.records, randomness=self.randomness
        )

    @property
    def event(self) -> Event:
        return self.inner.event

    def release(self, counts: CountSource) -> Synopsis:
        return self.inner.release(counts)


def test_what_cannot_be_told_apart_for_sure_is_charged_again() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    workload = wards(curator)
    first = curator.synopsis(workload, mechanism=Elsewhere, spend=HALF)
    second = curator.synopsis(workload, mechanism=Elsewhere, spend=HALF)
    assert first.id != second.id
    assert curator.remaining == dp.PureDP(epsilon=0, unit=dp.Row())


def test_descriptions_hold_all_parameters_but_the_randomness() -> None:
    workload = Workload.marginal(dp.queries.Universe.of(a=range(3)), ["a"])
    plain = MatrixMechanism(workload, HALF)
    assert fingerprint_of(plain) == fingerprint_of(
        MatrixMechanism(workload, HALF, randomness=Noiseless())
    )
    assert fingerprint_of(plain) != fingerprint_of(MatrixMechanism(workload, HALF, records=2))
    assert fingerprint_of(Each(3)) == "discreet.queries.families.Each(3)"
    assert fingerprint_of((1, 0.1, "a", None)) == "tuple(1, 0.1, 'a', None)"
    assert fingerprint_of({"a": np.arange(3)}) != fingerprint_of({"a": np.arange(3.0)})
    assert fingerprint_of(lambda: None) is None
    assert fingerprint_of([Elsewhere]) is None
    assert fingerprint_of(frozenset({2, 1})) == "set(1, 2)"


def test_a_request_is_what_was_asked_for_but_for_what_the_curator_says() -> None:
    def asked(make: Any) -> str | None:
        return request_fingerprint(make, given=GIVEN)

    assert asked(partial(partial(MWEM, rounds=2), passes=1)) == asked(
        partial(MWEM, passes=1, rounds=2)
    )
    assert asked(partial(MWEM, rounds=2, records=9)) == asked(partial(MWEM, rounds=2))
    assert asked(partial(MWEM, rounds=2)) != asked(partial(MWEM, rounds=3))
    assert asked(lambda **_: None) is None
    other: Any = Elsewhere
    assert asked(partial(MWEM, rounds=2, each=other)) is None


@dataclass(frozen=True)
class Dear(Elsewhere):
    """A mechanism whose event costs more than it was given."""

    @property
    def event(self) -> Event:
        return self.inner.event * 2


@dataclass(frozen=True)
class Failing(Elsewhere):
    """A mechanism that fails once it has seen the counts."""

    def release(self, counts: CountSource) -> Synopsis:
        found = counts.counts(self.workload.universe.names)
        message = f"private: {found}"
        raise ValueError(message)


def test_an_event_above_the_spend_is_refused_for_free() -> None:
    curator = private()
    with pytest.raises(InvalidParameter, match="spend_too_small"):
        curator.synopsis(wards(curator), mechanism=Dear, spend=HALF)
    assert len(curator.history()) == 0


def test_a_failure_after_data_was_opened_says_nothing_and_is_spent() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    with pytest.raises(EngineFailed) as failed:
        curator.synopsis(wards(curator), mechanism=Failing, spend=HALF)
    assert failed.value.code == "engine_failed"
    assert "private" not in str(failed.value)
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None
    assert curator.spent == dp.PureDP(epsilon=0.5, unit=dp.Row())
    assert curator.history()[0].ended == "failed"


@pytest.mark.parametrize("mechanism", [None, "MWEM", MWEM, Workload, partial(FEW, turns=1), dict])
def test_what_is_no_mechanism_is_refused_for_free(mechanism: Any) -> None:
    curator = private()
    with pytest.raises(InvalidParameter, match="not_a_synopsis_mechanism"):
        curator.synopsis(wards(curator), mechanism=mechanism, spend=HALF)
    assert len(curator.history()) == 0


def test_what_the_tables_say_cannot_be_overridden() -> None:
    curator = private(unit=dp.Person("patient_id", max_rows=2))
    lying = partial(MatrixMechanism, records=1, spend=dp.PureDP(epsilon=9))
    release = curator.synopsis(wards(curator), mechanism=lying, spend=HALF)
    assert release.event.epsilon(delta=0) == 0.5
    assert release.statement["measures"][0]["rows_per_unit"] == 2


def test_workloads_over_other_universes_are_refused() -> None:
    curator, universe = private(), dp.queries.Universe.of(ward=["A", "B", "C"])
    plain = Workload.marginal(universe, ["ward"])
    with pytest.raises(DiscreetError, match="universe_not_counted"):
        curator.synopsis(plain, mechanism=FEW, spend=HALF)
    with pytest.raises(DiscreetError, match="not_a_workload"):
        curator.synopsis(universe, mechanism=FEW, spend=HALF)  # type: ignore[arg-type]
    release = curator.synopsis(wards(curator), mechanism=FEW, spend=HALF)
    with pytest.raises(DiscreetError, match="workloads_differ"):
        release.answers(plain)


def test_a_universe_too_large_for_a_mechanism_is_refused_for_free() -> None:
    curator = private()
    universe = curator.universe("visits", "ward", "age", "day", cost="FLOOR(cost)")
    assert universe.size > 1 << 24
    with pytest.raises(DiscreetError, match="universe_too_large"):
        curator.synopsis(Workload.marginals(universe, 1), mechanism=FEW, spend=HALF)
    assert len(curator.history()) == 0


@pytest.mark.parametrize("unit", [dp.Row(), PERSON], ids=["rows", "people"])
def test_a_universe_of_any_size_by_marginals_alone(unit: PrivacyUnit) -> None:
    curator = private(unit=unit, budget=dp.PureDP(epsilon=1e5))
    universe = curator.universe("visits", "ward", "age", "day", cost="FLOOR(cost)")
    workload = Workload.marginals(universe, 1)
    much = dp.PureDP(epsilon=1e4)
    release = curator.synopsis(workload, mechanism=dp.queries.MarginalMechanism, spend=much)
    found = release.table("ward").to_polars()
    assert found["n"].round().to_list() == [60, 60, 60]
    assert 0 < found["n_sd"].max() < 0.1  # type: ignore[operator]
    again = curator.synopsis(workload, mechanism=dp.queries.MarginalMechanism, spend=much)
    np.testing.assert_array_equal(again.answers(workload), release.answers(workload))
    assert len(curator.history()) == 1


@pytest.mark.parametrize(
    ("arguments", "named", "code"),
    [
        (("visit", "ward"), {}, "unknown_table"),
        (("visits",), {}, "attribute_names"),
        (("visits", "wards"), {}, "unknown_column"),
        (("visits", "note"), {}, "key_not_declared"),
        (("visits",), {"cost": "cost"}, "keys_not_finite"),
        (("visits",), {"patient": "patient_id"}, "key_not_declared"),
        (("SELECT COUNT(*) AS n FROM visits",), {}, "attribute_names"),
    ],
)
def test_universes_that_cannot_be_listed_are_refused(arguments: Any, named: Any, code: str) -> None:
    with pytest.raises(DiscreetError) as refused:
        private().universe(*arguments, **named)
    assert refused.value.code == code


def test_a_universe_can_be_a_question_or_a_frame() -> None:
    curator = by_row()
    text = "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 40 GROUP BY ward"
    frame = curator.frame("visits").filter(dp.col("age") > 40).group_by("ward").agg(n=dp.count())
    found = []
    for asked in (text, frame):
        universe = curator.universe(asked)
        found.append(exactly(curator, Workload.marginal(universe, ["ward"])).tolist())
    old = visits().filter(pl.col("age") > 40)
    assert found == [[(old["ward"] == ward).sum() for ward in "ABC"]] * 2


def test_an_empty_table_has_noisy_zeros() -> None:
    table = dp.table(visits().clear(), unit=PERSON, columns=COLUMNS)
    curator = dp.Curator(visits=table, budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory())
    release = curator.synopsis(wards(curator), mechanism=FEW, spend=HALF)
    assert np.isfinite(release.answers(wards(curator))).all()
    noiseless = by_row(visits().clear())
    assert exactly(noiseless, wards(noiseless)).sum() == 0


@pytest.mark.parametrize("unit", [dp.Replace(PERSON)])
def test_of_people_that_are_exchanged_the_number_of_records_is_unknown(unit: PrivacyUnit) -> None:
    curator = private(unit=unit)
    with pytest.raises(InvalidParameter, match="records_unknown"):
        curator.synopsis(wards(curator), mechanism=FEW, spend=HALF)
    assert len(curator.history()) == 0


def test_where_rows_are_exchanged_their_number_is_public() -> None:
    table = dp.table(visits(), unit=dp.Replace(dp.Row()), columns=COLUMNS)
    given: Any = {"budget": dp.PureDP(epsilon=1), "ledger": dp.ledger.Memory()}
    curator = dp.Curator(visits=table, randomness=Noiseless(), **given)
    narrow = curator.universe("visits", early="CASE WHEN age < 30 THEN 'yes' END")
    workload = Workload.marginal(narrow, ["early"])
    assert exactly(curator, workload).tolist() == [visits().height]  # nobody is left out
    release = private(unit=dp.Replace(dp.Row())).synopsis(workload, mechanism=FEW, spend=HALF)
    assert release.answers(workload).sum() == pytest.approx(visits().height)
    some = curator.universe("SELECT ward, COUNT(*) AS n FROM visits WHERE age > 30 GROUP BY 1")
    with pytest.raises(InvalidParameter, match="records_unknown"):
        exactly(curator, Workload.marginal(some, ["ward"]))


@pytest.mark.parametrize(
    "notion", [lambda e: dp.PureDP(epsilon=e), lambda e: dp.ZCDP(rho=e)], ids=["l1", "l2"]
)
def test_what_is_public_lies_in_its_interval_though_doubles_are_rounded(notion: Any) -> None:
    """The number of all rows is the sum of noisy counts, and was off by a trillionth or so."""
    curator = private(unit=dp.Replace(dp.Row()), budget=notion(100))
    universe = curator.universe("visits", ages="FLOOR(age / 5)")
    (size,) = universe.shape
    whole, ranges = (Workload.of(universe, {"ages": each(size)}) for each in (All, Ranges))
    for part in range(1, 13):
        made = curator.synopsis(ranges, mechanism=MatrixMechanism, spend=notion(part / 100))
        found = made.intervals(whole)
        assert found is not None
        assert found[0][0] <= visits().height <= found[1][0]
        assert found[1][0] - found[0][0] < 1e-3


def test_a_policy_sees_the_columns_of_the_universe() -> None:
    allowed_uses = {"filter": [], "group": ["ward"], "aggregate": []}
    policy = dp.Policy(tables={"visits": allowed_uses}, max_spend={"epsilon": 0.5})
    curator = private(policy=policy)
    with pytest.raises(DiscreetError, match="policy_column"):
        curator.synopsis(wards(curator), mechanism=FEW, spend=HALF)
    allowed = Workload.marginal(curator.universe("visits", "ward"), ["ward"])
    with pytest.raises(DiscreetError, match="policy_spend"):
        curator.synopsis(allowed, mechanism=FEW, spend=dp.PureDP(epsilon=1))
    assert curator.synopsis(allowed, mechanism=FEW, spend=HALF, purpose="a plan").id
    assert curator.history()[0].purpose == "a plan"


def test_children_and_parts_make_synopses_of_their_own() -> None:
    curator = by_row()
    child = curator.child("a", budget=dp.PureDP(epsilon=1))
    assert exactly(child, wards(child)).sum() == visits().height
    part = curator.partition("visits", by="ward", budget=dp.PureDP(epsilon=1))["A"]
    release = part.synopsis(wards(part), mechanism=MatrixMechanism, spend=HALF)
    counts = release.table("ward").to_polars()["n"].round().to_list()
    assert counts == [(visits()["ward"] == "A").sum(), 0, 0]


@pytest.mark.parametrize(
    ("budget", "spend"),
    [
        (dp.ApproxDP(epsilon=1, delta=1e-5), dp.ApproxDP(epsilon=0.5, delta=1e-6)),
        (dp.ZCDP(rho=1), dp.ZCDP(rho=0.1)),
        (dp.ApproxDP(epsilon=1, delta=1e-5, by=dp.ZCDP), dp.ApproxDP(epsilon=0.5, delta=1e-6)),
    ],
    ids=["pairs", "rho", "converted"],
)
@pytest.mark.parametrize("mechanism", [FEW, MatrixMechanism], ids=["MWEM", "matrix"])
def test_every_notion_pays(budget: Any, spend: Any, mechanism: Any) -> None:
    curator = private(unit=PERSON, budget=budget)
    release = curator.synopsis(wards(curator), mechanism=mechanism, spend=spend)
    assert release.guarantee.unit == PERSON
    assert curator.remaining != curator.budget


def test_it_says_what_it_is() -> None:
    curator = private(unit=PERSON)
    workload = wards(curator)
    release = curator.synopsis(workload, mechanism=MatrixMechanism, spend=HALF)
    assert repr(release).startswith("synopsis of visits by MatrixMechanism: ward x decade, 39")
    assert release.rmse is not None
    assert f"{release.rmse:.4g}" in repr(release)
    text = str(release.statement)
    assert "MatrixMechanism; one unit moves 3 rows at most" in text
    assert "costs no more privacy" in text
    assert "The noise is the same in every cell" not in text
    unknown = curator.synopsis(workload, mechanism=FEW, spend=HALF)
    assert "depends on the data" in repr(unknown)
    assert curator.history()[0].query == release.query


def test_tables_export_and_plots_draw() -> None:
    curator = private()
    release = curator.synopsis(wards(curator), mechanism=FEW, spend=HALF)
    table = release.table("ward", "decade")
    assert table.to_polars().shape == (39, 3)
    assert type(table).from_json(table.to_json()).to_dict() == table.to_dict()
    assert release.plot("ward").to_dict()["mark"]["type"] == "bar"
    assert release.plot("ward", "decade").to_dict()["mark"]["type"] == "rect"
    with pytest.raises(InvalidParameter, match="plot_keys"):
        release.plot()
    with pytest.raises(InvalidParameter, match="attribute_unknown"):
        release.table("cost")


def test_a_key_may_be_called_as_the_counts_are() -> None:
    curator = by_row()
    universe = curator.universe("visits", n="ward")
    workload = Workload.marginal(universe, ["n"])
    release = curator.synopsis(workload, mechanism=MatrixMechanism, spend=HALF)
    assert list(release.table("n").to_dict()) == ["n", "n_", "n__lower", "n__upper"]


def test_a_spend_in_pairs_costs_a_budget_in_rho_no_more_than_normal_noise_does() -> None:
    """From a budget in pairs the same spend takes Laplace noise, which errs less there."""
    spend = dp.ApproxDP(epsilon=0.5, delta=1e-6)
    in_rho = private(unit=dp.Row(), budget=dp.ZCDP(rho=1))
    in_pairs = private(unit=dp.Row(), budget=dp.ApproxDP(epsilon=1, delta=1e-5))
    gaussian, laplace = (
        each.synopsis(wards(each), mechanism=MatrixMechanism, spend=spend)
        for each in (in_rho, in_pairs)
    )
    assert gaussian.event.zcdp().rho < laplace.event.zcdp().rho / 4
    assert laplace.rmse is not None
    assert gaussian.rmse is not None
    assert laplace.rmse < gaussian.rmse
