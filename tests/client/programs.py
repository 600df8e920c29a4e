"""A curator here and one at a service, over the same invented hospital and the same budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import discreet as dp
from discreet.client import RemoteCurator
from discreet.client.progress import Silent
from discreet.core.guarantee import Guarantee
from discreet.core.written import numbers
from discreet.curator.session import Session
from tests.server.running_service import ApiUser, hospital

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"
BY_AGE = "SELECT age, ward FROM visits"
UNIVERSE = ("visits", "ward")
OLD = {"old": "age >= 50"}


def at_service(user: ApiUser, **options: Any) -> RemoteCurator:
    """The curator that somebody has at the running service."""
    return dp.connect(user.running_service.address, user.token, **{"progress": Silent, **options})


def here(folder: Path, budget: Guarantee) -> Session:
    """A curator of this process with the same tables, the same declarations and the same budget."""
    return dp.Project.read(hospital(folder)).curator().child("ann", budget=budget)


def epsilon(guarantee: Guarantee) -> float:
    """The epsilon of what is spent, or left."""
    return float(numbers(guarantee)["epsilon"])
