"""How rows spread over people, what a bound would drop, and how alike one person's rows are."""

from __future__ import annotations

from discreet.core.unit import Person, add_remove
from discreet.curator.profile.reading import Reading
from discreet.curator.profile.report import Contributions, Cut
from discreet.relational.types.data_type import DataType

_CANDIDATES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def contributions(table: Reading, rows: int) -> Contributions | None:
    """Rows of each person, and what candidates for ``max_rows`` would drop."""
    unit, found = add_remove(table.declared.unit), table.person()
    if found is None:
        return None
    assert isinstance(unit, Person)
    table.step(f"{table.name}: rows of each person")
    person, place = found
    spread = sorted(
        (int(n), int(people))
        for n, people in table.rows(
            f"SELECT n, COUNT(*) FROM (SELECT COUNT(*) AS n FROM {place} "
            f"WHERE {person} IS NOT NULL GROUP BY {person}) AS q GROUP BY n"
        )
    )
    people = sum(times for _, times in spread)
    owned = sum(n * times for n, times in spread)
    most = spread[-1][0] if spread else 0
    bounds = {*(each for each in _CANDIDATES if each < most), most, unit.max_rows or 1} - {0}
    return Contributions(
        identifier=unit.via or unit.id,
        people=people,
        rows=owned,
        without_identifier=max(0, rows - owned),
        median=_quantile(spread, people / 2),
        ninety_nine=_quantile(spread, people * 0.99),
        most=most,
        heaviest=_heaviest(spread, max(1, people // 100)) / owned if owned else 0.0,
        cuts=tuple(_compute_cut_at_bound(spread, bound) for bound in sorted(bounds)),
    )


def alike(table: Reading, value: str) -> float | None:
    """The intraclass correlation: 1 where rows of one person are all the same, 0 if unrelated.

    One-way analysis of variance, with people of unequal numbers of rows.
    """
    found = table.person()
    if found is None:
        return None
    person, place = found
    real = table.dialect.types[DataType.DOUBLE]
    numbers = table.row(
        "SELECT COUNT(*), SUM(n), SUM(n * n), SUM(s), SUM(s * s / n), SUM(q) FROM (SELECT "
        f"CAST(COUNT(v) AS {real}) AS n, SUM(v) AS s, SUM(v * v) AS q FROM (SELECT "
        f"{person} AS p, CAST({value} AS {real}) AS v FROM {place}) AS o "
        "WHERE p IS NOT NULL AND v IS NOT NULL GROUP BY p) AS g"
    )
    if None in numbers:
        return None
    people, rows, squares, total, means, every = map(float, numbers)
    if not 1 < people < rows:
        return None
    between = (means - total * total / rows) / (people - 1)
    inside = (every - means) / (rows - people)
    typical = (rows - squares / rows) / (people - 1)
    spread = between + (typical - 1) * inside
    return round((between - inside) / spread, 3) if spread > 0 else None


def _compute_cut_at_bound(spread: list[tuple[int, int]], bound: int) -> Cut:
    beyond = [(n, times) for n, times in spread if n > bound]
    return Cut(
        bound, sum(times for _, times in beyond), sum((n - bound) * times for n, times in beyond)
    )


def _quantile(spread: list[tuple[int, int]], rank: float) -> int:
    """The least number of rows that ``rank`` people do not exceed."""
    seen = 0
    for n, times in spread:
        seen += times
        if seen >= rank:
            return n
    return 0


def _heaviest(spread: list[tuple[int, int]], people: int) -> int:
    """Rows of the ``people`` with the most of them."""
    rows = 0
    for n, times in reversed(spread):
        taken = min(times, people)
        rows, people = rows + n * taken, people - taken
    return rows
