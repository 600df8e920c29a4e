"""Audits of what analysts learn about each other: promises survive, broken twins do not.

Data and settings stay the same; worlds differ in what one analyst asks. A true promise is refuted
with probability at most 1e-6 in each audit.
"""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.audit import BrokenTwin, check_pair
from discreet.audit.analysts import (
    AnalystFinding,
    RoundView,
    among_fakes,
    analyst_replaced,
    audit_analysts,
    correction_round,
    corrections_seen,
    game_round,
    points_in,
    query_changed,
)
from discreet.audit.analysts.views import joint_view
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.queries.analysts.capped_projection import capped
from discreet.queries.analysts.correction import Correction
from discreet.queries.analysts.failing_analysts import FailingAnalysts
from discreet.queries.analysts.game import Tilts
from discreet.queries.analysts.guarantee import AnalystGuarantee, OneAnalyst, OneQuery
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from tests.audit.analyst_rounds import (
    COUNTS,
    EVEN,
    FIRST,
    NOTHING,
    SECOND,
    SIZE,
    UNIVERSE,
    PlainGame,
    SharedCutOff,
    expected_game,
    sampled_game,
    twin_of,
)

TRIALS = 240
CONFIDENCE = 1 - 1e-6


def test_worlds_differ_in_one_analyst_only() -> None:
    worlds = query_changed([["a", "b"], ["c"]], analyst=0, place=1, query="z")
    assert (worlds.first, worlds.second) == ((("a", "b"), ("c",)), (("a", "z"), ("c",)))
    assert worlds.unit == OneQuery()
    left = analyst_replaced([["a"], ["c"]], analyst=1, queries=[])
    assert left.second == (("a",), ())
    assert left.unit == OneAnalyst()
    fakes = among_fakes(["a"], ["b"], fakes=2, asking=["x"])
    assert fakes.first == (("a",), ("x",), ("x",))
    assert (fakes.second[1:], fakes.victim) == (fakes.first[1:], 0)


@pytest.mark.parametrize(
    ("analyst", "place", "code"), [(2, 0, "no_such_analyst"), (1, 1, "no_such_query")]
)
def test_worlds_without_a_victim_are_refused(analyst: int, place: int, code: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        query_changed([["a", "b"], ["c"]], analyst=analyst, place=place, query="z")
    assert refused.value.code == code


def test_the_joint_view_is_everything_but_what_the_victim_alone_is_given() -> None:
    view = joint_view(RoundView("all", ("a", "b", "c")), victim=1)
    assert (view.shared, view.others) == ("all", ("a", "c"))


def _told(shown: RoundView, *, delta: Fraction = Fraction(0)) -> AnalystFinding:
    """The victim asks "a" or "b", and the round echoes it as ``shown`` says."""
    worlds = analyst_replaced([["a"], ["c"]], analyst=0, queries=["b"])

    def play(submitted: tuple[tuple[str, ...], ...]) -> RoundView:
        echo = submitted[0][0]
        return RoundView(echo if shown.shared else None, (echo, echo if shown.own else "-"))

    return audit_analysts(
        play,
        worlds,
        promise=AnalystGuarantee(OneAnalyst()),
        delta=delta,
        watch=lambda view: (view.shared, view.others),
        trials=100,
        confidence=0.99,
    )


def test_the_victims_own_answers_are_no_leak_and_anyone_elses_are() -> None:
    assert _told(RoundView()).passes
    assert not _told(RoundView(shared=True)).passes
    assert not _told(RoundView(own=("told",))).passes
    assert _told(RoundView(shared=True), delta=Fraction(9, 10)).passes


def test_a_finding_says_claim_bound_and_verdict() -> None:
    found = _told(RoundView(shared=True))
    assert found.claimed == 0
    assert 1 < found.lower_bound < 5
    line = str(found)
    assert line.startswith("OneAnalyst(): claimed epsilon 0 at delta 0, at least")
    assert line.endswith("with confidence 0.99: refuted")


def test_a_promise_about_queries_is_not_audited_by_replacing_analysts() -> None:
    worlds = analyst_replaced([["a"], ["c"]], analyst=0, queries=["b"])
    with pytest.raises(Mismatch) as refused:
        audit_analysts(
            lambda _: RoundView(),
            worlds,
            promise=AnalystGuarantee(OneQuery()),
            delta=0,
            watch=lambda _: 0,
            trials=10,
            confidence=0.9,
        )
    assert refused.value.code == "analyst_units_differ"


def test_the_sampled_game_keeps_its_promise_and_plain_multiplicative_weights_do_not() -> None:
    """19 fake accounts ask nothing, so that a query without a cap has nearly all the weight."""
    honest = sampled_game(RoundShape(UNIVERSE, 20, 1), s=15, protects=OneQuery())
    worlds = query_changed([[FIRST], *[[NOTHING]] * 19], analyst=0, place=0, query=NOTHING)

    def auditor(game: SampledGame) -> AnalystFinding:
        return audit_analysts(
            game_round(game, COUNTS),
            worlds,
            promise=honest.analysts,
            delta=honest.delta(1),
            watch=points_in([0], since=game.points // 2),
            trials=TRIALS,
            confidence=CONFIDENCE,
        )

    check_pair(BrokenTwin("A1", honest, twin_of(PlainGame, honest), "no cap on a query"), auditor)


def test_the_expected_game_keeps_its_promise_for_analysts_among_fakes() -> None:
    game = expected_game(RoundShape(UNIVERSE, 12, 2), s=8, protects=OneAnalyst())
    found = audit_analysts(
        game_round(game, COUNTS),
        among_fakes([FIRST, FIRST], [SECOND], fakes=11),
        promise=game.analysts,
        delta=0.01,
        watch=points_in([0], since=game.points // 2),
        trials=TRIALS,
        confidence=CONFIDENCE,
    )
    assert found.passes


def test_own_streams_tell_nothing_and_a_shared_cut_off_tells_what_others_asked() -> None:
    """The colluders' own queries are the same in both worlds, and far off."""
    shape = RoundShape(UNIVERSE, 3, 1)
    honest = Correction(shape=shape, size=SIZE, epsilon=20, cutoff=1, threshold=0.2)
    worlds = query_changed([[FIRST], [FIRST], [SECOND]], analyst=0, place=0, query=NOTHING)

    def auditor(correction: Correction) -> AnalystFinding:
        return audit_analysts(
            correction_round(correction, COUNTS, EVEN),
            worlds,
            promise=AnalystGuarantee(OneQuery()),
            delta=0,
            watch=corrections_seen,
            trials=TRIALS,
            confidence=CONFIDENCE,
        )

    check_pair(
        BrokenTwin("corrections", honest, twin_of(SharedCutOff, honest), "one cut-off for all"),
        auditor,
    )


def test_runs_for_everybody_tell_nothing_and_too_few_of_them_tell_who_failed() -> None:
    """The victim comes first and fails in one world; the colluders' own queries are far off."""
    shape = RoundShape(UNIVERSE, 3, 1)
    honest = FailingAnalysts(shape=shape, size=SIZE, runs=3, threshold=0.2, bits=2000, each=100)
    worlds = analyst_replaced([[FIRST], [FIRST], [SECOND]], analyst=0, queries=[NOTHING])

    def auditor(failing: FailingAnalysts) -> AnalystFinding:
        return audit_analysts(
            correction_round(failing, COUNTS, EVEN),
            worlds,
            promise=AnalystGuarantee(OneAnalyst()),
            delta=0,
            watch=corrections_seen,
            trials=TRIALS,
            confidence=CONFIDENCE,
        )

    check_pair(
        BrokenTwin("runs", honest, replace(honest, runs=2), "runs that are used up by others"),
        auditor,
    )


def _shift(first: dict[bytes, float], second: dict[bytes, float]) -> float:
    """Total variation between laws over signed queries as functions."""
    return sum(abs(first.get(q, 0.0) - second.get(q, 0.0)) for q in {**first, **second}) / 2


def _signed(rows: np.ndarray, masses: np.ndarray) -> dict[bytes, float]:
    """A law over functions from one over places: all queries, then all negations."""
    law: dict[bytes, float] = {}
    for row, mass in zip(np.concatenate([rows, 255 - rows]), masses, strict=True):
        law[row.tobytes()] = law.get(row.tobytes(), 0.0) + float(mass)
    return law


def test_element_caps_charged_one_over_s_are_refuted_by_exact_total_variation() -> None:
    """Three queries about three cells, all sets of them, one replaced, after four cells."""
    shape = RoundShape(UNIVERSE, 3, 1)
    every = [255 * np.array(row, dtype=np.uint8) for row in itertools.product((0, 1), repeat=3)]
    worst = {"pairs": 0.0, "elements": 0.0}
    for s, others in itertools.product((1, 2, 3), itertools.combinations(every, 2)):
        pairs, elements = [], []
        for mine in every:
            rows = np.array([mine, *others])
            queries = QuerySet(shape, rows)
            tilts = Tilts(queries, queries.sums(COUNTS), 50, Fraction(1, 255 * 50), 1, s)
            tilts.learn(np.array([0, 1, 2, 2]))
            pulls, law = tilts.distribution.tilts, tilts.distribution.groups.masses / s
            signs = 1 / (1 + np.exp(-2 * pulls))
            pairs.append(_signed(rows, np.concatenate([law * signs, law * (1 - signs)])))
            both = capped(np.concatenate([pulls, -pulls]), s + 1).masses / (s + 1)
            elements.append(_signed(rows, both))
        worst["pairs"] = max(worst["pairs"], s * _farthest(pairs))
        worst["elements"] = max(worst["elements"], (s + 1) * _farthest(elements))
    assert 0.9 < worst["pairs"] <= 1 + 1e-9
    assert worst["elements"] > 1.9


def _farthest(laws: list[dict[bytes, float]]) -> float:
    return max(_shift(*pair) for pair in itertools.combinations(laws, 2))
