"""On every engine a wrong fact moves no answer farther than declared; joins are limited alike."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.core.unit import PrivacyUnit
from tests.relational.conformance.engines import Maker, others
from tests.relational.conformance.spark_with_rows import missing
from tests.relational.conformance.test_neighbours import found
from tests.relational.conformance.test_spark import QUICK
from tests.relational.neighbours.lies import OVERFLOW, lying, questions, setting
from tests.relational.neighbours.test_multiplying_joins import QUESTIONS, tight
from tests.relational.neighbours.test_multiplying_joins import setting as joined

__all__ = ["tight"]

_SPARK = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(missing() is not None, reason=str(missing())),
]
ENGINES = [*others(), pytest.param(QUICK, id="spark", marks=_SPARK)]
AT_LENGTH = [*others(), pytest.param(QUICK, id="spark", marks=[*_SPARK, pytest.mark.slow])]
UNITS = [dp.Row(), dp.Person("pid", max_rows=2)]


@pytest.mark.parametrize("maker", ENGINES)
def test_a_power_that_overflows_reaches_no_sum(maker: Maker) -> None:
    assert found(maker, setting(dp.Row()), OVERFLOW) == []


@pytest.mark.parametrize("maker", AT_LENGTH)
@pytest.mark.parametrize("unit", UNITS, ids=["row", "person"])
def test_a_wrong_fact_costs_accuracy_alone(maker: Maker, unit: PrivacyUnit) -> None:
    with lying("narrow"):
        assert found(maker, setting(unit), *questions(unit)[:3], refusals=[]) == []


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("maker", ENGINES)
def test_joins_that_multiply_are_limited(maker: Maker) -> None:
    assert found(maker, joined(), *QUESTIONS[:2]) == []


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("maker", AT_LENGTH)
def test_every_join_that_multiplies_is_limited(maker: Maker) -> None:
    assert found(maker, joined(), *QUESTIONS[2:]) == []
