"""Every planted mistake still has its place in the source, and names tests that exist."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.mutants.run import PROJECT, Mutant, mutants

AREAS = sorted({mutant.area for mutant in mutants([])})


def fault(mutant: Mutant) -> str | None:
    """What is wrong with a planted mistake, if anything is."""
    try:
        path, planted = mutant.planted(PROJECT)
    except ValueError as missing:
        return str(missing)
    if mutant.old == mutant.new:
        return f"{mutant.title} changes nothing"
    if path.suffix == ".py":  # a text that is no program is noticed by the parser alone
        compile(planted, path, "exec")
    files = {test.partition("::")[0] for test in mutant.tests}
    if not files or not all((PROJECT / file).exists() for file in files):
        return f"{mutant.title} names no tests, or some that are gone"
    return None


@pytest.mark.parametrize("area", AREAS)
def test_planted_mistakes_apply_and_name_their_tests(area: str) -> None:
    faults = [fault(mutant) for mutant in mutants([]) if mutant.area == area]
    assert faults
    assert [text for text in faults if text] == []


def test_a_mistake_that_has_no_place_or_no_tests_is_found() -> None:
    placed = mutants([])[0]
    assert fault(placed) is None
    assert "0 times" in str(fault(replace(placed, old="a text that nobody wrote")))
    assert "nothing" in str(fault(replace(placed, new=placed.old)))
    assert "tests" in str(fault(replace(placed, tests=())))
    assert "tests" in str(fault(replace(placed, tests=("tests/nowhere.py::test_it",))))


def test_names_of_planted_mistakes_are_unique() -> None:
    titles = [mutant.title for mutant in mutants([])]
    assert len(titles) == len(set(titles))


def test_pins_of_proofs_are_no_tests_of_mistakes() -> None:
    named = [Path(test.partition("::")[0]) for mutant in mutants([]) for test in mutant.tests]
    assert not [path for path in named if path.name == "test_proofs.py"]
