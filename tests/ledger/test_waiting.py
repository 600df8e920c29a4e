"""Waiting for others: again while a reason passes, and no longer than patience lasts."""

from __future__ import annotations

import pytest

from discreet.ledger import waiting


class Passing(Exception):
    """Goes away by itself."""


def is_passing(error: Exception) -> bool:
    return isinstance(error, Passing)


def test_what_passes_is_tried_again() -> None:
    failures = [Passing(), Passing()]

    def act() -> str:
        if failures:
            raise failures.pop()
        return "done"

    assert waiting.patiently(act, passes=is_passing, nap=0.0001, longest_nap=0.001) == "done"


def test_what_does_not_pass_is_raised_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda nap: pytest.fail("it was waited for"))

    def act() -> None:
        raise ValueError

    with pytest.raises(ValueError):  # noqa: PT011 -- nothing but its kind matters
        waiting.patiently(act, passes=is_passing, nap=0.0001)


def test_patience_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "PATIENCE", 0.01)
    tried = []

    def act() -> None:
        tried.append(True)
        raise Passing

    with pytest.raises(Passing):
        waiting.patiently(act, passes=is_passing, nap=0.001)
    assert len(tried) > 1
