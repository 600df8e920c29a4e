"""``discreet synth-tables``: people and their rows in a shell, paid for once."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from discreet.synthetic import load_tables
from tests.cli.hospital import run

PATIENTS = """
[tables.patients]
path = "patients.csv"

[tables.patients.unit]
kind = "person"
id = "patient"
max_rows = 1

[tables.patients.columns]
sex = { kind = "category", values = ["f", "m"] }
"""
MAKE = "synth-tables patients visits --epsilon 1 --delta 1e-7 --bins 4"


@pytest.fixture
def tables(project: Path) -> Path:
    rows = [f"{patient},{'fm'[patient % 2]}" for patient in range(300)]
    (project / "patients.csv").write_text("\n".join(["patient,sex", *rows]) + "\n")
    file = project / "discreet.toml"
    file.write_text(file.read_text(encoding="utf-8") + PATIENTS, encoding="utf-8")
    (project / "made").mkdir()
    return project


def test_a_file_for_each_table_is_written_and_the_price_is_taken_once(tables: Path) -> None:
    done = run(f"{MAKE} --out made")
    assert done.code == 0, done.error
    people = pl.read_parquet(tables / "made" / "patients.parquet")
    visits = pl.read_parquet(tables / "made" / "visits.parquet")
    assert people.columns == ["patient", "sex"]
    assert visits.columns == ["patient", "ward", "age", "cost", "day"]
    assert set(visits["patient"]) <= set(people["patient"])
    assert "remaining: epsilon 2" in done.output
    again = run(f"{MAKE} --out made --format csv --people 40")
    assert "(nothing was charged)" in again.output
    assert pl.read_csv(tables / "made" / "patients.csv").height == 40


def test_private_bins_and_models_in_a_file(tables: Path) -> None:
    done = run(f"{MAKE} --private-bins --save tables.json")
    assert done.code == 0, done.error
    assert "rows of visits" in done.output
    kept = load_tables(tables / "tables.json")
    assert list(kept.sample(5)) == ["patients", "visits"]
    assert run(f"{MAKE} --save tables.txt").code != 0


def test_looking_ahead_writes_and_charges_nothing(tables: Path) -> None:
    done = run(f"{MAKE} --dry-run")
    assert done.code == 0, done.error
    assert "patients, 1 of each person" in done.output
    assert "rows in visits" in done.output
    assert "nothing was charged" in done.output
    told = json.loads(run(f"{MAKE} --dry-run --json").output)
    assert [each["name"] for each in told["tables"]] == ["patients", "visits"]
    assert not list((tables / "made").iterdir())
    assert not (tables / "discreet.ledger").exists()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("synth-tables patients visits --out made", "spend_or_accuracy"),
        ("synth-tables patients visits --epsilon 1 --out nowhere", "table_not_saved"),
        ("synth-tables patients visits --epsilon 1 --out made --format xlsx", "output_format"),
        ("synth-tables visits patients --epsilon 1 --out made", "not_a_table_unit"),
        ("synth-tables patients visits --epsilon 1", "nothing_to_write"),
        ("synth-tables patients visits --epsilon 100 --out made", "budget_exhausted"),
        ("synth-tables patients others --epsilon 1 --out made", "table_unknown"),
    ],
)
def test_refusals(tables: Path, asked: str, code: str) -> None:
    done = run(asked)
    assert done.code != 0
    assert code in done.error
    assert not list((tables / "made").iterdir())
