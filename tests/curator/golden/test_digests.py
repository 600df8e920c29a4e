"""What is written into identities and stored forms is what was always written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.curator.golden import digests

KEPT: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / digests.KEPT).read_text(encoding="utf-8")
)


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, Any]]:
    plain: dict[str, dict[str, Any]] = json.loads(json.dumps(digests.found(), default=list))
    return plain


@pytest.mark.parametrize("sort", KEPT)
def test_everything_is_written_as_it_was(found: dict[str, dict[str, Any]], sort: str) -> None:
    kept = KEPT[sort]
    assert {name: found[sort].get(name) for name in kept} == kept
