"""Everything that a document or an error text names can be imported from where people look."""

from __future__ import annotations

import ast
import builtins
import functools
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import theory
from discreet.queries import analysts

ROOT = Path(dp.__file__).parent
DOCS = ROOT.parent.parent / "docs"
PUBLIC = {**{name: getattr(dp.queries, name) for name in dp.queries.__all__}} | {
    name: getattr(analysts, name) for name in analysts.__all__
}
OTHERS: dict[str, Any] = {
    "dp": dp,
    "np": np,
    "functools": functools,
    "curator": dp.Curator,
    "datetime": datetime,
    "UTC": UTC,
    "AboveThreshold": dp.mechanisms.AboveThreshold,
    "ask": dp.Curator.sql,
    "preview": dp.Curator.preview,
    "table": dp.table,
    "to_polars": dp.Release.to_polars,
    "for_query": analysts.AnalystGuarantee.for_query,
    "FLOOR": "SQL",
    "open": dp.Curator.open,
}
"""What else a remedy may name, in the words that it is written with."""


@functools.cache
def defined() -> set[str]:
    """Classes and functions of this package, public or not."""
    found = set()
    for path in (ROOT / "queries").rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        kinds = (ast.ClassDef, ast.FunctionDef)
        found |= {node.name for node in body if isinstance(node, kinds)}
    return {name for name in found if not name.startswith("_")}


def test_every_public_name_is_there_and_is_listed() -> None:
    for package in (dp.queries, analysts):
        assert set(package.__all__) <= set(dir(package))
        for name in package.__all__:
            assert getattr(package, name) is not None
    assert {"LargestDeviation", "RootMeanSquare", "MarginalRound", "QueryRound"} <= set(PUBLIC)
    assert {"hierarchical", "wavelet", "game_value", "GapUpdater"} <= set(PUBLIC)
    assert {"AverageIterate", "LastIterate", "Scaling", "SmallSteps"} <= set(PUBLIC)
    assert theory.mwem_bound is not None
    assert theory.Halving is not None


PAGES = sorted(page.name for page in DOCS.glob("*.md") if page.name != "architecture.md")
"""All but the page about what is inside."""


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_takes_from_the_package_is_there(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    for path in set(re.findall(r"\b(?:dp|discreet)\.queries((?:\.\w+)+)", text)):
        found: Any = dp.queries
        for name in path.strip(".").split("."):
            try:
                found = getattr(found, name)
            except AttributeError:
                found = import_module(f"{found.__name__}.{name}")


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_names_in_passing_can_be_imported(page: str) -> None:
    """Names in code spans that belong to this package; lower-case words may mean anything."""
    spans = re.findall(r"`([^`\n]+)`", (DOCS / page).read_text(encoding="utf-8"))
    words = {word for span in spans for word in re.findall(r"(?<![\w./])[A-Za-z_]\w*", span)}
    named = {word for word in words & defined() if word[0].isupper() or "_" in word}
    assert named <= set(PUBLIC) | set(dp.__all__)


@functools.cache
def texts() -> list[tuple[str, str]]:
    return list(_texts())


def _texts() -> Iterator[tuple[str, str]]:
    """All remedies and expectations about query release, each with its file."""
    for part in ("queries", "curator/synopsis", "curator/rounds", "curator/interactive"):
        for path in sorted((ROOT / part).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.keyword) and node.arg in {"remedy", "expectation"}:
                    parts = [each.value for each in ast.walk(node.value) if _is_text(each)]  # type: ignore[attr-defined]
                    yield str(path.relative_to(ROOT)), "{}".join(parts)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


CALLED = r"(?<![\w.])([A-Za-z_][\w.]*)\("
CAMEL = r"(?<![\w.])([A-Z][a-z]+[A-Z]\w*)\b"
DOTTED = r"(?<![\w.])(dp\.[\w.]*\w)"


def test_what_an_error_names_is_there() -> None:
    known = {**vars(builtins), **PUBLIC, **OTHERS, "synopsis": dp.queries.Synopsis}
    known |= {name: getattr(dp, name) for name in dp.__all__}
    known |= {name: getattr(dp.mechanisms, name) for name in dp.mechanisms.__all__}
    named = 0
    for place, text in texts():
        for path in (path for form in (CALLED, CAMEL, DOTTED) for path in re.findall(form, text)):
            first, *rest = path.split(".")
            assert first in known, (place, text)
            found = known[first]
            for name in rest:
                assert hasattr(found, name), (place, text)
                found = getattr(found, name)
            named += 1
    assert named > 60
