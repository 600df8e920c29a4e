"""States of earlier versions go on: these files are never written again."""

import json
from pathlib import Path

import numpy as np
import pytest

from discreet.core.events.event import from_json
from discreet.streams.resume import KINDS, from_state

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_state_of_an_earlier_version_goes_on(path: Path) -> None:
    kept = json.loads(path.read_text(encoding="utf-8"))
    counter = from_state(kept["state"])
    assert counter.tick == 11
    assert counter.last.tolist() == kept["last"]
    assert counter.event == from_json(kept["event"])
    assert counter.state() == kept["state"]
    counter.run(np.ones((9, 2), dtype=np.int64))


def test_every_kind_whose_coefficients_are_not_searched_for_has_a_state() -> None:
    assert {f"{path.stem}/1" for path in GOLDEN} == set(KINDS) - {"dense/1"}
