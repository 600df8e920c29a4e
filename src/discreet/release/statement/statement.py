"""The statement as an object: facts, and what they mean, for machines and for people.

Laid out along the pyramid of NIST SP 800-226: first the guarantee and whom it protects, then the
algorithms, their error and their bias, then what everything rests on.

Contract: it holds public facts only, and is the same for neighbouring data.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Self

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, from_json
from discreet.core.guarantee import Guarantee
from discreet.release.guarantee import (
    guarantee_from_plain,
    plain_guarantee,
    promised,
    protected,
)
from discreet.release.statement.error_stages import stages
from discreet.release.statement.meaning import Pair, pairs
from discreet.release.statement.not_covered import blind_spots, promises, trust

FORM = 1
"""Version of the JSON document."""

PRIORS = (0.01, 0.1, 0.5)
FALSE_ALARMS = 0.05


class Statement(Mapping[str, Any]):
    """The privacy statement of one release; as a mapping, the facts that were stored with it.

    Print it for people, :meth:`to_json` for machines.
    """

    def __init__(
        self,
        facts: Mapping[str, Any],
        *,
        question: str,
        guarantee: Guarantee,
        event: Event,
        confidence: float,
    ) -> None:
        """Keep a copy of the facts."""
        self._facts: dict[str, Any] = json.loads(json.dumps(dict(facts), allow_nan=False))
        self.question = question
        self.guarantee = guarantee
        self.event = event
        self.confidence = confidence

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """What is guaranteed as (epsilon, delta)."""
        return pairs(self.guarantee)

    def document(self) -> dict[str, Any]:
        """Everything as plain JSON: the facts, and what follows from them."""
        unit = self.guarantee.unit
        return {
            "form": FORM,
            "question": self.question,
            "protected": protected(unit),
            "guarantee": plain_guarantee(self.guarantee),
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
                        for stage in stages(measure, unit, self.confidence)
                    ],
                }
                for measure in self.measures()
            ],
            "promised_by_the_owner": list(promises(self._facts, self.guarantee)),
            "not_covered": list(blind_spots(self.guarantee)),
            "rests_on": list(trust()),
            "facts": self._facts,
            "event": json.loads(self.event.to_json()),
        }

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(self.document(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The statement that :meth:`to_json` wrote; what follows from the facts is derived anew."""
        try:
            plain = json.loads(text)
            form = plain["form"]
            if form == FORM:
                return cls(
                    plain["facts"],
                    question=plain["question"],
                    guarantee=guarantee_from_plain(plain["guarantee"]),
                    event=from_json(json.dumps(plain["event"])),
                    confidence=plain["confidence"],
                )
        except (TypeError, ValueError, KeyError):
            form = None
        raise InvalidParameter(
            code="not_a_statement",
            expectation=f"a statement of form {FORM}, as `to_json` wrote it",
            received=form,
            remedy="Pass the text unchanged, or upgrade discreet.",
        )

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

    def promised(self) -> str:
        """The numbers of the guarantee in words."""
        return promised(self.guarantee)

    def to_markdown(self) -> str:
        """The text with headings and lists, to be published beside the answer."""
        from discreet.release.statement.layout import markdown

        return markdown(self)

    def __getitem__(self, name: str) -> Any:
        return self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __str__(self) -> str:
        from discreet.release.statement.layout import text

        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        from discreet.release.statement.layout import html

        return html(self)

    def __eq__(self, other: object) -> bool:
        """Facts compare with any mapping, statements as a whole."""
        if isinstance(other, Statement):
            return self.to_json() == other.to_json()
        return self._facts == other if isinstance(other, Mapping) else NotImplemented

    __hash__ = None  # type: ignore[assignment]
