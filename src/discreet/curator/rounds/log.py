"""The pages of a round in the ledger: who may submit, what was submitted, what came out.

All of them are secrets: encrypted under the owner's key, and never part of a history or an answer.

Source: contract, "Spending" (what outlives a call is durable before it is used).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.ledger.session_log import SessionLog


@dataclass(frozen=True)
class Pages:
    """Reads and writes the session log of one round."""

    session_log: SessionLog

    def begin(self, names: Sequence[str]) -> None:
        """Keep who may submit, once."""
        self.session_log.keep({"did": "begin", "names": list(names)})

    def submit(self, name: str, queries: Sequence[Mapping[str, object]]) -> None:
        """Keep one analyst's queries; they take the place of earlier ones."""
        self.session_log.keep({"did": "submit", "analyst": name, "queries": list(queries)})

    def run(self) -> None:
        """Keep that the round is run now; refused to a process that no longer speaks for it."""
        self.session_log.keep({"did": "run"})

    def end(self, outcome: Mapping[str, object]) -> None:
        """Keep what came out, before anybody sees it."""
        self.session_log.keep({"did": "end", "outcome": dict(outcome)})

    def names(self) -> tuple[str, ...]:
        """Who may submit, in the order of the round."""
        for page in self._did("begin"):
            return tuple(page["names"])
        raise InvalidParameter(
            code="round_unknown",
            expectation="a round that was opened to its end",
            remedy="It was interrupted while it was opened. Open another.",
        )

    def submitted(self) -> dict[str, Sequence[Mapping[str, Any]]]:
        """The latest queries of everybody who submitted."""
        return {page["analyst"]: page["queries"] for page in self._did("submit")}

    def outcome(self) -> Mapping[str, Any] | None:
        """What came out, if the round was run."""
        for page in self._did("end"):
            found: Mapping[str, Any] = page["outcome"]
            return found
        return None

    def was_run(self) -> bool:
        """Whether data was opened for what had been submitted by then."""
        return bool(self._did("run") or self._did("end"))

    def require_not_run(self) -> None:
        """Refuse to go on where data was opened and nothing was kept: noise is drawn once."""
        if self._did("run"):
            raise InvalidParameter(
                code="round_interrupted",
                expectation="a round that was not run yet, or whose outcome was kept",
                remedy="If it is being run elsewhere, wait for that. If that process has ended, "
                "what it drew was seen by nobody and is not drawn again; open another round.",
            )

    def _did(self, what: str) -> list[Mapping[str, Any]]:
        return [page for page in self.session_log.entries() if page.get("did") == what]
