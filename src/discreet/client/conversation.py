"""A conversation that goes on at the service: the methods of the curator's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.client.answers import reply_of, synopsis_of, universe_of
from discreet.client.asking import Asking
from discreet.client.written import conditions_to_json
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.release.reply import Reply


class RemoteConversation:
    """Asks about a universe; opened, paid for and kept at the service.

    Each list of questions carries a key, so that one that was cut off is not asked twice.
    """

    def __init__(self, asking: Asking, id: str, universe: Any = None) -> None:
        """Go on with what was opened under an id; how far it is, the service says."""
        self._asking = asking
        self._id = id
        self._universe = universe
        self._told = self._estimate()

    @property
    def id(self) -> str:
        """By which ``curator.resume`` finds it. Random."""
        return self._id

    @property
    def universe(self) -> Any:
        """What it is about."""
        return self._estimate_of().universe if self._universe is None else self._universe

    @property
    def guarantee(self) -> Guarantee:
        """What the whole of it keeps, and was charged."""
        found: Guarantee = self._estimate_of().guarantee
        return found

    @property
    def event(self) -> Event:
        """What the whole of it costs."""
        found: Event = self._estimate_of().event
        return found

    @property
    def updates_left(self) -> int:
        """Updates that are still paid for, as of the last answer."""
        return int(self._told["left"])

    @property
    def questions_asked(self) -> int:
        """Questions that were answered with a part of the data."""
        return int(self._told["asked"])

    @property
    def records(self) -> float:
        """The noisy number of records that was bought, or the public one."""
        return float(self._told["records"])

    def ask(self, query: Mapping[str, object] | str, condition: object = None) -> Reply:
        """Answer one question: how many records meet some conditions."""
        return self.ask_all([{query: condition} if isinstance(query, str) else query])[0]

    def ask_all(self, questions: Iterable[Mapping[str, object]] | Any) -> list[Reply]:
        """Answer questions in order; a workload of marginals stands for all its queries."""
        where = conditions_to_json(questions, self.universe)
        view = self._asking.keyed(f"conversations/{self._id}/questions", {"where": where})
        replies = [reply_of(each) for each in view["result"]["replies"]]
        if replies:
            asked = max(self.questions_asked, *(reply.number for reply in replies))
            self._told = {**self._told, "left": replies[-1].left, "asked": asked}
        return replies

    @property
    def synopsis(self) -> Any:
        """The estimate as it stands: a synopsis, free as everything that is computed from it."""
        self._told = self._estimate()
        return self._estimate_of()

    def close(self) -> None:
        """End it for good; it cannot be resumed."""
        self._asking.ended(f"conversations/{self._id}")

    def __repr__(self) -> str:
        """Only what is public."""
        so_far = f"asked={self.questions_asked}, left={self.updates_left}"
        return f"RemoteConversation({self._id!r}, {so_far})"

    def _estimate(self) -> dict[str, Any]:
        found: dict[str, Any] = self._asking.free(f"conversations/{self._id}/estimate", {})[
            "result"
        ]
        return found

    def _estimate_of(self) -> Any:
        return synopsis_of(self._told, self._universe)


def opened_universe(asking: Asking, wanted: Mapping[str, Any]) -> Any:
    """The universe that a request describes; free."""
    view = asking.free("previews", {"kind": "universe", "universe": dict(wanted)})
    return universe_of(view["result"])
