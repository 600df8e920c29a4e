import numpy as np
import pytest

from discreet.audit import FalseAlarms

SUITE = FalseAlarms(total=1e-6, tests=64)
"""The randomised tests of this directory fail wrongly with at most this rate in all."""


@pytest.fixture
def alpha(request: pytest.FixtureRequest) -> float:
    return SUITE.alpha(request.node.nodeid)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20240229)
