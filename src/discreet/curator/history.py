"""What was asked, by whom, at what price and with what end: the ledger for people to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.accounting.adaptive.steps import minus
from discreet.curator.ledger import Kind, Ledger
from discreet.curator.purse import Purse
from discreet.curator.release.promise import promised


@dataclass(frozen=True)
class Asked:
    """One question or conversation."""

    number: int
    time: str
    asker: str
    question: str
    price: str
    ended: str


@dataclass(frozen=True)
class History:
    """All questions, oldest first."""

    asked: tuple[Asked, ...]

    def __len__(self) -> int:
        """How many."""
        return len(self.asked)

    def __iter__(self) -> Iterator[Asked]:
        """One by one."""
        return iter(self.asked)

    def __getitem__(self, place: int) -> Asked:
        """One of them."""
        return self.asked[place]

    def __str__(self) -> str:
        """A table."""
        rows = [("#", "time", "asker", "price", "end", "question")]
        rows += [
            (str(a.number), a.time, a.asker, a.price, a.ended, " ".join(a.question.split())[:60])
            for a in self.asked
        ]
        widths = [max(len(row[place]) for row in rows) for place in range(6)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__


_ENDS = {Kind.COMMITTED: "released", Kind.FAILED: "failed"}


def history(ledger: Ledger, purse: Purse) -> History:
    """Read the questions from the ledger."""
    asked: dict[str, Asked] = {}
    ends: dict[str, str] = {}
    before = purse.currency.zero
    for entry in ledger.entries():
        price = promised(purse.spent(minus(entry.spent, before)))
        before = entry.spent
        if entry.kind in (Kind.RESERVED, Kind.RECORDED):
            detail = entry.body.get("detail", {})
            asked[entry.id] = Asked(
                entry.number,
                str(entry.time)[:19],
                str(entry.body.get("asker", "elsewhere")),
                str(detail.get("sql", detail.get("mechanism", "measurement"))),
                price,
                "unfinished" if entry.kind is Kind.RESERVED else "recorded",
            )
        elif entry.kind in _ENDS:
            ends[entry.subject] = _ENDS[entry.kind]
    return History(
        tuple(
            Asked(a.number, a.time, a.asker, a.question, a.price, ends.get(key, a.ended))
            for key, a in asked.items()
        )
    )
