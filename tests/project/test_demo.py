"""The demonstration runs to its end, and tells the truth."""

from importlib.util import find_spec
from pathlib import Path

import pytest

import discreet as dp

needed = ("polars", "altair", "vl_convert")
missing = [name for name in needed if find_spec(name) is None]
pytestmark = pytest.mark.skipif(bool(missing), reason=f"`make demo` installs {missing}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def said(folder: Path) -> str:
    import contextlib
    import io

    import demo

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        demo.main(folder)
    return out.getvalue()


def test_ten_questions_and_one_by_accuracy_are_answered(said: str) -> None:
    for number in range(1, 12):
        assert f"── {number}. " in said
    assert said.count("guarantee: epsilon 0.1 for each row") == 10


def test_a_repeated_question_is_free_and_refusals_explain_themselves(said: str) -> None:
    assert "as before: True; nothing was charged" in said
    for code in ("unsupported_sql", "key_not_declared", "column_not_declared", "budget_exhausted"):
        assert f"→ [{code}]" in said


def test_most_intervals_hold(said: str) -> None:
    (line,) = (line for line in said.splitlines() if "hold the truth" in line)
    holding, stated = (int(word) for word in line.split() if word.isdigit())
    assert stated > 40
    assert holding >= 0.7 * stated  # stated for 95 %; missing this is no accident


def test_the_picture_and_the_ledger_are_left(said: str, folder: Path) -> None:
    assert (folder / "ages.png").read_bytes().startswith(b"\x89PNG")
    assert str(folder / "ages.png") in said
    ledger = dp.ledger.SQLite(folder / "people.ledger")
    assert len(list(ledger.entries())) == 3 + 2 * 11
    ledger.verify()
    ledger.close()
