"""Form 1: people and what lets them in, grants, jobs, releases, limits, publications, rounds."""

from __future__ import annotations

from sqlalchemy import Connection, text

_STATEMENTS = """
CREATE TABLE people (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    email TEXT UNIQUE,
    subject TEXT UNIQUE,
    role TEXT NOT NULL,
    password TEXT,
    created_at BIGINT NOT NULL,
    disabled_at BIGINT
);
CREATE TABLE tokens (
    digest TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    person_id TEXT NOT NULL REFERENCES people (id),
    label TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    verifier TEXT NOT NULL
);
CREATE TABLE links (
    digest TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    expires_at BIGINT NOT NULL
);
CREATE TABLE logins (
    digest TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    csrf TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE oidc_flows (
    digest TEXT PRIMARY KEY,
    nonce TEXT NOT NULL,
    verifier TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    purpose TEXT NOT NULL,
    budget TEXT NOT NULL,
    made_by TEXT NOT NULL REFERENCES people (id),
    made_at BIGINT NOT NULL,
    set_aside_at BIGINT
);
CREATE INDEX grants_of_person ON grants (person_id);
CREATE TABLE jobs (
    id TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    grant_id TEXT REFERENCES grants (id),
    kind TEXT NOT NULL,
    about TEXT,
    request TEXT NOT NULL,
    digest TEXT NOT NULL,
    idempotency_key TEXT,
    phase TEXT NOT NULL,
    price TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    lease_until BIGINT,
    leaves_at BIGINT,
    reservation TEXT,
    error TEXT,
    release_id TEXT,
    result TEXT,
    UNIQUE (person_id, idempotency_key)
);
CREATE INDEX jobs_of_person ON jobs (person_id, created_at);
CREATE INDEX jobs_at_work ON jobs (person_id, lease_until);
CREATE TABLE releases (
    id TEXT PRIMARY KEY,
    release TEXT NOT NULL,
    person_id TEXT NOT NULL REFERENCES people (id),
    grant_id TEXT REFERENCES grants (id),
    kind TEXT NOT NULL,
    question TEXT NOT NULL,
    request TEXT NOT NULL,
    reservation TEXT,
    made_at BIGINT NOT NULL,
    leaves_at BIGINT NOT NULL,
    document TEXT NOT NULL
);
CREATE INDEX releases_of_person ON releases (person_id, made_at);
CREATE INDEX releases_known ON releases (person_id, release);
CREATE TABLE counters (
    subject TEXT NOT NULL,
    what TEXT NOT NULL,
    "window" BIGINT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (subject, what, "window")
);
CREATE TABLE overruns (
    id TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    job_id TEXT,
    level INTEGER NOT NULL,
    at BIGINT NOT NULL
);
CREATE INDEX overruns_of_person ON overruns (person_id, at);
CREATE TABLE approvals (
    id TEXT PRIMARY KEY,
    job_id TEXT NOT NULL REFERENCES jobs (id),
    person_id TEXT NOT NULL REFERENCES people (id),
    price TEXT NOT NULL,
    asked_at BIGINT NOT NULL,
    decided_at BIGINT,
    decided_by TEXT,
    verdict TEXT,
    reason TEXT
);
CREATE TABLE audit_log (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL,
    by TEXT NOT NULL,
    what TEXT NOT NULL,
    about TEXT NOT NULL,
    detail TEXT NOT NULL
);
CREATE INDEX audit_log_in_time ON audit_log (at);
CREATE TABLE publications (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL,
    made_by TEXT NOT NULL REFERENCES people (id),
    made_at BIGINT NOT NULL,
    verdict TEXT NOT NULL,
    findings TEXT NOT NULL
);
CREATE TABLE published (
    publication_id TEXT NOT NULL REFERENCES publications (id),
    place INTEGER NOT NULL,
    release_id TEXT NOT NULL REFERENCES releases (id),
    PRIMARY KEY (publication_id, place)
);
CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    person_id TEXT NOT NULL REFERENCES people (id),
    grant_id TEXT NOT NULL REFERENCES grants (id),
    about TEXT NOT NULL,
    opened_at BIGINT NOT NULL,
    closed_at BIGINT
);
CREATE TABLE rounds (
    id TEXT PRIMARY KEY,
    about TEXT NOT NULL,
    opened_by TEXT NOT NULL REFERENCES people (id),
    opened_at BIGINT NOT NULL,
    closes_at BIGINT,
    closing_at BIGINT,
    closed_at BIGINT
);
CREATE TABLE members (
    round_id TEXT NOT NULL REFERENCES rounds (id),
    person_id TEXT NOT NULL REFERENCES people (id),
    PRIMARY KEY (round_id, person_id)
);
CREATE TABLE snapshots (
    digest TEXT PRIMARY KEY,
    settings TEXT NOT NULL,
    at BIGINT NOT NULL
);
"""


def upgrade(connection: Connection) -> None:
    """Create every table."""
    for statement in filter(str.strip, _STATEMENTS.split(";")):
        connection.execute(text(statement))
