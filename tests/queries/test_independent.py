"""Independent noise: sensitivities by enumeration, errors as stated, and only what was asked."""

import json
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import LearnedEvents, audit, outcome, repeated
from discreet.errors import InvalidParameter
from discreet.mechanisms import DiscreteLaplace
from discreet.queries.independent import IndependentNoise
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.families import Each, Listed, Prefixes, QueryFamily, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

CUBE = Universe.of(a=range(4), b=range(3), c=range(2))
ASKED: list[tuple[dict[str, QueryFamily], ...]] = [
    ({"a": Each(4), "b": Each(3)}, {"c": Each(2)}),
    ({"a": Ranges(4), "c": Prefixes(2)}, {"b": Prefixes(3)}),
    ({"a": Listed([[0.5, 0.25, 1, 0], [1, 0, 0.125, 1]]), "b": Prefixes(3)},),
    ({},),
]


@pytest.mark.parametrize("asked", ASKED)
def test_sensitivities_are_the_largest_columns(asked: tuple[dict[str, QueryFamily], ...]) -> None:
    workload = Workload.of(CUBE, *asked)
    matrix = workload.dense()
    pure = IndependentNoise(workload, dp.PureDP(epsilon=1))
    step = float(pure._step)
    assert float(pure.noise.sensitivity) * step == np.abs(matrix).sum(axis=0).max()
    normal = IndependentNoise(workload, dp.ZCDP(rho=1))
    far = np.sqrt((matrix**2).sum(axis=0).max())
    assert float(normal.noise.sensitivity) * step == pytest.approx(far, rel=1e-9)


@pytest.mark.parametrize("asked", ASKED)
def test_exchanged_records_move_no_more_than_declared(
    asked: tuple[dict[str, QueryFamily], ...],
) -> None:
    workload = Workload.of(CUBE, *asked)
    matrix = workload.dense()
    pairs = matrix[:, :, None] - matrix[:, None, :]
    held = IndependentNoise(workload, dp.PureDP(epsilon=1), PublicCount(10))
    assert np.abs(pairs).sum(axis=0).max() <= float(held.noise.sensitivity) * float(held._step)
    normal = IndependentNoise(workload, dp.ZCDP(rho=1), PublicCount(10))
    far = np.sqrt((pairs**2).sum(axis=0).max())
    assert far <= float(normal.noise.sensitivity) * float(normal._step)


def test_the_stated_error_is_the_error() -> None:
    # 12 000 draws: the sample deviation is off by 5 % with probability below 1e-9.
    workload = Workload.marginals(CUBE, 2)
    counts = np.arange(24)
    for spend in (dp.PureDP(epsilon=0.5), dp.ApproxDP(epsilon=1, delta=1e-6), dp.ZCDP(rho=0.1)):
        asked = IndependentNoise(workload, spend)
        truth = workload.answers(counts)
        errors = [asked.release(counts).answers(workload) - truth for _ in range(500)]
        assert np.std(errors) == pytest.approx(asked.rmse, rel=0.08)


def test_it_answers_what_was_released_and_nothing_else() -> None:
    workload = Workload.of(CUBE, *ASKED[2])
    found = IndependentNoise(workload, dp.PureDP(epsilon=1)).release(np.arange(24))
    assert found.answers(workload).shape == (6,)
    with pytest.raises(InvalidParameter) as refused:
        found.answers(Workload.marginals(CUBE, 1))
    assert refused.value.code == "answers_not_released"


def test_a_billion_cells_are_no_obstacle() -> None:
    wide = Universe.of(**{f"a{i}": range(2) for i in range(30)})
    asked = IndependentNoise(Workload.marginals(wide, 2), dp.PureDP(epsilon=1))
    assert asked.rmse == pytest.approx(435 * 2**0.5, rel=1e-4)


def test_kept_answers_are_read_back_bit_for_bit() -> None:
    workload = Workload.of(CUBE, *ASKED[1], *ASKED[2])
    found = IndependentNoise(workload, dp.ZCDP(rho=1)).release(np.arange(24))
    again = synopsis_from_dict(json.loads(json.dumps(found.to_dict())), CUBE, found.event)
    assert (again.answers(workload) == found.answers(workload)).all()
    with pytest.raises(InvalidParameter) as refused:
        synopsis_from_dict({"synopsis": "answers", "products": [{}]}, CUBE, found.event)
    assert refused.value.code == "synopsis_not_plain"


class OneProduct(IndependentNoise):
    """A twin: noise for one product, added to all of them."""

    @cached_property
    def noise(self) -> Any:
        return DiscreteLaplace(epsilon=1, sensitivity=1)


def test_a_release_keeps_its_claim_and_that_of_a_twin_for_one_product_is_refuted() -> None:
    """One false alarm in 1e6; a record is in all twelve, whose answers add up."""
    each = (Workload.of(CUBE, {"a": Each(4)}, weight=1 + place) for place in range(12))
    many = Workload.union(*each)  # products of different weight are different
    none, one = np.zeros(24, dtype=np.int64), np.eye(24, dtype=np.int64)[0]

    def passes(mechanism: IndependentNoise) -> bool:
        return audit(
            repeated(lambda counts: bool(mechanism.release(counts).answers(many)[::4].sum() > 6)),
            none,
            one,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=1000,
            confidence=1 - 1e-6,
        ).passes

    assert passes(IndependentNoise(many, dp.PureDP(epsilon=1)))
    assert not passes(OneProduct(many, dp.PureDP(epsilon=1)))
