"""Conversions for PostgreSQL, whose own raise an error where ours give NULL.

Text is held to our forms by a regular expression before it is converted, and days that do not
exist are no form. Numbers too large or too small for a double are asked about as numerics first.
"""

from __future__ import annotations

from discreet.relational.engines.postgres.doubles import let, real
from discreet.relational.functions.casts import REAL_FORM, WHOLE_FORM
from discreet.relational.types.data_type import DataType

_YEAR = "([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_FOURTH = "(0[48]|[2468][048]|[13579][26])"
_LEAP = f"([0-9]{{2}}{_FOURTH}|{_FOURTH}00)"
_DAY = (
    f"({_YEAR}-(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
    f"|{_YEAR}-(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    f"|{_YEAR}-02-(0[1-9]|1[0-9]|2[0-8])|{_LEAP}-02-29)"
)
_CLOCK = r"([ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?"
FORMS = {
    DataType.INTEGER: WHOLE_FORM,
    DataType.DOUBLE: REAL_FORM,
    DataType.DATE: _DAY,
    DataType.TIMESTAMP: _DAY + _CLOCK,
}
_SHORT = 60
_SMALL = REAL_FORM.replace("{1,9}", "{1,2}")
"""Short texts of this form are numbers in the range of doubles, as most are."""
_DIGITS = 800
_MAX_EXPONENT = 400
_BEYOND = str(2**1024 - 2**970)
"""From here on doubles round to infinity."""
_BELOW = "2.470328229206232720882843964341106861826e-324"
"""Up to here they round to zero: 2**-1075, and no more than one part in 10**38 beyond."""


def from_text(text: str, kind: DataType, target: str) -> str:
    """A text that has the form of a kind, converted; NULL otherwise."""
    if kind is DataType.DOUBLE:
        return real_from_text(text, "CAST(NULL AS DOUBLE PRECISION)")
    return let(
        f"CASE WHEN {{a}} ~ '^({_doubled(FORMS[kind])})$' THEN CAST({{a}} AS {target}) END", a=text
    )


def real_from_text(text: str, beyond: str) -> str:
    """A number as text of any length: the nearest double, and ``beyond``, signed, if too large.

    Numerics: with d its digits from the first that is not zero, the number is 0.d * 10**p. Only
    for p within 400 of zero it is made, as a numeric of the first 800 digits and, where others
    follow that are not all zero, a 1: numbers halfway between two doubles have fewer digits, so
    it rounds as the whole does.
    """
    mantissa = "SUBSTRING({a} FROM '^[+-]?([0-9.]*)')"
    exponent = "CAST(COALESCE(SUBSTRING({a} FROM '[eE]([+-]?[0-9]+)$'), '0') AS BIGINT)"
    digits = f"LTRIM(REPLACE({mantissa}, '.', ''), '0')"
    fraction = f"CHAR_LENGTH(SPLIT_PART({mantissa}, '.', 2))"
    place = f"CHAR_LENGTH({digits}) - {fraction} + {exponent}"
    rest = f"CASE WHEN LTRIM(SUBSTRING({{d}} FROM {_DIGITS + 1}), '0') <> '' THEN '1' ELSE '' END"
    number = f"CAST('0.' || LEFT({{d}}, {_DIGITS}) || {rest} || 'e' || {{p}} AS NUMERIC)"
    size = let(
        f"CASE WHEN {{d}} = '' OR {{p}} < -{_MAX_EXPONENT} THEN {real(0.0)} "
        f"WHEN {{p}} > {_MAX_EXPONENT} THEN {beyond} ELSE "
        f"{let(double_from_numeric('{n}', beyond), n=number)} END",
        d=digits,
        p=place,
    )
    return let(
        f"CASE WHEN CHAR_LENGTH({{a}}) <= {_SHORT} AND {{a}} ~ '^({_doubled(_SMALL)})$' "
        f"THEN CAST({{a}} AS DOUBLE PRECISION) "
        f"WHEN {{a}} ~ '^({_doubled(REAL_FORM)})$' THEN "
        f"CASE WHEN LEFT({{a}}, 1) = '-' THEN {real(-1.0)} ELSE {real(1.0)} END * {size} END",
        a=text,
    )


def double_from_numeric(text: str, beyond: str) -> str:
    """The nearest double of a numeric, NaN included; ``beyond`` if it is too large."""
    return (
        f"CASE WHEN {text} = CAST('NaN' AS NUMERIC) THEN CAST('NaN' AS DOUBLE PRECISION) "
        f"WHEN ABS({text}) >= CAST('{_BEYOND}' AS NUMERIC) THEN {beyond} "
        f"WHEN ABS({text}) <= CAST('{_BELOW}' AS NUMERIC) THEN {real(0.0)} "
        f"ELSE CAST({text} AS DOUBLE PRECISION) END"
    )


def text_from_real(text: str) -> str:
    """The shortest digits of a double, laid out as the reference does."""
    return let(
        f"CASE WHEN ABS({{a}}) >= {real(1e15)} AND ABS({{a}}) < {real(1e16)} "
        "THEN CAST(CAST(CAST({a} AS TEXT) AS NUMERIC) AS TEXT) ELSE CAST({a} AS TEXT) END || "
        f"CASE WHEN {{a}} = TRUNC({{a}}) AND ABS({{a}}) < {real(1e16)} THEN '.0' ELSE '' END",
        a=text,
    )


def _doubled(form: str) -> str:
    """A form inside a template: its braces are not places."""
    return form.replace("{", "{{").replace("}", "}}")
