"""What a question costs the engine on tables made to be costly, with one person and without.

Bob has many rows, long texts, and every public key. Random chains of joins, unions and text
functions multiply what he has. Each accepted question is profiled in both worlds under a small
memory limit: it must not fail, spill, or handle more rows and bytes than the public limits allow.
"""

from __future__ import annotations

import json
import random
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import polars as pl

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.database import Database
from discreet.relational.planning.discovered_keys import planned_query_for
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql.translate import query_from
from tests.fuzz.relations import Questions

MOST_INTERMEDIATE_ROWS = 2_000_000
"""Rows that any step of a statement may hand on for these tables, of a few hundred rows each."""
MOST_INTERMEDIATE_BYTES = 256 << 20
"""Bytes that any step may hand on; the tables themselves have about a megabyte."""
MOST_BUFFERED = 128 << 20
"""Bytes that the engine may hold at once."""
MEMORY = "256MB"
SLOWEST = 20.0
"""Seconds of computing after which a statement is interrupted, and counts as a fault."""

CROWD, MANY, LONG, PARTNERS = 60, 40, 20_000, 50
"""People with two rows each; Bob's rows; letters of his texts; public rows of one key."""


def frames(many: int = MANY) -> dict[str, pl.DataFrame]:
    """The private tables with Bob, who is person 0 and has so many rows."""
    owners = [person for person in range(1, CROWD) for _ in range(2)] + [0] * many
    text = [f"note {n % 7}" for n in range(2 * (CROWD - 1))] + ["x" * LONG] * many
    count = len(owners)
    visits = pl.DataFrame(
        {
            "pid": owners,
            "w": ["B"] * (count - many) + ["A"] * many,
            "c": ["pq"[n % 2] for n in range(count)],
            "f": [n % 2 == 0 for n in range(count)],
            "x": [n % 9 - 3 for n in range(count)],
            "y": [n / 7 for n in range(count)],
            "d": pl.Series([None] * count, dtype=pl.Date),
            "note": text,
            "z": [float(n) for n in range(count)],
        }
    )
    stays = visits.select("pid", pl.col("w").alias("k"), (pl.col("x") + 3).alias("v"), "note")
    return {"t": visits, "u": stays}


PUBLIC: Mapping[str, pl.DataFrame] = {
    "p": pl.DataFrame(
        {
            "w": ["A"] * PARTNERS + ["B"],
            "region": ["n", "s", "e"] * (PARTNERS // 3) + ["n"] * (PARTNERS % 3 + 1),
            "weight": list(range(PARTNERS + 1)),
            "rate": [0.5] * (PARTNERS + 1),
        }
    ),
    "bands": pl.DataFrame({"x": [-3, 0, 0, 5], "band": ["low", "mid", "odd", "top"]}),
}
_WORDS = dp.Category(["A", "B"])
_COLUMNS: Mapping[str, Any] = {
    "t": {
        "w": _WORDS,
        "c": dp.Category(["p", "q"]),
        "f": dp.Category([False, True]),
        "x": dp.Number(-3, 5),
        "y": dp.Number(0.0, 30.0),
        "note": dp.Discovered(),
    },
    "u": {"k": _WORDS, "v": dp.Number(0, 8)},
}
UNITS: Sequence[PrivacyUnit] = (
    dp.Person("pid", max_rows=4),
    dp.Person("pid", max_rows=20, max_groups=2),
    dp.Row(),
    Replace(dp.Person("pid", max_rows=4)),
)


def chain(draw: random.Random) -> str:
    """A question that multiplies rows or letters, step after step."""
    if draw.random() < 0.5:
        return _rows(draw, draw.randint(1, 5))
    return _letters(draw, draw.randint(1, 14))


def _rows(draw: random.Random, length: int) -> str:
    text = draw.choice(("t", "(SELECT pid, w, x, note FROM t WHERE w = 'A') AS t"))
    for place in range(length):
        text += draw.choice(
            (
                f" JOIN p AS p{place} ON t.w = 'A'",
                f" JOIN p AS p{place} ON t.w = p{place}.w",
                f" LEFT JOIN p AS p{place} ON t.w = p{place}.w",
                f" JOIN t AS t{place} ON t.pid = t{place}.pid",
                f" JOIN u AS u{place} ON t.pid = u{place}.pid",
                f" LEFT JOIN (SELECT pid, v FROM u) AS u{place} ON t.pid = u{place}.pid",
            )
        )
    return f"SELECT COUNT(*) AS n, SUM(t.x) AS s FROM {text}"


def _letters(draw: random.Random, length: int) -> str:
    text = "SELECT pid, note AS v FROM t"
    for _ in range(length):
        grown = draw.choice(("concat(v, v)", "v || v", "concat(v, v, v)", "upper(v) || lower(v)"))
        text = f"SELECT pid, {grown} AS v FROM ({text} UNION ALL SELECT pid, 'a' FROM u) AS g"
    test = draw.choice(
        ("v LIKE '%a%b%c%d%e'", "length(v) > 3", "v = 'a'", "contains(v, 'b')", "v IS NULL")
    )
    return f"SELECT COUNT_IF({test}) AS n FROM ({text}) AS g"


@dataclass(frozen=True)
class Cost:
    """The most that any step handed on, what was held at once, and what was spilt."""

    rows: int
    bytes: int
    buffered: int
    spilt: int


class Stage:
    """An engine with little memory, in which Bob is or is not; where rows are units, one row."""

    def __init__(self, unit: PrivacyUnit, *, bob: bool) -> None:
        self._folder = tempfile.TemporaryDirectory()
        engine = dp.DuckDB(threads=1, memory_limit=MEMORY, temp_directory=self._folder.name)
        seen = {
            name: frame if bob else frame.filter(pl.col("pid") != 0)
            for name, frame in frames(1 if isinstance(unit, dp.Row) else MANY).items()
        }
        tables = {
            name: dp.table(frame, unit=unit, columns=_COLUMNS[name]) for name, frame in seen.items()
        }
        public = {name: dp.public(frame) for name, frame in PUBLIC.items()}
        self.database = Database(engine, {**tables, **public})
        self._connection: duckdb.DuckDBPyConnection = engine._connection

    def texts(self, query: str, spend: Guarantee) -> list[str]:
        """What the engine would run, or the refusal."""
        planned = planned_query_for(query_from(query, self.database), spend, MOST_ROWS)
        return planned.texts(self.database)

    def cost(self, text: str) -> Cost:
        """Run a statement and read the engine's own account of it."""
        with _interrupted(self._connection):
            (row,) = self._connection.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}").fetchall()
        return _cost(json.loads(row[1]))

    def close(self) -> None:
        self.database.engine.close()
        self._folder.cleanup()


@contextmanager
def _interrupted(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    over, end = threading.Event(), time.process_time() + SLOWEST

    def watch() -> None:
        while not over.wait(0.2):
            if time.process_time() > end:
                connection.interrupt()

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield
    finally:
        over.set()
        watching.join()


_ROWS = ("intermediate_rows", "operator_cardinality")
_BYTES = ("intermediate_size_bytes", "result_set_size")


def _cost(profile: Any) -> Cost:
    """The largest figures anywhere in a profile; versions of DuckDB name them differently."""
    return Cost(
        rows=_largest(profile, *_ROWS),
        bytes=_largest(profile, *_BYTES),
        buffered=_largest(profile, "peak_buffer_memory", "system_peak_buffer_memory"),
        spilt=_largest(profile, "peak_temp_dir_size", "system_peak_temp_dir_size"),
    )


def _largest(profile: Any, *names: str) -> int:
    if isinstance(profile, dict):
        own = [int(profile[name]) for name in names if isinstance(profile.get(name), int)]
        return max([*own, *(_largest(part, *names) for part in profile.values())], default=0)
    if isinstance(profile, list):
        return max((_largest(part, *names) for part in profile), default=0)
    return 0


@dataclass
class Profiled:
    """Questions profiled and refused, and what went beyond the limits."""

    asked: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)


def profiled(seed: int, questions: int) -> Profiled:
    """Random questions under one unit, half of them chains that multiply."""
    draw, found = random.Random(seed), Profiled()
    unit = UNITS[seed % len(UNITS)]
    people = not isinstance(unit, dp.Row)
    stages = {True: Stage(unit, bob=True), False: Stage(unit, bob=False)}
    try:
        for place in range(questions):
            text = chain(draw) if place % 2 else Questions(draw, ("t", "u"), people).query(4)
            found.faults += _profiled(stages, text, found)
    finally:
        for stage in stages.values():
            stage.close()
    return found


def _profiled(stages: Mapping[bool, Stage], query: str, found: Profiled) -> Iterator[str]:
    spend = dp.ApproxDP(epsilon=1, delta=1e-6)
    try:
        statements = {bob: stage.texts(query, spend) for bob, stage in stages.items()}
    except DiscreetError:
        found.refused += 1
        return
    found.asked += 1
    for bob, texts in statements.items():
        for text in texts:
            yield from (
                f"{fault}, {'with' if bob else 'without'} Bob: {query[:1_500]}"
                for fault in excess(stages[bob], text)
            )


def excess(stage: Stage, statement: str) -> Iterator[str]:
    """By how much one statement goes beyond the limits."""
    try:
        cost = stage.cost(statement)
    except duckdb.Error as failure:
        yield f"the engine fails: {type(failure).__name__} {str(failure)[:100]}"
        return
    if cost.rows > MOST_INTERMEDIATE_ROWS:
        yield f"{cost.rows} rows"
    if cost.bytes > MOST_INTERMEDIATE_BYTES:
        yield f"{cost.bytes >> 20} MB handed on"
    if cost.buffered > MOST_BUFFERED:
        yield f"{cost.buffered >> 20} MB held"
    if cost.spilt:
        yield f"{cost.spilt >> 20} MB spilt"
