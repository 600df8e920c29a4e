"""What was parsed, in the words of SQL and of the analyst: never in those of the parser.

A function keeps the name by which it was called, a construct its text, a part its keywords.

Source: contract, "What may be seen" (a refusal explains itself).
"""

from __future__ import annotations

from sqlglot import ErrorLevel, exp

from discreet.core.errors import InvalidParameter
from discreet.relational.sql.tree import nodes

_WRITTEN = "written"
_SHORT = 60
_CLAUSES = (exp.Query, exp.Table, exp.Join, exp.Group, exp.Order, exp.Ordered, exp.Window)

_WORDS = {
    "Window": "window",
    "Subquery": "(SELECT ...)",
    "Select": "SELECT inside an expression",
    "Exists": "EXISTS (SELECT ...)",
    "Star": "*",
    "Placeholder": "a placeholder ?",
    "Parameter": "a parameter",
    "Interval": "INTERVAL",
    "Collate": "COLLATE",
    "AtTimeZone": "AT TIME ZONE",
    "GroupConcat": "STRING_AGG",
}
"""Constructs by their words, where their text would say too much or too little."""

_PARTS = {
    ("Select", "kind"): "SELECT AS {}",
    ("Select", "locks"): "FOR UPDATE or FOR SHARE",
    ("Select", "qualify"): "QUALIFY",
    ("Select", "windows"): "WINDOW",
    ("Select", "into"): "INTO",
    ("Table", "only"): "FROM ONLY",
    ("Table", "sample"): "TABLESAMPLE",
    ("Group", "all"): "GROUP BY DISTINCT",
    ("Join", "method"): "{} JOIN",
    ("Join", "side"): "{} JOIN",
    ("Join", "kind"): "{} JOIN",
    ("Ordered", "with_fill"): "WITH FILL",
    ("Order", "siblings"): "ORDER SIBLINGS BY",
    ("LimitOptions", "with_ties"): "WITH TIES",
    ("LimitOptions", "percent"): "PERCENT",
    ("TableAlias", "columns"): "column names after an alias",
}
"""Parts by their words; the braces stand for the value."""


def as_written(tree: exp.Expression, text: str) -> exp.Expression:
    """The tree in which functions keep the name by which the analyst called them."""
    for node in nodes(tree):
        if not isinstance(node, exp.Func | exp.IgnoreNulls):
            continue
        start, end = node.meta.get("start"), node.meta.get("end")
        if isinstance(start, int) and isinstance(end, int):
            node.meta[_WRITTEN] = text[start : end + 1]
    return tree


def require_no_hint(tree: exp.Expression) -> None:
    """Refuse what the parser hides: hints, which are comments to it, and words without a meaning.

    These are GROUP BY DISTINCT, and DISTINCT of nothing inside an aggregate.
    """
    for node in nodes(tree):
        if isinstance(node, exp.Distinct) and not node.expressions and node.arg_key != "distinct":
            raise InvalidParameter(
                code="unsupported_sql",
                expectation="SQL that the curator understands",
                received="DISTINCT of nothing",
                remedy="Name what is counted: COUNT(DISTINCT ward).",
            )
        if isinstance(node, exp.Group) and node.args.get("all") is False:
            raise InvalidParameter(
                code="unsupported_sql",
                expectation="SQL that the curator understands",
                received="GROUP BY DISTINCT",
                remedy="Write GROUP BY.",
            )
        for comment in node.comments or ():
            if comment.startswith("+"):
                raise InvalidParameter(
                    code="unsupported_sql",
                    expectation="SQL that the curator understands",
                    received=f"a hint /*{comment[:_SHORT]}*/",
                    remedy="Leave the hint out: plans are made here.",
                )


def construct(node: exp.Expression) -> str:
    """What was written, in the words of SQL: a function by the name it was called by."""
    written = node.meta.get(_WRITTEN)
    if written:
        return str(written).strip('"').lower()
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()
    if type(node).__name__ in _WORDS:
        return _WORDS[type(node).__name__]
    return shortened(node)


def shortened(node: exp.Expression) -> str:
    """The text of a construct, cut where it is long."""
    text = node.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE)
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."


def part_words(node: exp.Expression, key: str) -> str:
    """A part of a construct in the words of SQL, where nobody reads that part."""
    value, named = node.args[key], _PARTS.get((type(node).__name__, key))
    if named is not None:
        return named.format(str(value).upper())
    word = key.strip("_").replace("_", " ").upper()
    listed = value if isinstance(value, list) else [value]
    texts = [shortened(part) for part in listed if isinstance(part, exp.Expression)]
    text = ", ".join(filter(None, texts))
    if isinstance(value, str):
        return f"{word} {value}"
    if text.upper().startswith(word.split()[0]):
        return text
    place = construct(node) if isinstance(node, exp.Func) else type(node).__name__.upper()
    return (
        f"{word} {text}".strip() if isinstance(node, _CLAUSES) else f"{place} with {word.lower()}"
    )
