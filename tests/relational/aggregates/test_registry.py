"""The allow-list of aggregates: the parser, the page and the identity know each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlglot import exp

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.relational.aggregates import registry
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.registry import FUNCTIONS, NAMES
from discreet.relational.database import Database
from discreet.relational.identity.tags import FORMS
from discreet.relational.sql.aggregate_calls import call_of, mark_aggregate_calls
from discreet.relational.sql.statement import parse
from discreet.relational.sql.translate import query_from

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "sql.md").read_text("utf-8")
WRITTEN = {
    Argument.COUNTED: "*",
    Argument.CONDITION: "age > 50",
    Argument.NUMBER: "greatest(age, 1)",
    Argument.CANDIDATES: "age",
    Argument.LEVEL: "0.25",
}


@pytest.fixture(scope="module")
def database() -> Iterator[Database]:
    rows = {"patient": np.arange(9), "age": np.arange(9), "cost": np.arange(9) / 2}
    columns = {"age": dp.Number(0, 110), "cost": dp.Number(0, 5_000)}
    made = Database(
        dp.DuckDB(threads=1), {"visits": dp.table(rows, unit=dp.Row(), columns=columns)}
    )
    yield made
    made.engine.close()


def call(function: AggregateFunction, name: str) -> str:
    return f"{name}({', '.join(WRITTEN[kind] for kind in function.arguments)})"


def classes(kind: type[Any] = Aggregate) -> list[type[Any]]:
    found = [kind] if not getattr(kind, "__abstractmethods__", None) else []
    return found + [each for below in kind.__subclasses__() for each in classes(below)]


def test_every_name_is_on_the_page() -> None:
    words = set(re.findall(r"[A-Z_]+", " ".join(re.findall(r"`([^`]*)`", PAGE))))
    assert set(NAMES) - words == set()


def test_no_name_means_two_functions() -> None:
    names = [name for function in FUNCTIONS for name in function.names]
    assert len(names) == len(set(names))
    assert all(name == name.upper() for name in names)


def test_every_aggregate_has_a_tag_and_is_exported() -> None:
    assert set(classes()) - set(FORMS) == set()
    assert {kind.__name__ for kind in classes()} <= set(registry.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_the_parser_leads_every_name_to_its_function(name: str) -> None:
    function = NAMES[name]
    for spelled in (name, name.lower()):
        item: Any = parse(f"SELECT {call(function, spelled)} FROM visits").expressions[0]
        assert isinstance(item, exp.AggFunc)
        found = call_of(item).function  # type: ignore[arg-type]
        assert (found.make, found.arguments) == (function.make, function.arguments)


@pytest.mark.parametrize("name", NAMES)
def test_every_name_is_answered_and_counts_its_arguments(name: str, database: Database) -> None:
    function = NAMES[name]
    good = call(function, name)
    for text in (good, f"{good} FILTER (WHERE age > 3)"):
        query = query_from(f"SELECT {text} AS a FROM visits", database)
        (made,) = query.aggregates
        assert len(made.measures) == len(made.weights) >= 1
    for arguments in ("", "age, age, age, age"):
        if name == "COUNT" and not arguments:
            continue
        with pytest.raises(DiscreetError, match=r"unsupported_sql|sql_syntax|quantile_level"):
            query_from(f"SELECT {name}({arguments}) AS a FROM visits", database)


@pytest.mark.parametrize(
    "text",
    [
        "MAX(age, 3)",
        "MIN(age, 2)",
        "APPROX_QUANTILE(age, 0.5, 100)",
        "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age, cost)",
        "PERCENTILE_CONT(0.5)",
        "COUNT(age, cost)",
    ],
)
def test_an_argument_too_many_is_refused_and_never_ignored(text: str, database: Database) -> None:
    with pytest.raises(DiscreetError, match="unsupported_sql"):
        query_from(f"SELECT {text} AS a FROM visits", database)


def test_only_names_of_the_registry_are_marked() -> None:
    tree: Any = exp.func("no_such_function", exp.column("x"))
    assert mark_aggregate_calls(tree) is tree
