"""One door for all tests that need no other, and one analyst who asks through it."""

from collections.abc import Iterator

import pytest

from discreet.core.guarantee import PureDP
from discreet.server.settings import WireSettings
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.opened_wire import OpenedWire, opened_wire


@pytest.fixture(scope="session")
def wire(running_service: RunningService) -> Iterator[OpenedWire]:
    with opened_wire(running_service, WireSettings(port=0)) as made:
        yield made


@pytest.fixture(scope="session")
def ann(running_service: RunningService) -> ApiUser:
    return running_service.analyst(PureDP(epsilon=100))
