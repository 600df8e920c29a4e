"""What analysts are promised: it adds up over rounds by the accountants, and never in silence."""

import pytest

from discreet import events
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Person, Replace, Row
from discreet.queries.analysts.guarantee import (
    AnalystGuarantee,
    OneAnalyst,
    OneQuery,
    public_records,
    require_one_row_replaced,
)
from discreet.queries.record_count import NoisyRecordCount, PublicCount

APPROXIMATE = AnalystGuarantee(OneQuery(), events.Approximate(epsilon=0.5, delta=1e-7))
CONCENTRATED = AnalystGuarantee(OneQuery(), events.Exponential(epsilon=0.01) * 100)


def test_nothing_is_told_by_a_release_that_no_query_influences() -> None:
    perfect = AnalystGuarantee(OneAnalyst())
    assert perfect.perfect
    assert perfect.epsilon(delta=0) == 0
    assert (perfect + perfect).perfect
    assert perfect.approximate(delta=1e-6).epsilon == 0


def test_pairs_add_up_over_rounds() -> None:
    twice = APPROXIMATE + APPROXIMATE
    assert twice.epsilon(delta=2e-7) == 1
    assert twice.epsilon(delta=1e-7) == float("inf")
    assert (twice + AnalystGuarantee(OneQuery())).event == twice.event


def test_concentrated_rounds_add_rho() -> None:
    many = CONCENTRATED + CONCENTRATED
    sum_of_squares = 200 * 1e-4 / 8  # of which bounded range keeps a little less
    assert sum_of_squares * 0.9999 < float(many.event.zcdp().rho) <= sum_of_squares
    assert many.epsilon(delta=1e-6) < 2 * CONCENTRATED.epsilon(delta=5e-7)


def test_both_kinds_compose() -> None:
    mixed = (APPROXIMATE + CONCENTRATED).epsilon(delta=1e-6)
    assert 0.5 < mixed < 0.5 + CONCENTRATED.epsilon(delta=4e-7)


def test_guarantees_of_different_units_do_not_add_up_unless_converted() -> None:
    whole = AnalystGuarantee(OneAnalyst(), events.Approximate(epsilon=0.5, delta=1e-7))
    with pytest.raises(Mismatch) as refused:
        _ = APPROXIMATE + whole
    assert refused.value.code == "analyst_units_differ"
    assert (APPROXIMATE + whole.for_query()).epsilon(delta=2e-7) == 1


@pytest.mark.parametrize("unit", [Replace(Row()), Replace(Person("id", max_rows=1))])
def test_one_replaced_row_has_a_proof(unit: Replace) -> None:
    require_one_row_replaced(unit)


@pytest.mark.parametrize(
    "unit", [Row(), Person("id", max_rows=1), Replace(Person("id", max_rows=2))]
)
def test_other_units_are_refused(unit: Row | Person | Replace) -> None:
    with pytest.raises(InvalidParameter) as refused:
        require_one_row_replaced(unit)
    assert refused.value.code == "game_needs_replacement"


def test_the_number_of_records_must_be_public() -> None:
    assert public_records(PublicCount(7)) == 7
    with pytest.raises(InvalidParameter):
        public_records(NoisyRecordCount())
