"""What a stream tells: of which keys, listed or found, and which numbers of each.

All of it is agreed on before the first event, stands in the ledger, and decides the price together
with the unit: how many numbers are counted, how far an event moves them, and what names cost.

Source: contract, "Columns" (public and discovered keys), "Spending" (streams).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import exact
from discreet.mechanisms.key_selection.optimal import OptimalSelection
from discreet.noise.randomness import Source
from discreet.streams.contribution import ONE_COUNT, EventContribution
from discreet.streams.live.events import EVERY
from discreet.streams.live.found_keys import FoundKeys, KeysByName
from discreet.streams.live.intake import Keys
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.rules import CountAs, EventRules
from discreet.streams.live.series import (
    LiveStatistic,
    require_statistic,
    statistic_from_dict,
    statistic_to_dict,
)
from discreet.streams.live.ticks import Ticks
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.sources.source import EventSource
from discreet.streams.units import StreamUnit


@dataclass(frozen=True)
class FoundBy:
    """Keys that are found, and the rule that names them, which is paid for."""

    keys: FoundKeys
    rule: OptimalSelection


@dataclass(frozen=True)
class StreamContent:
    """Names of the list, or how they are found; and a statistic, None where events are counted."""

    names: tuple[str, ...] | FoundBy
    statistic: LiveStatistic | None

    @property
    def columns(self) -> int:
        """How many numbers are counted side by side."""
        names = self.names
        each = 1 if self.statistic is None else self.statistic.keys
        return (names.keys.most if isinstance(names, FoundBy) else len(names)) * each

    @property
    def contribution(self) -> EventContribution:
        """How far one event moves them."""
        return ONE_COUNT if self.statistic is None else self.statistic.contribution

    def keys(self, rules: EventRules, ticks: Ticks) -> Keys:
        """Where events are counted."""
        if isinstance(self.names, FoundBy):
            return KeysByName(self.names.keys, self.names.rule, ticks.count - 1)
        return KeysByList(self.names, rules.unlisted, self.statistic)

    def to_dict(self) -> dict[str, Any]:
        """For the ledger, under names that never change."""
        names = self.names
        kept: dict[str, Any] = {"keys": None if isinstance(names, FoundBy) else list(names)}
        if isinstance(names, FoundBy):
            kept["found"] = {
                **names.keys.to_dict(),
                "epsilon": str(exact(names.rule.epsilon)),
                "delta": str(exact(names.rule.delta)),
                "groups": names.rule.groups,
            }
        if self.statistic is not None:
            kept["statistic"] = statistic_to_dict(self.statistic)
        return kept

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any], randomness: Source) -> StreamContent:
        """As the ledger has it, with the rule that was paid for."""
        statistic = statistic_from_dict(kept.get("statistic"))
        if "found" not in kept:
            return cls(tuple(kept["keys"]), statistic)
        found = dict(kept["found"])
        epsilon, delta = Fraction(found.pop("epsilon")), Fraction(found.pop("delta"))
        groups = int(found.pop("groups"))
        keys = FoundKeys.from_dict(found)
        rule = OptimalSelection(
            epsilon=epsilon,
            delta=delta,
            groups=groups,
            min_people=keys.min_people,
            randomness=randomness,
        )
        return cls(FoundBy(keys, rule), statistic)


def told_by(
    source: EventSource,
    keys: Sequence[object] | FoundKeys | None,
    statistic: object,
    *,
    unit: StreamUnit,
    spend: Guarantee,
    rules: EventRules,
    randomness: Source,
) -> StreamContent:
    """What a stream is to tell; refused before it costs where the parts do not fit."""
    known = require_statistic(statistic)
    if (known is None) != (source.fields.value is None):
        raise InvalidParameter(
            code="stream_field",
            expectation="EventFields(value=...) and statistic= together",
            remedy="Name the field that holds the number, or leave both out to count events.",
        )
    if known is not None and isinstance(source, CountedBatches):
        raise InvalidParameter(
            code="stream_batches_counts",
            expectation="counts, and no statistic, of batches that an engine counts",
            remedy="Leave statistic= out; or read the events from Kafka, Redis or files.",
        )
    if not isinstance(keys, FoundKeys):
        return StreamContent(_list_key_texts(source, keys), known)
    unfit = {
        "key": source.fields.key is None,
        "statistic": known is not None,
        "unlisted": isinstance(rules.unlisted, CountAs),
        "batches": isinstance(source, CountedBatches),
    }
    if any(unfit.values()):
        raise InvalidParameter(
            code="stream_found_keys",
            expectation="counts of events with a key, for keys that nobody listed; without a "
            "statistic, without a key for all others, and not of batches",
            received=[name for name, wrong in unfit.items() if wrong],
            remedy='Write EventFields(key="...") and leave the others out; or list the keys.',
        )
    return StreamContent(FoundBy(keys, keys.rule(spend, unit, randomness)), None)


def _list_key_texts(source: EventSource, keys: Sequence[object] | None) -> tuple[str, ...]:
    """The keys as texts, as events have them."""
    if source.fields.key is None:
        if keys is not None:
            raise InvalidParameter(
                code="stream_keys",
                expectation="keys= together with EventFields(key=...)",
                remedy="Name the field that holds the key, or leave keys= out.",
            )
        return (EVERY,)
    if keys is None or isinstance(keys, str):
        raise InvalidParameter(
            code="stream_keys_undeclared",
            expectation="a public list of keys: which of them appear, and when, tells of people",
            received=type(keys).__name__,
            remedy='Write keys=["A", "B"]; others can be counted together: '
            'EventRules(unlisted=CountAs("other")). Or let keys be found, for a delta: '
            "keys=FoundKeys(most=100, every=24).",
        )
    return tuple(str(key) for key in keys)
