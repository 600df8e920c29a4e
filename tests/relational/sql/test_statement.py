"""A query around an answer is the answer with its conditions and order inside."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.relational.frontends.hospital import curator, digest

INNER = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits GROUP BY ward"


@pytest.fixture(scope="module")
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        (f"SELECT * FROM ({INNER}) AS q", INNER),
        (f"SELECT * FROM (SELECT * FROM ({INNER}) AS q) AS r", INNER),
        (
            f"SELECT n, ward FROM ({INNER}) AS q",
            "SELECT COUNT(*) AS n, ward FROM visits GROUP BY ward",
        ),
        (
            f"SELECT * FROM ({INNER}) AS q WHERE q.n > 9 AND s > 0",
            f"{INNER} HAVING n > 9 AND s > 0",
        ),
        (
            f"SELECT * FROM ({INNER}) AS q ORDER BY n DESC LIMIT 1",
            f"{INNER} ORDER BY n DESC LIMIT 1",
        ),
        (
            f"SELECT ward AS w, s / n AS mean FROM ({INNER} HAVING n > 3) AS q",
            "SELECT ward AS w, SUM(cost) / COUNT(*) AS mean FROM visits GROUP BY ward "
            "HAVING COUNT(*) > 3",
        ),
        (f"WITH q AS ({INNER}) SELECT * FROM q ORDER BY n", f"{INNER} ORDER BY n"),
        (
            "SELECT m FROM (SELECT month(day) AS k, COUNT(*) AS m FROM visits GROUP BY 1) AS q",
            "SELECT COUNT(*) AS m FROM visits GROUP BY month(day)",
        ),
        (
            "SELECT n + 1 AS n FROM (SELECT COUNT(*) AS n FROM visits) AS q",
            "SELECT COUNT(*) + 1 AS n FROM visits",
        ),
    ],
)
def test_it_is_the_flat_question(nested: str, flat: str, hospital: dp.Curator) -> None:
    assert digest(nested, hospital) == digest(flat, hospital)


@pytest.mark.parametrize(
    ("nested", "code"),
    [
        (f"SELECT age FROM ({INNER}) AS q", "unknown_column"),
        (f"SELECT visits.ward FROM ({INNER}) AS q", "unknown_column"),
        (f"SELECT * FROM ({INNER} LIMIT 1) AS q WHERE n > 1", "unsupported_sql"),
        (f"SELECT * FROM ({INNER} LIMIT 1) AS q LIMIT 2", "unsupported_sql"),
        (f"SELECT COUNT(*) AS c FROM ({INNER}) AS q", "unsupported_sql"),
        (
            "SELECT * FROM (SELECT patient, COUNT(*) AS n FROM visits GROUP BY patient) AS q",
            "key_is_identifier",
        ),
    ],
)
def test_what_is_more_than_that_is_refused(nested: str, code: str, hospital: dp.Curator) -> None:
    with pytest.raises(DiscreetError) as caught:
        digest(nested, hospital)
    assert caught.value.code == code, caught.value


def test_an_answer_says_what_was_cut(hospital: dp.Curator) -> None:
    for text, limit in (
        ("SELECT COUNT(*) AS n FROM visits", "max_rows"),
        ("SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.city = b.city", "max_rows_per"),
        ("SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM visits) AS q", "rows_of_step"),
    ):
        answer = hospital.sql(text, spend=dp.PureDP(epsilon=1))
        assert limit in [fact["limit"] for fact in answer.statement["active_limits"]]
