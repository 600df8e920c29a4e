"""Granting: budgets for a person and a purpose, set aside in the ledger before they can be used."""

from __future__ import annotations

from sqlalchemy import Connection

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.release.guarantee import guarantee_text, guarantee_to_dict
from discreet.server.rights import Action, require, require_above
from discreet.server.runtime import Runtime
from discreet.server.state import audit_log, grants, people
from discreet.server.state.grants import Grant
from discreet.server.state.people import Member


class Budgets:
    """Grants of all people, and what one has oneself."""

    def __init__(self, runtime: Runtime) -> None:
        """Grant nothing yet."""
        self._runtime = runtime

    async def grant(
        self,
        actor: Member,
        *,
        name: str,
        purpose: str,
        budget: Guarantee,
        by: str | None = None,
    ) -> Grant:
        """Set a budget aside for somebody and a purpose, for ever; the log names ``by``."""
        require(actor.role, Action.GRANT)
        made = await self._runtime.state.write(
            _record_grant,
            actor=actor,
            by=by or actor.name,
            name=name,
            purpose=purpose,
            budget=budget,
            most=self._runtime.settings.workers,
        )
        return await self._set_aside(made)

    async def finish(self) -> None:
        """Set aside what an interruption left: granted, and not noted as set aside."""
        for each in await self._runtime.state.read(grants.unfinished):
            await self._set_aside(each)

    async def of(self, person: Member) -> list[Grant]:
        """What one was granted oneself."""
        return await self._runtime.state.read(grants.of_person, person.id)

    async def _set_aside(self, grant: Grant) -> Grant:
        try:
            await self._runtime.owner_task(
                "set_aside", account=grant.account, budget=guarantee_to_dict(grant.budget)
            )
        except DiscreetError as refusal:
            if refusal.code not in ("worker_lost", "work_too_long", "service_failed"):
                await self._runtime.state.write(grants.withdraw, grant.account)
            raise
        await self._runtime.state.write(grants.set_aside, grant.account)
        return grant


def _record_grant(
    connection: Connection,
    *,
    actor: Member,
    by: str,
    name: str,
    purpose: str,
    budget: Guarantee,
    most: int,
) -> Grant:
    person = people.require(connection, name)
    if person.id != actor.id:
        require_above(actor.role, person.role)
    require(person.role, Action.ASK)
    made = grants.add(
        connection,
        person=person.id,
        purpose=purpose,
        budget=budget,
        made_by=actor.id,
        most_people=most,
    )
    detail = {"purpose": made.purpose, "budget": guarantee_text(budget), "account": made.account}
    audit_log.add(connection, by=by, what="grant", about=name, detail=detail)
    return made
