"""The first k keys without counts: when it ranks, what it costs, its law, and a broken twin."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import events
from discreet.audit import min_epsilon
from discreet.noise import Noiseless, Seeded
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.engine import DuckDB
from discreet.relational.planning.discovered_keys import planned_query_for
from discreet.relational.planning.top_k import Ranking
from discreet.relational.sql.translate import query_from

KEYS = [f"k{n}" for n in range(8)]
TOP = "SELECT key FROM t GROUP BY key ORDER BY COUNT(DISTINCT id) DESC LIMIT 3"
UNIT = dp.Person("id", max_rows=20, max_groups=8)


def frame() -> pl.DataFrame:
    """Person i has the keys k0 .. k(7 - i % 8): k0 is everybody's, k7 that of one in eight."""
    rows = [(person, key) for person in range(160) for key in KEYS[: 8 - person % 8]]
    return pl.DataFrame({"id": [p for p, _ in rows], "key": [key for _, key in rows]})


def curator(unit: Any = UNIT, **more: Any) -> dp.Curator:
    table = dp.table(frame(), unit=unit, columns={"key": dp.Category(KEYS)}, snapshot="one")
    given = {"budget": dp.PureDP(epsilon=100), "ledger": dp.ledger.Memory()}
    return dp.Curator(t=table, **(given | more))


def test_the_first_keys_in_order() -> None:
    release = curator(randomness=Noiseless()).sql(TOP, spend=dp.PureDP(epsilon=1))
    assert release.keys == {"key": ("k0", "k1", "k2")}
    assert release.answers == ()
    assert dp.Release.from_json(release.to_json()) == release


def test_the_price_is_one_choice_for_each_key_however_many_keys_a_person_has() -> None:
    asked = curator()
    release = asked.sql(TOP, spend=dp.PureDP(epsilon=0.3))
    assert release.event.event == events.PermuteAndFlip(  # type: ignore[attr-defined]
        epsilon=Fraction(1, 10)
    )
    assert release.event.times == 3  # type: ignore[attr-defined]
    assert asked.spent.epsilon == pytest.approx(0.3, rel=1e-15)  # type: ignore[attr-defined]
    assert "the first 3" in str(release)
    assert "within" in str(asked.preview(TOP, spend=dp.PureDP(epsilon=0.3)))
    assert asked.sql(TOP, spend=dp.PureDP(epsilon=0.3)).to_json() == release.to_json()


def test_under_rho_the_exponential_mechanism_is_cheaper() -> None:
    asked = curator(budget=dp.ZCDP(rho=1))
    release = asked.sql(TOP, spend=dp.ZCDP(rho=0.1))
    assert isinstance(release.event.event, events.Exponential)  # type: ignore[attr-defined]
    # the split is by epsilon**2 / 8, of which bounded range keeps a little less
    assert 0.099 < asked.spent.rho <= 0.1  # type: ignore[attr-defined]


def test_noise_on_all_counts_where_people_have_few_keys() -> None:
    asked = curator(dp.Row())
    text = TOP.replace("DISTINCT id", "*")
    release = asked.sql(text, spend=dp.PureDP(epsilon=5))
    assert len(release) == 3
    assert "ranked" not in release.statement["keys"]


@pytest.mark.parametrize(
    "text",
    [
        TOP.replace("DESC", "ASC"),
        TOP.replace("LIMIT 3", ""),
        TOP + " OFFSET 1",
        TOP.replace("SELECT key", "SELECT key, COUNT(DISTINCT id) AS n"),
        TOP.replace("GROUP BY key", "GROUP BY key HAVING COUNT(DISTINCT id) > 3"),
    ],
)
def test_anything_else_is_an_ordinary_question(text: str) -> None:
    assert "ranked" not in str(curator().sql(text, spend=dp.PureDP(epsilon=1)).statement)


def ranking(unit: Any = UNIT, spend: Any = None, **more: Any) -> Ranking:
    table = dp.table(frame(), unit=unit, columns={"key": dp.Category(KEYS)})
    database = Database(DuckDB(), {"t": table})
    made = planned_query_for(query_from(TOP, database), spend or dp.PureDP(epsilon=1), 1000, **more)
    assert isinstance(made, Ranking)
    return made


def peeled(counts: tuple[int, ...], rate: float, picks: int) -> dict[tuple[int, ...], float]:
    """The law of the exponential mechanism peeled ``picks`` times, by enumeration."""
    distribution = {}
    for order in permutations(range(len(counts)), picks):
        chance, left = 1.0, list(range(len(counts)))
        for place in order:
            weights = [math.exp(rate * counts[i]) for i in left]
            chance *= math.exp(rate * counts[place]) / sum(weights)
            left.remove(place)
        distribution[order] = chance
    return distribution


def test_a_person_in_all_keys_loses_no_more_than_epsilon() -> None:
    """All counts move by one together: the law does not change at all; some: within epsilon."""
    picks, epsilon = 2, 0.9
    rate, here = epsilon / picks, (5, 4, 4, 1)
    for moved in [(6, 5, 5, 2), (6, 4, 4, 1), (5, 5, 5, 1), (5, 4, 4, 2)]:
        p, q = peeled(here, rate, picks), peeled(moved, rate, picks)
        assert min_epsilon(list(p.values()), list(q.values())) <= epsilon + 1e-12
    both = peeled((6, 5, 5, 2), rate, picks)
    assert list(both.values()) == pytest.approx(list(peeled(here, rate, picks).values()))


def test_the_same_rate_under_replace_is_a_broken_twin_and_is_not_used() -> None:
    rate = 0.9 / 2
    p, q = peeled((5, 5, 1, 1), rate, 2), peeled((4, 5, 2, 1), rate, 2)
    assert ranking(dp.Replace(UNIT)).choice.rate() == ranking().choice.rate() / 2
    assert min_epsilon(list(p.values()), list(q.values())) > 0.9 * 0.5
    far = peeled((9, 0, 0, 0), rate, 1), peeled((8, 1, 1, 1), rate, 1)
    assert min_epsilon(*(list(distribution.values()) for distribution in far)) > 0.45 * 1.5


def test_people_are_counted_in_all_their_keys_although_others_would_be_cut() -> None:
    made = ranking(dp.Person("id", max_rows=20, max_groups=8))
    assert made.farthest == 1
    narrow = dp.Person("id", max_rows=20, max_groups=7)
    release = curator(narrow, randomness=Noiseless()).sql(TOP, spend=dp.PureDP(epsilon=1))
    assert release.keys["key"] == ("k0", "k1", "k2")


def test_choices_have_the_stated_law() -> None:
    """1,500 rankings of small counts; each frequency within 7 standard deviations, 1e-11."""
    made = ranking(spend=dp.ZCDP(rho=0.3), randomness=Seeded(3))
    counts, trials = np.array([3, 2, 2, 0, 0, 0, 0, 0]), 1_500
    seen = Counter(made._choose_top_keys(counts)[0][0] for _ in range(trials))
    weights = np.exp(float(made.choice.rate()) * counts)
    for key, chance in zip(KEYS, weights / weights.sum(), strict=True):
        spread = math.sqrt(trials * chance * (1 - chance))
        assert abs(seen[key] - trials * chance) < 7 * spread


@pytest.mark.parametrize(
    "order", ["ORDER BY MEDIAN(id)", "HAVING COUNT(*) > 2", "ORDER BY SUM(id) DESC LIMIT 2"]
)
def test_keys_alone_by_any_noisy_value(order: str) -> None:
    table = dp.table(
        frame(), unit=UNIT, columns={"key": dp.Category(KEYS), "id": dp.Number(0, 200)}
    )
    asked = dp.Curator(t=table, budget=dp.PureDP(epsilon=100), ledger=dp.ledger.Memory())
    release = asked.sql(f"SELECT key FROM t GROUP BY key {order}", spend=dp.PureDP(epsilon=50))
    assert set(release.keys["key"]) <= set(KEYS)
    assert dp.Release.from_json(release.to_json()) == release


def test_the_functions_that_databases_have_for_it() -> None:
    asked = curator(randomness=Noiseless())
    spend = dp.PureDP(epsilon=1)
    names = asked.sql("SELECT APPROX_TOP_K(key, 2) AS first FROM t WHERE id < 80", spend=spend)
    assert names.keys == {"first": ("k0", "k1")}
    counts = asked.sql("SELECT approx_top_count(key, 2) FROM t", spend=spend)
    assert counts.keys == {"key": ("k0", "k1")}
    assert counts["count"].values == (160, 140)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT APPROX_TOP_K(key, 2), COUNT(*) AS n FROM t",
        "SELECT APPROX_TOP_K(key, 2) FROM t GROUP BY key",
        "SELECT APPROX_TOP_K(key, 2) FROM t LIMIT 3",
        "SELECT upper(APPROX_TOP_K(key, 2)) AS x FROM t",
        "SELECT APPROX_TOP_K(key, 'x') FROM t",
        "SELECT approx_top_count(key) FROM t",
    ],
)
def test_nowhere_but_alone(text: str) -> None:
    asked = curator()
    with pytest.raises(dp.errors.DiscreetError) as refusal:
        asked.sql(text, spend=dp.PureDP(epsilon=1))
    assert refusal.value.code == "unsupported_sql"
    assert asked.spent.epsilon == 0  # type: ignore[attr-defined]
