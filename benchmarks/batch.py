"""A dashboard of twenty questions about the Adult table: asked together, and one by one.

Both ways cost the same in all. The error of each cell is measured over many releases against the
exact answer; ratios say how many times larger the root mean squared error is one by one. Over all
cells, errors are taken in units of what the question's error is one by one, since numbers of
people and sums of hours have no common unit; over counts alone, as they are.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from accuracy_data import adult
from timing import Figure

import discreet as dp
from discreet.core.guarantee import Guarantee

RELEASES = 40
LEAST = 1.5
QUESTIONS = {
    "people": "SELECT COUNT(*) AS n FROM adult",
    "by_sex": "SELECT sex, COUNT(*) AS n FROM adult GROUP BY sex",
    "by_race": "SELECT race, COUNT(*) AS n FROM adult GROUP BY race",
    "by_income": "SELECT income, COUNT(*) AS n FROM adult GROUP BY income",
    "by_school": "SELECT education_years, COUNT(*) AS n FROM adult GROUP BY education_years",
    "by_age": "SELECT bin(age, 15, 95, 8) AS b, COUNT(*) AS n FROM adult GROUP BY b",
    "by_hours": "SELECT bin(hours, 0, 100, 10) AS b, COUNT(*) AS n FROM adult GROUP BY b",
    "sex_income": "SELECT sex, income, COUNT(*) AS n FROM adult GROUP BY sex, income",
    "race_income": "SELECT race, income, COUNT(*) AS n FROM adult GROUP BY race, income",
    "sex_race": "SELECT sex, race, COUNT(*) AS n FROM adult GROUP BY sex, race",
    "school_income": "SELECT education_years, income, COUNT(*) AS n FROM adult "
    "GROUP BY education_years, income",
    "sex_school": "SELECT sex, education_years, COUNT(*) AS n FROM adult "
    "GROUP BY sex, education_years",
    "age_sex": "SELECT bin(age, 15, 95, 8) AS b, sex, COUNT(*) AS n FROM adult GROUP BY b, sex",
    "rich_by_age": "SELECT bin(age, 15, 95, 8) AS b, COUNT(*) AS n FROM adult "
    "WHERE income = '>50K' GROUP BY b",
    "hours": "SELECT SUM(hours) AS s FROM adult",
    "hours_by_sex": "SELECT sex, SUM(hours) AS s FROM adult GROUP BY sex",
    "hours_by_school": "SELECT education_years, SUM(hours) AS s FROM adult "
    "GROUP BY education_years",
    "age_by_sex": "SELECT sex, AVG(age) AS a FROM adult GROUP BY sex",
    "age_by_income": "SELECT income, AVG(age) AS a FROM adult GROUP BY income",
    "hours_of_women": "SELECT income, AVG(hours) AS a FROM adult WHERE sex = 'Female' "
    "GROUP BY income",
}
COLUMNS = {
    "sex": dp.Category(["Female", "Male"]),
    "race": dp.Category(["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"]),
    "income": dp.Category(["<=50K", ">50K"]),
    "education_years": dp.Category(list(range(1, 17))),
    "age": dp.Number(17, 90),
    "hours": dp.Number(0, 100),
}
TOTALS: dict[str, Guarantee] = {
    "pure": dp.PureDP(epsilon=1),
    "approximate": dp.ApproxDP(epsilon=1, delta=1e-6),
    "concentrated": dp.ZCDP(rho=0.5),
}


def figures() -> list[Figure]:
    """All figures of this suite."""
    with tempfile.TemporaryDirectory(prefix="batch-") as name:
        try:
            path = adult(Path(name) / "adult.parquet")
        except FileNotFoundError as reason:
            return [Figure(name="batch", values=(), unit="x", remark=f"MISSING adult: {reason}")]
        exact = answers(path, dp.PureDP(epsilon=1e5), together=False)
        found = []
        for notion, total in TOTALS.items():
            print(f"batch/{notion}", end=" ", file=sys.stderr, flush=True)
            found += compared(path, notion, total, exact)
            print(file=sys.stderr)
        return found


def compared(path: Path, notion: str, total: Guarantee, exact: list[np.ndarray]) -> list[Figure]:
    """Ratios under one notion."""
    apart, joint = (squares(path, total, exact, together=way) for way in (False, True))
    relative = np.concatenate(
        [after / before.mean() for before, after in zip(apart, joint, strict=True)]
    )
    counts = [number for number, text in enumerate(QUESTIONS.values()) if "COUNT" in text]
    before, after = (sum(float(way[number].sum()) for number in counts) for way in (apart, joint))
    return [
        Figure(
            name=f"batch/{notion}/all_cells",
            values=(float(relative.mean() ** -0.5),),
            unit="x",
            at_least=LEAST,
        ),
        Figure(name=f"batch/{notion}/counts", values=((before / after) ** 0.5,), unit="x"),
    ]


def squares(
    path: Path, total: Guarantee, exact: list[np.ndarray], *, together: bool
) -> list[np.ndarray]:
    """Mean squared error of each cell, question by question."""
    sums = [np.zeros(len(each)) for each in exact]
    for _ in range(RELEASES):
        print(".", end="", file=sys.stderr, flush=True)
        for place, found in enumerate(answers(path, total, together=together)):
            sums[place] += (found - exact[place]) ** 2
    return [each / RELEASES for each in sums]


def answers(path: Path, total: Guarantee, *, together: bool) -> list[np.ndarray]:
    """The released numbers of all questions, asked together or one by one."""
    huge = dp.ZCDP(rho=1e30) if isinstance(total, dp.ZCDP) else dp.ApproxDP(epsilon=1e12, delta=0.5)
    table = dp.table(path, unit=dp.Row(), columns=COLUMNS)
    with dp.Curator(adult=table, budget=huge, ledger=dp.ledger.Memory()) as curator:
        if together:
            releases = list(curator.batch(QUESTIONS, spend=total).values())
        else:
            share = divided(total, len(QUESTIONS))
            releases = [curator.sql(text, spend=share) for text in QUESTIONS.values()]
        return [np.array(release.answers[0].values, dtype=float) for release in releases]


def divided(total: Guarantee, parts: int) -> Guarantee:
    """One part of a total that adds up to it."""
    match total:
        case dp.PureDP(epsilon=epsilon):
            return dp.PureDP(epsilon=epsilon / parts)
        case dp.ApproxDP(epsilon=epsilon, delta=delta):
            return dp.ApproxDP(epsilon=epsilon / parts, delta=delta / parts)
        case dp.ZCDP(rho=rho):
            return dp.ZCDP(rho=rho / parts)
    raise TypeError(type(total).__name__)
