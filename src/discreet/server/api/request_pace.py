"""Whose request it is, as far as that is known without looking anything up, and whose turn it is.

A credential that let somebody in before stands for that person; everything else stands for the
address it comes from. Each of them has a share of the event loop and so many requests under way, so
that a flood of requests, with good tokens or bad ones, slows down whoever sends it and nobody else.
"""

from __future__ import annotations

import hashlib
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from starlette.types import Message, Receive, Scope

from discreet.server.operations.fair_loop import LoopShares
from discreet.server.operations.http_connection import READING
from discreet.server.services.login_attempts import Visitor
from discreet.server.state.counters import TooMany

MOST_UNDER_WAY = 128
MOST_ON_THEIR_WAY = 64 << 20
"""Bytes of long answers to one subject that were not taken yet; a single one may have more."""
_MOST_KNOWN = 10_000
_LET_IN = "discreet.let_in"
_NAMES = (b"authorization", b"cookie")


def note_let_in(scope: Scope, person: str) -> None:
    """Tell that the credential of a request let somebody in."""
    scope[_LET_IN] = person


class RequestPace:
    """Requests of each person and each address, at one front process."""

    def __init__(self) -> None:
        """Know nobody yet."""
        self.shares = LoopShares()
        self._reading = LoopShares()
        self._known: OrderedDict[bytes, str] = OrderedDict()
        self._under_way: Counter[str] = Counter()
        self._on_their_way: Counter[str] = Counter()

    def subject(self, scope: Scope) -> str:
        """Who or where a request comes from."""
        credential = _credential(scope)
        if credential in self._known:
            return self._known[credential]
        client = scope.get("client") or ("", 0)
        return f"address {Visitor(client[0]).network}"

    def learn(self, scope: Scope) -> None:
        """Remember whom a credential let in, and forget one that lets nobody in any more."""
        credential, person = _credential(scope), scope.get(_LET_IN)
        self._known.pop(credential, None)
        if person is not None and credential:
            self._known[credential] = person
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)

    def received(self, scope: Scope, receive: Receive, subject: str) -> Receive:
        """``receive``, which waits between the pieces of a body that is costly to read.

        Whoever has used up their share by other things does not wait here: a body has a deadline.
        """

        async def paced() -> Message:
            await self._reading.turn(subject)
            message = await receive()
            took = scope.pop(READING, 0.0)
            for shares in (self.shares, self._reading):
                shares.spend(subject, took)
            return message

        return paced

    @contextmanager
    def under_way(self, subject: str) -> Iterator[None]:
        """One of a subject's requests, or a refusal where there are too many."""
        if self._under_way[subject] >= MOST_UNDER_WAY:
            raise TooMany(
                code="too_many_requests",
                expectation=f"at most {MOST_UNDER_WAY} requests of yours under way",
                remedy="Wait for their answers.",
            )
        self._under_way[subject] += 1
        try:
            yield
        finally:
            self._under_way[subject] -= 1
            if not self._under_way[subject]:
                del self._under_way[subject]

    @contextmanager
    def taking(self, subject: str) -> Iterator[Callable[[int], bool]]:
        """For one request: whether so many bytes more may be on their way to a subject."""
        mine = 0

        def may_take(size: int) -> bool:
            nonlocal mine
            there = self._on_their_way[subject]
            if there and there + size > MOST_ON_THEIR_WAY:
                return False
            self._on_their_way[subject] += size
            mine += size
            return True

        try:
            yield may_take
        finally:
            self._on_their_way[subject] -= mine
            if not self._on_their_way[subject]:
                del self._on_their_way[subject]


def _credential(scope: Scope) -> bytes:
    """A digest of what a request says about who sends it; empty where it says nothing."""
    said = b"\n".join(value for name, value in scope["headers"] if name in _NAMES)
    return hashlib.sha256(said).digest() if said else b""
