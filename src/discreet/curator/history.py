"""What was asked, by whom, at what price and with what end: the ledger for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from discreet.curator.budget import PrivacyBudget
from discreet.curator.interactive.sessions import (
    InteractiveSession,
    InteractiveSessions,
    SessionKind,
    kind_of,
)
from discreet.ledger import EntryKind, LedgerAccount
from discreet.release.guarantee import guarantee_text


@dataclass(frozen=True)
class HistoryEntry:
    """One query or interactive session; ``number`` is its place in this history.

    Entries of the ledger have other numbers, which would tell how much others wrote between.
    An interactive session has its ``id``, which is random, and says which ``kind`` it is.
    """

    number: int
    time: str
    analyst: str
    query: str
    price: str
    ended: str
    purpose: str = ""
    id: str = ""
    kind: SessionKind | None = None


@dataclass(frozen=True)
class History:
    """All questions, oldest first."""

    asked: tuple[HistoryEntry, ...]

    def __len__(self) -> int:
        return len(self.asked)

    def __iter__(self) -> Iterator[HistoryEntry]:
        """One by one."""
        return iter(self.asked)

    def __getitem__(self, place: int) -> HistoryEntry:
        """One of them."""
        return self.asked[place]

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [
            ("#", "time", "analyst", "price", "end", "purpose", "id", "question")
        ]
        rows += [
            (str(a.number), a.time, a.analyst, a.price, a.ended, a.purpose, a.id, _short(a.query))
            for a in self.asked
        ]
        if not any(a.id for a in self.asked):
            rows = [(*row[:6], row[7]) for row in rows]
        if not any(a.purpose for a in self.asked):
            rows = [(*row[:5], *row[6:]) for row in rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )

    __repr__ = __str__


_WIDTH = 80
_ASKED = {
    EntryKind.RESERVED: "unfinished",
    EntryKind.RECORDED: "recorded",
    EntryKind.GRANTED: "set aside",
}
_ENDS = {EntryKind.COMMITTED: "released", EntryKind.FAILED: "failed"}


def history(account: LedgerAccount, budget: PrivacyBudget) -> History:
    """Read the questions that an account paid for, and what it set aside, from the ledger."""
    asked: dict[str, HistoryEntry] = {}
    ends: dict[str, str] = {}
    for entry in account.entries():
        if entry.kind in _ASKED and entry.account == account.account:
            body = entry.body
            detail = body.get("detail", {})
            kind = kind_of(detail)
            asked[entry.id] = HistoryEntry(
                len(asked) + 1,
                str(entry.time)[:19],
                str(body.get("asker", "owner" if entry.kind is EntryKind.GRANTED else "elsewhere")),
                _question(body, detail),
                guarantee_text(budget.spent(entry.amounts("charge"))),
                _ASKED[entry.kind] if kind is None else "open",
                str(detail.get("purpose", "")),
                entry.id if kind else "",
                kind,
            )
        elif entry.kind in _ENDS:
            ends[entry.subject] = _ENDS[entry.kind]
        elif entry.kind is EntryKind.RESTORED:  # answers may be missing: none goes on
            ends |= {key: "unfinished" for key, item in asked.items() if item.kind} | ends
    return History(
        tuple(replace(item, ended=ends.get(key, item.ended)) for key, item in asked.items())
    )


def interactive_sessions(
    account: LedgerAccount, budget: PrivacyBudget, analyst: str | None
) -> InteractiveSessions:
    """The interactive sessions of an account; those of one analyst, if named."""
    return InteractiveSessions(
        tuple(
            InteractiveSession(
                each.id, each.kind, each.analyst, each.time, each.price, each.ended, each.query
            )
            for each in history(account, budget)
            if each.kind is not None and analyst in (None, each.analyst)
        )
    )


def _question(body: Mapping[str, Any], detail: Mapping[str, Any]) -> str:
    if "role" in body:
        return f"{body['role']} {body['name']}"
    if "batch" in detail:
        return f"batch of {', '.join(detail['batch'])}"
    if "reason" in detail:
        return (
            f"{detail['reason']} ({detail['spent_on']})"
            if "spent_on" in detail
            else str(detail["reason"])
        )
    said = (detail[name] for name in ("sql", "model", "mechanism") if name in detail)
    return str(next(said, "measurement"))


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _WIDTH else f"{plain[: _WIDTH - 2]} …"
