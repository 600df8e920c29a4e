"""The owner's errands: what needs the ledger or the tables, and is no question of an analyst."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from discreet.curator.curator import Curator
from discreet.curator.project.project import Project
from discreet.release.guarantee import guarantee_from_dict
from discreet.server.workers.messages import WorkOrder

Errand = Callable[[Curator, Project, WorkOrder], dict[str, Any]]


def _opened(curator: Curator, project: Project, order: WorkOrder) -> dict[str, Any]:
    """Open the tables and the ledger: everything that can be wrong with them is found now."""
    return {"tables": curator.context.database.names()}


def _set_aside(curator: Curator, project: Project, order: WorkOrder) -> dict[str, Any]:
    """Set a grant's budget aside, or find that it was."""
    child = curator.child(order.account, budget=guarantee_from_dict(order.budget))
    return {"remaining": str(child.remaining)}


ERRANDS: dict[str, Errand] = {
    "open": _opened,
    "set_aside": _set_aside,
}
