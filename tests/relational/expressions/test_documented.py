"""The page of functions and the allow-list say the same, and a dialect can write all of it."""

from __future__ import annotations

import re
from pathlib import Path

from discreet.relational.functions.registry import FUNCTIONS, OPERATORS
from discreet.relational.functions.spelling import BINARY, CALLS
from discreet.relational.sql.composed import COMPOSED
from tests.relational.expressions.engine import DIALECT

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "sql-functions.md").read_text("utf-8")
WORDS = set(re.findall(r"[a-z_0-9]+", " ".join(re.findall(r"`([^`]*)`", PAGE)).lower()))


def test_every_function_is_on_the_page() -> None:
    assert {*FUNCTIONS, *COMPOSED} - WORDS == set()


def test_every_operator_is_on_the_page() -> None:
    spelled = PAGE.replace("\\|", "|").lower()
    missing = [sign for sign in OPERATORS if f"`{sign}" not in spelled and sign not in WORDS]
    assert [sign for sign in missing if sign not in spelled] == []


def test_parsed_classes_lead_to_functions_of_the_registry() -> None:
    assert {name for name, *_ in CALLS.values()} <= {*FUNCTIONS, *COMPOSED}
    assert not set(FUNCTIONS) & set(COMPOSED)
    assert set(BINARY.values()) <= set(OPERATORS)


def test_the_dialect_has_a_template_for_every_operator() -> None:
    assert {function.name for function in OPERATORS.values()} <= set(DIALECT.templates)
