"""Access to the ledger: reading it, verifying it, changing the budget, seeing where it went.

For the owner and whoever audits. Keys never pass through the service: the owner's worker reads them
where the project file says.
"""

from __future__ import annotations

from typing import Any

from discreet.release.guarantee import guarantee_to_dict
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.state import audit_log, grants, overruns
from discreet.server.state.audit_log import AuditEntry
from discreet.server.state.grants import Grant
from discreet.server.state.overruns import Overrun
from discreet.server.state.pagination import Cursor
from discreet.server.state.people import Member


class LedgerAccess:
    """The whole budget and the ledger."""

    def __init__(self, runtime: Runtime) -> None:
        """Read nothing yet."""
        self._runtime = runtime

    async def budget(self, actor: Member) -> dict[str, Any]:
        """The whole budget, and what each grant has spent of its own."""
        require(actor.role, Action.READ_BUDGET)
        request = {"accounts": _plain(await self._grants())}
        return await self._runtime.owner_task("budget_balances", request=request)

    async def spending(self, actor: Member, *, after: int, count: int) -> dict[str, Any]:
        """Each charge to a grant, in time."""
        require(actor.role, Action.READ_BUDGET)
        request = {"accounts": _plain(await self._grants()), "after": after, "count": count}
        return await self._runtime.owner_task("spending", request=request)

    async def grants(self, actor: Member, *, after: str, count: int) -> list[Grant]:
        """Everybody's grants, for those who look after them."""
        require(actor.role, Action.READ_BUDGET)
        return await self._runtime.state.read(grants.list_grants, after=after, count=count)

    async def entries(self, actor: Member, *, after: int, count: int) -> dict[str, Any]:
        """Entries of the ledger as they stand."""
        require(actor.role, Action.READ_LEDGER)
        return await self._runtime.owner_task("entries", request={"after": after, "count": count})

    async def verify(self, actor: Member, *, checkpoint: str | None) -> dict[str, Any]:
        """Check every seal and total of the ledger; the checkpoint it then has."""
        require(actor.role, Action.READ_LEDGER)
        return await self._runtime.owner_task("verify", request={"checkpoint": checkpoint})

    async def amend(
        self, actor: Member, *, numbers: dict[str, float], reason: str
    ) -> dict[str, Any]:
        """Change the whole budget, for a reason that stays on record."""
        require(actor.role, Action.AMEND)
        request = {"numbers": numbers, "reason": reason}
        done = await self._runtime.owner_task("amend", request=request)
        await self._runtime.state.write(
            audit_log.add, by=actor.name, what="amend", detail={**numbers, "reason": reason}
        )
        return done

    async def audit_log(self, actor: Member, *, before: Cursor, count: int) -> list[AuditEntry]:
        """Who did what, other than asking."""
        require(actor.role, Action.MONITOR)
        return await self._runtime.state.read(
            audit_log.list_audit_entries, before=before, count=count
        )

    async def overruns(self, actor: Member, *, before: Cursor, count: int) -> list[Overrun]:
        """Answers that left later than their quantum."""
        require(actor.role, Action.MONITOR)
        return await self._runtime.state.read(overruns.list_overruns, before=before, count=count)

    async def _grants(self) -> list[Grant]:
        every = await self._runtime.state.read(grants.everything)
        return [each for each in every if each.set_aside_at is not None]


def _plain(every: list[Grant]) -> dict[str, Any]:
    return {each.account: guarantee_to_dict(each.budget) for each in every}
