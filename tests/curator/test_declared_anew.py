"""Whatever decides what is read is declared anew, and nothing old is found: by no verb.

Every field of every declaration is declared otherwise, on the same ledger and over the same rows.
An answer is then bought afresh or refused, a grant is another grant, and what was opened is not
gone on with; except where what is read really is the same, which is said cell by cell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from datetime import date
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.unit import Person, Replace
from discreet.errors import DiscreetError
from discreet.ledger import Role, SubAccount, SubAccountGrant
from discreet.relational.schema import declarations as declared
from discreet.relational.schema import sources
from discreet.relational.schema.table import PublicTable, Table
from tests.curator.declared_anew import (
    ALL,
    ANSWERS,
    CHANGES,
    GRANTS,
    RESUMED,
    Tables,
    Verb,
    curator,
    declarations,
    is_read,
    write_rows,
)

ONE = dp.PureDP(epsilon=1)
COUNT = "SELECT COUNT(*) AS n FROM t"
WHERE_ROWS_LIE = {
    ("Table", "source"),
    ("CSVFile", "path"),
    ("ParquetFile", "path"),
    ("ParquetFile", "identifiers"),  # follows from the unit
    ("Files", "pattern"),
    ("Files", "parts"),
    ("DatabaseTable", "path"),
    ("DatabaseTable", "table"),  # below, without a name for the version
    ("DatabaseTable", "stands_for"),  # rows that were invented
    ("InMemory", "frame"),
}
"""Where the rows lie: the owner's name for the version stands for it, or the file's own."""

KINDS = (
    *(Table, PublicTable, Person, Replace),
    *(declared.Category, declared.Number, declared.Integer, declared.Boolean),
    *(declared.Dates, declared.Discovered, declared.Text),
    *(sources.CSVFile, sources.ParquetFile, sources.Files),
    *(sources.DatabaseTable, sources.InMemory),
)


def test_every_field_of_every_declaration_is_declared_anew() -> None:
    every = {(kind.__name__, each.name) for kind in KINDS for each in fields(kind)}
    assert {change.of for change in CHANGES.values()} | WHERE_ROWS_LIE == every
    known = set(declared.Declaration.__args__)
    assert known <= set(KINDS)
    files = {kind for kind in vars(sources).values() if isinstance(kind, type)}
    concrete = {
        kind
        for kind in files
        if issubclass(kind, sources.TableSource)
        and kind not in (sources.TableSource, sources.FileSource)
    }
    assert concrete <= set(KINDS)


NOT_OPENED = {"the unit", "replaced", "whose"}
"""Another unit is refused by the ledger itself."""


def code_of(attempt: Callable[[], object]) -> str:
    """How an attempt is refused; "found" where it is not."""
    try:
        attempt()
    except DiscreetError as refusal:
        return refusal.code
    return "found"


class Clinic:
    """All verbs once, as declared at first, on one ledger."""

    def __init__(self, folder: Path) -> None:
        write_rows(folder)
        self.tables: Tables = declarations(folder)
        self.ledger = dp.ledger.Memory()
        self._first = curator(self.tables, self.ledger)
        self._made: dict[str, Any] = {}

    def found(self, source: dp.Curator, name: str) -> bool:
        """Whether a verb finds, for nothing, what was there at first."""
        verb: Verb = ALL[name]
        if name not in self._made:
            self._made[name] = verb.first(self._first)
        spent = source.spent
        try:
            verb.again(source, self._made[name])
        except DiscreetError:
            assert source.spent == spent  # a refusal is free
            return False
        return source.spent == spent

    def cells(self, change: str, verbs: list[str]) -> dict[str, bool]:
        """For each verb, whether it finds something old after a change."""
        changed = CHANGES[change].applied(self.tables)
        if change in NOT_OPENED:
            with pytest.raises(DiscreetError) as refusal:
                curator(changed, self.ledger)
            assert refusal.value.code == "ledger_terms"
            return {}
        source = curator(changed, self.ledger)
        return {name: self.found(source, name) for name in verbs}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Clinic:
    return Clinic(tmp_path_factory.mktemp("clinic"))


LONG = ("synopsis", "synthesize", "synthesize tables", "fit", "fit of rows")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in ALL]
)
def test_what_is_declared_as_it_was_is_found(clinic: Clinic, name: str) -> None:
    """A pair of declarations that are equal: or everything below would hold for nothing."""
    assert clinic.found(curator(clinic.tables, clinic.ledger), name)


FEW = [name for name in (*RESUMED, *ANSWERS) if name not in LONG]
SAMPLED = dict(zip(CHANGES, islice(cycle(FEW), len(CHANGES)), strict=True))
"""For each change one of the verbs that answer or go on; all of them are among the slow tests."""


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_old_is_found(clinic: Clinic, change: str) -> None:
    cells = clinic.cells(change, [*GRANTS, SAMPLED[change]])
    assert [name for name, found in cells.items() if found and is_read(name, change)] == []


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_nothing_old_is_found_by_any_verb(clinic: Clinic, change: str) -> None:
    """And what is not read is found: a table that is exact on both sides cannot be too lenient."""
    cells = clinic.cells(change, list(ALL))
    assert cells == {name: not is_read(name, change) for name in cells}


# One unit in two parts -------------------------------------------------------------------------


def held(derived: dict[str, str], unit: Any, ledger: Any) -> dp.Curator:
    frame = pl.DataFrame({"pid": [1, 2, 3], "x": [1, 2, 3], "d": [date(2024, 1, 5)] * 3})
    days = dp.Dates(date(2024, 1, 1), date(2024, 12, 31))
    columns: dict[str, Any] = {
        "w": dp.Category(["A", "B"]),
        "x": dp.Number(0, 9),
        "day": days,
    }
    table = dp.table(frame, unit=unit, columns=columns, derived=derived, snapshot="one")
    return dp.Curator(t=table, budget=dp.PureDP(epsilon=2), ledger=ledger)


BEFORE = {"w": "CASE WHEN x < 3 THEN 'A' ELSE 'B' END", "day": "d"}
AFTER = {"w": "CASE WHEN x < 3 THEN 'B' ELSE 'A' END", "day": "d + INTERVAL 1 MONTH"}


@pytest.mark.parametrize("kind", ["partition", "blocks"])
@pytest.mark.parametrize("k", [None, 1])
def test_a_unit_is_not_put_into_a_second_part_by_another_derivation(
    kind: str, k: int | None
) -> None:
    """Rows, and people kept in one part: what the ledger says is what one unit was asked for."""
    ledger, unit = dp.ledger.Memory(), dp.Row() if k is None else dp.Person("pid", max_rows=2)

    def part(derived: dict[str, str], name: str, value: Any) -> tuple[dp.Curator, Any]:
        whole = held(derived, unit, ledger)
        if kind == "partition":
            return whole, whole.partition("t", by="w", budget=ONE, k=k, name=name)[value]
        months = whole.blocks(
            "t",
            by="date_trunc('month', day)",
            budget=ONE,
            k=k,
            settled=None if k is None else date(2024, 12, 1),
            name=name,
        )
        return whole, months[value]

    one, other = ("A", "B") if kind == "partition" else (date(2024, 1, 9), date(2024, 2, 9))
    whole, first = part(BEFORE, "parts", one)
    first.sql(COUNT, spend=ONE)
    with pytest.raises(DiscreetError) as refusal:
        part(AFTER, "parts", other)
    assert refusal.value.code == "allotment_terms"
    assert whole.spent.epsilon == 1  # type: ignore[attr-defined]
    anew, second = part(AFTER, "parts anew", other)
    second.sql(COUNT, spend=ONE)
    assert anew.spent.epsilon == 2  # type: ignore[attr-defined]
    ledger.verify()


@pytest.mark.parametrize("derived", [{}, BEFORE], ids=["stored", "derived"])
def test_a_grant_that_does_not_tell_its_columns_is_not_found(derived: dict[str, str]) -> None:
    """It could be about anything."""
    ledger = dp.ledger.Memory()
    frame = pl.DataFrame({"w": ["A", "B"], "x": [1, 5]})
    columns: dict[str, Any] = {"w": dp.Category(["A", "B"]), "x": dp.Number(0, 9)}
    made = {"w": derived["w"]} if derived else {}
    table = dp.table(frame, unit=dp.Row(), columns=columns, derived=made, snapshot="one")
    whole = dp.Curator(t=table, budget=dp.PureDP(epsilon=9), ledger=ledger)
    whole.partition("t", by="w", budget=ONE, name="new")
    body = next(entry.body for entry in ledger.entries() if entry.kind.value == "granted")
    before = {
        key: body["detail"][key] for key in body["detail"] if key not in ("columns", "places")
    }
    SubAccount.opened(
        ledger,
        "",
        SubAccountGrant(
            name="old",
            role=Role.PARTITION,
            charge=tuple(map(int, body["charge"])),
            limit=tuple(map(int, body["limit"])),
            filter=body["filter"],
            budget=body["budget"],
            detail=before,
        ),
    )
    spent = whole.spent
    code = code_of(lambda: whole.partition("t", by="w", budget=ONE, name="old"))
    assert code == "allotment_terms"
    assert whole.spent == spent


@pytest.mark.parametrize("written", ["visits", "VISITS"])
def test_a_way_is_the_same_in_other_letters(tmp_path: Path, written: str) -> None:
    """Names of tables have no case: the table that is led through is one, in answers and grants."""
    write_rows(tmp_path)
    tables = declarations(tmp_path)
    ledger, unit = dp.ledger.Memory(), tables["items"]["unit"]

    def asked(tables: Tables) -> dp.Curator:
        whole = curator(tables, ledger)
        whole.sql("SELECT SUM(price) AS s FROM items", spend=ONE)
        whole.partition("items", by="bin(price, 0, 50, 10)", budget=ONE, k=1)
        return whole

    spent = asked(tables).spent
    tables["items"]["unit"] = replace(unit, via=f"{written}.patient")
    assert asked(tables).spent == spent
    moved = CHANGES["names of two people"].applied(tables)
    whole = curator(moved, ledger)
    attempt = lambda: whole.partition("items", by="bin(price, 0, 50, 10)", budget=ONE, k=1)  # noqa: E731
    assert code_of(attempt) == "allotment_terms"
    assert whole.spent == spent


def test_a_table_beside_another_in_one_file_is_not_taken_for_it(tmp_path: Path) -> None:
    """The file is the same, to the byte; no name of a version says that the rows are."""
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE july AS SELECT 'A' AS w FROM range(5)")
        connection.execute("CREATE TABLE august AS SELECT 'B' AS w FROM range(5)")
    ledger = dp.ledger.Memory()

    def asked(name: str) -> tuple[str, str, float]:
        table = dp.table(path, table=name, unit=dp.Row(), columns={"w": dp.Category(["A", "B"])})
        whole = dp.Curator(t=table, budget=dp.PureDP(epsilon=9), ledger=ledger)
        codes = (
            code_of(lambda: whole.sql(COUNT, spend=ONE)),
            code_of(lambda: whole.partition("t", by="w", budget=ONE)),
        )
        return *codes, float(whole.spent.epsilon)  # type: ignore[attr-defined]

    assert asked("july") == ("found", "found", 2)
    assert asked("july") == ("found", "found", 2)
    assert asked("august") == ("paid_before_other_snapshot", "allotment_terms", 2)
