"""Noise that formulas can work with: its square, and that of a variance, is a double.

A sum is shown with the half-width of its own noise, however wide. A mean, a variance or a column
computed from others squares it, and beyond 10**154 a square is no double any more: then an answer
that was paid for could not be written. So such a question is refused before it is paid for.

Source: contract, "What may be seen" (before data is opened a refusal is free).
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.relational.aggregates.measures import Linear, Ranks
from discreet.relational.plan.query import DerivedOutput, Query, is_label
from discreet.relational.planning.allocation import Noised

WIDEST = 2.0**480
"""Its square has room for what is added to it and for one factor of a million millions."""
NARROWEST = 2.0**-480


def require_squares(query: Query, parts: dict[Linear, Noised]) -> None:
    """Refuse noise too wide or too narrow for the formulas in which it is read."""
    for measure in _read_in_formulas(query):
        if measure not in parts:
            continue  # counts of discovered keys, whose noise is that of the keys
        spread = parts[measure].distribution.spread
        if not NARROWEST <= spread <= WIDEST:
            raise InvalidParameter(
                code="bounds_too_far",
                expectation="noise between 1e-144 and 1e144 in a mean, a variance or a formula",
                received=f"about {spread:.0e}",
                remedy="Bound the argument, or multiply it by a constant: "
                "AVG(least(greatest(x, -1e60), 1e60)).",
            )


def _read_in_formulas(query: Query) -> list[Linear]:
    """What is not shown as it is: measures of several, and all where columns are computed."""
    computed = any(
        isinstance(output, DerivedOutput) and not is_label(output.expression)
        for output in query.outputs
    )
    return [
        measure
        for aggregate in query.aggregates
        if computed or len(aggregate.measures) > 1
        for measure in aggregate.measures
        if not isinstance(measure, Ranks)
    ]
