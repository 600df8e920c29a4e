"""``discreet ledger``: the owner looks, verifies, exports, amends and backs up."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

import discreet as dp
from discreet.cli.app import app
from tests.cli.hospital import RUNNER, changed, run

COUNT = 'query "SELECT COUNT(*) AS n FROM visits" --epsilon 0.5 --as ann'


@pytest.fixture
def asked(project: Path) -> Path:
    assert run(COUNT).code == 0
    return project


def test_what_was_asked_spent_and_remains_is_shown(asked: Path) -> None:
    shown = run("ledger show")
    for part in ("SELECT COUNT(*)", "ann", "epsilon 0.5", "released", "remaining: epsilon 2.5"):
        assert part in shown.output
    told = run("ledger show --json").json
    assert told["asked"][0]["analyst"] == "ann"
    assert told["spent"] == {"notion": "ApproxDP", "epsilon": 0.5, "delta": 0}
    assert told["remaining"] == {"notion": "ApproxDP", "epsilon": 2.5, "delta": 1e-6}


def test_looking_needs_no_data(asked: Path) -> None:
    (asked / "visits.csv").unlink()
    assert run("ledger show").code == 0


def test_a_ledger_that_was_not_started_is_not_started_by_looking(project: Path) -> None:
    done = run("ledger show")
    assert (done.code, "ledger_not_begun" in done.error) == (2, True)
    assert not (project / "visits.ledger").exists()


def test_verify_finds_a_changed_entry_and_a_missing_one(asked: Path) -> None:
    checkpoint = run("ledger verify --json").json["checkpoint"]
    old = (asked / "visits.ledger").read_bytes()
    assert run(COUNT.replace("0.5", "0.25")).code == 0
    (asked / "checkpoint.txt").write_text(
        run("ledger show --json").json["checkpoint"], encoding="utf-8"
    )
    assert run(f"ledger verify --checkpoint {checkpoint}").code == 0
    assert run("ledger verify --checkpoint @checkpoint.txt").code == 0
    (asked / "visits.ledger").write_bytes(old)
    assert run("ledger verify").code == 0  # an old copy looks whole ...
    cut = run("ledger verify --checkpoint @checkpoint.txt")
    assert cut.code == 2  # ... but not beside a checkpoint kept elsewhere
    (asked / "visits.ledger").write_bytes(old.replace(b'"asker":"ann"', b'"asker":"bob"'))
    changed = run("ledger verify")
    assert (changed.code, "ledger_damaged" in changed.error) == (2, True)


def test_every_entry_is_exported_in_both_forms(asked: Path) -> None:
    lines = [json.loads(line) for line in run("ledger export").output.splitlines()]
    assert [line["kind"] for line in lines] == ["opened", "snapshot", "reserved", "committed"]
    assert lines[2]["body"]["asker"] == "ann"
    assert lines[-1]["spent"] == ["1/2", "0"]
    rows = list(csv.DictReader(io.StringIO(run("ledger export --csv").output)))
    assert [row["mac"] for row in rows] == [line["mac"] for line in lines]
    assert json.loads(rows[2]["body"]) == lines[2]["body"]


def test_an_amendment_names_every_number_and_a_reason(asked: Path) -> None:
    assert run("ledger amend --epsilon 4 --delta 1e-6").code == 2  # no reason
    some = run("ledger amend --epsilon 4 --reason board")
    assert (some.code, "amendment_numbers" in some.error) == (2, True)
    low = run("ledger amend --epsilon 0.1 --delta 1e-6 --reason less")
    assert (low.code, "limit_below_spent" in low.error) == (2, True)
    done = run('ledger amend --epsilon 4 --delta 1e-6 --reason "Ethics board, 3 May"')
    assert done.code == 0, done.error
    assert "remaining: epsilon 3.5" in done.output
    assert "Ethics board" in run("ledger export").output
    assert "remaining: epsilon 3" in run(COUNT.replace("ann", "bob")).output


def test_an_amendment_needs_the_owners_key(asked: Path) -> None:
    (asked / "visits.ledger.key").rename(asked / "moved.key")
    done = run("ledger amend --epsilon 4 --delta 1e-6 --reason board")
    assert (done.code, "key" in done.error) == (2, True)
    text = (asked / "discreet.toml").read_text(encoding="utf-8")
    (asked / "discreet.toml").write_text('key = "moved.key"\n' + text, encoding="utf-8")
    assert run("ledger amend --epsilon 4 --delta 1e-6 --reason board").code == 0


def test_a_back_up_is_whole_and_overwrites_nothing(asked: Path) -> None:
    done = run("ledger backup copy.ledger")
    assert done.code == 0
    assert run("ledger show --json").json["checkpoint"] in done.output
    with dp.ledger.SQLite("copy.ledger", key="visits.ledger.key") as copy:
        copy.verify()
    again = run("ledger backup copy.ledger")
    assert (again.code, "backup_exists" in again.error) == (2, True)


def test_other_terms_are_refused(asked: Path) -> None:
    changed(asked, "epsilon = 3", "epsilon = 9")
    done = run("ledger show")
    assert (done.code, "ledger_terms" in done.error) == (2, True)


@pytest.mark.usefixtures("project")
def test_the_time_is_whole_at_eighty_columns() -> None:
    sql = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits WHERE cost > 10 GROUP BY ward"
    price = "--epsilon 0.123456 --delta 1.23456e-7"
    assert run(f'query "{sql}" {price} --as a_long_name_of_somebody').code == 0
    time = run("ledger show --json").json["asked"][0]["time"][:16].replace("T", " ")
    shown = RUNNER.invoke(app, ["ledger", "show"], env={"COLUMNS": "80"}).stdout
    assert time in shown
    assert "…" not in shown
    assert all(len(line) <= 80 for line in shown.split("spent:")[0].splitlines())


def test_a_copied_project_is_read_and_moved_from_the_shell(
    asked: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = tmp_path_factory.mktemp("moved") / "project"
    shutil.copytree(asked, moved)
    (asked / "visits.ledger").unlink()
    monkeypatch.chdir(moved)
    refused = run(COUNT.replace("0.5", "0.25"))
    assert (refused.code, "ledger_superseded" in refused.error) == (2, True)
    assert "remaining: epsilon 2.5" in run("ledger show").output
    assert run("ledger verify").code == 0
    assert run("ledger export").code == 0
    assert run("ledger backup kept.backup").code == 0
    checkpoint = run("ledger show --json").json["checkpoint"]
    done = run(f"ledger restore kept.backup --checkpoint {checkpoint}")
    assert (done.code, "restored" in done.output) == (0, True)
    assert run(COUNT.replace("0.5", "0.25")).code == 0
    assert "remaining: epsilon 2.25" in run("ledger show").output
