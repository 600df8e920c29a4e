"""What is refused, and that no refusal shows data."""

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.mechanisms.quantiles import (
    IndependentQuantiles,
    Maximum,
    Minimum,
    Quantile,
    RecursiveQuantiles,
    extreme_rank,
    plan_quantiles,
)

ONE = {"candidates": range(5), "rank_sensitivity": 1, "epsilon": 1}
KINDS: list[tuple[Any, dict[str, Any]]] = [
    (Quantile, {**ONE, "q": 0.5}),
    (Maximum, ONE),
    (Minimum, ONE),
    (IndependentQuantiles, {**ONE, "levels": [0.25, 0.5, 0.75]}),
    (RecursiveQuantiles, {**ONE, "levels": [0.25, 0.5, 0.75]}),
    (plan_quantiles, {**ONE, "levels": [0.25, 0.75]}),
]
BAD: list[tuple[str, Any, str]] = [
    ("candidates", [], "candidates_not_increasing"),
    ("candidates", [1, 1], "candidates_not_increasing"),
    ("candidates", [2, 1], "candidates_not_increasing"),
    ("candidates", [0.0, np.nan], "candidates_not_increasing"),
    ("candidates", [0.0, np.inf], "candidates_not_increasing"),
    ("candidates", [2**63, 2**63 + 1], "candidates_not_increasing"),
    ("candidates", ["a", "b"], "candidates_not_increasing"),
    ("candidates", [[1, 2]], "candidates_not_increasing"),
    ("candidates", np.arange(70_000), "candidates_not_increasing"),
    ("rank_sensitivity", 0, "not_positive"),
    ("rank_sensitivity", 1.5, "not_a_count"),
    ("epsilon", 0, "not_positive"),
    ("epsilon", float("inf"), "not_finite"),
    ("epsilon", 1e-200, "parameter_out_of_range"),
    ("by", "exponential", "not_a_choice"),
    ("randomness", None, "not_a_source"),
]


@pytest.mark.parametrize(("kind", "good"), KINDS)
@pytest.mark.parametrize(("name", "value", "code"), BAD)
def test_parameters_are_checked(
    kind: Any, good: dict[str, Any], name: str, value: Any, code: str
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        kind(**{**good, name: value})
    assert caught.value.code == code


@pytest.mark.parametrize("q", [0, 1, -0.1, 1e-9, 1 - 1e-9])
def test_levels_lie_between_zero_and_one(q: float) -> None:
    with pytest.raises(InvalidParameter, match="not_a_probability"):
        Quantile(q=q, **ONE)  # type: ignore[arg-type]


@pytest.mark.parametrize("levels", [[], [0.5, 0.5], [0.75, 0.25]])
def test_levels_increase(levels: list[float]) -> None:
    for kind in (IndependentQuantiles, RecursiveQuantiles):
        with pytest.raises(InvalidParameter, match="levels_not_increasing"):
            kind(levels=levels, **ONE)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "good"), KINDS)
@pytest.mark.parametrize(
    ("counts", "code"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0], "counts_do_not_fit"),
        ([True] * 5, "counts_do_not_fit"),
        ([1, 2, 3, 4], "counts_do_not_fit"),
        ([[[1, 2, 3, 4, 77]]], "counts_do_not_fit"),
        (77, "counts_do_not_fit"),
        ([1, 2, 3, 4, -77], "counts_negative"),
    ],
)
def test_counts_are_checked(kind: Any, good: dict[str, Any], counts: Any, code: str) -> None:
    with pytest.raises(InvalidData) as caught:
        kind(**good).release(counts)
    assert caught.value.code == code
    assert "77" not in str(caught.value)


def test_extreme_ranks_are_checked() -> None:
    with pytest.raises(InvalidParameter):
        extreme_rank(epsilon=0, rank_sensitivity=1, candidates=10)
    with pytest.raises(InvalidParameter):
        extreme_rank(epsilon=1, rank_sensitivity=0, candidates=10)


@pytest.mark.parametrize(("kind", "good"), KINDS)
def test_mechanisms_are_values(kind: Any, good: dict[str, Any]) -> None:
    one = kind(**{**good, "candidates": np.arange(5)})
    assert one == kind(**good)
    assert hash(one) == hash(kind(**good))
