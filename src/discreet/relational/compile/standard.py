"""How standard SQL writes each function; an engine replaces what it writes differently.

Arguments of ``//``, ``%`` and conversions are brought into their domain first, so that nothing
depends on the order in which an engine evaluates the branches of a CASE. ``least`` and
``greatest`` are CASE: engines disagree about NULL and NaN in their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.relational.compile.dialect import Dialect, Template
from discreet.relational.functions.bins import edges
from discreet.relational.functions.casts import FALSE_WORDS, TRUE_WORDS
from discreet.relational.functions.intervals import interval, is_safe_whole
from discreet.relational.functions.patterns import LikePattern
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType
from discreet.relational.types.expression import Call


def nonzero(domain: ColumnDomain, text: str) -> str:
    """A divisor, NULL where it is zero."""
    if domain.bounded and not domain.low <= 0 <= domain.high:
        return text
    return f"CASE WHEN {text} = 0 THEN NULL ELSE {text} END"


def _render_whole_quotient(dialect: Dialect, call: Call, first: str, second: str) -> str:
    return dialect.whole_quotient(first, nonzero(call.args[1].domain, second))


def _remainder(_: Dialect, call: Call, first: str, second: str) -> str:
    return f"MOD({first}, {nonzero(call.args[1].domain, second)})"


def _sign(dialect: Dialect, _: Call, text: str) -> str:
    return f"CAST(SIGN({text}) AS {dialect.types[DataType.INTEGER]})"


def _rounding(name: str) -> Callable[..., str]:
    def template(dialect: Dialect, call: Call, text: str) -> str:
        if call.args[0].domain.kind is DataType.INTEGER:
            return text
        return dialect.whole_if(call.domain.kind, f"{name}({text})")

    return template


def _round_to(dialect: Dialect, call: Call, text: str) -> str:
    (digits,) = call.function.parameters
    assert isinstance(digits, int)
    scale = 10 ** abs(digits)
    if call.args[0].domain.kind is DataType.INTEGER:
        if digits >= 0:
            return text
        half, whole = dialect.literal(scale // 2), dialect.literal(scale)
        nudged = f"({text} + CASE WHEN {text} < 0 THEN -{half} ELSE {half} END)"
        return f"({dialect.whole_quotient(nudged, whole)} * {whole})"
    real = dialect.real(float(scale))
    if digits > 0:
        return f"(ROUND({text} * {real}) / {real})"
    return dialect.whole_if(call.domain.kind, f"(ROUND({text} / {real}) * {real})")


def _all(sign: str) -> Callable[..., str]:
    return lambda dialect, call, *texts: f"({sign.join(texts)})"


def _in(_: Dialect, call: Call, text: str, *listed: str) -> str:
    return f"({text} IN ({', '.join(listed)}))"


def _extreme(sign: str) -> Callable[..., str]:
    """The first argument that is on the right side of all others; none is, if one is NULL."""

    def template(_: Dialect, call: Call, *texts: str) -> str:
        if len(texts) == 1:
            return texts[0]
        whens = []
        for place, text in enumerate(texts):
            others = [other for at, other in enumerate(texts) if at != place]
            test = " AND ".join(f"{text} {sign} {other}" for other in others)
            whens.append(f"WHEN {test} THEN {text}")
        return f"CASE {' '.join(whens)} END"

    return template


def _cast(dialect: Dialect, call: Call, text: str) -> str:
    (kind,) = call.function.parameters
    assert isinstance(kind, DataType)
    domain = call.args[0].domain
    if (domain.kind, kind) == (DataType.DOUBLE, DataType.INTEGER) and is_safe_whole(
        interval(domain)
    ):
        return dialect.whole_if(kind, text)
    return dialect.cast(text, domain.kind, kind)


def truth_of_text(dialect: Dialect, text: str) -> str:
    """The words for true and false, in any case."""
    true, false = (", ".join(map(dialect.text, words)) for words in (TRUE_WORDS, FALSE_WORDS))
    lower = f"LOWER({text})"
    return f"CASE WHEN {lower} IN ({true}) THEN TRUE WHEN {lower} IN ({false}) THEN FALSE END"


def _substring(_: Dialect, call: Call, text: str) -> str:
    start, *length = call.function.parameters
    return f"SUBSTRING({text} FROM {start}{f' FOR {length[0]}' if length else ''})"


def _trim(dialect: Dialect, call: Call, text: str) -> str:
    side, letters = call.function.parameters
    if not letters:
        return text
    return f"TRIM({str(side).upper()} {dialect.text(str(letters))} FROM {text})"


def _replace(dialect: Dialect, call: Call, text: str) -> str:
    old, new = (dialect.text(str(part)) for part in call.function.parameters)
    return f"REPLACE({text}, {old}, {new})" if call.function.parameters[0] else text


def _split_part(dialect: Dialect, call: Call, text: str) -> str:
    separator, place = call.function.parameters
    return f"SPLIT_PART({text}, {dialect.text(str(separator))}, {place})"


def _right(_: Dialect, call: Call, text: str) -> str:
    (length,) = call.function.parameters
    return f"RIGHT({text}, {length})"


def _pad(dialect: Dialect, call: Call, text: str) -> str:
    side, length, filling = call.function.parameters
    name = {"leading": "LPAD", "trailing": "RPAD"}[str(side)]
    return f"{name}({text}, {length}, {dialect.text(str(filling))})"


def like(dialect: Dialect, call: Call, text: str) -> str:
    """The engine's own LIKE."""
    pattern = LikePattern(str(call.function.parameters[0]))
    escape = " ESCAPE '!'" if pattern.escaped else ""
    return f"({text} LIKE {dialect.text(pattern.text)}{escape})"


def _concat(dialect: Dialect, call: Call, first: str, *rest: str) -> str:
    """Texts after one another, cut on the way wherever more than two texts would be held."""
    written, letters = first, call.args[0].domain.letters
    for arg, text in zip(call.args[1:], rest, strict=True):
        if letters + arg.domain.letters > 2 * TEXT_LIMIT:
            written, letters = dialect.first(written, TEXT_LIMIT), TEXT_LIMIT
        written, letters = f"({written} || {text})", letters + arg.domain.letters
    return written


@dataclass(frozen=True)
class _Bins:
    """The texts that bins are written with."""

    low: str
    high: str
    place: str
    edge: Callable[[int], int | float]

    @classmethod
    def of(cls, dialect: Dialect, call: Call, text: str) -> _Bins:
        low, high, count = call.function.parameters
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        assert isinstance(count, int)
        start, end, bins = (dialect.real(float(part)) for part in (low, high, count))
        inside = f"CASE WHEN {text} BETWEEN {start} AND {end} THEN {text} END"
        span = dialect.real(float(high) - float(low))
        place = dialect.whole_part(f"({inside} - {start}) * {bins}", span)
        last = dialect.real(float(count - 1))
        # The upper end belongs to the last bin, and rounding may carry others that far.
        place = f"CASE WHEN {place} < {bins} THEN {place} WHEN {place} >= {bins} THEN {last} END"
        return cls(start, end, place, edges(low, high, count))


def _bin(dialect: Dialect, call: Call, text: str) -> str:
    bins = _Bins.of(dialect, call, text)
    low, high, count = call.function.parameters
    if call.domain.kind is DataType.INTEGER:
        width = dialect.literal(bins.edge(1) - bins.edge(0))
        place = f"CAST({bins.place} AS {dialect.types[DataType.INTEGER]})"
        return f"({dialect.literal(low)} + {place} * {width})"
    span = dialect.real(float(str(high)) - float(str(low)))
    edge = dialect.quotient(f"{bins.place} * {span}", dialect.real(float(str(count))))
    return f"({bins.low} + {edge})"


def _bucket(dialect: Dialect, call: Call, text: str) -> str:
    bins = _Bins.of(dialect, call, text)
    count = call.function.parameters[2]
    assert isinstance(count, int)
    none, one, over = (dialect.literal(number) for number in (0, 1, count + 1))
    return (
        f"CASE WHEN {text} < {bins.low} THEN {none} WHEN {text} >= {bins.high} THEN {over} "
        f"ELSE CAST({bins.place} AS {dialect.types[DataType.INTEGER]}) + {one} END"
    )


STANDARD: Mapping[str, Template] = {
    "add": "({0} + {1})",
    "subtract": "({0} - {1})",
    "multiply": "({0} * {1})",
    "square": "({0} * {0})",
    "divide": "({0} / {1})",
    "cut": _render_whole_quotient,
    "remainder": _remainder,
    "negate": "(-{0})",
    "abs": "ABS({0})",
    "sign": _sign,
    "ln": "LN({0})",
    "log10": "LOG10({0})",
    "log2": "LOG2({0})",
    "sqrt": "SQRT({0})",
    "exp": "EXP({0})",
    "power": "POWER({0}, {1})",
    "floor": _rounding("FLOOR"),
    "ceil": _rounding("CEIL"),
    "trunc": _rounding("TRUNC"),
    "round": _rounding("ROUND"),
    "round_to": _round_to,
    **{sign: f"({{0}} {sign} {{1}})" for sign in ("=", "<>", "<", "<=", ">", ">=")},
    "is distinct from": "({0} IS DISTINCT FROM {1})",
    "is not distinct from": "({0} IS NOT DISTINCT FROM {1})",
    "between": "({0} BETWEEN {1} AND {2})",
    "in": _in,
    "and": _all(" AND "),
    "or": _all(" OR "),
    "not": "(NOT {0})",
    "is null": "({0} IS NULL)",
    "is not null": "({0} IS NOT NULL)",
    "is true": "({0} IS TRUE)",
    "is false": "({0} IS FALSE)",
    "coalesce": lambda dialect, call, *texts: f"COALESCE({', '.join(texts)})",
    "nullif": "CASE WHEN {0} = {1} THEN NULL ELSE {0} END",
    "least": _extreme("<="),
    "greatest": _extreme(">="),
    "cast": _cast,
    "lower": "LOWER({0})",
    "upper": "UPPER({0})",
    "reverse": "REVERSE({0})",
    "length": "CHAR_LENGTH({0})",
    "starts_with": "STARTS_WITH({0}, {1})",
    "ends_with": "ENDS_WITH({0}, {1})",
    "contains": "CONTAINS({0}, {1})",
    "concat": _concat,
    "substring": _substring,
    "trim": _trim,
    "replace": _replace,
    "split_part": _split_part,
    "right": _right,
    "pad": _pad,
    "position": "STRPOS({0}, {1})",
    "sin": "SIN({0})",
    "cos": "COS({0})",
    "tan": "TAN({0})",
    "atan": "ATAN({0})",
    "asin": "ASIN(CASE WHEN {0} BETWEEN -1 AND 1 THEN {0} END)",
    "acos": "ACOS(CASE WHEN {0} BETWEEN -1 AND 1 THEN {0} END)",
    "like": like,
    "bin": _bin,
    "width_bucket": _bucket,
}
"""What the calendar needs is left to engines: its functions are hardly standardised."""
