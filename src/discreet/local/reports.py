"""Reports in columns: what many clients sent, in the form that engines and NumPy read fast."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData

_MAGIC = b"discreet.reports/1\n"


@dataclass(frozen=True)
class ReportField:
    """A column of reports: unsigned whole numbers, or ``width`` bytes of packed bits."""

    name: str
    dtype: str
    width: int = 0

    def empty(self, people: int) -> NDArray[Any]:
        """Room for so many reports."""
        return np.zeros((people, self.width) if self.width else people, dtype=self.dtype)


@dataclass(frozen=True, eq=False)
class ReportBatch:
    """Randomised reports, without nonces, times or senders."""

    columns: Mapping[str, NDArray[Any]]

    @property
    def people(self) -> int:
        """How many reports there are."""
        return len(next(iter(self.columns.values())))

    def where(self, kept: NDArray[np.bool_]) -> ReportBatch:
        """The reports that a mask keeps."""
        return ReportBatch({name: column[kept] for name, column in self.columns.items()})

    def to_bytes(self, fields: tuple[ReportField, ...]) -> bytes:
        """Little-endian columns one after the other, behind their number."""
        parts = [
            np.ascontiguousarray(
                self.columns[each.name], dtype=np.dtype(each.dtype).newbyteorder("<")
            )
            for each in fields
        ]
        header = json.dumps({"people": self.people}).encode()
        return b"".join(
            (_MAGIC, struct.pack("<I", len(header)), header, *(part.tobytes() for part in parts))
        )

    @classmethod
    def from_bytes(cls, data: bytes, fields: tuple[ReportField, ...]) -> ReportBatch:
        """What :meth:`to_bytes` wrote; values are checked when they are aggregated."""
        try:
            if not data.startswith(_MAGIC):
                raise ValueError
            at = len(_MAGIC) + 4
            (length,) = struct.unpack_from("<I", data, len(_MAGIC))
            people = int(json.loads(data[at : at + length])["people"])
            at += length
            columns = {}
            for each in fields:
                kind = np.dtype(each.dtype).newbyteorder("<")
                items = people * max(each.width, 1)
                column = np.frombuffer(data, dtype=kind, count=items, offset=at)
                columns[each.name] = column.reshape(-1, each.width) if each.width else column
                at += items * kind.itemsize
            if at != len(data) or people < 0:
                raise ValueError
        except (ValueError, KeyError, TypeError, struct.error):
            raise InvalidData(
                code="local_batch_unreadable",
                expectation="bytes of a batch of reports for this schema",
                remedy="Write batches with ReportBatch.to_bytes and the oracle's own fields.",
            ) from None
        return cls(columns)
