"""The facts of a statement, and what follows from them.

Laid out along the pyramid of NIST SP 800-226: first the guarantee and whom it protects, then the
algorithms, their error and their bias, then what everything rests on.

Contract: it holds public facts only, and is the same for neighbouring data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.release.guarantee import (
    guarantee_text,
    guarantee_to_dict,
    protection_text,
)
from discreet.release.statement.error_stages import stages
from discreet.release.statement.meaning import EpsilonDelta, pairs
from discreet.release.statement.not_covered import assumptions, blind_spots, trust

FORM = 1
"""Version of the JSON document."""

PRIORS = (0.01, 0.1, 0.5)
FALSE_ALARMS = 0.05


class StatementFacts(Mapping[str, Any]):
    """What the privacy statement of one release says; as a mapping, the facts stored with it."""

    def __init__(
        self,
        facts: Mapping[str, Any],
        *,
        query: str,
        guarantee: Guarantee,
        event: Event,
        confidence: float,
    ) -> None:
        """Keep a copy of the facts."""
        self._facts: dict[str, Any] = json.loads(json.dumps(dict(facts), allow_nan=False))
        self.query = query
        self.guarantee = guarantee
        self.event = event
        self.confidence = confidence

    @property
    def pairs(self) -> tuple[EpsilonDelta, ...]:
        """What is guaranteed as (epsilon, delta)."""
        return pairs(self.guarantee)

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON: the facts, and what follows from them."""
        unit = self.guarantee.unit
        return {
            "form": FORM,
            "question": self.query,
            "protected": protection_text(unit),
            "guarantee": guarantee_to_dict(self.guarantee),
            "implies": [{"epsilon": pair.epsilon, "delta": pair.delta} for pair in self.pairs],
            "meaning": {
                "power_at_false_alarms": [FALSE_ALARMS, self.power()],
                "right_guess": [[p, min(pair.guess(p) for pair in self.pairs)] for p in PRIORS],
                "posterior": [[p, self.posterior(p)] for p in PRIORS],
            },
            "confidence": self.confidence,
            "error": [
                {
                    "measure": measure.get("measure"),
                    "columns": measure.get("columns", []),
                    "stages": [
                        {"name": stage.name, "error": stage.error}
                        for stage in stages(measure, unit, self.confidence, self)
                    ],
                }
                for measure in self.measures()
            ],
            "promised_by_the_owner": list(assumptions(self._facts, self.guarantee)),
            "not_covered": list(blind_spots(self.guarantee)),
            "rests_on": list(trust(self)),
            "facts": self._facts,
            "event": json.loads(self.event.to_json()),
        }

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.document(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    def power(self) -> float:
        """The most power of a test for one person at 5 % false alarms."""
        return min((pair.power(FALSE_ALARMS) for pair in self.pairs), default=1.0)

    def posterior(self, prior: float) -> float | None:
        """The largest belief after the answer; None where a delta allows exceptions."""
        return next(
            (found for pair in self.pairs if (found := pair.posterior(prior)) is not None), None
        )

    def measures(self) -> list[Mapping[str, Any]]:
        """What noise was added to, and what was chosen."""
        found = self._facts.get("measures")
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []

    def guarantee_text(self) -> str:
        """The numbers of the guarantee in words."""
        return guarantee_text(self.guarantee)

    def __getitem__(self, name: str) -> Any:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __eq__(self, other: object) -> bool:
        """Facts compare with any mapping, statements as a whole."""
        if isinstance(other, StatementFacts):
            return self.to_json() == other.to_json()
        return self._facts == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
