"""What the front and a worker say to each other: JSON over a pipe, never pickles.

To a worker: an :class:`WorkOrder`. Back, before data is read: ``{"tables": [...]}`` where quanta
differ, and ``{"reserved": id}`` for each reservation. Then one of

- ``{"done": {...}}``: the work's outcome;
- ``{"needs_approval": price}``: nothing was charged, since the price is above the owner's limit;
- ``{"refused": error, "touched": bool}``: ``touched`` says whether private rows may have been read.
  A mistake of this software is one too, told in the owner's log alone.
"""

from __future__ import annotations

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
    """

    kind: str
    request: dict[str, Any]
    account: str = ""
    budget: dict[str, Any] = field(default_factory=dict)
    analyst: str = ""
    purpose: str = ""
    approval: dict[str, float] | None = None
    approved: bool = False

    def to_bytes(self) -> bytes:
        """The order as it travels."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> WorkOrder:
        """The order that :meth:`to_bytes` wrote."""
        return cls(**json.loads(text))


def send(pipe: Connection[Any, Any], message: dict[str, Any]) -> None:
    """Say one thing."""
    pipe.send_bytes(json.dumps(message).encode())


def receive(pipe: Connection[Any, Any]) -> dict[str, Any]:
    """Hear one thing."""
    heard: dict[str, Any] = json.loads(pipe.recv_bytes())
    return heard
