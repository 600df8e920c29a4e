"""What the curator asks of a mechanism that leaves a synopsis behind.

A mechanism is made with the keywords ``workload``, ``spend``, ``size``, ``records`` and
``randomness``. The last three are the curator's: how many records there are, how many of them one
unit has, and where noise comes from all follow from the tables.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol, get_args, get_type_hints

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.source import CountSource
from discreet.noise.randomness import Source
from discreet.queries.synopses.synopsis import Synopsis
from discreet.queries.workload.workload import Workload
from discreet.relational.execute.table_counts import TableCounts

GIVEN = ("workload", "spend", "size", "records", "randomness")
"""The keywords with which the curator makes a mechanism."""
_CURATORS = ("size", "records", "randomness")


class SynopsisMaker(Protocol):
    """Reads counts once and leaves a synopsis; what that costs is known beforehand."""

    @property
    def event(self) -> Event:
        """What one release costs."""

    def release(self, counts: CountSource) -> Synopsis:
        """Read the counts it needs, with noise."""


def mechanism_from(
    make: Callable[..., Any] | None,
    workload: Workload,
    *,
    spend: Guarantee,
    source: TableCounts,
    randomness: Source,
) -> SynopsisMaker:
    """The mechanism for what ``source`` counts; nothing is counted yet."""
    values = (workload, spend, source.size, source.records, randomness)
    keywords: dict[str, Any] = dict(zip(GIVEN, values, strict=True))
    if not callable(make) or not _takes(make, keywords):
        raise _unfit(make)
    made = make(**keywords)
    if not isinstance(getattr(made, "event", None), Event) or not _leaves(made):
        raise _unfit(make)
    # A factory that forgets what it was given would be priced for other people than there are.
    if any(getattr(made, name, keywords[name]) != keywords[name] for name in _CURATORS):
        raise _unfit(make)
    mechanism: SynopsisMaker = made
    return mechanism


def expected_error(mechanism: SynopsisMaker) -> float | None:
    """The root mean squared error of a query, where it can be predicted."""
    try:
        predicted = getattr(mechanism, "rmse", None)
    except DiscreetError:
        return None
    return None if predicted is None else float(predicted)


def _takes(make: Callable[..., Any], keywords: dict[str, Any]) -> bool:
    try:
        inspect.signature(make).bind(**keywords)
    except (TypeError, ValueError):
        return False
    return True


def _complaint(make: Callable[..., Any]) -> str | None:
    """Which parameter is missing or unknown, by its name; the values do not matter."""
    whole = make if isinstance(make, partial) else partial(make)
    try:
        inspect.signature(whole.func).bind(*whole.args, **whole.keywords | dict.fromkeys(GIVEN))
    except TypeError as refusal:
        return str(refusal)
    except ValueError:
        return None
    return None


def _leaves(made: Any) -> bool:
    """Whether it releases what can be kept, as far as its annotations say; else it is tried."""
    release = getattr(made, "release", None)
    if not callable(release):
        return False
    try:
        left = get_type_hints(release).get("return")
    except (NameError, TypeError):
        return True
    kinds = get_args(left) or (left,)
    return all(hasattr(kind, "to_dict") for kind in kinds if isinstance(kind, type))


def _unfit(make: object) -> InvalidParameter:
    plain = make.func if isinstance(make, partial) else make
    name = getattr(plain, "__name__", type(plain).__name__)
    complaint = _complaint(make) if callable(make) else None
    remedy = "Pass dp.queries.MatrixMechanism, or functools.partial(dp.queries.MWEM, rounds=8)."
    if isinstance(getattr(make, "event", None), Event):
        remedy = f"Pass the class, mechanism={name}: the curator makes it for its own tables."
    return InvalidParameter(
        code="not_a_synopsis_mechanism",
        expectation="a mechanism that takes workload, spend, size, records and randomness, with "
        "everything else given, and leaves a synopsis that can be kept",
        received=name if complaint is None else f"{name}: {complaint}",
        remedy=remedy,
    )
