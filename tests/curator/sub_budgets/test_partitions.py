"""Partitions: each part sees its own rows, the parent pays once for as many as a unit is in."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.curator.sub_budgets import division as division_module
from discreet.curator.sub_budgets import partition as partition_module
from discreet.curator.sub_budgets import parts as granted_module
from discreet.errors import DiscreetError, Exhausted, InvalidParameter, Mismatch
from discreet.mechanisms import AboveThreshold
from discreet.noise import Noiseless
from discreet.relational.bounding.partition_filter import EveryPart, PartitionFilter, SomeParts
from discreet.relational.plan import scope as parts_module
from tests.curator.sub_budgets.amounts import left, used
from tests.curator.sub_budgets.parts import (
    PERSON,
    QUESTIONS,
    ROWS,
    WARDS,
    Row,
    curator,
    overspent,
)
from tests.curator.tables import COLUMNS, by_person, by_row, private, visits

COUNT = "SELECT COUNT(*) AS n FROM visits"
ONE = dp.PureDP(epsilon=1)
HALF = dp.PureDP(epsilon=0.5)
CROWD: list[Row] = [
    (person, WARDS[(person * 7 + place) % 3], (person + place) % 10)
    for person in range(7)
    for place in range(5)
]


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


def first(answer: dp.Release) -> dict[str, Any]:
    return dict(next(iter(answer)))


class TestRows:
    """Where each row is a unit, it lies in one part."""

    def test_a_part_sees_its_rows_and_no_others(self) -> None:
        parts = by_row().partition("visits", by="ward", budget=ONE)
        frame = visits()
        for ward in parts:
            answer = first(
                parts[ward].sql("SELECT COUNT(*) AS n, SUM(age) AS s FROM visits", spend=HALF)
            )
            rows = frame.filter(pl.col("ward") == ward)
            assert (answer["n"], answer["s"]) == (rows.height, rows["age"].sum())

    def test_an_answer_says_that_it_is_about_a_part(self) -> None:
        part = by_row().partition("visits", by="ward", budget=ONE)["A"]
        assert part.sql(COUNT, spend=HALF).warnings[0] == "about part A of the table only"
        (made,) = part.batch({"n": COUNT}, spend=HALF).values()
        assert "about part A of the table only" in made.warnings

    def test_the_parent_pays_one_budget_for_all_parts(self) -> None:
        whole = private(budget=dp.PureDP(epsilon=3))
        parts = whole.partition("visits", by="ward", budget=ONE)
        for ward in parts:
            parts[ward].sql(COUNT, spend=ONE)
            with pytest.raises(Exhausted):
                parts[ward].sql(COUNT, spend=HALF)
        assert left(whole) == 2
        whole.sql(COUNT, spend=ONE)
        assert left(whole) == 1
        whole.ledger.verify()

    def test_values_outside_the_list_belong_to_no_part(self) -> None:
        frame = visits().with_columns(
            ward=pl.when(pl.col("age") < 30).then(pl.lit("secret")).otherwise("ward")
        )
        parts = by_row(frame).partition("visits", by="ward", budget=ONE)
        assert list(parts) == ["A", "B", "C"]
        total = sum(first(parts[w].sql(COUNT, spend=HALF))["n"] for w in parts)
        assert total == (frame["ward"] != "secret").sum()
        assert code_of(lambda: parts["secret"]) == "part_unknown"

    def test_any_key_of_group_by_divides(self) -> None:
        parts = by_row().partition("visits", by="age > 40", budget=ONE)
        frame = visits()
        assert first(parts[True].sql(COUNT, spend=HALF))["n"] == (frame["age"] > 40).sum()
        assert first(parts[False].sql(COUNT, spend=HALF))["n"] == (frame["age"] <= 40).sum()

    def test_k_is_for_people(self) -> None:
        made = by_row()
        assert code_of(lambda: made.partition("visits", by="ward", budget=ONE, k=1)) == "k_for_rows"

    def test_replace_pays_twice(self) -> None:
        whole = private(unit=dp.Replace(dp.Row()), budget=dp.PureDP(epsilon=3))
        whole.partition("visits", by="ward", budget=ONE)
        assert left(whole) == 1


class TestPeople:
    """Rows of one person may fall into several parts; bounding keeps the person in k of them."""

    def test_k_is_needed(self) -> None:
        whole = by_person()
        assert (
            code_of(lambda: whole.partition("visits", by="ward", budget=ONE)) == "parts_without_k"
        )
        assert used(whole) == 0

    @pytest.mark.parametrize(("k", "unit", "paid"), [(1, 0, 1), (2, 0, 2), (5, 0, 3), (2, 1, 4)])
    def test_the_parent_pays_for_each_part_that_a_person_may_be_in(
        self, k: int, unit: int, paid: int
    ) -> None:
        person = dp.Person("patient_id", max_rows=3)
        whole = private(unit=(person, dp.Replace(person))[unit], budget=dp.PureDP(epsilon=10))
        parts = whole.partition("visits", by="ward", budget=ONE, k=k)
        assert used(whole) == paid
        parts["A"].sql(COUNT, spend=ONE)
        assert used(whole) == paid

    def test_with_k_of_one_each_person_is_in_one_part(self) -> None:
        parts = by_person().partition("visits", by="ward", budget=ONE, k=1)
        people = "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
        assert sum(first(parts[w].sql(people, spend=HALF))["n"] for w in parts) == 60

    def test_all_questions_keep_a_person_in_the_same_parts(self) -> None:
        parts = by_person().partition("visits", by="ward", budget=ONE, k=1)
        query = "SELECT note, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY note"
        wide = by_person(unit=dp.Person("patient_id", max_rows=50))
        again = wide.partition("visits", by="ward", budget=dp.PureDP(epsilon=9), k=1)
        texts = [f"SELECT SUM(age) AS s FROM visits WHERE age > {least}" for least in range(20)]
        exact = [first(again["A"].sql(text, spend=HALF))["s"] for text in texts]
        assert exact == sorted(exact, reverse=True)
        assert code_of(lambda: parts["A"].sql(query, spend=HALF)) == "key_not_declared"

    def test_a_join_on_the_person_stays_within_the_part(self) -> None:
        made = curator(CROWD, PERSON, [(person, 1) for person in range(7)])
        parts = made.partition("t", by="w", budget=ONE, k=1)
        joined = "SELECT COUNT(DISTINCT t.pid) AS n FROM t JOIN u ON t.pid = u.pid"
        assert sum(first(parts[w].sql(joined, spend=HALF))["n"] for w in parts) == 7

    @pytest.mark.parametrize(
        "text",
        [
            "SELECT COUNT(*) AS n FROM u",
            "SELECT COUNT(*) AS n FROM u LEFT JOIN t ON t.pid = u.pid",
            "SELECT COUNT(*) AS n FROM (SELECT x FROM t UNION ALL SELECT v FROM u) AS q",
            "SELECT COUNT(*) AS n FROM (SELECT DISTINCT v FROM u) AS q",
        ],
    )
    def test_questions_that_see_people_outside_the_part_are_refused(self, text: str) -> None:
        made = curator(CROWD, PERSON, [(person, 1) for person in range(7)])
        part = made.partition("t", by="w", budget=ONE, k=1)["A"]
        assert code_of(lambda: part.sql(text, spend=HALF)) == "outside_the_part"
        assert code_of(lambda: part.explain(text)) == "outside_the_part"
        watch = part.open(AboveThreshold(threshold=1, sensitivity=50, epsilon=0.5), spend=HALF)
        assert code_of(lambda: watch.ask(text)) == "outside_the_part"
        assert code_of(lambda: part.batch({"a": text}, spend=HALF)) == "outside_the_part"

    def test_measurements_are_for_the_whole(self) -> None:
        part = by_person().partition("visits", by="ward", budget=ONE, k=1)["A"]
        anything: Any = None
        assert code_of(lambda: part.release(anything, spend=HALF)) == "part_not_whole"

    def test_children_of_a_part_stay_in_the_part(self) -> None:
        whole = by_person()
        part = whole.partition("visits", by="ward", budget=ONE, k=1)["A"]
        child = part.child("x", budget=HALF)
        assert first(child.sql(COUNT, spend=HALF)) == first(part.sql(COUNT, spend=HALF))
        assert used(part) == 0.5
        anything: Any = None
        assert code_of(lambda: child.release(anything, spend=HALF)) == "part_not_whole"

    def test_parts_of_parts(self) -> None:
        whole = by_person()
        part = whole.partition("visits", by="ward", budget=ONE, k=3)["A"]
        inner = part.partition("visits", by="age > 40", budget=dp.PureDP(epsilon=0.25), k=1)
        counts = [first(inner[key].sql(COUNT, spend=dp.PureDP(epsilon=0.25)))["n"] for key in inner]
        assert sum(counts) == first(part.sql(COUNT, spend=dp.PureDP(epsilon=0.25)))["n"]
        assert used(whole) == 3
        assert used(part) == 0.25  # without noise, questions are free

    def test_another_table_divides_the_whole_only(self) -> None:
        made = curator(CROWD, PERSON, [(person, 1) for person in range(7)])
        part = made.partition("t", by="w", budget=ONE, k=1)["A"]
        attempt = lambda: part.partition("u", by="v", budget=HALF, k=1)  # noqa: E731
        assert code_of(attempt) == "partition_of_another_table"


class TestOtherForms:
    """Tables that reach the person through another, joins by key, features, the other doors."""

    def shop(self) -> dp.Curator:
        orders = pl.DataFrame({"order_id": [1, 2, 3, 4], "customer": [1, 1, 2, 3]})
        items = pl.DataFrame(
            {"order_id": [1, 1, 2, 3, 4, 9], "kind": ["a", "b", "b", "b", "a", "a"], "n": [1] * 6}
        )
        declared: dict[str, Any] = {"kind": dp.Category(["a", "b"]), "n": dp.Number(0, 9)}
        through = dp.Person("order_id", via="orders.customer", max_rows=9)
        return dp.Curator(
            orders=dp.table(
                orders, unit=dp.Person("customer", max_rows=9), columns={}, snapshot="one"
            ),
            items=dp.table(items, unit=through, columns=declared, snapshot="one"),
            budget=dp.PureDP(epsilon=100),
            ledger=dp.ledger.Memory(),
            randomness=Noiseless(),
        )

    def test_people_are_found_through_another_table(self) -> None:
        parts = self.shop().partition("items", by="kind", budget=ONE, k=1)
        count = "SELECT COUNT(*) AS n FROM items"
        kept = {kind: first(parts[kind].sql(count, spend=HALF))["n"] for kind in parts}
        # Customer 1 has one a and two b, 2 has a b, 3 has an a; the last row is nobody's.
        assert kept in ({"a": 2, "b": 1}, {"a": 1, "b": 3})
        orders = "SELECT COUNT(*) AS n FROM orders"
        assert code_of(lambda: parts["a"].sql(orders, spend=HALF)) == "outside_the_part"
        joined = "SELECT COUNT(*) AS n FROM items JOIN orders ON items.order_id = orders.order_id"
        assert first(parts["b"].sql(joined, spend=HALF))["n"] >= kept["b"]

    def test_frames_ask_within_the_part(self) -> None:
        parts = by_row().partition("visits", by="ward", budget=ONE)
        made = parts["A"].frame("visits").agg(n=dp.count()).release(spend=HALF)
        assert first(made)["n"] == (visits()["ward"] == "A").sum()

    def test_bounds_are_estimated_within_the_part(self) -> None:
        frame = visits().with_columns(age=pl.when(pl.col("ward") == "A").then(3).otherwise(900))
        table = dp.table(frame, unit=dp.Row(), columns={"ward": COLUMNS["ward"]}, snapshot="one")
        whole = dp.Curator(visits=table, budget=dp.PureDP(epsilon=500), ledger=dp.ledger.Memory())
        parts = whole.partition("visits", by="ward", budget=dp.PureDP(epsilon=50))
        found = parts["A"].bounds("visits", "age", spend=dp.PureDP(epsilon=50))
        assert found.high is not None
        assert found.high <= 8

    def test_features_are_made_of_rows_in_the_part(self) -> None:
        parts = by_row().partition("visits", by="ward", budget=ONE)
        assert parts["A"].explain(COUNT) is not None
        people = by_person().partition("visits", by="ward", budget=ONE, k=1)
        text = (
            "SELECT SUM(q.n) AS s, COUNT(*) AS p FROM "
            "(SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS q"
        )
        rows = [first(people[ward].sql(text, spend=HALF)) for ward in people]
        assert sum(row["p"] for row in rows) == 60
        assert sum(row["s"] for row in rows) == 60  # each person has one visit in each ward


class TestReopening:
    def made(self, **changes: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = {"by": "ward", "budget": ONE, "k": 1, "name": "wards"}
        return {**chosen, **changes}

    def held(self, place: Path, frame: pl.DataFrame | None = None, **table: Any) -> dp.Curator:
        path = place.with_name("visits.parquet")
        if frame is not None or not path.exists():
            (visits() if frame is None else frame).write_parquet(path)
        unit = dp.Person("patient_id", max_rows=3)
        declared = dp.table(path, unit=unit, **{"columns": COLUMNS, **table})
        return dp.Curator(visits=declared, budget=dp.PureDP(epsilon=5), ledger=place)

    def test_finds_the_same_people_in_the_same_parts(self, tmp_path: Path) -> None:
        place = tmp_path / "visits.ledger"
        salts = []
        for _ in range(2):
            with self.held(place) as whole:
                parts = whole.partition("visits", **self.made())
                assignment = parts._division.assignment
                assert isinstance(assignment, SomeParts)
                salts.append(assignment.salt)
                parts["A"].sql(COUNT, spend=HALF, analyst=str(len(salts)))
                assert used(parts["A"]) == 0.5 * len(salts)
                assert used(whole) == 1
        assert salts[0] == salts[1]

    @pytest.mark.parametrize(
        "changes", [{"k": 2}, {"by": "age > 40"}, {"budget": HALF}, {"by": "lower(ward)"}]
    )
    def test_on_other_terms_is_refused(self, tmp_path: Path, changes: dict[str, Any]) -> None:
        place = tmp_path / "visits.ledger"
        with self.held(place) as whole:
            whole.partition("visits", **self.made())
            with pytest.raises(Mismatch) as refusal:
                whole.partition("visits", **self.made(**changes))
            assert refusal.value.code == "allotment_terms"

    def test_with_another_list_of_keys_is_refused(self, tmp_path: Path) -> None:
        place = tmp_path / "visits.ledger"
        with self.held(place) as whole:
            whole.partition("visits", **self.made())
        other = {**COLUMNS, "ward": dp.Category(["A", "B"])}
        with self.held(place, columns=other) as whole:
            attempt = lambda: whole.partition("visits", **self.made())  # noqa: E731
            assert code_of(attempt) == "allotment_terms"

    def test_over_other_data_is_refused_since_people_could_be_in_other_parts(
        self, tmp_path: Path
    ) -> None:
        place = tmp_path / "visits.ledger"
        with self.held(place) as whole:
            whole.partition("visits", **self.made())
        with self.held(place, visits(people=61)) as whole:
            attempt = lambda: whole.partition("visits", **self.made())  # noqa: E731
            assert code_of(attempt) == "allotment_terms"
            whole.partition("visits", **self.made(name="wards in march"))
            assert used(whole) == 2


@pytest.mark.parametrize(
    "by",
    ["ward, age > 40", "cost", "patient_id", "note", "ward HAVING COUNT(*) > 3", "ward LIMIT 1"],
)
def test_what_does_not_divide_a_table_is_refused(by: str) -> None:
    whole = by_row()
    with pytest.raises(InvalidParameter):
        whole.partition("visits", by=by, budget=ONE)
    assert used(whole) == 0


def test_an_unknown_table_is_refused() -> None:
    assert code_of(lambda: by_row().partition("nobody", by="ward", budget=ONE)) == "unknown_table"


def test_parts_in_rho_and_in_pairs_are_charged_per_component() -> None:
    person = dp.Person("patient_id", max_rows=3)
    whole = private(unit=person, budget=dp.ApproxDP(epsilon=4, delta=1e-5))
    whole.partition("visits", by="ward", budget=dp.ApproxDP(epsilon=1, delta=1e-6), k=2)
    assert used(whole) == 2
    assert used(whole, "delta") == pytest.approx(2e-6)
    concentrated = private(unit=dp.Replace(person), budget=dp.ZCDP(rho=4))
    concentrated.partition("visits", by="ward", budget=dp.PureDP(epsilon=1), k=1)
    assert float(used(concentrated, "rho")) == pytest.approx(2 * math.tanh(0.5))


# Neighbours ------------------------------------------------------------------------------------

rows = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from([*WARDS, None, "Z"]), st.integers(0, 9)),
    min_size=4,
    max_size=7,
)


salts = st.integers(0, 2**62 - 1)
FEW = settings(max_examples=2, phases=[Phase.generate])
MANY = settings(max_examples=40)


def breaches(rows: list[Row], unit: Any, k: int | None, salt: int) -> list[str]:
    """What the checker finds at one salt; people are asked about by every question."""
    people = unit == PERSON
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partition_module, "salt_of", lambda _: salt)
        return overspent(rows, unit, k, QUESTIONS if people else ROWS)


@pytest.mark.parametrize("k", [1, 2])
@FEW
@given(rows=rows, salt=salts)
def test_no_person_is_noticed_by_more_parts_than_were_paid_for(
    k: int, rows: list[Row], salt: int
) -> None:
    assert breaches(rows, PERSON, k, salt) == []


@pytest.mark.parametrize(
    ("unit", "k"), [(dp.Row(), None), (dp.Replace(dp.Row()), None), (dp.Replace(PERSON), 1)]
)
@FEW
@given(rows=rows, salt=salts)
def test_nor_is_a_row_nor_an_exchange(unit: Any, k: int | None, rows: list[Row], salt: int) -> None:
    assert breaches(rows, unit, k, salt) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("unit", "k"), [(PERSON, 1), (PERSON, 2), (dp.Row(), None), (dp.Replace(PERSON), 2)]
)
@MANY
@given(rows=rows, salt=salts)
def test_nor_in_many_generated_tables(unit: Any, k: int | None, rows: list[Row], salt: int) -> None:
    assert breaches(rows, unit, k, salt) == []


def _fresh_salts(patched: pytest.MonkeyPatch) -> None:
    """A salt for every question instead of one for the partition."""
    real, made = parts_module.Division.keep_part_of_scan, {"number": 0}

    def kept(self: Any, scan: Any, below: Any, value: object) -> PartitionFilter:
        made["number"] += 1
        assignment = replace(self.assignment, salt=made["number"] % 16)
        return replace(real(self, scan, below, value), assignment=assignment)

    patched.setattr(parts_module.Division, "keep_part_of_scan", kept)


def _unbounded(patched: pytest.MonkeyPatch) -> None:
    """Nobody is cut down to k parts."""
    patched.setattr(partition_module, "SomeParts", lambda *_: EveryPart())


def _once(patched: pytest.MonkeyPatch) -> None:
    """The maximum over the parts is paid, though a person is in k of them."""
    real = division_module.price_of_parts
    patched.setattr(granted_module, "price_of_parts", lambda a, b, unit, _: real(a, b, unit, 1))


def _not_doubled(patched: pytest.MonkeyPatch) -> None:
    """Under Replace, as if one unit only came or went."""
    patched.setattr(division_module, "swaps", lambda _: 1)


def _unconfined(patched: pytest.MonkeyPatch) -> None:
    """Questions may see people outside the part."""
    patched.setattr(parts_module, "confined", lambda _: True)


OUTSIDE = ("SELECT COUNT(*) AS n FROM t LEFT JOIN u ON t.pid = u.pid", "SELECT SUM(v) AS s FROM u")


@pytest.mark.parametrize(
    ("twin", "unit", "k", "questions"),
    [
        (_fresh_salts, PERSON, 1, QUESTIONS[:2]),
        (_unbounded, PERSON, 1, QUESTIONS[:1]),
        (_once, PERSON, 2, QUESTIONS[:1]),
        (_not_doubled, dp.Replace(PERSON), 1, QUESTIONS[:1]),
        (_not_doubled, dp.Replace(dp.Row()), None, ROWS[:1]),
        (_unconfined, PERSON, 1, OUTSIDE),
    ],
)
def test_broken_twins_are_caught(
    twin: Callable[[pytest.MonkeyPatch], None], unit: Any, k: int | None, questions: tuple[str, ...]
) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partition_module, "salt_of", lambda _: 7)
        twin(patched)
        assert overspent(CROWD[:15], unit, k, questions) != []


def test_the_real_code_passes_where_the_twins_fail() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(partition_module, "salt_of", lambda _: 7)
        assert overspent(CROWD[:15], PERSON, 1, QUESTIONS[:2]) == []
        assert overspent(CROWD[:15], PERSON, 2, QUESTIONS[:1]) == []
        assert overspent(CROWD[:15], dp.Replace(PERSON), 1, QUESTIONS[:1]) == []
