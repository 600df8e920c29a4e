"""A project whose tables and ledger lie on a PostgreSQL server; its address is in no file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import postgres_server
from tests.cli.hospital import run
from tests.postgres_server import PASSWORD

pytestmark = postgres_server.needed

PROJECT = """\
key = "owner.key"

[ledger]
kind = "postgres"
name = "visits"
address_from = "CLINIC_ADDRESS"

[engine]
kind = "postgres"
address_from = "CLINIC_ADDRESS"

[budget]
kind = "approx"
epsilon = 3
delta = 1e-6

[tables.visits]
table = "clinic.visits"

[tables.visits.unit]
kind = "person"
id = "patient"
max_rows = 3

[tables.visits.columns]
ward = { kind = "category", values = ["A", "B"] }
age = { kind = "number", low = 0, high = 100 }
day = { kind = "dates", first = 2024-01-01, last = 2024-12-31 }
"""
COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    server = postgres_server.shared()
    database = server.database()
    server.execute("CREATE SCHEMA clinic", database)
    server.execute(
        "CREATE TABLE clinic.visits AS SELECT i / 2 AS patient, i % 130 AS age, "
        "CASE i % 3 WHEN 0 THEN 'A' WHEN 1 THEN 'B' ELSE 'x' END AS ward, "
        "DATE '2023-12-31' + i % 9 AS day, 'note ' || i AS note FROM generate_series(0, 899) AS i",
        database,
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLINIC_ADDRESS", server.conninfo(database))
    (tmp_path / "discreet.toml").write_text(PROJECT, encoding="utf-8")
    yield tmp_path
    server.drop(database)


def test_the_same_commands_work_on_a_server(clinic: Path) -> None:
    assert run(f'preview "{COUNT}" --epsilon 1').code == 0
    shown = run("ledger show")
    assert (shown.code, "ledger_not_begun" in shown.error) == (2, True)
    asked = run(f'query "{COUNT}" --epsilon 1 --json')
    assert asked.code == 0, asked.error
    assert [row["ward"] for row in asked.json["rows"]] == ["A", "B"]
    assert abs(asked.json["rows"][0]["n"] - 300) < 90  # farther once in 10**12 runs
    assert run("ledger show --json").json["remaining"]["epsilon"] == 2
    assert run("ledger verify").code == 0
    assert run("ledger backup copy.ledger").code == 0
    assert PASSWORD not in "".join(path.read_text("latin-1") for path in clinic.iterdir())


def test_a_profile_is_read_on_a_server_too(clinic: Path) -> None:
    done = run("profile --not-private --json")
    assert done.code == 0, done.error
    (table,) = done.json["tables"]
    assert (table["rows"], table["contributions"]["people"]) == (900, 450)
    facts = {column["name"]: column["facts"] for column in table["columns"]}
    assert facts["ward"]["outside_examples"] == [["x", 300]]
    above = sum(row % 130 > 100 for row in range(900))
    assert (facts["age"]["above"], facts["age"]["greatest"]) == (above, 129)
    assert facts["day"]["below"] == 100
    assert facts["note"]["readable_as_number"] == 0


def test_a_server_that_is_not_there_is_named_without_its_password(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLINIC_ADDRESS", f"host=127.0.0.1 port=1 user=a password='{PASSWORD}'")
    done = run(f'query "{COUNT}" --epsilon 1')
    assert (done.code, "unreachable" in done.error) == (2, True)
    assert PASSWORD not in done.error


def test_a_table_on_a_server_is_not_charged_for_again_unasked(clinic: Path) -> None:
    """Nothing tells its versions apart but a name that the owner gives."""
    ask = f'query "{COUNT}" --epsilon 1 --json'
    first = run(ask)
    assert first.code == 0, first.error
    refused = run(ask)
    assert (refused.code, "paid_before_other_snapshot" in refused.error) == (2, True)
    assert run(f"{ask} --reuse").json["rows"] == first.json["rows"]
    assert "snapshot_without_version" in run("snapshot keep").error
    assert run("ledger show --json").json["remaining"]["epsilon"] == 2
    named = PROJECT.replace("[tables.visits]\n", '[tables.visits]\nsnapshot = "july"\n')
    (clinic / "discreet.toml").write_text(named, encoding="utf-8")
    assert run(ask).code == 2  # the earlier one had no name
    assert run(f"{ask} --pay-again").code == 0
    assert run(ask).code == 0
    assert run("ledger show --json").json["remaining"]["epsilon"] == 1
