"""How often somebody did something in a while: limits that all replicas keep together.

A window is a public stretch of the database's time. What one subject did never counts against
another, so no limit depends on anybody else.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from discreet.core.errors import Exhausted
from discreet.server.state.clock import DAY, SECOND, now
from discreet.server.state.schema import counters


def _counted(insert: Any) -> Any:
    """One more in a window, as each database says it; made once, since every request asks it."""
    return (
        insert(counters)
        .on_conflict_do_update(
            index_elements=[counters.c.subject, counters.c.what, counters.c.window],
            set_={"count": counters.c.count + 1},
        )
        .returning(counters.c.count)
    )


_MOMENT = select(now())
_COUNTED = {"sqlite": _counted(sqlite.insert), "postgresql": _counted(postgresql.insert)}


class TooMany(Exhausted):
    """A limit of a while is reached; ``retry_after`` says how many seconds are left of it."""

    retry_after: int = 1


def count(connection: Connection, *, subject: str, what: str, within: int) -> tuple[int, int]:
    """Count once more; how often by now in this window, and the milliseconds left of it."""
    moment = connection.scalar(_MOMENT) or 0
    window = moment // within
    values = {"subject": subject, "what": what, "window": window, "count": 1}
    found = connection.execute(_COUNTED[connection.dialect.name], values).scalar_one()
    return int(found), (window + 1) * within - moment


def require_within(
    connection: Connection, *, subject: str, what: str, most: int, within: int
) -> None:
    """Count once more, or refuse where that is once too often."""
    found, left = count(connection, subject=subject, what=what, within=within)
    if found > most:
        refusal = TooMany(
            code="too_many_requests",
            expectation=f"at most {most} {what} in {within // SECOND} seconds",
            remedy=f"Wait {left // SECOND + 1} seconds.",
        )
        refusal.retry_after = left // SECOND + 1
        raise refusal


def clear(connection: Connection, *, subject: str, what: str) -> None:
    """Begin anew: for somebody who succeeded."""
    named = (counters.c.subject == subject) & (counters.c.what == what)
    connection.execute(delete(counters).where(named))


def sweep(connection: Connection) -> None:
    """Forget windows that ended more than a day ago, whatever their length was."""
    moment = connection.scalar(select(now())) or 0
    for within, named in _LENGTHS.items():
        old = (moment - DAY) // within
        connection.execute(
            delete(counters).where(counters.c.what.in_(named), counters.c.window < old)
        )


REQUESTS, LOGINS, ADDRESSES = "requests", "attempts to log in", "attempts from one address"
_LENGTHS = {60 * SECOND: (REQUESTS,), 900 * SECOND: (LOGINS, ADDRESSES)}
