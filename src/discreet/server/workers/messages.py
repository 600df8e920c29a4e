"""What the front and a worker say to each other: JSON over a pipe, never pickles.

To a worker: an :class:`WorkOrder`. Back, before data is read: ``{"tables": [...]}`` where quanta
differ, and ``{"reserved": id}`` for each reservation. Then one of

- ``{"done": {...}}``: the work's outcome;
- ``{"needs_approval": price}``: nothing was charged, since the price is above the owner's limit;
- ``{"unfinished": id}``: nothing was charged, since a reservation for the same question is open;
- ``{"refused": error, "touched": bool}``: ``touched`` says whether private rows may have been read.
  A mistake of this software is one too, told in the owner's log alone.

with ``"took"``, the seconds from the order to its end without those in which others had the
processors (:mod:`discreet.server.workers.own_time`).
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from typing import Any


@dataclass(frozen=True)
class WorkOrder:
    """Work to do.

    Attributes:
        kind: The name of a kind of job, or of an owner's task.
        request: What is asked, as its model writes it.
        account: The grant that pays; empty for the owner's tasks.
        budget: The grant's budget, as releases write guarantees.
        analyst: Who asks, by the name that stands in the ledger.
        purpose: What for.
        approval: The price above which somebody must have agreed; None: none.
        approved: Whether somebody has.
        job: Whose reservations have ids by which the ledger says whether it was charged.
        lost: Reservations that nobody works on any more.
    """

    kind: str
    request: dict[str, Any]
    account: str = ""
    budget: dict[str, Any] = field(default_factory=dict)
    analyst: str = ""
    purpose: str = ""
    approval: dict[str, float] | None = None
    approved: bool = False
    job: str = ""
    lost: list[str] = field(default_factory=list)

    def to_bytes(self) -> bytes:
        """The order as it travels."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> WorkOrder:
        """The order that :meth:`to_bytes` wrote."""
        return cls(**json.loads(text))


def reservation_id(job: str, place: int = 0) -> str:
    """The id of a job's first, second, … reservation: from its own id, which is random.

    >>> len(reservation_id("7")), reservation_id("7") == reservation_id("7", 1)
    (32, False)
    """
    return hashlib.sha256(f"discreet/1 reservation {place} of {job}".encode()).hexdigest()[:32]


def send(pipe: Connection[Any, Any], message: dict[str, Any]) -> None:
    """Say one thing."""
    pipe.send_bytes(json.dumps(message).encode())


def receive(pipe: Connection[Any, Any]) -> dict[str, Any]:
    """Hear one thing."""
    heard: dict[str, Any] = json.loads(pipe.recv_bytes())
    return heard
