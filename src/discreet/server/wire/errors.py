"""Refusals as PostgreSQL's clients know them: SQLSTATE, message, hint, and the place of a mistake.

The library's own code stands in brackets before the message, and by itself where PostgreSQL names a
routine; the remedy is the hint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.core.errors import DiscreetError, EngineFailed, Exhausted, InvalidParameter
from discreet.server.refusals import described
from discreet.server.rights import Forbidden
from discreet.server.wire import messages

MOST_STATEMENTS, MOST_PORTALS, MOST_LETTERS = 128, 64, 1_000_000
"""What one connection may keep: prepared statements, portals, and letters of all together."""
_STATES = {
    "sql_syntax": "42601",
    "clause_option": "42601",
    "spend_or_accuracy": "42601",
    "price_missing": "42601",
    "unknown_table": "42P01",
    "unknown_column": "42703",
    "unsupported_sql": "0A000",
    "not_on_the_wire": "0A000",
    "catalogue_unread": "0A000",
    "wire_format": "0A000",
    "not_let_in": "28P01",
    "not_encrypted": "28000",
    "too_many_connections": "53300",
    "too_many_requests": "53400",
    "overruns_used_up": "53400",
    "budget_exhausted": "53400",
    "statement_too_long": "54000",
    "too_much_prepared": "54000",
    "transaction_failed": "25P02",
    "statement_unknown": "26000",
    "portal_unknown": "34000",
    "protocol_violation": "08P01",
    "job_cancelled": "57014",
    "catalogue_too_long": "57014",
    "waiting_for_approval": "55000",
    "record_incomplete": "55000",
    "state_unavailable": "57P03",
    "service_shutting_down": "57P01",
    "client_timeout": "57P05",
    "service_failed": "XX000",
}


class JobRefused(InvalidParameter):
    """A refusal that a job ended with, with its place in the text."""

    def __init__(self, plain: Mapping[str, Any]) -> None:
        """From the plain form, as workers send it."""
        parts = {name: plain.get(name) for name in ("code", "expectation", "received", "remedy")}
        super().__init__(**parts)  # type: ignore[arg-type]
        self.start: int | None = plain.get("start")


def state_of(error: DiscreetError) -> str:
    """The SQLSTATE of an error."""
    if error.code in _STATES:
        return _STATES[error.code]
    if isinstance(error, Forbidden) or error.code == "not_allowed":
        return "42501"
    if isinstance(error, Exhausted):
        return "53400"
    return "58000" if isinstance(error, EngineFailed) else "22023"


def error_response(error: DiscreetError, *, fatal: bool = False, offset: int = 0) -> bytes:
    """The message; ``offset`` is where the statement began in what was sent."""
    told = described(error)
    severity = "FATAL" if fatal else "ERROR"
    received = "" if told["received"] is None else f" Got {told['received']}."
    start = error.start if isinstance(error, JobRefused) else None
    return messages.report(
        b"E",
        [
            ("S", severity),
            ("V", severity),
            ("C", state_of(error)),
            ("M", f"[{error.code}] Expected {error.expectation}.{received}"),
            ("H", error.remedy),
            ("P", "" if start is None else str(start + offset + 1)),
            ("R", error.code),
        ],
    )


def warning(text: str) -> bytes:
    """A warning beside what was asked for."""
    fields = [("S", "WARNING"), ("V", "WARNING"), ("C", "01000"), ("M", text)]
    return messages.report(b"N", fields)


def notice(text: str) -> bytes:
    """What readers should know beside what was asked for."""
    fields = [("S", "NOTICE"), ("V", "NOTICE"), ("C", "00000"), ("M", text)]
    return messages.report(b"N", fields)


def protocol_violation() -> InvalidParameter:
    """Bytes came that are no message."""
    return InvalidParameter(
        code="protocol_violation",
        expectation="messages of the PostgreSQL protocol, version 3",
        remedy="The connection is closed; nothing was charged for these bytes.",
    )


def not_encrypted() -> InvalidParameter:
    """A secret would travel in the clear."""
    return InvalidParameter(
        code="not_encrypted",
        expectation="TLS, where you connect from another machine",
        remedy="Add sslmode=require to the connection string; passwords and tokens do not travel "
        "in the clear.",
    )


def unsupported_statement(word: str) -> InvalidParameter:
    """A statement that a database would run, and this server does not."""
    return InvalidParameter(
        code="not_on_the_wire",
        expectation="a SELECT, or a word such as SET, SHOW, BEGIN, COMMIT, ROLLBACK, EXPLAIN",
        received=word[:64],
        remedy="Tables cannot be changed, copied or read row by row through the service.",
    )


def price_missing() -> InvalidParameter:
    """A SELECT of tables that names no price."""
    return InvalidParameter(
        code="price_missing",
        expectation="a price, in a SELECT that reads tables; LIMIT 0 shows columns for nothing",
        remedy="Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1) …; there is no "
        "default price.",
    )


def statement_unknown(name: str) -> InvalidParameter:
    """A name under which nothing was prepared."""
    return InvalidParameter(
        code="statement_unknown",
        expectation="a statement that this connection prepared",
        received=name[:64],
        remedy="Prepare it first.",
    )


def portal_unknown(name: str) -> InvalidParameter:
    """A name under which nothing was bound."""
    return InvalidParameter(
        code="portal_unknown",
        expectation="a portal that this connection bound",
        received=name[:64],
        remedy="Bind it first; portals end with their transaction.",
    )


def several_statements() -> InvalidParameter:
    """More than one statement where one can be prepared."""
    return InvalidParameter(
        code="sql_syntax",
        expectation="one statement at a time, where it is prepared",
        remedy="Send them one after the other.",
    )


def statement_taken(name: str) -> InvalidParameter:
    """A name under which something was prepared already."""
    return InvalidParameter(
        code="statement_taken",
        expectation="a name that no statement of this connection has",
        received=name[:64],
        remedy="DEALLOCATE it first.",
    )


def too_much_prepared() -> InvalidParameter:
    """More than one connection may keep."""
    return InvalidParameter(
        code="too_much_prepared",
        expectation=f"at most {MOST_STATEMENTS} statements and {MOST_PORTALS} portals at a time, "
        f"of {MOST_LETTERS} letters together",
        remedy="DEALLOCATE ALL forgets them.",
    )


def parameter_count(wanted: int, given: int) -> InvalidParameter:
    """Too many parameters, or too few."""
    return InvalidParameter(
        code="wire_parameters",
        expectation=f"{wanted} parameters for this statement",
        received=given,
        remedy="Bind as many as the statement has.",
    )
