"""What else is installed does not matter: other people's packages may be called `tests`, too."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
NAMES = ("tests", "examples", "docs", "benchmarks", "proofs")
"""Folders of this project, and names that careless packages leave in `site-packages`."""
IN_CHILDREN = (
    "tests/server/test_state.py::test_processes_that_start_at_once_migrate_once[sqlite]",
    "tests/project/test_adult.py",
)
"""A test whose processes import from `tests`, and one that imports from `examples`."""


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of packages with our names, none of which may be imported."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        line = f"raise ImportError('a foreign package called {name} was imported')\n"
        (tmp_path / name / "__init__.py").write_text(line, encoding="utf-8")
    return tmp_path


def test_packages_that_others_call_tests_hide_none_of_ours(foreign: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *IN_CHILDREN],
        cwd=PROJECT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_paths(foreign))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-4000:]


def _paths(foreign: Path) -> list[str]:
    """Where children look, after the project itself and before what is installed."""
    return [path for path in (os.environ.get("PYTHONPATH"), str(foreign)) if path]
