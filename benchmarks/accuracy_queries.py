"""Forty questions about real tables, as every system of the suite ``accuracy`` reads them.

This file needs the standard library only, because peers import it. Bounds and keys are public
knowledge: they come from the documentation of the tables, not from their rows.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Keys = tuple[Any, ...]

COPY = "copy"
"""A table may be repeated: each copy is a group, and one answer is then many releases."""

YEARS = (1, 2, 3, 4, 5)
REGIONS = ("Northeast", "Midwest", "South", "West")
SCHOOLING = (6, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 20)
KEYS: dict[str, dict[str, Keys]] = {
    "adult": {
        "education_years": tuple(range(1, 17)),
        "sex": ("Female", "Male"),
        "race": ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"),
        "income": ("<=50K", ">50K"),
    },
    "cps": {"region": REGIONS, "gender": ("male", "female"), "education": SCHOOLING},
    "hie": {"year": YEARS, "site": (1, 2, 3, 4, 5, 6)},
    "ratings": {"dept": (*range(1, 13), 14, 15)},
}
WHOLE = {"age", "hours", "education_years", "capital_gain", "capital_loss", "mdvis", "y"}
"""Columns of integers; the other columns that are aggregated are real."""


@dataclass(frozen=True)
class People:
    """Bounds on what one person contributes; none of the tables exceeds them."""

    rows: int
    groups: int
    rows_per_group: int

    @property
    def l1(self) -> int:
        """How much a count over groups can change."""
        return min(self.rows, self.groups * self.rows_per_group)


@dataclass(frozen=True, kw_only=True)
class Query:
    """One aggregate, over all rows or by groups with public keys, for one price."""

    name: str
    table: str
    what: str
    column: str = ""
    low: float = 0
    high: float = 0
    by: str = ""
    where: tuple[str, str, Any] | None = None
    level: float = 0.5
    step: float = 1
    epsilon: float = 1
    rho: float = 0
    people: People | None = None

    @property
    def keys(self) -> Keys:
        """The keys of its groups, or one None."""
        return KEYS[self.table][self.by] if self.by else (None,)

    @property
    def whole(self) -> bool:
        """Whether its column holds integers."""
        return self.column in WHOLE

    @property
    def middle(self) -> float:
        """Halfway between the bounds."""
        return (self.low + self.high) / 2

    @property
    def reach(self) -> float:
        """The greatest magnitude within the bounds."""
        return max(abs(self.low), abs(self.high))

    @property
    def candidates(self) -> list[float]:
        """The public values from which a quantile is chosen."""
        count = round((self.high - self.low) / self.step)
        kind = int if self.whole else float
        return [kind(self.low + i * self.step) for i in range(count + 1)]

    @property
    def l1(self) -> int:
        """How many rows one person or row can add."""
        if self.people is None:
            return 1
        return self.people.groups if self.what == "people" else self.people.l1

    def condition(self) -> str:
        """The filter in SQL, or nothing."""
        if self.where is None:
            return ""
        column, relation, value = self.where
        shown = f"'{value}'" if isinstance(value, str) else value
        return f"{column} {relation} {shown}"

    def to_json(self) -> dict[str, Any]:
        """As a request to a peer."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Query:
        """As a peer reads it."""
        where, people = content["where"], content["people"]
        return cls(
            **{
                **content,
                "where": tuple(where) if where else None,
                "people": People(**people) if people else None,
            }
        )


def _adult() -> list[Query]:
    age = {"column": "age", "low": 17, "high": 90}
    hours = {"column": "hours", "low": 0, "high": 100}
    schooling = {"column": "education_years", "low": 1, "high": 16}
    gain = {"column": "capital_gain", "low": 0, "high": 100_000}
    loss = {"column": "capital_loss", "low": 0, "high": 5_000}
    rich = ("income", "=", ">50K")
    other = ("race", "=", "Other")
    cheap = {"epsilon": 0.1}
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("count", "count", {}),
        ("count_cheap", "count", cheap),
        ("count_by_education", "count", {"by": "education_years"}),
        ("count_by_race", "count", {"by": "race", **cheap}),
        ("count_old", "count", {"where": ("age", ">=", 65)}),
        ("sum_hours", "sum", hours),
        ("sum_gain", "sum", gain),
        ("sum_hours_by_education", "sum", {**hours, "by": "education_years"}),
        ("sum_loss_women", "sum", {**loss, "where": ("sex", "=", "Female")}),
        ("mean_age", "mean", age),
        ("mean_hours", "mean", hours),
        ("mean_schooling_cheap", "mean", {**schooling, **cheap}),
        ("mean_gain", "mean", {**gain, "epsilon": 0.5}),
        ("mean_age_by_education", "mean", {**age, "by": "education_years"}),
        ("mean_hours_rich_by_sex", "mean", {**hours, "by": "sex", "where": rich}),
        ("variance_age", "variance", age),
        ("variance_hours_by_sex", "variance", {**hours, "by": "sex"}),
        ("median_age_by_education", "quantile", {**age, "by": "education_years", **cheap}),
        ("median_age_other_by_sex", "quantile", {**age, "by": "sex", "where": other, **cheap}),
        ("ninth_decile_age", "quantile", {**age, "level": 0.9, "epsilon": 0.01}),
        ("quartile_age_rich", "quantile", {**age, "level": 0.25, "where": rich, "epsilon": 0.02}),
        ("zcdp_count_by_education", "count", {"by": "education_years", "rho": 0.1}),
        ("zcdp_mean_age_by_education", "mean", {**age, "by": "education_years", "rho": 0.1}),
    ]
    return [
        Query(name=f"adult/{name}", table="adult", what=what, **more) for name, what, more in asked
    ]


def _cps() -> list[Query]:
    earnings = {"column": "earnings", "low": 0, "high": 80, "step": 0.25}
    young = ("age", "<", 30)
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("count_by_region", "count", {"by": "region"}),
        ("sum_earnings", "sum", earnings),
        ("sum_earnings_by_region", "sum", {**earnings, "by": "region"}),
        ("mean_earnings", "mean", earnings),
        ("mean_earnings_young_by_gender", "mean", {**earnings, "by": "gender", "where": young}),
        ("mean_earnings_by_education", "mean", {**earnings, "by": "education", "epsilon": 0.5}),
        ("variance_earnings", "variance", earnings),
        ("deviation_earnings_by_gender", "deviation", {**earnings, "by": "gender"}),
        (
            *("median_earnings_by_education", "quantile"),
            {**earnings, "by": "education", "epsilon": 0.05},
        ),
        ("ninth_decile_earnings", "quantile", {**earnings, "level": 0.9, "epsilon": 0.01}),
    ]
    return [Query(name=f"cps/{name}", table="cps", what=what, **more) for name, what, more in asked]


def _people() -> list[Query]:
    all_years = {"people": People(5, 1, 5)}
    each_year = {"people": People(5, 5, 1), "by": "year"}
    visits = {"column": "mdvis", "low": 0, "high": 100}
    dollars = {"column": "meddol", "low": 0, "high": 5_000}
    asked: list[tuple[str, str, str, dict[str, Any]]] = [
        ("hie", "people", "people", all_years),
        ("hie", "count_by_year", "count", each_year),
        ("hie", "zcdp_count_by_year", "count", {**each_year, "rho": 0.1}),
        ("hie", "sum_visits", "sum", {**visits, **all_years}),
        ("hie", "sum_dollars_by_year", "sum", {**dollars, **each_year}),
        ("hie", "mean_visits_by_site", "mean", {**visits, **all_years, "by": "site"}),
        (
            *("ratings", "mean_rating_by_department", "mean"),
            {"column": "y", "low": 1, "high": 5, "by": "dept", "people": People(100, 14, 100)},
        ),
    ]
    return [
        Query(name=f"{table}/{name}", table=table, what=what, **more)
        for table, name, what, more in asked
    ]


QUERIES = (*_adult(), *_cps(), *_people())
