"""What analysts pay in the sampled game: the table of the catalogue, and never below the truth."""

import itertools
import math

import numpy as np
import pytest

from discreet.accounting.zcdp import zcdp_delta, zcdp_rho
from discreet.core.errors import InvalidParameter
from discreet.queries.analysts.flags import (
    expected_flags,
    hidden_delta,
    most_pull,
    shown_delta,
    squares_law,
    zcdp_deltas,
)

TABLE = [
    (0.02, 0.553, 1.76),
    (1 / 12, 0.386, 0.978),
    (1 / 6, 0.320, 0.682),
    (0.5, 0.220, 0.342),
    (1.0, 0.166, 0.209),
    (4.0, 0.081, 0.082),
    (16.0, 0.032, 0.032),
]


@pytest.mark.parametrize(("flags", "shown", "hidden"), TABLE)
def test_the_largest_pull_is_that_of_the_catalogue(
    flags: float, shown: float, hidden: float
) -> None:
    found = most_pull(flags=flags, epsilon=1, delta=1e-6, curve=shown_delta)
    assert found == pytest.approx(shown, rel=0.05)
    assert most_pull(flags=flags, epsilon=1, delta=1e-6) == pytest.approx(hidden, rel=0.05)


def test_many_flags_approach_the_price_of_the_expected_game() -> None:
    limit = math.sqrt(24 * zcdp_rho(1, 1e-6))
    assert limit == pytest.approx(0.7646, abs=1e-4)
    found = 60 * most_pull(flags=60, epsilon=1, delta=1e-6)
    assert 0.6 * limit < found < limit


def test_the_vectorised_curve_is_the_accountants_curve() -> None:
    rhos = np.array([1e-4, 1e-2, 0.1, 1.0, 10.0])
    for epsilon in (0.1, 1.0, 5.0):
        wanted = [zcdp_delta(float(rho), epsilon) for rho in rhos]
        assert zcdp_deltas(rhos, epsilon) == pytest.approx(wanted, rel=1e-6)


def test_the_law_of_squares_has_the_mass_of_any_flag() -> None:
    for flags in (0.1, 1.0, 8.0):
        law = squares_law(flags)
        assert law.masses.sum() == pytest.approx(-math.expm1(-flags), rel=1e-7)
        # The mean of N(u)**2 over a unit of time is rate/2 + rate**2/3; blocks move it up a little.
        mean = flags / 2 + flags**2 / 3
        assert mean < law.squares @ law.masses < 1.12 * mean


def test_hiding_the_flags_never_costs_more_and_delta_falls_with_epsilon() -> None:
    for flags, pull in itertools.product((0.05, 1.0, 10.0), (0.02, 0.2, 2.0)):
        curve = [hidden_delta(flags=flags, pull=pull, epsilon=e) for e in (0.1, 0.5, 1, 2, 4)]
        assert curve == sorted(curve, reverse=True)
        assert curve[2] <= shown_delta(flags=flags, pull=pull, epsilon=1) * (1 + 1e-9)


def two_worlds(rounds: int, step: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Exact laws of all published bits, where a flagged draw pulls towards the world's own bit.

    Unflagged draws pull nowhere, so given k flags the bit 1 has odds exp(±step k / 2).
    """
    odds = np.array([1 / (1 + math.exp(-step * k / 2)) for k in range(rounds + 1)])
    laws = []
    for towards in (odds, 1 - odds):
        views = []
        for bits in itertools.product((0, 1), repeat=rounds):
            state = np.zeros(rounds + 1)
            state[0] = 1.0
            for bit in bits:
                state = state * (towards if bit else 1 - towards)
                state[1:] = state[1:] * (1 - share) + state[:-1] * share
                state[0] *= 1 - share
            views.append(state.sum())
        laws.append(np.array(views))
    return laws[0], laws[1]


@pytest.mark.parametrize("rounds", [2, 5, 9])
@pytest.mark.parametrize("step", [0.5, 2.0])
@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_bound_is_never_below_the_exact_delta(rounds: int, step: float, share: float) -> None:
    first, second = two_worlds(rounds, step, share)
    assert first.sum() == pytest.approx(1)
    flags = expected_flags(draws=rounds, share=share)
    for epsilon in (0.01, 0.1, 0.3, 1.0, 2.0):
        exact = np.maximum(first - math.exp(epsilon) * second, 0).sum()
        asked = {"flags": flags, "pull": step * math.sqrt(rounds), "epsilon": epsilon}
        assert exact <= hidden_delta(**asked)
        assert exact <= shown_delta(**asked)


def test_a_bound_that_forgets_early_flags_is_caught() -> None:
    """A twin that counts only the flags of the round before: too cheap in the two-world game."""
    rounds, step, share = 9, 2.0, 0.3
    first, second = two_worlds(rounds, step, share)
    exact = np.maximum(first - math.exp(0.5) * second, 0).sum()
    twin = share * (rounds - 1) * zcdp_delta(step**2 / 8, 0.5) / rounds
    assert (
        twin
        < exact
        <= hidden_delta(flags=expected_flags(draws=rounds, share=share), pull=step * 3, epsilon=0.5)
    )


def test_too_many_flags_are_refused() -> None:
    with pytest.raises(InvalidParameter) as refused:
        hidden_delta(flags=100, pull=0.1, epsilon=1)
    assert refused.value.code == "flags_too_many"
