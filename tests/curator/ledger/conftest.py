from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.curator.ledger import Ledger, Memory, SQLite
from tests.curator.ledger.examples import terms


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "visits.ledger"


@pytest.fixture
def kept(place: Path) -> Iterator[SQLite]:
    """A ledger in a file, begun."""
    with SQLite(place) as ledger:
        ledger.open(terms())
        yield ledger


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request: pytest.FixtureRequest, place: Path) -> Iterator[Ledger]:
    """Each kind of ledger, begun."""
    with Memory() if request.param == "memory" else SQLite(place) as made:
        made.open(terms())
        yield made
