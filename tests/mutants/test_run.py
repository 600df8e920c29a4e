"""Verdicts of the mutation run: on what is planted now, by the tests listed, by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mutants.run import Copy, Mutant

SOURCE = "def larger(a, b):\n    return a if a > b else b\n"
TESTS = """
import thing

def test_of_the_first():
    assert thing.larger(2, 1) == 2

def test_of_the_second():
    assert thing.larger(1, 2) == 2

def test_that_never_passes():
    assert thing.larger(1, 2) == 3
"""
FILE = "tests/test_thing.py"
FIRST, SECOND, NEVER = (
    f"{FILE}::test_{name}" for name in ("of_the_first", "of_the_second", "that_never_passes")
)
SMALLER, LAST, ALIKE = "a < b", "a > a", "a >=b"  # as long as what they replace


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    project = tmp_path_factory.mktemp("project")
    for folder, name, text in (("src", "thing.py", SOURCE), ("tests", "test_thing.py", TESTS)):
        (project / folder).mkdir()
        (project / folder / name).write_text(text)
    (project / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    made = Copy(project, tmp_path_factory.mktemp("copy"))
    yield made
    made.close()


def mutant(new: str, *tests: str) -> Mutant:
    return Mutant("area", "name", "", "a > b", new, tests)


def test_a_mistake_is_killed_by_a_test_that_fails_and_survives_others(copy: Copy) -> None:
    for _ in range(2):  # nothing is left of a mistake: neither its text nor its bytecode
        found = copy.verdict(mutant(LAST, FIRST, SECOND), None)
        assert (found.outcome, found.killer) == ("killed", FIRST)
        assert copy.verdict(mutant(LAST, SECOND), None).outcome == "survived"
        assert copy.verdict(mutant(ALIKE, FIRST, SECOND), None).outcome == "survived"
        assert (copy.folder / "src/thing.py").read_text() == SOURCE


@pytest.mark.parametrize("known", [SECOND, f"{FILE}::test_that_was_removed", NEVER, "elsewhere"])
def test_the_last_killer_decides_nothing(copy: Copy, known: str) -> None:
    found = copy.verdict(mutant(LAST, FIRST, SECOND), known)
    assert (found.outcome, found.killer) == ("killed", FIRST)
    assert copy.verdict(mutant(ALIKE, FIRST, SECOND), known).outcome == "survived"


def test_the_last_killer_runs_first(copy: Copy) -> None:
    assert copy.verdict(mutant(SMALLER, FILE), SECOND).killer == SECOND
    assert copy.verdict(mutant(SMALLER, FILE), None).killer == FIRST


def test_a_test_that_fails_without_the_mistake_kills_nothing(copy: Copy) -> None:
    assert copy.failing([FIRST, SECOND, NEVER]) == {NEVER}
    gone = f"{FILE}::test_that_was_removed"
    assert copy.failing([FIRST, NEVER, gone, SECOND]) == {NEVER, gone}


def test_parameters_with_another_name_without_the_mistake_are_run_all(copy: Copy) -> None:
    assert copy.failing([SECOND, f"{FIRST}[once]"]) == set()
    assert copy.failing([SECOND, f"{NEVER}[once]"]) == {f"{NEVER}[once]"}


@pytest.mark.parametrize("new", ["a > ", "a >b or import this"])
def test_a_source_that_cannot_be_read_is_no_kill(copy: Copy, new: str) -> None:
    assert copy.verdict(mutant(new, FILE), None).outcome == "unclear"


def test_what_never_ends_is_killed(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copy, "patience", 8.0)
    found = copy.verdict(mutant("any(iter(int, 1)) and a", FIRST), None)
    assert (found.outcome, found.killer) == ("killed", FIRST)


def test_what_ends_the_process_is_no_kill(copy: Copy) -> None:
    """As exit status 1 without a test that failed: it may be the machine."""
    found = copy.verdict(mutant("__import__('os')._exit(1)", FIRST), None)
    assert found.outcome == "unclear"
    assert Path(copy.folder / "src/thing.py").read_text() == SOURCE
