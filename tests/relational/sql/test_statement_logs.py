"""What is refused leaves no trace of a question in anybody's log."""

from __future__ import annotations

import logging

import pytest
import sqlglot

from discreet.errors import DiscreetError, InvalidParameter
from discreet.relational.sql.dialect import require_interpreted
from discreet.relational.sql.statement import parse
from discreet.relational.sql.translate import query_from


@pytest.mark.parametrize("text", ["EXPLAIN SELECT secret", "CREATE INDEX secret", "VACUUM secret"])
def test_a_command_is_refused_without_a_line_in_the_log(
    text: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(DiscreetError):
        query_from(text, None)  # type: ignore[arg-type]  # refused before any table is looked up
    assert caplog.records == []
    assert parse("SELECT 1") is not None


def test_other_users_of_the_parser_keep_their_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        sqlglot.parse("VACUUM theirs")
    assert "theirs" in caplog.text


def test_compiled_parsers_are_refused_in_words() -> None:
    with pytest.raises(InvalidParameter, match="sqlglot_compiled"):
        require_interpreted("sqlglot/parser.cpython-311-x86_64-linux-gnu.so")
