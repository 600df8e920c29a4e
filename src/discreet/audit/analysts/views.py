"""What a round shows, and to whom: the joint view of everybody but one.

The attacker holds all accounts but the victim's: what everybody sees, and what each other analyst
alone is given. What the victim is given is taken away before anything looks at it.

Source: analysts-verified:H1 (joint view of all others, colluding).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from discreet.queries.analysts.correction import Corrections
from discreet.queries.analysts.game import GameSynopsis


@dataclass(frozen=True, eq=False)
class RoundView:
    """Everything a round shows: to all, and to each analyst alone, in the public order."""

    shared: Any = None
    own: tuple[Any, ...] = ()


@dataclass(frozen=True, eq=False)
class JointView:
    """What all analysts but one see together."""

    shared: Any
    others: tuple[Any, ...]


Watch: TypeAlias = Callable[[JointView], Hashable]
"""An attacker's statistic: the joint view, sorted into not too many classes."""


def joint_view(shown: RoundView, victim: int) -> JointView:
    """The view of all analysts but ``victim``."""
    return JointView(shown.shared, shown.own[:victim] + shown.own[victim + 1 :])


def points_in(cells: Sequence[int], *, since: int = 0) -> Watch:
    """How many published points, from the one numbered ``since`` on, lie in some cells.

    The cells of the changed query draw, or repel, the data player; later rounds know more.
    """
    support = np.asarray(cells, dtype=np.int64)

    def watch(view: JointView) -> int:
        game: GameSynopsis = view.shared
        return int(np.isin(game.points[since:], support).sum())

    return watch


def corrections_seen(view: JointView) -> Hashable:
    """Which answers of the others were corrected, and whose streams have ended."""
    streams: tuple[Corrections, ...] = view.others
    return tuple((tuple(each.corrected.tolist()), each.exhausted) for each in streams)


def answers_within(width: float) -> Watch:
    """The others' answers, each rounded to steps of ``width``."""

    def watch(view: JointView) -> Hashable:
        answers = np.concatenate([np.atleast_1d(each) for each in view.others])
        return tuple(np.floor(answers / width).astype(np.int64).tolist())

    return watch
