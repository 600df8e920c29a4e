"""What a server keeps: whole numbers that add up, however the reports were divided."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, Mismatch

if TYPE_CHECKING:
    from typing import Self

_MAGIC = b"discreet.tally/1\n"


@dataclass(frozen=True, eq=False)
class Tally:
    """A partial aggregate of one oracle's reports: ``a + b`` is that of both.

    ``digest`` names the oracle; ``candidates``, if given, are the values that were looked for.
    The table is linear in the reports, so that any order and any division give the same.
    """

    digest: str
    people: int
    table: NDArray[np.int64]
    candidates: NDArray[np.int64] | None = None

    def __add__(self, other: Tally) -> Tally:
        """Both together; tallies of different oracles or candidates are refused."""
        if not isinstance(other, Tally):
            return NotImplemented
        mine, theirs = (_list_candidates(each.candidates) for each in (self, other))
        shapes = self.table.shape, other.table.shape
        if self.digest != other.digest or mine != theirs or shapes[0] != shapes[1]:
            raise Mismatch(
                code="local_tally_mismatch",
                expectation="tallies of one oracle, about the same candidates",
                remedy="Aggregate reports of each schema version apart.",
            )
        total = self.table + other.table
        if ((self.table ^ total) & (other.table ^ total) < 0).any():  # both had the other sign
            raise InvalidData(
                code="local_tally_too_large",
                expectation="tallies whose sum fits 64 bits, as that of any reports does",
                remedy="Aggregate the reports again: one of the tallies is none of reports.",
            )
        return Tally(self.digest, self.people + other.people, total, self.candidates)

    def __radd__(self, other: object) -> Tally:
        """Let ``sum`` add up tallies, which starts from zero."""
        return self if other == 0 else NotImplemented

    def to_bytes(self) -> bytes:
        """The tally as it is kept or sent: a header in JSON, and the numbers."""
        header = {
            "digest": self.digest,
            "people": self.people,
            "shape": list(self.table.shape),
            "candidates": _list_candidates(self.candidates),
        }
        text = json.dumps(header).encode()
        numbers = np.ascontiguousarray(self.table, dtype="<i8").tobytes()
        return _MAGIC + struct.pack("<I", len(text)) + text + numbers

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """What :meth:`to_bytes` wrote."""
        try:
            if not data.startswith(_MAGIC):
                raise ValueError
            start = len(_MAGIC) + 4
            (length,) = struct.unpack_from("<I", data, len(_MAGIC))
            header = json.loads(data[start : start + length])
            table = np.frombuffer(data, dtype="<i8", offset=start + length)
            wanted, people = header["candidates"], int(header["people"])
            if people < 0:
                raise ValueError
            return cls(
                str(header["digest"]),
                people,
                table.astype(np.int64).reshape(header["shape"]),
                None if wanted is None else np.array(wanted, dtype=np.int64),
            )
        except (ValueError, KeyError, TypeError, struct.error):
            raise InvalidData(
                code="local_tally_unreadable",
                expectation="bytes that Tally.to_bytes wrote",
                remedy="Aggregate the reports again.",
            ) from None


def _list_candidates(candidates: NDArray[np.int64] | None) -> list[int] | None:
    return None if candidates is None else [int(value) for value in candidates]
