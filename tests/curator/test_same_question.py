"""The same question is free, another one is not, and no stored value is read with another split."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.curator import batch as batches
from discreet.curator import budget
from discreet.curator import sql as queries
from discreet.curator.stored_answer import Known
from discreet.errors import InvalidParameter, LedgerError
from discreet.queries import Workload
from discreet.queries.analysts.guarantee import OneQuery
from discreet.relational.identity.identity import identity
from discreet.relational.planning.magnitudes import bounds_question
from tests.curator import people

SPEND = dp.PureDP(epsilon=1)
COLUMNS: dict[str, Any] = {
    "ward": dp.Category(["A", "B", "C"]),
    "age": dp.Number(0, 120),
    "cost": dp.Number(0, 1000),
}
BOTH = "SELECT COUNT(*) AS n, SUM(cost) AS s FROM visits"
WARDS = "SELECT ward, COUNT(*) AS n FROM visits WHERE age < 60 GROUP BY ward"
BY_AGE = dp.RowsPer("visits", "age")
WANTED = {"n": dp.Within(5), "s": dp.Within(100_000)}


def frame() -> pl.DataFrame:
    rows = range(2000)
    return pl.DataFrame(
        {
            "id": rows,
            "ward": ["ABC"[row % 3] for row in rows],
            "age": [row % 100 for row in rows],
            "cost": [float(500 + row % 11) for row in rows],
        }
    )


def curator(ledger: Any, columns: Any = None, **options: Any) -> dp.Curator:
    """With noise, on a ledger that others may share."""
    given: dict[str, Any] = {
        "unit": dp.Row(),
        "columns": COLUMNS | (columns or {}),
        "snapshot": "one",
    }
    budget = options.pop("budget", dp.ApproxDP(epsilon=1000, delta=1e-3))
    table = dp.table(frame(), **(given | options))
    return dp.Curator(visits=table, budget=budget, ledger=ledger)


@pytest.fixture
def source() -> dp.Curator:
    return curator(dp.ledger.Memory())


def charged(source: dp.Curator, ask: Callable[[], object]) -> bool:
    before = source.spent
    ask()
    return source.spent != before


# A stored answer and another split ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("budget", "notion"),
    [
        (dp.ApproxDP(epsilon=1000, delta=1e-3), dp.PureDP),
        (dp.ZCDP(rho=1000), dp.ZCDP),
        (dp.RenyiDP(alpha=4, epsilon=1000), dp.RenyiDP),
    ],
    ids=["pure", "concentrated", "renyi"],
)
def test_a_price_found_by_accuracy_buys_another_answer_when_it_is_spent(
    budget: Any, notion: Any
) -> None:
    """Read on the other grid the sum would be off by a power of two: seven to thirty times."""
    source = curator(dp.ledger.Memory(), budget=budget)
    truth = sum(frame()["cost"])
    bought = source.sql(BOTH, accuracy=WANTED)
    price = bought.guarantee
    for confidence in (0.95, 0.9):
        again = source.sql(BOTH, spend=price, confidence=confidence)
        assert isinstance(price, notion)
        assert again.id != bought.id
        # Ten times the half-width: passed by noise in fewer than one of 10**8 runs.
        width = (again["s"].upper[0] - again["s"].lower[0]) / 2  # type: ignore[index]
        assert abs(again["s"].values[0] - truth) < 10 * width  # type: ignore[operator]


def test_both_answers_stay_and_are_free_from_then_on(source: dp.Curator) -> None:
    first = source.sql(BOTH, accuracy=WANTED)
    second = source.sql(BOTH, spend=first.guarantee)
    spent = source.spent
    for _ in range(2):
        assert source.sql(BOTH, accuracy=WANTED).to_json() == first.to_json()
        assert source.sql(BOTH, spend=first.guarantee).to_json() == second.to_json()
        source.sql(BOTH, accuracy=WANTED, confidence=0.8)
    assert source.spent == spent


def test_one_column_has_one_split_and_one_answer(source: dp.Curator) -> None:
    first = source.sql(WARDS, accuracy=dp.Within(20))
    assert not charged(source, lambda: source.sql(WARDS, spend=first.guarantee))


def test_values_are_not_read_with_another_split_even_if_they_are_found(
    source: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An identity that leaves the split out: what is found is compared before it is read."""

    def careless(verb: str, parts: Mapping[str, object]) -> str:
        return identity(verb, {name: parts[name] for name in parts if name != "allocation"})

    monkeypatch.setattr(queries, "identity", careless)
    first = source.sql(BOTH, accuracy=WANTED)
    for confidence in (0.95, 0.9):
        assert source.sql(BOTH, spend=first.guarantee, confidence=confidence).id != first.id


@pytest.mark.parametrize("door", ["sql", "batch", "bounds", "limits"])
def test_a_release_with_another_split_beside_it_is_bought_again(
    source: dp.Curator, monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    ask: dict[str, Callable[[], Any]] = {
        "sql": lambda: source.sql(WARDS, spend=SPEND),
        "batch": lambda: source.batch({"a": BOTH, "b": WARDS}, spend=SPEND),
        "bounds": lambda: source.bounds("visits", "cost", spend=SPEND),
        "limits": lambda: source.learn_limits(BY_AGE, spend=SPEND),
    }
    kept = Known.add_split_to_release

    def other(self: Known, release: Any) -> dict[str, object]:
        made: dict[str, Any] = json.loads(json.dumps(kept(self, release)))
        made["allocation"]["linear"][0]["exponent"] += 5
        return made

    with monkeypatch.context() as patched:
        patched.setattr(Known, "add_split_to_release", other)
        ask[door]()
    assert charged(source, ask[door])
    assert not charged(source, ask[door])


def test_the_split_of_a_batch_is_part_of_its_identity(
    source: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Questions, importance and spend decide it today; it is told all the same."""
    context = source.context
    asked = tuple(map(context.query, TWO.values()))
    plan = batches.planned_batch(context, asked, (1.0, 1.0), SPEND)
    same = batches.known_batch(context, ("a", "b"), plan).identity
    assert batches.known_batch(context, ("a", "b"), plan).identity == same
    monkeypatch.setattr(batches, "allocated_together", lambda _: {"linear": []})
    assert batches.known_batch(context, ("a", "b"), plan).identity != same


# What makes another question ---------------------------------------------------------------------

TWO = {"a": BOTH, "b": WARDS}
SAME: dict[str, Callable[[dp.Curator], object]] = {
    "sql": lambda c: c.sql(WARDS, spend=SPEND),
    "frame": lambda c: c.frame("visits").filter(dp.col("age") < 60).group_by("ward")
    .agg(n=dp.count()).release(spend=SPEND),
    "batch": lambda c: c.batch(TWO, spend=SPEND),
    "bounds": lambda c: c.bounds("visits", "cost", spend=SPEND),
    "limits": lambda c: c.learn_limits(BY_AGE, spend=SPEND),
    "synopsis": lambda c: c.synopsis(
        Workload.marginals(c.universe("visits", "ward"), 1),
        mechanism=dp.queries.MatrixMechanism,
        spend=SPEND,
    ),
}  # fmt: skip
OTHERS: dict[str, dict[str, Callable[[dp.Curator], object]]] = {
    "sql": {
        "text": lambda c: c.sql(WARDS.replace("60", "61"), spend=SPEND),
        "aggregate": lambda c: c.sql(WARDS.replace("*", "age"), spend=SPEND),
        "spend": lambda c: c.sql(WARDS, spend=dp.PureDP(epsilon=2)),
        "notion": lambda c: c.sql(WARDS, spend=dp.ApproxDP(epsilon=1, delta=0)),
        "asker": lambda c: c.sql(WARDS, spend=SPEND, analyst="bob"),
        "alone": lambda c: c.batch({"a": WARDS}, spend=SPEND),
    },
    "batch": {
        "importance": lambda c: c.batch(TWO, spend=SPEND, importance={"a": 2}),
        "importance of all": lambda c: c.batch(TWO, spend=SPEND, importance={"a": 2, "b": 2}),
        "names": lambda c: c.batch({"a": BOTH, "c": WARDS}, spend=SPEND),
        "order": lambda c: c.batch({"b": WARDS, "a": BOTH}, spend=SPEND),
        "spend": lambda c: c.batch(TWO, spend=dp.PureDP(epsilon=2)),
        "notion": lambda c: c.batch(TWO, spend=dp.ApproxDP(epsilon=1, delta=0)),
        "asker": lambda c: c.batch(TWO, spend=SPEND, analyst="bob"),
    },
    "bounds": {
        "spend": lambda c: c.bounds("visits", "cost", spend=dp.PureDP(epsilon=2)),
        "notion": lambda c: c.bounds("visits", "cost", spend=dp.ApproxDP(epsilon=1, delta=0)),
        "column": lambda c: c.bounds("visits", "age", spend=SPEND),
        "asker": lambda c: c.bounds("visits", "cost", spend=SPEND, analyst="bob"),
    },
    "limits": {
        "spend": lambda c: c.learn_limits(BY_AGE, spend=dp.PureDP(epsilon=2)),
        "notion": lambda c: c.learn_limits(BY_AGE, spend=dp.ApproxDP(epsilon=1, delta=0)),
        "key": lambda c: c.learn_limits(dp.RowsPer("visits", "id"), spend=SPEND),
        "keys": lambda c: c.learn_limits(dp.RowsPer("visits", ("age", "ward")), spend=SPEND),
        "ladder": lambda c: c.learn_limits(dp.RowsPer("visits", "age", (1, 2)), spend=SPEND),
        "asker": lambda c: c.learn_limits(BY_AGE, spend=SPEND, analyst="bob"),
    },
    "synopsis": {
        "spend": lambda c: c.synopsis(
            Workload.marginals(c.universe("visits", "ward"), 1),
            mechanism=dp.queries.MatrixMechanism,
            spend=dp.PureDP(epsilon=2),
        ),
        "workload": lambda c: c.synopsis(
            Workload.marginals(c.universe("visits", "ward", "age"), 1),
            mechanism=dp.queries.MatrixMechanism,
            spend=SPEND,
        ),
        "mechanism": lambda c: c.synopsis(
            Workload.marginals(c.universe("visits", "ward"), 1),
            mechanism=dp.queries.MarginalMechanism,
            spend=SPEND,
        ),
    },
}


@pytest.mark.parametrize("door", SAME)
def test_the_same_question_is_free(source: dp.Curator, door: str) -> None:
    assert charged(source, lambda: SAME[door](source))
    assert not charged(source, lambda: SAME[door](source))
    again = curator(source.ledger)
    assert not charged(again, lambda: SAME[door](again))


@pytest.mark.parametrize(
    ("door", "change"), [(door, change) for door, others in OTHERS.items() for change in others]
)
def test_another_question_is_not(source: dp.Curator, door: str, change: str) -> None:
    SAME[door](source)
    assert charged(source, lambda: OTHERS[door][change](source))


@pytest.mark.parametrize(
    "declared",
    [
        {"snapshot": "two"},
        {"rows_at_most": 10**6},
        {"columns": {"age": dp.Number(0, 119)}},
        {"columns": {"age": dp.Number(1, 120)}},
        {"columns": {"cost": dp.Number(0, 999)}},
        {"columns": {"ward": dp.Category(["A", "C", "B"])}},
        {"columns": {"ward": dp.Category(["A", "B"])}},
    ],
    ids=lambda each: str(each)[:50],
)
@pytest.mark.parametrize("door", SAME)
def test_another_version_of_the_data_or_its_columns_makes_another_question(
    source: dp.Curator, door: str, declared: dict[str, Any]
) -> None:
    SAME[door](source)
    other = curator(source.ledger, **declared)
    assert charged(other, lambda: SAME[door](other))


def test_a_question_through_one_door_is_no_question_through_another(source: dp.Curator) -> None:
    context = source.context
    query, planned = queries.planned_sql(context, WARDS, SPEND)
    doors = [
        queries.known_query(context, door, query, planned).identity
        for door in ("sql", "bounds", "limits")
    ]
    assert len(set(doors)) == 3
    source.bounds("visits", "cost", spend=SPEND)
    (paid,) = [e.body["question"] for e in source.ledger.entries() if e.kind == "reserved"]
    asked, _ = bounds_question(context.query("SELECT COUNT(*) AS n FROM visits"), "cost")
    at = queries.planned_at(context, asked, SPEND)
    assert paid == queries.known_query(context, "bounds", asked, at).identity


# What is resumed ---------------------------------------------------------------------------------


def _round(source: dp.Curator) -> Any:
    return source.round(
        source.universe("visits", "ward"),
        analysts=["ann"],
        queries_each=1,
        spend=dp.PureDP(epsilon=20),
        protects=OneQuery(),
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
    )


@pytest.mark.parametrize("closed", [False, True])
def test_a_round_is_not_read_over_other_cells(source: dp.Curator, *, closed: bool) -> None:
    """With wards in another order, counts of A would be handed out as counts of C."""
    about = _round(source)
    about.submit("ann", [{"ward": "A"}])
    if closed:
        about.close()
    other = curator(source.ledger, {"ward": dp.Category(["C", "B", "A"])})
    with pytest.raises(InvalidParameter, match="universe_differs"):
        other.resume(about.id)
    again = curator(source.ledger).resume(about.id)
    assert len(again.close().for_analyst("ann").answers) == 1


def test_a_conversation_is_not_read_over_other_cells() -> None:
    source = people.curator()
    talk = people.conversation(source)
    talk.ask("ward", "A")
    table = dp.table(
        people.FRAME,
        unit=dp.Person("person", max_rows=2),
        columns={
            "sex": dp.Category(["m", "f"]),
            "ward": dp.Category(["A", "B", "C", "D"]),
            "age": dp.Number(0, 99),
        },
        snapshot="one",
    )
    other = dp.Curator(people=table, budget=dp.PureDP(epsilon=10_000), ledger=source.ledger)
    with pytest.raises(InvalidParameter, match="universe_differs"):
        other.resume(talk.id)


# Ledgers from before the first release ------------------------------------------------------------


def test_a_ledger_from_before_the_first_release_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "one.ledger"
    with monkeypatch.context() as then:
        then.setattr(budget, "FORM", "question/0")
        curator(path).close()
    with pytest.raises(LedgerError, match="ledger_before_release") as caught:
        curator(path)
    assert caught.value.received == "question/0"
