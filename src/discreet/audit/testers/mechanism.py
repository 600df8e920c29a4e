"""A mechanism with finitely many inputs and outcomes, as a table of laws.

Source: Dwork and Roth, Definitions 2.1-2.2 and Proposition 2.1 (000a:A4, A6).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from discreet.audit.testers.finite import Table, min_delta, min_epsilon, table
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number

Pairs: TypeAlias = Iterable[tuple[Any, Any]]


@dataclass(frozen=True)
class FiniteMechanism:
    """Maps each input to the law of its outcome.

    Contract: every law sums to one. Probabilities may be floats or, for exact work, Fractions.

    >>> coin = FiniteMechanism({0: {"no": 0.75, "yes": 0.25}, 1: {"no": 0.25, "yes": 0.75}})
    >>> round(coin.epsilon([(0, 1)]), 6)
    1.098612
    """

    laws: Mapping[Any, Table]

    def __post_init__(self) -> None:
        """Refuse a table whose rows are not laws."""
        for law in self.laws.values():
            table(law)

    @classmethod
    def from_matrix(cls, matrix: Sequence[Sequence[Number]]) -> Self:
        """Rows are inputs, columns are outcomes, entries are probabilities."""
        return cls({i: dict(enumerate(row)) for i, row in enumerate(matrix)})

    def epsilon(self, neighbours: Pairs) -> float:
        """The least epsilon at delta zero over the given pairs of inputs."""
        return max(min_epsilon(self.laws[x], self.laws[y]) for x, y in neighbours)

    def delta(self, neighbours: Pairs, *, epsilon: Number) -> float:
        """The least delta at ``epsilon`` over the given pairs of inputs."""
        pairs = list(neighbours)
        return max(min_delta(self.laws[x], self.laws[y], epsilon=epsilon) for x, y in pairs)

    def then(self, channel: FiniteMechanism) -> FiniteMechanism:
        """Post-process: feed the outcome to ``channel``, a stochastic matrix on outcomes.

        Guarantee: neither epsilon nor delta of any pair of inputs can rise.
        """
        return FiniteMechanism({x: _push(law, channel) for x, law in self.laws.items()})


def _push(law: Table, channel: FiniteMechanism) -> Table:
    image: dict[Hashable, Number] = {}
    for outcome, weight in law.items():
        if weight == 0:
            continue
        if outcome not in channel.laws:
            raise InvalidParameter(
                code="channel_lacks_outcome",
                expectation="the channel to have a row for every possible outcome",
                received=outcome,
                remedy="Add a row to the channel.",
            )
        for result, share in channel.laws[outcome].items():
            image[result] = image.get(result, 0) + weight * share
    return image
