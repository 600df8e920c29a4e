"""The event of tuning by random stopping: the best of a random number of runs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, require_event
from discreet.core.parameters import Number, finite, positive, probability

if TYPE_CHECKING:
    from discreet.core.unit import Relation


@dataclass(frozen=True, kw_only=True)
class TruncatedNegativeBinomial:
    """The number of runs K >= 1 with P(k+1)/P(k) = (1-gamma) (k+eta) / (k+1).

    eta = 0 is the logarithmic law, eta = 1 the geometric one. A larger eta keeps K nearer its
    mean and costs more; a smaller gamma means more runs.
    """

    eta: Number
    gamma: Number

    def __post_init__(self) -> None:
        """Refuse eta <= -1 and gamma outside (0, 1)."""
        object.__setattr__(self, "gamma", probability("gamma", self.gamma))
        object.__setattr__(self, "eta", finite("eta", self.eta))
        if self.eta <= -1:
            raise InvalidParameter(
                code="eta_out_of_range",
                expectation="eta above minus one",
                received=self.eta,
                remedy="Use 0 for the logarithmic law or 1 for the geometric one.",
            )


@dataclass(frozen=True, kw_only=True)
class PoissonRuns:
    """A Poisson number of runs. With none, the answer is a default chosen without the data."""

    mean: Number

    def __post_init__(self) -> None:
        """Refuse means that are not positive."""
        object.__setattr__(self, "mean", positive("mean", self.mean))


StoppingLaw: TypeAlias = TruncatedNegativeBinomial | PoissonRuns

_LAWS: dict[str, type[StoppingLaw]] = {
    "TruncatedNegativeBinomial": TruncatedNegativeBinomial,
    "PoissonRuns": PoissonRuns,
}
_NAMES: dict[type, str] = {law: name for name, law in _LAWS.items()}


@dataclass(frozen=True, repr=False)
class Tuned(Event):
    """``event`` run K times, K drawn from ``law``; only the best run is released.

    Contract: K is drawn from ``law`` without the data and runs are not stopped early; each run
    draws its configuration at random by itself, all from the same public choice; the score that
    ranks the runs is part of a run's output and so paid for by ``event``; nothing of the other
    runs is released, K included. A fixed number of runs is a composition, not this event.
    """

    kind: ClassVar[str] = "Tuned"

    event: Event
    law: StoppingLaw

    def __post_init__(self) -> None:
        """Refuse laws of the number of runs that no theorem covers, fixed numbers included."""
        require_event(self.event)
        object.__setattr__(self, "law", _law(self.law))

    def relation(self) -> Relation | None:
        """That of a run."""
        return self.event.relation()

    def _arguments(self) -> dict[str, Any]:
        # A law is written as its name and its parameters, in the order of its fields.
        parameters = (getattr(self.law, item.name) for item in fields(self.law))
        return {"event": self.event, "law": (_NAMES[type(self.law)], *parameters)}

    def __repr__(self) -> str:
        """As it was written."""
        return f"Tuned(event={self.event!r}, law={self.law!r})"


def _law(law: object) -> StoppingLaw:
    """``law`` itself, or the one that a stored event names."""
    if isinstance(law, (TruncatedNegativeBinomial, PoissonRuns)):
        return law
    name, *values = law if isinstance(law, tuple) and law else (None,)
    kind = _LAWS.get(name) if isinstance(name, str) else None
    if kind is None or len(values) != len(fields(kind)):
        raise InvalidParameter(
            code="not_a_stopping_law",
            expectation="TruncatedNegativeBinomial or PoissonRuns",
            received=type(law).__name__,
            remedy="Draw the number of runs at random; a fixed number k costs event * k.",
        )
    return kind(**{item.name: value for item, value in zip(fields(kind), values, strict=True)})
