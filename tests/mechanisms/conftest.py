import pytest

from discreet.audit import FalseAlarms
from discreet.noise import Seeded

SUITE = FalseAlarms(total=2e-7, tests=200)
"""Randomised tests here run on a fixed seed; on fresh bits they would fail with at most this
rate in all, 1e-9 each."""


@pytest.fixture
def alpha(request: pytest.FixtureRequest) -> float:
    return SUITE.alpha(request.node.nodeid)


@pytest.fixture
def source() -> Seeded:
    return Seeded(20260314)
