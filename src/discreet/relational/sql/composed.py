"""Functions that are written with others: names of days and months, formats of days, angles.

They become nothing but calls of the allow-list, so every engine gives the same values, facts
follow by themselves, and no engine's own formats, locales or time zones have a say.

*Formats* are those of ``strftime``: ``%Y %m %d %H %M %S``, ``%y %j %B %b %A %a %I %p %u %w %V``,
``%F`` for ``%Y-%m-%d`` and ``%T`` for ``%H:%M:%S``. Reading takes the numbers among them; days and
months may have one digit or two where no digit follows, everything else has its full width. A
text of another form is NULL. Without a clock in the format the result is a day.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.arithmetic import ADD, MULTIPLY, REMAINDER
from discreet.relational.functions.calendar import difference, part, truncated
from discreet.relational.functions.casts import cast
from discreet.relational.functions.choice import COALESCE
from discreet.relational.functions.comparison import EQUAL, LESS
from discreet.relational.functions.function import Function
from discreet.relational.functions.logic import AND, IS_NULL
from discreet.relational.functions.shifts import shifted
from discreet.relational.functions.text import CONCAT, LENGTH, substring
from discreet.relational.sql.hyperbolic import HYPERBOLIC
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Expression, Literal

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_LONGEST = 100


@dataclass(frozen=True)
class ComposedFunction:
    """A name, how many arguments it takes, or None for two and more, and what it stands for.

    ``constants`` are the places of arguments that are public texts.
    """

    build: Callable[..., Expression]
    arguments: int | None = 1
    constants: frozenset[int] = frozenset()


def _call(function: Function, *args: Expression) -> Expression:
    return Call(function, args)


def _choose_name_by_number(number: Expression, names: tuple[str, ...], first: int) -> Expression:
    """The name of a number, counted from ``first``."""
    branches = tuple(
        (_call(EQUAL, number, Literal(place)), Literal(name))
        for place, name in enumerate(names, start=first)
    )
    return Case(branches, Literal(None))


def _digits(number: Expression, width: int) -> Expression:
    """A number that is not negative, with zeros before it."""
    longer = _call(ADD, number, Literal(10**width))
    return _call(substring(2, width), _call(cast(DataType.TEXT), longer))


def _month_name(at: Expression) -> Expression:
    return _choose_name_by_number(_call(part("month"), at), _MONTHS, 1)


def _day_name(at: Expression) -> Expression:
    return _choose_name_by_number(_call(part("dow"), at), _DAYS, 0)


def _twelve(at: Expression) -> Expression:
    """Hours as on the face of a clock."""
    hour = _call(REMAINDER, _call(part("hour"), at), Literal(12))
    return Case(((_call(EQUAL, hour, Literal(0)), Literal(12)),), hour)


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name[:3] for name in names)


_WRITTEN: Mapping[str, Callable[[Expression], Expression]] = {
    "Y": lambda at: _digits(_call(part("year"), at), 4),
    "m": lambda at: _digits(_call(part("month"), at), 2),
    "d": lambda at: _digits(_call(part("day"), at), 2),
    "H": lambda at: _digits(_call(part("hour"), at), 2),
    "M": lambda at: _digits(_call(part("minute"), at), 2),
    "S": lambda at: _digits(_call(part("second"), at), 2),
    "y": lambda at: _digits(_call(REMAINDER, _call(part("year"), at), Literal(100)), 2),
    "j": lambda at: _digits(_call(part("doy"), at), 3),
    "B": _month_name,
    "b": lambda at: _choose_name_by_number(_call(part("month"), at), _short(_MONTHS), 1),
    "A": _day_name,
    "a": lambda at: _choose_name_by_number(_call(part("dow"), at), _short(_DAYS), 0),
    "I": lambda at: _digits(_twelve(at), 2),
    "p": lambda at: Case(
        ((_call(LESS, _call(part("hour"), at), Literal(12)), Literal("AM")),), Literal("PM")
    ),
    "u": lambda at: _call(cast(DataType.TEXT), _call(part("isodow"), at)),
    "w": lambda at: _call(cast(DataType.TEXT), _call(part("dow"), at)),
    "V": lambda at: _digits(_call(part("week"), at), 2),
}
_WIDTHS = {"Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2}
_CLOCK = "HMS"


def strftime(at: Expression, form: str) -> Expression:
    """A day or moment as text."""
    pieces = [
        _WRITTEN[code](at) if code else Literal(text) for code, text in _pieces(form, _WRITTEN)
    ]
    if not pieces:
        return Case(((_call(EQUAL, at, at), Literal("")),), Literal(None))
    if len(pieces) == 1 and not isinstance(pieces[0], Literal):
        return pieces[0]
    # What is always the same text is nevertheless NULL where there is no day.
    written = _call(CONCAT, *pieces)
    return Case(((_call(EQUAL, at, at), written),), Literal(None))


def strptime(text: Expression, form: str) -> Expression:
    """A text as a day or moment, NULL where it has another form or there is no such day."""
    pieces = _pieces(form, _WIDTHS)
    codes = [code for code, _ in pieces if code]
    days = [code for code in "Ymd" if code in codes]
    if sorted(set(codes)) != sorted(codes) or days != list("Ymd"[: len(days)]) or not days:
        raise _format(form, "%Y, %Y and %m, or each of %Y, %m and %d once")
    clock = [code for code in _CLOCK if code in codes]
    if clock != list(_CLOCK[: len(clock)]):
        raise _format(form, "%H before %M before %S, none left out between them")
    read = [_parse_fixed_fields(text, pieces, widths) for widths in _widths(pieces)]
    return read[0] if len(read) == 1 else _call(COALESCE, *read)


def _widths(pieces: list[tuple[str, str]]) -> list[dict[str, int]]:
    """How wide fields may be: days and months also one digit, where no digit follows."""
    after = [code for code, _ in pieces[1:]] + [""]
    follows = [text for _, text in pieces[1:]] + [""]
    loose = [
        code
        for (code, _), then, rest in zip(pieces, after, follows, strict=True)
        if code in ("m", "d") and not then and not rest[:1].isdigit()
    ]
    return [
        {**_WIDTHS, **dict(zip(loose, chosen, strict=True))}
        for chosen in itertools.product((2, 1), repeat=len(loose))
    ]


def _parse_fixed_fields(
    text: Expression, pieces: list[tuple[str, str]], widths: Mapping[str, int]
) -> Expression:
    """Fields at fixed places, put together in the one form that CAST reads."""
    fields: dict[str, Expression] = {}
    tests, place = list[Expression](), 1
    for code, written in pieces:
        width = widths[code] if code else len(written)
        found = _call(substring(place, width), text)
        if code:
            fields[code] = found if width == _WIDTHS[code] else _call(CONCAT, Literal("0"), found)
        else:
            tests.append(_call(EQUAL, found, Literal(written)))
        place += width
    tests.append(_call(EQUAL, _call(LENGTH, text), Literal(place - 1)))
    month, of_month = (fields.get(code, Literal("01")) for code in "md")
    day = _call(CONCAT, fields["Y"], Literal("-"), month, Literal("-"), of_month)
    kind = DataType.DATE
    if set(fields) & set(_CLOCK):
        parts = [fields.get(code, Literal("00")) for code in _CLOCK]
        signs = (Literal(" "), Literal(":"), Literal(":"))
        clock = [each for pair in zip(signs, parts, strict=True) for each in pair]
        day, kind = _call(CONCAT, day, *clock), DataType.TIMESTAMP
    shaped = tests[0] if len(tests) == 1 else _call(AND, *tests)
    return _call(cast(kind), Case(((shaped, day),), Literal(None)))


def _pieces(form: str, known: Mapping[str, object]) -> list[tuple[str, str]]:
    """A format as fields, by their letters, and texts between them."""
    if not isinstance(form, str) or len(form) > _LONGEST:
        raise _format(str(form)[:_LONGEST], f"at most {_LONGEST} letters")
    form = form.replace("%%", "\0").replace("%F", "%Y-%m-%d").replace("%T", "%H:%M:%S")
    pieces: list[tuple[str, str]] = []
    for code, text in re.findall(r"%(-?.?)|([^%]+)", form, re.DOTALL):
        if text:
            pieces.append(("", text.replace("\0", "%")))
        elif code in known:
            pieces.append((code, ""))
        else:
            listed = " ".join(f"%{each}" for each in known)
            raise _format(form.replace("\0", "%%"), f"fields among {listed}, and %%")
    return pieces


def _format(form: str, expected: str) -> InvalidParameter:
    return InvalidParameter(
        code="bad_argument",
        expectation=f"a format with {expected}",
        received=form,
        remedy="Write for instance '%Y-%m-%d' or '%d.%m.%Y %H:%M'.",
    )


def _concat_ws(separator: str, *texts: Expression) -> Expression:
    """Texts with a separator between them, of those that are there; nothing where none is."""
    if not isinstance(separator, str) or len(separator) > _LONGEST:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"a separator of at most {_LONGEST} letters",
            received=type(separator).__name__,
            remedy="Write concat_ws('-', a, b).",
        )
    pieces = [
        Case(((_call(IS_NULL, text), Literal("")),), _call(CONCAT, Literal(separator), text))
        for text in texts
    ]
    return _call(substring(len(separator) + 1), _call(CONCAT, *pieces))


def _last_day(at: Expression) -> Expression:
    """The last day of the month in which a day or moment lies."""
    day = _call(cast(DataType.DATE), at)
    start = _call(truncated("month"), day)
    return _call(shifted(-1, "day"), _call(shifted(1, "month"), start))


def _epoch(at: Expression) -> Expression:
    """Whole seconds since 1970."""
    return _call(difference("second"), Literal(date(1970, 1, 1)), at)


_FORMATTED = frozenset({1})
_SEPARATED = frozenset({0})

COMPOSED: Mapping[str, ComposedFunction] = {
    "strftime": ComposedFunction(strftime, 2, _FORMATTED),
    "strptime": ComposedFunction(strptime, 2, _FORMATTED),
    "try_strptime": ComposedFunction(strptime, 2, _FORMATTED),
    "monthname": ComposedFunction(_month_name),
    "dayname": ComposedFunction(_day_name),
    "concat_ws": ComposedFunction(_concat_ws, None, _SEPARATED),
    "last_day": ComposedFunction(_last_day),
    "epoch": ComposedFunction(_epoch),
    **{name: ComposedFunction(build) for name, build in HYPERBOLIC.items()},
    "pi": ComposedFunction(lambda: Literal(math.pi), 0),
    "degrees": ComposedFunction(lambda x: _call(MULTIPLY, x, Literal(180 / math.pi))),
    "radians": ComposedFunction(lambda x: _call(MULTIPLY, x, Literal(math.pi / 180))),
}
"""By lower-case SQL name."""
