"""A delta of one over the number of people promises nobody anything: a warning, for nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.curator import public_size
from discreet.noise import Noiseless
from discreet.queries import Workload, best_mechanism
from discreet.relational.execute import exact_aggregation

SUM = "SELECT SUM(age) AS s FROM visits"
COUNT = "SELECT COUNT(*) AS n FROM visits"


def curator(rows: int, unit: Any = None, **declared: Any) -> dp.Curator:
    """One row for each of so many people, without noise."""
    table = dp.table(
        {"age": np.arange(rows) % 90},
        unit=unit or dp.Row(),
        columns={"age": dp.Number(0, 120)},
        **declared,
    )
    return dp.Curator(
        visits=table,
        budget=dp.ApproxDP(epsilon=1000, delta=0.9),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )


def spend(delta: float) -> dp.ApproxDP:
    return dp.ApproxDP(epsilon=0.5, delta=delta)


def warned(release: Any) -> bool:
    return any("in full would keep it" in warning for warning in release.warnings)


def test_half_a_chance_on_ten_rows_is_warned_of() -> None:
    """000a:A3, from a noisy count and from nothing at all."""
    for question in (COUNT, SUM):
        answer = curator(10).sql(question, spend=spend(0.5))
        assert "delta 0.5 is large: showing one person in 2 in full" in " ".join(answer.warnings)


@pytest.mark.parametrize(("rows", "delta"), [(2000, 1e-3), (500, 1 / 400), (300, 1 / 300)])
def test_a_count_in_the_answer_says_how_many_there_may_be(rows: int, delta: float) -> None:
    assert warned(curator(rows).sql(COUNT, spend=spend(delta)))
    assert not warned(curator(rows).sql(COUNT, spend=spend(delta / 2 / rows)))


def test_a_count_of_some_rows_does_not() -> None:
    """It says nothing about how many others there are."""
    asked = COUNT + " WHERE age < 10"
    assert not warned(curator(3000).sql(asked, spend=spend(1e-3)))


def test_what_the_owner_declared_says_so_too() -> None:
    assert warned(curator(10, rows_at_most=10**7).sql(SUM, spend=spend(1e-6)))
    assert not warned(curator(10, rows_at_most=10**5).sql(SUM, spend=spend(1e-6)))
    assert not warned(curator(10).sql(SUM, spend=spend(1e-6)))


def test_without_a_delta_there_is_nothing_to_warn_of() -> None:
    assert not warned(curator(10).sql(COUNT, spend=dp.PureDP(epsilon=1)))
    assert not warned(curator(10, rows_at_most=10**9).sql(SUM, spend=dp.PureDP(epsilon=1)))


def test_where_rows_are_exchanged_their_number_is_public() -> None:
    unit = dp.Replace(dp.Row())
    assert warned(curator(5000, unit).sql(SUM, spend=spend(1e-3)))
    assert not warned(curator(500, unit).sql(SUM, spend=spend(1e-3)))
    # It counts for more than what was declared.
    assert not warned(curator(500, unit, rows_at_most=10**9).sql(SUM, spend=spend(1e-3)))


def test_rows_are_counted_once_and_only_where_that_is_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted: list[Any] = []
    real = exact_aggregation.aggregate_exactly

    def watched(*arguments: Any, **options: Any) -> Any:
        counted.append(arguments)
        return real(*arguments, **options)

    monkeypatch.setattr(public_size, "aggregate_exactly", watched)
    exchanged = curator(5000, dp.Replace(dp.Row()))
    for size in range(3):
        exchanged.sql(SUM, spend=spend(1e-3 + size * 1e-6))
    assert len(counted) == 1
    curator(5000).sql(SUM, spend=spend(1e-3))
    curator(5000, rows_at_most=10**6).sql(COUNT, spend=spend(1e-3))
    curator(5000).preview(COUNT, spend=spend(1e-3))
    assert len(counted) == 1


def test_an_engine_that_cannot_count_is_not_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        message = "row 7: Ada Lovelace"
        raise RuntimeError(message)

    monkeypatch.setattr(public_size, "aggregate_exactly", fails)
    answer = curator(5000, dp.Replace(dp.Row())).sql(SUM, spend=spend(1e-3))
    assert not answer.warnings


def test_nothing_is_charged_for_it() -> None:
    table = dp.table(
        {"age": np.arange(10)}, unit=dp.Replace(dp.Row()), columns={"age": dp.Number(0, 120)}
    )
    budget = dp.ApproxDP(epsilon=1, delta=0.9)
    paying = dp.Curator(visits=table, budget=budget, ledger=dp.ledger.Memory())
    before = paying.remaining
    assert warned(paying.preview(SUM, spend=spend(0.25)))
    assert paying.remaining == before
    assert warned(paying.sql(SUM, spend=spend(0.25)))
    left = paying.remaining
    assert isinstance(left, dp.ApproxDP)
    assert float(left.epsilon) == pytest.approx(0.5)
    assert float(left.delta) == pytest.approx(0.65)


def test_previews_batches_and_synopses_say_so() -> None:
    asked = curator(10)
    assert warned(asked.preview(SUM, spend=spend(0.5)))
    assert "warning: delta 0.5 is large" in str(asked.preview(SUM, spend=spend(0.5)))
    assert not warned(asked.preview(SUM, spend=spend(1e-6)))
    together = asked.batch({"sum": SUM, "count": COUNT}, spend=spend(0.5))
    assert all(warned(together[name]) for name in ("sum", "count"))
    universe = asked.universe("visits", old="age >= 40")
    workload = Workload.marginal(universe, universe.names)
    assert warned(asked.preview(workload, mechanism=best_mechanism, spend=spend(0.5)))
