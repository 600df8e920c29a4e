"""``discreet demo``: the main job from an installed package, with nothing but itself."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet as dp
from tests.cli.hospital import Done, run


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def done(place: Path) -> Done:
    return run(f"demo --folder {place}")


def test_ten_questions_are_answered(done: Done) -> None:
    assert done.code == 0, done.error
    assert "INVENTED" in done.output
    for number in range(1, 11):
        assert f"── {number}. " in done.output
    assert done.output.count("guarantee: epsilon 0.2 for each patient") == 10


def test_a_repeated_question_is_free_and_refusals_explain_themselves(done: Done) -> None:
    assert "as before: True" in done.output
    for code in ("unsupported_sql", "key_is_identifier", "unknown_column"):
        assert f"→ [{code}]" in done.output


def test_the_folder_goes_on_as_a_project(done: Done, place: Path) -> None:
    assert "verified" in done.output
    assert (place / "months.svg").read_text(encoding="utf-8").startswith("<svg")
    with dp.Project.read(place / "discreet.toml").curator() as curator:
        assert len(curator.history()) == 11
    again = run(f"demo --folder {place}")
    assert (again.code, "project_exists" in again.error) == (2, True)
