"""LIKE and conversions of text take a time that no text within its limit makes explode."""

from __future__ import annotations

import time
from typing import Any

import polars as pl
import pytest

from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.engines.spark.dialect import SparkDialect
from discreet.relational.functions.casts import cast
from discreet.relational.functions.patterns import like
from discreet.relational.functions.regular_expressions import matches
from discreet.relational.schema.sources import source_of
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType
from discreet.relational.types.expression import Call, Column, Expression, evaluate
from tests.processor_time import at_most
from tests.relational.conformance.engines import DUCKDB, POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows, missing


def spark_home(_: Any) -> SparkWithRows:
    return SparkWithRows(settings=INTERPRETED)


ENGINES = (DUCKDB, POSTGRES, Maker("spark", missing, spark_home))

PATTERNS = (
    *("%a%a%a%a%b", "%a_%a_%a_%b", "%a_%a_%a_%b%", "a%a!_%a%a%b", "%_%_%_%_%b", "%a%%a%a_%a%b"),
    *("%" + "a" * 900 + "b%", "%" + "a_" * 450 + "b%a%a%b", "%" + "_" * 900 + "%a%a%b"),
)
"""No text of the letter a matches; a matcher that comes back tries all places of all pieces."""
REGULAR = (
    *("a*b", "[ab]*c", "a.*b", "(a|aa)a*c", "[a-z]+[0-9]+x", ".{0,255}b", "^a*b|a+c", "a?b"),
    *("(aa|a)(a|aa)(a|ab)(b|ba).*c", "[^b]*b$", r"\w+\d\W", "é+a"),
)
"""Regular expressions that make a matcher come back most often, of those that are understood."""
SECONDS = 120.0


def test_the_interpreter_matches_in_a_time_that_does_not_explode() -> None:
    with at_most(SECONDS):
        for pattern in PATTERNS:
            assert like(pattern, "!").apply(["a" * TEXT_LIMIT], DataType.BOOLEAN) is False
        for pattern in REGULAR:
            assert matches(pattern).apply(["a" * TEXT_LIMIT], DataType.BOOLEAN) is False


@pytest.mark.parametrize("maker", ENGINES, ids=[maker.name for maker in ENGINES])
def test_no_text_keeps_a_matcher_busy(maker: Maker) -> None:
    """Seconds, and on a busy machine a minute, for what would take ages."""
    long = Column("v", ColumnDomain(DataType.TEXT))
    tests: list[Expression] = [Call(like(pattern, "!"), (long,)) for pattern in PATTERNS]
    tests += [Call(matches(pattern), (long,)) for pattern in REGULAR]
    tests += [Call(cast(kind), (long,)) for kind in DataType if kind is not DataType.TEXT]
    texts = ["a" * TEXT_LIMIT, "9" * TEXT_LIMIT, "9" * 2000 + "." + "9" * 2000 + "e", "é" * 4096]
    home = maker.home(NATIVE)
    try:
        engine, dialect = home.engine, home.engine.dialect
        engine.attach("stored", source_of(home.source(pl.DataFrame({"v": texts}))))
        items = ", ".join(f"{dialect.render(test)} AS r{n}" for n, test in enumerate(tests))
        started = time.perf_counter()
        found = engine.rows(f"SELECT {items} FROM {engine.place('stored')} AS s")
        assert time.perf_counter() - started < SECONDS
        wanted = [tuple(evaluate(test, {"v": text}) for test in tests) for text in texts]
        assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    finally:
        home.engine.close()
        home.close()


@pytest.mark.parametrize("maker", ENGINES, ids=[maker.name for maker in ENGINES])
def test_patterns_mean_the_same_however_they_are_written(maker: Maker) -> None:
    patterns = ("%a%b%", "%a_%b", "a%!%%b", "%.*%+%", "%(%_[%", "%\\%^_$%", "_%_%_", "%é_%!_%")
    texts = [
        "ab",
        "xaxbx",
        "a%b",
        "aa%bb",
        ".*+",
        "(x[",
        "\\^a$",
        "é1_",
        "\U0001f600ab",
        "a\nb",
        "",
    ]
    texts += ["a\nb%\nb", "(\n[", "\\^\U0001f600$", "-#&~ab", None]  # type: ignore[list-item]
    tests = [
        Call(like(pattern, "!"), (Column("v", ColumnDomain(DataType.TEXT)),))
        for pattern in patterns
    ]
    home = maker.home(NATIVE)
    try:
        engine, dialect = home.engine, home.engine.dialect
        engine.attach("stored", source_of(home.source(pl.DataFrame({"v": texts}))))
        items = ", ".join(f"{dialect.render(test)} AS r{n}" for n, test in enumerate(tests))
        found = engine.rows(f"SELECT {items} FROM {engine.place('stored')} AS s")
        wanted = [tuple(evaluate(test, {"v": text}) for test in tests) for text in texts]
        assert sorted(map(repr, found)) == sorted(map(repr, wanted))
    finally:
        home.engine.close()
        home.close()


def test_spark_never_comes_back_to_an_earlier_piece() -> None:
    """Its own LIKE would, wherever a piece stands between two signs %, except in %text%."""
    text = Column("v", ColumnDomain(DataType.TEXT))
    for pattern in (*PATTERNS[:6], *PATTERNS[7:], "a%b%c", "%a_%"):
        assert "(?>" in SparkDialect().render(Call(like(pattern, "!"), (text,)))
    assert "LIKE '%ab%'" in SparkDialect().render(Call(like("%ab%"), (text,)))
