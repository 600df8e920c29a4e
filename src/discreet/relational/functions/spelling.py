"""How sqlglot names what analysts write: its node classes and types, as names of the registry.

Classes that an installed sqlglot lacks are parsed as calls by name, which the registry knows too.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.relational.types.data_type import DataType


def _classes(names: Mapping[str, tuple[str, ...]]) -> dict[type[exp.Expression], tuple[str, ...]]:
    return {getattr(exp, name): value for name, value in names.items() if hasattr(exp, name)}


BINARY: Mapping[type[exp.Expression], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "//",
    exp.Mod: "%",
    exp.Pow: "^",
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "is not distinct from",
    exp.NullSafeNEQ: "is distinct from",
    exp.DPipe: "||",
    exp.And: "and",
    exp.Or: "or",
}
"""Node classes with two sides, by operator."""

CALLS: Mapping[type[exp.Expression], tuple[str, ...]] = _classes(
    {
        "Abs": ("abs", "this"),
        "Sign": ("sign", "this"),
        "Floor": ("floor", "this"),
        "Ceil": ("ceil", "this"),
        "Trunc": ("trunc", "this"),
        "Round": ("round", "this", "decimals"),
        "Sqrt": ("sqrt", "this"),
        "Ln": ("ln", "this"),
        "Exp": ("exp", "this"),
        "Least": ("least", "this", "expressions"),
        "Greatest": ("greatest", "this", "expressions"),
        "Coalesce": ("coalesce", "this", "expressions"),
        "Nullif": ("nullif", "this", "expression"),
        "Lower": ("lower", "this"),
        "Upper": ("upper", "this"),
        "Length": ("length", "this"),
        "Reverse": ("reverse", "this"),
        "ConcatWs": ("concat_ws", "expressions"),
        "Concat": ("concat", "expressions"),
        "StartsWith": ("starts_with", "this", "expression"),
        "EndsWith": ("ends_with", "this", "expression"),
        "Contains": ("contains", "this", "expression"),
        "Substring": ("substring", "this", "start", "length"),
        "Left": ("left", "this", "expression"),
        "Right": ("right", "this", "expression"),
        "SplitPart": ("split_part", "this", "delimiter", "part_index"),
        "StrPosition": ("position", "this", "substr"),
        **{name: (name.lower(), "this") for name in ("Sin", "Cos", "Tan", "Asin", "Acos", "Atan")},
        **{name: (name.lower(), "this") for name in ("Sinh", "Cosh", "Tanh")},
        **{name: (name.lower(), "this") for name in ("Asinh", "Acosh", "Atanh")},
        "Degrees": ("degrees", "this"),
        "Radians": ("radians", "this"),
        "Pi": ("pi",),
        "Dayname": ("dayname", "this"),
        "Monthname": ("monthname", "this"),
        "LastDay": ("last_day", "this"),
        "TimeToUnix": ("epoch", "this"),
        "TimeToStr": ("strftime", "this", "format"),
        "StrToTime": ("strptime", "this", "format"),
        "Replace": ("replace", "this", "expression", "replacement"),
        "Year": ("year", "this"),
        "Quarter": ("quarter", "this"),
        "Month": ("month", "this"),
        "Week": ("week", "this"),
        "WeekOfYear": ("week", "this"),
        "Day": ("day", "this"),
        "DayOfMonth": ("day", "this"),
        "DayOfYear": ("doy", "this"),
        "DayOfWeek": ("dow", "this"),
        "DayOfWeekIso": ("isodow", "this"),
        "Hour": ("hour", "this"),
        "Minute": ("minute", "this"),
        "Second": ("second", "this"),
        "TimestampTrunc": ("date_trunc", "unit", "this"),
        "DateTrunc": ("date_trunc", "unit", "this"),
        "DateDiff": ("date_diff", "unit", "expression", "this"),
        "DateFromParts": ("make_date", "year", "month", "day"),
        "WidthBucket": ("width_bucket", "this", "min_value", "max_value", "num_buckets"),
    }
)
"""Node classes of functions: the name in the registry, and the parts in its order."""

HARMLESS = ("typed", "safe", "coalesce", "ignore_nulls", "date_part_boundary", "big_int")
"""Marks that sqlglot sets by itself when it reads DuckDB's language."""

TYPES: Mapping[str, DataType] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INT", "BIGINT", "INT128"), DataType.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINT", "UBIGINT"), DataType.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), DataType.DOUBLE),
    **dict.fromkeys(("TEXT", "VARCHAR", "CHAR"), DataType.TEXT),
    "BOOLEAN": DataType.BOOLEAN,
    "DATE": DataType.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), DataType.TIMESTAMP),
}
"""Types that may be cast to. Whole numbers all have 63 bits and a sign, and reals are doubles."""

TYPE_REMEDY = (
    "Cast to BIGINT, DOUBLE, VARCHAR, BOOLEAN, DATE or TIMESTAMP; round(x, 2) keeps two decimals."
)

_SUBQUERY = "Join the tables instead, or ask two questions."
_CLOCK = "Answers do not depend on the clock: write a date, such as DATE '2024-12-31'."
_PARAMETER = "Write the constant into the question."
_PATTERN = "Use regexp_matches(x, '^a+$'), LIKE, starts_with, ends_with or contains."
_ELEMENTS = "Write FROM t CROSS JOIN UNNEST(string_split(x, ';')) AS u(element)."
_NESTED = "Columns hold single values: numbers, text, truth values, dates and moments."

REMEDIES: Mapping[str, str] = {
    **dict.fromkeys(("Subquery", "Select", "Exists", "Any", "All", "Union"), _SUBQUERY),
    **dict.fromkeys(("CurrentDate", "CurrentTimestamp", "CurrentTime"), _CLOCK),
    **dict.fromkeys(("CurrentDatetime", "Localtime", "Localtimestamp"), _CLOCK),
    **dict.fromkeys(("Placeholder", "Parameter", "SessionParameter"), _PARAMETER),
    **dict.fromkeys(("RegexpLike", "RegexpILike", "SimilarTo", "Glob"), _PATTERN),
    **dict.fromkeys(("Array", "Struct", "Bracket", "Map", "Dot", "JSONExtract"), _NESTED),
    "JSONExtractScalar": _NESTED,
    "Window": "Windows look across rows of other people; use GROUP BY.",
    "RawString": "Write text in single quotes.",
    "Rand": "Noise is ours to draw; leave it out.",
    "Try": "Leave it out: nothing fails here, and what has no value is NULL.",
    "Interval": "Add it to a date or a moment: d + INTERVAL 30 DAY.",
    "IsNan": "NaN counts as NULL: write IS NULL.",
    "Collate": "Use lower(x) to compare without regard to case.",
    "AtTimeZone": "Moments are in UTC; add an INTERVAL.",
    "Star": "Name the columns one by one.",
}
"""What to write instead, by node class."""

NAMED_REMEDIES: Mapping[str, str] = {
    **dict.fromkeys(("now", "today", "get_current_timestamp", "transaction_timestamp"), _CLOCK),
    **dict.fromkeys(("random", "setseed", "uuid", "gen_random_uuid"), REMEDIES["Rand"]),
    "iff": "Write if(condition, a, b), or CASE WHEN condition THEN a ELSE b END.",
    **dict.fromkeys(("dateadd", "date_add", "timestamp_add"), "Write d + INTERVAL 30 DAY."),
    **dict.fromkeys(("to_char", "format_date", "date_format"), "Write strftime(d, '%Y-%m')."),
    **dict.fromkeys(("to_date", "parse_date", "str_to_date"), "Write strptime(x, '%Y-%m-%d')."),
    "percentile": "Write QUANTILE(x, 0.5), with a level between 0 and 1.",
    **dict.fromkeys(("unnest", "flatten", "explode"), _ELEMENTS),
    **dict.fromkeys(("regexp_full_match", "regexp_extract", "regexp_replace"), _PATTERN),
}
"""What to write instead, by function name."""
