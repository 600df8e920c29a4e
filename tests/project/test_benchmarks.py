"""Benchmarks are run by hand: a rename could break one unseen, so names are held to the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import discreet as dp

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MODULES = {path.stem: ast.parse(path.read_text()) for path in BENCHMARKS.glob("*.py")}
OURS = sorted(name for name in MODULES if not name.startswith("peer_"))


def defined(module: ast.Module) -> set[str]:
    """The names that a module has at its top level."""
    found = set[str]()
    for statement in ast.walk(module):
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            found.add(statement.name)
        elif isinstance(statement, ast.Name) and isinstance(statement.ctx, ast.Store):
            found.add(statement.id)
        elif isinstance(statement, ast.alias):
            found.add((statement.asname or statement.name).partition(".")[0])
    return found


def attribute(node: ast.Attribute) -> list[str] | None:
    """The parts of ``dp.queries.Workload``; None for attributes of anything else."""
    parts, inside = [node.attr], node.value
    while isinstance(inside, ast.Attribute):
        parts, inside = [inside.attr, *parts], inside.value
    return parts if isinstance(inside, ast.Name) and inside.id == "dp" else None


@pytest.mark.parametrize("name", sorted(MODULES))
def test_what_a_benchmark_takes_from_another_is_there(name: str) -> None:
    taken = [
        (statement.module, item.name)
        for statement in ast.walk(MODULES[name])
        if isinstance(statement, ast.ImportFrom) and statement.module in MODULES
        for item in statement.names
    ]
    assert [each for each in taken if each[1] not in defined(MODULES[each[0]])] == []


@pytest.mark.parametrize("name", OURS)
def test_what_a_benchmark_takes_from_discreet_is_there(name: str) -> None:
    for node in ast.walk(MODULES[name]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet"):
            module = __import__(node.module or "", fromlist=["discreet"])
            missing = [item.name for item in node.names if not hasattr(module, item.name)]
            assert missing == [], f"{node.module} at line {node.lineno}"
        elif isinstance(node, ast.Attribute) and (parts := attribute(node)) is not None:
            found: object = dp
            for part in parts:
                if isinstance(found, type):
                    break
                assert hasattr(found, part), f"dp.{'.'.join(parts)} at line {node.lineno}"
                found = getattr(found, part)
