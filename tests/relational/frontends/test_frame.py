"""The dataframe builder asks the very questions that SQL does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import date

import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.frontends.frame.frame import Frame
from tests.relational.frontends.hospital import curator, digest

EPSILON = dp.PureDP(epsilon=1)


@pytest.fixture(scope="module")
def hospital() -> Iterator[dp.Curator]:
    with curator() as made:
        yield made


SAME: list[tuple[Callable[[Frame, Frame], Frame], str]] = [
    (lambda v, w: v.agg(n=dp.count()), "SELECT COUNT(*) AS n FROM visits"),
    (
        lambda v, w: v.group_by("ward").agg(n=dp.count(), age=dp.mean("age")),
        "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward",
    ),
    (
        lambda v, w: v.filter(dp.col("cost") > 100).agg(s=dp.sum("cost")),
        "SELECT SUM(cost) AS s FROM visits WHERE cost > 100",
    ),
    (
        lambda v, w: v.filter(
            (dp.col("age") >= 18) & ~(dp.col("ward") == "C") | dp.col("day").is_null()
        ).agg(n=dp.count("cost")),
        "SELECT COUNT(cost) AS n FROM visits WHERE age >= 18 AND NOT ward = 'C' OR day IS NULL",
    ),
    (
        lambda v, w: v.filter(dp.col("ward").is_in(["A", "B"]), dp.col("age").between(3, 9)).agg(
            n=dp.count()
        ),
        "SELECT COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') AND age BETWEEN 3 AND 9",
    ),
    (
        lambda v, w: v.filter(dp.col("day") >= date(2024, 3, 1)).agg(n=dp.count()),
        "SELECT COUNT(*) AS n FROM visits WHERE day >= DATE '2024-03-01'",
    ),
    (
        lambda v, w: (
            v.with_columns(k=(dp.col("cost") + 1) / 1000 - 2).group_by("ward").agg(s=dp.sum("k"))
        ),
        "SELECT ward, SUM((cost + 1) / 1000 - 2) AS s FROM visits GROUP BY ward",
    ),
    (
        lambda v, w: v.group_by(b=dp.col("age").bin(0, 110, 11)).agg(n=dp.count()),
        "SELECT bin(age, 0, 110, 11) AS b, COUNT(*) AS n FROM visits GROUP BY b",
    ),
    (
        lambda v, w: v.group_by(m=dp.expr("month(day)")).agg(q=dp.quantile("cost", 0.9)),
        "SELECT month(day) AS m, QUANTILE(cost, 0.9) AS q FROM visits GROUP BY m",
    ),
    (
        lambda v, w: v.agg(
            a=dp.count_distinct("patient"),
            b=dp.median("age"),
            c=dp.variance("age"),
            d=dp.std("cost"),
            e=dp.min("age"),
            f=dp.max("age"),
            g=dp.corr("age", "cost"),
        ),
        "SELECT COUNT(DISTINCT patient) AS a, MEDIAN(age) AS b, VARIANCE(age) AS c, "
        "STDDEV(cost) AS d, MIN(age) AS e, MAX(age) AS f, CORR(age, cost) AS g FROM visits",
    ),
    (
        lambda v, w: v.agg(
            s=dp.sum("cost") / dp.count(), t=dp.sum("cost", where=dp.col("age") > 65)
        ),
        "SELECT SUM(cost) / COUNT(*) AS s, SUM(cost) FILTER (WHERE age > 65) AS t FROM visits",
    ),
    (
        lambda v, w: (
            v.group_by("ward")
            .agg(n=dp.count())
            .filter(dp.col("n") > 9)
            .order_by(dp.col("n").desc(), "ward")
            .limit(2, offset=1)
        ),
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING n > 9 ORDER BY n DESC, ward "
        "LIMIT 2 OFFSET 1",
    ),
    (
        lambda v, w: v.join(w, on="ward").group_by("site").agg(n=dp.count()),
        "SELECT site, COUNT(*) AS n FROM visits JOIN wards USING (ward) GROUP BY site",
    ),
    (
        lambda v, w: v.left_join(w, on={"ward": "ward"}).agg(n=dp.count("site")),
        "SELECT COUNT(site) AS n FROM visits v LEFT JOIN wards w ON v.ward = w.ward",
    ),
    (
        lambda v, w: v.join(v, on={"city": "city"}).agg(n=dp.count()),
        "SELECT COUNT(*) AS n FROM visits a JOIN visits b ON a.city = b.city",
    ),
    (
        lambda v, w: (
            v.group_by("patient")
            .agg(n=dp.count(), f=dp.first("ward", by="day"))
            .filter(dp.col("n") > 1)
            .group_by("f")
            .agg(k=dp.count())
        ),
        "SELECT f, COUNT(*) AS k FROM (SELECT patient, COUNT(*) AS n, "
        "FIRST(ward ORDER BY day) AS f FROM visits GROUP BY patient HAVING n > 1) AS q GROUP BY f",
    ),
    (
        lambda v, w: v.select("ward", "age").distinct().agg(n=dp.count()),
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM visits) AS q",
    ),
    (
        lambda v, w: (
            v.select("ward", x=dp.col("age") * 2).union(v.select("ward", "age")).agg(s=dp.sum("x"))
        ),
        "SELECT SUM(x) AS s FROM (SELECT ward, age * 2 AS x FROM visits UNION ALL "
        "SELECT ward, age FROM visits) AS q",
    ),
    (
        lambda v, w: v.agg(n=dp.sum(-dp.col("age") % 7 + 2 * dp.col("age") - (1 - dp.col("age")))),
        "SELECT SUM(-age % 7 + 2 * age - (1 - age)) AS n FROM visits",
    ),
]


@pytest.mark.parametrize("place", range(len(SAME)), ids=lambda place: SAME[place][1][:60])
def test_a_frame_and_its_sql_are_the_same_question(place: int, hospital: dp.Curator) -> None:
    build, text = SAME[place]
    frame = build(hospital.frame("visits"), hospital.frame("wards"))
    assert digest(frame, hospital) == digest(text, hospital)


def test_an_identical_question_is_answered_from_the_ledger(hospital: dp.Curator) -> None:
    text = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    first = hospital.sql(text, spend=EPSILON)
    spent = hospital.spent
    frame = hospital.frame("visits").group_by("ward").agg(n=dp.count())
    assert frame.release(spend=EPSILON).to_json() == first.to_json()
    assert hospital.sql(frame, spend=EPSILON).to_json() == first.to_json()
    assert hospital.spent == spent
    assert frame.preview(spend=EPSILON)["n"].half_width > 0
    assert "answer: 3 cells" in str(frame.explain())


def test_names_and_constants_are_quoted(hospital: dp.Curator) -> None:
    frame = hospital.frame("visits").filter(dp.col("note") == "'; DROP TABLE visits; --")
    assert frame.agg(n=dp.count()).sql().endswith("WHERE \"note\" = '''; DROP TABLE visits; --'")
    with pytest.raises(DiscreetError, match="unknown_column"):
        hospital.frame("visits").agg(n=dp.sum('cost") FROM wards --')).explain()


def test_the_right_side_of_a_self_join_can_be_named(hospital: dp.Curator) -> None:
    visits = hospital.frame("visits")
    pairs = visits.join(visits, on="city").filter(
        dp.col("age", table="visits") < dp.col("age", table="right")
    )
    text = "SELECT COUNT(*) AS n FROM visits a JOIN visits b USING (city) WHERE a.age < b.age"
    assert digest(pairs.agg(n=dp.count()), hospital) == digest(text, hospital)


@pytest.mark.parametrize(
    ("build", "code"),
    [
        (lambda v: v.sql() and v.explain(), "unsupported_sql"),
        (lambda v: v.order_by("age").agg(n=dp.count()).explain(), "not_grouped"),
        (lambda v: v.agg(n=dp.sum("note")).explain(), "type_clash"),
        (lambda v: v.filter(dp.col("age") > math.inf), "bad_literal"),
        (lambda v: v.filter(dp.col("age") == object()), "bad_literal"),
        (lambda v: v.filter((dp.col("age") > 1) and (dp.col("age") < 2)), "term_not_known"),
        (lambda v: v.group_by(3).agg(n=dp.count()), "bad_name"),
        (lambda v: dp.expr("month("), "sql_syntax"),
        (
            lambda v: Frame.of("visits").agg(n=dp.count()).release(spend=EPSILON),
            "frame_without_curator",
        ),
    ],
)
def test_mistakes_are_named(
    build: Callable[[Frame], object], code: str, hospital: dp.Curator
) -> None:
    with pytest.raises(DiscreetError) as caught:
        build(hospital.frame("visits"))
    assert caught.value.code == code, caught.value


def test_a_frame_of_an_unknown_table_is_refused(hospital: dp.Curator) -> None:
    with pytest.raises(DiscreetError, match="Did you mean visits"):
        hospital.frame("visit")


def test_frames_can_be_asked_together(hospital: dp.Curator) -> None:
    visits = hospital.frame("visits")
    texts = {"a": "SELECT COUNT(*) AS n FROM visits", "b": "SELECT SUM(age) AS s FROM visits"}
    frames = {"a": visits.agg(n=dp.count()), "b": visits.agg(s=dp.sum("age"))}
    first = hospital.batch(texts, spend=EPSILON)
    spent = hospital.spent
    again = hospital.batch(frames, spend=EPSILON)
    assert hospital.spent == spent
    assert again["a"]["n"].values == first["a"]["n"].values
