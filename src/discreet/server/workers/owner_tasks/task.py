"""What a task of the owner is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.curator.curator import Curator
from discreet.curator.project.ledger import ProjectLedger
from discreet.curator.project.project import Project
from discreet.server.workers.messages import WorkOrder


@dataclass(frozen=True)
class OwnerTaskCall:
    """The curator of the whole project, and what is asked."""

    curator: Curator
    project: Project
    order: WorkOrder

    @property
    def request(self) -> dict[str, Any]:
        """What is asked, by name."""
        return self.order.request

    @property
    def ledger(self) -> ProjectLedger:
        """The ledger as its owner sees it."""
        return ProjectLedger(self.curator.ledger, self.curator.context.budget)


OwnerTask = Callable[[OwnerTaskCall], dict[str, Any]]
