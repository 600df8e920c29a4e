"""Ibis expressions over tables without data are the questions that SQL asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.relational.frontends.hospital import curator, digest

ibis = pytest.importorskip("ibis", reason="the extra `ibis` is not installed")
_ = ibis._

FEATURES = "(SELECT patient, COUNT(*) AS n, MAX(age) AS a FROM visits GROUP BY patient) AS q"

SAME: list[tuple[Callable[[Any, Any], Any], str]] = [
    (lambda v, w: v.agg(n=v.count()), "SELECT COUNT(*) AS n FROM visits"),
    (
        lambda v, w: v.group_by("ward").agg(n=_.count(), m=_.age.mean()),
        "SELECT ward, COUNT(*) AS n, AVG(age) AS m FROM visits GROUP BY ward",
    ),
    (
        lambda v, w: v.filter(v.cost > 100).group_by("ward").agg(n=_.count()),
        "SELECT ward, COUNT(*) AS n FROM visits WHERE cost > 100 GROUP BY ward",
    ),
    (
        lambda v, w: v.mutate(k=v.cost / 1000).group_by("ward").agg(s=_.k.sum()),
        "SELECT ward, SUM(cost / 1000) AS s FROM visits GROUP BY ward",
    ),
    (
        lambda v, w: v.group_by("ward").agg(n=_.count()).order_by(ibis.desc("n")).limit(2),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 2",
    ),
    (
        lambda v, w: v.group_by("ward").agg(n=_.count()).filter(_.n > 10),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 10",
    ),
    (
        lambda v, w: v.group_by("ward").agg(n=_.count(), s=_.cost.sum()).mutate(m=_.s / _.n),
        "SELECT ward, COUNT(*) AS n, SUM(cost) AS s, SUM(cost) / COUNT(*) AS m "
        "FROM visits GROUP BY 1",
    ),
    (
        lambda v, w: v.join(w, "ward").group_by("site").agg(n=_.count()),
        "SELECT site, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY site",
    ),
    (
        lambda v, w: v.left_join(w, v.ward == w.ward).agg(n=_.site.count()),
        "SELECT COUNT(site) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward",
    ),
    (
        lambda v, w: v.agg(a=v.patient.nunique(), d=v.age.std(), e=v.age.var(how="pop")),
        "SELECT COUNT(DISTINCT patient) AS a, STDDEV(age) AS d, VAR_POP(age) AS e FROM visits",
    ),
    (
        lambda v, w: v.agg(q=v.cost.quantile(0.9), b=v.age.min(), c=v.age.max()),
        "SELECT QUANTILE(cost, 0.9) AS q, MIN(age) AS b, MAX(age) AS c FROM visits",
    ),
    (
        lambda v, w: v.group_by(month=v.day.month()).agg(n=_.count()),
        "SELECT month(day) AS month, COUNT(*) AS n FROM visits GROUP BY 1",
    ),
    (
        lambda v, w: v.group_by(old=v.age > 65).agg(s=v.cost.sum(where=v.ward == "A")),
        "SELECT age > 65 AS old, SUM(cost) FILTER (WHERE ward = 'A') AS s FROM visits GROUP BY 1",
    ),
    (
        lambda v, w: v.filter(v.ward.isin(["A", "B"]), v.note.like("%x%")).agg(n=_.count()),
        "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND note LIKE '%x%'",
    ),
    (
        lambda v, w: (
            v.mutate(g=ibis.cases((v.age < 18, "c"), else_="a")).group_by("g").agg(n=_.count())
        ),
        "SELECT CASE WHEN age < 18 THEN 'c' ELSE 'a' END AS g, COUNT(*) AS n "
        "FROM visits GROUP BY g",
    ),
    (
        lambda v, w: (
            v.group_by("patient").agg(n=_.count(), a=_.age.max()).group_by("n").agg(m=_.a.mean())
        ),
        f"SELECT n, AVG(a) AS m FROM {FEATURES} GROUP BY n",
    ),
]


@pytest.fixture(scope="module")
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


@pytest.mark.parametrize("place", range(len(SAME)), ids=lambda place: SAME[place][1][:60])
def test_an_expression_and_its_sql_are_the_same_question(place: int, hospital: dp.Curator) -> None:
    build, text = SAME[place]
    expression = build(hospital.ibis.visits, hospital.ibis["wards"])
    assert digest(expression, hospital) == digest(text, hospital)


def test_tables_have_the_public_schema_and_no_data(hospital: dp.Curator) -> None:
    assert list(hospital.ibis) == ["visits", "wards"]
    visits = hospital.ibis.visits
    assert {name: str(kind) for name, kind in visits.schema().items()}["day"] == "timestamp"
    with pytest.raises(Exception, match="backend"):
        visits.count().execute()
    with pytest.raises(AttributeError):
        hospital.ibis.visit  # noqa: B018 -- the look-up is what is tested


def test_it_is_asked_and_previewed_like_sql(hospital: dp.Curator) -> None:
    visits = hospital.ibis.visits
    expression = visits.group_by("ward").agg(n=visits.ward.count())
    spend = dp.PureDP(epsilon=1)
    assert hospital.preview(expression, spend=spend)["n"].half_width is not None
    answer = hospital.sql(expression, spend=spend)
    assert answer.query.startswith("SELECT")
    assert len(answer) == 3


def test_what_is_not_sql_is_refused(hospital: dp.Curator) -> None:
    visits = hospital.ibis.visits
    with pytest.raises(DiscreetError, match="ibis_not_sql"):
        hospital.sql(
            visits.agg(k=visits.age.corr(visits.cost, how="sample")), spend=dp.PureDP(epsilon=1)
        )
    with pytest.raises(DiscreetError, match="unsupported_sql"):
        hospital.sql(visits.limit(3), spend=dp.PureDP(epsilon=1))
