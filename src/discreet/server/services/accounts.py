"""One's own account: what was granted for what, what is spent of it, and what is left."""

from __future__ import annotations

import json
from typing import Any

from discreet.core.errors import DiscreetError
from discreet.release.guarantee import guarantee_to_dict
from discreet.server.jobs.account_balance import AccountBalanceRequest
from discreet.server.refusals import raised
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.services.questions import Questions
from discreet.server.spends import spend_to_dict
from discreet.server.state import grants, overruns
from discreet.server.state.jobs import JobPhase
from discreet.server.state.people import Member


class Accounts:
    """What one may spend; never what others do."""

    def __init__(self, runtime: Runtime, questions: Questions) -> None:
        """Look at nothing yet."""
        self._runtime = runtime
        self._questions = questions

    async def own(self, person: Member) -> dict[str, Any]:
        """Each budget of one's own, what is spent and what is left; and one's overruns."""
        require(person.role, Action.ASK)
        state = self._runtime.state
        every = await state.read(grants.of_person, person.id)
        ready = [each for each in every if each.set_aside_at is not None]
        balances = await self._balances(
            person, {g.account: guarantee_to_dict(g.budget) for g in ready}
        )
        lately = await state.read(overruns.lately, person=person.id)
        return {
            "name": person.name,
            "overruns_today": lately,
            "overruns_allowed": self._runtime.settings.overruns,
            "accounts": [
                {
                    "account": each.account,
                    "purpose": each.purpose,
                    "budget": spend_to_dict(each.budget),
                    **balances.get(each.account, {}),
                }
                for each in ready
            ],
        }

    async def _balances(self, person: Member, accounts: dict[str, Any]) -> dict[str, Any]:
        if not accounts:
            return {}
        view = await self._questions.ask(
            person, AccountBalanceRequest(accounts=accounts), kind="account_balance"
        )
        if view.error is not None:
            raise raised(view.error)
        if view.phase is not JobPhase.FINISHED or view.result is None:
            raise _busy()
        found: dict[str, Any] = json.loads(view.result)["accounts"]
        return found


def _busy() -> DiscreetError:
    return DiscreetError(
        code="still_working",
        expectation="no question of yours at work",
        remedy="Look again when it has left.",
    )
