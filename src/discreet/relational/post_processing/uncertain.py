"""Numbers computed from released ones, in whatever way: a value, and an interval that follows.

Sums, differences, multiples and quotients of released numbers are :class:`Estimate`,
:class:`Ratio` and :class:`Contrast`, as in Python. What else is computed from them is
:class:`Derived`. Its interval is

- the image of the interval of its source, where it has one source only;
- to first order, where it is smooth and every source it bends lies far from zero, compared with
  its noise: the noises of all sources, each times a slope, have a law that is computed;
- else interval arithmetic, over intervals of the sources that all hold at once. It always holds.

Source: modern-data:C2; contract, "What may be seen".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import TypeAlias

from discreet.relational.functions.function import Function
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Column, Expression, Literal
from discreet.release.draws import ANYWHERE, CONFIDENCE, Range, Released, cut_interval_to_range
from discreet.release.estimate import FAR, Contrast, Estimate, Ratio, is_far, width_of


@dataclass(frozen=True, eq=False)
class Stated:
    """A released number with an interval but no formula, such as a quantile.

    ``ends`` gives the interval at a confidence. ``noise`` has the noise to first order, where that
    is close, as it is for a standard deviation of many values.
    """

    value: Released
    ends: Callable[[float], Range]
    noise: Estimate | None = None

    @property
    def within(self) -> Range:
        """Where the truth lies for public reasons: nothing is known of it here."""
        return ANYWHERE

    def interval(self, *, confidence: float = CONFIDENCE) -> Range:
        """As the release states it."""
        return self.ends(confidence)


Source: TypeAlias = Estimate | Ratio | Contrast | Stated


@dataclass(frozen=True)
class Slope:
    """How much a number moves with one of its sources; ``bent`` where that differs by place."""

    value: float
    bent: bool


@dataclass(frozen=True, eq=False)
class Derived:
    """A function of released numbers.

    Contract: ``image`` gives an interval that holds the function's value wherever the sources lie
    in theirs. ``slopes`` are its derivatives at the released values, or None where it has none.
    """

    value: Released
    sources: tuple[Source, ...]
    image: Callable[[tuple[Range, ...]], Range]
    slopes: tuple[Slope, ...] | None = None

    def interval(self, *, confidence: float = CONFIDENCE) -> Range:
        """The interval, in the first way that holds."""
        if len(self.sources) < 2:  # none where a choice among constants depends on noise
            return self.image(tuple(each.interval(confidence=confidence) for each in self.sources))
        noise = self._first_order(confidence)
        if noise is not None:
            width = width_of(noise, confidence)
            within = self.image(tuple(source.within for source in self.sources))
            return cut_interval_to_range((self.value - width, self.value + width), within)
        each = 1 - (1 - confidence) / len(self.sources)
        return self.image(tuple(source.interval(confidence=each) for source in self.sources))

    def _first_order(self, confidence: float) -> Estimate | None:
        """An estimate with the noise that the number has to first order, where that is close."""
        if self.slopes is None:
            return None
        total = Estimate(0)
        for source, slope in zip(self.sources, self.slopes, strict=True):
            noise = linearised(source, confidence)
            if noise is None or (slope.bent and not _far(source, noise, confidence)):
                return None
            total = total + noise * slope.value
        return total


Uncertain: TypeAlias = Source | Derived
Exact: TypeAlias = bool | int | float | str | date | datetime | None
Value: TypeAlias = Uncertain | Exact
"""A public value, or a number with its noise; None is NULL."""


def is_uncertain(value: object) -> bool:
    """Whether a value has noise."""
    return isinstance(value, Estimate | Ratio | Contrast | Stated | Derived)


def point(value: Value) -> Exact:
    """The released value itself; NULL where a quotient has none."""
    if not isinstance(value, Estimate | Ratio | Contrast | Stated | Derived):
        return value
    plain = value.value
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def linearised(source: Source, confidence: float) -> Estimate | None:
    """An estimate with the noise of a source, to first order; None where that is not close."""
    match source:
        case Estimate():
            return source
        case Ratio():
            return Contrast.of(source).first_order(confidence)
        case Contrast():
            return source.first_order(confidence)
        case Stated():
            return source.noise


def _far(source: Source, noise: Estimate, confidence: float) -> bool:
    if isinstance(source, Estimate):
        return is_far(source, confidence)
    return abs(source.value) >= FAR * width_of(noise, confidence) > 0


def derived(
    value: object,
    arguments: tuple[Value, ...],
    image: Callable[[tuple[Value | Range, ...]], Range],
    slopes: tuple[Slope, ...] | None,
) -> Value:
    """A number computed from ``arguments``, some of which have noise.

    ``image`` takes the arguments with a range in the place of each that has noise; ``slopes`` has
    one entry for each of these.
    """
    if value is None or isinstance(value, bool) or not isinstance(value, int | float):
        return value  # type: ignore[return-value]
    places: dict[Source, int] = {}
    for argument in arguments:
        for source in _sources(argument):
            places.setdefault(source, len(places))
    read = [[places[source] for source in _sources(argument)] for argument in arguments]
    return Derived(
        value,
        tuple(places),
        partial(_through, read, arguments, image),
        _chained(len(places), read, arguments, slopes),
    )


def _sources(argument: Value) -> tuple[Source, ...]:
    if isinstance(argument, Derived):
        return argument.sources
    return (argument,) if is_uncertain(argument) else ()  # type: ignore[return-value]


def _through(
    read: Sequence[Sequence[int]],
    arguments: tuple[Value, ...],
    image: Callable[[tuple[Value | Range, ...]], Range],
    ranges: tuple[Range, ...],
) -> Range:
    """The image of ranges of the sources, by way of the arguments, each of which reads some."""
    seen: list[Value | Range] = []
    for argument, places in zip(arguments, read, strict=True):
        own = tuple(ranges[place] for place in places)
        if not own:
            seen.append(argument)
        else:
            seen.append(argument.image(own) if isinstance(argument, Derived) else own[0])
    return image(tuple(seen))


def _chained(
    sources: int,
    read: Sequence[Sequence[int]],
    arguments: tuple[Value, ...],
    slopes: tuple[Slope, ...] | None,
) -> tuple[Slope, ...] | None:
    """The slopes with respect to the sources, by the chain rule."""
    if slopes is None:
        return None
    found = [Slope(0.0, bent=False)] * sources
    noisy = [each for each in zip(arguments, read, strict=True) if is_uncertain(each[0])]
    for (argument, places), outer in zip(noisy, slopes, strict=True):
        inner = argument.slopes if isinstance(argument, Derived) else (Slope(1.0, bent=False),)
        if inner is None:
            return None
        for place, slope in zip(places, inner, strict=True):
            before = found[place]
            bent = before.bent or slope.bent or outer.bent
            found[place] = Slope(before.value + outer.value * slope.value, bent)
    if not all(math.isfinite(slope.value) for slope in found):
        return None
    return tuple(found)


def image_of(function: Function, arguments: tuple[Value | Range, ...]) -> Range:
    """Where the values of a function lie, by what it is known to give for such arguments."""
    known: list[Expression] = []
    for argument in arguments:
        if isinstance(argument, tuple):
            low, high = (end if math.isfinite(end) else None for end in argument)
            domain = ColumnDomain(DataType.DOUBLE, low, high, declared=True)
            known.append(Column(f"a{len(known)}", domain))
        else:
            known.append(Literal(argument))
    domain = Call(function, tuple(known)).domain
    return ends_of(domain)


def ends_of(domain: ColumnDomain) -> Range:
    """The bounds of a number; infinite where there are none."""
    low, high = domain.low, domain.high
    return (
        -math.inf if low is None else float(low),
        math.inf if high is None else float(high),
    )
