"""A checkpoint is kept as a line of text, and taken as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.errors import DiscreetError
from discreet.ledger import SQLite, restore
from tests.ledger.examples import terms


def test_a_kept_line_is_a_head(tmp_path: Path) -> None:
    with SQLite(tmp_path / "a.ledger") as book:
        book.open(terms())
        kept = str(book.checkpoint())
        book.verify(kept)
        book.backup(tmp_path / "a.backup")
        with pytest.raises(DiscreetError, match="not_a_head"):
            book.verify("yesterday")
    with pytest.raises(DiscreetError, match="not_a_head"):
        restore(tmp_path / "a.backup", tmp_path / "a.ledger", checkpoint="yesterday")
    assert str(restore(tmp_path / "a.backup", tmp_path / "a.ledger", checkpoint=kept)).startswith(
        "1:"
    )
