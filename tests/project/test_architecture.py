"""The page about the architecture names only what exists, and leaves no package out."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "discreet"
PAGE = ROOT / "docs" / "architecture.md"

_FILE = re.compile(r"(?<![\w./(])(?:[\w.-]+/)*[\w-]+\.(?:py|md|toml)\b")
_FOLDER = re.compile(r"`((?:[\w-]+/)+)`")
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_BESIDE = re.compile(r"(?<![\w./])(?:rdp|pld)/\w+(?!\.py|[\w/])")
_TYPE = re.compile(r"^\| `(\w+)` \| `([\w/]+\.py)` \|", re.MULTILINE)
_PACKAGE = re.compile(r"^\| `(\w+)/` \| (\S.*\S) \| \S.* \|$", re.MULTILINE)
_LAYER = re.compile(r"`(\w+)`")
_NAMED = re.compile(r"^(?:class )?([A-Z]\w+)(?=[:(]| =)", re.MULTILINE)
BARE = {"dialect.py", "plan.py", "errors.py", "tags.py", "ledger.py"}  # of any folder


def named(page: str) -> Iterator[str]:
    """List every file and folder that a page names, in its text and its drawings."""
    yield from (match[0] for match in _FILE.finditer(page))
    yield from (match[1] for match in _FOLDER.finditer(page))
    for block in _BLOCK.findall(page):
        yield from (f"accounting/{match[0]}.py" for match in _BESIDE.finditer(block))


def missing(page: str) -> list[str]:
    """List what a page names and nobody has."""
    bases = (SOURCE, ROOT)
    return sorted(
        name
        for name in set(named(page)) - BARE
        if not name.startswith("calculus.md") and not any((base / name).exists() for base in bases)
    )


def classes(path: Path) -> set[str]:
    """List the classes of a file, and the names that stand for several of them."""
    return set(_NAMED.findall(path.read_text(encoding="utf-8")))


def test_every_file_and_folder_exists() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(set(named(page))) > 100
    assert missing(page) == []


def test_every_package_is_described() -> None:
    rows = _PACKAGE.findall(PAGE.read_text(encoding="utf-8"))
    described = dict(rows)
    assert len(rows) == len(described), "each package has one row"
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert set(described) == packages
    assert all(len(words) > 20 for words in described.values())


@pytest.mark.parametrize(
    "package", sorted({path.parts[-3] for path in SOURCE.glob("*/*/__init__.py")} - {"discreet"})
)
def test_every_folder_is_described(package: str) -> None:
    named_folders = set(_FOLDER.findall(PAGE.read_text(encoding="utf-8")))
    folders = {f"{package}/{path.parent.name}/" for path in SOURCE.glob(f"{package}/*/__init__.py")}
    assert folders - named_folders == set()


def test_the_central_types_are_where_the_page_says() -> None:
    types = _TYPE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(types) > 10
    assert [each for each in types if each[0] not in classes(SOURCE / each[1])] == []


def test_the_main_types_of_a_package_are_in_it() -> None:
    table = re.findall(r"^\| `(\w+)/` \|.*\| (.*) \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    for package, types in table:
        held = {name for path in (SOURCE / package).rglob("*.py") for name in classes(path)}
        assert set(_LAYER.findall(types)) <= held, package


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in `core/unit.py`,", []),
        ("in `core/units.py`,", ["core/units.py"]),
        ("│  core/units.py   text", ["core/units.py"]),
        ("in `relational/engines/velox/`,", ["relational/engines/velox/"]),
        ("see `docs/errors.md` and `proofs/none.md`", ["proofs/none.md"]),
        ("```text\n rdp/poisson, pld/nothing\n```", ["accounting/pld/nothing.py"]),
    ],
)
def test_the_checker_finds_what_is_missing(text: str, expected: list[str]) -> None:
    assert missing(text) == expected
