"""What a synopsis says of itself: refusals that name the mistake, notes that fit the numbers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.queries import MWEM, MarginalMechanism, MatrixMechanism, NonNegative, Workload
from tests.curator.tables import private

HALF = dp.PureDP(epsilon=0.5)
LOOSE: Any = MWEM


def pairs(curator: dp.Curator) -> Workload:
    return Workload.marginals(curator.universe("visits", "ward", decade="FLOOR(age / 10)"), 2)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (MWEM, "MWEM: missing a required argument: 'rounds'"),
        (partial(LOOSE, rounds=2, turns=1), "got an unexpected keyword argument 'turns'"),
        (partial(LOOSE, None, rounds=2), "multiple values for argument 'workload'"),
    ],
)
def test_the_parameter_that_is_missing_or_too_many_is_named(mechanism: Any, said: str) -> None:
    curator = private()
    with pytest.raises(InvalidParameter, match="not_a_synopsis_mechanism") as refused:
        curator.synopsis(pairs(curator), mechanism=mechanism, spend=HALF)
    assert said in str(refused.value)


def test_a_mechanism_that_was_already_made_is_asked_for_by_its_class() -> None:
    curator = private()
    workload = pairs(curator)
    made: Any = MatrixMechanism(workload, HALF)
    with pytest.raises(InvalidParameter, match="Pass the class, mechanism=MatrixMechanism"):
        curator.synopsis(workload, mechanism=made, spend=HALF)


def test_a_note_does_not_pass_the_mean_error_off_as_that_of_a_count() -> None:
    curator = private()
    known = curator.synopsis(pairs(curator), mechanism=MarginalMechanism, spend=HALF)
    count, spread = known.table("ward").answers
    assert known.rmse is not None
    assert np.array(spread.values).min() > 2 * known.rmse  # sums of many small cells
    assert "95 % intervals cover noise" in count.note
    assert "±" not in count.note
    learnt = curator.synopsis(pairs(curator), mechanism=partial(MWEM, rounds=2), spend=HALF)
    (guess,) = learnt.table("ward").answers
    assert guess.interval is None
    assert "no interval: how wrong they are depends on the data" in guess.note
    bounded = partial(MatrixMechanism, reconstruction=NonNegative())
    mean = curator.synopsis(pairs(curator), mechanism=bounded, spend=HALF)
    assert "over all its queries" in mean.table("ward").answers[0].note
    assert "without bias, are in `unprocessed`" in mean.table("ward").answers[0].note
    before = mean.unprocessed
    assert before is not None
    assert before.table("ward").answers[0].interval is not None
    assert before.unprocessed is learnt.unprocessed is None


def test_counts_are_shown_with_their_intervals_as_answers_of_sql_are() -> None:
    curator = private()
    matrix = curator.synopsis(pairs(curator), mechanism=MatrixMechanism, spend=HALF)
    for release in (matrix.table("ward"), matrix.table("ward", confidence=0.5)):
        (count,) = release.answers
        lower, upper = (np.array(ends) for ends in (count.lower, count.upper))
        width = upper - np.array(count.values)
        assert (width > 0).all()
        assert lower == pytest.approx(np.maximum(np.array(count.values) - width, 0))
        assert " ± " in str(release) or "n_lower" in str(release)
        assert dp.Release.from_json(release.to_json()).to_json() == release.to_json()
    near, far = (matrix.table("ward", confidence=each).answers[0] for each in (0.5, 0.99))
    assert near.upper is not None
    assert far.upper is not None
    assert all(a < b for a, b in zip(near.upper, far.upper, strict=True))
    everybody = str(matrix.table())
    assert " ± " in everybody  # far from zero, so that nothing is cut off
    assert "95 % intervals cover noise" in everybody


def test_any_free_query_has_its_interval() -> None:
    curator = private()
    workload = pairs(curator)
    universe = workload.universe
    ranges = Workload.of(universe, {"decade": dp.queries.Ranges(13)})
    spent = None
    for mechanism in (MatrixMechanism, MarginalMechanism):
        made = curator.synopsis(workload, mechanism=mechanism, spend=HALF)
        spent = curator.spent
        ends = made.intervals(ranges)
        assert ends is not None
        lower, upper = ends
        answers = made.answers(ranges)
        assert ((np.maximum(answers, 0) >= lower) & (answers <= upper)).all()
        assert (lower >= 0).all()
        again = curator.synopsis(workload, mechanism=mechanism, spend=HALF)
        kept = again.intervals(ranges)
        assert kept is not None
        assert kept[1].tolist() == upper.tolist()
        with pytest.raises(InvalidParameter, match="confidence"):
            made.intervals(ranges, confidence=95)
    assert curator.spent == spent
    learnt = curator.synopsis(workload, mechanism=partial(MWEM, rounds=2), spend=HALF)
    assert learnt.intervals(ranges) is None


def test_bars_carry_their_intervals_where_the_noise_is_known() -> None:
    pytest.importorskip("altair")
    curator = private()
    known = curator.synopsis(pairs(curator), mechanism=MarginalMechanism, spend=HALF)
    bars, rules = known.plot("ward").to_dict()["layer"]
    assert (bars["mark"]["type"], rules["mark"]["type"]) == ("bar", "rule")
    count = known.table("ward").answers[0]
    drawn = (
        bars["data"]["values"] if "data" in bars else known.plot("ward").to_dict()["data"]["values"]
    )
    assert count.lower is not None
    assert count.upper is not None
    assert [each["low"] for each in drawn] == pytest.approx(list(count.lower))
    assert [each["high"] for each in drawn] == pytest.approx(list(count.upper))
    assert "95 % intervals" in bars["encoding"]["y"]["title"]
    cells = known.plot("ward", "decade").to_dict()
    assert "intervals" not in cells["encoding"]["color"]["title"]
    noted = {each.get("title", each["field"]) for each in cells["encoding"]["tooltip"]}
    assert noted == {"ward", "decade", "n", "n_sd", "low", "high"}


def test_a_factory_that_forgets_how_many_rows_a_person_has_is_refused() -> None:
    # It would be priced for one row of each person, and each has several.
    curator = private(unit=dp.Person("patient_id", max_rows=2))
    workload = pairs(curator)

    def forgetful(*, workload: Workload, spend: Any, **_: Any) -> MatrixMechanism:
        return MatrixMechanism(workload, spend)

    with pytest.raises(InvalidParameter, match="not_a_synopsis_mechanism"):
        curator.synopsis(workload, mechanism=forgetful, spend=HALF)
    assert len(list(curator.history())) == 0


def test_a_mechanism_of_ones_own_is_refused_under_a_policy(tmp_path: Path) -> None:
    # Nobody can say what it reads.
    file = tmp_path / "policy.toml"
    file.write_text(
        "[max_spend]\nepsilon = 1\n[tables.visits]\nfilter = []\n"
        'group = ["ward", "age"]\naggregate = []\n'
    )
    curator = private(policy=dp.Policy.read(file))
    workload = pairs(curator)

    def own(**given: Any) -> MatrixMechanism:
        return MatrixMechanism(**given)

    with pytest.raises(DiscreetError, match="policy_measurement"):
        curator.synopsis(workload, mechanism=own, spend=HALF)
    assert curator.synopsis(workload, mechanism=MatrixMechanism, spend=HALF).answers(workload).size
