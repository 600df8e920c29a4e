"""Declarations of a small clinic, ways to declare each field of them anew, and all the verbs.

A *change* declares one field otherwise and leaves the rows as they are. A *verb* asks, grants or
opens something that reads these tables, and says by its charge whether anything old was found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import discreet as dp
from discreet.queries import Workload
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.online.pmw import private_gap_weights

SPEND = dp.ApproxDP(epsilon=4, delta=1e-6)
BUDGET = dp.ApproxDP(epsilon=100_000, delta=0.9)
PEOPLE = "patients"
Tables = dict[str, dict[str, Any]]
"""Arguments of ``dp.table`` and ``dp.public`` by table; ``source`` is the path."""


def write_rows(folder: Path) -> None:
    """Four tables in text files, all but the public one without a header."""
    visits = [
        f"{row},{row // 3},{'ABC'[row % 3]},{'CAB'[row % 3]},{20 + row % 60},{row % 90},"
        f"{row % 2},2024-0{1 + row % 9}-11,2024-0{1 + row % 7}-12,a;b,k{row % 2},{row % 5}"
        for row in range(120)
    ]
    (folder / "visits.csv").write_text("\n".join(visits) + "\n")
    patients = [f"{person},{'ABC'[person % 3]},{person % 2}" for person in range(40)]
    (folder / "patients.csv").write_text("\n".join(patients) + "\n")
    items = [f"{row},{row % 50}" for row in range(120)]
    (folder / "items.csv").write_text("\n".join(items) + "\n")
    (folder / "wards.csv").write_text("ward,beds\nA,10\nB,20\nC,30\n")


VISITS = [
    *("visit", "patient", "ward", "other", "age", "cost"),
    *("paid", "day", "left", "tags", "code", "score"),
]


def declarations(folder: Path) -> Tables:
    """Everything declared, and every kind of declaration somewhere."""
    return {
        "visits": {
            "source": folder / "visits.csv",
            "names": VISITS,
            "unit": dp.Person(
                "patient",
                max_rows=4,
                max_groups=3,
                max_rows_per_group=2,
                row="visit",
                of=PEOPLE,
            ),
            "columns": {
                "ward": dp.Category(["A", "B", "C"]),
                "age": dp.Integer(0, 120),
                "cost": dp.Number(0, 100, step=1),
                "paid": dp.Boolean(),
                "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
                "tags": dp.Text(max_elements=3, elements=dp.Category(["a", "b"])),
                "code": dp.Discovered(min_people=2),
                "band": dp.Category(["young", "old"]),
                "seen": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
            },
            "rows_at_most": 1000,
            "snapshot": "one",
            "max_rows_per": {"ward": 50},
            "derived": {
                "band": "CASE WHEN age < 50 THEN 'young' ELSE 'old' END",
                "seen": "CASE WHEN paid THEN day END",
            },
            "fixed_per_person": ["code"],
            "types": {"score": int},
        },
        "patients": {
            "source": folder / "patients.csv",
            "names": ["person", "ward", "sex"],
            "unit": dp.Person("person", max_rows=1, of=PEOPLE),
            "columns": {"ward": dp.Category(["A", "B", "C"]), "sex": dp.Category(["0", "1"])},
            "snapshot": "one",
            "max_rows_per": {"ward": 50},
        },
        "items": {
            "source": folder / "items.csv",
            "names": ["visit", "price"],
            "unit": dp.Person("visit", via="visits.patient", max_rows=6, of=PEOPLE),
            "columns": {"price": dp.Number(0, 50)},
            "snapshot": "one",
        },
        "wards": {"source": folder / "wards.csv", "types": {"beds": int}},
    }


def curator(tables: Tables, ledger: Any) -> dp.Curator:
    """A curator of these tables on a ledger that others may share."""
    made: dict[str, Any] = {}
    for name, options in tables.items():
        given = {key: value for key, value in options.items() if key != "source"}
        make: Any = dp.table if "unit" in given else dp.public
        made[name] = make(options["source"], **given)
    return dp.Curator(budget=BUDGET, ledger=ledger, engine=dp.DuckDB(threads=1), **made)


# Changes -----------------------------------------------------------------------------------------


def _set(table: str, option: str, value: object) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        tables[table][option] = value

    return change


def _column(name: str, declaration: object, table: str = "visits") -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        tables[table]["columns"][name] = declaration

    return change


def _unit(table: str = "visits", **fields: object) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        tables[table]["unit"] = replace(tables[table]["unit"], **fields)

    return change


def _derived(name: str, text: str) -> Callable[[Tables], None]:
    def change(tables: Tables) -> None:
        tables["visits"]["derived"][name] = text

    return change


def _named(old: str, new: str) -> Callable[[Tables], None]:
    """Two columns of a file exchange their names."""

    def change(tables: Tables) -> None:
        names = tables["visits"]["names"]
        other = {old: new, new: old}
        tables["visits"]["names"] = [other.get(name, name) for name in names]

    return change


def _rewritten(tables: Tables) -> None:
    """The public table has other rows, in another file."""
    path = tables["wards"]["source"]
    other = path.with_name("wards-anew.csv")
    other.write_text("ward,beds\nA,30\nB,20\nC,10\n")
    tables["wards"]["source"] = other


def _replaced(tables: Tables) -> None:
    for options in tables.values():
        if "unit" in options:
            options["unit"] = dp.Replace(options["unit"])


def _of(tables: Tables) -> None:
    for options in tables.values():
        if "unit" in options:
            options["unit"] = replace(options["unit"], of="clients")


@dataclass(frozen=True)
class Change:
    """One field of a declaration, declared otherwise, and the table it is declared of."""

    of: tuple[str, str]
    apply: Callable[[Tables], None]
    table: str = "visits"

    def applied(self, tables: Tables) -> Tables:
        """The declarations with the change; those given stay."""
        changed = {name: {**options} for name, options in tables.items()}
        for options in changed.values():
            for key in ("columns", "derived", "names", "types"):
                if key in options:
                    options[key] = deepcopy(options[key])
        self.apply(changed)
        return changed


BLOCKS = dp.Dates(date(2024, 2, 1), date(2024, 12, 31))
CHANGES: Mapping[str, Change] = {
    "another snapshot": Change(("Table", "snapshot"), _set("visits", "snapshot", "two")),
    "fewer rows": Change(("Table", "rows_at_most"), _set("visits", "rows_at_most", 999)),
    "rows per key": Change(("Table", "max_rows_per"), _set("visits", "max_rows_per", {"ward": 40})),
    "a derivation": Change(
        ("Table", "derived"), _derived("band", "CASE WHEN age < 60 THEN 'young' ELSE 'old' END")
    ),
    "a derivation by other words": Change(
        ("Table", "derived"), _derived("band", "CASE WHEN age < 50 THEN 'old' ELSE 'young' END")
    ),
    "a derived day": Change(
        ("Table", "derived"), _derived("seen", "CASE WHEN paid THEN NULL ELSE day END")
    ),
    "what is fixed": Change(
        ("Table", "fixed_per_person"), _set("visits", "fixed_per_person", ["ward"])
    ),
    "a type": Change(("Table", "types"), _set("visits", "types", {"score": float})),
    "columns": Change(("Table", "columns"), _column("other", dp.Category(["A", "B", "C"]))),
    "names of two columns": Change(("CSVFile", "names"), _named("ward", "other")),
    "names of two inputs": Change(("CSVFile", "names"), _named("age", "cost")),
    "names of two days": Change(("CSVFile", "names"), _named("day", "left")),
    "names of two people": Change(("CSVFile", "names"), _named("patient", "visit")),
    "the unit": Change(("Table", "unit"), _replaced),
    "replaced": Change(("Replace", "unit"), _replaced),
    "identifier": Change(("Person", "id"), _unit("patients", id="sex"), table="patients"),
    "rows of a person": Change(("Person", "max_rows"), _unit(max_rows=3)),
    "groups of a person": Change(("Person", "max_groups"), _unit(max_groups=2)),
    "rows in a group": Change(("Person", "max_rows_per_group"), _unit(max_rows_per_group=1)),
    "whose": Change(("Person", "of"), _of),
    "the row": Change(("Person", "row"), _unit(row=None)),
    "the way": Change(("Person", "via"), _unit("items", id="visit", via=None), table="items"),
    "a list": Change(("Category", "values"), _column("ward", dp.Category(["A", "B"]))),
    "a derived list": Change(("Category", "values"), _column("band", dp.Category(["young"]))),
    "order of a list": Change(
        ("Category", "values"), _column("ward", dp.Category(["B", "A", "C"]))
    ),
    "low": Change(("Number", "low"), _column("cost", dp.Number(1, 100, step=1))),
    "high": Change(("Number", "high"), _column("cost", dp.Number(0, 99, step=1))),
    "step": Change(("Number", "step"), _column("cost", dp.Number(0, 100, step=2))),
    "whole low": Change(("Integer", "low"), _column("age", dp.Integer(55, 120))),
    "whole high": Change(("Integer", "high"), _column("age", dp.Integer(0, 45))),
    "no integer": Change(("Integer", "low"), _column("age", dp.Number(0, 120))),
    "first": Change(("Dates", "first"), _column("day", BLOCKS)),
    "last": Change(
        ("Dates", "last"), _column("day", dp.Dates(date(2024, 1, 1), date(2024, 6, 30)))
    ),
    "first of a derived day": Change(("Dates", "first"), _column("seen", BLOCKS)),
    "people of a key": Change(
        ("Discovered", "min_people"), _column("code", dp.Discovered(min_people=3))
    ),
    "elements": Change(
        ("Text", "max_elements"),
        _column("tags", dp.Text(max_elements=2, elements=dp.Category(["a", "b"]))),
    ),
    "what elements are": Change(
        ("Text", "elements"),
        _column("tags", dp.Text(max_elements=3, elements=dp.Category(["a", "c"]))),
    ),
    "public rows": Change(("PublicTable", "source"), _rewritten, table="wards"),
    "public types": Change(
        ("PublicTable", "types"), _set("wards", "types", {"beds": str}), table="wards"
    ),
}


# Verbs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verb:
    """What is done, and again; which tables it reads."""

    first: Callable[[dp.Curator], Any]
    again: Callable[[dp.Curator, Any], Any]
    reads: frozenset[str] = frozenset({"visits"})


def _asked(ask: Callable[[dp.Curator], Any], *reads: str) -> Verb:
    return Verb(ask, lambda c, _: ask(c), frozenset(reads or {"visits"}))


def _sql(text: str, *reads: str, **more: Any) -> Verb:
    return _asked(lambda c: c.sql(text, spend=SPEND, **more), *reads)


def _universe(c: Any) -> Any:
    return c.universe("visits", "ward", "band")


def _round(c: Any) -> Any:
    return c.round(
        _universe(c),
        analysts=["ann"],
        queries_each=1,
        protects=OneQuery(),
        promise=dp.ApproxDP(epsilon=1, delta=1e-6),
        spend=SPEND,
    )


def _conversation(c: Any) -> Any:
    talking = partial(private_gap_weights, about=600, updates=3)
    pure = dp.PureDP(epsilon=50)
    return c.converse(_universe(c), mechanism=talking, questions=9, spend=pure)


def _resumed(opened: Callable[[Any], Any]) -> Verb:
    return Verb(opened, lambda c, before: c.resume(before.id))


def _partition(by: str) -> Verb:
    return _asked(lambda c: c.partition("visits", by=by, budget=dp.PureDP(epsilon=1), k=1))


def _blocks(by: str) -> Verb:
    return _asked(
        lambda c: c.blocks(
            "visits",
            by=f"date_trunc('month', {by})",
            budget=dp.PureDP(epsilon=1),
            k=1,
            settled=date(2024, 12, 1),
            name=f"months of {by}",
        )
    )


BANDS = "SELECT band, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE paid GROUP BY band"
ANSWERS: Mapping[str, Verb] = {
    "sql": _sql(BANDS),
    "sql with left out": _sql(BANDS, left_out=dp.LeftOut(share=0.1)),
    "median": _sql("SELECT MEDIAN(cost) AS m FROM visits WHERE score > 1"),
    "discovered keys": _sql("SELECT code, COUNT(*) AS n FROM visits GROUP BY code"),
    "elements": _sql(
        "SELECT e, COUNT(*) AS n FROM visits, UNNEST(string_split(tags, ';')) AS u(e) GROUP BY e"
    ),
    "by a way": _sql("SELECT SUM(price) AS s FROM items", "items", "visits"),
    "people joined": _sql(
        "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.patient = patients.person",
        "visits",
        "patients",
    ),
    "joined by a key": _sql(
        "SELECT COUNT(*) AS n FROM visits JOIN patients ON visits.ward = patients.ward",
        "visits",
        "patients",
    ),
    "public joined": _sql(
        "SELECT COUNT(*) AS n FROM visits JOIN wards ON visits.ward = wards.ward "
        "WHERE wards.beds IS NOT NULL",
        "visits",
        "wards",
    ),
    "frame": _asked(
        lambda c: c.frame("visits").group_by("band").agg(n=dp.count()).release(spend=SPEND)
    ),
    "batch": _asked(lambda c: c.batch({"a": BANDS}, spend=SPEND)),
    "bounds": _asked(lambda c: c.bounds("visits", "cost", spend=SPEND)),
    "limits": _asked(lambda c: c.learn_limits(dp.RowsPer("visits", "ward"), spend=SPEND)),
    "synopsis": _asked(
        lambda c: c.synopsis(
            Workload.marginals(_universe(c), 1),
            mechanism=dp.queries.MatrixMechanism,
            spend=SPEND,
        )
    ),
    "synthesize": _asked(lambda c: c.synthesize("visits", columns=["ward", "band"], spend=SPEND)),
    "synthesize tables": _asked(
        lambda c: c.synthesize_tables(
            "patients", ["visits"], columns={"visits": ["band"]}, spend=SPEND
        ),
        "patients",
        "visits",
    ),
    "fit": _asked(
        lambda c: c.fit(
            dp.learn.Ridge(), "SELECT cost, age AS years FROM visits", target="years", spend=SPEND
        )
    ),
    "fit of rows": _asked(
        lambda c: c.fit(
            dp.learn.LogisticRegression(),
            "SELECT cost, band FROM visits",
            target="band",
            spend=SPEND,
        )
    ),
}
GRANTS: Mapping[str, Verb] = {
    "partition": _partition("ward"),
    "partition by what is derived": _partition("band"),
    "partition by an expression": _partition("bin(age, 0, 120, 40)"),
    "blocks": _blocks("day"),
    "blocks of a derived day": _blocks("seen"),
}
RESUMED: Mapping[str, Verb] = {
    "conversation": _resumed(_conversation),
    "round": _resumed(_round),
}
ALL: Mapping[str, Verb] = {**ANSWERS, **GRANTS, **RESUMED}

# What really is the same -------------------------------------------------------------------------

_BY_WAY = {
    "another snapshot",
    "fewer rows",
    "names of two columns",
    "names of two inputs",
    "names of two days",
    "names of two people",
    "the way",
}
"""A way reads two columns of the table that it leads through, as they are stored."""
_NAMES = {name for name in CHANGES if name.startswith("names of")}
_AGES = {"whole low", "whole high", "no integer"}
_DECIDES: Mapping[str, set[str]] = {
    "by a way": _BY_WAY,
    "partition": {"another snapshot", *_NAMES, "a list", "order of a list"},
    "partition by what is derived": {
        "another snapshot",
        *_NAMES,
        *_AGES,
        "a derivation",
        "a derivation by other words",
        "a derived list",
    },
    "partition by an expression": {"another snapshot", *_NAMES, *_AGES},
    "blocks": {"names of two days", "names of two people", "first"},
    "blocks of a derived day": {
        "names of two days",
        "names of two people",
        "a derived day",
        "first",
        "last",
        "first of a derived day",
    },
}
"""The changes that decide what these read, of all that there are."""
_UNREAD: Mapping[str, set[str]] = {
    "rows per key": set(ALL) - {"joined by a key"},
    "what is fixed": {*ANSWERS} - {"discovered keys", "synopsis", "synthesize"},
    "groups of a person": {"discovered keys", "joined by a key", "limits"},
    "rows in a group": {"joined by a key", "limits"},
}
"""Declarations of which some verbs read nothing: no key is joined by, or no such group is told."""


def is_read(verb: str, change: str) -> bool:
    """Whether a change decides what a verb reads."""
    if CHANGES[change].table not in ALL[verb].reads:
        return False
    if verb in _DECIDES:
        return change in _DECIDES[verb]
    return verb not in _UNREAD.get(change, ())
