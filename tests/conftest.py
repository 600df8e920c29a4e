"""Property tests draw the same examples on every run; long batteries are sampled.

Tests of the service share one that runs. What collecting tests leaves behind, millions of small
objects, is not gone through again whenever garbage is collected: that took seconds at a time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests.sampled_batteries import choose_sample, mark_most_as_slow

if TYPE_CHECKING:
    from tests.server.running_service import RunningService

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def running_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One running service for all tests that need no other."""
    from tests.server.running_service import running

    with running(tmp_path_factory.mktemp("running_service")) as made:
        yield made


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sample long batteries before slow tests are left out."""
    mark_most_as_slow(items, choose_sample())


def pytest_report_header() -> str:
    """Which cases of the long batteries run."""
    return f"long batteries: the third drawn by {choose_sample() or 'no commit'}"


def pytest_sessionstart() -> None:
    """Nothing that is collected is garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays until the end."""
    gc.freeze()
    gc.enable()


def pytest_sessionfinish() -> None:
    """Let go of it in order."""
    gc.unfreeze()
