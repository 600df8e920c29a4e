"""Attempts to log in by a password: what is counted, and what nobody is told by it.

Every limit that can be seen depends on one address, or one browser, alone: on what came from there,
whatever names it was about and whether or not anybody has them. So it tells nothing about anybody
elsewhere, and nobody elsewhere reaches it for them. Who logs in is counted down again: it changes
nothing that others see.

Guessing one name from many addresses has a limit too, which nobody sees. It counts wrong passwords
from *places* (addresses and browsers) at which that person has not logged in lately. Beyond it a
right password from such a place is answered like a wrong one, after as long; from known places it
goes on letting in, and so does a one-time link, which makes a place known.

In a day one name is thus tried at most ``ELSEWHERE`` times from all unknown places together, and
``PER_NAME`` times in each quarter of an hour from each address that is known for it, and as often
with each browser's secret that is: ``ELSEWHERE + 96 * PER_NAME * (addresses + browsers)``. A place
is known for the very name that came in there: logging in as somebody else makes none.

Source: contract, "What may be seen"; OWASP, "Slow Down Online Guessing Attacks with Device
Cookies".
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from sqlalchemy import Connection

from discreet.server.identity.hashing import HashingQueue
from discreet.server.identity.tokens import new_secret
from discreet.server.state import counters, people
from discreet.server.state.clock import DAY
from discreet.server.state.counters import Counted
from discreet.server.state.people import Member

PER_NAME = 20
"""Wrong passwords for one name from one address or browser, in a quarter of an hour."""
PER_ADDRESS = 100
"""Wrong passwords, wrong links, or logins begun at an issuer, from one address, in as long."""
ELSEWHERE = 100
"""Wrong passwords for one name from all places that are not known for it, in a day."""


@dataclass(frozen=True)
class Visitor:
    """Where a request comes from: an address, and the browser's secret if it has one."""

    address: str
    device: str = ""

    @property
    def network(self) -> str:
        """The address, as far as it tells people apart: of IPv6 a host has a whole /64.

        >>> Visitor("2001:db8::7:1").network, Visitor("::ffff:192.0.2.1").network
        ('2001:db8::/64', '192.0.2.1')
        """
        try:
            found = ip_address(self.address.partition("%")[0])
        except ValueError:
            return self.address
        if not isinstance(found, IPv6Address):
            return str(found)
        if found.ipv4_mapped is not None:
            return str(found.ipv4_mapped)
        return f"{IPv6Address(int(found) >> 64 << 64)}/64"


@dataclass(frozen=True)
class Attempt:
    """An attempt that was counted.

    Attributes:
        person: Whoever has the name, if anybody.
        kept: What is kept of the password, which is compared either way.
        queue: Among whom it waits for its turn to be compared.
        turn: Under which name; each has one turn at a time.
        counted: What is taken back where it lets in.
        in_vain: Whether not even the right password lets in.
    """

    person: Member | None
    kept: str | None
    queue: HashingQueue
    turn: str
    counted: tuple[Counted, ...]
    in_vain: bool = False


def begin(connection: Connection, *, name: str, visitor: Visitor) -> Attempt:
    """Count an attempt where it comes from, or refuse it there; whom it would let in."""
    found = people.password_of(connection, name)
    person, kept = (None, None) if found is None else found
    device = _subject("device", name, visitor.device)
    if visitor.device and _is_known(connection, device):
        own = _require_few(connection, device, counters.LOGINS, PER_NAME)
        return Attempt(person, kept, HashingQueue.BROWSERS, name, (own,))
    network, here = _subject("address", visitor.network), _subject("here", name, visitor.network)
    counted = (
        _require_few(connection, network, counters.ADDRESSES, PER_ADDRESS),
        _require_few(connection, here, counters.LOGINS, PER_NAME),
    )
    # The queue tells by its length: so it asks for the address alone, whoever came from there.
    queue = HashingQueue.ADDRESSES if _is_known(connection, network) else HashingQueue.ELSEWHERE
    if _is_known(connection, here):
        return Attempt(person, kept, queue, network, counted)
    guessed = counters.count(
        connection, subject=_subject("name", name), what=counters.ELSEWHERE, within=DAY
    )
    every, in_vain = (*counted, guessed), guessed.number > ELSEWHERE
    return Attempt(person, kept, queue, network, every, in_vain=in_vain)


def succeed(connection: Connection, *, counted: tuple[Counted, ...]) -> None:
    """Take back what was counted of an attempt that let in: others never see it."""
    for each in counted:
        counters.take_back(connection, each)


def remember(connection: Connection, *, name: str, visitor: Visitor) -> str:
    """Know the place from which somebody came in; the secret that its browser keeps."""
    device = visitor.device
    if not device or not _is_known(connection, _subject("device", name, device)):
        device = new_secret()  # never one that was brought: somebody else may have it too
    for subject in (
        _subject("device", name, device),
        _subject("here", name, visitor.network),
        _subject("address", visitor.network),
    ):
        counters.count(connection, subject=subject, what=counters.KNOWN, within=DAY)
    return device


def count_stranger(connection: Connection, *, visitor: Visitor, what: str) -> None:
    """Count what somebody did who is not let in, by the address; refuse what is too much."""
    _require_few(connection, _subject("address", visitor.network), what, PER_ADDRESS)


def _is_known(connection: Connection, subject: str) -> bool:
    return counters.was_counted(connection, subject=subject, what=counters.KNOWN)


def _require_few(connection: Connection, subject: str, what: str, most: int) -> Counted:
    return counters.require_within(
        connection, subject=subject, what=what, most=most, within=counters.WHILE
    )


def _subject(*parts: str) -> str:
    """What is counted: of bounded length, and not readable."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
