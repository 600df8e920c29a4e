"""A release is on the path of every question, so making and storing it costs little."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from discreet.release import Release
from tests.release.examples import many

MILLISECONDS = 1000


def best(work: Callable[[], Any]) -> float:
    """The least of several processor times: other programs only add to it."""
    work()
    times = []
    for _ in range(25):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times) * MILLISECONDS


@pytest.mark.slow
def test_a_thousand_cells_of_three_measures() -> None:
    release = many(1000)
    text = release.to_json()
    assert best(release.to_json) < 3
    assert best(lambda: Release.from_json(text)) < 4
    assert best(lambda: str(release)) < 3
