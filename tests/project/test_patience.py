"""Tests wait as long as a busy machine needs; an HTTP client by itself waits five seconds."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ASKING = {f"httpx.{name}" for name in ("Client", "AsyncClient", "get", "post", "request", "stream")}


def impatient(path: Path) -> list[str]:
    """The calls of a file that ask over HTTP without saying how long they wait."""
    return [
        f"{path.name}:{call.lineno}"
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func) in ASKING
        and "timeout" not in {each.arg for each in call.keywords}
    ]


def test_whoever_asks_over_http_says_how_long_to_wait(tmp_path: Path) -> None:
    assert [each for path in sorted(TESTS.rglob("*.py")) for each in impatient(path)] == []
    (tmp_path / "planted.py").write_text("httpx.get('http://127.0.0.1')", encoding="utf-8")
    assert impatient(tmp_path / "planted.py") == ["planted.py:1"]
