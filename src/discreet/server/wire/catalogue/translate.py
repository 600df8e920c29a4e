"""A question about the catalogue, translated from what is allowed: tables, functions, types.

The text is read as PostgreSQL's and written anew for the engine that holds the catalogue. Only
tables of the catalogue can be read, and those that were declared where no row is wanted; only
functions that are listed here are called. So no file, setting or table of the engine can be named.

Source: contract, "What may be seen" (user text never reaches an engine).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.core.errors import InvalidParameter
from discreet.relational.sql.dialect import unlogged
from discreet.server.wire.catalogue.columns import COLUMNS
from discreet.server.wire.errors import price_missing
from discreet.server.wire.types import TEXT, elements

if TYPE_CHECKING:
    Node: TypeAlias = exp.Expr
else:
    Node = exp.Expression
LONGEST = 20_000
"""Letters of a question about the catalogue."""
_MOST_NODES = 4_000
_TOO_LARGE, _UNREADABLE = "too large a statement", "a statement that cannot be read"

MACROS: Mapping[str, str] = {
    "format_type": "(a, b) AS (SELECT any_value(t.shown) FROM wire_types t "
    "WHERE t.oid = CAST(a AS UINTEGER))",
    "pg_get_userbyid": "(a) AS 'discreet'",
    "pg_table_is_visible": "(a) AS true",
    "pg_type_is_visible": "(a) AS true",
    "pg_function_is_visible": "(a) AS true",
    "pg_collation_is_visible": "(a) AS true",
    "pg_get_expr": "(a, b, c := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_constraintdef": "(a, b := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_indexdef": "(a, b := 0, c := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_viewdef": "(a, b := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_partkeydef": "(a) AS CAST(NULL AS VARCHAR)",
    "pg_get_serial_sequence": "(a, b) AS CAST(NULL AS VARCHAR)",
    "pg_get_statisticsobjdef_columns": "(a) AS CAST(NULL AS VARCHAR)",
    "pg_get_triggerdef": "(a, b := false) AS CAST(NULL AS VARCHAR)",
    "pg_get_function_result": "(a) AS CAST(NULL AS VARCHAR)",
    "pg_get_function_arguments": "(a) AS CAST(NULL AS VARCHAR)",
    "pg_get_ruledef": "(a, b := false) AS CAST(NULL AS VARCHAR)",
    "pg_relation_is_publishable": "(a) AS false",
    "pg_encoding_to_char": "(a) AS 'UTF8'",
    "pg_table_size": "(a) AS CAST(0 AS BIGINT)",
    "pg_total_relation_size": "(a) AS CAST(0 AS BIGINT)",
    "pg_relation_size": "(a, b := '') AS CAST(0 AS BIGINT)",
    "pg_size_pretty": "(a) AS ''",
    "pg_is_in_recovery": "() AS false",
    "pg_is_other_temp_schema": "(a) AS false",
    "pg_my_temp_schema": "() AS CAST(0 AS UINTEGER)",
    "pg_tablespace_location": "(a) AS ''",
    "has_schema_privilege": "(a, b, c := '') AS true",
    "has_table_privilege": "(a, b, c := '') AS true",
    "has_database_privilege": "(a, b, c := '') AS true",
    "has_column_privilege": "(a, b, c := '', d := '') AS true",
    "obj_description": "(a, b := '') AS (SELECT any_value(d.description) FROM "
    '"pg_catalog.pg_description" d WHERE d.objoid = CAST(a AS UINTEGER) AND d.objsubid = 0)',
    "col_description": "(a, b) AS (SELECT any_value(d.description) FROM "
    '"pg_catalog.pg_description" d WHERE d.objoid = CAST(a AS UINTEGER) AND d.objsubid = b)',
    "shobj_description": "(a, b) AS CAST(NULL AS VARCHAR)",
    "quote_ident": "(a) AS CASE WHEN regexp_full_match(a, '[a-z_][a-z0-9_]*') THEN a "
    """ELSE '"' || replace(a, '"', '""') || '"' END""",
    "array_to_string": "(a, b, c := '') AS list_aggregate(a, 'string_agg', b)",
    "array_upper": "(a, b) AS len(a)",
    "array_length": "(a, b) AS len(a)",
    "regclass_name": '(a) AS (SELECT any_value(c.relname) FROM "pg_catalog.pg_class" c '
    "WHERE c.oid = CAST(a AS UINTEGER))",
    "to_regclass": "(a) AS CASE WHEN a IN ('pg_class', 'pg_catalog.pg_class') THEN 1259 "
    'ELSE (SELECT any_value(c.oid) FROM "pg_catalog.pg_class" c '
    "WHERE c.relname = replace(replace(a, 'public.', ''), '\"', '')) END",
    "to_regtype": '(a) AS (SELECT any_value(t.oid) FROM "pg_catalog.pg_type" t '
    "WHERE t.typname = a OR EXISTS (SELECT 1 FROM wire_types w WHERE w.oid = t.oid "
    "AND w.shown = a))",
    "regtype_name": "(a) AS (SELECT any_value(w.shown) FROM wire_types w "
    "WHERE w.oid = CAST(a AS UINTEGER))",
    "regnamespace_name": '(a) AS (SELECT any_value(n.nspname) FROM "pg_catalog.pg_namespace" n '
    "WHERE n.oid = CAST(a AS UINTEGER))",
    "to_regnamespace": '(a) AS (SELECT any_value(n.oid) FROM "pg_catalog.pg_namespace" n '
    "WHERE n.nspname = a)",
    "regrole_name": "(a) AS 'discreet'",
    "pg_advisory_unlock_all": "() AS CAST(NULL AS VARCHAR)",
    "txid_current": "() AS CAST(1 AS BIGINT)",
}
"""Functions of PostgreSQL about its catalogue, as macros of the engine."""


def _kinds(names: str) -> tuple[type[Node], ...]:
    """Nodes by name, as far as this version of the parser has them."""
    return tuple(getattr(exp, name) for name in names.split() if hasattr(exp, name))


_FUNCTIONS = _kinds("""
    Count Max Min Sum Coalesce Nullif Case If Cast Lower Upper Length Substring Trim
    Concat ConcatWs Left Right StrPosition Replace SplitPart Array ArrayAgg GroupConcat
    RowNumber Exists Any All Abs Round RegexpLike RegexpILike RegexpReplace Unnest
    ArrayAny ArraySize And Or Xor Not Interval LogicalOr LogicalAnd Greatest Least
    CurrentTimestamp CurrentDate JSONObject ArrayContainsAll ArrayPosition Explode
    ExplodingGenerateSeries GenerateSeries StartsWith TryCast
""")
"""What else may be called; none reads or writes anything."""
_NAMED = _kinds("Count Max Min Sum Coalesce Nullif Lower Upper Length Array ArrayAgg Exists")
_TABLE_FUNCTIONS = _kinds("Unnest Explode ExplodingGenerateSeries GenerateSeries")
_ALIKE = {"generate_subscripts": "generate_subscripts", "json_build_object": "json_object"}
"""Functions that the engine has too, perhaps under another name."""
_SESSION = {
    "CurrentUser": "current_user",
    "SessionUser": "session_user",
    "CurrentSchema": "current_schema",
    "CurrentCatalog": "current_database",
    "CurrentDatabase": "current_database",
    "CurrentVersion": "version",
}
"""Nodes that say something about the session."""
_REFERENCES = {
    "regclass": ("to_regclass", "regclass_name"),
    "regtype": ("to_regtype", "regtype_name"),
    "regnamespace": ("to_regnamespace", "regnamespace_name"),
    "regrole": ("regrole_name", "regrole_name"),
}
_PLAIN = {
    **dict.fromkeys(("text", "name", "char", "bpchar", "varchar", "regproc", "cstring"), "VARCHAR"),
    **dict.fromkeys(("regprocedure", "pg_node_tree", "aclitem"), "VARCHAR"),
    "oid": "UINTEGER",
    "int2": "SMALLINT",
    "int4": "INTEGER",
    "int8": "BIGINT",
    "bool": "BOOLEAN",
    "float8": "DOUBLE",
    "xid": "UINTEGER",
}


@dataclass(frozen=True)
class SessionFacts:
    """What the catalogue is told about a session: values of functions, and of its settings."""

    values: Mapping[str, str | int]
    settings: Mapping[str, str]


def translated(
    text: str, declared: Mapping[str, str], about: SessionFacts, *, no_rows: bool
) -> str:
    """The question for the engine; tables of ``declared`` only where no rows are wanted."""
    tree = _parse_query(text)
    _name_columns(tree)
    named = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}

    def changed(node: Node) -> Node:
        """The node anew, after all that stands in it: nothing is passed over."""
        for part in list(node.iter_expressions()):
            made = changed(part)
            if made is not part:
                part.replace(made)
        if isinstance(node, exp.Table):
            return _table(node, declared, named, no_rows=no_rows)
        if isinstance(node, exp.CTE):
            node.args["alias"].set("this", exp.to_identifier(_within(node.alias), quoted=True))
            return node
        return _changed(node, about)

    made: str = changed(tree).sql(dialect="duckdb")
    return made


def _parse_query(text: str) -> Node:
    if len(text) > LONGEST:
        raise not_understood(_TOO_LARGE)
    try:
        with unlogged():
            trees = sqlglot.parse(text, read="postgres")
    except (SqlglotError, RecursionError):
        raise not_understood(_UNREADABLE) from None
    tree = trees[0] if len(trees) == 1 else None
    if not isinstance(tree, exp.Query):
        raise not_understood(type(tree).__name__)
    for number, _ in enumerate(tree.walk()):
        if number > _MOST_NODES:
            raise not_understood(_TOO_LARGE)
    return tree


def _name_columns(tree: Node) -> None:
    """Columns without a name get the one that PostgreSQL would give them."""
    if not isinstance(tree, exp.Select):
        return
    for column in list(tree.expressions):
        if not isinstance(column, exp.Alias | exp.Star) and not column.is_star:
            name = _usual_name(column)
            column.replace(exp.alias_(column.copy(), name, quoted=True))


def _usual_name(node: Node) -> str:
    while isinstance(node, exp.Dot | exp.Cast | exp.Paren):
        node = node.expression if isinstance(node, exp.Dot) else node.this
    if isinstance(node, exp.Column):
        return str(node.name)
    if type(node).__name__ in _SESSION:
        return _SESSION[type(node).__name__]
    if isinstance(node, exp.Anonymous):
        return str(node.name).lower()
    if isinstance(node, exp.Func) and isinstance(node, _NAMED):
        return str(node.sql_name()).lower()
    return "?column?"


def _table(node: exp.Table, declared: Mapping[str, str], named: set[str], *, no_rows: bool) -> Node:
    """A table of the catalogue under the name that the engine has for it."""
    if isinstance(node.this, _TABLE_FUNCTIONS):
        node.set("db", None)
        return node
    if not isinstance(node.this, exp.Identifier):
        raise not_understood(type(node.this).__name__)
    schema, name = node.db.lower(), node.name
    if not schema and name.lower() in named:
        return _renamed(node, _within(name))
    if schema in ("", "pg_catalog") and ("pg_catalog", name.lower()) in COLUMNS:
        inside = f"pg_catalog.{name.lower()}"
    elif (schema, name.lower()) in COLUMNS:
        inside = f"{schema}.{name.lower()}"
    else:
        inside = declared.get(name.lower(), "") if schema in ("", "public") else ""
        if not inside:
            raise InvalidParameter(
                code="unknown_table",
                expectation="a table that was declared, or one of the catalogue",
                received=f"{schema}.{name}"[:64] if schema else name[:64],
                remedy="\\dt, or information_schema.tables, lists them.",
            )
        if not no_rows:
            raise price_missing()
    return _renamed(node, inside)


def _renamed(node: exp.Table, name: str) -> Node:
    """The table under another name, called in the question as before."""
    made: Node = node.copy()
    made.set("this", exp.to_identifier(name, quoted=True))
    made.set("db", None)
    made.set("catalog", None)
    return made if made.alias else exp.alias_(made, node.name, table=True)


def _within(name: str) -> str:
    """The name of a table that the question itself makes: none that the engine has."""
    return f"within {name.lower()}"


def _changed(node: Node, about: SessionFacts) -> Node:  # noqa: PLR0911, PLR0912
    """A node of which all parts are translated."""
    if type(node).__name__ in _SESSION:
        return exp.convert(about.values[_SESSION[type(node).__name__]])
    match node:
        case exp.Column():
            made = node.copy()
            for part in ("db", "catalog"):
                made.set(part, None)
            session = made.name.lower() if not made.table else ""
            if session in ("user", "current_role") and not made.this.quoted:
                return exp.convert(about.values["current_user"])
            return made
        case exp.Dot(this=exp.Identifier() as schema) if schema.name.lower() == "pg_catalog":
            return node.expression  # type: ignore[no-any-return]
        case exp.Operator():
            return _operator(node)
        case exp.Any() | exp.All():
            return _replace_brace_list(node)
        case exp.Collate():
            made_of: Node = node.this
            return made_of
        case exp.Cast():
            return _cast(node)
        case exp.Anonymous():
            return _called(node, about)
        case exp.Func() if not isinstance(node, _FUNCTIONS):
            raise not_understood(node.sql_name())
        case exp.Command() | exp.DDL() | exp.DML() | exp.Into() | exp.Lock() | exp.Placeholder():
            raise not_understood(type(node).__name__)
        case _:
            return node


def _operator(node: exp.Operator) -> Node:
    operator = str(node.args["operator"]).rsplit(".", 1)[-1].strip()
    this, other = node.this, node.expression
    while isinstance(other, exp.Collate):
        other = other.this
    match operator:
        case "~":
            return exp.RegexpLike(this=this, expression=other)
        case "!~":
            return exp.Not(this=exp.RegexpLike(this=this, expression=other))
        case "=":
            return exp.EQ(this=this, expression=other)
        case _:
            raise not_understood(operator)


def _replace_brace_list(node: exp.Any | exp.All) -> Node:
    """A list in braces as a list; it may be of any type, and is taken for texts."""
    given = node.this.unnest()
    if isinstance(given, exp.Literal) and given.is_string:
        try:
            values = list(elements(given.name, TEXT.oid))
        except ValueError:
            raise not_understood(given.name) from None
        made = sqlglot.parse_one(f"ARRAY[{', '.join(values)}]", read="postgres")
        node.set("this", exp.Paren(this=made))
    return node


def _cast(node: exp.Cast) -> Node:
    """Types of the catalogue in the engine's words; names of tables and types as their numbers."""
    to = node.args["to"]
    kind = to.args.get("kind") if isinstance(to, exp.DataType) else None
    if isinstance(to, exp.ObjectIdentifier):
        name = str(to.this).lower()
    elif isinstance(kind, exp.Dot):
        name = kind.expression.name.lower()
    elif isinstance(kind, Node | str):
        name = (kind if isinstance(kind, str) else kind.name).lower()
    else:
        return node
    array = name.endswith("[]")
    name = name.removesuffix("[]")
    if name in _REFERENCES:
        to_number, to_name = _REFERENCES[name]
        given = node.this
        if isinstance(given, exp.Literal) and given.is_string:
            if given.name.isdigit():
                return exp.Cast(this=given, to=exp.DataType.build("UINTEGER", dialect="duckdb"))
            return exp.Anonymous(this=f"c_{to_number}", expressions=[given])
        return exp.Anonymous(this=f"c_{to_name}", expressions=[given])
    if name not in _PLAIN:
        raise not_understood(name)
    written = _PLAIN[name] + ("[]" if array else "")
    return exp.Cast(this=node.this, to=exp.DataType.build(written, dialect="duckdb"))


def _called(node: exp.Anonymous, about: SessionFacts) -> Node:  # noqa: PLR0911
    name = node.name.lower()
    if name.startswith("c_") and name[2:] in MACROS:
        return node
    if name in about.values:
        return exp.convert(about.values[name])
    if name == "current_setting":
        asked = node.expressions[0].name.lower() if node.expressions else ""
        value = about.settings.get(asked)
        return exp.null() if value is None else exp.convert(value)
    if name == "set_config" and len(node.expressions) == 3:
        return node.expressions[1]  # type: ignore[no-any-return]
    if name == "current_schemas":
        return exp.convert(["pg_catalog", "public"])
    if name in _ALIKE:
        return exp.Anonymous(this=_ALIKE[name], expressions=node.expressions)
    if name not in MACROS:
        raise not_understood(node.name)
    return exp.Anonymous(this=f"c_{name}", expressions=node.expressions)


def not_understood(what: str) -> InvalidParameter:
    """A question about the catalogue that is not answered here."""
    return InvalidParameter(
        code="catalogue_unread",
        expectation="a SELECT with a price, or a question about the catalogue that is known here",
        received=what[:64],
        remedy="docs/wire.md lists what works. Tables and columns are in information_schema.",
    )
