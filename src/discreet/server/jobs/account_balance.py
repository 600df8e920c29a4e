"""What is left of one's own budgets: the ledger says it, for one's own accounts alone."""

from __future__ import annotations

from typing import Any

from discreet.release.guarantee import guarantee_from_dict
from discreet.server.jobs.kind import JobKind, JobProduct, JobRequest, Task
from discreet.server.spends import spend_to_dict


class AccountBalanceRequest(JobRequest):
    """Accounts with their budgets, as the state has them."""

    accounts: dict[str, dict[str, Any]]


class AccountBalanceKind(JobKind[AccountBalanceRequest]):
    """Reads the ledger, no data, and only what one was granted oneself."""

    name = "account_balance"
    request = AccountBalanceRequest
    reads_data = False
    needs_grant = False
    kept = False

    def run(self, task: Task, request: AccountBalanceRequest) -> JobProduct:
        found = {}
        for account, budget in request.accounts.items():
            child = task.curator.child(account, budget=guarantee_from_dict(budget))
            found[account] = {
                "spent": spend_to_dict(child.spent),
                "remaining": spend_to_dict(child.remaining),
            }
        return JobProduct(result={"accounts": found})
