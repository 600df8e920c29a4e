"""Move a module, and let everything that names it follow.

    python -m tests.project.move_module discreet.curator.sql discreet.curator.requests.sql

Followed are imports, dotted names in texts and pins of proofs, paths in documents and settings, and
planted mistakes that went to another package with their text. The folder that it goes to is there
already. What is stored under a frozen name keeps it: the left side of its table follows. Sort
imports afterwards with ``ruff check --fix``, and see ``proofs/pin.py`` and ``tests/golden``.
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "docs", "proofs", "examples", "benchmarks")
READ = {".py", ".md", ".toml", ".yml"}
_MISTAKE = re.compile(r"(?m)^(?=\[\[mutant\]\])")


def move_module(project: Path, old: str, new: str) -> list[Path]:
    """Move it, and return the files that changed; nothing is changed where it cannot be moved."""
    origin, place = _path(project, old), _path(project, new)
    if not origin.is_file() or place.exists() or not place.parent.is_dir():
        message = f"{origin} must be a file, {place.parent} a folder, and {place} not there"
        raise ValueError(message)
    origin.rename(place)
    changed = [path for path in _files(project) if _rewrite(path, old, new)]
    return [place, *changed, *_move_mistakes(project, old, new)]


def rename_in_text(text: str, old: str, new: str) -> str:
    """Dotted names and paths of a module, and of what is in it, under its new name."""
    text = re.sub(rf"(?<![\w.]){re.escape(old)}(?!\w)", new, text)
    path, moved = (name.partition(".")[2].replace(".", "/") for name in (old, new))
    return re.sub(rf"(?<![\w/])((?:src/)?(?:discreet/)?){path}\.py\b", rf"\g<1>{moved}.py", text)


def rename_imports(text: str, old: str, new: str) -> str:
    """``from package import module`` under the new name; its use keeps the name it had."""
    home, _, name = old.rpartition(".")
    new_home, _, new_name = new.rpartition(".")
    lines = text.splitlines(keepends=True)
    for node in reversed(list(ast.walk(ast.parse(text)))):
        if not (isinstance(node, ast.ImportFrom) and node.module == home):
            continue
        moved = [alias for alias in node.names if alias.name == name]
        if not moved:
            continue
        used = moved[0].asname or name
        known = new_name if used == new_name else f"{new_name} as {used}"
        others = [ast.unparse(alias) for alias in node.names if alias not in moved]
        indent = " " * node.col_offset
        written = [f"{indent}from {home} import {', '.join(others)}\n"] if others else []
        written.append(f"{indent}from {new_home} import {known}\n")
        lines[node.lineno - 1 : node.end_lineno] = written
    return "".join(lines)


def _rewrite(path: Path, old: str, new: str) -> bool:
    text = path.read_text(encoding="utf-8")
    if old.rpartition(".")[2] not in text:
        return False
    # Whole statements first: the dotted name stands in the other form of import.
    renamed = rename_imports(text, old, new) if path.suffix == ".py" else text
    renamed = rename_in_text(renamed, old, new)
    if renamed != text:
        path.write_text(renamed, encoding="utf-8")
    return renamed != text


def _move_mistakes(project: Path, old: str, new: str) -> list[Path]:
    """Planted mistakes name a package: those whose text went to another one follow it."""
    left, entered = (name.split(".")[1] for name in (old, new))
    if left == entered:
        return []
    moved = _path(project, new).read_text(encoding="utf-8")
    changed = []
    for path in sorted((project / "tests/mutants").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        parts = [_follow(part, left, entered, moved) for part in _MISTAKE.split(text)]
        if "".join(parts) != text:
            path.write_text("".join(parts), encoding="utf-8")
            changed.append(path)
    return changed


def _follow(part: str, left: str, entered: str, moved: str) -> str:
    mistakes = tomllib.loads(part).get("mutant", [])
    if any(m["package"] == f"discreet/{left}" and m["old"] in moved for m in mistakes):
        return part.replace(f'"discreet/{left}"', f'"discreet/{entered}"', 1)
    return part


def _files(project: Path) -> Iterator[Path]:
    yield from (path for path in project.iterdir() if path.suffix in READ)
    for folder in FOLDERS:
        for path in sorted((project / folder).rglob("*")):
            if path.suffix in READ and "__pycache__" not in path.parts:
                yield path


def _path(project: Path, name: str) -> Path:
    return project / "src" / f"{name.replace('.', '/')}.py"


if __name__ == "__main__":
    for changed in move_module(PROJECT, *sys.argv[1:3]):
        sys.stdout.write(f"{changed.relative_to(PROJECT)}\n")
