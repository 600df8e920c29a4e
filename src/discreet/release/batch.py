"""The answers to several questions that were paid for together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.release.release import Release


@dataclass(frozen=True)
class Batch(Mapping[str, Release]):
    """The answers to questions that were paid for together.

    ``batch["by_ward"]`` is the best estimate: where questions are related, least squares over all
    of them. ``unprocessed`` holds the same questions with independent noise in every cell, for
    arithmetic between cells. Both come from the same noisy values.

    Guarantee: everything together keeps ``guarantee`` for each unit; it is the price of the batch,
    not of each release in it.
    """

    releases: Mapping[str, Release]
    unprocessed: Mapping[str, Release]
    guarantee: Guarantee
    event: Event

    def __getitem__(self, name: str) -> Release:
        """The answer to the question of this name."""
        if name not in self.releases:
            raise InvalidParameter(
                code="question_unknown",
                expectation=f"one of the questions {list(self.releases)}",
                received=name,
                remedy="Use the name that the question was asked under.",
            )
        return self.releases[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the questions."""
        return iter(self.releases)

    def __len__(self) -> int:
        """How many questions there were."""
        return len(self.releases)

    def __repr__(self) -> str:
        """Every answer under its name, and the price of all."""
        parts = [f"{name}\n{release!r}" for name, release in self.releases.items()]
        return "\n\n".join([*parts, f"all of it together: {self.guarantee}"])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        parts = [
            f"<h4>{escape(name)}</h4>{release._repr_html_()}"
            for name, release in self.releases.items()
        ]
        return "".join([*parts, f"<p>all of it together: {escape(str(self.guarantee))}</p>"])
