"""GROUP BY a column whose values nobody listed: what is named, what it costs, what stays secret."""

from __future__ import annotations

import logging
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.audit import FalseAlarms
from discreet.core.errors import DiscreetError, Exhausted
from discreet.core.events.event import from_json
from discreet.mechanisms.key_selection import GeometricThreshold, OptimalSelection
from discreet.noise import Seeded
from discreet.relational.engines.duckdb.engine import DuckDB
from tests.curator.keys.people import COLUMNS, SPEND, curator, still, words

ALPHA = FalseAlarms(total=1e-9, tests=2)
BY_WORD = "SELECT word, COUNT(*) AS n FROM t GROUP BY word"
MUCH = dp.ApproxDP(epsilon=9, delta=1e-3)
PEOPLE = "SELECT word, COUNT(DISTINCT id) AS n FROM t GROUP BY word"


def named(release: dp.Release) -> dict[Any, Any]:
    (keys,) = release.keys.values()
    return dict(zip(keys, release.answers[0].values, strict=True))


class TestNamed:
    def test_keys_of_many_people_with_their_counts_sorted_and_none_of_few(self) -> None:
        release = still(words({"tea": 30, "": 14, "rare": 3, "coffee": 50})).sql(
            BY_WORD, spend=SPEND
        )
        assert release.keys == {"word": ("", "coffee", "tea")}
        assert named(release) == {"": 14, "coffee": 50, "tea": 30}

    @pytest.mark.parametrize(
        ("key", "found"),
        [
            ("number", (3, 6)),
            ("day", (date(2024, 1, 4), date(2024, 1, 7))),
            ("upper(word)", ("COFFEE", "TEA")),
            ("substr(word, 1, 1)", ("c", "t")),
        ],
    )
    def test_whole_numbers_days_and_expressions(self, key: str, found: tuple[Any, ...]) -> None:
        release = still(words({"tea": 30, "coffee": 50})).sql(
            f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY {key}", spend=SPEND
        )
        assert release.keys == {"k": found}
        assert dp.Release.from_json(release.to_json()) == release

    def test_null_is_no_key_but_a_listed_null_beside_one_is(self) -> None:
        frame = words({"tea": 90})
        frame = frame.with_columns(
            word=pl.when(pl.int_range(pl.len()) < 45).then(None).otherwise(pl.col("word"))
        )
        asked = still(frame)
        assert named(asked.sql(BY_WORD, spend=SPEND)) == {"tea": 45}
        both = asked.sql("SELECT word, ward, COUNT(*) AS n FROM t GROUP BY word, ward", spend=SPEND)
        assert both.keys == {"word": ("tea",) * 3, "ward": ("A", "B", None)}

    def test_names_alone_by_the_optimal_rule(self) -> None:
        asked = still(words({"tea": 12, "few": 11}))
        release = asked.sql("SELECT word FROM t GROUP BY word", spend=SPEND)
        assert release.keys == {"word": ("tea",)}
        assert release.answers == ()
        assert len(release) == 1
        assert "OptimalSelection" in str(
            asked.preview("SELECT word FROM t GROUP BY word", spend=SPEND)
        )
        assert dp.Release.from_json(release.to_json()) == release

    def test_nothing_may_be_found(self) -> None:
        for frame in (words({"a": 2, "b": 1}), words({"a": 1}).clear()):
            release = still(frame).sql(
                "SELECT word, COUNT(*) AS n, SUM(cost) AS s, MIN(cost) AS m FROM t GROUP BY word",
                spend=SPEND,
            )
            assert len(release) == 0
            assert "0 discovered" in str(release)
            assert dp.Release.from_json(release.to_json()) == release

    def test_other_aggregates_are_about_named_keys_and_released_values_are_sorted(self) -> None:
        asked = still(words({"tea": 300, "coffee": 500, "rare": 2}))
        release = asked.sql(
            "SELECT word, COUNT(*) AS n, AVG(cost) AS a, MAX(cost) AS m, SUM(cost) / COUNT(*) AS r "
            "FROM t WHERE cost < 50 GROUP BY word HAVING COUNT(*) > 10 ORDER BY n DESC LIMIT 1",
            spend=dp.ApproxDP(epsilon=8, delta=1e-5),
        )
        assert release.keys == {"word": ("coffee",)}
        assert release["n"].values == (250,)
        assert release["a"].values[0] == pytest.approx(24.5, abs=0.1)

    def test_a_public_minimum(self) -> None:
        columns = COLUMNS | {"word": dp.Discovered(min_people=20)}
        asked = still(words({"a": 30, "b": 31, "c": 19}), columns=columns)
        assert set(named(asked.sql(BY_WORD, spend=SPEND))) == {"b"}
        assert "never with fewer than 20" in str(asked.preview(BY_WORD, spend=SPEND))

    def test_at_the_rate_the_law_says(self) -> None:
        """40 keys of each size under real noise; false alarm rate 1e-9."""
        frame = words({f"{size}-{copy}": size for size in (6, 12, 14) for copy in range(100)})
        asked = curator(frame, randomness=Seeded(7))
        for text, rule in (
            (BY_WORD, GeometricThreshold(epsilon=1, delta=1e-5)),
            ("SELECT word FROM t GROUP BY word", OptimalSelection(epsilon=1, delta=1e-5)),
        ):
            found = asked.sql(text, spend=SPEND).keys["word"]
            for size in (6, 12, 14):
                hits = sum(str(word).startswith(f"{size}-") for word in found)
                level = 1 - ALPHA.alpha("law") / 6
                low, high = binom.interval(level, 100, rule.keep_probability(size))
                assert low <= hits <= high


class TestPeople:
    def test_people_are_counted_not_rows(self) -> None:
        """One person with fifty rows of a word: never named. The twin that counts rows names it."""
        frame = pl.concat([words({"tea": 100}), words({"secret": 1}, rows_each=50)])
        unit = dp.Person("id", max_rows=100, max_groups=3)
        release = still(frame, unit).sql(PEOPLE, spend=SPEND)
        assert named(release) == {"tea": 100}
        twin = still(frame, dp.Row()).sql(BY_WORD, spend=SPEND)
        assert "secret" in named(twin)

    def test_each_person_counts_in_few_keys_chosen_by_content(self) -> None:
        """Sixty people with the same ten words, at most two each: 120 in all, in any order."""
        rows = [(person, f"w{word}") for person in range(60) for word in range(10)]
        frame = words({"x": 600}).with_columns(
            id=pl.Series([person for person, _ in rows]), word=pl.Series([word for _, word in rows])
        )
        unit = dp.Person("id", max_groups=2)
        spend = dp.ApproxDP(epsilon=50, delta=1e-2)
        for each in (frame, frame.reverse()):
            assert sum(named(still(each, unit).sql(PEOPLE, spend=spend)).values()) == 120

    @pytest.mark.parametrize("unit", [dp.Person("id", max_groups=3), dp.Person("id", max_rows=3)])
    @pytest.mark.parametrize("relation", [lambda unit: unit, dp.Replace])
    def test_the_event_says_in_how_many_keys(self, unit: Any, relation: Any) -> None:
        release = curator(words({"tea": 100}), relation(unit)).sql(PEOPLE, spend=SPEND)
        assert release.event.groups == 3  # type: ignore[attr-defined]
        assert release.event.swaps == (2 if relation is dp.Replace else 1)  # type: ignore[attr-defined]
        assert from_json(release.event.to_json()) == release.event

    def test_rows_are_counted_from_the_rest_of_the_spend(self) -> None:
        unit = dp.Person("id", max_rows=4, max_groups=2)
        asked = still(words({"tea": 100}, rows_each=3), unit)
        release = asked.sql(
            "SELECT word, COUNT(*) AS n, COUNT(DISTINCT id) AS p FROM t GROUP BY word", spend=SPEND
        )
        assert release["n"].values == (300,)
        assert release["p"].values == (100,)

    @pytest.mark.parametrize(
        ("unit", "text", "code"),
        [
            (dp.Person("id"), PEOPLE, "unbounded_person"),
            (
                dp.Row(),
                "SELECT w, COUNT(*) AS n FROM (SELECT word AS w FROM t UNION ALL SELECT word"
                " FROM t) AS u GROUP BY w",
                "keys_not_finite",
            ),
            (dp.Row(), "SELECT id, COUNT(*) AS n FROM t GROUP BY id", "key_not_declared"),
            (
                dp.Person("id", max_groups=2),
                "SELECT id, word FROM t GROUP BY id, word",
                "key_is_identifier",
            ),
        ],
    )
    def test_refused_freely(self, unit: Any, text: str, code: str) -> None:
        asked = curator(words({"tea": 100}), unit)
        with pytest.raises(DiscreetError) as refusal:
            asked.sql(text, spend=SPEND)
        assert refusal.value.code == code
        assert asked.spent.epsilon == 0  # type: ignore[attr-defined]


class TestPaid:
    def test_the_charge_is_the_spend_to_the_last_step(self) -> None:
        asked = curator(words({"tea": 100}), budget=dp.ApproxDP(epsilon=1, delta=1e-4))
        spend = dp.ApproxDP(epsilon=0.1, delta=1e-5)
        for number, text in enumerate(
            [
                BY_WORD,
                "SELECT word FROM t GROUP BY word",
                "SELECT word, COUNT(*) AS n, AVG(cost) AS a, MAX(cost) AS m FROM t GROUP BY word",
                "SELECT word, SUM(cost) AS s FROM t GROUP BY word",
            ]
            + [f"SELECT word, MIN(cost + {n}) AS m FROM t GROUP BY word" for n in range(6)]
        ):
            asked.sql(text, spend=spend)
            assert asked.spent.epsilon == pytest.approx(0.1 * (number + 1), rel=1e-12)  # type: ignore[attr-defined]
        with pytest.raises(Exhausted):
            asked.sql(
                "SELECT number FROM t GROUP BY number", spend=dp.ApproxDP(epsilon=0.01, delta=1e-9)
            )

    def test_the_same_question_is_answered_from_the_ledger(self) -> None:
        asked = curator(words({"tea": 100, "x": 40}))
        text = "SELECT word, day, COUNT(*) AS n, AVG(cost) AS a FROM t GROUP BY word, day"
        first = asked.sql(text, spend=SPEND)
        spent = asked.spent
        assert asked.sql(text, spend=SPEND).to_json() == first.to_json()
        again = asked.sql(text, spend=SPEND, confidence=0.5)
        assert again.keys == first.keys
        assert again["n"].values == first["n"].values
        assert asked.spent == spent

    @pytest.mark.parametrize("spend", [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=0)])
    def test_no_delta_no_keys(self, spend: Any) -> None:
        asked = curator(words({"tea": 100}))
        with pytest.raises(DiscreetError) as refusal:
            asked.sql(BY_WORD, spend=spend)
        assert refusal.value.code == "keys_need_delta"
        assert asked.spent.delta == 0  # type: ignore[attr-defined]

    @pytest.mark.parametrize(
        ("budget", "spend"),
        [
            (dp.ZCDP(rho=1), dp.ZCDP(rho=0.1)),
            (dp.ZCDP(rho=1), SPEND),
            (dp.RenyiDP(alpha=8, epsilon=5), dp.RenyiDP(alpha=8, epsilon=1)),
            (dp.ApproxDP(epsilon=3, delta=1e-5, by=dp.ZCDP), SPEND),
            (dp.ApproxZCDP(rho=1, delta=1e-5), dp.ZCDP(rho=0.1)),
        ],
    )
    def test_a_budget_that_sets_no_delta_apart_names_none(self, budget: Any, spend: Any) -> None:
        asked = curator(words({"tea": 100}), budget=budget)
        with pytest.raises(DiscreetError) as refusal:
            asked.sql(BY_WORD, spend=spend)
        assert refusal.value.code == "keys_need_delta"

    def test_rho_and_the_delta_set_apart_add_up_durably(self, tmp_path: Any) -> None:
        path, budget = tmp_path / "ledger", dp.ApproxZCDP(rho=1, delta=1e-6)
        frame, spend = words({"tea": 100}), dp.ApproxZCDP(rho=0.25, delta=5e-7)
        unit = dp.Person("id", max_groups=3, max_rows=5)
        with curator(frame, unit, budget, ledger=path) as asked:
            release = asked.sql(
                "SELECT word, COUNT(DISTINCT id) AS n, COUNT(*) AS m FROM t GROUP BY word",
                spend=spend,
            )
            assert release.guarantee == dp.ApproxZCDP(
                rho=Fraction(1, 4), delta=Fraction(5, 10**7), unit=unit
            )
        with curator(frame, unit, budget, ledger=path) as asked:
            assert asked.spent.rho <= 0.25  # type: ignore[attr-defined]
            assert asked.spent.rho == pytest.approx(0.25)  # type: ignore[attr-defined]
            assert asked.spent.delta == pytest.approx(5e-7)  # type: ignore[attr-defined]
            asked.sql(PEOPLE, spend=spend)
            with pytest.raises(Exhausted):
                asked.sql("SELECT number FROM t GROUP BY number", spend=spend)
            asked.sql("SELECT COUNT(*) AS n FROM t", spend=dp.ZCDP(rho=0.25))
            asked.ledger.verify()
        for other in (dp.ApproxZCDP(rho=1, delta=1e-5), dp.ZCDP(rho=1)):
            with pytest.raises(DiscreetError) as refusal:
                curator(frame, unit, other, ledger=path)
            assert refusal.value.code == "ledger_terms"

    def test_half_of_a_converted_delta_is_set_apart(self) -> None:
        budget = dp.ApproxDP(epsilon=3, delta=1e-6, by=dp.ApproxZCDP)
        asked = curator(words({"tea": 100}), budget=budget)
        assert asked.remaining.delta == pytest.approx(5e-7)  # type: ignore[attr-defined]
        asked.sql(BY_WORD, spend=dp.ApproxZCDP(rho=0.05, delta=1e-7))
        asked.sql(BY_WORD, spend=dp.ApproxDP(epsilon=0.1, delta=1e-7))
        assert asked.spent.delta == pytest.approx(2e-7)  # type: ignore[attr-defined]
        assert asked.spent.rho == pytest.approx(0.05 + 0.1**2 / 2)  # type: ignore[attr-defined]


class TestStated:
    def test_preview_release_and_statement_say_what_it_takes(self) -> None:
        asked = curator(words({"tea": 100}))
        preview = asked.preview(BY_WORD, spend=SPEND)
        assert preview.cells is None
        assert "1/2 at 12 people and 95 % at 14" in str(preview)
        release = asked.sql(BY_WORD, spend=SPEND)
        assert "1 discovered for epsilon 1, delta 1e-05" in str(release)
        assert release.statement["keys"]["delta"] == pytest.approx(1e-5)
        assert release.statement["keys"]["kept_half_at"] == 12
        assert "lean upward" in release["n"].note
        assert "keys to be discovered" in str(asked.explain(BY_WORD))
        assert "discovered" in asked.explain(BY_WORD, spend=SPEND).__str__()

    def test_an_accuracy_cannot_be_bought(self) -> None:
        with pytest.raises(DiscreetError) as refusal:
            curator(words({"tea": 1})).sql(BY_WORD, accuracy=dp.Within(5))
        assert refusal.value.code == "accuracy_depends_on_data"

    @pytest.mark.parametrize("unusable", ["cost", "moment"])
    def test_only_text_whole_numbers_and_days(self, unusable: str) -> None:
        frame = words({"tea": 1}).with_columns(moment=pl.col("day").cast(pl.Datetime))
        with pytest.raises(DiscreetError) as refusal:
            curator(frame, columns={unusable: dp.Discovered()})
        assert refusal.value.code == "type_clash"

    def test_batches_refuse_freely(self) -> None:
        asked = curator(words({"tea": 100}))
        with pytest.raises(DiscreetError) as refusal:
            asked.batch({"a": BY_WORD, "b": "SELECT COUNT(*) AS n FROM t"}, spend=SPEND)
        assert refusal.value.code == "batch_keys"
        assert asked.spent.epsilon == 0  # type: ignore[attr-defined]

    def test_no_error_or_log_holds_a_key(self, caplog: pytest.LogCaptureFixture) -> None:
        class Failing(DuckDB):
            def numbers(self, text: str) -> Any:
                raise RuntimeError

        asked = curator(words({"unnamable": 100}), engine=Failing())
        with caplog.at_level(logging.DEBUG), pytest.raises(DiscreetError) as refusal:
            asked.sql("SELECT word, SUM(cost) AS s FROM t GROUP BY word", spend=SPEND)
        assert refusal.value.code == "engine_failed"
        assert "unnamable" not in str(refusal.value) + caplog.text

    def test_the_order_is_that_of_the_values_never_the_engines(self) -> None:
        frame = words({f"w{n:03}": 20 for n in range(50)})
        for each in (frame, frame.reverse(), frame.sample(fraction=1.0, shuffle=True, seed=3)):
            keys = still(each).sql(BY_WORD, spend=SPEND).keys["word"]
            assert list(keys) == sorted(np.unique(each["word"].to_numpy()).tolist())


def test_many_named_keys_and_strange_ones_are_asked_about() -> None:
    """More keys than are written as text, of every kind, and text that would end a statement."""
    strange = {"nul\0here": 20, "quote's": 20, 'double"': 20, "ünï 😀": 20, "line\nbreak": 20}
    frame = words(strange | {f"w{n}": 15 for n in range(1500)})
    asked = still(frame)
    release = asked.sql("SELECT word, SUM(cost) AS s FROM t GROUP BY word", spend=MUCH)
    expected = dict(frame.group_by("word").agg(pl.col("cost").sum()).iter_rows())
    assert {key: round(s, 3) for key, s in named(release).items()} == expected
    few = still(words(strange)).sql("SELECT word, SUM(cost) AS s FROM t GROUP BY word", spend=MUCH)
    assert set(named(few)) == set(strange)
    frame = frame.with_columns(
        number=pl.int_range(pl.len()) // 15,
        day=pl.date(2000, 1, 1) + pl.duration(days=pl.int_range(pl.len()) // 15),
    )
    for key in ("number", "day"):
        found = still(frame).sql(f"SELECT {key}, SUM(cost) AS s FROM t GROUP BY {key}", spend=MUCH)
        expected = dict(frame.group_by(key).agg(pl.col("cost").sum()).iter_rows())
        assert {k: round(s, 3) for k, s in named(found).items()} == expected
