"""AboveThreshold: exact transcripts, tightness, and the variants that fail."""

import contextlib
import copy
import math
import os
import pickle
import threading
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from discreet import events
from discreet.audit import (
    BrokenTwin,
    DiscreteLaw,
    Finding,
    GivenEvents,
    LearnedEvents,
    audit,
    check_pair,
    min_epsilon,
    outcome,
    repeated,
    three_sided,
)
from discreet.core.errors import Exhausted, InvalidData
from discreet.core.interactive import Interactive
from discreet.mechanisms import (
    GENERAL,
    MONOTONE,
    AboveThreshold,
    NumericSparse,
    Scores,
    Sparse,
)
from discreet.mechanisms.sparse_vector import ThresholdSession
from discreet.noise import Noiseless, Seeded, Source
from tests.mechanisms import laws

SECRET, EACH = 2.0, 4.0
"""Scales at epsilon one and sensitivity one, general values."""


def scales(mechanism: AboveThreshold) -> tuple[float, float]:
    """Those of the code: threshold and values, in the caller's units."""
    session = mechanism.open()
    each = float(session._value_scale) * 2.0**session._exponent
    return each / mechanism.scores.value, each


def build(source: Source, epsilon: float = 1, scores: Scores = GENERAL) -> AboveThreshold:
    return AboveThreshold(
        epsilon=epsilon, threshold=0, sensitivity=1, scores=scores, randomness=source
    )


def halting(values: Sequence[float]) -> Callable[[AboveThreshold, int], list[int | None]]:
    """Where conversations about ``values`` halt."""

    def draw(mechanism: AboveThreshold, n: int) -> list[int | None]:
        ends: list[int | None] = []
        for _ in range(n):
            answers = mechanism.open().ask_all(values)
            ends.append(len(answers) - 1 if answers[-1] else None)
        return ends

    return draw


def test_the_scales_are_those_of_the_algorithm() -> None:
    for epsilon, sensitivity in ((1, 1), (0.1, 3), (2, 0.01)):
        general = AboveThreshold(epsilon=epsilon, threshold=5, sensitivity=sensitivity)
        unit = sensitivity / epsilon
        assert scales(general) == pytest.approx((2 * unit, 4 * unit), rel=1e-5)
        monotone = AboveThreshold(
            epsilon=epsilon, threshold=5, sensitivity=sensitivity, scores=MONOTONE
        )
        assert scales(monotone) == pytest.approx((2 * unit, 2 * unit), rel=1e-5)
        # Rounding to the grid is paid for: never less noise than the algorithm's.
        assert scales(general)[0] > 2 * unit


class TestExactTranscripts:
    def test_the_first_question(self) -> None:  # 000a:E1
        for distance in (0.0, 5.0, 12.0):
            law = laws.above_threshold([0], distance, secret=SECRET, each=EACH)
            closed = (4 * math.exp(-distance / 4) - math.exp(-distance / 2)) / 6
            assert law[0] == pytest.approx(closed, abs=1e-10)
            if distance == 5:
                assert closed == pytest.approx(0.17732, abs=5e-6)

    def test_all_at_the_threshold(self) -> None:  # 000a:E1
        law = laws.above_threshold([0, 0, 0], 0, secret=SECRET, each=EACH)
        assert [law[k] for k in range(3)] == pytest.approx([1 / 2, 5 / 24, 5 / 48], abs=1e-10)
        assert math.fsum(law.values()) == pytest.approx(1, abs=1e-9)

    @pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
    def test_every_small_conversation_loses_at_most_epsilon(self, scores: Scores) -> None:
        secret, each = (SECRET, EACH) if scores is GENERAL else (SECRET, SECRET)
        moves = (-1, 1) if scores is GENERAL else (0, 1)
        worst = 0.0
        for here in ((0, 0, 0), (-2, -2, 3), (2, -5, 0)):
            law = laws.above_threshold(here, 0, secret=secret, each=each)
            for move in product(moves, repeat=3):
                there = [v + m for v, m in zip(here, move, strict=True)]
                moved = laws.above_threshold(there, 0, secret=secret, each=each)
                worst = max(worst, min_epsilon(law, moved))
        assert worst <= 1 + 1e-7
        assert worst > 0.4

    def test_the_loss_tends_to_epsilon_and_never_exceeds_it(self) -> None:
        # 000a:E1: (0 … 0, 1) against (1 … 1, 0), halting at the last of k questions.
        losses = []
        for k in (1, 5, 51, 400):
            values = ([0.0] * (k - 1) + [1.0], [1.0] * (k - 1) + [0.0])
            ends = [last_only(v) for v in values]
            losses.append(math.log(ends[0] / ends[1]))
        assert losses == sorted(losses)
        assert losses[-1] <= 1 + 1e-9
        assert losses[2] > 0.95, "tight at length 51"

    @pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
    @pytest.mark.parametrize("step", [1, 3])
    def test_rounded_noise_keeps_the_promise_on_a_coarse_grid(
        self, scores: Scores, step: int
    ) -> None:
        # Whole steps, ties included: sensitivity of `step` steps at epsilon one.
        secret, each = 2.0 * step, 2.0 * step * scores.value
        moves = (-step, step) if scores is GENERAL else (0, step)
        worst = 0.0
        for here in ((0, 0, 0), (-2, 5, 1)):
            law = laws.above_threshold_on_grid(here, secret=secret, each=each)
            assert math.fsum(law.values()) == pytest.approx(1, abs=1e-9)
            for move in product(moves, repeat=3):
                there = [v + m for v, m in zip(here, move, strict=True)]
                moved = laws.above_threshold_on_grid(there, secret=secret, each=each)
                worst = max(worst, min_epsilon(law, moved))
        assert 0.4 < worst <= 1 + laws.ATOL

    def test_monotone_noise_on_general_values_is_a_broken_twin(self) -> None:
        values = ([0.0] * 200 + [1.0], [1.0] * 200 + [0.0])
        ends = [last_only(v, each=SECRET) for v in values]
        assert math.log(ends[0] / ends[1]) > 1.2


def last_only(values: Sequence[float], *, secret: float = SECRET, each: float = EACH) -> float:
    """The probability of no, no, …, yes."""

    def density(t: float) -> float:
        nos = math.prod(laws.laplace_cdf(t - value, each) for value in values[:-1])
        return laws.laplace_density(t, secret) * nos * laws.laplace_survival(t - values[-1], each)

    return laws.integral(density, [0, 1, 5, 10, 20, 40, 80], max(secret, each))


class TestReleases:
    def test_they_follow_the_exact_law_and_no_other(self, source: Seeded, alpha: float) -> None:
        values = [-3.0, 0.0, 2.0, 1.0]
        mechanism = build(source)

        def law(factor: float) -> DiscreteLaw:
            return DiscreteLaw.of(
                laws.above_threshold(values, 0, secret=SECRET * factor, each=EACH * factor)
            )

        judged = three_sided(
            lambda n: halting(values)(mechanism, n), law(1), [law(0.5), law(2.5)], alpha=alpha
        )
        assert judged.passes, judged

    def test_one_by_one_or_all_at_once_is_the_same_law(self, source: Seeded, alpha: float) -> None:
        values = [-3.0, 0.0, 2.0, 1.0]
        mechanism = build(source)
        law = laws.above_threshold(values, 0, secret=SECRET, each=EACH)

        def one_by_one(n: int) -> list[int | None]:
            ends: list[int | None] = []
            for _ in range(n):
                session = mechanism.open()
                answers: list[bool] = []
                while len(answers) < len(values) and not session.halted:
                    answers.append(session.ask(values[len(answers)]))
                ends.append(len(answers) - 1 if answers[-1] else None)
            return ends

        wrong = laws.above_threshold(values, 0, secret=SECRET / 2, each=EACH / 2)
        judged = three_sided(one_by_one, DiscreteLaw.of(law), [DiscreteLaw.of(wrong)], alpha=alpha)
        assert judged.passes, judged

    def test_a_threshold_and_values_far_out_are_compared_exactly(self) -> None:
        # The grid of epsilon one reaches 2**31 from the threshold, not from zero.
        for base in (10**10, 1e15, 2**60):
            mechanism = AboveThreshold(epsilon=1, threshold=base, sensitivity=1)
            assert mechanism.open().ask(base + 500) is True
            assert mechanism.open().ask(base - 500) is False

    def test_the_answer_does_not_tell_whole_from_real(self) -> None:
        mechanism = AboveThreshold(epsilon=1e6, threshold=0.5, sensitivity=1)
        assert [mechanism.open().ask(v) for v in (0, 1, 0.0, 1.0, np.int8(1), True)] == [
            False,
            True,
            False,
            True,
            True,
            True,
        ]

    def test_test_mode_is_marked(self) -> None:
        for randomness in (Seeded(3), Noiseless()):
            mechanism = build(randomness)
            assert isinstance(mechanism.event, events.Unprotected)
            assert isinstance(mechanism.open().event, events.Unprotected)
        assert build(Noiseless()).open().ask_all([-1, -1e-3, 0.5, 7]) == [False, False, True]


def session_without(part: str) -> Callable[[Sequence[float], int], list[Hashable]]:
    """Conversations of a variant that lacks a part of the algorithm (000a:E3)."""
    rng = np.random.default_rng(11)
    each = 0.0 if part == "query noise" else EACH

    def draw(values: Sequence[float], n: int) -> list[Hashable]:
        secret = rng.laplace(0, SECRET, (n, 1))
        above = np.asarray(values) + each * rng.laplace(0, 1, (n, len(values))) >= secret
        return [int(np.argmax(row)) if row.any() else None for row in above]

    return draw


class TestBrokenTwins:
    """The variants that the literature got wrong, each refuted by the auditor."""

    def auditor(
        self, alpha: float, here: Sequence[float], there: Sequence[float], trials: int
    ) -> Callable[[Callable[[Sequence[float], int], list[Hashable]]], Finding]:
        return lambda mechanism: audit(
            mechanism,
            here,
            there,
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=trials,
            confidence=1 - alpha,
        )

    def sound(self, source: Source) -> Callable[[Sequence[float], int], list[Hashable]]:
        return lambda values, n: list(halting(values)(build(source), n))

    def test_no_noise_on_the_queries(self, source: Seeded, alpha: float) -> None:
        # Then the order of two values shows: the second halts only if it is the larger.
        part = "query noise"
        twin = BrokenTwin(part, self.sound(source), session_without(part), why="order shows")
        check_pair(twin, self.auditor(alpha, [1.0, 0.0], [0.0, 1.0], 1500))

    def test_no_noise_on_the_threshold(self) -> None:
        # Then every no costs anew: forty of them are refuted by their exact probability.
        values = [-4.0] * 40, [-3.0] * 40
        silent = [math.prod(laws.laplace_cdf(-v, EACH) for v in part) for part in values]
        assert math.log(silent[0] / silent[1]) > 2.5
        sound = [laws.above_threshold(v, 0, secret=SECRET, each=EACH)[None] for v in values]
        assert math.log(sound[0] / sound[1]) <= 1

    def test_no_cut_off(self) -> None:
        # Ten questions answered to the end, half of which move up and half down.
        here, there = [1.0] * 5 + [0.0] * 5, [0.0] * 5 + [1.0] * 5
        exact = [every_answer(values) for values in (here, there)]
        assert min_epsilon(*exact) > 1.2, "computed exactly"
        assert (
            min_epsilon(
                *(laws.above_threshold(v, 0, secret=SECRET, each=EACH) for v in (here, there))
            )
            <= 1
        )

    def test_the_compared_value_released(self) -> None:
        # A yes together with its value v < T says that the noisy threshold was at most v: for
        # (0, …, 0) against (1, …, 1) the nos before it then multiply up.
        def yes_at(v: float, before: float, at: float) -> float:
            """Density of k nos, then a yes whose noisy value is v."""

            def density(t: float) -> float:
                no = 1 - laws.laplace_survival(t - before, EACH)
                return laws.laplace_density(t, SECRET) * no**20

            edges = [v - 60 * EACH, *[e for e in (0, before) if e < v], v]
            below = sum(quad(density, a, b)[0] for a, b in pairwise(edges))
            return below * laws.laplace_density(v - at, EACH)

        loss = math.log(yes_at(-8, 0, 1) / yes_at(-8, 1, 0))
        assert loss > 2

    def test_half_the_noise_is_refuted(self, source: Seeded, alpha: float) -> None:
        def conversation(epsilon: float) -> Callable[[Sequence[float], int], list[Hashable]]:
            return lambda values, n: list(halting(values)(build(source, epsilon), n))

        twin = BrokenTwin("scale", conversation(1), conversation(12), why="a twelfth of the noise")
        check_pair(
            twin,
            lambda mechanism: audit(
                mechanism,
                [-0.5],
                [-1.5],
                epsilon=1,
                delta=0,
                events=GivenEvents({"yes": lambda end: end == 0}),
                trials=3000,
                confidence=1 - alpha,
            ),
        )


def every_answer(values: Sequence[float]) -> dict[Hashable, float]:
    """All answers without a cut-off, by how many of each half were yes."""
    half = len(values) // 2

    def density(t: float, first: int, second: int) -> float:
        product_ = laws.laplace_density(t, SECRET)
        for yes, part in ((first, values[:half]), (second, values[half:])):
            p = laws.laplace_survival(t - part[0], EACH)
            product_ *= math.comb(half, yes) * p**yes * (1 - p) ** (half - yes)
        return product_

    return {
        (a, b): laws.integral(lambda t, a=a, b=b: density(t, a, b), [0, 1], EACH)  # type: ignore[misc]
        for a in range(half + 1)
        for b in range(half + 1)
    }


class TestAccuracy:
    def test_worked_number(self) -> None:  # 000a:E2
        mechanism = AboveThreshold(epsilon=1, threshold=0, sensitivity=1)
        assert mechanism.error(confidence=0.95, questions=1000) == pytest.approx(84.773, abs=5e-4)
        again = AboveThreshold.for_error(
            84.773, confidence=0.95, questions=1000, threshold=0, sensitivity=1
        )
        assert float(again.epsilon) == pytest.approx(1, abs=1e-5)
        assert again.error(confidence=0.95, questions=1000) <= 84.773 * (1 + 1e-12)

    @pytest.mark.parametrize("scores", [GENERAL, MONOTONE])
    def test_conversations_are_as_right_as_promised(self, scores: Scores, source: Seeded) -> None:
        # 199 questions at T - alpha and one at T + alpha: all answers right with .9 or more.
        mechanism = build(source, scores=scores)
        alpha = mechanism.error(confidence=0.9, questions=200)
        values = [-alpha] * 199 + [alpha]
        right = halting(values)(mechanism, 2000).count(199)
        assert right >= 0.9 * 2000
        narrow = [-alpha / 6] * 199 + [alpha / 6]
        assert halting(narrow)(mechanism, 2000).count(199) < 0.9 * 2000


SESSIONS: list[Callable[[], Any]] = [
    AboveThreshold(epsilon=1, threshold=123456.5, sensitivity=1).open,
    Sparse(epsilon_each=1, cutoff=3, threshold=123456.5, sensitivity=1).open,
    NumericSparse(epsilon=1, cutoff=3, threshold=123456.5, sensitivity=1).open,
]


@pytest.mark.parametrize("open_session", SESSIONS)
class TestSessions:
    def test_they_satisfy_the_protocol(self, open_session: Callable[[], Any]) -> None:
        session = open_session()
        assert isinstance(session, Interactive)
        assert session.event.epsilon(delta=0) > 0

    def test_text_tells_no_secret(self, open_session: Callable[[], Any]) -> None:
        texts = {repr(open_session()).split(" at 0x")[0] for _ in range(5)}
        assert len(texts) == 1
        assert "secret" not in texts.pop()

    def test_they_cannot_be_copied(self, open_session: Callable[[], Any]) -> None:
        session = open_session()
        for copies in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(Exhausted, match="session_not_copied"):
                copies(session)

    def test_they_do_not_outlive_a_fork(self, open_session: Callable[[], Any]) -> None:
        session = open_session()
        child = session._process
        session._process = os.getpid() + 1
        with pytest.raises(Exhausted, match="session_not_copied"):
            session.ask(0)
        session._process = child
        assert session.ask(-1e9) in (False, None)

    @pytest.mark.parametrize("bad", ["secret", None, math.nan, math.inf, [1, 2], [[1]], 1j])
    def test_bad_questions_are_refused_and_use_up_nothing(
        self, open_session: Callable[[], Any], bad: Any
    ) -> None:
        session = open_session()
        with pytest.raises(InvalidData) as refused:
            session.ask(bad)
        assert "secret" not in str(refused.value)
        assert session.ask(1e9) not in (False, None)

    def test_after_the_last_yes_they_are_exhausted(self, open_session: Callable[[], Any]) -> None:
        session = open_session()
        for _ in range(1 if isinstance(session, ThresholdSession) else 3):
            assert session.ask(1e9) not in (False, None)
        with pytest.raises(Exhausted):
            session.ask(0)


def test_threads_share_one_yes() -> None:
    for _ in range(20):
        session = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).open()
        answers: list[bool] = []

        def ask(session: ThresholdSession = session, answers: list[bool] = answers) -> None:
            with contextlib.suppress(Exhausted):
                answers.append(session.ask(1e9))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == [True]


def test_the_session_says_when_it_has_halted() -> None:
    session = AboveThreshold(epsilon=1, threshold=0, sensitivity=1).open()
    before = session.halted
    assert session.ask_all([-1e9, 1e9, 1e9]) == [False, True]
    assert (before, session.halted) == (False, True)
    assert "halted=True" in repr(session)
    with pytest.raises(Exhausted, match="threshold_reached"):
        session.ask_all([1])
    with pytest.raises(InvalidData, match="questions_not_a_list"):
        AboveThreshold(epsilon=1, threshold=0, sensitivity=1).open().ask_all([[1, 2], [3, 4]])


def test_events() -> None:
    assert build(Seeded(1)).event == events.Unprotected(
        events.SparseVector(epsilon=1, cutoff=1), reason="test mode: Seeded"
    )
    mechanism = AboveThreshold(epsilon=Fraction(1, 3), threshold=0, sensitivity=1)
    assert mechanism.event == events.SparseVector(epsilon=Fraction(1, 3), cutoff=1)
    assert mechanism.open().event == mechanism.event


def test_the_auditor_finds_nothing_in_adaptive_questions(source: Seeded, alpha: float) -> None:
    # Each question depends on the answers so far; neighbours move every value by one.
    def conversation(shift: float) -> Hashable:
        session = build(source).open()
        answers: list[bool] = []
        while len(answers) < 6 and not session.halted:
            direction = 1 if len(answers) % 2 else -1
            answers.append(session.ask(direction * len(answers) + direction * shift))
        return tuple(answers)

    found = audit(
        repeated(conversation),
        0.0,
        1.0,
        epsilon=1,
        delta=0,
        events=GivenEvents({f"halts at {k}": lambda t, k=k: len(t) == k for k in range(1, 6)}),  # type: ignore[misc]
        trials=4000,
        confidence=1 - alpha,
    )
    assert found.passes, found
