"""Geometric means: exact without noise, covered by their intervals, refused without a bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise.randomness import SYSTEM, Noiseless, Seeded, Source
from discreet.relational.frontends.frame.term import Term

LOW, HIGH = 0.5, 400.0
KEYS = [f"k{number:02d}" for number in range(40)]
PURE = dp.PureDP(epsilon=1)


def rows(size: int = 8_000) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {
        "k": rng.choice(KEYS, size),
        "two": rng.choice(["a", "b"], size),
        "x": np.where(rng.random(size) < 0.1, np.nan, np.exp(rng.normal(2, 1.5, size))),
        "n": rng.integers(1, 50, size),
    }


def curator(randomness: Source = SYSTEM) -> dp.Curator:
    columns: dict[str, Any] = {
        "k": dp.Category(KEYS),
        "two": dp.Category(["a", "b"]),
        "x": dp.Number(LOW, HIGH),
        "n": dp.Number(1, 50),
    }
    return dp.Curator(
        t=dp.table(rows(), unit=dp.Row(), columns=columns),
        budget=dp.PureDP(epsilon=1e6),
        ledger=dp.ledger.Memory(),
        randomness=randomness,
    )


def truth(key: str = "k", column: str = "x") -> dict[object, float]:
    """Of clamped values that are not NULL, by numpy alone."""
    table = rows()
    values = np.clip(table[column].astype(float), LOW, HIGH) if column == "x" else table[column]
    return {
        str(name): float(np.exp(np.nanmean(np.log(values[table[key] == name]))))
        for name in np.unique(table[key])
    }


def shown(release: dp.Release, key: str, name: str) -> Mapping[object, float | None]:
    return dict(zip(release.keys[key], release[name].values, strict=True))


def test_without_noise_it_is_the_geometric_mean_of_clamped_values() -> None:
    made = curator(Noiseless())
    text = "SELECT k, GEOMEAN(x) AS g, GEOMETRIC_MEAN(n) AS m FROM t GROUP BY k"
    release = made.sql(text, spend=PURE)
    assert shown(release, "k", "g") == pytest.approx(truth(), rel=1e-6)
    assert shown(release, "k", "m") == pytest.approx(truth(column="n"), rel=1e-6)


def test_a_filter_leaves_rows_out_and_an_empty_group_has_no_mean() -> None:
    made = curator(Noiseless())
    text = "SELECT GEOMEAN(x) FILTER (WHERE n > 25) AS g, GEOMEAN(x) FILTER (WHERE n > 60) AS e"
    release = made.sql(f"{text} FROM t", spend=PURE)
    table = rows()
    chosen = np.clip(table["x"][table["n"] > 25], LOW, HIGH)
    wanted = math.exp(np.nanmean(np.log(chosen)))
    assert release["g"].values[0] == pytest.approx(wanted, rel=1e-6)
    assert release["e"].values == (None,)
    assert release["e"].lower == (LOW,)
    assert release["e"].upper == (HIGH,)


def test_a_mean_beside_it_shares_the_count_and_the_price_is_that_of_two_sums() -> None:
    planned = curator().explain("SELECT AVG(x) AS a, GEOMEAN(x) AS g FROM t", spend=PURE)
    assert [measure.measure.split(" of")[0] for measure in planned.measures] == [
        "number",
        "centred sum",
        "centred sum",
    ]
    width = (math.log(HIGH) - math.log(LOW)) / 2
    assert planned.measures[2].l1 == pytest.approx(width, rel=1e-9)


def misses(made: dp.Curator, rounds: int, narrower: float = 1.0) -> tuple[int, int, int]:
    """How many intervals do not hold the truth, of how many, and how many say nothing."""
    wanted, off, idle = truth(), 0, 0
    for number in range(rounds):
        text = f"SELECT k, GEOMEAN(x) AS g FROM t WHERE n > {-number} GROUP BY k"
        release = made.sql(text, spend=dp.PureDP(epsilon=0.5))
        answer = release["g"]
        assert answer.lower is not None
        assert answer.upper is not None
        found = zip(release.keys["k"], answer.values, answer.lower, answer.upper, strict=True)
        for key, value, low, high in found:
            idle += low <= LOW and high >= HIGH
            assert value is not None
            start, end = (value + (side - value) * narrower for side in (low, high))
            off += not start <= wanted[key] <= end
    return off, rounds * len(KEYS), idle


def test_intervals_cover_as_often_as_they_say() -> None:
    """False alarm in one run of 10**9: misses of 95 % intervals are at most binomial."""
    off, size, idle = misses(curator(), 25)
    assert idle < size / 10
    assert off <= binom.isf(1e-9, size, 0.05)


def test_intervals_of_half_the_width_would_be_noticed() -> None:
    """The negative control of the test above; it fails to notice in one run of 10**9."""
    off, size, _ = misses(curator(), 25, narrower=0.5)
    assert off > binom.isf(1e-9, size, 0.05)


@pytest.mark.parametrize("text", ["x - 0.5", "n - 1", "x - 3", "n > 3", "-x", "0 * n"])
def test_values_that_may_be_zero_are_refused_before_anything_is_spent(text: str) -> None:
    made = curator()
    with pytest.raises(DiscreetError) as refusal:
        made.sql(f"SELECT GEOMEAN({text}) AS g FROM t", spend=PURE)
    assert refusal.value.code == "bound_not_positive"
    assert "greatest(x" in str(refusal.value)
    assert made.spent == curator().spent


def test_values_near_the_largest_double_are_like_any_others() -> None:
    made = curator(Noiseless())
    ask = "SELECT two, GEOMEAN(x * 4e305) AS g FROM t"
    wanted = {name: value * 4e305 for name, value in truth("two").items()}
    release = made.sql(f"{ask} GROUP BY two", spend=PURE)
    assert shown(release, "two", "g") == pytest.approx(wanted, rel=1e-6)
    none = made.sql(f"{ask} WHERE n > 60 GROUP BY two", spend=PURE)["g"]
    assert none.upper == (HIGH * 4e305,) * 2


def test_the_expected_error_is_the_one_that_comes() -> None:
    made = curator(Seeded(5))
    text = "SELECT two, GEOMEAN(x) AS g FROM t GROUP BY two"
    expected = made.preview(text, spend=PURE)["g"]
    assert expected.half_width is None
    sizes = dict(expected.by_size)
    assert sizes[10] <= HIGH - LOW
    assert sizes[10_000] < sizes[1_000] < sizes[100]
    answer = made.sql(text, spend=PURE)["g"]
    assert answer.lower is not None
    assert answer.upper is not None
    widths = [(high - low) / 2 for low, high in zip(answer.lower, answer.upper, strict=True)]
    assert max(widths) <= sizes[1_000]


def test_accuracy_buys_it_where_groups_are_known_to_be_large() -> None:
    made = curator()
    text = "SELECT two, GEOMEAN(x) AS g FROM t GROUP BY two"
    wanted = {"g": dp.Within(5)}
    with pytest.raises(DiscreetError, match="accuracy_depends_on_data"):
        made.sql(text, accuracy=wanted)
    answer = made.sql(text, accuracy=wanted, rows_at_least=3_000)["g"]
    assert answer.lower is not None
    assert answer.upper is not None
    assert all(high - low < 10 for low, high in zip(answer.lower, answer.upper, strict=True))


def test_questions_of_a_batch_agree_on_it() -> None:
    made = curator(Noiseless())
    batch = made.batch(
        {
            "all": "SELECT GEOMEAN(x) AS g FROM t",
            "by_two": "SELECT two, GEOMEAN(x) AS g FROM t GROUP BY two",
        },
        spend=PURE,
    )
    assert "least-squares" in batch["by_two"]["g"].note
    assert shown(batch["by_two"], "two", "g") == pytest.approx(truth("two"), rel=1e-6)
    lower, upper = batch["all"]["g"].lower, batch["all"]["g"].upper
    assert lower is not None
    assert upper is not None
    (value,) = batch["all"]["g"].values
    assert value is not None
    assert LOW <= lower[0] <= value <= upper[0] <= HIGH


def test_columns_are_computed_from_it_and_answers_are_ordered_by_it() -> None:
    made = curator(Noiseless())
    text = "SELECT two, 2 * GEOMEAN(x) AS d FROM t GROUP BY two HAVING GEOMEAN(x) > 1"
    release = made.sql(f"{text} ORDER BY GEOMEAN(x) DESC LIMIT 1", spend=PURE)
    (value,) = release["d"].values
    assert value == pytest.approx(2 * max(truth("two").values()), rel=1e-6)
    assert release["d"].lower is not None


def test_frames_ask_for_it_by_an_expression() -> None:
    made = curator(Noiseless())
    term = dp.expr("GEOMEAN(x)")
    assert isinstance(term, Term)
    frame = made.frame("t").group_by("two").agg(g=term)
    assert shown(made.sql(frame, spend=PURE), "two", "g") == pytest.approx(truth("two"), rel=1e-6)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("GEOMEAN()", "unsupported_sql"),
        ("GEOMEAN(x, n)", "unsupported_sql"),
        ("GEOMEAN(DISTINCT x)", "unsupported_sql"),
        ("GEOMEAN(two)", "type_clash"),
        ("SUM(GEOMEAN(x))", "unsupported_sql"),
        ("GEOMEAN(x) OVER ()", "unsupported_sql"),
    ],
)
def test_it_is_refused_as_other_aggregates_are(text: str, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        curator().sql(f"SELECT {text} AS g FROM t", spend=PURE)
    assert refusal.value.code == code
    assert "anonymous" not in str(refusal.value).lower()
