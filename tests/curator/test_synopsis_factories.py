"""What makes a mechanism for a synopsis needs no hash; what makes none is refused in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries import MatrixMechanism, Workload
from tests.curator.tables import private

SPEND = dp.PureDP(epsilon=1)


@dataclass
class Factory:
    """A callable of somebody's own; being compared by value, it has no hash."""

    def __call__(self, **given: Any) -> MatrixMechanism:
        return MatrixMechanism(**given)


def workload(source: dp.Curator) -> Workload:
    return Workload.marginals(source.universe("visits", "ward"), 1)


@pytest.mark.parametrize("make", [Factory(), partial(Factory())], ids=["plain", "partial"])
def test_a_factory_without_a_hash_makes_a_mechanism_of_ones_own(make: Any) -> None:
    source = private()
    source.synopsis(workload(source), mechanism=make, spend=SPEND)
    source.preview(workload(source), mechanism=make, spend=SPEND)


@pytest.mark.parametrize("make", [[], {}, set()], ids=["list", "dict", "set"])
def test_what_has_no_hash_and_makes_nothing_is_refused_for_free(make: Any) -> None:
    source = private()
    spent = source.spent
    with pytest.raises(InvalidParameter) as refusal:
        source.synopsis(workload(source), mechanism=make, spend=SPEND)
    assert refusal.value.code == "not_a_synopsis_mechanism"
    assert source.spent == spent
