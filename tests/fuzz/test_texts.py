"""Any text is answered or refused with a code that the documents list: no foreign error comes.

Texts are valid ones of the documents and tests, spoilt at random with fixed seeds.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.relational.sql import translate
from tests.fuzz.corpus import corpus, curator
from tests.fuzz.mutations import MUTATIONS, mutated
from tests.fuzz.outcomes import SPENDS, Outcomes

FIXED = 250
AUDITED = 15_000


@pytest.fixture(scope="module")
def asked() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


def test_the_corpus_has_texts_of_every_clause() -> None:
    words = [
        *("JOIN", "LEFT JOIN", "UNION ALL", "DISTINCT", "GROUP BY", "HAVING", "ORDER BY", "WITH"),
        *("LIMIT", "FILTER", "QUANTILE", "WITHIN GROUP", "OPTIONS", "APPROX_TOP_K", "CASE"),
        *("OVER (", "ROLLUP", "CUBE", "GROUPING SETS", "EXCEPT", "QUALIFY", "(SELECT COUNT(*)"),
    ]
    assert len(corpus()) > 150
    assert [word for word in words if not any(word in text for text in corpus())] == []


def test_spoilt_texts_are_answered_or_refused(asked: dp.Curator) -> None:
    outcomes, used = spoilt(asked, FIXED, seed=1)
    assert outcomes.faults == []
    assert outcomes.answered > 10
    assert len(used) == len(set(MUTATIONS))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT SUM(round(1e300, 15)) AS n FROM t",
        "SELECT SUM(round(exp(x + 9007199254740000), 5)) AS n FROM t",
        "SELECT COUNT(*) AS n FROM t WHERE x > 1e3-2",
        f"SELECT COUNT(*) AS n FROM t WHERE x > {'9' * 5_000}",
        "SELECT MEDIAN(5.0) AS n FROM t",
        "SELECT MEDIAN(y * 1e-323) AS n FROM t",
        "SELECT QUANTILE(, x.9) AS n FROM t",
        "SELECT QUANTILE(x, 1e) AS n FROM t",
        "SELECT COUNT(DISTINCT ) AS n FROM t",
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w UNION ALL "
        "SELECT regexp_like(w, '.{2}'), COUNT(*) FROM t GROUP BY w",
        "SELECT VARIANCE(y * 1e300) AS n FROM t",
        "SELECT w, AVG(coalesce(y, 1e300)) AS n FROM t GROUP BY w",
        "SELECT w, timestamp '9999-12-31 23:59:59' AS q, COUNT(*) AS n FROM t GROUP BY w",
        "SELECT w, upper(w) AS q, COUNT(*) AS n FROM t GROUP BY w",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e3-2) COUNT(*) AS n FROM t",
    ],
    ids=lambda text: text[7:60],
)
def test_what_once_was_a_foreign_error_is_answered_or_refused(asked: dp.Curator, text: str) -> None:
    outcomes = Outcomes()
    outcomes.ask(asked, text, dp.PureDP(epsilon=1))
    assert outcomes.faults == []


def test_what_nobody_thought_of_is_refused_for_nothing(
    asked: dp.Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def astray(*_: object) -> None:
        raise IndexError

    before = asked.spent
    monkeypatch.setattr(translate, "translated", astray)
    with pytest.raises(dp.errors.DiscreetError, match="sql_not_understood"):
        asked.sql("SELECT COUNT(*) AS astray FROM t", spend=dp.PureDP(epsilon=1))
    assert asked.spent == before


@pytest.mark.audit
def test_many_spoilt_texts_are_answered_or_refused(asked: dp.Curator) -> None:
    outcomes, _ = spoilt(asked, AUDITED, seed=2)
    assert outcomes.faults == []


def spoilt(asked: dp.Curator, count: int, seed: int) -> tuple[Outcomes, Counter[str]]:
    """So many mutated texts put to a curator, and how often each mutation was used."""
    draw, outcomes, used = random.Random(seed), Outcomes(), Counter[str]()
    for _ in range(count):
        text, names = mutated(draw, corpus())
        used.update(names)
        outcomes.ask(asked, text, draw.choice(SPENDS))
    return outcomes, used
