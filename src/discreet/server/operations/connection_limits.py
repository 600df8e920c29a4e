"""How many connections there may be, and which ends where one comes too many.

A connection that waits, for headers, a body, a handshake or a password, costs its sender nothing.
So those are bounded, in all and from each address, and nobody is kept out by them: the newest comes
in, and the one that waited longest, of the address that has most of them, is let go of. Who has
finished a request before goes last, also where many addresses have one each. Connections at work
are ended by nobody. An address is what one host has: of IPv6, all of a /64.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

_FILES = 16384
"""Descriptors that a service asks the system for."""
_OTHERS = 256
"""Descriptors that are left to workers, databases and files."""


def _nothing() -> None:
    """End nothing."""


@dataclass(eq=False)
class Place:
    """One connection: where it comes from, how to end it, whether it has finished a request."""

    address: str
    end: Callable[[], None] = _nothing
    served: bool = False
    ended: bool = False


@dataclass
class ConnectionLimits:
    """All connections of one door.

    Attributes:
        most: Connections in all.
        waiting: Those that wait for something from their client, in all.
        from_one: Those of them from one address.
    """

    most: int = 1024
    waiting: int = 512
    from_one: int = 128
    _places: set[Place] = field(default_factory=set)
    _waiting: dict[str, dict[Place, None]] = field(default_factory=dict)

    def enter(self, address: str) -> Place | None:
        """A place for a connection, which waits; None where all others are at work."""
        if len(self._places) >= self.most and not self.relieve():
            return None
        place = Place(address)
        self._places.add(place)
        self.wait(place)
        return place

    def wait(self, place: Place) -> None:
        """It waits for its client, from now on."""
        if place not in self._places:
            return
        here = self._waiting.setdefault(place.address, {})
        here.pop(place, None)
        here[place] = None
        if len(here) > self.from_one:
            self._end_oldest(place.address, but=place)
        elif self.waiting_now > self.waiting:
            self.relieve(but=place)

    def work(self, place: Place) -> None:
        """It works, and is ended by nobody until it waits again."""
        self._forget_waiting(place)
        place.served = True

    def leave(self, place: Place) -> None:
        """It is over."""
        self._forget_waiting(place)
        self._places.discard(place)

    def relieve(self, but: Place | None = None) -> bool:
        """Let go of one that waits, of the address that has most of them; False: none waits."""
        if not self._waiting:
            return False
        new = {
            address: sum(not each.served and each is not but for each in here)
            for address, here in self._waiting.items()
        }
        most = max(new, key=lambda address: (new[address], len(self._waiting[address])))
        self._end_oldest(most, but=but)
        return True

    @property
    def now(self) -> int:
        """How many there are."""
        return len(self._places)

    @property
    def waiting_now(self) -> int:
        """How many of them wait."""
        return sum(map(len, self._waiting.values()))

    def _end_oldest(self, address: str, but: Place | None) -> None:
        here = self._waiting[address]
        new = (each for each in here if not each.served and each is not but)
        oldest = next(new, next(iter(here)))
        self.leave(oldest)
        oldest.ended = True
        oldest.end()

    def _forget_waiting(self, place: Place) -> None:
        here = self._waiting.get(place.address)
        if here is not None:
            here.pop(place, None)
            if not here:
                del self._waiting[place.address]


def connection_limits(*, one_address: bool = False) -> ConnectionLimits:
    """What the descriptors of this process allow to one of two doors.

    Behind a proxy all come from ``one_address``, which then has all the places.
    """
    most = max(64, min(4096, (_descriptors() - _OTHERS) // 2))
    waiting = most * 3 // 4
    return ConnectionLimits(most, waiting, waiting if one_address else waiting // 2)


def _descriptors() -> int:
    """How many files this process may have open, after asking for enough."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return _FILES if soft == resource.RLIM_INFINITY else soft
