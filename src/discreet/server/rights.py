"""Who may do what: one table, and one function that asks it.

Rights come from a person's role and nowhere else: not from an issuer of identities, not from who
pays, not from a header. Whatever is not in the table is refused.

Source: contract, "What may be seen" (between analysts); 004d:P7.
"""

from __future__ import annotations

from enum import StrEnum

from discreet.core.errors import InvalidParameter


class PersonRole(StrEnum):
    """What somebody is here for; its value is stored, and never changes."""

    OWNER = "owner"
    STEWARD = "steward"
    ANALYST = "analyst"
    AUDITOR = "auditor"


class Action(StrEnum):
    """What can be done through the service."""

    ENTER = "enter"
    """See oneself, the schema, the settings and the record; log out; keep one's own tokens."""
    ASK = "ask"
    """Ask questions, preview them, see one's own jobs, releases and account."""
    READ_PUBLISHED = "read what is published"
    MANAGE_PEOPLE = "manage people"
    GRANT = "grant budgets"
    APPROVE = "approve questions"
    PUBLISH = "publish releases"
    RUN_ROUNDS = "run rounds"
    READ_BUDGET = "read the whole budget"
    READ_LEDGER = "read the ledger"
    AMEND = "amend the budget"
    MONITOR = "monitor the service"
    """Metrics, overruns and the audit log."""


_EVERYBODY = frozenset(PersonRole)
_KEEPERS = frozenset({PersonRole.OWNER, PersonRole.STEWARD})
_READERS = _KEEPERS | {PersonRole.AUDITOR}

RIGHTS: dict[Action, frozenset[PersonRole]] = {
    Action.ENTER: _EVERYBODY,
    Action.READ_PUBLISHED: _EVERYBODY,
    Action.ASK: frozenset({PersonRole.OWNER, PersonRole.ANALYST}),
    Action.MANAGE_PEOPLE: _KEEPERS,
    Action.GRANT: _KEEPERS,
    Action.APPROVE: _KEEPERS,
    Action.PUBLISH: _KEEPERS,
    Action.RUN_ROUNDS: _KEEPERS,
    Action.READ_BUDGET: _READERS,
    Action.READ_LEDGER: frozenset({PersonRole.OWNER, PersonRole.AUDITOR}),
    Action.AMEND: frozenset({PersonRole.OWNER}),
    Action.MONITOR: _READERS,
}


class Forbidden(InvalidParameter):
    """Somebody may not do this."""


def may(role: PersonRole, action: Action) -> bool:
    """Whether a role allows an action."""
    return role in RIGHTS[action]


def require(role: PersonRole, action: Action) -> None:
    """Refuse what a role does not allow."""
    if not may(role, action):
        allowed = ", ".join(sorted(RIGHTS[action]))
        raise Forbidden(
            code="not_allowed",
            expectation=f"somebody who may {action.value}: {allowed}",
            received=role.value,
            remedy="Ask somebody with that role.",
        )


def require_above(actor: PersonRole, other: PersonRole) -> None:
    """Refuse a steward who would make, change or enter as an owner or another steward."""
    if actor is not PersonRole.OWNER and other in _KEEPERS:
        raise Forbidden(
            code="not_allowed",
            expectation="the owner, where owners and stewards are added or changed",
            received=actor.value,
            remedy="Ask the owner.",
        )
