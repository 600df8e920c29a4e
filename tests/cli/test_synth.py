"""``discreet synth``: a synthetic table in a shell, paid for once."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from discreet.synthetic.stored_form import load
from tests.cli.hospital import run

MAKE = "synth visits --columns ward,age --mechanism independent --epsilon 1"


def test_rows_are_written_and_the_price_is_taken_once(project: Path) -> None:
    done = run(f"{MAKE} --out rows.parquet")
    assert done.code == 0, done.error
    frame = pl.read_parquet(project / "rows.parquet")
    assert frame.columns == ["ward", "age"]
    assert set(frame["ward"].drop_nulls()) <= {"A", "B", "C"}
    assert "epsilon 1 for each patient" in done.output
    assert "remaining: epsilon 2, delta 1e-06" in done.output
    again = run(f"{MAKE} --out more.csv --rows 77 --save model.json")
    assert "(nothing was charged)" in again.output
    assert pl.read_csv(project / "more.csv").height == 77
    assert load(project / "model.json").sample(3).rows == 3


def test_a_table_is_also_known_by_its_file(project: Path) -> None:
    file = next(project.glob("visits.*"))
    done = run(f"{MAKE.replace('visits', file.name)} --out rows.csv --json")
    assert done.code == 0, done.error
    assert done.json["columns"] == ["ward", "age"]
    assert sum(done.json["budget_split"].values()) == pytest.approx(1)


def test_a_dry_run_charges_nothing_and_writes_nothing(project: Path) -> None:
    done = run(f"{MAKE} --dry-run --private-bins --bins 4")
    assert done.code == 0, done.error
    assert "bins 10%" in done.output
    assert "nothing was charged" in done.output
    assert not list(project.glob("*.ledger*"))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ("synth visits --out rows.csv", "spend_or_accuracy"),
        ("synth visits --epsilon 1", "nothing_to_write"),
        ("synth visits --epsilon 1 --out rows.xlsx", "output_format"),
        ("synth visits --epsilon 1 --out nowhere/rows.csv", "table_not_saved"),
        ("synth visits --epsilon 1 --save model.txt", "output_format"),
        ("synth other.parquet --epsilon 1 --out rows.csv", "table_unknown"),
        ("synth visits --columns height --epsilon 1 --out rows.csv", "column_unknown"),
        ("synth visits --epsilon 99 --out rows.csv", "budget_exhausted"),
    ],
)
def test_refusals_cost_nothing_and_begin_no_ledger(project: Path, asked: str, code: str) -> None:
    done = run(asked)
    assert done.code == 2
    assert code in done.error + done.output
    assert not list(project.glob("*.ledger*"))
    assert not list(project.glob("rows.*"))


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ("--columns Wrad,age", "Did you mean ward?"),
        ("--never-missing agee", "Did you mean age?"),
        ("--target AGE", "Did you mean age?"),
        ("--columns patient", "--identifiers patient"),
    ],
)
def test_misspelt_columns_are_refused_in_words_of_the_shell(
    project: Path, options: str, remedy: str
) -> None:
    done = run(f"synth visits {options} --epsilon 1 --out rows.csv")
    assert done.code == 2
    said = " ".join((done.error + done.output).split())
    assert "column_unknown" in said
    assert remedy in said
    assert "dp." not in said
    assert not list(project.glob("*.ledger*"))


def test_columns_may_be_complete_and_identifiers_numbered_anew(project: Path) -> None:
    done = run(f"{MAKE} --never-missing ward,age --identifiers patient --out rows.csv --rows 50")
    assert done.code == 0, done.error
    frame = pl.read_csv(project / "rows.csv")
    assert frame.columns == ["patient", "ward", "age"]
    assert frame["patient"].to_list() == list(range(1, 51))
    assert frame.null_count().sum_horizontal().item() == 0


@pytest.mark.parametrize("word", ["mst", "privbayes", "mwem", "full-histogram"])
def test_every_mechanism_has_a_word(project: Path, word: str) -> None:
    asked = MAKE.replace("independent", word) + " --bins 4"
    done = run(f"{asked} --dry-run")
    assert done.code == 0, done.error
    if word == "privbayes":
        refused = run(f"{asked} --target age --dry-run")
        assert "mechanism_option" in refused.error


def test_what_noise_drowns_is_told(project: Path) -> None:
    asked = "synth visits --columns cost,age --mechanism independent --epsilon 0.05"
    ahead = run(f"{asked} --dry-run")
    assert "rows it drowns" in ahead.output
    done = run(f"{asked} --out rows.csv")
    assert done.code == 0, done.error
    assert "warning: cost, age: 33 cells, each with noise" in " ".join(done.output.split())


def test_without_a_project_it_says_how_to_write_one(project: Path) -> None:
    (project / "discreet.toml").unlink()
    done = run("synth visits.csv --epsilon 1 --out rows.csv")
    assert done.code == 2
    said = " ".join(done.error.split())
    assert "project_missing" in said
    assert "discreet init visits.csv" in said
