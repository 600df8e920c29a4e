"""Where a browser goes after a question: to its release, or to the job that goes on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.server.refusals import raised
from discreet.server.services.job_view import JobView
from discreet.server.spends import spend_to_dict
from discreet.server.web.page_context import PageContext, redirect

_LOOKS, _NAP = 20, 0.05


async def onward(page: PageContext, view: JobView) -> Response:
    """Send the browser to what came of a question; a refusal that cost nothing is raised."""
    if view.error is not None and not view.charged:
        raise raised(view.error)
    if view.release_id is not None and await _is_out(page, view.release_id):
        return redirect(f"/releases/{view.release_id}", "" if view.charged else "again")
    return redirect(f"/jobs/{view.id}")


@dataclass(frozen=True)
class PayingAccount:
    """A budget that may pay, for a form."""

    account: str
    purpose: str
    budget: dict[str, float]


async def accounts_of(page: PageContext) -> list[PayingAccount]:
    """The budgets that may pay, for a form to choose from."""
    grants = [each for each in await page.service.budgets.of(page.person) if each.set_aside_at]
    return [
        PayingAccount(each.account, each.purpose, spend_to_dict(each.budget)) for each in grants
    ]


async def _is_out(page: PageContext, key: str) -> bool:
    """Wait until the state shows a release: its clock may be a moment behind this process's."""
    for _ in range(_LOOKS):
        try:
            await page.service.releases.read_release(page.person, key)
        except DiscreetError:
            await asyncio.sleep(_NAP)
        else:
            return True
    return False
