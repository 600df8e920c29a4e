"""What a question costs where rows hardly matter: over the plain query, on small tables.

About thirty questions of the documents and of the collections of peers, each asked of tables of
100 to 50 000 rows. Every text is new and every spend another, so that nothing was parsed, planned,
sampled or answered before. A question's figure is the ratio of medians; that of the suite is the
median question.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median

from small_questions_asked import QUESTIONS, Question
from small_questions_tables import WORLDS, World
from timing import Figure, Timer, alternate, clock

import discreet as dp

SIZES = (100, 1_000, 10_000, 50_000)
ROUNDS = 15
MOST_OVER_PLAIN = 4.0


def figures() -> list[Figure]:
    """The median question over all sizes, by size, and the slowest one."""
    with tempfile.TemporaryDirectory(prefix="small-") as name:
        found = {size: _ratios(size, Path(name)) for size in SIZES}
    every = {f"{size}/{text}": each for size in SIZES for text, each in found[size].items()}
    slowest = max(every, key=lambda name: every[name][0])
    return [
        *(
            Figure(
                name=f"small_questions/{size}/plain",
                values=[ratio for ratio, _ in asked.values()],
                unit="x",
                remark=f"{median(ms for _, ms in asked.values()):.3g} ms; {len(asked)} questions",
            )
            for size, asked in found.items()
        ),
        Figure(
            name="small_questions/slowest",
            values=[every[slowest][0]],
            unit="x",
            remark=slowest[:70],
        ),
        Figure(
            name="small_questions/plain",
            values=[ratio for ratio, _ in every.values()],
            unit="x",
            at_most=MOST_OVER_PLAIN,
            remark=f"{median(ms for _, ms in every.values()):.3g} ms; the median question",
        ),
    ]


def _ratios(size: int, folder: Path) -> dict[str, tuple[float, float]]:
    """For each question: our median time over that of the plain query, and ours in ms."""
    worlds = {name: make(size, folder) for name, make in WORLDS.items()}
    timers: dict[str, Timer] = {}
    for question in QUESTIONS:
        world = worlds[question.world]
        timers[f"private {question.sql}"] = clock(_private(question, world))
        timers[f"plain {question.sql}"] = clock(_plain(question, world))
    seconds = alternate(f"{size} rows", timers, rounds=ROUNDS, warm=2)
    taken = {
        each.sql: (median(seconds[f"private {each.sql}"]), median(seconds[f"plain {each.sql}"]))
        for each in QUESTIONS
    }
    return {sql: (ours / plain, ours * 1e3) for sql, (ours, plain) in taken.items()}


def _private(question: Question, world: World) -> Callable[[], object]:
    """Asks in a new text and at another price each time."""
    numbers = count()

    def ask() -> object:
        number = next(numbers)
        spend = dp.PureDP(epsilon=0.5 + number * 1e-6)
        return world.curator.sql(question.text(number), spend=spend)

    return ask


def _plain(question: Question, world: World) -> Callable[[], object]:
    numbers = count()
    return lambda: world.plain.execute(question.plain_text(next(numbers))).fetchall()
