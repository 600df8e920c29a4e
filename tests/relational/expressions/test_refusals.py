"""Whatever is not on the allow-list is refused, with its name and what to write instead."""

from __future__ import annotations

import pytest
from sqlglot import exp, parse_one

from discreet.core.errors import DiscreetError, InvalidParameter, Mismatch
from discreet.relational.sql.expressions import expression_from
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, Literal
from tests.relational.expressions.engine import translated

ELSEWHERE = (
    *("getenv('HOME')", "read_csv('x')", "read_text('/etc/passwd')", "current_setting('x')"),
    *("version()", "current_user", "pragma_version()", "nextval('s')", "glob('*')", "hash(s)"),
    *("query('SELECT 1')", "system.f(w)", "f(w)", "md5(s)", "list_sum([1])", "unnest([1])"),
    *("sleep(5)", "write_log('x')", "error('x')", "printf('%d', w)", "parse_path(s)"),
)
CLOCK = ("now()", "current_date", "current_timestamp", "today()", "localtimestamp", "current_time")
CHANCE = ("random()", "uuid()", "gen_random_uuid()", "setseed(1)")
SUBQUERIES = ("(select 1)", "exists(select 1)", "w in (select 1)", "w = any(select 1)")
ROWS = ("sum(w) over ()", "row_number() over ()", "lag(w) over (order by v)", "rank() over ()")
AGGREGATES = ("sum(w)", "count(*)", "max(w)", "any_value(w)", "median(x)", "list(w)", "first(w)")
PLACEHOLDERS = ("?", "$1", "$x")
NESTED = ("[1, 2]", "{'a': 1}", "s[1]", "s[1:2]", "s -> 'x'", "s ->> 'x'", "*", "stored.*")
OPERATORS = (
    *("s ~ 'x'", "s similar to 'x'", "s glob 'x'", "s collate nocase", "w & v", "w | v", "~w"),
    *("w << 1", "w between symmetric 1 and 2", "m at time zone 'UTC'", "w is 5", "s like t"),
    *("s like any ('x', 'y')", "w in ()"),
)
FUNCTIONS = (
    *("regexp_matches(s, t)", "s ~ 'x'", "right(s, i)", "try(w)"),
    *("isnan(x)", "log(3, x)", "round(x, j)", "round(x, 2, 3)", "ceil(x, 2)", "trunc(x, 2)"),
    *("substring(s, j)", "left(s, j)", "trim(s, t)", "replace(s, t, 'a')", "bin(x, 0, w, 5)"),
    *("bin(x, 0, 10)", "week(d, 1)", "length(s, 'utf8')", "lower(distinct s)", "f(distinct w)"),
)
INTERVALS = (
    *("interval 3 day", "d + interval (j) day", "d + interval '1 day 2 hours'", "m - n", "d + j"),
    *("d + interval 1.5 day", "d + interval 1 decade", "d + x", "interval 3 day + interval 1 day"),
)
TYPES = (
    *("cast(w as decimal(10,2))", "cast(w as time)", "cast(s as json)", "cast(w as int[])"),
    *("cast(w as mytype)", "cast(s as blob)", "cast(s as timestamptz)", "cast(s as uuid)"),
)
ALL = (
    *(*ELSEWHERE, *CLOCK, *CHANCE, *SUBQUERIES, *ROWS, *AGGREGATES, *PLACEHOLDERS, *NESTED),
    *(*OPERATORS, *FUNCTIONS, *INTERVALS, *TYPES, "0x10", "E'x'"),
)


@pytest.mark.parametrize("text", ALL)
def test_constructs_outside_the_allow_list_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        translated(text)
    assert refusal.value.code == "unsupported_sql"
    assert refusal.value.received
    assert refusal.value.remedy


@pytest.mark.parametrize(
    "text", ["abs({})", "{} + 1", "w > 0 and {} > 1", "case when p then {} end"]
)
@pytest.mark.parametrize("inside", ["random()", "(select 1)", "getenv('x')", "f(w)", "sum(w)"])
def test_a_refused_construct_is_refused_wherever_it_hides(text: str, inside: str) -> None:
    with pytest.raises(DiscreetError, match="unsupported_sql"):
        translated(text.format(inside))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *(("flor(x)", "floor"), ("lenght(s)", "length"), ("substrin(s, 1, 2)", "substring")),
        *(("coalesc(w, 1)", "coalesce"), ("date_dif('day', d, e)", "date_diff")),
    ],
)
def test_typing_errors_get_a_suggestion(text: str, meant: str) -> None:
    with pytest.raises(InvalidParameter, match=rf"Did you mean {meant}\?"):
        translated(text)


@pytest.mark.parametrize("text", CLOCK)
def test_the_clock_is_replaced_by_a_date(text: str) -> None:
    with pytest.raises(InvalidParameter, match="DATE '2024-12-31'"):
        translated(text)


@pytest.mark.parametrize(
    "text",
    [
        *("round(x, 2.5)", "round(x, 99)", "substring(s, 0, 2)", "substring(s, -1)"),
        *("substring(s, 1, -1)", "substring(s, 1, 99999999999)", "s like 'a!' escape '!'"),
        *("s like 'a!b' escape '!'", "s like 'a' escape 'xx'", "s like '%a%b%c%d%e%f%g'"),
        *("date_trunc('decade', d)", "date_diff('century', d, e)", "date_part('epoch', m)"),
        *("d + interval 99999 year", "bin(x, 10, 0, 5)", "bin(x, 0, 10, 0)", "bin(x, 0, 1e301, 9)"),
        *("bin(x, 0, 10, 1000000)", "width_bucket(x, 0, 10, 2.5)", "replace(s, 'a', 'aaaa')"),
        *("replace(s, '', 'aa')", "left(s, true)", "bin(x, 'a', 10, 5)"),
    ],
)
def test_constant_arguments_out_of_range_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        translated(text)
    assert refusal.value.code == "bad_argument"


@pytest.mark.parametrize(
    "text",
    [
        *("1e400", "date '2020-13-01'", "timestamp '2020-01-01 25:00:00'", "cast('x' as bigint)"),
        *("d > 'yesterday'", "d in ('2020-02-30')", "m between '2020' and '2021-01-01'"),
        *("cast('maybe' as boolean)", "cast(1e30 as bigint)", "w in (1, 'a')", "x > 'many'"),
    ],
)
def test_constants_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        translated(text)
    assert refusal.value.code == "bad_literal"


@pytest.mark.parametrize(
    "text",
    [
        *("s + 1", "s = 1", "p + 1", "p = 2", "w and p", "not w", "d * 2", "-s", "abs(d)"),
        *("case when w then 1 end", "case when p then 1 else 'a' end", "least(w, s)", "lower(w)"),
        *("w || s", "sqrt(s)", "w // x", "cast(d as bigint)", "cast(w as date)", "year(w)"),
        *("cast(x as boolean)", "coalesce(w, s)", "s in (1, 'a')", "s like '1' = 2", "year('x')"),
        *("date_diff('day', d, w)", "make_date(x, 1, 1)", "bin(s, 0, 1, 2)", "starts_with(w, 'a')"),
        *("w + interval 1 day", "p is true = 2", "length(d)", "w is true", "if(w, 1, 2)"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(text: str) -> None:
    with pytest.raises(Mismatch) as refusal:
        translated(text)
    assert refusal.value.code == "type_clash"


def test_aggregates_go_to_the_caller_where_they_are_allowed() -> None:
    def resolve(node: exp.Column) -> Expression:
        return Column(node.name, ColumnDomain(DataType.INTEGER))

    seen: list[str] = []

    def aggregate(node: exp.Expression) -> Expression:
        seen.append(node.sql(dialect="duckdb"))
        return Literal(1)

    select = parse_one("SELECT sum(a) / count(*) + max(b) filter (where b > 0)", read="duckdb")
    expression_from(select.expressions[0], resolve, aggregate)
    assert seen == ["SUM(a)", "COUNT(*)", "MAX(b) FILTER(WHERE b > 0)"]
    window = parse_one("SELECT sum(a) OVER ()", read="duckdb").expressions[0]
    with pytest.raises(InvalidParameter, match="unsupported_sql"):
        expression_from(window, resolve, aggregate)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("w = '8'", "w = 8"),
        ("x < '1.5'", "x < 1.5"),
        ("w in ('1', 2)", "w in (1, 2)"),
        ("w between '-1' and 9", "w between -1 and 9"),
        ("p = 1", "p = true"),
        ("p <> 0", "p <> false"),
        ("d > '2020-01-01'", "d > date '2020-01-01'"),
    ],
)
def test_constants_are_read_as_the_kind_they_are_compared_with(text: str, same: str) -> None:
    assert translated(text) == translated(same)
