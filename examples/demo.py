"""A census table behind a curator: ten questions in SQL, and what came of the budget.

Run by ``make demo``. The table is UCI Adult, 32 561 people, one row each. What stands to the right
of a bar is the truth, computed without privacy, so that you can see how good the answers are; a
curator has no such column.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path
from textwrap import indent, wrap
from time import perf_counter
from typing import Any

import adult
import polars as pl
from truth import Truth

import discreet as dp
from discreet.accounting import compare
from discreet.errors import DiscreetError

NUMBERS = {  # bounds that anybody would state without seeing the table
    "age": dp.Number(17, 90),
    "education_years": dp.Number(1, 16),
    "hours_per_week": dp.Number(0, 100),
    "capital_gain": dp.Number(0, 20_000),
}
LISTS = {
    "education": dp.Category(adult.EDUCATIONS),
    "occupation": dp.Category(adult.OCCUPATIONS),
    "sex": dp.Category(adult.SEXES),
    "income": dp.Category(adult.INCOMES),
}
LEVELS = {  # a public table: which education is of which level
    "school": adult.EDUCATIONS[:9],
    "college": adult.EDUCATIONS[9:12],
    "degree": adult.EDUCATIONS[12:],
}
DELTA = 1e-6
BUDGET = dp.ApproxDP(epsilon=2, delta=DELTA)
A_TENTH = dp.PureDP(epsilon=0.1)
CONFIDENCE = 0.95
WIDTH = 100


class Demo:
    """A curator, and the truth beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        people, levels = write_tables(folder)
        self.curator = dp.Curator(
            people=dp.table(people, unit=dp.Row(), columns={**NUMBERS, **LISTS}),
            levels=dp.public(levels),
            budget=BUDGET,
            ledger=folder / "people.ledger",
        )
        self.truth = Truth(people, levels, NUMBERS)
        self.bought: list[dp.Release] = []

    def ask(self, title: str, sql: str, *, true: str | None = None, **how: Any) -> dp.Release:
        """Print a question, buy its answer and print that beside the truth."""
        heading(f"{len(self.bought) + 1}. {title}")
        show(sql)
        print()
        release = self.curator.sql(sql, **(how or {"spend": A_TENTH}))
        show(self.truth.beside(release, true or sql))
        self.bought.append(release)
        return release

    def ten_questions(self) -> None:
        """A count, groups, means, sums, cases, bins, medians, spreads, a join and an order."""
        sql = "SELECT COUNT(*) AS n FROM people"
        heading("Before asking: what would it get me, at what price?")
        show(self.curator.preview(sql, spend=A_TENTH))
        self.ask("A count", sql)
        self.ask(
            "Groups: every declared key appears, and the whole table has one price",
            "SELECT education, COUNT(*) AS n FROM people GROUP BY education",
        )
        hours = self.ask(
            "Means",
            "SELECT sex, AVG(hours_per_week) AS hours FROM people GROUP BY sex",
        )
        gap = hours.cell("hours", sex="Male") - hours.cell("hours", sex="Female")
        print(f"\n   Men work longer by {gap}. Arithmetic on answers is free.")
        self.sum_with_bounds()
        self.ask(
            "Shares, with CASE",
            "SELECT sex, AVG(CASE WHEN income = '>50K' THEN 1 ELSE 0 END) AS share\n"
            "FROM people GROUP BY sex",
        )
        ages = self.ask(
            "Bins, and a picture",
            "SELECT bin(age, 10, 90, 8) AS decade, income, COUNT(*) AS n\n"
            "FROM people GROUP BY decade, income",
        )
        picture = self.folder / "ages.png"
        ages.save_plot(picture)
        print(f"\n   Drawn with its intervals: {picture}")
        self.ask(
            "A median: no interval, but a bound on how far off its rank is",
            "SELECT income, MEDIAN(age) AS age FROM people GROUP BY income",
        )
        self.ask(
            "A deviation and a correlation",
            "SELECT STDDEV(age) AS spread, CORR(education_years, hours_per_week) AS r FROM people",
        )
        self.ask(
            "A join with a public table",
            "SELECT level, AVG(hours_per_week) AS hours\n"
            "FROM people JOIN levels USING (education) GROUP BY level",
        )
        self.ask(
            "HAVING, ORDER BY and LIMIT act on released numbers",
            "SELECT occupation, COUNT(*) AS n FROM people GROUP BY occupation\n"
            "HAVING n > 1000 ORDER BY n DESC LIMIT 5",
            true="SELECT occupation, COUNT(*) AS n FROM people GROUP BY occupation",
        )

    def sum_with_bounds(self) -> None:
        """A sum, and what its bound cost."""
        condition = "WHERE workclass LIKE 'Self-emp%'"
        self.ask(
            "A sum with a condition",
            f"SELECT SUM(capital_gain) AS gain FROM people {condition}",
        )
        ((raw,),) = self.truth.rows(f"SELECT SUM(capital_gain) FROM raw {condition}")
        print(
            "\n   Gains above the declared 20 000 count as 20 000. Without the bound the true sum"
            f"\n   is {raw}; but then one person could change it without limit."
        )

    def buying(self) -> None:
        """Accuracy instead of a price, and an answer that was paid for already."""
        sql = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
        first = self.ask(
            "Name the accuracy, and pay only what it costs",
            sql,
            accuracy={"n": dp.Within(10, confidence=CONFIDENCE)},
        )
        heading("The same question again, in other words")
        again = "select Sex as sex, count(*) as n from people where true group by 1"
        show(again)
        before = self.curator.spent
        release = self.curator.sql(again, accuracy={"n": dp.Within(10, confidence=CONFIDENCE)})
        paid = "nothing was charged" if self.curator.spent == before else "it was charged again"
        show(f"\nrelease {release.id[:8]}…, as before: {release.id == first.id}; {paid}")

    def refusals(self) -> None:
        """Questions that have no private answer, or no money."""
        heading("Refused, at no charge")
        for sql, spend in (
            ("SELECT * FROM people", A_TENTH),
            ("SELECT country, COUNT(*) AS n FROM people GROUP BY country", A_TENTH),
            ("SELECT AVG(census_weight) AS w FROM people", A_TENTH),
            ("SELECT COUNT(*) AS n FROM people WHERE age > 40", dp.PureDP(epsilon=5)),
        ):
            show(sql)
            try:
                self.curator.sql(sql, spend=spend)
            except DiscreetError as refusal:
                show(f"→ {refusal}")
                print()

    def books(self) -> None:
        """What was asked and spent, that the record is whole, and what it costs together."""
        heading("The ledger: one file that remembers")
        curator = self.curator
        for asked in curator.history():
            show(f"{asked.price:28}{asked.ended:10}{' '.join(asked.query.split())[:58]}")
        curator.ledger.verify()
        spent, left = curator.spent, curator.remaining
        assert isinstance(spent, dp.ApproxDP)
        assert isinstance(left, dp.ApproxDP)
        show(f"\nspent      epsilon {float(spent.epsilon):.4f}, delta {spent.delta:g}")
        show(f"remaining  epsilon {float(left.epsilon):.4f}, delta {left.delta:g}")
        show("verified: every entry is sealed, and every answer was paid for")
        show(f"checkpoint {str(curator.ledger.checkpoint())[:40]}…  keep it elsewhere")
        heading("The same releases under other accountants: a report, not a refund")
        together = sum((release.event for release in self.bought[1:]), start=self.bought[0].event)
        for quote in compare.quotes(together, delta=DELTA):
            said = "no price" if quote.refusal else f"epsilon {quote.epsilon:.4f}"
            show(f"{quote.accountant:20}{said}")

    def score(self) -> None:
        """How often the stated intervals were right."""
        compared = self.truth.compared
        heading("How good were the intervals?")
        show(
            f"{compared.holding} of {compared.intervals} hold the truth; each was stated to do so "
            f"at least {CONFIDENCE:.0%} of the time."
        )


def write_tables(folder: Path) -> tuple[Path, Path]:
    """The private table as Parquet, and the public one as CSV."""
    people, levels = folder / "people.parquet", folder / "levels.csv"
    pl.DataFrame(vars(adult.load())).write_parquet(people)
    with levels.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["education", "level"])
        writer.writerows((name, level) for level, names in LEVELS.items() for name in names)
    return people, levels


def heading(text: str) -> None:
    """A line that stands out."""
    print(f"\n── {text} {'─' * (WIDTH - 4 - len(text))}")


def show(what: object) -> None:
    """Print, indented; what is longer than a line is folded."""
    for line in str(what).splitlines():
        folded = wrap(line, WIDTH, subsequent_indent="  ") if len(line) > WIDTH else [line]
        print(indent("\n".join(folded), "   "))


def main(folder: Path) -> None:
    """Ask, print, and close the books."""
    started = perf_counter()
    demo = Demo(folder)
    print("UCI Adult: people of the census of 1994, one row each. What is protected: each row.")
    print(f"Budget for all questions together: epsilon {BUDGET.epsilon}, delta {BUDGET.delta:g}.")
    print("Right of the bar │ stands the truth, computed without privacy for this demo only.")
    demo.ten_questions()
    demo.buying()
    demo.refusals()
    demo.books()
    demo.score()
    demo.curator.close()
    print(f"\n{perf_counter() - started:.1f} s. Table, ledger, key and picture are in {folder}.")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp(prefix="discreet-")))
