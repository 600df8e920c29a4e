"""What an analyst asks for who wants to know what the limits left out.

Source: contract, "Bounding inside the engine", "Spending". Proof: ``proofs/left_out.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import count, exact, probability
from discreet.relational.bounding.left_out import MOST_ROWS


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """That an answer is to say what the limits left out, for a ``share`` of its spend.

    People whom a limit cuts are counted by group. Rows that do not count are added up where
    ``rows_at_most`` is given: so many of one person at most, a public cap; more of one person are
    not in the number, which is therefore "at least". ``groups_at_most`` is in how many groups one
    person is counted as cut; by default in as many as the limits let a person be counted in.

    >>> LeftOut(share=0.1, rows_at_most=100)
    LeftOut(share=0.1, rows_at_most=100, groups_at_most=None)
    """

    share: float
    rows_at_most: int | None = None
    groups_at_most: int | None = None

    def __post_init__(self) -> None:
        """Refuse shares that leave nothing to either side, and caps that are no public number."""
        object.__setattr__(self, "share", float(probability("share", self.share)))
        for name in ("rows_at_most", "groups_at_most"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.rows_at_most is not None and self.rows_at_most > MOST_ROWS:
            raise InvalidParameter(
                code="parameter_out_of_range",
                expectation=f"rows_at_most of at most {MOST_ROWS:,}",
                received=self.rows_at_most,
                remedy="A smaller cap has less noise; few people have so many rows beyond a limit.",
            )

    def divided(self, spend: Guarantee) -> tuple[Guarantee, Guarantee]:
        """What the answer is paid from, and what the report is: a delta stays with the answer."""
        share = Fraction(repr(self.share))
        match spend:
            case PureDP() | RenyiDP():
                epsilon = exact(spend.epsilon)
                return (
                    replace(spend, epsilon=epsilon * (1 - share)),
                    replace(spend, epsilon=epsilon * share),
                )
            case ApproxDP():
                epsilon = exact(spend.epsilon)
                part = PureDP(epsilon=epsilon * share, unit=spend.unit)
                return replace(spend, epsilon=epsilon * (1 - share)), part
            case ZCDP() | ApproxZCDP():
                rho = exact(spend.rho)
                reported = ZCDP(rho=rho * share, unit=spend.unit)
                return replace(spend, rho=rho * (1 - share)), reported
        return spend, spend  # refused by the noise, which knows no such definition


def divided_by(spend: Guarantee, parts: int) -> Guarantee:
    """An equal part of a spend for reports."""
    match spend:
        case PureDP() | RenyiDP():
            return replace(spend, epsilon=exact(spend.epsilon) / parts)
        case ZCDP():
            return replace(spend, rho=exact(spend.rho) / parts)
    return spend
