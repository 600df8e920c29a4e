"""One's own budgets at the service, and what was kept there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from discreet.client import loaded
from discreet.client.answers import guarantee_of
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit
from discreet.release.guarantee import guarantee_text

_ENDED = {"finished": "released", "failed": "failed"}


@dataclass(frozen=True)
class RemoteAccount:
    """A budget that was granted for a purpose, what is spent of it, and what is left."""

    id: str
    purpose: str
    budget: Guarantee
    spent: Guarantee
    remaining: Guarantee


@dataclass(frozen=True)
class KeptAnswer:
    """An answer that the service keeps: ``curator.stored(kept.id)`` reads it, for nothing."""

    id: str
    kind: str
    query: str
    account: str | None
    made: datetime


def accounts_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> tuple[RemoteAccount, ...]:
    """Every budget of one's own."""
    return tuple(
        RemoteAccount(
            id=each["account"],
            purpose=each["purpose"],
            budget=guarantee_of(each["budget"]),
            spent=guarantee_of(each["spent"], unit),
            remaining=guarantee_of(each["remaining"], unit),
        )
        for each in plain["accounts"]
    )


def chosen(
    accounts: Iterable[RemoteAccount], *, purpose: str | None, account: str | None
) -> RemoteAccount:
    """The one that is meant: the only one, or that of a purpose or an id."""
    found = [
        each for each in accounts if account in (None, each.id) and purpose in (None, each.purpose)
    ]
    if len(found) != 1:
        raise InvalidParameter(
            code="account_unclear",
            expectation="one budget of yours, named by its purpose or its account",
            received=[each.purpose for each in found],
            remedy="Pass connect(url, token, purpose=...), or account=...; curator.accounts() "
            "lists them.",
        )
    return found[0]


def kept_of(plain: Mapping[str, Any]) -> KeptAnswer:
    """An answer without its numbers."""
    return KeptAnswer(
        id=plain["release"],
        kind=plain["kind"],
        query=plain["question"],
        account=plain["account"],
        made=moment(plain["made_at"]),
    )


def history_of(jobs: Iterable[Mapping[str, Any]], analyst: str) -> Any:
    """What one paid for, oldest first, as a curator tells it."""
    types = loaded.histories()
    charged = [each for each in jobs if each["charged"]]
    entries = (
        types.HistoryEntry(
            number=number,
            time=moment(job["created_at"]).isoformat()[:19],
            analyst=analyst,
            query=_question(job["request"]),
            price=_price(job["request"]),
            ended=_ended(job),
            purpose=job["request"].get("purpose") or "",
        )
        for number, job in enumerate(reversed(charged), start=1)
    )
    return types.History(tuple(entries))


def sessions_of(listed: Iterable[Mapping[str, Any]], analyst: str) -> Any:
    """Conversations of one's own, oldest first, as a curator tells them."""
    types = loaded.interactive_sessions()
    found = [
        types.InteractiveSession(
            id=each["conversation"],
            kind=types.SessionKind.CONVERSATION,
            analyst=analyst,
            opened=moment(each["opened_at"]).isoformat()[:19],
            spend=_price(each["request"]),
            ended="open" if each["closed_at"] is None else "released",
            about="conversation",
        )
        for each in listed
    ]
    return types.InteractiveSessions(tuple(reversed(found)))


def moment(milliseconds: int) -> datetime:
    """A moment of the service's database."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _question(request: Mapping[str, Any]) -> str:
    if "sql" in request:
        return str(request["sql"])
    if "queries" in request:
        return f"batch of {', '.join(request['queries'])}"
    if "column" in request:
        return f"bounds of {request['table']}.{request['column']}"
    return str(request.get("kind", "question"))


def _price(request: Mapping[str, Any]) -> str:
    """As it was stated; nothing where an accuracy, or the text, stated it."""
    stated = {name: request[name] for name in ("epsilon", "delta", "rho") if name in request}
    return guarantee_text(guarantee_of(stated)) if stated else ""


def _ended(job: Mapping[str, Any]) -> str:
    if job["kind"] == "conversation" and job["phase"] == "finished":
        return "open"
    return _ENDED.get(job["phase"], "unfinished")
