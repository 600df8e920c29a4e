"""Arithmetic of doubles for PostgreSQL, which raises an error where IEEE 754 has infinity or zero.

``*`` and ``/`` fail on overflow, on underflow to zero and on division by zero; ``+`` and ``-`` on
overflow. Every text written here gives the double of IEEE 754, and NULL instead of infinity or
NaN, for all finite arguments. It asks first, with scaled numbers that neither overflow nor
vanish: scaling by a power of two is exact, so the scaled result rounds as the true one does.

Numerics: a product whose exact value exceeds 2**-1075 by less than one part in 2**53 is taken for
zero although it rounds to the smallest double. Proof: ``proofs/engines.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.relational.compile.dialect import scientific
from discreet.relational.types.data_type import LARGEST_REAL, DataType
from discreet.relational.types.expression import Call, Expression, Literal

_SHORT = 100
SMALLEST = Fraction(math.ulp(0.0))
"""The least positive double."""


def real(value: float) -> str:
    """A double, to the last bit."""
    return f"CAST('{scientific(value)}' AS DOUBLE PRECISION)"


def two(exponent: int) -> str:
    """A power of two."""
    return real(math.ldexp(1.0, exponent))


def let(body: str, **parts: str) -> str:
    """``body`` with its parts in place of their names, each computed once if it is long."""
    if all(len(part) <= _SHORT for part in parts.values()):
        return body.format(**parts)
    items = ", ".join(f"{part} AS {name}" for name, part in parts.items())
    named = body.format(**{name: f"v.{name}" for name in parts})
    # OFFSET 0 keeps the planner from writing the parts out again.
    return f"(SELECT {named} FROM (SELECT {items} OFFSET 0) AS v)"


def least(expression: Expression) -> Fraction:
    """A magnitude that the values of an expression do not fall below, unless they are zero."""
    domain = expression.domain
    if isinstance(expression, Literal):
        return Fraction(abs(domain.low)) if domain.low else Fraction(1)
    cast = isinstance(expression, Call) and expression.function.name == "cast"
    if cast and expression.args[0].domain.kind is DataType.INTEGER:
        return Fraction(1)
    if domain.bounded and not domain.low <= 0 <= domain.high:
        return min(abs(Fraction(domain.low)), abs(Fraction(domain.high)))
    return SMALLEST


def total(sign: str, first: str, second: str) -> str:
    """A sum or a difference that may overflow."""
    half, other = real(LARGEST_REAL / 2), "{b}" if sign == "+" else "(-{b})"
    return let(
        f"CASE WHEN ABS({{a}}) <= {half} AND ABS({{b}}) <= {half} THEN {{a}} {sign} {{b}} "
        f"WHEN ABS({{b}}) < {two(0)} THEN {{a}} WHEN ABS({{a}}) < {two(0)} THEN {other} "
        f"WHEN ABS({{a}} * {two(-1)} {sign} {{b}} * {two(-1)}) < {two(1023)} "
        f"THEN {{a}} {sign} {{b}} END",
        a=first,
        b=second,
    )


def product(first: str, second: str) -> str:
    """A product that may overflow or vanish."""
    usual = f"BETWEEN {two(-500)} AND {two(500)}"
    zero = real(0.0)
    return let(
        f"CASE WHEN ABS({{a}}) {usual} AND ABS({{b}}) {usual} THEN {{a}} * {{b}} "
        f"WHEN {{a}} = {zero} OR {{b}} = {zero} THEN {{a}} * {{b}} "
        f"WHEN ABS({{a}}) < {two(0)} AND ABS({{b}}) < {two(0)} THEN "
        f"CASE WHEN ABS({{a}}) < {two(-600)} AND ABS({{b}}) < {two(-600)} THEN {zero} "
        f"WHEN ABS(({{a}} * {two(450)}) * ({{b}} * {two(450)})) > {two(-175)} THEN {{a}} * {{b}} "
        f"ELSE {zero} END "
        f"WHEN ABS({{a}}) >= {two(0)} AND ABS({{b}}) >= {two(0)} THEN "
        f"CASE WHEN ABS(({{a}} * {two(-512)}) * ({{b}} * {two(-512)})) < {two(0)} "
        f"THEN {{a}} * {{b}} END "
        f"ELSE {{a}} * {{b}} END",
        a=first,
        b=second,
    )


def quotient(first: str, second: str) -> str:
    """A quotient that may overflow or vanish; NULL for a divisor of zero."""
    usual = f"BETWEEN {two(-500)} AND {two(500)}"
    zero, one = real(0.0), two(0)
    return let(
        f"CASE WHEN ABS({{a}}) {usual} AND ABS({{b}}) {usual} THEN {{a}} / {{b}} "
        f"WHEN {{b}} = {zero} THEN NULL WHEN {{a}} = {zero} THEN {{a}} / {{b}} "
        f"WHEN ABS({{a}}) >= {one} AND ABS({{b}}) < {one} THEN "
        f"CASE WHEN ABS(({{a}} * {two(-1000)}) / ({{b}} * {two(100)})) < {two(-76)} "
        f"THEN {{a}} / {{b}} END "
        f"WHEN ABS({{a}}) < {one} AND ABS({{b}}) >= {one} THEN "
        f"CASE WHEN ABS(({{a}} * {two(1000)}) / ({{b}} * {two(-100)})) > {two(25)} "
        f"THEN {{a}} / {{b}} ELSE {zero} END "
        f"WHEN ABS({{b}}) < {two(-1000)} AND ABS({{a}}) > {two(-100)} AND ABS({{a}}) < {one} THEN "
        f"CASE WHEN ABS(({{a}} * {two(-100)}) / ({{b}} * {two(900)})) < {two(24)} "
        f"THEN {{a}} / {{b}} END "
        f"ELSE {{a}} / {{b}} END",
        a=first,
        b=second,
    )


def remainder(first: str, second: str) -> str:
    """What is left of the first after cutting off multiples of the second; exact.

    Doubles are whole numbers times powers of two, and numerics hold whole numbers of any size.
    """
    powers = f"POWER(CAST(2 AS NUMERIC), {_exponent('{a}')} - {_exponent('{b}')})"
    left = f"MOD({_mantissa('{a}')} * TRUNC({powers}), {_mantissa('{b}')})"
    return let(
        f"CASE WHEN {{b}} = {real(0.0)} THEN NULL WHEN ABS({{a}}) < ABS({{b}}) THEN {{a}} "
        f"ELSE SIGN({{a}}) * CAST({left} AS DOUBLE PRECISION) * "
        f"POWER({real(2.0)}, CAST({_exponent('{b}')} - 1075 AS DOUBLE PRECISION)) END",
        a=first,
        b=second,
    )


def rounded(text: str) -> str:
    """The nearest whole number, halves away from zero."""
    half = real(0.5)
    return let(
        f"(TRUNC({{a}}) + CASE WHEN {{a}} - TRUNC({{a}}) >= {half} THEN {two(0)} "
        f"WHEN {{a}} - TRUNC({{a}}) <= -{half} THEN -{two(0)} ELSE {real(0.0)} END)",
        a=text,
    )


def exponential(text: str) -> str:
    """e to a power: NULL where it is too large, zero where it vanishes."""
    return let(
        f"CASE WHEN {{a}} <= {real(-745.0)} THEN {real(0.0)} "
        f"WHEN {{a}} <= {real(709.782712893384)} THEN EXP({{a}}) END",
        a=text,
    )


def power(base: str, exponent: str) -> str:
    """A power: NULL outside its domain and where it is too large, zero where it vanishes.

    Whether it is in range is judged by its logarithm; powers within 1e-9 of the largest double,
    relatively, count as too large.
    """
    zero, one = real(0.0), two(0)
    logarithm = "{b} * LN(ABS({a}))"
    return let(
        f"CASE WHEN {{a}} IS NULL OR {{b}} IS NULL THEN NULL "
        f"WHEN {{b}} = {zero} OR {{a}} = {one} THEN {one} WHEN {{b}} = {one} THEN {{a}} "
        f"WHEN {{a}} = {zero} THEN CASE WHEN {{b}} > {zero} THEN {zero} END "
        f"WHEN {{a}} < {zero} AND {{b}} <> FLOOR({{b}}) THEN NULL "
        f"WHEN ABS({{b}}) < {real(1e-200)} THEN {one} "
        f"WHEN ABS({{a}}) = {one} THEN POWER({{a}}, {{b}}) "
        f"WHEN ABS({{b}}) > {real(1e300)} THEN "
        f"CASE WHEN (ABS({{a}}) < {one}) = ({{b}} > {zero}) THEN {zero} END "
        f"WHEN {logarithm} < {real(-745.0)} THEN {zero} "
        f"WHEN {logarithm} < {real(709.782712892)} THEN POWER({{a}}, {{b}}) END",
        a=base,
        b=exponent,
    )


def steps(text: str, exponent: int) -> str:
    """The nearest whole number of steps of 2**exponent, halves to even, of a small double."""
    factor = two(-exponent)
    if exponent <= 0:
        return f"CAST({text} * {factor} AS BIGINT)"
    # A quarter of a step is no step, and what is larger does not vanish when scaled.
    return let(
        f"CASE WHEN ABS({{a}}) < {two(exponent - 2)} THEN CAST(0 AS BIGINT) "
        f"ELSE CAST({{a}} * {factor} AS BIGINT) END",
        a=text,
    )


def _bits(text: str) -> str:
    return f"CAST(CAST('x' || ENCODE(FLOAT8SEND({text}), 'hex') AS BIT(64)) AS BIGINT)"


def _field(text: str) -> str:
    return f"(({_bits(text)} >> 52) & 2047)"


def _exponent(text: str) -> str:
    """The exponent of a double's last place, plus 1075."""
    return f"CASE WHEN {_field(text)} = 0 THEN 1 ELSE {_field(text)} END"


def _mantissa(text: str) -> str:
    """A double as a whole number of its last place."""
    low = f"({_bits(text)} & {(1 << 52) - 1})"
    return f"CAST(CASE WHEN {_field(text)} = 0 THEN {low} ELSE {low} + {1 << 52} END AS NUMERIC)"
