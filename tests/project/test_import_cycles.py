"""No module imports itself by way of others, not even late; for types alone, three at the most."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

SOURCE = Path(__file__).parents[2] / "src"
LARGEST_FOR_TYPES = 3


def name_of(path: Path) -> str:
    """Return the name under which a file is imported."""
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@cache
def modules() -> dict[str, ast.Module]:
    """Return every module of the library by its name."""
    return {
        name_of(path): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }


def imported(tree: ast.AST, *, types: bool) -> Iterator[str]:
    """Yield what a module may import anywhere; what is for type checkers alone only on demand."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and not types:
            continue
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                yield f"{node.module}.{each.name}"
                yield node.module
        yield from imported(node, types=types)


def cycles(trees: dict[str, ast.Module], *, types: bool) -> list[list[str]]:
    """Return the sets of modules that reach each other; packages that only name things are left."""
    place = {name: number for number, name in enumerate(trees)}
    faces = {name for name in trees if any(other.startswith(f"{name}.") for other in trees)}
    pairs = {
        (place[name], place[found])
        for name, tree in trees.items()
        for found in imported(tree, types=types)
        if found in place and found != name and not {found, name} & faces
    }
    starts, ends = zip(*sorted(pairs), strict=True)
    graph = coo_array((np.ones(len(starts)), (starts, ends)), shape=(len(place),) * 2)
    _, labels = connected_components(graph, connection="strong")
    sizes, names = Counter(labels.tolist()), list(place)
    return [
        [name for name, label in zip(names, labels, strict=True) if label == found]
        for found, size in sizes.items()
        if size > 1
    ]


def test_nothing_is_imported_in_circles_even_inside_functions() -> None:
    assert cycles(modules(), types=False) == []


def test_circles_of_types_are_small() -> None:
    assert [each for each in cycles(modules(), types=True) if len(each) > LARGEST_FOR_TYPES] == []


def test_a_planted_circle_is_found() -> None:
    planted = {
        "discreet.a": ast.parse("def late() -> None:\n    from discreet.b import thing\n"),
        "discreet.b": ast.parse("import discreet.a\n"),
        "discreet.c": ast.parse("if TYPE_CHECKING:\n    from discreet.b import thing\n"),
    }
    assert cycles(planted, types=False) == [["discreet.a", "discreet.b"]]
