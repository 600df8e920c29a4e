"""The checkpoint of a ledger: what an owner writes down elsewhere to notice a ledger cut short."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from discreet.core.errors import InvalidParameter

_FORM = re.compile(r"(?P<number>[1-9][0-9]*):(?P<mac>[0-9a-f]{64})")


@dataclass(frozen=True)
class Checkpoint:
    """Number and seal of the last entry; the seal stands for all entries before it.

    Neither part is secret. ``str`` gives one line to keep, :meth:`parse` reads it.

    >>> checkpoint = Checkpoint(number=12, mac="ab" * 32)
    >>> Checkpoint.parse(str(checkpoint)) == checkpoint
    True
    """

    number: int
    mac: str

    def __str__(self) -> str:
        return f"{self.number}:{self.mac}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read the line that ``str`` wrote."""
        match = _FORM.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InvalidParameter(
                code="not_a_head",
                expectation="the checkpoint of a ledger, a number and 64 hexadecimal digits",
                received=type(text).__name__,
                remedy="Pass the line that `str(ledger.checkpoint())` gave.",
            )
        return cls(number=int(match["number"]), mac=match["mac"])
