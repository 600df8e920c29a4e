"""Every error code is documented, and every documented code exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "errors.md"
ROW = re.compile(r"^\| `(?P<code>[a-z0-9_]+)` \| (?P<meaning>[^|]+) \| (?P<remedy>[^|]+) \|$", re.M)


def codes_in_source() -> Iterator[tuple[str, str]]:
    """Every `code="..."` keyword in the source, wherever it stands, with its place."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "code":
                for constant in ast.walk(node.value):
                    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                        yield constant.value, f"{path.relative_to(ROOT)}:{constant.lineno}"


def documented() -> list[str]:
    return [match["code"] for match in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def test_every_code_is_documented() -> None:
    known = set(documented())
    missing = {code: place for code, place in codes_in_source() if code not in known}
    assert not missing, (
        f"add these codes to docs/errors.md as `| code | meaning | remedy |`: {missing}"
    )


def test_no_documented_code_has_gone() -> None:
    gone = set(documented()) - {code for code, _ in codes_in_source()}
    assert not gone, f"remove these codes from docs/errors.md: {sorted(gone)}"


def test_codes_are_listed_once_and_in_order() -> None:
    assert documented() == sorted(set(documented()))
