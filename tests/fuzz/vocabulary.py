"""The words of random questions: columns by kind, and the names that a run may be about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.fuzz.grammar import DAY, KINDS, NUMBER, TEXT, TRUTH, WHOLE

STORED: Mapping[str, Sequence[str]] = {
    WHOLE: ("x",),
    NUMBER: ("y", "z"),
    TEXT: ("w", "c", "note"),
    TRUTH: ("f",),
    DAY: ("d",),
}
U: Mapping[str, Sequence[str]] = {WHOLE: ("v",), TEXT: ("k", "note")}
ITEMS: Mapping[str, Sequence[str]] = {WHOLE: ("q",), TEXT: ("w",)}
PUBLIC: Mapping[str, tuple[Mapping[str, Sequence[str]], str, str]] = {
    "p": ({WHOLE: ("weight",), NUMBER: ("rate",), TEXT: ("w", "region")}, TEXT, "w"),
    "bands": ({WHOLE: ("x",), TEXT: ("band",)}, WHOLE, "x"),
}
FAMILIES: Mapping[str, Sequence[str]] = {
    "arithmetic": ("+", "-", "*", "/", "//", "%", "mod", "abs", "sign", "negative", "square"),
    "rounding": ("floor", "ceil", "trunc", "round", "bin", "width_bucket"),
    "powers": ("power", "pow", "^", "exp", "ln", "log10", "log2", "sqrt"),
    "choice": ("least", "greatest", "coalesce", "nullif", "case", "if", "bounded"),
    "casts": ("cast", "try_cast", "::"),
    "text": ("concat", "||", "upper", "trim", "substring", "replace", "length", "like", "ilike"),
    "patterns": ("regexp_matches", "regexp_like", "concat_ws", "reverse", "split_part", "strpos"),
    "hyperbolic": ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    "calendar": ("date_diff", "date_part", "date_trunc", "interval", "days", "make_date", "year"),
    "logic": ("and", "or", "not", "in", "between", "is null", "is true", "<", "is distinct from"),
}
"""Names that a run may be about."""
SEPARATORS = ("';'", "'A'", "'-'", "' '", "'2024'")
STATISTICS = ("VARIANCE", "VAR_POP", "STDDEV", "STDDEV_POP", "MEDIAN")
LINES = ("REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2", "REGR_COUNT", "REGR_AVGX", "REGR_AVGY")
SETS = ("ROLLUP", "CUBE", "GROUPING SETS")
LISTED = ("VALUES", "UNNEST", "generate_series")
BOUNDED = ("row", "group")
OVER_DIFFERENT = ("SUM(DISTINCT", "AVG(DISTINCT", "VAR_POP(DISTINCT")
MARKS = (
    *OVER_DIFFERENT,
    *("contribution_bounds_per_row", "contribution_bounds_per_group", "[0.25, 0.5]"),
)
"""What aggregates may bring beside their names."""
ELEMENTS = ("slice", "declared", "offset", "ordinality", "selected", "lateral", "left")
"""Ways to unnest a text."""
KEYS = {"t": ("w", "note"), "u": ("k", "note")}
"""Columns with a bound on rows per key."""


def qualified(columns: Mapping[str, Sequence[str]], alias: str) -> dict[str, list[str]]:
    return {kind: [f"{alias}.{name}" for name in names] for kind, names in columns.items()}


def merged(*parts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    return {kind: [name for part in parts for name in part.get(kind, ())] for kind in KINDS}
