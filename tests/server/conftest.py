"""One running service for all tests that need no other."""

from collections.abc import Iterator

import pytest

from tests.server.running_service import RunningService, running


@pytest.fixture(scope="session")
def running_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running(tmp_path_factory.mktemp("running_service")) as made:
        yield made
