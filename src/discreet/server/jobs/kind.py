"""A kind of job: its name, what a request looks like, and how a worker does it.

A later part of the library is one more kind in the registry. The front validates requests by the
kind's model, the worker runs it; doors and limits know nothing of kinds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, model_validator

from discreet.accounting.adaptive.exhausted import ANOTHER_GRANT, budget_exhausted
from discreet.core.guarantee import Guarantee
from discreet.core.written import numbers
from discreet.curator.curator import Curator
from discreet.curator.session import Session
from discreet.release.guarantee import guarantee_text

Request = TypeVar("Request", bound="JobRequest")

MOST_PARTS = 20_000
"""Of a body: fields, names and entries, at every depth."""


class JobRequest(BaseModel):
    """What every request has; fields that nobody knows are refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Paid(JobRequest):
    """A request that is paid for: from which of one's budgets, and what for.

    Bodies are read on the event loop, and each part that fits nowhere is an error to write out: so
    those of too many parts are refused before, in one look.
    """

    purpose: str | None = None
    account: str | None = None

    @model_validator(mode="before")
    @classmethod
    def require_few_parts(cls, body: object) -> object:
        """Refuse a body with more fields, names and entries than any request here needs."""
        waiting, seen = [body], 0
        while waiting:
            part = waiting.pop()
            inside = list(part.values()) if isinstance(part, dict) else part
            if isinstance(inside, list):
                seen += len(inside)
                if seen > MOST_PARTS:
                    message = f"a request has at most {MOST_PARTS:,} parts"
                    raise ValueError(message)
                waiting.extend(inside)
        return body


@dataclass(frozen=True)
class Task:
    """One piece of work inside a worker.

    Attributes:
        session: What pays and what is asked: a grant's child curator.
        curator: The whole, for what belongs to the owner.
        analyst: Who asks.
        purpose: What for.
        approval: The price above which somebody must have agreed; None once somebody has.
        kept: What this worker remembers from one job to the next, by any name.
    """

    session: Session
    curator: Curator
    analyst: str
    purpose: str | None
    approval: Mapping[str, float] | None
    kept: dict[str, Any]

    def require_agreed(self, price: Guarantee) -> None:
        """Stop before anything is charged where the price is above what needs no approval."""
        if self.approval is not None and is_above(price, self.approval):
            self._require_left(price)
            raise NeedsApproval(price)

    def _require_left(self, price: Guarantee) -> None:
        """Refuse what could not be paid if somebody agreed; the last digit is for the ledger."""
        left = self.session.remaining
        most, asked = numbers(left), numbers(price)
        if any(float(asked[name]) > float(most[name]) * _ROUNDED for name in asked if name in most):
            raise budget_exhausted(guarantee_text(left), guarantee_text(price), ANOTHER_GRANT)

    def touches_data(self) -> None:
        """From here on private rows may be read, although nothing is reserved anew."""
        self.kept[TOUCHED] = True


TOUCHED = "touched"
_ROUNDED = 1 + 1e-9


class NeedsApproval(Exception):
    """Somebody must agree to the price first."""

    def __init__(self, price: Guarantee) -> None:
        """Keep the price."""
        super().__init__()
        self.price = price


@dataclass(frozen=True)
class JobProduct:
    """What came of a job.

    Attributes:
        result: For whoever asked, plain JSON.
        question: What was asked, in one line, for lists.
        release: The curator's own id of what was released; empty where nothing was.
        opened: The id of what was opened and goes on; empty where nothing was.
    """

    result: Mapping[str, Any]
    question: str = ""
    release: str = ""
    opened: str = ""


class JobKind(Generic[Request]):
    """One kind of job.

    Attributes:
        name: In requests and in the state; never changes.
        request: The model of its requests.
        reads_data: Whether its answers leave at the quantum.
        needs_grant: Whether a grant of one's own pays, or is looked at.
        kept: Whether it stays in one's history.
    """

    name: ClassVar[str]
    request: type[Request]
    reads_data: ClassVar[bool] = True
    needs_grant: ClassVar[bool] = True
    kept: ClassVar[bool] = True

    def tables(self, task: Task, request: Request) -> Collection[str]:
        """The private tables that are read; none named: any."""
        return ()

    def run(self, task: Task, request: Request) -> JobProduct:
        """Do it, in a worker."""
        raise NotImplementedError


def is_above(price: Guarantee, limit: Mapping[str, float]) -> bool:
    """Whether a price has a number above the limit's, or one that the limit does not have."""
    from discreet.server.spends import spend_to_dict

    stated = {name: value for name, value in spend_to_dict(price).items() if value}
    return any(value > limit.get(name, 0.0) for name, value in stated.items())
