"""Universes and workloads refuse what they cannot mean, and say what to write instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidParameter
from discreet.queries import Attribute, Listed, Ranges, Universe, Workload

UNIVERSE = Universe.of(ward=["A", "B"], month=range(12))
ONES = Workload.marginals(UNIVERSE, 1)


def loosely(value: Any) -> Any:
    """What a type checker would refuse, and a notebook would not."""
    return value


@pytest.mark.parametrize(
    ("wrong", "code", "said"),
    [
        (lambda: Universe.of(a=loosely(3)), "attribute_values", "int"),
        (lambda: Universe.of(a="abc"), "attribute_values", "str"),
        (lambda: Universe.of(a=[[1], [2]]), "attribute_values", "hash"),
        (lambda: Attribute("a", loosely("abc")), "attribute_values", "str"),
        (lambda: UNIVERSE.place("wart"), "attribute_unknown", "Did you mean ward?"),
        (lambda: UNIVERSE.place("height"), "attribute_unknown", "Check the spelling."),
        (lambda: UNIVERSE.place(loosely(["ward"])), "attribute_unknown", "by itself"),
        (lambda: Workload.marginal(UNIVERSE, "ward"), "attribute_names", "Write ['ward']."),
        (lambda: Workload.marginal(loosely("visits"), ["ward"]), "workload_misfit", "str"),
        (lambda: Workload.marginals(loosely("visits"), 2), "workload_misfit", "a universe"),
        (lambda: Workload.of(UNIVERSE, loosely("month")), "workload_misfit", "by attribute"),
        (lambda: Workload.of(UNIVERSE, {"month": loosely(Ranges)}), "workload_misfit", "the class"),
        (lambda: Workload.of(UNIVERSE, {"month": loosely("all")}), "workload_misfit", "Ranges(12)"),
        (lambda: Workload.of(UNIVERSE, {"month": Ranges(10)}), "workload_misfit", "Ranges(12)"),
        (lambda: Workload.union(loosely([ONES])), "workloads_differ", "list"),
        (lambda: Listed([[1, 0], [1]]), "queries_misshapen", "equal length"),
        (lambda: Listed("ab"), "queries_misshapen", "str"),
        (lambda: ONES.answers(np.zeros(5)), "counts_misfit", "24 counts"),
    ],
)
def test_mistakes_are_named(wrong: Callable[[], object], code: str, said: str) -> None:
    with pytest.raises(InvalidParameter, match=code) as refused:
        wrong()
    assert said in str(refused.value)


def test_values_may_come_in_any_iterable() -> None:
    assert Universe.of(a=range(3), b={"x": 1}, c=np.arange(2), d=iter("pq")).shape == (3, 1, 2, 2)
