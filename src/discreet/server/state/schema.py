"""The tables of the state as this version asks them; what made them is in ``migrations/``.

Identifiers are random, times are the database's in milliseconds, documents are JSON text. Secrets
(tokens, links, logins) are there as digests only.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

METADATA = MetaData()


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


def _maybe(name: str) -> Column[str]:
    return Column(name, Text, nullable=True)


def _time(name: str) -> Column[int]:
    return Column(name, BigInteger, nullable=False)


def _when(name: str) -> Column[int]:
    """A time that may not have come."""
    return Column(name, BigInteger, nullable=True)


def _key(name: str = "id") -> Column[str]:
    return Column(name, Text, primary_key=True)


versions = Table(
    "versions", METADATA, Column("number", Integer, primary_key=True), _time("applied_at")
)
people = Table(
    "people",
    METADATA,
    _key(),
    _text("name"),
    _maybe("email"),
    _maybe("subject"),
    _text("role"),
    _maybe("password"),
    _time("created_at"),
    _when("disabled_at"),
)
tokens = Table(
    "tokens",
    METADATA,
    _key("digest"),
    _text("id"),
    _text("person_id"),
    _text("label"),
    _time("created_at"),
    _time("expires_at"),
    _text("verifier"),
)
links = Table(
    "links",
    METADATA,
    _key("digest"),
    _text("person_id"),
    _time("expires_at"),
)
logins = Table(
    "logins",
    METADATA,
    _key("digest"),
    _text("person_id"),
    _text("csrf"),
    _time("expires_at"),
)
oidc_flows = Table(
    "oidc_flows",
    METADATA,
    _key("digest"),
    _text("nonce"),
    _text("verifier"),
    _time("expires_at"),
)
grants = Table(
    "grants",
    METADATA,
    _key(),
    _text("person_id"),
    _text("purpose"),
    _text("budget"),
    _text("made_by"),
    _time("made_at"),
    _when("set_aside_at"),
)
jobs = Table(
    "jobs",
    METADATA,
    _key(),
    _text("person_id"),
    _maybe("grant_id"),
    _text("kind"),
    _maybe("about"),
    _text("request"),
    _text("digest"),
    _maybe("idempotency_key"),
    _text("phase"),
    _maybe("price"),
    _time("created_at"),
    _when("started_at"),
    _when("lease_until"),
    _when("leaves_at"),
    _maybe("reservation"),
    _maybe("error"),
    _maybe("release_id"),
    _maybe("result"),
)
releases = Table(
    "releases",
    METADATA,
    _key(),
    _text("release"),
    _text("person_id"),
    _maybe("grant_id"),
    _text("kind"),
    _text("question"),
    _text("request"),
    _maybe("reservation"),
    _time("made_at"),
    _time("leaves_at"),
    _text("document"),
)
counters = Table(
    "counters",
    METADATA,
    _key("subject"),
    _key("what"),
    Column("window", BigInteger, primary_key=True),
    Column("count", Integer, nullable=False),
)
overruns = Table(
    "overruns",
    METADATA,
    _key(),
    _text("person_id"),
    _maybe("job_id"),
    Column("level", Integer, nullable=False),
    _time("at"),
)
approvals = Table(
    "approvals",
    METADATA,
    _key(),
    _text("job_id"),
    _text("person_id"),
    _text("price"),
    _time("asked_at"),
    _when("decided_at"),
    _maybe("decided_by"),
    _maybe("verdict"),
    _maybe("reason"),
)
audit_log = Table(
    "audit_log",
    METADATA,
    _key(),
    _time("at"),
    _text("by"),
    _text("what"),
    _text("about"),
    _text("detail"),
)
publications = Table(
    "publications",
    METADATA,
    _key(),
    _text("title"),
    _text("made_by"),
    _time("made_at"),
    _text("verdict"),
    _text("findings"),
)
published = Table(
    "published",
    METADATA,
    _key("publication_id"),
    Column("place", Integer, primary_key=True),
    _text("release_id"),
)
conversations = Table(
    "conversations",
    METADATA,
    _key(),
    _text("person_id"),
    _text("grant_id"),
    _text("about"),
    _time("opened_at"),
    _when("closed_at"),
)
rounds = Table(
    "rounds",
    METADATA,
    _key(),
    _text("about"),
    _text("opened_by"),
    _time("opened_at"),
    _when("closes_at"),
    _when("closing_at"),
    _when("closed_at"),
)
members = Table("members", METADATA, _key("round_id"), _key("person_id"))
snapshots = Table("snapshots", METADATA, _key("digest"), _text("settings"), _time("at"))
