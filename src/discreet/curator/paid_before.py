"""What to do where the same question was paid for before, and only the snapshot differs.

A frame without a name, a file that was touched or a table on a server gets a new snapshot in every
session, and with it every question would be charged again. Nobody may look whether the data is the
same: a free answer would then tell that nobody changed. So it is for the analyst to say, before
anything is charged, whether the stored answer will do. The refusal follows from what this analyst
paid for and from names of snapshots, which are public.

Source: contract, "Spending" (snapshots).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import InvalidParameter
from discreet.curator.stored_answer import Stored
from discreet.ledger.paid_answer import PaidAnswer


class PaidBefore(ABC):
    """What is done about an answer that the analyst has on another snapshot.

    Attributes:
        word: What it is called in requests to a service; never changes.
    """

    word: ClassVar[str]

    @abstractmethod
    def stored(self, paid: PaidAnswer) -> Stored | None:
        """The stored answer, to be taken for nothing; or None, to be charged again."""


@dataclass(frozen=True)
class Reuse(PaidBefore):
    """Take the stored answer, though it was made on another snapshot; pay where there is none."""

    word: ClassVar[str] = "reuse"

    def stored(self, paid: PaidAnswer) -> Stored | None:
        return paid.release


@dataclass(frozen=True)
class PayAgain(PaidBefore):
    """Ask the data as it is now, and be charged again."""

    word: ClassVar[str] = "pay_again"

    def stored(self, paid: PaidAnswer) -> Stored | None:
        return None


@dataclass(frozen=True)
class AskFirst(PaidBefore):
    """Refuse, at no charge, until the analyst says which of the two it shall be."""

    word: ClassVar[str] = "ask_first"

    def stored(self, paid: PaidAnswer) -> Stored | None:
        raise InvalidParameter(
            code="paid_before_other_snapshot",
            expectation="a question that was not paid for before, or a word on what to do about it",
            received=f"the same question as on {paid.reserved.time[:16].replace('T', ' ')} UTC, "
            "which differs in the snapshot of the data alone",
            remedy="Pass paid_before=dp.Reuse() to take that answer for nothing, or "
            "paid_before=dp.PayAgain() to be charged again; in the shell, --reuse or --pay-again. "
            "A version that the owner names, dp.table(..., snapshot='july'), is known again.",
        )


ASK_FIRST = AskFirst()


def require_paid_before(value: object) -> PaidBefore:
    """What a caller passed as ``paid_before=``; refused if it is something else."""
    if isinstance(value, PaidBefore):
        return value
    raise InvalidParameter(
        code="not_paid_before",
        expectation="dp.Reuse() or dp.PayAgain()",
        received=type(value).__name__,
        remedy="Write paid_before=dp.Reuse().",
    )
