"""``AIM(...).fit(table).sample(n)``: mechanisms fitted to tables in memory."""

from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.queries import NoisyRecordCount, PublicCount, Universe, Workload

PATIENTS = Universe.of(ward=["A", "B", "C"], smoker=[False, True], visits=[1, 2, None])
SPEND = dp.ZCDP(rho=5)
ROWS = 3000


def table(rows: int = ROWS) -> dict[str, list[Any]]:
    numbers = np.random.default_rng(3)
    ward = numbers.integers(0, 3, rows)
    return {
        "ward": [["A", "B", "C"][each] for each in ward],
        "smoker": (numbers.random(rows) < 0.1 + 0.4 * ward).tolist(),
        "visits": [[1, 2, None][each] for each in numbers.integers(0, 3, rows)],
        "patient": list(range(rows)),
    }


def made(kind: Any, **given: Any) -> Any:
    size = given.pop("size", NoisyRecordCount())
    return kind(workload=Workload.marginals(PATIENTS, 2), spend=SPEND, size=size, **given)


KINDS = [
    dp.synthetic.AIM,
    dp.synthetic.MST,
    dp.synthetic.IndependentMarginals,
    dp.synthetic.FullHistogram,
    dp.synthetic.PrivBayes,
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_mechanism_is_fitted_to_a_frame_and_makes_rows(kind: Any) -> None:
    found = made(kind).fit(pl.DataFrame(table()))
    rows = found.sample(2000)
    assert set(rows["ward"]) == {"A", "B", "C"}
    assert set(rows["visits"]) == {1, 2, None}
    share = np.mean([ward == "C" for ward in rows["ward"]])
    assert abs(share - 1 / 3) < 0.05
    assert found.guarantee == SPEND.per(dp.Row())
    # With rho 5 a count's noise has a deviation below ten: 200 is many times that.
    assert abs(found.total - ROWS) < 200


def test_dependence_is_kept_and_a_release_answers_with_an_interval() -> None:
    found = made(dp.synthetic.MST).fit(table())
    rows = found.sample(3000)
    smokers = {
        w: np.mean([s for s, x in zip(rows["smoker"], rows["ward"], strict=True) if x == w])
        for w in "AC"
    }
    assert smokers["C"] - smokers["A"] > 0.6
    errors = found.simulate(runs=3)
    estimate = found.estimate({"ward": ["A"]}, errors=errors)
    assert estimate.lower <= estimate.value <= estimate.upper


def test_rows_with_values_that_are_not_listed_are_left_out() -> None:
    data = table(1000)
    data["ward"] = ["D"] * 500 + data["ward"][500:]
    assert abs(made(dp.synthetic.MST).fit(data).total - 500) < 150
    with_number = made(dp.synthetic.MST, size=PublicCount(1000)).fit(data)
    assert with_number.total == 1000
    assert with_number.guarantee == SPEND.per(dp.Replace(dp.Row()))


def test_rows_of_a_person_are_bounded() -> None:
    data = table(1000)
    data["patient"] = [0] * 900 + list(range(1, 101))
    found = made(dp.synthetic.MST, records=2).fit(data, person="patient")
    assert found.total < 300  # 102 rows are kept
    assert found.guarantee == SPEND.per(dp.Person("patient", max_rows=2))


@pytest.mark.parametrize(
    ("given", "person", "code"),
    [
        ({"records": 2}, None, "not_a_table_unit"),
        ({"size": PublicCount(ROWS)}, "patient", "not_a_table_unit"),
        ({"size": PublicCount(7)}, None, "records_differ"),
        ({}, "nobody", "column_unknown"),
    ],
)
def test_what_does_not_fit_is_refused(given: dict[str, Any], person: str | None, code: str) -> None:
    with pytest.raises(dp.errors.DiscreetError) as refused:
        made(dp.synthetic.MST, **given).fit(table(), person=person)
    assert refused.value.code == code


def test_laws_of_rows_given_others_are_no_tables() -> None:
    law = made(dp.synthetic.ConditionalPrivBayes, given=("ward",))
    with pytest.raises(dp.errors.InvalidParameter) as refused:
        law.fit(table())
    assert refused.value.code == "not_a_synthesiser"


@pytest.mark.parametrize("kind", [dp.synthetic.AIM, dp.synthetic.MST, dp.synthetic.PrivBayes])
@pytest.mark.parametrize("rows", [300, 60_000])
def test_a_release_says_what_the_spend_paid_for_and_the_events_agree(kind: Any, rows: int) -> None:
    """With few rows AIM gives columns a third, not the tenth that is planned, and says so."""
    mechanism = kind(
        workload=Workload.marginals(PATIENTS, 2),
        spend=dp.PureDP(epsilon=1),
        size=NoisyRecordCount(),
    )
    plan = mechanism.budget_split
    assert sum(plan.values()) == 1
    told = mechanism.fit(table(rows)).budget_split
    assert sum(told.values()) == pytest.approx(1)
    adapts = kind is dp.synthetic.AIM and rows == 300
    for name, share in plan.items():
        assert (told[name] == pytest.approx(float(share))) is not adapts
    if adapts:
        assert told["columns"] == pytest.approx(1 / 3)


def test_what_was_spent_on_what_is_the_price_of_the_events_that_ran() -> None:
    made = dp.synthetic.AIM(
        workload=Workload.marginals(PATIENTS, 2),
        spend=dp.PureDP(epsilon=1),
        size=NoisyRecordCount(),
    )
    _, spend = made.run(np.full(PATIENTS.shape, 5))
    names = ["selection" if "Permute" in repr(each) else "marginals" for each in spend.ran]
    first = names.index("selection")
    names[:first] = ["columns"] * first
    for name, share in spend.split.items():
        ran = [each for each, its in zip(spend.ran, names, strict=True) if its == name]
        assert sum(each.epsilon(delta=0) for each in ran) == pytest.approx(float(share))
    assert set(spend.split) == set(names)
