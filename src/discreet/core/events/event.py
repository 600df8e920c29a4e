"""Events: frozen, versioned accounts of what a release did, and their algebra.

Both the noise of a mechanism and its privacy claim are derived from its event, so they cannot
disagree. An event says nothing about data; prices come from :mod:`discreet.accounting` through
the registry in :mod:`discreet.core.pricing`.

``a + b`` and ``a * k`` compose events *fixed in advance*: the questions asked may depend on
earlier answers, the events may not. Adaptive choice of events belongs behind a filter.

Events are values. They compare by content, round-trip through JSON, and name the version of
their meaning: a version, once published, never changes what it means.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from discreet.core import pricing
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.events.versioned import Versioned, rebuild_versioned_value
from discreet.core.parameters import Number, count, finite
from discreet.core.unit import Relation

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from discreet.core.guarantee import ZCDP, GaussianDP


@dataclass(frozen=True, repr=False)
class Event(Versioned, abstract=True):
    """Base of all events. Subclass with frozen fields to add a kind.

    A subclass outside discreet sets ``kind`` to a name of its own (``"acme.Staircase"``) and
    registers at least one price; without a price it can be stored but not spent.
    """

    kind: ClassVar[str] = "Event"

    def __add__(self, other: Event) -> Event:
        """Both happen, on the same data."""
        if not isinstance(other, Event):
            return NotImplemented
        return compose((self, other))

    def __radd__(self, other: object) -> Event:
        """Let ``sum`` add up events, which starts from zero."""
        return self if other == 0 else NotImplemented

    def __mul__(self, times: int) -> Event:
        """The event happens ``times`` times, with fresh randomness."""
        times = count("times", times, least=0)
        if times == 0 or isinstance(self, Nothing):
            return Nothing()
        return self if times == 1 else Repeated(self, times)

    __rmul__ = __mul__

    def subsample(
        self,
        *,
        rate: float | Fraction | None = None,
        size: int | None = None,
        of: int | None = None,
    ) -> Event:
        """The event happens on a random sample.

        ``rate``: each unit joins independently (Poisson), for add/remove neighbours.
        ``size`` and ``of``: a uniformly random subset of ``size`` out of a public number ``of``,
        for replaced neighbours.
        """
        if rate is not None and size is None and of is None:
            return self if finite("rate", rate) == 1 else PoissonSampled(self, rate)
        if rate is None and size is not None and of is not None:
            return FixedSizeSampled(self, size, of)
        raise InvalidParameter(
            code="sampler_unclear",
            expectation="either rate=, or size= and of=",
            remedy="Use rate= for Poisson sampling, size= and of= for samples of fixed size.",
        )

    def relation(self) -> Relation | None:
        """The neighbouring relation that the event's price is about; None if any will do.

        Events about different relations do not compose.
        """
        return None

    def epsilon(self, *, delta: Number) -> float:
        """The least epsilon known to hold at ``delta``: a certified upper bound.

        A float is read as it is written, as in a spend, so that keys that were bought for a delta
        of 1e-6 have an epsilon at it. Infinite where none holds, as for Gaussian noise at delta
        zero. What needs a number refuses such a delta instead: filters, calibration, mechanisms.
        """
        return pricing.epsilon(self, pricing.delta_as_written(delta))

    def delta(self, *, epsilon: Number) -> float:
        """The least delta known to hold at ``epsilon``: a certified upper bound.

        A float is read as it is written, as in :meth:`epsilon`.
        """
        return pricing.delta(self, pricing.epsilon_as_written(epsilon))

    def epsilon_bounds(self, *, delta: Number) -> tuple[float, float]:
        """Certified lower and upper values of epsilon at ``delta``."""
        bounds: tuple[float, float] = pricing.report("epsilon_bounds", self, delta)
        return bounds

    def rdp(self, *, orders: Sequence[float]) -> NDArray[np.float64]:
        """Upper bounds of the Rényi divergence at each order."""
        curve: NDArray[np.float64] = pricing.report("rdp", self, orders)
        return curve

    def zcdp(self) -> ZCDP:
        """The concentrated guarantee, rho rounded up."""
        guarantee: ZCDP = pricing.report("zcdp", self)
        return guarantee

    def gdp(self) -> GaussianDP:
        """A certified Gaussian guarantee, or a refusal; never the central-limit value."""
        guarantee: GaussianDP = pricing.report("gdp", self)
        return guarantee

    def pld(self) -> Any:
        """The privacy loss distribution: pairs that dominate the event, ready to be composed."""
        return pricing.report("pld", self)

    def tradeoff(self) -> Any:
        """The curve of type II against type I errors that no test can get below."""
        return pricing.report("tradeoff", self)

    def with_accountant(self, accountant: pricing.Certifies) -> pricing.Priced:
        """The event as one accountant sees it, instead of the tightest of all."""
        return pricing.Priced(self, accountant)


@dataclass(frozen=True, repr=False)
class Nothing(Event):
    """No data was touched; the price is zero under every accountant."""

    kind: ClassVar[str] = "Nothing"


@dataclass(frozen=True, repr=False)
class Composed(Event):
    """Several events on the same data. Build with ``+``."""

    kind: ClassVar[str] = "Composed"

    parts: tuple[Event, ...]

    def __post_init__(self) -> None:
        """Accept any sequence of events about one relation, and nothing else."""
        object.__setattr__(self, "parts", tuple(require_event(part) for part in self.parts))
        self.relation()

    def relation(self) -> Relation | None:
        """That of the parts."""
        return common_relation(self.parts)


@dataclass(frozen=True, repr=False)
class Repeated(Event):
    """One event several times over, each with fresh randomness. Build with ``*``."""

    kind: ClassVar[str] = "Repeated"

    event: Event
    times: int

    def __post_init__(self) -> None:
        """Refuse numbers of times that are not whole."""
        require_event(self.event)
        object.__setattr__(self, "times", count("times", self.times))

    def relation(self) -> Relation | None:
        """That of the event repeated."""
        return self.event.relation()


@dataclass(frozen=True, repr=False)
class PoissonSampled(Event):
    """An event run on a sample that each unit joins independently with probability ``rate``."""

    kind: ClassVar[str] = "PoissonSampled"

    event: Event
    rate: float | Fraction

    def __post_init__(self) -> None:
        """Refuse rates outside (0, 1]."""
        require_event(self.event)
        rate = finite("rate", self.rate)
        if not 0 < rate <= 1:
            raise InvalidParameter(
                code="rate_out_of_range",
                expectation="a sampling rate in (0, 1]",
                received=rate,
                remedy="Pass the probability with which each unit joins the sample.",
            )
        object.__setattr__(self, "rate", rate)
        self.relation()

    def relation(self) -> Relation | None:
        """Sampling units independently earns amplification under add/remove only."""
        return require_relation(self.event, Relation.ADD_REMOVE)


@dataclass(frozen=True, repr=False)
class FixedSizeSampled(Event):
    """An event run on a uniformly random subset of ``size`` units out of ``of``, a public number.

    The inner event is meant for *replaced* units: clipping at C means a sensitivity of 2 C.
    """

    kind: ClassVar[str] = "FixedSizeSampled"

    event: Event
    size: int
    of: int

    def __post_init__(self) -> None:
        """Refuse samples larger than what they are drawn from."""
        require_event(self.event)
        for name in ("size", "of"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.size > self.of:
            raise InvalidParameter(
                code="sample_too_large",
                expectation="a sample no larger than what it is drawn from",
                received=(self.size, self.of),
                remedy="Reduce the sample size.",
            )
        self.relation()

    def relation(self) -> Relation | None:
        """A fixed size makes sense only where the number of units is public."""
        return require_relation(self.event, Relation.REPLACE)


def common_relation(events: tuple[Event, ...]) -> Relation | None:
    """The one relation all events are about; mixing two is refused."""
    relations = {relation for event in events if (relation := event.relation()) is not None}
    if len(relations) > 1:
        raise Mismatch(
            code="relation_mismatch",
            expectation="events about one neighbouring relation",
            received=sorted(relation.value for relation in relations),
            remedy="Use Poisson sampling throughout, or samples of fixed size throughout.",
        )
    return relations.pop() if relations else None


def require_relation(event: Event, wanted: Relation) -> Relation:
    """``wanted``, unless the event inside is about another relation."""
    inside = event.relation()
    if inside is not None and inside is not wanted:
        raise Mismatch(
            code="relation_mismatch",
            expectation=f"an inner event for {wanted.value} neighbours",
            received=inside.value,
            remedy="A sampler must match the neighbouring relation of what it samples for.",
        )
    return wanted


def require_event(value: object) -> Event:
    """Return ``value`` if it is an event."""
    if not isinstance(value, Event):
        raise InvalidParameter(
            code="not_an_event",
            expectation="an event",
            received=type(value).__name__,
            remedy="Pass the `event` of a mechanism, or a kind from discreet.events.",
        )
    return value


def compose(events: tuple[Event, ...]) -> Event:
    """All of ``events`` together, flattened; nothing composes to :class:`Nothing`."""
    flat: list[Event] = []
    for event in events:
        flat.extend(event.parts if isinstance(event, Composed) else (event,))
    flat = [event for event in flat if not isinstance(event, Nothing)]
    if not flat:
        return Nothing()
    return flat[0] if len(flat) == 1 else Composed(tuple(flat))


def from_json(text: str) -> Event:
    """Rebuild the event that :meth:`Event.to_json` wrote; refuse unknown kinds and versions."""
    return require_event(rebuild_versioned_value(text))
