"""Who may read what is written: files that anybody may read hold public things or releases alone.

Everything else goes through ``os.open`` with a mode of the owner's alone, or into a folder that is.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "discreet"
READABLE = {
    "cli/demo.py": "declarations of an invented table",
    "cli/init.py": "declarations",
    "cli/service_draft.py": "declarations",
    "cli/service_setup.py": "declarations",
    "cli/synopsis.py": "a release",
    "learn/estimators/base.py": "a release",
    "release/export.py": "a release",
    "server/operations/backup.py": "the number of a checkpoint, beside a file of the owner's alone",
    "streams/live/published.py": "releases, in a folder of the owner's alone",
    "synthetic/evaluation/report.py": "a report about releases",
    "synthetic/synthetic_release.py": "a release",
    "synthetic/synthetic_table.py": "a release",
    "synthetic/tables/tables_release.py": "a release",
    "relational/engines/duckdb/csv_file.py": "a copy in a folder of the owner's alone",
}
"""Files that write with the permissions of the process, and why that is harmless."""

_MODE = re.compile(r"[wax][bt+]{0,2}")


def creating(call: ast.Call) -> bool:
    """Whether a call makes or extends a file without saying who may read it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("write_text", "write_bytes", "touch"):
        return True
    if name != "open":
        return False
    if ast.unparse(call.func) == "os.open":
        return "O_CREAT" in ast.unparse(call) and not private_mode(call)
    given = [*call.args, *(each.value for each in call.keywords)]
    said = [each.value for each in given if isinstance(each, ast.Constant)]
    return any(isinstance(each, str) and _MODE.fullmatch(each) for each in said)


def private_mode(call: ast.Call) -> bool:
    """Whether ``os.open`` is given a mode that leaves out group and others."""
    if len(call.args) < 3:
        return False
    mode = call.args[2]
    if isinstance(mode, ast.Constant) and isinstance(mode.value, int):
        return not mode.value & 0o077
    return ast.unparse(mode) in ("OWNER_ONLY", "durable_files.OWNER_ONLY")


@cache
def places() -> frozenset[tuple[str, int]]:
    """Where files are made: parsed only where the text has one of the names."""
    found = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"\b(open|write_text|write_bytes|touch)\(", text):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and creating(node):
                    found.add((path.relative_to(SOURCE).as_posix(), node.lineno))
    return frozenset(found)


def test_what_anybody_may_read_is_listed_with_its_reason() -> None:
    found = {place for place, _ in places()}
    assert found - set(READABLE) == set(), sorted(places())


def test_the_list_names_nothing_else() -> None:
    assert set(READABLE) - {place for place, _ in places()} == set()


def spilling(text: str) -> list[str]:
    """Engines that spill, when memory is short, into a folder that nobody chose.

    That is `.tmp` where the process happens to work, in files that anybody may read. Who opens a
    database to read its catalogue sorts nothing.
    """
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    opened = [ast.unparse(each) for each in calls if ast.unparse(each.func) == "duckdb.connect"]
    return [
        each
        for each in opened
        if not re.search("config=settings|temp_directory|read_only=True", each)
    ]


def test_every_engine_is_told_where_to_spill() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    opening = {path: text for path, text in texts.items() if "duckdb.connect(" in text}
    assert SOURCE / "relational/engines/duckdb/engine.py" in opening
    assert [fault for text in opening.values() for fault in spilling(text)] == []
    assert spilling('with duckdb.connect(":memory:") as c: pass')


def makes_a_file(text: str) -> bool:
    nodes = ast.walk(ast.parse(text))
    return any(isinstance(each, ast.Call) and creating(each) for each in nodes)


def test_every_way_to_make_a_file_is_seen() -> None:
    for text in (
        "Path(x).write_text(y)",
        "p.write_bytes(y)",
        'p.open("w")',
        'p.open("ab")',
        'open(p, "x")',
        "os.open(p, os.O_WRONLY | os.O_CREAT)",
        "os.open(p, os.O_WRONLY | os.O_CREAT, 0o644)",
        "p.touch()",
    ):
        assert makes_a_file(text), text
    for text in (
        'p.open("rb")',
        "os.open(p, os.O_WRONLY | os.O_CREAT, 0o600)",
        "os.open(p, os.O_CREAT, OWNER_ONLY)",
        "open(p)",
    ):
        assert not makes_a_file(text), text
