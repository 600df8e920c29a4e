"""Corrections: what one analyst gets does not depend on what others ask."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Nothing
from discreet.noise import Noiseless
from discreet.queries.analysts.correction import Correction
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.universe import Universe

UNIVERSE = Universe.of(x=range(4))
SHAPE = RoundShape(UNIVERSE, 2, 3)
COUNTS = np.array([400, 300, 200, 100])
EVEN = HistogramSynopsis(UNIVERSE, np.full(4, 250.0), Nothing())
FIRST, SECOND, ALL = [255, 0, 0, 0], [0, 255, 0, 0], [255] * 4
QUERIES = QuerySet(SHAPE, np.array([FIRST, SECOND, ALL, ALL, FIRST, FIRST], dtype=np.uint8))


def made(**others: object) -> Correction:
    given: dict[str, object] = {"epsilon": 1, "cutoff": 1, "threshold": 0.1}
    return Correction(shape=SHAPE, size=PublicCount(1000), **{**given, **others})  # type: ignore[arg-type]


def test_far_answers_are_replaced_up_to_the_cut_off_and_the_analyst_is_told() -> None:
    one, two = made(randomness=Noiseless()).release(COUNTS, QUERIES, EVEN)
    assert one.corrected.tolist() == [True, False, False]
    assert one.answers == pytest.approx([0.4, 0.25, 1.0])
    assert two.corrected.tolist() == [False, True, False]
    assert two.answers == pytest.approx([1.0, 0.4, 0.25])
    assert one.exhausted
    assert two.exhausted
    both = made(randomness=Noiseless(), cutoff=2).release(COUNTS, QUERIES, EVEN)
    assert [each.exhausted for each in both] == [False, True]
    assert both[1].answers == pytest.approx([1.0, 0.4, 0.4])


def test_with_noise_answers_are_close_for_a_large_epsilon() -> None:
    one, two = made(epsilon=50).release(COUNTS, QUERIES, EVEN)
    assert one.answers == pytest.approx([0.4, 0.25, 1.0], abs=0.1)
    assert two.answers == pytest.approx([1.0, 0.4, 0.25], abs=0.1)


def test_all_streams_are_paid_to_their_cut_offs() -> None:
    assert made(epsilon=0.5, cutoff=3).event.epsilon(delta=0) == pytest.approx(2 * 0.5)


def test_refusals() -> None:
    for change, code in (
        ({"size": NoisyRecordCount()}, "game_needs_replacement"),
        ({"cutoff": 0}, "not_a_count"),
        ({"threshold": 0}, "not_positive"),
    ):
        with pytest.raises(InvalidParameter) as refused:
            replace(made(), **change)
        assert refused.value.code == code
    other = QuerySet(RoundShape(UNIVERSE, 3, 2), QUERIES.rows)
    with pytest.raises(InvalidParameter) as refused:
        made().release(COUNTS, other, EVEN)
    assert refused.value.code == "query_set_misfit"
