"""How far the game's synopsis is from the data, before anything is spent.

The query player may put at most 1/s of its weight on one group, so the data player learns what
holds for all but fewer than s groups: with probability at least 1 - beta, fewer than s queries (or
analysts) are answered with an error above alpha. Twice the sum of both players' average regret and
of the two sampling errors; losses lie in [0, 1].

Vocabulary: ``reach_x`` and ``reach_q`` are step times rounds of the data and the query player
(H_x, H_q), ``points`` all published points (M), ``draws`` all hidden query draws (J). All functions
take numbers or arrays that broadcast.

Source: analysts-verified:H4, H5. Proof: ``proofs/analysts-sampled-game.md``,
``proofs/analysts-expected-game.md``.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats

Numbers = float | Floats
"""A number, or an array of them; they broadcast."""


def query_entropy(*, queries: Numbers, s: Numbers) -> Floats:
    """Relative entropy of s signed queries from the uniform start: ln(2|Q| / s)."""
    return np.asarray(np.log(2 * _convert_to_floats(queries) / _convert_to_floats(s)))


def analyst_entropy(*, analysts: Numbers, s: Numbers, most: Numbers) -> Floats:
    """The same for one signed query of each of s analysts, who have ``most`` queries at most."""
    return np.asarray(
        np.log(_convert_to_floats(analysts) / _convert_to_floats(s))
        + np.log(2 * _convert_to_floats(most))
    )


def regret(*, entropy: Numbers, reach: Numbers, rounds: Numbers) -> Floats:
    """Average regret of a player in log-space: entropy / H + H / 8T."""
    return np.asarray(
        _convert_to_floats(entropy) / _convert_to_floats(reach)
        + _convert_to_floats(reach) / (8 * _convert_to_floats(rounds))
    )


def sampling_error(*, samples: Numbers, beta: Numbers) -> Floats:
    """What an average of draws, each from the past, exceeds with probability beta at most."""
    return np.asarray(
        np.sqrt(-np.log(_convert_to_floats(beta)) / (2 * _convert_to_floats(samples)))
    )


def sampled_alpha(
    *,
    cells: Numbers,
    entropy: Numbers,
    rounds: Numbers,
    reach_x: Numbers,
    reach_q: Numbers,
    points: Numbers,
    draws: Numbers,
    beta: Numbers,
) -> Floats:
    """A1's error, but for fewer than s groups, with probability at least 1 - beta."""
    half = _convert_to_floats(beta) / 2
    return np.asarray(
        2
        * (
            regret(entropy=np.log(_convert_to_floats(cells)), reach=reach_x, rounds=rounds)
            + regret(entropy=entropy, reach=reach_q, rounds=rounds)
            + sampling_error(samples=points, beta=half)
            + sampling_error(samples=draws, beta=half)
        )
    )


def expected_alpha(
    *,
    cells: Numbers,
    entropy: Numbers,
    rounds: Numbers,
    reach_x: Numbers,
    reach_q: Numbers,
    points: Numbers,
    beta: Numbers,
) -> Floats:
    """A2's error: no query is drawn, so only the points' sampling error is left."""
    return np.asarray(
        2
        * (
            regret(entropy=np.log(_convert_to_floats(cells)), reach=reach_x, rounds=rounds)
            + regret(entropy=entropy, reach=reach_q, rounds=rounds)
            + sampling_error(samples=points, beta=beta)
        )
    )


def _convert_to_floats(value: Numbers) -> Floats:
    return np.asarray(value, dtype=np.float64)
