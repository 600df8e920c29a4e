"""What a release states, promises and warns of is the delta that was charged for it: every verb.

Under (epsilon, delta) the planner may choose pure noise, noise that needs the delta, or keys that
take it. Whatever it was, guarantee and warnings say what the ledger says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import discreet as dp
from discreet import events, synthetic
from discreet.core.errors import DiscreetError
from discreet.core.events.mechanisms import Approximate
from discreet.core.parameters import exact, rounded_up
from discreet.curator.budget import PrivacyBudget
from discreet.queries import Workload
from discreet.queries.online.pmw import private_gap_weights
from discreet.release.kept_guarantee import keeps
from discreet.release.promise import promised, promised_by
from tests.learn.estimators import ESTIMATORS

LARGE = dp.ApproxDP(epsilon=2, delta=0.01)
"""One over the number of people, or more: it is warned of wherever it is spent."""
SPENDS = {
    "usual": dp.ApproxDP(epsilon=2, delta=1e-6),
    "large": LARGE,
    "small epsilon": dp.ApproxDP(epsilon=0.01, delta=1e-6),
    "no delta": dp.ApproxDP(epsilon=2, delta=0),
    "pure": dp.PureDP(epsilon=2),
}


def curator(budget: Any = None) -> dp.Curator:
    rows = range(600)
    frame = pl.DataFrame(
        {
            "w": ["ABC"[row % 3] for row in rows],
            "k": [f"k{row % 2}" for row in rows],
            "x": [row % 10 for row in rows],
            "y": [float(row % 7) for row in rows],
        }
    )
    columns: dict[str, Any] = {
        "w": dp.Category(["A", "B", "C"]),
        "k": dp.Discovered(),
        "x": dp.Number(0, 9),
        "y": dp.Number(0, 7),
    }
    return dp.Curator(
        t=dp.table(frame, unit=dp.Row(), columns=columns, rows_at_most=1000),
        budget=budget or dp.ApproxDP(epsilon=1000, delta=0.5),
        ledger=dp.ledger.Memory(),
        engine=dp.DuckDB(threads=1),
    )


MANY = ", ".join(f"SUM(x * {n}) AS s{n}, COUNT(x + {n}) AS c{n}" for n in range(1, 6))
VERBS: Mapping[str, Callable[[Any, Any], Any]] = {
    "count": lambda c, spend: c.sql("SELECT COUNT(*) AS n FROM t", spend=spend),
    "many sums": lambda c, spend: c.sql(f"SELECT {MANY} FROM t", spend=spend),
    "median": lambda c, spend: c.sql("SELECT MEDIAN(x) AS m FROM t", spend=spend),
    "batch": lambda c, spend: c.batch(
        {"a": "SELECT COUNT(*) AS n FROM t", "b": "SELECT w, SUM(x) AS s FROM t GROUP BY w"},
        spend=spend,
    ),
    "bounds": lambda c, spend: c.bounds("t", "x", spend=spend),
    "limits": lambda c, spend: c.learn_limits(dp.RowsPer("t", "w"), spend=spend),
    "synopsis": lambda c, spend: c.synopsis(
        Workload.marginals(c.universe("t", "w"), 1),
        mechanism=dp.queries.MatrixMechanism,
        spend=spend,
    ),
    "synthesize": lambda c, spend: c.synthesize("t", columns=["w", "x"], spend=spend),
    "fit": lambda c, spend: c.fit(
        dp.learn.Ridge(), "SELECT x, y FROM t", target="y", spend=spend
    ),
    "fit of rows": lambda c, spend: c.fit(
        dp.learn.LogisticRegression(), "SELECT x, w FROM t", target="w", spend=spend
    ),
}  # fmt: skip
KEYS: Mapping[str, Callable[[Any, Any], Any]] = {
    "discovered": lambda c, spend: c.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k", spend=spend),
    "discovered, many": lambda c, spend: c.sql(f"SELECT k, {MANY} FROM t GROUP BY k", spend=spend),
}


def fitted(estimator: Any, spend: Any) -> Any:
    rng = np.random.default_rng(5)
    rows, target = rng.uniform(-1, 1, (40, 3)), rng.integers(0, 3, 40)
    return clone(estimator).set_params(spend=spend, unit=dp.Row()).fit(rows, target)


COLUMNS: dict[str, Any] = {"a": dp.Category(["x", "y"]), "b": dp.Integer(0, 3)}
TABLE = {"a": ["x", "y"] * 40, "b": [0, 1, 2, 3] * 20}


def synthesized(kind: Any, spend: Any) -> Any:
    maker = synthetic.Synthesizer(columns=COLUMNS, unit=dp.Row(), spend=spend, mechanism=kind)
    return maker.fit(TABLE).release_


def evaluated(spend: Any) -> Any:
    return synthetic.evaluate(TABLE, TABLE, columns=COLUMNS, unit=dp.Row(), spend=spend)


def stated(answer: Any) -> Any:
    return answer.guarantee_ if hasattr(answer, "guarantee_") else answer.guarantee


def warned(answer: Any) -> bool:
    listed = list(answer.values()) if isinstance(answer, Mapping) else [answer]
    return any("delta" in warning for each in listed for warning in getattr(each, "warnings", ()))


def check(
    verb: Callable[[Any, Any], Any], spend: Any, make: Callable[[], dp.Curator] = curator
) -> float:
    """That what is stated is what was charged, and warned of only then; the delta."""
    source = make()
    answer = verb(source, spend)
    guarantee, spent = stated(answer), source.spent
    assert isinstance(spent, dp.ApproxDP)
    delta = float(getattr(guarantee, "delta", 0))
    assert delta == pytest.approx(float(spent.delta), rel=1e-9, abs=1e-15)
    assert guarantee.unit == source.unit
    report = getattr(answer, "left_out", None)
    for each in (answer, *(() if report is None else (report,))):
        if hasattr(each, "event"):
            assert keeps(stated(each), each.event)
    assert float(guarantee.epsilon) >= float(spent.epsilon) * (1 - 1e-9)
    if warned(answer):
        assert delta * 600 >= 1
    return delta


@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("verb", VERBS)
def test_the_stated_delta_is_the_charged_one(verb: str, spend: str) -> None:
    check(VERBS[verb], SPENDS[spend])


@pytest.mark.parametrize("spend", ["usual", "large"])
@pytest.mark.parametrize("verb", KEYS)
def test_keys_state_the_delta_that_they_took(verb: str, spend: str) -> None:
    assert check(KEYS[verb], SPENDS[spend]) > 0


def people() -> dp.Curator:
    """Tables of people with limits of their own, one of them by a way."""
    rows = range(600)
    visits = pl.DataFrame(
        {
            "who": [row // 3 for row in rows],
            "visit": list(rows),
            "w": ["ABC"[row % 3] for row in rows],
            "k": [f"k{row % 2}" for row in rows],
            "x": [row % 10 for row in rows],
        }
    )
    columns: dict[str, Any] = {
        "w": dp.Category(["A", "B", "C"]),
        "k": dp.Discovered(),
        "x": dp.Number(0, 9),
    }
    items = pl.DataFrame({"visit": list(rows), "price": [row % 5 for row in rows]})
    way = dp.Person("visit", via="t.who", max_rows=4, of="people")
    return dp.Curator(
        t=dp.table(visits, unit=dp.Person("who", max_rows=2, of="people"), columns=columns),
        items=dp.table(items, unit=way, columns={"price": dp.Number(0, 4)}),
        budget=dp.ApproxDP(epsilon=1000, delta=0.5),
        ledger=dp.ledger.Memory(),
        engine=dp.DuckDB(threads=1),
    )


REPORTED = {"left_out": dp.LeftOut(share=0.2)}
OF_PEOPLE: Mapping[str, Callable[[Any, Any], Any]] = {
    "left out": lambda c, spend: c.sql("SELECT COUNT(*) AS n FROM t", spend=spend, **REPORTED),
    "left out of many": lambda c, spend: c.sql(f"SELECT {MANY} FROM t", spend=spend, **REPORTED),
    "by a way": lambda c, spend: c.sql(
        "SELECT SUM(price) AS s, COUNT(*) AS n FROM items", spend=spend, **REPORTED
    ),
    "joined": lambda c, spend: c.sql(
        "SELECT COUNT(*) AS n, SUM(price) AS s FROM t JOIN items ON t.visit = items.visit",
        spend=spend,
    ),
    "evaluate": lambda c, spend: c.evaluate_synthetic(
        "t", pl.DataFrame({"w": ["A", "B"] * 9, "x": [1, 2] * 9}), columns=["w", "x"], spend=spend
    ),
}


@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("verb", OF_PEOPLE)
def test_the_stated_delta_is_the_charged_one_for_people(verb: str, spend: str) -> None:
    check(OF_PEOPLE[verb], SPENDS[spend], people)


@pytest.mark.parametrize("spend", ["usual", "large", "small epsilon"])
def test_keys_state_their_delta_beside_what_was_left_out(spend: str) -> None:
    def ask(source: Any, price: Any) -> Any:
        text = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
        return source.sql(text, spend=price, **REPORTED)

    assert check(ask, SPENDS[spend], people) > 0


@pytest.mark.parametrize("spend", ["usual", "large", "no delta", "pure"])
def test_what_goes_on_states_the_delta_that_was_charged(spend: str) -> None:
    def talk(source: Any, price: Any) -> Any:
        mechanism = partial(private_gap_weights, about=600, updates=3)
        universe = source.universe("t", "w")
        return source.converse(universe, mechanism=mechanism, questions=9, spend=price)

    assert check(talk, SPENDS[spend]) == 0


LOSSES = st.fractions(Fraction(1, 100), Fraction(3), max_denominator=100)
DELTAS = st.fractions(Fraction(1, 10**6), Fraction(1, 10), max_denominator=10**6)
DRAWN = st.one_of(
    st.builds(lambda loss: events.Laplace(epsilon=loss), LOSSES),
    st.builds(lambda loss, slack: Approximate(epsilon=loss, delta=slack), LOSSES, DELTAS),
    st.builds(lambda z: events.Gaussian(noise_multiplier=z), st.integers(1, 50)),
)
PARTS = st.lists(
    st.tuples(LOSSES, DELTAS, st.lists(DRAWN, min_size=1, max_size=4)), min_size=1, max_size=3
)


@given(PARTS)
@settings(max_examples=30)
def test_no_less_delta_is_stated_than_is_charged(parts: list[Any]) -> None:
    """Whatever a planner makes of a spend: a part with Gaussian noise in it has no other event."""
    budget = PrivacyBudget(dp.ApproxDP(epsilon=1000, delta=0.9), dp.Row())
    charges, charged = [], Fraction(0)
    for loss, slack, listed in parts:
        normal = [each for each in listed if isinstance(each, events.Gaussian)]
        part, paid = dp.ApproxDP(epsilon=loss, delta=slack), tuple(normal[:1] or listed)
        try:
            spent = budget.spent(budget.charge(part, paid))
        except DiscreetError:  # no price at so little delta
            continue
        assert isinstance(spent, dp.ApproxDP)
        if spent.epsilon <= rounded_up(loss) and float(spent.delta) <= float(slack) * (1 + 1e-9):
            charges.append((part, paid))  # else it is refused
            charged += exact(spent.delta)
    whole = dp.ApproxDP(
        epsilon=sum((exact(part.epsilon) for part, _ in charges), Fraction(0)),
        delta=sum((exact(part.delta) for part, _ in charges), Fraction(0)),
    )
    said = promised_by(whole, tuple(charges))
    assert isinstance(said, dp.ApproxDP)
    assert float(charged) <= float(said.delta) * (1 + 1e-9) + 1e-15


def test_both_kinds_of_noise_are_among_them() -> None:
    """Or nothing above would tell a delta that was spent from one that was not."""
    assert check(VERBS["count"], LARGE) == 0
    assert check(VERBS["many sums"], LARGE) == 0.01


def test_no_delta_is_warned_of_that_was_not_spent() -> None:
    source = curator()
    answer = source.sql("SELECT COUNT(*) AS n FROM t", spend=LARGE)
    assert not warned(answer)
    assert "delta 0.01" not in str(answer.statement)
    assert not source.preview("SELECT COUNT(*) AS n FROM t", spend=LARGE).warnings
    many = source.sql(f"SELECT {MANY} FROM t", spend=LARGE)
    assert warned(many)
    assert source.preview(f"SELECT {MANY} FROM t", spend=LARGE).warnings


def test_a_delta_set_apart_is_stated_where_keys_take_it() -> None:
    rho = dp.ApproxZCDP(rho=1, delta=1e-3)
    source = curator(dp.ApproxZCDP(rho=100, delta=0.5))
    plain = source.sql("SELECT COUNT(*) AS n FROM t", spend=rho).guarantee
    assert isinstance(plain, dp.ApproxZCDP)
    assert plain.delta == 0
    found = source.sql("SELECT k, COUNT(*) AS n FROM t GROUP BY k", spend=rho).guarantee
    assert isinstance(found, dp.ApproxZCDP)
    assert float(found.delta) == pytest.approx(1e-3)


IN_MEMORY: Mapping[str, Callable[[Any], Any]] = {
    **{type(each).__name__: partial(fitted, each) for each in ESTIMATORS},
    **{
        kind.__name__: partial(synthesized, kind)
        for kind in (synthetic.AIM, synthetic.MST, synthetic.PrivBayes, synthetic.FullHistogram)
    },
    "evaluate": evaluated,
}


@pytest.mark.parametrize("spend", SPENDS)
@pytest.mark.parametrize("maker", IN_MEMORY)
def test_what_is_made_in_memory_states_no_delta_that_its_event_does_not_take(
    maker: str, spend: str
) -> None:
    if maker == "SoftmaxRegression" and not getattr(SPENDS[spend], "delta", 0):
        with pytest.raises(DiscreetError, match="gaussian_spend"):  # it has no other noise
            IN_MEMORY[maker](SPENDS[spend])
        return
    made = IN_MEMORY[maker](SPENDS[spend])
    guarantee = stated(made)
    event = made.event_ if hasattr(made, "event_") else made.event
    assert keeps(guarantee, event)
    assert guarantee.unit == dp.Row()
    pure = event.epsilon(delta=0) <= float(guarantee.epsilon) * (1 + 1e-9)
    assert (float(getattr(guarantee, "delta", 0)) == 0) == pure


def test_what_is_promised_holds_for_the_event() -> None:
    """Each part of a spend for its events; noise that needs a delta keeps all of its part."""
    half = dp.ApproxDP(epsilon=Fraction(1, 2), delta=Fraction(1, 200))
    whole = dp.ApproxDP(epsilon=1, delta=Fraction(1, 100))
    pure, normal = events.Laplace(epsilon=Fraction(1, 2)), events.Gaussian(noise_multiplier=10)
    mixed = promised_by(whole, ((half, (pure,)), (half, (normal,))))
    assert mixed == dp.ApproxDP(epsilon=1, delta=Fraction(1, 200))
    assert (pure + normal).epsilon(delta=Fraction(1, 200)) <= 1
    assert promised(whole, pure) == dp.ApproxDP(epsilon=1, delta=0)
    assert promised(whole, 3 * pure) == whole  # beyond epsilon: only with its delta
    assert promised(dp.PureDP(epsilon=1), pure) == dp.PureDP(epsilon=1)
