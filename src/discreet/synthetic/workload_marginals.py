"""The marginals that a workload asks for, and the candidates that could be measured for it.

Source: modern-data:A1 (weights and downward closure).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from discreet.core.errors import InvalidParameter
from discreet.queries.workload.workload import Workload
from discreet.synthetic.adaptive_spend import HEAVIEST
from discreet.synthetic.graphical.junction_tree import Places

_TARGET = 4
"""How many times as much a marginal with the target counts."""


def workload_marginals(workload: Workload, target: str | None) -> dict[Places, float]:
    """The sets of attributes that queries look at, each with its weight; those with the target.

    A range or a prefix query looks at the marginal of its attributes.
    """
    found: dict[Places, float] = {}
    for product in workload.products:
        found[product.kept_places] = found.get(product.kept_places, 0.0) + product.weight
    found.pop((), None)
    if target is not None:
        place = workload.universe.place(target)
        found = {places: weight for places, weight in found.items() if place in places}
        if not found:
            raise InvalidParameter(
                code="target_not_asked",
                expectation=f"a workload with marginals of the target {target!r}",
                received=target,
                remedy="Use Workload.marginals(universe, 3), or leave the target out.",
            )
    return found


def candidates(
    asked: Mapping[Places, float], least: int = 1, *, target: int | None = None
) -> dict[Places, int]:
    """All sets of at least ``least`` attributes within an asked one; weights up to 64.

    A set's weight is the sum over asked sets of their weight times what they share with it, and
    four times that with the ``target``. The others stay: columns that tell the target only together
    have to be measured together.
    """
    closed = {
        part
        for places in asked
        for ways in range(least, len(places) + 1)
        for part in combinations(places, ways)
    }
    shared = dict.fromkeys(sorted(closed, key=lambda part: (len(part), part)), 0.0)
    # What an asked set shares with a candidate is counted attribute by attribute.
    each: dict[int, float] = {}
    for places, weight in asked.items():
        for place in places:
            each[place] = each.get(place, 0.0) + weight
    for part in shared:
        shared[part] = sum(each[place] for place in part) * (_TARGET if target in part else 1)
    most = max(shared.values(), default=1.0)
    return {part: max(1, round(HEAVIEST * weight / most)) for part, weight in shared.items()}


def require_workload(workload: object) -> None:
    """Refuse what is no workload."""
    if not isinstance(workload, Workload):
        raise InvalidParameter(
            code="not_a_workload",
            expectation="a workload over a universe",
            received=type(workload).__name__,
            remedy="Write dp.queries.Workload.marginals(universe, 2).",
        )
