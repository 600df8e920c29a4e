"""Every planted mistake still has its place in the source, and names tests that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.run import PROJECT, Mutant, mutants


@pytest.mark.parametrize("mutant", mutants([]), ids=lambda mutant: mutant.title)
def test_a_planted_mistake_applies_and_names_its_tests(mutant: Mutant) -> None:
    path, planted = mutant.planted(PROJECT)
    assert planted != path.read_text()
    if path.suffix == ".py":  # a text that is no program is noticed by the parser alone
        compile(planted, path, "exec")
    assert mutant.tests, "a mistake without tests is killed by nothing"
    for test in mutant.tests:
        assert (PROJECT / test.partition("::")[0]).exists()


def test_names_of_planted_mistakes_are_unique() -> None:
    titles = [mutant.title for mutant in mutants([])]
    assert len(titles) == len(set(titles))


def test_pins_of_proofs_are_no_tests_of_mistakes() -> None:
    named = [Path(test.partition("::")[0]) for mutant in mutants([]) for test in mutant.tests]
    assert not [path for path in named if path.name == "test_proofs.py"]
