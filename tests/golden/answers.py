"""Golden answers: what some 300 questions are answered with where noise is seeded.

They are the guard of rebuilding: releases, statements, prices and refusals are compared byte for
byte before and after. An answer that is meant to change is written anew, after a look at what did::

    python -m tests.golden.answers            what differs, and how
    python -m tests.golden.answers --write    write them as they are now

Not compared: the id of a release, which is drawn by the operating system.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import discreet as dp
from discreet.curator.session import Session
from discreet.errors import DiscreetError
from discreet.noise.randomness import Seeded
from discreet.relational.bounding.hashing import PORTABLE, Hashing
from discreet.relational.schema.sources import InMemory, source_of
from discreet.relational.schema.table import PublicTable, Table
from tests.curator.golden import hospital
from tests.fuzz import corpus
from tests.golden import questions
from tests.relational.engine_with_rows import DuckDBWithRows, EngineWithRows

STORED = Path(__file__).parent / "answers.json.xz"
RANDOM = frozenset({"id"})
"""Parts of a release that no seed decides."""
DIGITS = 9
"""Those of numbers: the last ones may depend on the processor."""
MANY = 100
"""Numbers beyond which a digest stands for them."""
MakeHome = Callable[[Hashing], EngineWithRows]


def found(make_home: MakeHome = DuckDBWithRows) -> Iterator[tuple[str, str]]:
    """All questions with their answers, on an engine that keeps the same rows as any other."""
    yield from _asked(make_home(PORTABLE), corpus.tables(), questions.by_sql())
    yield from _asked(make_home(PORTABLE), hospital_tables(), questions.by_other_verbs())
    yield "stream", written(lambda: questions.stream(Seeded(0)))


def hospital_tables() -> dict[str, Table | PublicTable]:
    """Those of the golden ledger."""
    return {"visits": hospital.table()}


def stored() -> dict[str, str]:
    """The answers as they were written last."""
    answers: dict[str, str] = json.loads(lzma.decompress(STORED.read_bytes()))
    return answers


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Line by line, what is no longer the same."""
    lines = []
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, "").splitlines(), after.get(name, "").splitlines()
        lines += [
            f"{name}\n  - {was}\n  + {now}"
            for was, now in zip_longest(old, new, fillvalue="")
            if was != now
        ]
    return lines


def written(ask: Callable[[], Any]) -> str:
    """An answer as text, one part to a line; a refusal as its code and words."""
    try:
        parts = _plain(ask())
    except DiscreetError as refusal:
        parts = {"code": refusal.code, "refused": str(refusal)}
    return json.dumps(parts, indent=0, sort_keys=True, ensure_ascii=False)


def _asked(
    home: EngineWithRows,
    tables: Mapping[str, Table | PublicTable],
    asked: Mapping[str, questions.Ask],
) -> Iterator[tuple[str, str]]:
    """Each in a session whose noise begins anew, so that no answer moves another."""
    brought = {name: _brought(home, table) for name, table in tables.items()}
    whole: dict[str, Any] = {**brought, "engine": home.engine, "randomness": Seeded(0)}
    budget = dp.ApproxDP(epsilon=1e7, delta=0.5)
    with dp.Curator(**whole, budget=budget, ledger=dp.ledger.Memory()) as source:
        for number, (name, ask) in enumerate(asked.items()):
            session = Session(replace(source.context, randomness=Seeded(number)))
            yield name, written(lambda ask=ask, session=session: ask(session))  # type: ignore[misc]
    home.close()


def _brought(home: EngineWithRows, table: Table | PublicTable) -> Table | PublicTable:
    if not isinstance(table.source, InMemory):
        return table
    return replace(table, source=source_of(home.source(pl.DataFrame(table.source.frame))))


def _plain(value: Any) -> Any:
    """Numbers to the last digit, releases by what is written of them."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.size <= MANY else _digest(value)
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return f"{value:.{DIGITS}g}"
        case Mapping():
            return {str(k): _plain(each) for k, each in value.items() if k not in RANDOM}
        case Sequence():
            return [_plain(each) for each in value]
    if hasattr(value, "to_json"):
        parts = json.loads(value.to_json())
        return {"release": _plain(parts), "statement": str(getattr(value, "statement", ""))}
    return str(value)


def _digest(numbers: Any) -> str:
    return hashlib.sha256(str(_plain(list(numbers.flat))).encode()).hexdigest()


if __name__ == "__main__":
    now = dict(found())
    if "--write" in sys.argv:
        STORED.write_bytes(lzma.compress(json.dumps(now, indent=0).encode(), preset=9))
    else:
        sys.stdout.write("\n".join([*differences(stored(), now), f"{len(now)} answers\n"]))
