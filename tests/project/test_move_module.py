"""A module that is moved is found by everything that names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project.move_module import move_module

FILES = {
    "src/discreet/curator/sql.py": "THIS = 'the price'\n",
    "src/discreet/curator/sqlite.py": "OTHER = 1\n",
    "src/discreet/release/__init__.py": "",
    "src/discreet/top.py": (
        "from discreet.curator import sql, sqlite\n"
        "from discreet.curator.sql import THIS\n\n\n"
        "def late():\n    from discreet.curator import sql as s\n    return s, sql.THIS, sqlite\n"
    ),
    "proofs/price.md": "pins: discreet.curator.sql:THIS 1234\n",
    "docs/page.md": "`curator/sql.py` is src/discreet/curator/sql.py, not curator/sqlite.py.\n",
    "pyproject.toml": '"src/discreet/curator/sql.py" = ["E1"]\n',
    "tests/mutants/curator.toml": (
        '[[mutant]]\nname = "a"\npackage = "discreet/curator"\nold = "the price"\nnew = "none"\n'
        '[[mutant]]\nname = "b"\npackage = "discreet/curator"\nold = "OTHER"\nnew = "NONE"\n'
    ),
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_everything_that_names_a_module_follows_it(project: Path) -> None:
    changed = move_module(project, "discreet.curator.sql", "discreet.release.price")
    assert not (project / "src/discreet/curator/sql.py").exists()
    read = {name: (project / name).read_text() for name in list(FILES)[1:]}
    assert read["src/discreet/top.py"] == (
        "from discreet.curator import sqlite\nfrom discreet.release import price as sql\n"
        "from discreet.release.price import THIS\n\n\n"
        "def late():\n    from discreet.release import price as s\n    return s, sql.THIS, sqlite\n"
    )
    assert read["proofs/price.md"] == "pins: discreet.release.price:THIS 1234\n"
    assert read["docs/page.md"] == (
        "`release/price.py` is src/discreet/release/price.py, not curator/sqlite.py.\n"
    )
    assert read["pyproject.toml"].startswith('"src/discreet/release/price.py"')
    assert read["tests/mutants/curator.toml"].count('"discreet/release"') == 1
    assert read["tests/mutants/curator.toml"].index('"discreet/release"') < 60
    assert len(changed) == len(set(changed)) == 6


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("discreet.curator.none", "discreet.release.none"),
        ("discreet.curator.sql", "discreet.curator.sqlite"),
        ("discreet.curator.sql", "discreet.nowhere.sql"),
    ],
)
def test_what_cannot_be_moved_changes_nothing(project: Path, old: str, new: str) -> None:
    with pytest.raises(ValueError, match="must be a file"):
        move_module(project, old, new)
    assert {name: (project / name).read_text() for name in FILES} == FILES
