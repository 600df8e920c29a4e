"""How known faults are marked. A mark is strict: it fails as soon as its fault is fixed."""

from __future__ import annotations

import pytest


def privacy_defect(what: str) -> pytest.MarkDecorator:
    """A test that shows a breach of privacy and must pass before a release."""
    return pytest.mark.xfail(reason=f"PRIVACY DEFECT: {what}", strict=True)
