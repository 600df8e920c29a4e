"""The law that is drawn against the ideal one: in exact arithmetic, and between neighbours."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from discreet.queries.analysts.capped_projection import range_slack
from discreet.queries.analysts.equilibrium import SignedLaw
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.query_set import QuerySet
from tests.queries.analysts.small_games import (
    random_queries,
    sampled,
    shape_of,
    signed_law,
    tilts_of,
)


def ideal(weights: list[Decimal], s: int) -> list[Decimal]:
    """The projection by its definition: the heaviest k at the cap, the least k that fits."""
    order = sorted(range(len(weights)), key=lambda place: -weights[place])
    for k in range(s):
        rest = sum((weights[place] for place in order[k:]), Decimal(0))
        scale = (s - k) / rest
        if scale * weights[order[k]] <= 1:
            full = set(order[:k])
            return [Decimal(1) if g in full else scale * w for g, w in enumerate(weights)]
    raise AssertionError


@pytest.mark.parametrize("reach", [0.1, 10.0, 200.0, 1280.0])
def test_rounding_stays_within_its_slack(reach: float) -> None:
    rng = np.random.default_rng(int(reach))
    with localcontext() as context:
        context.prec = 60
        for width, s in ((1, 1), (1, 7), (1, 39), (4, 3), (4, 9)):
            tilts = rng.uniform(-reach / 2, reach / 2, 40)
            tilts[rng.random(40) < 0.3] = reach / 2
            law = SignedLaw.project(tilts, width, s)
            signed = [Decimal(float(t)).exp() + Decimal(-float(t)).exp() for t in tilts]
            groups = [sum(signed[g : g + width], Decimal(0)) for g in range(0, 40, width)]
            scores = [Decimal(float(score)).exp() for score in law.groups.scores]
            free = sum((v for v, full in zip(scores, law.groups.full, strict=True) if not full))
            left = s - int(law.groups.full.sum())
            slack = range_slack(reach=reach, width=width, s=s)
            for wanted, full, score in zip(ideal(groups, s), law.groups.full, scores, strict=True):
                drawn = Decimal(1) if full else left * score / free
                assert drawn <= 1
                assert abs(float((drawn / wanted).ln())) <= slack / 2


@pytest.mark.parametrize("most", [1, 3])
def test_one_query_or_analyst_shifts_the_law_by_its_share_at_most(most: int) -> None:
    """Any cells so far, any replacement; the worst comes near 1/s."""
    rng = np.random.default_rng(most)
    shape = shape_of(3, 5, most)
    worst = 0.0
    for _ in range(300):
        s = int(rng.integers(1, 5))
        protects = OneQuery() if most == 1 else OneAnalyst()
        game = sampled(shape, 6, s, step_q=float(rng.choice([1, 30])), protects=protects)
        queries = random_queries(shape, rng)
        rows = queries.rows.copy()
        rows[:most] = 255 * rng.integers(0, 2, (most, 3))
        counts, drawn = rng.multinomial(6, [0.5, 0.3, 0.2]), list(rng.integers(0, 3, 4))
        first = signed_law(tilts_of(game, queries, counts, drawn)).reshape(2, -1)
        second = signed_law(tilts_of(game, QuerySet(shape, rows), counts, drawn)).reshape(2, -1)
        # The replaced queries of one world are not those of the other.
        common = np.abs(first - second)[:, most:].sum()
        shift = (common + first[:, :most].sum() + second[:, :most].sum()) / 2
        assert shift <= game.share + 1e-12
        worst = max(worst, shift * s)
    assert worst > 0.9
