import functools
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from discreet.ledger import Ledger, Memory, PostgreSQL, SQLite
from tests import postgres_server
from tests.ledger.examples import terms


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "visits.ledger"


@pytest.fixture
def kept(place: Path) -> Iterator[SQLite]:
    """A ledger in a file, started."""
    with SQLite(place) as ledger:
        ledger.open(terms())
        yield ledger


@functools.cache
def shared_database() -> str:
    """One database for many ledgers, told apart by their names."""
    server = postgres_server.shared()
    return server.conninfo(server.database())


@functools.cache
def _other_database() -> str:
    return postgres_server.shared().database()


@pytest.fixture
def conninfo() -> Iterator[str]:
    """A database without any ledger, for tests that alter tables."""
    server, name = postgres_server.shared(), _other_database()
    try:
        yield server.conninfo(name)
    finally:
        server.cut(name)
        server.execute("DROP SCHEMA IF EXISTS discreet_ledger CASCADE", name)
        server.execute(f"ALTER DATABASE {name} RESET ALL")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[PostgreSQL]:
    """A ledger on a server, started."""
    name = f"visits-{uuid4().hex}"
    with PostgreSQL(shared_database(), name=name, key=tmp_path / "visits.key") as ledger:
        ledger.open(terms())
        yield ledger


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request: pytest.FixtureRequest, place: Path) -> Iterator[Ledger]:
    """Each kind of ledger, started."""
    if request.param == "postgres":
        yield request.getfixturevalue("served")
        return
    with Memory() if request.param == "memory" else SQLite(place) as made:
        made.open(terms())
        yield made
