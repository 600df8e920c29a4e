"""How often somebody did something in a while: limits that all replicas keep together.

A window is a public stretch of the database's time. What one subject did never counts against
another, so no limit depends on anybody else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from discreet.core.errors import Exhausted
from discreet.server.state.clock import DAY, MINUTE, SECOND, now
from discreet.server.state.schema import counters


def _build_count_statement(insert: Any) -> Any:
    """One more in a window, as each database says it; made once, since every request asks it."""
    return (
        insert(counters)
        .on_conflict_do_update(
            index_elements=[counters.c.subject, counters.c.what, counters.c.window],
            set_={"count": counters.c.count + bindparam("amount")},
        )
        .returning(counters.c.count)
    )


_MOMENT = select(now())
_COUNTED = {
    "sqlite": _build_count_statement(sqlite.insert),
    "postgresql": _build_count_statement(postgresql.insert),
}


class TooMany(Exhausted):
    """A limit of a while is reached; ``retry_after`` says how many seconds are left of it."""

    retry_after: int = 1


@dataclass(frozen=True)
class Counted:
    """Once more: of whom, of what, in which window; how often by now, and what is left of it."""

    subject: str
    what: str
    window: int
    number: int
    left: int


def count(
    connection: Connection, *, subject: str, what: str, within: int, amount: int = 1
) -> Counted:
    """Count once more, or ``amount`` times; ``left`` is in milliseconds."""
    moment = connection.scalar(_MOMENT) or 0
    window = moment // within
    values = {"subject": subject, "what": what, "window": window, "count": amount}
    values["amount"] = amount
    found = connection.execute(_COUNTED[connection.dialect.name], values).scalar_one()
    return Counted(subject, what, window, int(found), (window + 1) * within - moment)


def require_within(
    connection: Connection, *, subject: str, what: str, most: int, within: int, amount: int = 1
) -> Counted:
    """Count once more, or ``amount`` times, or refuse where that is too often."""
    found = count(connection, subject=subject, what=what, within=within, amount=amount)
    if found.number > most:
        seconds = found.left // SECOND + 1
        refusal = TooMany(
            code="too_many_requests",
            expectation=f"at most {most} {what} in {within // SECOND} seconds",
            remedy=f"Wait {seconds} seconds.",
        )
        refusal.retry_after = seconds
        raise refusal
    return found


def take_back(connection: Connection, counted: Counted) -> None:
    """Count one less, of what was counted: for who did no wrong after all."""
    same = counters.c.subject == counted.subject, counters.c.what == counted.what
    once = (*same, counters.c.window == counted.window, counters.c.count > 0)
    connection.execute(update(counters).where(*once).values(count=counters.c.count - 1))


def was_counted(connection: Connection, *, subject: str, what: str) -> bool:
    """Whether it was counted as long ago as is remembered, or since."""
    within, kept = _WINDOWS[what]
    oldest = ((connection.scalar(_MOMENT) or 0) - kept) // within
    asked = select(counters.c.count).where(
        counters.c.subject == subject, counters.c.what == what, counters.c.window >= oldest
    )
    return connection.execute(asked).first() is not None


def sweep(connection: Connection) -> None:
    """Forget windows that ended longer ago than they are remembered."""
    moment = connection.scalar(select(now())) or 0
    for what, (within, kept) in _WINDOWS.items():
        old = (moment - kept) // within
        connection.execute(delete(counters).where(counters.c.what == what, counters.c.window < old))


WHILE = 15 * MINUTE
"""How long limits on strangers look back."""
KNOWN_FOR = 90 * DAY
"""How long a place is known from which somebody logged in."""
REQUESTS = "requests"
LOGINS = "attempts to log in"
ADDRESSES = "attempts from one address"
LINKS = "links from one address that let nobody in"
FLOWS = "logins at the issuer from one address"
ELSEWHERE = "wrong passwords from places that are not known"
KNOWN = "logins from a place"
_WINDOWS = {
    REQUESTS: (MINUTE, DAY),
    LOGINS: (WHILE, DAY),
    ADDRESSES: (WHILE, DAY),
    LINKS: (WHILE, DAY),
    FLOWS: (WHILE, DAY),
    ELSEWHERE: (DAY, DAY),
    KNOWN: (DAY, KNOWN_FOR),
}
"""Of what is counted: the length of a window, and how long it is remembered."""
