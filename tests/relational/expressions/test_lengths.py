"""Every text has a public greatest length: facts say it, and no engine gives a longer one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, ClassVar

import duckdb
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.bounding.hashing import NATIVE
from discreet.relational.compile.dialect import MAX_IDENTIFIER, Dialect, Template
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.functions.casts import LONGEST, cast
from discreet.relational.functions.comparison import EQUAL
from discreet.relational.functions.function import Function, always
from discreet.relational.functions.registry import FUNCTIONS, OPERATORS, FunctionEntry
from discreet.relational.functions.text import CONCAT, replaced, substring
from discreet.relational.limits.memory import MAX_WRITTEN, count_written_letters
from discreet.relational.schema.sources import source_of
from discreet.relational.types.column_domain import ColumnDomain, cleaned, hull
from discreet.relational.types.data_type import TEXT_LIMIT, DataType, type_of_value
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal, evaluate
from tests.relational.conformance.engines import DUCKDB, POSTGRES, Maker
from tests.relational.conformance.spark_with_rows import INTERPRETED, SparkWithRows, missing

FAR = TEXT_LIMIT + 904
AT_ONCE = 8
EXTREMES = (
    *("", "a", "ß" * FAR, "İ" * TEXT_LIMIT, "\U0001f600" * FAR, "a" * TEXT_LIMIT, " " * FAR),
    *("ŉ" * (TEXT_LIMIT - 1), "é" * 2000 + "e\u0301" * 2000, "Ⱥ" * TEXT_LIMIT, None),
)
VALUES: Mapping[DataType, Sequence[object]] = {
    DataType.TEXT: EXTREMES,
    DataType.INTEGER: (0, -(2**63) + 1, 2**63 - 1, None),
    DataType.DOUBLE: (
        *(0.1, -2.2250738585072014e-308, -1.7976931348623157e308, 5e-324, -1234567890123456.7),
        *(1e15, -9.99e22, None),
    ),
    DataType.BOOLEAN: (True, False, None),
    DataType.DATE: (date.min, date.max, None),
    DataType.TIMESTAMP: (datetime.min, datetime.max, None),
}
CONSTANTS: Mapping[str, Sequence[tuple[object, ...]]] = {
    "substring": ((1,), (TEXT_LIMIT,), (2, 5), (3, 0), (1, TEXT_LIMIT)),
    "left": ((0,), (7,), (TEXT_LIMIT,)),
    "replace": (("\U0001f600", "abcd"), ("é", "ab"), ("aa", "b"), ("", "x"), ("a", "")),
    **dict.fromkeys(("trim", "ltrim", "rtrim"), ((), (" a",))),
    "right": ((0,), (7,), (TEXT_LIMIT,)),
    **dict.fromkeys(("lpad", "rpad"), ((0,), (7, "é"), (TEXT_LIMIT, "x"))),
    "split_part": (("a", 1), ("ab", 2), ("é", TEXT_LIMIT)),
}
"""What stands for the constant arguments of the functions of text."""


def made(name: str, entry: FunctionEntry) -> Iterator[Function]:
    """The functions a name of the registry stands for, where they may give text."""
    if entry.constants:
        yield from (entry.make(*constants) for constants in CONSTANTS.get(name, ()))
    else:
        yield entry.make()


@cache
def functions() -> tuple[Function, ...]:
    named = [function for name, entry in FUNCTIONS.items() for function in made(name, entry)]
    return tuple(dict.fromkeys([*named, *OPERATORS.values(), *map(cast, DataType)]))


@dataclass(frozen=True)
class Wrapped:
    """A step with expressions."""

    expressions: tuple[Expression, ...]


def column(kind: DataType, place: int) -> Column:
    return Column(f"{kind.name.lower()}{place}", ColumnDomain(kind))


@cache
def texts() -> tuple[Call, ...]:
    """Every call of a function of the language that gives text, with one to three arguments."""
    found = []
    for function, count in itertools.product(functions(), (1, 2, 3)):
        for kind in DataType:
            try:
                call = Call(function, tuple(column(kind, place) for place in range(count)))
            except DiscreetError:
                continue
            if call.domain.kind is DataType.TEXT:
                found.append(call)
    return tuple(dict.fromkeys(found))


def test_every_function_that_gives_text_says_how_long_it_is_at_most() -> None:
    assert {call.function.name for call in texts()} == {
        *("lower", "upper", "concat", "substring", "replace", "trim", "cast"),
        *("coalesce", "nullif", "least", "greatest", "right", "pad", "split_part", "reverse"),
    }
    for call in texts():
        assert call.domain.length is not None
        assert 0 <= call.domain.length <= TEXT_LIMIT


def spark_home(_: Any) -> SparkWithRows:
    return SparkWithRows(settings=INTERPRETED)


ENGINES = (DUCKDB, POSTGRES, Maker("spark", missing, spark_home))
_POLARS: Mapping[DataType, Any] = {
    DataType.TEXT: pl.String,
    DataType.INTEGER: pl.Int64,
    DataType.DOUBLE: pl.Float64,
    DataType.BOOLEAN: pl.Boolean,
    DataType.DATE: pl.Date,
    DataType.TIMESTAMP: pl.Datetime("us"),
}


def rows() -> list[dict[str, object]]:
    """Each text beside each of a few, and other kinds at their ends."""
    pairs = [(first, second) for first in EXTREMES for second in (*EXTREMES[:5], None)]
    return [
        {
            column(kind, place).name: values[(number * (1 + 2 * place)) % len(values)]
            if kind is not DataType.TEXT
            else (*pair, "z")[place]
            for kind, values in VALUES.items()
            for place in range(3)
        }
        for number, pair in enumerate(pairs)
    ]


def check(call: Call, row: Mapping[str, object], value: object) -> None:
    """Engines write reals in different ways, but none at greater length."""
    assert value is None or len(str(value)) <= call.domain.letters, call
    if call.function != cast(DataType.TEXT) or call.args[0].domain.kind is not DataType.DOUBLE:
        assert value == evaluate(call, row), call


@pytest.mark.parametrize(
    "maker",
    [DUCKDB, POSTGRES, pytest.param(ENGINES[2], marks=pytest.mark.slow)],
    ids=[maker.name for maker in ENGINES],
)
def test_engines_give_what_the_interpreter_gives_and_nothing_longer(maker: Maker) -> None:
    schema = {column(kind, place).name: _POLARS[kind] for kind in DataType for place in range(3)}
    given = rows() if maker is DUCKDB else rows()[::5]
    frame = pl.DataFrame(
        {name: [row[name] for row in given] for name in schema}, schema=schema
    ).with_row_index("place")
    domain = {
        column(kind, place).name: ColumnDomain(kind) for kind in DataType for place in range(3)
    }
    clean = [{name: cleaned(row[name], domain[name]) for name in domain} for row in given]
    home = maker.home(NATIVE)
    try:
        engine, dialect = home.engine, home.engine.dialect
        types = engine.attach("stored", source_of(home.source(frame.cast({"place": pl.Int64}))))
        scan = ", ".join(
            f"{dialect.clean(f's.{name}', types[name], known)} AS {dialect.identifier(name)}"
            for name, known in domain.items()
        )
        every = texts() if maker.name != "spark" else texts()[::4]
        for start in range(0, len(every), AT_ONCE):
            asked = every[start : start + AT_ONCE]
            items = ", ".join(f"{dialect.render(call)} AS r{n}" for n, call in enumerate(asked))
            table = f"(SELECT place, {scan} FROM {engine.place('stored')} AS s) AS q"
            found = engine.rows(f"SELECT {items} FROM {table} ORDER BY place")
            for row, values in zip(clean, found, strict=True):
                for call, value in zip(asked, values, strict=True):
                    check(call, row, value)
    finally:
        home.engine.close()
        home.close()


def test_what_is_held_on_the_way_is_at_most_two_texts() -> None:
    """A hundred long texts after one another: each step is cut before the next."""
    long = tuple(Column(f"t{place}", ColumnDomain(DataType.TEXT)) for place in range(100))
    text = DuckDBDialect().render(Call(CONCAT, long))
    assert text.count(f", {TEXT_LIMIT})") == 99
    held = 0
    for part in text.replace("(", " ( ").replace(")", " ) ").split():
        held += part.startswith('"t')
        held = 1 if part == str(TEXT_LIMIT) else held
        assert held <= 2


def test_short_texts_are_put_together_without_cutting() -> None:
    ward = Column(
        "ward", ColumnDomain(DataType.TEXT, values=tuple("ABCDEFGHIJ" * 1), declared=True)
    )
    known = Column("c", ColumnDomain(DataType.TEXT, length=40))
    assert "substring" not in DuckDBDialect().render(Call(CONCAT, (ward, Literal("-"), known)))


def test_lengths_follow_from_those_of_the_arguments() -> None:
    a, b = (
        Column("a", ColumnDomain(DataType.TEXT, length=10)),
        Column("b", ColumnDomain(DataType.TEXT, length=7)),
    )
    assert Call(CONCAT, (a, Literal("--"), b)).domain.length == 19
    assert Call(substring(4), (a,)).domain.length == 7
    assert Call(substring(4, 2), (a,)).domain.length == 2
    assert Call(substring(20, 2), (a,)).domain.length == 0
    assert Call(replaced("é", "ab"), (a,)).domain.length == 20
    assert Call(replaced("ab", "é"), (a,)).domain.length == 10
    assert Case(((Column("p", ColumnDomain(DataType.BOOLEAN)), a),), b).domain.length == 10
    assert hull(DataType.TEXT, [a.domain, b.domain]).length == 10
    assert (
        Call(cast(DataType.TEXT), (Column("w", ColumnDomain(DataType.INTEGER)),)).domain.length
        == 20
    )


@pytest.mark.parametrize("kind", [kind for kind in DataType if kind is not DataType.TEXT])
def test_no_value_is_longer_as_text_than_said(kind: DataType) -> None:
    written_out = [cast(DataType.TEXT).apply([value], DataType.TEXT) for value in VALUES[kind]]
    assert all(value is None or len(str(value)) <= LONGEST[kind] for value in written_out)


def test_a_function_added_later_is_cut_unless_proved_to_fit() -> None:
    doubled = Function(
        "doubled",
        accept=lambda domain: tuple(part.kind for part in domain),
        result=lambda domain: ColumnDomain(DataType.TEXT, length=2 * domain.letters),
        compute=lambda text: text * 2,
    )
    assert len(str(doubled.apply(["a" * TEXT_LIMIT], DataType.TEXT))) == TEXT_LIMIT

    class Later(DuckDBDialect):
        templates: ClassVar[Mapping[str, Template]] = {**DuckDBDialect.templates, "doubled": "{0}"}

    call = Call(doubled, (Column("t", ColumnDomain(DataType.TEXT)),))
    assert Later().render(call) == Later().first('"t"', TEXT_LIMIT)


def test_the_twin_without_a_limit_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where functions are believed to fit, an engine gives texts longer than their facts say."""

    def longest(dialect: Dialect) -> int:
        call = Call(
            CONCAT,
            (Column("t", ColumnDomain(DataType.TEXT)), Column("t", ColumnDomain(DataType.TEXT))),
        )
        with duckdb.connect() as connection:
            text = f"SELECT length({dialect.render(call)}) FROM (SELECT repeat('a', 4096) AS t)"
            return int(connection.execute(text).fetchall()[0][0])

    assert longest(DuckDBDialect()) == TEXT_LIMIT
    monkeypatch.setitem(vars(CONCAT), "fits", always)
    assert longest(DuckDBDialect()) == 2 * TEXT_LIMIT


def test_text_is_cut_at_the_scan_and_numbers_in_longer_text_are_null() -> None:
    assert cleaned("a" * FAR, ColumnDomain(DataType.TEXT)) == "a" * TEXT_LIMIT
    dialect = DuckDBDialect()
    cut = dialect.clean("v", "VARCHAR", ColumnDomain(DataType.TEXT))
    number = dialect.clean("v", "VARCHAR", ColumnDomain(DataType.DOUBLE, 0, 5))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS SELECT repeat('9', unnest([1, 4096, 4097])) AS v")
        found = connection.execute(f"SELECT length({cut}), {number} FROM t").fetchall()
    assert found == [(1, 5.0), (4096, 5.0), (4096, None)]


def test_a_category_is_compared_and_not_cut() -> None:
    clean = DuckDBDialect().clean("v", "VARCHAR", ColumnDomain(DataType.TEXT, values=("A", "B")))
    assert "substring" not in clean


def test_constants_and_categories_are_no_longer_than_texts() -> None:
    assert type_of_value("a" * TEXT_LIMIT) is DataType.TEXT
    assert type_of_value("a" * (TEXT_LIMIT + 1)) is None
    with pytest.raises(InvalidParameter, match="bad_literal"):
        Literal("a" * (TEXT_LIMIT + 1))
    with pytest.raises(InvalidParameter, match="category_values"):
        dp.Category(["a", "b" * (TEXT_LIMIT + 1)])


def test_a_row_without_a_usable_identifier_belongs_to_nobody() -> None:
    """Identifiers are never cut: two people could become one."""
    dialect = DuckDBDialect()
    assert dialect.identified("i", "BIGINT") == "i IS NOT NULL"
    test = dialect.identified("i", "VARCHAR")
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT count(*) FROM (SELECT unnest(['a', NULL, repeat('a', {MAX_IDENTIFIER}), "
            f"repeat('a', {MAX_IDENTIFIER + 1})]) AS i) WHERE {test}"
        ).fetchall()
    assert found == [(2,)]


# Text of one row --------------------------------------------------------------------------------


def test_the_text_a_question_computes_for_a_row_has_a_limit() -> None:
    frame = pl.DataFrame({"pid": [1], "note": ["x"]})
    table = dp.table(frame, unit=dp.Person("pid", max_rows=1), columns={})
    texts = [f"substring(note, {place}) = 'x'" for place in range(1, 71)]
    with dp.Curator(t=table, budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory()) as curator:
        asked, spend = "SELECT COUNT(*) AS n FROM t WHERE ", dp.PureDP(epsilon=1)
        curator.preview(asked + " OR ".join(texts[:60]), spend=spend)
        with pytest.raises(InvalidParameter, match="too_much_text"):
            curator.sql(asked + " OR ".join(texts), spend=spend)
        assert curator.spent.epsilon == 0  # type: ignore[attr-defined]
        words = " OR ".join(f"note ILIKE '%w{n}%'" for n in range(100))
        curator.preview(asked + words, spend=spend)


def test_results_on_the_way_are_counted() -> None:
    a = Column("a", ColumnDomain(DataType.TEXT, length=10))
    both: Expression = Call(CONCAT, (a, a))
    assert count_written_letters(Wrapped((both,))) == 40
    assert count_written_letters(Wrapped((both, both))) == 40
    assert (
        count_written_letters(Wrapped((Call(EQUAL, (both, Call(substring(1, 3), (both,)))),))) == 43
    )
    assert MAX_WRITTEN * 4 == 1 << 20
