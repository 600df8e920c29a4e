"""A random grammar of expressions: every function, operator and form that SQL texts may use.

``CALLS`` has a line for each name of the registry and ``SIGNS`` for each operator, so that a new
one without a line fails a test; ``FORMS`` are what has a grammar of its own. A slot such as
``{number}`` is grown in turn; slots of constants are drawn from a list.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NUMBER, WHOLE, TEXT, TRUTH, DAY, MOMENT = "number", "whole", "text", "truth", "day", "moment"
KINDS = (NUMBER, WHOLE, TEXT, TRUTH, DAY, MOMENT)

CALLS: Mapping[str, tuple[str, ...]] = {
    "abs": ("number: abs({number})", "whole: abs({whole})"),
    "sign": ("whole: sign({number})",),
    "mod": ("number: mod({number}, {number})", "whole: mod({whole}, {whole})"),
    **{
        name: (f"number: {name}({{number}})", f"whole: {name}({{whole}})")
        for name in ("floor", "ceil", "ceiling", "trunc")
    },
    "round": (
        "number: round({number})",
        "number: round({number}, {digits})",
        "number: round(exp({column}), {digits})",
        "number: round({constant}, {digits})",
        "whole: round({whole}, {digits})",
    ),
    **{
        name: (f"number: {name}({{number}})",)
        for name in ("sqrt", "ln", "log", "log10", "log2", "exp")
    },
    "power": ("number: power({number}, {number})", "number: power({number}, {exponent})"),
    "pow": ("number: pow({number}, {exponent})", "number: pow({exponent}, {number})"),
    **{
        name: (
            f"number: {name}({{number}}, {{number}})",
            f"number: {name}({{number}}, {{constant}})",
            f"whole: {name}({{whole}}, {{whole}}, {{whole}})",
            f"text: {name}({{text}}, {{text}})",
            f"day: {name}({{day}}, {{day}})",
            f"moment: {name}({{moment}}, {{day}})",
        )
        for name in ("least", "greatest")
    },
    "coalesce": (
        "number: coalesce({number}, {number})",
        "whole: coalesce({whole}, {whole})",
        "text: coalesce({text}, {text}, {word})",
        "truth: coalesce({truth}, {truth})",
        "moment: coalesce({day}, {moment})",
    ),
    "ifnull": ("number: ifnull({number}, {number})", "day: ifnull({day}, {day})"),
    "nullif": (
        "number: nullif({number}, {number})",
        "whole: nullif({whole}, {whole})",
        "text: nullif({text}, {text})",
        "day: nullif({day}, {day})",
    ),
    "lower": ("text: lower({text})",),
    "upper": ("text: upper({text})",),
    "length": ("whole: length({text})",),
    "concat": ("text: concat({text}, {text})", "text: concat({text}, {word}, {text})"),
    **{
        name: (f"truth: {name}({{text}}, {{text}})", f"truth: {name}({{text}}, {{word}})")
        for name in ("starts_with", "prefix", "ends_with", "suffix", "contains")
    },
    "substring": (
        "text: substring({text}, {position})",
        "text: substring({text}, {position}, {position})",
    ),
    "left": ("text: left({text}, {position})",),
    "replace": ("text: replace({text}, {word}, '')", "text: replace({text}, 'a', {letter})"),
    **{
        name: (f"text: {name}({{text}})", f"text: {name}({{text}}, {{word}})")
        for name in ("trim", "ltrim", "rtrim")
    },
    **{
        name: (f"whole: {name}({{day}})", f"whole: {name}({{moment}})")
        for name in (
            *("year", "quarter", "month", "week", "day", "doy", "dow", "isodow", "dayofweek"),
            *("weekday", "dayofmonth", "dayofyear", "weekofyear"),
        )
    },
    **{name: (f"whole: {name}({{moment}})",) for name in ("hour", "minute", "second")},
    "date_part": (
        "whole: date_part({part}, {day})",
        "whole: date_part({part}, {moment})",
        "whole: extract({field} from {moment})",
    ),
    "date_trunc": (
        "day: date_trunc({bigunit}, {day})",
        "moment: date_trunc({unit}, {moment})",
    ),
    "date_diff": (
        "whole: date_diff({bigunit}, {day}, {day})",
        "whole: date_diff({unit}, {moment}, {day})",
    ),
    "make_date": (
        "day: make_date({whole}, {whole}, {whole})",
        "day: make_date({whole}, 2, 29)",
    ),
    "right": ("text: right({text}, {position})",),
    "lpad": ("text: lpad({text}, {position}, '0')", "text: lpad({text}, 3)"),
    "rpad": ("text: rpad({text}, {position}, 'é')",),
    "reverse": ("text: reverse({text})",),
    "concat_ws": ("text: concat_ws({letter}, {text}, {text})",),
    **{
        name: (f"truth: {name}({{text}}, {{regular}})",)
        for name in ("regexp_matches", "regexp_like", "regexp_contains")
    },
    **{
        name: (f"number: {name}({{number}})",)
        for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")
    },
    "split_part": ("text: split_part({text}, 'a', {position})",),
    "position": ("whole: position({text} in {text})",),
    "strpos": ("whole: strpos({text}, {word})",),
    "instr": ("whole: instr({text}, {text})",),
    **{
        name: (f"number: {name}({{number}})",)
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians")
    },
    "pi": ("number: pi()",),
    "strftime": (
        "text: strftime({day}, {form})",
        "text: strftime({moment}, '%F %T')",
        "text: strftime({moment}, '%I %p %V %B')",
    ),
    "strptime": ("day: strptime({text}, {form})", "moment: strptime({text}, '%Y%m%d %H:%M')"),
    "try_strptime": (
        "day: try_strptime(strftime({day}, '%d.%m.%Y'), '%d.%m.%Y')",
        "day: try_strptime({text}, '%d/%m/%Y')",
    ),
    "dayname": ("text: dayname({day})", "text: dayname({moment})"),
    "monthname": ("text: monthname({day})",),
    "last_day": ("day: last_day({day})", "day: last_day({moment})"),
    "epoch": ("whole: epoch({moment})",),
    "bin": ("number: bin({number}, {ends}, {count})",),
    "width_bucket": ("whole: width_bucket({number}, {ends}, {count})",),
}
"""By name in the registry, each with the kind of its result."""

_COMPARED = tuple(
    f"{{{kind}}} {{sign}} {{{kind}}}" for kind in (NUMBER, WHOLE, TEXT, TRUTH, DAY, MOMENT)
)


def _comparison(sign: str) -> tuple[str, ...]:
    return tuple(f"truth: ({text.replace('{sign}', sign)})" for text in _COMPARED)


SIGNS: Mapping[str, tuple[str, ...]] = {
    **{
        sign: (f"number: ({{number}} {sign} {{number}})", f"whole: ({{whole}} {sign} {{whole}})")
        for sign in ("+", "-", "*", "%")
    },
    "/": ("number: ({number} / {number})", "number: ({number} / {constant})"),
    "//": ("whole: ({whole} // {whole})",),
    "^": ("number: ({number} ^ {exponent})", "number: ({number} ** {exponent})"),
    **{sign: _comparison(sign) for sign in ("=", "<>", "<", "<=", ">", ">=")},
    **{sign: _comparison(sign) for sign in ("is distinct from", "is not distinct from")},
    "||": ("text: ({text} || {text})",),
    "and": ("truth: ({truth} and {truth})", "truth: ({truth} and {truth} and {truth})"),
    "or": ("truth: ({truth} or {truth})",),
    "not": ("truth: (not {truth})",),
}
"""By operator in the registry."""

FORMS: Mapping[str, tuple[str, ...]] = {
    "negative": ("number: (- {number})", "whole: (- {whole})"),
    "case": (
        "number: case when {truth} then {number} else {number} end",
        "whole: case {whole} when {constant} then {whole} when 1 then {whole} end",
        "text: case when {truth} then {text} when {truth} then {word} end",
        "day: case when {truth} then {day} else {day} end",
        "truth: case when {truth} then {truth} else {truth} end",
    ),
    "if": ("number: if({truth}, {number}, {number})", "text: if({truth}, {text}, {text})"),
    "cast": (
        "whole: cast({number} as bigint)",
        "whole: cast({text} as integer)",
        "whole: cast({truth} as smallint)",
        "number: cast({whole} as double)",
        "number: cast({text} as float)",
        "text: cast({number} as varchar)",
        "text: cast({whole} as varchar)",
        "text: cast({truth} as varchar)",
        "text: cast({day} as varchar)",
        "text: cast({moment} as varchar)",
        "truth: cast({text} as boolean)",
        "truth: cast({whole} as boolean)",
        "day: cast({text} as date)",
        "day: cast({moment} as date)",
        "moment: cast({text} as timestamp)",
        "moment: cast({day} as timestamp)",
    ),
    "try_cast": ("whole: try_cast({number} as tinyint)", "day: try_cast({text} as date)"),
    "::": ("whole: ({number})::bigint", "number: ({whole})::double", "text: ({whole})::varchar"),
    "like": ("truth: ({text} like {pattern})", "truth: ({text} not like {pattern})"),
    "ilike": ("truth: ({text} ilike {pattern})",),
    "escape": ("truth: ({text} like {escaped} escape '!')",),
    "in": (
        "truth: ({number} in (0, 1, 2.5, {listed}))",
        "truth: ({whole} not in ({listed}, 3))",
        "truth: ({text} in ({word}, {word}))",
        "truth: ({day} in ('2020-02-29', '0001-01-01'))",
    ),
    "between": (
        "truth: ({number} between {number} and {number})",
        "truth: ({number} not between {constant} and {constant})",
        "truth: ({day} between {date} and {day})",
        "truth: ({text} between {word} and {text})",
    ),
    "is null": tuple(
        f"truth: ({{{kind}}} is {test})" for kind in KINDS for test in ("null", "not null")
    ),
    "is true": tuple(
        f"truth: ({{truth}} is {test})" for test in ("true", "false", "not true", "not false")
    ),
    "interval": (
        "day: ({day} + interval {amount} {bigfield})",
        "day: ({day} - interval {amount} {bigfield})",
        "moment: ({moment} + interval {amount} {smallfield})",
        "moment: ({moment} - interval {amount} {smallfield})",
        "day: date_add({day}, interval {amount} {bigfield})",
    ),
    "days": ("day: ({day} + {amount})", "day: ({day} - {amount})", "whole: ({day} - {day})"),
    "trim from": ("text: trim({side} {letter} from {text})",),
    "square": ("number: (({column}) * ({column}))",),
    "bounded": (
        "number: least(greatest({number}, {constant}), {constant})",
        "whole: cast(least(greatest({number}, {constant}), {constant}) as bigint)",
    ),
}
"""What has a grammar of its own."""

_UNITS = ("year", "quarter", "month", "week", "day")
_NUMBERS = (
    *("0", "1", "-1", "2", "-2.5", "0.1", "1e6", "-2e9", "2000000000", "1e110", "-1e110"),
    *("1e300", "5e-324", "-5e-324", "9007199254740993", "4611686018427387904"),
    *("9223372036854775807", "-9223372036854775807", "0.0", "-0.0", "1e-200"),
)
CONSTANTS: Mapping[str, Sequence[str]] = {
    "digits": tuple(map(str, (*range(-15, 16, 3), 1, 2, -1))),
    "exponent": (
        *("2", "3", "5", "3", "101", "7", "-1", "-2", "-3", "0.5", "0", "1", "-101", "1e3"),
        *("-0.5", "1e-300"),
    ),
    "constant": (*_NUMBERS, "null"),
    "listed": _NUMBERS,
    "word": (
        *("''", "'a'", "'A'", "' '", "'É'", "'ß'", "'it''s'", "'12'", "'%'", "'_'", "'\\'"),
        *("'2020-02-29'", "'true'", "'👨‍👩‍👧'", "'1e3'"),
    ),
    "form": ("'%Y-%m-%d'", "'%d.%m.%Y'", "'%m/%d/%Y'", "'%Y%m%d'"),
    "letter": ("'b'", "''", "'A'", "'%'"),
    "position": ("1", "2", "3", "7", "300", "10000"),
    "side": ("leading", "trailing", "both"),
    "part": tuple(f"'{unit}'" for unit in (*_UNITS, "doy", "dow", "isodow", "YEARS", "weekday")),
    "field": (*_UNITS, "doy", "dow", "isodow", "hour", "minute", "second"),
    "bigunit": tuple(f"'{unit}'" for unit in _UNITS),
    "unit": tuple(f"'{unit}'" for unit in (*_UNITS, "hour", "minute", "second")),
    "bigfield": ("year", "quarter", "months", "week", "days"),
    "smallfield": (*("year", "quarter", "months", "week", "days"), "hours", "minute", "seconds"),
    "amount": ("1", "0", "30", "5", "40", "365", "1200", "9999", "3660000"),
    "date": ("date '2020-02-29'", "'0001-01-01'", "'9999-12-31'", "date '2021-01-31'"),
    "pattern": ("'%a%'", "'_'", "''", "'%'", "'a%'", "'%l%o%'", "'%_l%o_%'", "'%É'", "'\\%'"),
    "regular": (*("'a'", "'^a*$'", "'[^b]+b'", "'.{2}'", "'(a|É).*1'", "'\\d+'", "'\\W'", "'^ß'"),),
    "escaped": ("'%!%%'", "'a!_b'", "'!!%'"),
    "ends": (
        "0, 1",
        "-10, 10",
        "-1e300, 1e300",
        "0, 1e-300",
        "-9007199254740992, 9007199254740992",
    ),
    "count": ("1", "2", "7", "10", "1000"),
}


@dataclass(frozen=True)
class Rule:
    """One way to write a value of a kind, under the name whose use it shows."""

    name: str
    text: str


def _rules() -> dict[str, list[Rule]]:
    made: dict[str, list[Rule]] = {kind: [] for kind in KINDS}
    for family in (CALLS, SIGNS, FORMS):
        for name, texts in family.items():
            for line in texts:
                kind, _, text = line.partition(": ")
                made[kind].append(Rule(name, text))
    return made


RULES: Mapping[str, Sequence[Rule]] = _rules()
NAMES = frozenset((*CALLS, *SIGNS, *FORMS))
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass
class Grammar:
    """Grows expressions over the given leaves of each kind, and tells the names it used."""

    draw: random.Random
    leaves: Mapping[str, Sequence[str]]

    def grown(self, kind: str, depth: int) -> str:
        """A random expression of a kind, at most so deep."""
        return self._of(kind, depth, [])

    def traced(self, kind: str, depth: int) -> tuple[str, list[str]]:
        """The same, with the names that occur in it."""
        names: list[str] = []
        return self._of(kind, depth, names), names

    def about(self, name: str, depth: int) -> tuple[str, str, list[str]]:
        """An expression whose outermost step is the named one: its kind, text and names."""
        family = next(family for family in (CALLS, SIGNS, FORMS) if name in family)
        kind, _, text = self.draw.choice(family[name]).partition(": ")
        names = [name]
        return kind, self._filled(text, depth - 1, names), names

    def _of(self, kind: str, depth: int, names: list[str]) -> str:
        if depth <= 0 or self.draw.random() < 0.12:
            return self._leaf(kind)
        rules = RULES[kind]
        # Names are drawn evenly: comparison has many more ways to be written than a logarithm.
        name = self.draw.choice(sorted({rule.name for rule in rules}))
        rule = self.draw.choice([rule for rule in rules if rule.name == name])
        names.append(name)
        return self._filled(rule.text, depth - 1, names)

    def _filled(self, text: str, depth: int, names: list[str]) -> str:
        same = self._leaf(NUMBER)

        def slot(match: re.Match[str]) -> str:
            wanted = match[1]
            if wanted == "column":
                return same
            if wanted in CONSTANTS:
                return self.draw.choice(CONSTANTS[wanted])
            return self._of(wanted, depth, names)

        return _SLOT.sub(slot, text)

    def _leaf(self, kind: str) -> str:
        found = [*self.leaves.get(kind, ())]
        if kind == NUMBER:
            found += self.leaves.get(WHOLE, ())
        if not found or self.draw.random() < 0.12:
            return self.draw.choice(_FALLBACK[kind])
        return self.draw.choice(found)


_FALLBACK: Mapping[str, Sequence[str]] = {
    NUMBER: CONSTANTS["constant"],
    WHOLE: ("0", "1", "-1", "7", "12", "9007199254740993", "-9223372036854775807"),
    TEXT: CONSTANTS["word"],
    TRUTH: ("true", "false", "(1 = 1)"),
    DAY: ("date '2020-02-29'", "date '0001-01-01'", "date '9999-12-31'"),
    MOMENT: ("timestamp '2020-02-29 10:30:05.5'", "timestamp '9999-12-31 23:59:59'"),
}
