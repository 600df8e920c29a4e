"""Answers stay what they were, byte for byte, on every engine."""

from __future__ import annotations

import pytest

from tests.golden.answers import MakeHome, differences, found, stored
from tests.relational.conformance import spark_with_rows
from tests.relational.conformance.engines import POSTGRES, Maker

SPARK = Maker("spark", spark_with_rows.missing, spark_with_rows.SparkWithRows)

IN_THE_ENGINES_ORDER = ("sql sites",)
"""Keys that are discovered get their noise as they come out of the engine."""


def test_answers_are_those_that_were_written() -> None:
    assert differences(stored(), dict(found())) == []


@pytest.mark.slow
@pytest.mark.parametrize("maker", [POSTGRES, SPARK], ids=lambda maker: maker.name)
def test_other_engines_give_the_same_answers(maker: Maker) -> None:
    make: MakeHome = maker.home
    there = {**dict(found(make)), **{name: stored()[name] for name in IN_THE_ENGINES_ORDER}}
    assert differences(stored(), there) == []


def test_every_verb_and_every_outcome_is_among_them() -> None:
    """A guard that asks little guards little."""
    answers = stored()
    assert len(answers) >= 300
    refused = [name for name, text in answers.items() if '"refused"' in text]
    assert 5 <= len(refused) <= 30
    verbs = {name.partition(" ")[0] for name in answers if not name.startswith(("SELECT", "WITH"))}
    assert verbs >= {"sql", "frame", "batch", "bounds", "limits", "synopsis", "fit", "synthesis"}
    assert verbs >= {"watch", "conversation", "round", "stream", "child", "part", "preview"}
