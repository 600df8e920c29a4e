"""Which views of PostgreSQL may stand for tables: the same rows each time, and none that fails.

The server keeps a view as a tree of nodes, with every function and operator by its number. A view
passes if all of them are known not to be volatile and not to fail, whatever the row: by the
server's own word (LEAKPROOF) or by the list here; and if nothing in it chooses rows by the order in
which they happen to come. Materialised views are tables here: their rows are stored.

Source: contract, "What may be seen"; PostgreSQL documentation, "CREATE FUNCTION" (LEAKPROOF), "The
Rule System".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from psycopg import Cursor

_TOKENS = re.compile(r"[(){}]|(?:\\.|[^\s(){}\\])+", re.DOTALL)
_NOTHING = "<>"
_TEXTS = {"25", "1042", "1043"}
_TELLING = {"0", "1", "2"}
"""EXISTS, ALL and ANY: subqueries that may have any number of rows."""
_REFUSED = {
    "TABLESAMPLECLAUSE": "TABLESAMPLE",
    "WINDOWFUNC": "a window function",
    "COERCETODOMAIN": "a cast to a domain",
    "NEXTVALUEEXPR": "a sequence",
    "XMLEXPR": "an XML expression",
    "JSONEXPR": "a JSON expression",
    "TABLEFUNC": "a table function",
}
_CLAUSES = {
    "limitCount": ("LIMIT", _NOTHING),
    "limitOffset": ("OFFSET", _NOTHING),
    "hasDistinctOn": ("DISTINCT ON", "false"),
    "hasRecursive": ("WITH RECURSIVE", "false"),
}
_TOTAL = (
    *("int48", "int28", "i2toi4", "i4tod", "i2tod", "i8tod", "i4tof", "i2tof", "i8tof", "ftod"),
    *("int2_numeric", "int4_numeric", "int8_numeric", "numeric_eq", "numeric_ne", "numeric_lt"),
    *("numeric_le", "numeric_gt", "numeric_ge", "numeric_abs", "numeric_uminus", "float8abs"),
    *("text_lt", "text_le", "text_gt", "text_ge", "lower", "upper", "btrim1", "ltrim1", "rtrim1"),
    *("textlen", "textcat", "text_concat", "text_left", "text_right", "text_reverse"),
    *("text_starts_with", "md5_text", "text_concat_ws", "bpchareq", "bpcharne", "timestamp_trunc"),
    *("timestamptz_trunc", "extract_date", "extract_timestamp", "extract_timestamptz", "now"),
    *("timestamp_part", "timestamptz_part"),
)
"""Built-in functions, by the name of their code, that give a value for every value."""

_DOUBTFUL = f"""
SELECT p.proname FROM pg_proc AS p WHERE p.oid = ANY(%(of_constants)s) AND p.provolatile = 'v'
OR (p.oid = ANY(%(functions)s) OR p.oid IN
  (SELECT o.oprcode FROM pg_operator AS o WHERE o.oid = ANY(%(operators)s)))
AND NOT (p.provolatile <> 'v' AND (p.proleakproof OR p.prolang = 12 AND (
  p.prosrc IN ({", ".join(f"'{name}'" for name in _TOTAL)})
  OR p.prokind = 'a' AND p.proname IN ('count', 'min', 'max', 'bool_and', 'bool_or', 'every')
  OR p.prokind = 'a' AND p.proname IN ('sum', 'avg') AND p.proargtypes[0] IN (20, 21, 23, 1700))))
ORDER BY p.proname LIMIT 1"""
_RULES = """
SELECT CAST(r.ev_action AS TEXT) FROM pg_rewrite AS r JOIN pg_class AS c ON c.oid = r.ev_class
WHERE c.relkind = 'v' AND r.rulename = '_RETURN' AND c.oid = ANY(%(tables)s)"""


@dataclass
class _Found:
    """Numbers of what a view uses, and the first thing in it that is refused."""

    functions: set[int] = field(default_factory=set)
    of_constants: set[int] = field(default_factory=set)
    operators: set[int] = field(default_factory=set)
    tables: set[int] = field(default_factory=set)
    trouble: str | None = None


def require_steady(cursor: Cursor[Any], place: str, name: str) -> None:
    """Refuse a view whose rows may differ between two looks, or on whose rows a look may fail.

    Views that it reads are looked at as well. Anything but a view passes.
    """
    found, seen = _Found(), set[int]()
    named = cursor.execute("SELECT CAST(CAST(%s AS REGCLASS) AS OID)", (place,)).fetchone()
    found.tables.add(int(named[0]) if named else 0)
    while fresh := found.tables - seen:
        seen |= fresh
        for (tree,) in cursor.execute(_RULES, {"tables": list(fresh)}).fetchall():
            _look(_parsed(iter(_TOKENS.findall(tree))), found)
    trouble = found.trouble
    if trouble is None:
        given = {
            "functions": list(found.functions),
            "of_constants": list(found.of_constants),
            "operators": list(found.operators),
        }
        doubtful = cursor.execute(_DOUBTFUL, given).fetchone()
        trouble = None if doubtful is None else f"the function {doubtful[0]}"
    if trouble is not None:
        raise InvalidParameter(
            code="rows_not_stored",
            expectation=f"a table for {name}, or a view that gives the same rows each time and "
            "cannot fail on any",
            received=f"a view with {trouble}",
            remedy="CREATE MATERIALIZED VIEW stores its rows; or name the table below it.",
        )


def _parsed(tokens: Iterator[str]) -> list[Any]:
    """Nested lists: a node is a list that begins with its label, a field a word with a colon."""
    made: list[Any] = []
    for token in tokens:
        if token in "({":
            made.append(_parsed(tokens))
        elif token in ")}":
            return made
        else:
            made.append(token)
    return made


def _look(node: Sequence[Any], found: _Found) -> None:
    """Gather what a node and those below it use."""
    label = node[0] if node and isinstance(node[0], str) else ""
    trouble = _REFUSED.get(label)
    for place, word in enumerate(node):
        if not isinstance(word, str):
            _look(word, found)
            continue
        value = node[place + 1] if word.startswith(":") and place + 1 < len(node) else None
        match word[1:]:
            case "funcid" | "aggfnoid" | "winfnoid":
                used = found.of_constants if _of_constants(node) else found.functions
                used.add(int(value or 0))
            case "opno":
                found.operators.add(int(value or 0))
            case "relid" if value is not None:
                found.tables.add(int(value))
            case "resulttype" if label == "COERCEVIAIO" and value not in _TEXTS:
                trouble = "a cast by text"
            case "subLinkType" if value not in _TELLING:
                trouble = "a subquery for one value"
            case clause if clause in _CLAUSES and value != _CLAUSES[clause][1]:
                trouble = _CLAUSES[clause][0]
    found.trouble = found.trouble or trouble


def _of_constants(node: Sequence[Any]) -> bool:
    """Whether a function is called with constants alone: it fails for everybody or for nobody."""
    if node[0] != "FUNCEXPR" or ":args" not in node:
        return False
    given = node[node.index(":args") + 1]
    return isinstance(given, list) and all(argument[0] == "CONST" for argument in given)
