"""The form of the source: short files, telling names, nothing left for later.

Docstrings are the matter of ruff (rules D) and of test_docstrings.py.
"""

import re
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


def test_nothing_is_left_for_later() -> None:
    left = [
        f"{where(path)}:{number}"
        for path in FILES
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if LEFT_FOR_LATER.search(line)
    ]
    assert left == []
