"""What a resumed stream tells has the law of one that was never interrupted.

A tree over eight ticks at epsilon 1. Between tick 4 and tick 5 the stream is resumed, and nothing
happens in it; so the estimates are noise alone. At tick 4 that is one node, at tick 5 the same node
and one more: the difference is one draw, whose law is known exactly. Whoever draws again what was
drawn before shows three draws there.

Each comparison counts how many of the runs lie beyond a point, which is binomial; the comparisons
of one test together raise a false alarm with probability at most ``ALARM``.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from discreet.streams.counter import Counter
from discreet.streams.live.events import EventFields
from discreet.streams.live.state_file import StateInMemory
from discreet.streams.resume import from_state
from tests.streams.live.scripted import NotedTicks, ScriptedSource, live, state_file, tree

ALARM = 1e-6
RUNS = 300
POINTS = (0, 1, 2, 4, 7, 12)
FIELDS = EventFields(key="key")


def estimates(revive: Any, store: Any = None, *, interrupted: bool = True) -> NDArray[np.int64]:
    """What ticks 4 and 5 tell of three keys, resumed in between."""
    store, log = store or StateInMemory(), NotedTicks()
    stream = live(ScriptedSource(FIELDS), store, log)
    stream.begin(tree(epsilon=1.0).open(), 1)
    told = [list(next(stream).values.values()) for _ in range(4)]
    if interrupted:
        stream = live(ScriptedSource(FIELDS), store, log)
        stream.go_on(revive, 2, 4)
    return np.array([told[3], list(next(stream).values.values())], dtype=np.int64)


def p_values(differences: NDArray[np.int64]) -> list[float]:
    """One for each point: is it as often exceeded as one draw of the node's noise exceeds it?"""
    ratio = math.exp(-1 / 3)  # three levels at epsilon 1: P(|x| > k) = 2 r**(k+1) / (1 + r)
    found = np.abs(differences).reshape(-1)
    return [
        float(
            binomtest(
                int((found > point).sum()), found.size, 2 * ratio ** (point + 1) / (1 + ratio)
            ).pvalue
        )
        for point in POINTS
    ]


def refuted(values: NDArray[np.int64]) -> bool:
    return min(p_values(values)) < ALARM / len(POINTS)


def redrawing(state: Any) -> Counter:
    """The twin: it keeps the counts, and draws the noise of all nodes again."""
    counter: Any = tree(epsilon=1.0).open()
    counter.run(np.zeros((int(state["live"]["tick"]), 3), dtype=np.int64))
    return counter  # type: ignore[no-any-return]


def forgetting(state: Any) -> Counter:
    """The twin: it goes on without the noise of nodes that were told."""
    counter: Any = from_state(state)
    counter._prefixes[:] = 0
    return counter  # type: ignore[no-any-return]


def test_a_resumed_stream_has_the_law_of_one_that_was_never_interrupted() -> None:
    for interrupted in (False, True):
        found = np.array([estimates(from_state, interrupted=interrupted) for _ in range(RUNS)])
        assert not refuted(found[:, 1] - found[:, 0])  # one draw
        assert not refuted(found[:, 0])  # one node


@pytest.mark.parametrize("twin", [redrawing, forgetting])
def test_a_twin_that_draws_again_or_forgets_is_caught(twin: Any) -> None:
    found = np.array([estimates(twin) for _ in range(RUNS)])
    assert refuted(found[:, 1] - found[:, 0])


def test_the_same_holds_through_a_file(tmp_path: Path) -> None:
    found = []
    for run in range(20):
        folder = tmp_path / str(run)
        folder.mkdir()
        found.append(estimates(from_state, state_file(folder)))
    values = np.array(found)
    assert not refuted(values[:, 1] - values[:, 0])
