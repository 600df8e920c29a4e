"""A round at the service: analysts submit, its owner closes it, everybody finds their share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from discreet.client.asking import Asking
from discreet.client.written import conditions_to_json
from discreet.core.errors import InvalidParameter


class RemoteRound:
    """Collects queries; one release answers them all. Others' are not to be seen."""

    def __init__(self, asking: Asking, name: str, entry: dict[str, Any]) -> None:
        """Hold what the service lists; ``name`` is one's own."""
        self._asking = asking
        self._name = name
        self._entry = entry

    @property
    def id(self) -> str:
        """By which ``curator.resume`` finds it. Random."""
        return str(self._entry["round"])

    @property
    def closes(self) -> datetime | None:
        """When it may be closed; None if the owner says when."""
        at = self._entry["closes_at"]
        return None if at is None else datetime.fromtimestamp(at / 1000, UTC)

    @property
    def attributes(self) -> dict[str, list[str]]:
        """What queries are about: names, and values as text."""
        return dict(self._entry["about"]["attributes"])

    def plan(self) -> str:
        """What will run, the errors to expect, what it costs, and why: public facts only."""
        return str(self._entry["about"]["plan"])

    def submit(self, analyst: str, queries: Any) -> None:
        """Keep one's own queries, instead of earlier ones. Durable on return.

        A list of conditions, or a workload of marginals; it may be empty.
        """
        if analyst != self._name:
            raise InvalidParameter(
                code="analyst_by_token",
                expectation=f"the name that the token stands for: {self._name}",
                received=analyst if isinstance(analyst, str) else type(analyst).__name__,
                remedy="Everybody submits with a token of their own.",
            )
        where = conditions_to_json(queries)
        self._asking.free(f"rounds/{self.id}/submissions", {"where": where})

    def close(self) -> None:
        """Run it, once its public time has come; everybody finds their share in ``releases()``.

        For the owner or a steward. Closing what was closed changes nothing.
        """
        self._entry = self._asking.transport.post(f"rounds/{self.id}/close", None).json()

    def __repr__(self) -> str:
        """What everybody may know who is in it."""
        most = self._entry["about"]["queries_each"]
        ends = self.closes or "when the owner says"
        return f"RemoteRound({self.id!r}; at most {most} queries each, closes {ends})"
