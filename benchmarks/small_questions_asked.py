"""Real questions about small tables: those of the README, the tutorial, the demo and the peers.

In each text ``{i}`` is another number every time it is asked, so that no text comes twice.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """A question, about which tables, and in plain DuckDB where its words differ there."""

    world: str
    sql: str
    plain: str = ""

    def text(self, number: int) -> str:
        """As it is asked the ``number``-th time."""
        return self.sql.replace("{i}", str(number))

    def plain_text(self, number: int) -> str:
        """The same for an engine without privacy."""
        return (self.plain or self.sql).replace("{i}", str(number))


def _questions(world: str, *asked: str | tuple[str, str]) -> tuple[Question, ...]:
    return tuple(
        Question(world, each) if isinstance(each, str) else Question(world, *each) for each in asked
    )


HOSPITAL = _questions(
    "hospital",
    "SELECT ward, COUNT(*) AS n{i}, AVG(age) AS age FROM visits GROUP BY ward",
    "SELECT COUNT(*) AS n{i} FROM visits WHERE age >= 65",
    "SELECT month(day) AS month, ward, COUNT(*) AS n{i} FROM visits GROUP BY month, ward",
    (
        "SELECT bin(age, 0, 110, 11) AS decade, "
        "AVG(CASE WHEN ward = 'surgery' THEN 1 ELSE 0 END) AS share{i} FROM visits GROUP BY decade",
        "SELECT floor(age / 10) AS decade, "
        "AVG(CASE WHEN ward = 'surgery' THEN 1 ELSE 0 END) AS share{i} FROM visits GROUP BY decade",
    ),
    "SELECT COUNT(*) AS n{i} FROM visits",
    "SELECT COUNT(DISTINCT patient) AS people{i} FROM visits",
    "SELECT site, SUM(cost) AS cost{i} FROM visits JOIN sites USING (ward) "
    "WHERE day < DATE '2024-07-01' GROUP BY site ORDER BY cost{i} DESC",
)
"""Of the README and the tutorial: people with several rows."""

CENSUS = _questions(
    "census",
    "SELECT COUNT(*) AS n{i} FROM people",
    "SELECT education, COUNT(*) AS n{i} FROM people GROUP BY education",
    "SELECT sex, AVG(hours_per_week) AS hours{i} FROM people GROUP BY sex",
    "SELECT SUM(capital_gain) AS gain{i} FROM people WHERE workclass LIKE 'Self-emp%'",
    "SELECT sex, AVG(CASE WHEN income = '>50K' THEN 1 ELSE 0 END) AS share{i} "
    "FROM people GROUP BY sex",
    (
        "SELECT bin(age, 10, 90, 8) AS decade, income, COUNT(*) AS n{i} "
        "FROM people GROUP BY decade, income",
        "SELECT floor(age / 10) AS decade, income, COUNT(*) AS n{i} "
        "FROM people GROUP BY decade, income",
    ),
    "SELECT income, MEDIAN(age) AS age{i} FROM people GROUP BY income",
    "SELECT STDDEV(age) AS spread{i}, CORR(education_years, hours_per_week) AS r FROM people",
    "SELECT level, AVG(hours_per_week) AS hours{i} "
    "FROM people JOIN levels USING (education) GROUP BY level",
    "SELECT occupation, COUNT(*) AS n{i} FROM people GROUP BY occupation "
    "HAVING COUNT(*) > 1000 ORDER BY n{i} DESC LIMIT 5",
    "SELECT sex, COUNT(*) AS n{i} FROM people GROUP BY sex",
)
"""Of the demo: each row is somebody else."""

CLINIC = _questions(
    "clinic",
    "SELECT COUNT(*) AS a{i}, COUNT(sex) AS b, COUNT(age) AS c FROM people",
    "SELECT AVG(age), SUM(age), COUNT(age) AS n{i} FROM people",
    "SELECT SUM(minutes) AS m{i} FROM visits WHERE ward = 'A'",
    "SELECT region, AVG(income) AS m{i} FROM people WHERE schooling > 2 GROUP BY region",
    "SELECT region, sex, COUNT(*) AS n{i} FROM people GROUP BY region, sex",
    "SELECT age, COUNT(*) AS n{i} FROM people WHERE age BETWEEN 18 AND 21 GROUP BY age",
    "SELECT ward, COUNT(DISTINCT pid) AS n{i} FROM visits GROUP BY ward",
    "SELECT CASE WHEN age < 20 THEN '0-19' WHEN age < 40 THEN '20-39' ELSE '40+' END AS k, "
    "COUNT(*) AS n{i} FROM people GROUP BY k",
    "SELECT country, COUNT(*) AS n{i} FROM people JOIN regions USING (region) GROUP BY country",
    "SELECT region, COUNT(*) AS n{i} FROM people JOIN visits USING (pid) GROUP BY region",
    "SELECT sex, STDDEV(age) AS s{i} FROM people GROUP BY sex",
    "SELECT EXTRACT(MONTH FROM day) AS m, COUNT(*) AS n{i} FROM visits GROUP BY m",
    "SELECT ward, SUM(CASE WHEN urgent THEN 1 ELSE 0 END) / COUNT(*) AS share{i} "
    "FROM visits GROUP BY ward",
)
"""Of the collections that peers test with: people with one row, and with several."""

QUESTIONS = (*HOSPITAL, *CENSUS, *CLINIC)
