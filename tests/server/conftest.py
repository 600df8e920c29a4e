"""One running service for all tests that need no other."""

from collections.abc import Iterator

import pytest

from tests.server.running import House, running


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with running(tmp_path_factory.mktemp("house")) as made:
        yield made
