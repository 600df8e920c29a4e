"""Random columns that the owner of a table derives: new ones, and ones that hide what is stored."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import discreet as dp
from discreet.relational.schema.declarations import Declaration
from tests.fuzz.grammar import DAY, NUMBER, TEXT, TRUTH, WHOLE, Grammar
from tests.relational.neighbours.tables import FIRST, LAST

_HIDING: Mapping[str, Sequence[str]] = {
    "w": ("upper(trim(w))", "coalesce(w, 'A')", "if(f, 'A', w)"),
    "note": ("lower(note)", "concat(note, w)"),
    "x": ("least(greatest(x, -2), 3)", "cast(z as bigint)"),
    "y": ("y * 2", "coalesce(y, z, 0)"),
    "d": ("coalesce(try_strptime(note, '%Y-%m-%d'), d)", "last_day(d)"),
}
_DECLARED: Mapping[str, Declaration] = {
    WHOLE: dp.Number(-3, 5),
    NUMBER: dp.Number(-1.5, 2.25, step=0.25),
    TEXT: dp.Category(["A", "B", "é", "12"]),
    TRUTH: dp.Category([False, True]),
    DAY: dp.Dates(FIRST, LAST),
}


@dataclass(frozen=True)
class Derived:
    """Expressions by name, what is declared about them, and the new names by kind."""

    texts: Mapping[str, str] = field(default_factory=dict)
    declared: Mapping[str, Declaration] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)


def random_derived(draw: random.Random, stored: Mapping[str, Sequence[str]]) -> Derived:
    """Up to four new columns over the stored ones, and sometimes one in place of a stored one."""
    grammar = Grammar(draw, stored)
    texts: dict[str, str] = {}
    declared: dict[str, Declaration] = {}
    columns: dict[str, list[str]] = {}
    for place in range(draw.randint(1, 4)):
        kind, name = draw.choice((*_DECLARED, WHOLE, TEXT)), f"own{place}"
        texts[name] = grammar.grown(kind, 2)
        if kind in (WHOLE, NUMBER) and draw.random() < 0.5:
            bounded = f"least(greatest({texts[name]}, -3), 5)"
            texts[name] = f"cast({bounded} as bigint)" if kind == WHOLE else bounded
        if draw.random() < 0.6:
            declared[name] = _DECLARED[kind]
        columns.setdefault(kind, []).append(name)
    if draw.random() < 0.4:
        hidden = draw.choice(sorted(_HIDING))
        texts[hidden] = draw.choice(_HIDING[hidden])
    return Derived(texts, declared, columns)
