"""Texts that are nested, repeated or wide, and the processor time in which each is planned.

A text is put together from shapes: named queries that are read k times, inner queries in inner
queries, chains of unions and joins, long lists, deep brackets and cases, many columns, keys and
conditions, sets and windows of answers, products of public tables, and signs that are no SQL. Sizes
reach from one to what the longest text has room for. Nothing is charged: every text is previewed.

    python -m tests.fuzz.long_texts --texts 100000 --processes 2 --state texts.jsonl

puts so many, five hundred for each seed, and prints what took the most time for its length. A file
of state keeps a line for each seed that is done; run again, it goes on with the others.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.processor_time import process_seconds

LONGEST = 100_000
FIXED, PER_LETTER = 1.0, 0.0005
"""Processor seconds for a text of any length, and for each letter, as docs/limits.md states."""
TRIES = 2
"""How often a text beyond its limit is planned once more: beside other work, and when memory is
looked through, the same text takes up to seven times as long."""
SHORT = 1_000
"""Letters that shorter texts count as, where time for each letter is told."""
EACH = 500
"""Texts of one seed."""
_ROOM = ((300, 0.45), (700, 0.35), (1_500, 0.18), (4_000, 0.019), (LONGEST, 0.001))
"""How many letters a text may fill, and how often: in short ones little may cost much."""

Shape = Callable[[int, str], str]


def _joined(separator: str, form: str, number: int) -> str:
    """A form with ``#`` for its number, repeated."""
    return separator.join(form.replace("#", str(place)) for place in range(number))


def _named(first: str, next_: str, last: str) -> Shape:
    """Named queries, each of which reads the one before it (``@``)."""

    def made(size: int, _: str) -> str:
        steps = [f"a{n + 1} AS ({next_.replace('@', f'a{n}')})" for n in range(size)]
        return f"WITH {', '.join([f'a0 AS ({first})', *steps])} {last.replace('@', f'a{size}')}"

    return made


def _nested(first: str, around: str, last: str) -> Shape:
    """A query inside another (``@``), so many levels deep."""

    def made(size: int, _: str) -> str:
        begin, end = around.split("@")
        return last.replace("@", begin * size + first + end * size)

    return made


def _wide(before: str, form: str, separator: str, after: str) -> Shape:
    return lambda size, _: f"{before}{_joined(separator, form, size)}{after}"


def _repeated(before: str, form: str, after: str = "") -> Shape:
    return lambda size, _: f"{before}{form * size}{after}"


_ROWS, _ANSWER = "SELECT * FROM t", "SELECT w, COUNT(*) AS n FROM t GROUP BY w"
_COUNT = "SELECT COUNT(*) AS n FROM t WHERE "
SHAPES: Mapping[str, Shape] = {
    "named rows": _named(
        _ROWS, "SELECT * FROM @ UNION ALL SELECT * FROM @", "SELECT COUNT(*) AS n FROM @"
    ),
    "named answers": _named(
        _ANSWER, "SELECT * FROM @ UNION ALL SELECT * FROM @", "SELECT SUM(n) AS s FROM @"
    ),
    "named joins": _named(
        "SELECT COUNT(*) AS n FROM t",
        "SELECT l.n FROM @ AS l CROSS JOIN @ AS r",
        "SELECT n FROM @",
    ),
    "named numbers": _named(
        "SELECT COUNT(*) AS n FROM t",
        "SELECT (SELECT n FROM @) + (SELECT n FROM @) AS n",
        "SELECT n FROM @",
    ),
    "named public": _named(
        "SELECT * FROM p",
        "SELECT * FROM @ WHERE w IN (SELECT w FROM @)",
        _COUNT + "w IN (SELECT w FROM @)",
    ),
    "named people": _named(
        "SELECT * FROM u",
        "SELECT * FROM @ WHERE EXISTS (SELECT 1 FROM @ AS z WHERE z.pid = @.pid)",
        "SELECT COUNT(*) AS n FROM @",
    ),
    "named chain": _named(_ANSWER, "SELECT * FROM @", "SELECT * FROM @"),
    "named, unused": _named("SELECT 1 AS x", "SELECT 1 AS x", "SELECT COUNT(*) AS n FROM t"),
    "named inside": _nested(_ANSWER, "WITH a AS (@) SELECT * FROM a", "@"),
    "inner rows": _nested("t", "(SELECT * FROM @) AS z", "SELECT COUNT(*) AS n FROM @"),
    "inner columns": _nested("t", "(SELECT pid, x + x AS x FROM @) AS z", "SELECT SUM(x) FROM @"),
    "inner answers": _nested(
        "(SELECT COUNT(*) AS x FROM t) AS b", "(SELECT x + x AS x FROM @) AS z", "SELECT x FROM @"
    ),
    "inner windows": _nested(
        "(SELECT w, COUNT(*) AS x FROM t GROUP BY w) AS b",
        "(SELECT x + x + ROW_NUMBER() OVER (ORDER BY x) AS x FROM @) AS z",
        "SELECT x FROM @",
    ),
    "inner stars": _nested("t", "(SELECT *, * FROM @) AS z", "SELECT COUNT(*) AS n FROM @"),
    "named stars": _named(
        "SELECT * FROM p",
        "SELECT *, * FROM @",
        "SELECT COUNT(*) AS n FROM t JOIN @ AS z ON t.w = z.w",
    ),
    "inner stars of answers": _nested(
        f"({_ANSWER}) AS z", "(SELECT *, * FROM @) AS z", "SELECT 1 + COUNT(*) AS n FROM @"
    ),
    "inner features": _nested(
        "t",
        "(SELECT pid, SUM(x) AS x FROM @ GROUP BY pid) AS z",
        "SELECT COUNT(*) AS n FROM @ WHERE x > 1",
    ),
    "inner sums": _nested(
        "(SELECT w, COUNT(*) AS x FROM t GROUP BY w) AS z",
        "(SELECT w, SUM(x) AS x FROM @ GROUP BY w) AS z",
        "SELECT w, x FROM @",
    ),
    "inner public sums": _nested(
        "(SELECT w, COUNT(*) AS x FROM p GROUP BY w) AS z",
        "(SELECT w, SUM(x) AS x FROM @ GROUP BY w) AS z",
        "SELECT COUNT(*) AS n FROM t JOIN @ ON t.w = z.w",
    ),
    "inner sums of many": _nested(
        "q AS z",
        "(SELECT a, SUM(b) AS b FROM @ GROUP BY a) AS z",
        _COUNT + "x IN (SELECT a FROM @)",
    ),
    "windows of public": _nested(
        "(SELECT a, COUNT(*) AS n FROM q GROUP BY a) AS z",
        "(SELECT a, SUM(n) OVER (ORDER BY a) AS n FROM @) AS z",
        "SELECT COUNT(*) AS n FROM t JOIN @ ON t.x = z.a",
    ),
    "sets of public": _wide(
        "SELECT COUNT(*) AS n FROM t JOIN (",
        "SELECT a, COUNT(*) + # AS n FROM q GROUP BY a",
        " EXCEPT ",
        ") AS z ON t.x = z.a",
    ),
    "inner lists": _nested(
        "('A')", "(SELECT w FROM p WHERE w IN @)", "SELECT COUNT(*) AS n FROM t WHERE w IN @"
    ),
    "inner people": _nested(
        "(SELECT pid FROM u)", "(SELECT pid FROM u WHERE pid IN @)", _COUNT + "pid IN @"
    ),
    "union of rows": _wide(
        "SELECT COUNT(*) AS n FROM (", "SELECT x FROM t", " UNION ALL ", ") AS z"
    ),
    "union of answers": _wide("", "SELECT COUNT(*) AS n FROM t", " UNION ALL ", ""),
    "different answers": _wide("", _ANSWER, " EXCEPT ", ""),
    "list": _wide(_COUNT + "x IN (", "#", ",", ")"),
    "list of keys": _wide(
        "SELECT w, COUNT(*) AS n FROM t WHERE w IN (", "'A'", ",", ") GROUP BY w"
    ),
    "lists": _wide(_COUNT, "w IN (SELECT w FROM p)", " AND ", ""),
    "or": _wide(_COUNT, "x = #", " OR ", ""),
    "and": _wide(_COUNT, "x <> #", " AND ", ""),
    "plus": _wide(_COUNT, "x", "+", " > 3"),
    "brackets": _nested("x > 1", "(@)", _COUNT + "@"),
    "cases": _nested("0", "CASE WHEN x > 1 THEN x ELSE @ END", "SELECT SUM(@) AS s FROM t"),
    "branches": _wide("SELECT SUM(CASE ", "WHEN x = # THEN #", " ", " ELSE 0 END) AS s FROM t"),
    "casts": _repeated("SELECT SUM(x", "::INTEGER", ") AS s FROM t"),
    "formats": _wide(_COUNT, "strftime(DATE '2020-01-01', '%A %d') = 'a'", " OR ", ""),
    "sums": _wide("SELECT ", "SUM(x + #) AS s#", ", ", " FROM t"),
    "means": _wide("SELECT ", "AVG(x + #) AS s#", ", ", " FROM t GROUP BY w"),
    "medians": _wide("SELECT ", "MEDIAN(x + #) AS s#", ", ", " FROM t"),
    "correlations": _wide("SELECT ", "CORR(x, x + #) AS s#", ", ", " FROM t"),
    "slopes": _wide("SELECT ", "REGR_SLOPE(x, x + #) AS s#", ", ", " FROM t GROUP BY w"),
    "different values": _wide("SELECT ", "COUNT(DISTINCT x + #) AS s#", ", ", " FROM t"),
    "filters": _wide("SELECT ", "COUNT(*) FILTER (WHERE x > #) AS s#", ", ", " FROM t"),
    "derived": _wide("SELECT ", "COUNT(*) + # AS s#", ", ", " FROM t"),
    "one derived": _wide("SELECT ", "SUM(x + #)", " + ", " AS s FROM t"),
    "constants": _wide("SELECT COUNT(*) AS n, ", "# AS s#", ", ", " FROM t"),
    "inner items": _wide(
        "SELECT COUNT(*) AS n FROM (SELECT ", "x + # AS s#", ", ", " FROM t) AS z"
    ),
    "keys": _wide("SELECT COUNT(*) AS n FROM t GROUP BY ", "x > #", ", ", ""),
    "rollup": _wide("SELECT COUNT(*) AS n FROM t GROUP BY ROLLUP(", "w", ", ", ")"),
    "cubes": _wide("SELECT COUNT(*) AS n FROM t GROUP BY ", "CUBE(w, x)", ", ", ""),
    "having": _wide(
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w HAVING ", "COUNT(*) > #", " AND ", ""
    ),
    "having keys": _wide(
        "SELECT w, COUNT(*) AS n FROM t GROUP BY w HAVING ", "w = 'A'", " OR ", ""
    ),
    "order": _wide("SELECT w, COUNT(*) AS n FROM t GROUP BY w ORDER BY ", "n + #", ", ", ""),
    "joins of people": _wide(
        "SELECT COUNT(*) AS n FROM t ", "JOIN u AS u# ON t.pid = u#.pid", " ", ""
    ),
    "joins of public": _wide("SELECT COUNT(*) AS n FROM t ", "JOIN p AS p# ON t.w = p#.w", " ", ""),
    "joins of answers": _wide(
        f"WITH a AS ({_ANSWER}) SELECT a.n FROM a ", "JOIN a AS a# ON a.w = a#.w", " ", ""
    ),
    "subqueries": _wide(_COUNT, "EXISTS (SELECT 1 FROM u WHERE u.pid = t.pid)", " AND ", ""),
    "numbers": _wide("SELECT ", "(SELECT COUNT(*) FROM t) AS n#", ", ", ""),
    "windows": _wide(
        "SELECT w, ", "LAG(COUNT(*), #) OVER (ORDER BY w) AS n#", ", ", " FROM t GROUP BY w"
    ),
    "windows of people": _wide(
        "SELECT COUNT(*) AS n FROM (SELECT pid, ",
        "ROW_NUMBER() OVER (PARTITION BY pid ORDER BY x + #) AS r#",
        ", ",
        " FROM t) AS z WHERE r0 = 1",
    ),
    "features": _wide(
        "SELECT COUNT(*) AS n FROM (SELECT pid, ",
        "SUM(x + #) AS r#",
        ", ",
        " FROM t GROUP BY pid) AS z WHERE r0 > 1",
    ),
    "elements": _wide(
        "SELECT COUNT(*) AS n FROM t ",
        "CROSS JOIN UNNEST(string_split(note, ';')[1:2]) AS z#(e#)",
        " ",
        "",
    ),
    "values": _wide(
        "SELECT COUNT(*) AS n FROM t JOIN (VALUES ", "(#, 'A')", ", ", ") AS v(k, w) ON t.w = v.w"
    ),
    "series": _wide(_COUNT, "x IN (SELECT i FROM range(9999#) AS z(i))", " AND ", ""),
    "answers beside rows": _wide(
        "SELECT a.n FROM (SELECT COUNT(*) AS n FROM t) AS a CROSS JOIN q ",
        "JOIN q AS q# ON q.a = q#.a",
        " ",
        "",
    ),
    "public product": _wide(_COUNT + "x IN (SELECT q0.a FROM ", "q AS q#", ", ", ")"),
    "product": _wide("SELECT COUNT(*) AS n FROM t, ", "q AS q#", ", ", " WHERE t.x = q0.a"),
    "patterns": _wide(_COUNT, "note LIKE '%a#%'", " OR ", ""),
    "text": _repeated(_COUNT + "note = '", "a", "'"),
    "digits": _repeated(_COUNT + "x < ", "1"),
    "comments": _repeated("SELECT COUNT(*) AS n FROM t ", "/*a*/"),
    "dots": _repeated("SELECT ", "a.", "b FROM t"),
    "signs": lambda size, sign: sign * size,
}
"""By what is repeated; ``#`` is its number."""
_SIGNS = (
    "(",
    "[",
    "{'a':",
    "SELECT '",
    ";",
    ",",
    "/*",
    "SELECT 1;",
    "NOT ",
    "-",
    "CASE WHEN ",
    '"',
)


def open_curator() -> dp.Curator:
    """Small tables, two of people and two public ones."""
    rows, unit = 50, dp.Person("pid", max_rows=4, max_groups=3)
    places = np.arange(rows)
    words = np.array(list("ABC"))
    visits = {"pid": places // 2, "w": words[places % 3], "x": places % 9}
    return dp.Curator(
        t=dp.table(
            {**visits, "note": np.array(["a;b"] * rows)},
            unit=unit,
            columns={"w": dp.Category(["A", "B", "C"]), "x": dp.Number(0, 8)},
        ),
        u=dp.table(
            {"pid": places[:25], "v": places[:25] % 5}, unit=unit, columns={"v": dp.Number(0, 4)}
        ),
        p=dp.public({"w": words, "k": np.arange(3)}),
        q=dp.public({"a": np.arange(5_000), "b": np.arange(5_000) % 7}),
        budget=dp.ApproxDP(epsilon=1e6, delta=1e-3),
        ledger=dp.ledger.Memory(),
    )


def texts(draw: random.Random, number: int) -> Iterator[tuple[str, str]]:
    """Shapes in turn, each at a random size up to a room of letters."""
    names = list(SHAPES)
    rooms, weights = zip(*_ROOM, strict=True)
    for place in range(number):
        name = names[place % len(names)]
        sign = draw.choice(_SIGNS)
        (room,) = draw.choices(rooms, weights)
        one = len(SHAPES[name](1, sign))
        each = max(1, len(SHAPES[name](2, sign)) - one)
        size = 1 + int(draw.uniform(0.3, 1) * max(0, room - one) / each)
        text = SHAPES[name](size, sign)
        if draw.random() < 0.2 and not name.startswith("named") and name != "signs":
            text = (
                f"WITH v AS ({text}) SELECT * FROM v"
                + " UNION ALL SELECT * FROM v" * draw.randint(0, 12)
            )
        yield name, text[:LONGEST]


@dataclass
class Planned:
    """What came of the texts, and the processor time of each beside its limit."""

    asked: int = 0
    accepted: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    lengths: list[int] = field(default_factory=list)
    seconds: float = 0.0
    most: tuple[float, str] = (0.0, "")
    per_letter: tuple[float, str] = (0.0, "")
    faults: list[str] = field(default_factory=list)

    def preview(self, curator: dp.Curator, name: str, text: str) -> None:
        """Plan one text, which costs nothing."""
        begun, outcome = process_seconds(), "accepted"
        try:
            curator.preview(text, spend=dp.ApproxDP(epsilon=1, delta=1e-7))
            self.accepted += 1
        except DiscreetError as refusal:
            outcome = refusal.code
            self.refused[outcome] += 1
        except Exception as fault:  # the fuzzer's quarry
            outcome = type(fault).__name__
            self.faults.append(f"{outcome}: {name}, {len(text)} letters")
        taken = process_seconds() - begun
        limit, again = FIXED + PER_LETTER * len(text), text
        for _ in range(TRIES):
            if taken > limit:
                again += " "  # another text, so that nothing is remembered of the first
                taken = min(taken, _seconds_to_plan(curator, again))
        self.asked += 1
        self.shapes[name] += 1
        self.lengths.append(len(text))
        self.seconds += taken
        shown = f"{taken:.2f} s: {name}, {len(text)} letters, {outcome}"
        share = taken / limit
        self.most = max(self.most, (share, shown))
        self.per_letter = max(self.per_letter, (taken / max(len(text), SHORT), shown))
        if share > 1:
            self.faults.append(shown)

    def add(self, other: Planned) -> None:
        """What came of other texts too."""
        self.asked += other.asked
        self.accepted += other.accepted
        self.refused.update(other.refused)
        self.shapes.update(other.shapes)
        self.lengths += other.lengths
        self.seconds += other.seconds
        self.most = max(self.most, other.most)
        self.per_letter = max(self.per_letter, other.per_letter)
        self.faults += other.faults

    def told(self) -> str:
        """For a reader: counts, the dearest texts and their limits."""
        dearest, by_letter = self.per_letter
        share, nearest = self.most
        return "\n".join(
            (
                f"{self.asked} texts of {len(self.shapes)} shapes, half of at most "
                f"{sorted(self.lengths)[len(self.lengths) // 2]} letters, the longest of "
                f"{max(self.lengths)}; {self.accepted} accepted, refused {dict(self.refused)}",
                f"{self.seconds:.0f} s of processor time, {self.seconds / self.asked * 1e3:.1f} ms "
                "for a text",
                f"largest for a letter: {dearest * 1e6:.0f} us ({by_letter}); limit "
                f"{(FIXED / SHORT + PER_LETTER) * 1e6:.0f} us at {SHORT} letters",
                f"nearest to its limit: {share:.3f} of it ({nearest})",
                f"faults: {self.faults or 'none'}",
            )
        )


def _seconds_to_plan(curator: dp.Curator, text: str) -> float:
    begun = process_seconds()
    with suppress(DiscreetError):
        curator.preview(text, spend=dp.ApproxDP(epsilon=1, delta=1e-7))
    return process_seconds() - begun


def plan_texts(seed: int, number: int) -> Planned:
    """So many texts, planned by one curator; none of them is charged."""
    found = Planned()
    with open_curator() as curator:
        for _, text in texts(random.Random(0), len(SHAPES)):  # loads what is loaded late
            if len(text) < SHORT:
                found.preview(curator, "first", text)
        found = Planned()
        for name, text in texts(random.Random(seed), number):
            found.preview(curator, name, text)
        if curator.spent.epsilon:  # type: ignore[attr-defined]
            found.faults.append("something was charged")
    return found


def _kept(line: str) -> Planned:
    """One seed's line of the file of state."""
    known = json.loads(line)["found"]
    known["refused"], known["shapes"] = Counter(known["refused"]), Counter(known["shapes"])
    known["most"], known["per_letter"] = tuple(known["most"]), tuple(known["per_letter"])
    return Planned(**known)


def _planned_before(seed: int, end: float) -> Planned | None:
    """The texts of one seed, unless time is up."""
    return None if time.time() > end else plan_texts(seed, EACH)


def main(given: Sequence[str]) -> int:
    """Put many texts; the number of faults decides the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--state", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after them")
    options = parser.parse_args(given)
    lines = []
    if options.state is not None and options.state.exists():
        lines = options.state.read_text(encoding="utf-8").splitlines()
    found, done = Planned(), {json.loads(line)["seed"] for line in lines}
    for line in lines:
        found.add(_kept(line))
    seeds = [seed for seed in range(1, 1 + -(-options.texts // EACH)) if seed not in done]
    end = time.time() + options.seconds
    with ProcessPoolExecutor(options.processes) as pool:
        waiting = {pool.submit(_planned_before, seed, end): seed for seed in seeds}
        for each in as_completed(waiting):
            planned = each.result()
            if planned is None:
                continue
            found.add(planned)
            if options.state is not None:
                line = json.dumps({"seed": waiting[each], "found": vars(planned)})
                with options.state.open("a", encoding="utf-8") as state:
                    state.write(f"{line}\n")
    sys.stdout.write(f"{found.told()}\n")
    return int(bool(found.faults))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
