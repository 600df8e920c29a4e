"""Reserve, compute, commit: the one way in which an answer leaves the curator.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from discreet.accounting.adaptive.steps import Amounts
from discreet.core.errors import EngineFailed, InvalidParameter
from discreet.core.events.event import Event
from discreet.ledger import LedgerAccount
from discreet.relational.database import Database

Result = TypeVar("Result")

OWNER = logging.getLogger("discreet.owner")
"""For the data owner alone: why an engine failed. Silent until the owner adds a handler."""
OWNER.addHandler(logging.NullHandler())
OWNER.propagate = False


@dataclass(frozen=True)
class Payment:
    """Pays from one account for what is computed on one database."""

    account: LedgerAccount
    database: Database

    def paid(
        self,
        compute: Callable[[], Result],
        plain: Callable[[Result], Mapping[str, object]],
        *,
        asker: str,
        question: str,
        charge: Amounts,
        event: Event,
        detail: Mapping[str, object],
    ) -> Result:
        """Reserve, compute, commit; the answer is durable before it is returned."""
        self.require_unchanged()
        reservation = self.account.reserve(
            asker=asker,
            question=question,
            charge=charge,
            event=event.to_json(),
            detail=detail,
        )
        result, kept = self.guarded(reservation, lambda: _with_plain(compute(), plain))
        self.account.commit(reservation, kept)
        return result

    def guarded(self, reservation: str, compute: Callable[[], Result]) -> Result:
        """Run what reads private data; any failure becomes the one code that says nothing.

        All its statements see one state of the tables, and so does the look at the public ones.
        """
        try:
            with self.database.engine.snapshot():
                result = compute()
                self.require_unchanged()
        except Exception:
            OWNER.exception("reservation %s failed after data was opened", reservation)
        else:
            return result
        # Raised out here, where the engine's own error is no longer attached to it.
        self.account.fail(reservation, "engine_failed")
        raise EngineFailed(
            code="engine_failed",
            expectation="an engine that answers",
            remedy="The reservation is spent. The data owner's log says what happened.",
        )

    def require_unchanged(self) -> None:
        """Refuse to go on with files that are not those which were attached."""
        if not self.database.unchanged():
            raise InvalidParameter(
                code="data_changed",
                expectation="files that stay as they were when the curator was opened",
                remedy="Open a new curator on the same ledger; it takes a new snapshot.",
            )


def _with_plain(
    result: Result, plain: Callable[[Result], Mapping[str, object]]
) -> tuple[Result, Mapping[str, object]]:
    return result, plain(result)
