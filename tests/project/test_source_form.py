"""The form of the source: short files, telling names, nothing left for later.

Docstrings are the matter of ruff (rules D) and of test_docstrings.py.
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(
    path
    for folder in ("src", "tests", "proofs", "examples", "benchmarks")
    for path in (ROOT / folder).rglob("*.py")
)
LONGEST = 600
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
LEFT_FOR_LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")


def where(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_there_is_source() -> None:
    assert len(FILES) > 5


def test_no_file_is_too_long() -> None:
    lengths = {where(path): path.read_text(encoding="utf-8").count("\n") for path in FILES}
    assert {place: lines for place, lines in lengths.items() if lines > LONGEST} == {}


def test_every_module_name_says_something() -> None:
    names = {where(path): set(path.relative_to(ROOT).with_suffix("").parts) for path in FILES}
    assert [place for place, parts in names.items() if parts & EMPTY_NAMES] == []


def test_a_class_name_stands_once_except_for_an_event_and_its_mechanism() -> None:
    homes: dict[str, set[str]] = defaultdict(set)
    for path in (path for path in FILES if where(path).startswith("src/")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(where(path))
    twice = {name: sorted(places) for name, places in homes.items() if len(places) > 1}
    event, mechanism = "src/discreet/core/events/", "src/discreet/mechanisms/"
    assert {
        name: places
        for name, places in twice.items()
        if not (len(places) == 2 and all(map(str.startswith, places, (event, mechanism))))
    } == {}


def test_nothing_is_left_for_later() -> None:
    left = [
        f"{where(path)}:{number}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if LEFT_FOR_LATER.search(line)
    ]
    assert left == []
