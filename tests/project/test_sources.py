"""Every source that a docstring, comment, proof or page cites is on the page of sources.

A citation is a key such as `000a:C12`, alone or with more of the same document behind it:
`000a:C12, D2`, `modern-data:P1-P5`, `004d:F5 (a note), F9 and F21`. `E3(7)` is a part of `E3`.
Rules of the privacy contract are cited as `contract, "Spending"`.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "sources.md"
CONTRACT = ROOT / "docs" / "contract.md"
TEXTS = sorted(
    path
    for folder in ("src", "docs", "proofs", "tests", "examples", "benchmarks")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md", ".toml"} and path not in {SOURCES, Path(__file__).resolve()}
)

DOCUMENTS = (
    *("000a", "000b", "004a", "004b", "004c", "004d"),
    *("modern-data", "modern-learn", "boosting-and-analysts", "analysts-verified"),
)
NAME = rf"(?<![\w.-])(?P<document>{'|'.join(DOCUMENTS)})(?![\w-])"
ITEM = r"(?:[A-Z]\d{1,2}[a-z]?|\d{1,2}-\d{1,2}|\d{1,2})(?!\w|[.-]\d)"
PARTS = r"(?:\(\w\)(?:,\s\(\w\))*)?"
NOTE = r"(?:\s\([^()]*\))?"
CITATION = re.compile(
    rf"{NAME}(?::(?P<items>{ITEM}{PARTS}{NOTE}"
    rf"(?:(?:[,;]\s|\sand\s|[–-])(?P<more>{ITEM}){PARTS}{NOTE})*))?"
)
EACH = re.compile(rf"(?P<joint>[–-])?(?P<item>{ITEM}){PARTS}{NOTE}")
RULE = re.compile(r'\b[Cc]ontract,?(?P<sections>(?:(?:,|\sand)?\s\(?"[^"]*"(?:\s\([^()]*\))?)+)')
LINE = re.compile(rf"- `{NAME}:(?P<item>{ITEM})` \((?P<place>[^()]+)\): (?P<words>\S.*\S)\.")


def flat(text: str) -> str:
    """Join lines: what a citation says does not depend on where its line ends."""
    return re.sub(r"\s*\n[\s#>]*", " ", text)


def split(item: str) -> tuple[str, int]:
    letters = item.rstrip("0123456789")
    return letters, int(item.removeprefix(letters))


def items(text: str) -> Iterator[str]:
    """List the items of one citation, ranges written out."""
    before = ""
    for match in EACH.finditer(text):
        item = match["item"]
        if match["joint"]:
            (letter, first), (same, last) = split(before), split(item)
            assert letter == same, f"{before}-{item}: a range has one letter"
            assert first < last, f"{before}-{item}: a range ascends"
            yield from (f"{letter}{number}" for number in range(first + 1, last + 1))
        else:
            yield item
        before = item


def keys(text: str) -> Iterator[str]:
    """List the keys that a text cites; a document without an item is a key without an item."""
    for match in CITATION.finditer(flat(text)):
        for item in items(match["items"]) if match["items"] else [""]:
            yield f"{match['document']}:{item}"


def rules(text: str) -> Iterator[str]:
    """List the sections of the contract that a text cites."""
    for match in RULE.finditer(flat(text)):
        yield from re.findall(r'"([^"]*)"', re.sub(r"\s\([^()]*\)", "", match["sections"]))


def lines(page: str) -> list[str]:
    """List the keys that the page of sources explains; a line of another form is an error."""
    found = []
    for line in page.splitlines():
        if line.startswith("- "):
            match = LINE.fullmatch(line)
            assert match, f"expected - `document:item` (place): words. Received {line}"
            found.append(f"{match['document']}:{match['item']}")
    return found


def headings(page: str) -> set[str]:
    return set(re.findall(r"^## (.+)$", page, re.MULTILINE))


@cache
def cited() -> dict[str, list[str]]:
    """List every key of the repository, with the files that cite it."""
    found: dict[str, list[str]] = {}
    for path in TEXTS:
        for key in keys(path.read_text(encoding="utf-8")):
            found.setdefault(key, []).append(path.relative_to(ROOT).as_posix())
    return found


def test_every_key_has_a_line() -> None:
    known = set(lines(SOURCES.read_text(encoding="utf-8")))
    assert {key: places for key, places in cited().items() if key not in known} == {}


def test_every_line_is_cited_once_written_and_in_order() -> None:
    written = lines(SOURCES.read_text(encoding="utf-8"))
    assert [key for key in written if key not in cited()] == []
    assert len(written) == len(set(written)) > 150
    documents = [key.partition(":")[0] for key in written]
    assert set(documents) == set(DOCUMENTS)
    assert sum(a != b for a, b in pairwise(documents)) == len(DOCUMENTS) - 1


def test_every_rule_of_the_contract_exists_and_is_cited() -> None:
    sections = headings(CONTRACT.read_text(encoding="utf-8"))
    places = {
        (path.relative_to(ROOT).as_posix(), rule)
        for path in TEXTS
        for rule in rules(path.read_text(encoding="utf-8"))
    }
    assert [place for place in sorted(places) if place[1] not in sections] == []
    assert {rule for _, rule in places} == sections


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Source: 000a:C12.", ["000a:C12"]),
        ("000a:C12, 004d:F15, F16, D2.", ["000a:C12", "004d:F15", "004d:F16", "004d:D2"]),
        ("modern-data:P1-P3, Q2; more", [f"modern-data:{i}" for i in ("P1", "P2", "P3", "Q2")]),
        ("000a:C2–C4, 004a:B3", ["000a:C2", "000a:C3", "000a:C4", "004a:B3"]),
        ("004c:10-8, 11-6. modern-learn:13.", ["004c:10-8", "004c:11-6", "modern-learn:13"]),
        ("(004a:E3(7), E11).", ["004a:E3", "004a:E11"]),
        ("004b:A21(b), (d), 004d:F5 and F9", ["004b:A21", "004d:F5", "004d:F9"]),
        ("000a:H4 (fits best), H5 (a program); B2", ["000a:H4", "000a:H5", "000a:B2"]),
        ("analysts-verified:H8b.", ["analysts-verified:H8b"]),
        ('"""000a:C1,\n    A2."""', ["000a:C1", "000a:A2"]),
        ("    # 000a:C1,\n    # A2", ["000a:C1", "000a:A2"]),
        ("(000a:C2), L2 noise", ["000a:C2"]),
        ("000a:Z99", ["000a:Z99"]),
        ("004a, Fig 3.1", ["004a:"]),
        ("modern-learn, section 8", ["modern-learn:"]),
        ("modern-data: N2", ["modern-data:"]),
        ("0.004a 1000a x-004a", []),
        ("1e-4 0.001, 000ab:C1", []),
    ],
)
def test_citations_are_read(text: str, expected: list[str]) -> None:
    assert list(keys(text)) == expected


@pytest.mark.parametrize("text", ["000a:C4–D6", "000a:C4–C2"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(AssertionError, match="a range"):
        list(keys(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('contract, "Spending".', ["Spending"]),
        ('Contract, "Columns" (AVG), "Numbers".', ["Columns", "Numbers"]),
        ('contract,\n    "What may\n    be seen"', ["What may be seen"]),
        ('contract ("no such section")', ["no such section"]),
        ("the contract of a function", []),
    ],
)
def test_rules_are_read(text: str, expected: list[str]) -> None:
    assert list(rules(text)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "- `000a:C1` (section 3.2): a coin",
        "- `000a:C1`: a coin.",
        "- `000c:C1` (section 3.2): a coin.",
        "- 000a:C1 (section 3.2): a coin.",
    ],
)
def test_a_line_of_another_form_is_refused(line: str) -> None:
    with pytest.raises(AssertionError, match="expected"):
        lines(line)
