"""Two independent answers to one question, made into a better one.

Weighted by the inverse of their variances, two unbiased numbers give the unbiased number of least
variance among their weighted means. The laws stay known, so its interval is exact too.

Source: contract, "Spending": a larger spend draws afresh and combines with the stored release.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import exact
from discreet.release.column import ReleasedColumn
from discreet.release.draws import Range
from discreet.release.estimate import Estimate
from discreet.release.formula import GivenValues, LinearFormula, QuotientFormula
from discreet.release.released_table import ReleasedTable
from discreet.release.take import take

_RULE = "bounding"
"""Where a statement names the rule by which rows beyond a person's limits count."""

Table = TypeVar("Table", bound=ReleasedTable)


def combine(first: Estimate, second: Estimate) -> Estimate:
    """One estimate of the quantity that both estimate, with less noise than either.

    Contract: both are of the same truth, and no draw of noise is in both.
    """
    shared = {atom for atom, _, _ in first.terms} & {atom for atom, _, _ in second.terms}
    if shared:
        raise InvalidParameter(
            code="estimates_not_independent",
            expectation="two estimates that share no draw of noise",
            received=sorted({atom.measure for atom in shared}),
            remedy="Combine the separate answers, each of them once.",
        )
    weight = _weight(first.std**2, second.std**2)
    mean = first * weight + second * (1 - weight)
    return Estimate(mean.value, mean.terms, _both(first.within, second.within))


def combine_columns(
    first: ReleasedColumn, second: ReleasedColumn, *, confidence: float
) -> ReleasedColumn:
    """One answer from two to the same question, whose rows are the same in the same order.

    Numerators and denominators of ratios are combined each for itself. Answers without a formula
    do not combine: the second, taken to be the more expensive one, stands.
    """
    match first.formula, second.formula:
        case LinearFormula() as one, LinearFormula() as two:
            mean = _mean(one, two)
            return ReleasedColumn.linear(
                second.name,
                mean.terms,
                constant=mean.constant,
                within=mean.within,
                confidence=confidence,
            )
        case QuotientFormula() as one, QuotientFormula() as two if one.offset == two.offset:
            return ReleasedColumn.quotient(
                second.name,
                _mean(one.numerator, two.numerator),
                _mean(one.denominator, two.denominator),
                offset=two.offset,
                within=_both(one.within, two.within),
                confidence=confidence,
            )
        case GivenValues(), GivenValues():
            return second
        case _:
            raise _differ(first.name, second.name)


def combine_releases(older: ReleasedTable, newer: Table) -> Table:
    """The newer release, made better by an older one that answers the same question.

    Contract: the noise of the two is independent, and both were paid for; guarantee and event are
    those of both together, the id is that of the newer one. Rows follow the newer release: an
    order by values must be made afresh. Each number still knows all the draws behind it.
    """
    if list(older.keys) != list(newer.keys) or len(older) != len(newer):
        raise _differ(older.columns, newer.columns)
    rules = older.statement.get(_RULE), newer.statement.get(_RULE)
    if rules[0] != rules[1]:  # they estimate different numbers
        raise _differ(*rules)
    places = {key: row for row, key in enumerate(zip(*older.keys.values(), strict=True))}
    try:
        keys = zip(*newer.keys.values(), strict=True) if newer.keys else [()]
        order = [places.get(key, 0) if not newer.keys else places[key] for key in keys]
        aligned = take(older, order)
        answers = tuple(
            combine_columns(aligned[answer.name], answer, confidence=newer.confidence)
            for answer in newer.answers
        )
    except KeyError:
        raise _differ(older.columns, newer.columns) from None
    return replace(
        newer,
        answers=answers,
        guarantee=_together(older.guarantee, newer.guarantee),
        event=older.event + newer.event,
    )


def _together(one: Guarantee, two: Guarantee) -> Guarantee:
    """What two releases guarantee together, in the privacy definition they share."""
    if one.unit != two.unit:
        raise _differ(one, two)
    match one, two:
        case PureDP(), PureDP():
            return replace(two, epsilon=exact(one.epsilon) + exact(two.epsilon))
        case ZCDP(), ZCDP():
            return replace(two, rho=exact(one.rho) + exact(two.rho))
        case ApproxZCDP(), ApproxZCDP():
            rho, delta = exact(one.rho) + exact(two.rho), exact(one.delta) + exact(two.delta)
            return replace(two, rho=rho, delta=delta)
        case RenyiDP(), RenyiDP() if one.alpha == two.alpha:
            return replace(two, epsilon=exact(one.epsilon) + exact(two.epsilon))
        case ((PureDP() | ApproxDP()), (PureDP() | ApproxDP())):
            pair = [g.approximate() if isinstance(g, PureDP) else g for g in (one, two)]
            return ApproxDP(
                epsilon=exact(pair[0].epsilon) + exact(pair[1].epsilon),
                delta=exact(pair[0].delta) + exact(pair[1].delta),
                unit=two.unit,
            )
    raise _differ(one, two)


def _differ(first: object, second: object) -> Mismatch:
    return Mismatch(
        code="answers_differ",
        expectation="two answers to the same question, with the same keys and bounds",
        received=(first, second),
        remedy="Only a question asked again can be combined; keep the newer answer alone.",
    )


def _mean(one: LinearFormula, two: LinearFormula) -> LinearFormula:
    if {(measure.release, measure.name) for measure in one.measures()} & {
        (measure.release, measure.name) for measure in two.measures()
    }:
        raise InvalidParameter(
            code="estimates_not_independent",
            expectation="two answers that share no draw of noise",
            received=sorted(measure.name for measure in one.measures()),
            remedy="Combine the separate answers, each of them once.",
        )
    weight = _weight(
        *(sum((f * m.distribution.std) ** 2 for f, m in part.terms) for part in (one, two))
    )
    terms = [(factor * weight, measure) for factor, measure in one.terms]
    terms += [(factor * (1 - weight), measure) for factor, measure in two.terms]
    constant = one.constant * weight + two.constant * (1 - weight)
    return LinearFormula(tuple(terms), constant, _both(one.within, two.within))


def _weight(first: float, second: float) -> float:
    """That of the first of two numbers with these variances."""
    total = first + second
    return second / total if total else 0.5


def _both(one: Range, two: Range) -> Range:
    return max(one[0], two[0]), min(one[1], two[1])
