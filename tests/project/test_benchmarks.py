"""Benchmarks are run by hand: a rename could break one unseen, so names are held to the code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

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


def gone(module: ast.Module) -> Iterator[str]:
    """What is taken from discreet and is not there."""
    for node in ast.walk(module):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("discreet"):
            taken = import_module(node.module or "")
            yield from (item.name for item in node.names if not hasattr(taken, item.name))
        elif isinstance(node, ast.Attribute) and (parts := attribute(node)) is not None:
            found: object = dp
            for part in parts:
                if isinstance(found, type):
                    break
                if not hasattr(found, part):
                    yield f"dp.{'.'.join(parts)} at line {node.lineno}"
                    break
                found = getattr(found, part)


def test_what_a_benchmark_takes_from_another_is_there() -> None:
    taken = [
        (name, statement.module, item.name)
        for name, module in MODULES.items()
        for statement in ast.walk(module)
        if isinstance(statement, ast.ImportFrom) and statement.module in MODULES
        for item in statement.names
    ]
    assert len(taken) > 50
    assert [each for each in taken if each[2] not in defined(MODULES[each[1]])] == []


def test_what_a_benchmark_takes_from_discreet_is_there() -> None:
    found = {name: list(gone(MODULES[name])) for name in OURS}
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_a_name_that_is_gone_is_found() -> None:
    text = "from discreet.core import nothing_like_it\ndp.queries.Nowhere\ndp.queries.Workload.of"
    assert list(gone(ast.parse(text))) == ["nothing_like_it", "dp.queries.Nowhere at line 2"]
