"""A file that was touched: refused before it is charged for, reused, paid again, or compared."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.hospital import run

COUNT = 'query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5 --json'
SYNOPSIS = "synopsis visits --attributes ward --marginals 1 --epsilon 0.5 --json"


def touched(project: Path) -> None:
    file = project / "visits.csv"
    os.utime(file, ns=(1, file.stat().st_mtime_ns + 10**9))


def spent() -> float:
    return float(run("ledger show --json").json["spent"]["epsilon"])


@pytest.mark.parametrize("line", [COUNT, SYNOPSIS])
def test_a_touched_file_does_not_charge_a_paid_question_again(project: Path, line: str) -> None:
    first = run(line)
    assert (first.code, spent()) == (0, 0.5)
    touched(project)
    refused = run(line)
    assert (refused.code, spent()) == (2, 0.5)
    assert "paid_before_other_snapshot" in refused.output + refused.error
    assert run(f"{line} --reuse").output == first.output
    assert spent() == 0.5
    both = run(f"{line} --reuse --pay-again")
    assert (both.code, "paid_before_unclear" in both.output + both.error) == (2, True)
    assert run(f"{line} --pay-again").code == 0
    assert spent() == 1


def test_the_owner_compares_and_paid_questions_stay_free(project: Path) -> None:
    first = run(COUNT)
    kept = run("snapshot keep")
    assert (kept.code, "kept: visits" in kept.output) == (0, True)
    assert (project / "discreet.snapshot").stat().st_mode & 0o777 == 0o600
    touched(project)
    same = run("snapshot same")
    assert (same.code, "the same: visits" in same.output) == (0, True)
    assert run(COUNT).output == first.output
    assert spent() == 0.5
    with (project / "visits.csv").open("a") as file:
        file.write("\n")
    other = run("snapshot same")
    assert (other.code, "content_differs" in other.error) == (2, True)
    assert run(COUNT).code == 2


def test_it_is_refused_where_there_is_nothing_to_compare(project: Path) -> None:
    assert "ledger_not_begun" in run("snapshot keep").error
    assert not (project / "visits.ledger").exists()
    run(COUNT)
    assert "kept_snapshot_unreadable" in run("snapshot same").error
    assert run("snapshot keep --file elsewhere").code == 0
    assert run("snapshot same --file elsewhere").code == 0
    text = (project / "discreet.toml").read_text()
    assert text.count("[tables.visits]") == 1
    named = text.replace("[tables.visits]", '[tables.visits]\nsnapshot = "july"')
    (project / "discreet.toml").write_text(named)
    assert "snapshot_without_version" in run("snapshot same --file elsewhere").error
