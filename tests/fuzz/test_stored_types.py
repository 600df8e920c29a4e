"""Stored types and file formats at their extremes, as values and as identifiers.

Whatever a person's value is, a question answers or is refused before anything is charged, with the
person as without; and one person moves the exact numbers by no more than declared. Seeds are fixed,
so there are no false alarms. ``audit`` runs every pair of source and type, and more dialects.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.noise import Noiseless
from tests.fuzz import stored
from tests.fuzz.stored import DAYS, NUMBER, SOURCES, TRUTHS, TYPES, WORDS
from tests.relational.neighbours.marks import privacy_defect

SPEND = dp.PureDP(epsilon=1)
ROUNDS = 1
FILES = 400
COUNTS = (
    "SELECT COUNT(*) AS n FROM {}",
    "SELECT COUNT(*) AS n FROM {} WHERE v IS NULL",
    "SELECT COUNT(*) AS n FROM {} WHERE v IS NOT NULL",
)
ASKED: dict[Any, tuple[str, ...]] = {
    NUMBER: (
        "SELECT COUNT(v) AS n FROM {}",
        "SELECT COUNT(DISTINCT v) AS n FROM {}",
        "SELECT COUNT(*) AS n FROM {} WHERE v > 3 OR v < -3",
        "SELECT SUM(v) AS s FROM {}",
    ),
    WORDS: (
        "SELECT v, COUNT(*) AS n FROM {} GROUP BY v",
        "SELECT COUNT(*) AS n FROM {} WHERE upper(v) LIKE 'A%' OR length(v) > 2",
    ),
    TRUTHS: ("SELECT v, COUNT(*) AS n FROM {} GROUP BY v", "SELECT COUNT(*) AS n FROM {} WHERE v"),
    DAYS: (
        "SELECT COUNT(v) AS n FROM {} WHERE v > DATE '2021-01-01'",
        "SELECT COUNT(*) AS n FROM {} WHERE year(v) = 2022",
    ),
    None: (),
}
FREE = (
    "SELECT COUNT(*) AS n FROM {} WHERE v = v",
    "SELECT COUNT(*) AS n FROM {} WHERE CAST(v AS VARCHAR) > 'M'",
)
Outcome = tuple[str, tuple[float, ...]]


def opened(source: object, table: str, unit: Any, columns: Any) -> dp.Curator | str:
    """A curator over the only table, or the code of the refusal to open it."""
    inside = table if isinstance(source, Path) and source.suffix == ".duckdb" else None
    try:
        return dp.Curator(
            t=dp.table(source, table=inside, unit=unit, columns=columns),
            budget=dp.PureDP(epsilon=1000),
            ledger=dp.ledger.Memory(),
            randomness=Noiseless(),
        )
    except DiscreetError as refused:
        return refused.code


def outcomes(source: object, table: str, unit: Any, columns: Any, asked: Any) -> list[Outcome]:
    """For each question its exact numbers, or the code of a refusal that cost nothing."""
    curator = opened(source, table, unit, columns)
    if isinstance(curator, str):
        return [(curator, ())]
    found: list[Outcome] = []
    with curator:
        for sql in asked:
            before = curator.spent
            try:
                values = curator.sql(sql.format("t"), spend=SPEND).answers[0].values
                found.append(("", tuple(float(value or 0) for value in values)))
            except DiscreetError as refused:
                free = curator.spent == before
                found.append((refused.code if free else "engine_failed", ()))
    return found


def compared(worlds: list[list[Outcome]], asked: Any, told: object) -> bool:
    """Whether anything was answered; both worlds end alike, and numbers move by their bounds."""
    present, absent = worlds
    assert [code for code, _ in present] == [code for code, _ in absent], told
    for sql, (code, more), (_, less) in zip(asked, present, absent, strict=False):
        assert code != "engine_failed", (told, sql)
        moved = sum(abs(one - other) for one, other in zip(more, less, strict=True))
        assert moved <= (10 if "SUM" in sql else 1) + 1e-6, (told, sql, more, less)
    return any(code == "" for code, _ in present)


def case(source: str, kind: str, role: str, seed: int, folder: Path) -> str:
    """One source with one type: answered, refused, or not to be made."""
    draw = random.Random(f"{source} {kind} {role} {seed}")
    values = TYPES[kind]
    allowed = stored.places(source, kind)
    bobs, *others = draw.choices(allowed, k=draw.randint(1, 7))
    if role == "identifier":
        others = [place for place in others if place != bobs]
    folder.mkdir()
    sources = []
    try:
        for name, places in (("present", [bobs, *others]), ("absent", others)):
            table = pa.table({"v": stored.array(values, places)})
            sources.append((SOURCES[source](table, folder / name), name))
    except Exception:  # some sources have no such type, or not such a value
        return "not made"
    unit: dp.Row | dp.Person = dp.Row()
    columns: dict[str, Any] = {}
    asked: tuple[str, ...] = (*COUNTS, *FREE)
    if role == "identifier":
        unit, asked = dp.Person("v", max_rows=1), COUNTS[:1]
    elif role == "declared":
        columns, asked = {"v": values.declared}, (*COUNTS, *ASKED[values.declared])
    worlds = [outcomes(made, name, unit, columns, asked) for made, name in sources]
    return "answered" if compared(worlds, asked, (source, kind, role, seed)) else "refused"


def roles(kind: str) -> list[str]:
    return ["undeclared", "identifier", *(["declared"] if TYPES[kind].declared else [])]


def covered(met: Counter[tuple[str, str]]) -> None:
    """Every source answered, and every type was met by an engine."""
    assert all(met[source, "answered"] for source in SOURCES), met
    assert all(met[kind, "answered"] + met[kind, "refused"] for kind in TYPES), met


def test_no_stored_value_makes_a_question_fail(tmp_path: Path) -> None:
    """A fixed share: every type once, in the first source from its place on that has it."""
    sources = list(SOURCES)
    met: Counter[tuple[str, str]] = Counter()
    for place, kind in enumerate(TYPES):
        role = roles(kind)[place % len(roles(kind))]
        for turn in range(len(sources)):
            source = sources[(place + turn) % len(sources)]
            outcome = case(source, kind, role, 0, tmp_path / f"{place} {turn}")
            met.update([(source, outcome), (kind, outcome)])
            if outcome != "not made":
                break
    covered(met)


@pytest.mark.audit
def test_no_stored_value_makes_any_question_fail(tmp_path: Path) -> None:
    met: Counter[tuple[str, str]] = Counter()
    for seed, source, kind in product(range(ROUNDS), SOURCES, TYPES):
        for role in roles(kind):
            folder = tmp_path / f"{seed} {source} {kind} {role}"
            outcome = case(source, kind, role, seed, folder)
            met.update([(source, outcome), (kind, outcome)])
    covered(met)


@privacy_defect("a moment in milliseconds beyond microseconds makes a scan of Parquet fail")
def test_a_far_moment_in_parquet_is_missing(tmp_path: Path) -> None:
    table = pa.table({"v": stored.array(TYPES["timestamp ms"], [0, 4])})
    made = SOURCES["parquet"](table, tmp_path / "t")
    unit = dp.Person("v", max_rows=1)
    assert outcomes(made, "t", unit, {}, COUNTS[:1])[0][0] == ""


# CSV ---------------------------------------------------------------------------------------------

DIALECTS = list(
    product(stored.SEPARATORS, stored.ENDINGS, stored.WRAPPINGS, stored.MARKS, stored.PACKINGS)
)
TEXTS = (
    *COUNTS[:1],
    "SELECT v, COUNT(*) AS n FROM {} GROUP BY v",
    "SELECT SUM(x) AS s FROM {}",
    "SELECT COUNT(*) AS n FROM {} WHERE v IS NULL AND x IS NULL",
)


def odd_file(dialect: tuple[str, ...], oddity: str, seed: int, folder: Path) -> None:
    draw = random.Random(f"{dialect} {oddity} {seed}")
    folder.mkdir()
    paths = stored.text_file(draw, dialect, oddity, folder)
    columns = {"v": WORDS, "x": NUMBER}
    for unit in (dp.Row(), dp.Person("pid", max_rows=1))[seed % 2 :][:1]:
        worlds = [outcomes(path, "t", unit, columns, TEXTS) for path in paths]
        assert all(code == "" for world in worlds for code, _ in world), (dialect, oddity)
        moved = 2 if isinstance(unit, dp.Person) else 1  # Bob's line may be another person's row
        for sql, (_, more), (_, less) in zip(TEXTS, *worlds, strict=True):
            apart = sum(abs(one - other) for one, other in zip(more, less, strict=True))
            assert apart <= moved * (10 if "SUM" in sql else 1) + 1e-6, (dialect, oddity, sql)


def test_no_line_of_a_text_file_touches_another(tmp_path: Path) -> None:
    """A fixed share: each oddity once, each feature of a dialect several times."""
    met: Counter[str] = Counter()
    for number, oddity in enumerate(stored.ODDITIES):
        dialect = DIALECTS[(number * 13) % len(DIALECTS)]
        odd_file(dialect, oddity, number, tmp_path / str(number))
        met.update([oddity, *dialect])
    features = (stored.SEPARATORS, stored.ENDINGS, stored.WRAPPINGS, stored.MARKS, stored.PACKINGS)
    assert all(met[name] for names in (stored.ODDITIES, *features) for name in names), met


@pytest.mark.audit
def test_no_line_of_any_text_file_touches_another(tmp_path: Path) -> None:
    every = list(product(DIALECTS, stored.ODDITIES))
    for number, (dialect, oddity) in enumerate(random.Random(FILES).sample(every, FILES)):
        odd_file(dialect, oddity, number, tmp_path / str(number))
