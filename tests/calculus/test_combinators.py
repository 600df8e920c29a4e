"""Parallel composition: one measurement of every part for the price of one, and no further."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet import calculus as t
from discreet import events
from discreet.audit.testers import min_epsilon
from discreet.calculus.combinators import for_each_part
from discreet.core.domain import Categories, Rows
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.measurement import Measurement
from discreet.core.metric import AddRemove, ChangeOne
from discreet.core.space import Space
from discreet.mechanisms import Laplace

WORDS = Categories(("a", "b", "c"))
ROWS = Space(Rows(WORDS), AddRemove())
KEYS = ("a", "b")
COUNT = t.count_rows(ROWS) >> Laplace(epsilon=0.5, sensitivity=1)


def whole(row: Any) -> Any:
    return row


def test_each_part_is_measured_at_the_price_of_one() -> None:
    parts = t.partition(ROWS, KEYS, whole)
    pipeline = parts >> for_each_part(COUNT, KEYS)
    assert pipeline.event(1) == COUNT.event(1) == events.Laplace(epsilon=0.5)
    released = pipeline.release(("a", "a", "c"))
    assert list(released) == list(KEYS)
    assert all(isinstance(value, int) for value in released.values())


def test_units_in_several_parts_are_refused() -> None:
    parallel = for_each_part(COUNT, KEYS)
    with pytest.raises(InvalidParameter, match="parts_too_far_apart"):
        parallel.event(2)
    changed = Space(Rows(WORDS, 4), ChangeOne())
    exchanged = t.partition(changed, KEYS, whole) >> parallel
    with pytest.raises(InvalidParameter, match="parts_too_far_apart"):
        exchanged.event(1)


def test_keys_and_records_have_to_match() -> None:
    parts = t.partition(ROWS, KEYS, whole)
    with pytest.raises(Mismatch, match="domain_mismatch"):
        parts >> for_each_part(COUNT, ("a", "c"))
    with pytest.raises(Mismatch, match="not_a_table_measurement"):
        for_each_part(Laplace(epsilon=1, sensitivity=1).over(t.count_rows(ROWS).output), KEYS)


def test_the_price_of_one_is_right_and_cannot_be_lower() -> None:
    """Exact laws: randomized response on the parity of each part, with odds 3 to 1."""
    true, false = Fraction(3, 4), Fraction(1, 4)

    def law(rows: Any) -> tuple[Fraction, Fraction]:
        return (true, false) if len(rows) % 2 == 0 else (false, true)

    parity = Measurement(ROWS, law, lambda d: events.RandomizedResponse(epsilon=1.1, categories=2))
    pipeline = t.partition(ROWS, KEYS, whole) >> for_each_part(parity, KEYS)

    def joint(rows: tuple[str, ...]) -> list[float]:
        first, second = pipeline.release(rows).values()
        return [float(p * q) for p in first for q in second]

    base = ("a", "b", "b", "c")
    claimed = pipeline.event(1).epsilon(delta=0)
    worst = max(
        min_epsilon(joint(base), joint(other))
        for other in AddRemove().neighbours(base, ROWS.domain)
    )
    assert 1.09 < worst <= claimed
    exchanged = ("b", "b", "b", "c")
    assert min_epsilon(joint(base), joint(exchanged)) > claimed, "so two steps are refused"
