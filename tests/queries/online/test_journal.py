"""A conversation that is resumed: nothing is drawn again, nothing lost, nothing told."""

import copy
import json
import math
import pickle
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import Exhausted, InvalidData
from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.sparse_vector.hidden import HiddenThreshold
from discreet.queries.online.comparisons import Comparisons
from discreet.queries.online.construction import OnlineConstruction
from discreet.queries.online.journal import Entry, past
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.linear_query import Region, Weights

NUMBERS = np.random.default_rng(9)

CELLS = 64

COUNTS = NUMBERS.multinomial(100_000, NUMBERS.dirichlet(np.full(CELLS, 0.1)))

QUERIES = [Weights(NUMBERS.random(CELLS) < 0.3) for _ in range(60)]


class Paper:
    """A journal on paper, kept as JSON."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    def write(self, entry: Entry) -> None:
        self.lines.append(json.dumps(entry))

    def keep(self, entry: Entry) -> None:
        self.write(entry)

    def did(self, what: str) -> list[dict[str, Any]]:
        return [entry for entry in self.entries() if entry["did"] == what]


class CrashError(Exception):
    """The process ends here."""


class Crashing(Paper):
    """A journal whose process ends at the n-th line, just before or just after it is written."""

    def __init__(self, lines: list[str], at: int, *, written: bool) -> None:
        super().__init__()
        self.lines = lines
        self.at, self.written = at, written

    def write(self, entry: Entry) -> None:
        self.at -= 1
        if self.at or self.written:
            super().write(entry)
        if not self.at:
            raise CrashError


def kept(cutoff: int = 6, threshold: float = 2000, size: RecordCount | None = None) -> Any:
    return OnlineConstruction(
        MultiplicativeUpdater(CELLS, 0.1),
        dp.PureDP(epsilon=100),
        size or NoisyRecordCount(),
        threshold,
        cutoff=cutoff,
    )


def test_a_conversation_is_resumed_without_a_draw_and_without_a_loss() -> None:
    plan = kept(cutoff=30)
    paper = Paper()
    box = Region((CELLS,), (slice(0, 20),))
    first = plan.open(COUNTS, paper)
    for query in [*QUERIES[:20], box, box]:
        first.ask(query)
    assert 30 - first.updates_left == len(paper.did("update")) > 0
    second = plan.open(COUNTS, paper)
    assert (second.updates_left, second.total) == (first.updates_left, first.total)
    assert second._comparisons._bar == first._comparisons._bar
    written = len(paper.lines)
    third = plan.open(COUNTS, paper)
    assert third.updates_left == first.updates_left
    assert len(paper.lines) == written
    for session in (first, second, third):
        session._left = 0
    for query in [*QUERIES, box]:
        assert first.ask(query) == second.ask(query) == third.ask(query)


@pytest.mark.parametrize("written", [False, True])
def test_a_crash_at_any_line_costs_nothing_and_gains_nothing(*, written: bool) -> None:
    """One crash at every line in turn; the question under way is asked again."""
    plan, lines = kept(), 0
    for at in range(1, 14):
        paper = Crashing([], at, written=written)
        seen: list[tuple[int, float]] = []
        session, place, crashed = None, 0, 0
        while place < len(QUERIES):
            try:
                session = session or plan.open(COUNTS, paper)
                answer = session.ask(QUERIES[place])
            except CrashError:
                crashed += 1
                bars = [entry["steps"] for entry in paper.did("threshold")]
                if session is not None:
                    with pytest.raises(Exhausted, match="conversation_interrupted"):
                        session.ask(QUERIES[place])
                session = plan.open(COUNTS, paper) if paper.lines else None
                if session is not None and session._comparisons.under_way:
                    assert session._comparisons._bar == session._comparisons._origin + bars[-1]
                continue
            seen.append((place, answer))
            place += 1
        assert session is not None
        updates = paper.did("update")
        assert crashed == 1
        assert len(updates) == 6 - session.updates_left <= 6
        # One threshold for each round, whatever happened: none was drawn twice.
        assert len(paper.did("threshold")) == len(updates) + session._comparisons.under_way
        again = plan.open(COUNTS, paper)
        assert again.updates_left == session.updates_left
        assert [answer for _, answer in past(paper.entries()).updates] == [
            entry["answer"] for entry in updates
        ]
        lines = len(paper.lines) - len(paper.did("estimate"))
    assert lines == 13  # an opening, and a threshold and an update for each of six rounds


def test_crash_after_crash_never_pays_for_more_than_the_cutoff() -> None:
    plan, lines = kept(cutoff=3), list[str]()
    for _ in range(40):
        paper = Crashing(lines, 2, written=True)
        with suppress(CrashError):
            session = plan.open(COUNTS, paper)
            for query in QUERIES:
                session.ask(query)
    assert len(paper.did("update")) == 3
    assert len(paper.did("threshold")) == 3
    assert plan.open(COUNTS, paper).updates_left == 0


def test_reading_the_threshold_again_is_private_and_drawing_it_again_is_not() -> None:
    """Fifty times "no, then a crash", for values 0 against 1, summed over the noisy threshold.

    The twin draws a fresh threshold at every resumption and pays for one.
    """
    compared = AboveThreshold(epsilon=1, threshold=3, sensitivity=1)
    bars = np.linspace(-60, 60, 24001)
    density = np.exp(-np.abs(bars - 3) / 2) / 4
    scale = float(Comparisons(compared)._value_scale) * 2.0 ** compared.exponent()

    def log_noes(value: float, times: int) -> float:
        x = bars - value
        below = np.where(x < 0, np.exp(x / scale) / 2, 1 - np.exp(-np.abs(x) / scale) / 2)
        return math.log(float(np.trapezoid(density * below**times, bars)))

    read_again = abs(log_noes(0, 50) - log_noes(1, 50))
    drawn_again = 50 * abs(log_noes(0, 1) - log_noes(1, 1))
    assert read_again <= 0.5 + 1e-6
    assert drawn_again > 1


def test_a_twin_that_draws_again_is_caught_by_its_own_journal() -> None:
    class Forgetful(Paper):
        """Loses the round under way."""

        def entries(self) -> list[dict[str, Any]]:
            return [entry for entry in super().entries() if entry["did"] != "threshold"]

    plan, paper = kept(threshold=90_000, size=PublicCount(100_000)), Forgetful()
    for _ in range(2):
        plan.open(COUNTS, paper).ask(QUERIES[0])
    honest = Paper()
    honest.lines = paper.lines
    with pytest.raises(InvalidData, match="journal_misread"):
        plan.open(COUNTS, honest)


def test_a_threshold_is_kept_before_its_first_comparison_and_shown_to_nobody() -> None:
    plan, paper = kept(threshold=90_000, size=PublicCount(100_000)), Paper()
    session = plan.open(COUNTS, paper)
    assert paper.did("threshold") == []
    seen: list[int] = []
    above = session._comparisons.above

    def noted(value: float) -> bool:
        seen.append(len(paper.did("threshold")))
        return bool(above(value))

    session._comparisons.above = noted
    for query in QUERIES[:3]:
        session.ask(query)
    assert seen == [1, 1, 1]
    hidden = HiddenThreshold(123456789)
    assert "123456789" not in f"{hidden!r} {hidden}"
    for spread in (pickle.dumps, copy.copy):
        with pytest.raises(Exhausted, match="session_not_copied"):
            spread(hidden)


def test_a_journal_of_something_else_is_refused() -> None:
    plan, other = kept(), kept(cutoff=7)
    for lines in ([{"did": "update"}], [{"did": "threshold", "steps": 1}]):
        paper = Paper()
        for line in lines:
            paper.write(line)
        with pytest.raises(InvalidData, match="journal_misread"):
            plan.open(COUNTS, paper)
    paper = Paper()
    plan.open(COUNTS, paper)
    with pytest.raises(InvalidData, match="journal_differs"):
        other.open(COUNTS, paper)
