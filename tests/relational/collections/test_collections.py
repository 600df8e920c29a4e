"""Questions that users of other systems ask: answered as plain DuckDB does, or refused by name.

The collections were read for what is asked, and every question was written anew for the tables
of :mod:`tests.relational.collections.tables`. Noise is off and no limit cuts, so an answer is
either equal to the plain one or wrong. What could be protected and is not understood yet is a gap,
and every gap stands in ``docs/sql-gaps.md``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from tests.relational.collections.asking import ask, difference
from tests.relational.collections.collection import COLLECTIONS, Question, questions
from tests.relational.collections.tables import FRAMES, open_curator

QUESTIONS = [each for collection in COLLECTIONS for each in questions(collection)]
GAPS = Path(__file__).parents[3] / "docs" / "sql-gaps.md"
LEAST_ANSWERED = 0.98
"""Of the questions that could be protected. It only rises."""
MOST_WRONG = 0
"""Answers that differ from the plain one. It only falls."""


@pytest.fixture(scope="module")
def curator() -> Iterator[dp.Curator]:
    with open_curator() as made:
        yield made


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name, frame in FRAMES.items():
            connection.register(name, frame)
        yield connection


def _those(**wanted: bool) -> list[object]:
    return [
        pytest.param(each, id=f"{each.collection}: {each.name}")
        for each in QUESTIONS
        if all(getattr(each, name) is value for name, value in wanted.items())
    ]


@pytest.mark.parametrize("question", _those(answered=True))
def test_the_answer_is_the_plain_one(
    question: Question, curator: dp.Curator, plain: duckdb.DuckDBPyConnection
) -> None:
    found = difference(question, ask(curator, question), plain)
    assert (found is None) is (question.wrong is None), found


@pytest.mark.parametrize("question", _those(answered=False))
def test_it_is_refused_by_name_and_free(question: Question, curator: dp.Curator) -> None:
    before = curator.spent
    with pytest.raises(DiscreetError) as refusal:
        ask(curator, question)
    assert refusal.value.code == question.code, refusal.value
    assert curator.spent == before


def test_enough_is_answered_and_nothing_wrongly() -> None:
    protectable = [each for each in QUESTIONS if each.protectable]
    answered = [each for each in protectable if each.answered and each.wrong is None]
    assert len(answered) >= LEAST_ANSWERED * len(protectable)
    assert sum(each.wrong is not None for each in QUESTIONS) <= MOST_WRONG


def test_the_collections_are_large_and_each_question_has_its_name() -> None:
    assert sum(each.protectable for each in QUESTIONS) >= 500
    assert sum(not each.protectable for each in QUESTIONS) >= 150
    twice = Counter((each.collection, each.name) for each in QUESTIONS)
    assert [name for name, times in twice.items() if times > 1] == []


def test_every_gap_is_on_the_public_list_and_nothing_else() -> None:
    listed = set(re.findall(r"^### (.+)$", GAPS.read_text(encoding="utf-8"), re.MULTILINE))
    assert {each.gap for each in QUESTIONS if each.gap} == listed
