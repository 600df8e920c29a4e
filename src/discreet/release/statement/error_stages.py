"""How wrong an answer may be, stage by stage, from public quantities alone.

Bounding and clamping change an answer by how much the data exceeds the bounds, which is private:
so their error is stated as unknown, with what decides it; that of bounding as far as a report of
what limits left out was bought. The grid and the noise are public laws.

Source: 004d:D6, D8; contract, "What may be seen".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.mechanisms.distributions.distribution import distribution_from_dict
from discreet.release.active_limits import LimitKind, left_out_text, limit_text
from discreet.release.format import percent
from discreet.release.guarantee import protection_text

UNKNOWN = "unknown without paying for it"


@dataclass(frozen=True)
class Stage:
    """One stage on the way from the data to the answer."""

    name: str
    error: str


def stages(
    measure: Mapping[str, Any], unit: PrivacyUnit | None, level: float, facts: Mapping[str, Any]
) -> tuple[Stage, ...]:
    """The stages of one measure, in the order in which they act.

    ``facts`` say which limits can act, and how much of whom counts where the unit does not say it.
    """
    return (
        Stage("bounding", _bounding(unit, facts)),
        *(Stage("clamping", text) for text in _clamping(measure)),
        *(Stage("grid", text) for text in _grid(measure)),
        Stage("noise", _noise(measure, level)),
    )


def _bounding(unit: PrivacyUnit | None, facts: Mapping[str, Any]) -> str:
    person = None if unit is None else add_remove(unit)
    active = facts.get("active_limits")
    if active is not None:
        acting = [limit_text(fact) for fact in active if fact["limit"] != LimitKind.VALUES]
        bought = facts.get("left_out")
        if bought:
            return f"{left_out_text(bought)}, which was paid for; {'; '.join(acting)}"
        if acting:
            return f"{UNKNOWN}: {'; '.join(acting)}; none if none has"
        if isinstance(person, Person):
            return "none: no limit can act, as the owner declared"
    if not isinstance(person, Person):
        return "none: one row each, as the owner declared"
    whom = facts.get("limits") or protection_text(person)
    return f"{UNKNOWN}: what {whom} has beyond that does not count; none if none has"


def _clamping(measure: Mapping[str, Any]) -> list[str]:
    bounds = measure.get("bounds")
    if not bounds:
        return []
    low, high = bounds
    inside = f"[{_format_bound(low)}, {_format_bound(high)}]"
    return [f"{UNKNOWN}: values outside {inside} count as the nearest; none if none are"]


def _grid(measure: Mapping[str, Any]) -> list[str]:
    if "grid" in measure:
        return [str(measure["grid"])]
    if "candidates" in measure:
        return [f"values count as the nearest of {measure['candidates']:,} candidates"]
    step = measure.get("noise", {}).get("step")
    if step is None or measure.get("whole", "bounds" not in measure):
        return ["none: whole numbers"]
    return [f"at most {step / 2:.3g} for each row"]


def _noise(measure: Mapping[str, Any], level: float) -> str:
    if "error" in measure:
        return str(measure["error"])
    if "noise" not in measure:
        return "see the note of the column: an error in ranks, not in values"
    distribution = distribution_from_dict(measure["noise"])
    width = distribution.half_width(level)
    return f"± {width:.4g} in each cell with {percent(level)} confidence, no bias"


def _format_bound(bound: object) -> str:
    return f"{bound:g}" if isinstance(bound, int | float) else str(bound)
