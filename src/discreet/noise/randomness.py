"""Where random bits come from: the operating system's CSPRNG, or an explicit test stand-in.

Contract. Bits handed out are never handed out again. The small buffer that spares system calls
belongs to one thread of one process: a fork drops it (hook and process id are both checked), and
it is not part of any object that could be pickled.

Source: 000a:A11, 004d:F28, 004d:D17; contract, "Numbers".
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BUFFER = 8192


@runtime_checkable
class Source(Protocol):
    """Something that hands out fresh random bytes.

    Assumptions: whoever implements it hands out independent uniform bytes, and none of them twice.

    Guarantee: samplers have their stated laws on top of it; only where ``private`` is true may a
    claim rest on them.

    Source: 000a:A11.
    """

    @property
    def private(self) -> bool:
        """Whether noise drawn from here may back a privacy claim."""

    def bytes(self, count: int) -> bytes:
        """``count`` independent uniform bytes, never handed out before."""


class _Buffers(threading.local):
    """One buffer per thread: its bytes, how many of them are used, and the process it is for."""

    held: tuple[bytes, int, int]


_NOTHING = (b"", 0, 0)
_buffers = _Buffers()


def _drop_buffers() -> None:
    global _buffers  # noqa: PLW0603 -- a child process must not see any of its parent's bits
    _buffers = _Buffers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_buffers)


@dataclass(frozen=True)
class System:
    """The operating system's cryptographic generator. The only private source.

    Guarantee: bytes are those of ``os.urandom``, each used at most once.

    Assumptions: the operating system's generator is cryptographically secure.

    Source: 000a:A11, 004d:F28.
    """

    @property
    def private(self) -> bool:
        return True

    def bytes(self, count: int) -> bytes:
        """Fresh bytes; small requests are cut from the thread's own buffer."""
        if count > _BUFFER // 4:
            return os.urandom(count)
        mine = _buffers
        here = os.getpid()
        # Taken away, not read: a signal handler that draws in between finds no bytes to share.
        held: tuple[bytes, int, int] = mine.__dict__.pop("held", _NOTHING)
        data, start, process = held
        if process != here or start + count > len(data):
            data, start = os.urandom(_BUFFER), 0
        mine.held = data, start + count, here
        return data[start : start + count]


@dataclass(frozen=True)
class Seeded:
    """Reproducible bits for tests. Releases made with it are marked as not private.

    Assumptions: whoever knows the seed knows the noise.

    Guarantee: none: every event made with it is marked, has no price, and no durable ledger takes
    it.

    Source: 004d:D17.
    """

    seed: int
    _generator: Any = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        """Start the reproducible stream."""
        object.__setattr__(self, "_generator", np.random.Generator(np.random.Philox(self.seed)))

    @property
    def private(self) -> bool:
        """Always false: whoever knows the seed can subtract the noise."""
        return False

    def bytes(self, count: int) -> bytes:
        """The next bytes of the reproducible stream."""
        return bytes(self._generator.bytes(count))


@dataclass(frozen=True)
class Noiseless:
    """No randomness: every sampler returns the centre of its law. For tests only.

    Assumptions: none.

    Guarantee: none: as for ``Seeded``.

    Source: 004d:D17.
    """

    @property
    def private(self) -> bool:
        return False

    def bytes(self, count: int) -> bytes:
        """Zero bytes, for samplers that have no centre."""
        return bytes(count)


SYSTEM = System()
_SOURCES = frozenset({System, Seeded, Noiseless})
"""Those of this module; to ask a protocol takes long."""


def random_id(bits: int = 128) -> str:
    """A fresh identifier of so many bits, in hexadecimal: it tells nothing, not even an order.

    >>> len(random_id()), len(random_id(96))
    (32, 24)
    """
    return SYSTEM.bytes(bits // 8).hex()


def require_source(source: object) -> None:
    """Refuse anything but a source of randomness that says whether it is private."""
    if type(source) not in _SOURCES and not isinstance(source, Source):
        raise InvalidParameter(
            code="not_a_source",
            expectation="a source of randomness from discreet.noise",
            received=type(source).__name__,
            remedy="Leave `randomness=` out; in tests pass Seeded(0) or Noiseless().",
        )


def words8(source: Source, count: int) -> NDArray[np.uint8]:
    """``count`` uniform bytes."""
    return np.frombuffer(source.bytes(count), dtype=np.uint8)


def words16(source: Source, count: int) -> NDArray[np.uint16]:
    """``count`` uniform 16-bit words."""
    return np.frombuffer(source.bytes(2 * count), dtype=np.uint16)


def words32(source: Source, count: int) -> NDArray[np.uint32]:
    """``count`` uniform 32-bit words."""
    return np.frombuffer(source.bytes(4 * count), dtype=np.uint32)


def words64(source: Source, count: int) -> NDArray[np.uint64]:
    """``count`` uniform 64-bit words."""
    return np.frombuffer(source.bytes(8 * count), dtype=np.uint64)


def integer(source: Source, bits: int) -> int:
    """A uniform integer of ``bits`` bits, as a Python int."""
    width = -(-bits // 8)
    return int.from_bytes(source.bytes(width), "little") >> (8 * width - bits)
