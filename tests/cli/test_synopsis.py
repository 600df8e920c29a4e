"""``discreet synopsis``: many counts at one price, in a shell."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from discreet.cli.synopsis_options import MechanismName, maker, parse_attributes
from discreet.errors import InvalidParameter
from tests.cli.hospital import run

MAKE = "synopsis visits --attributes 'ward,decade=FLOOR(age/10)' --epsilon 1"


def test_counts_come_with_their_noise_their_price_and_what_remains(project: Path) -> None:
    done = run(MAKE)
    assert done.code == 0, done.error
    assert "ward, decade" in done.output
    assert "noise of a cell (sd)" in done.output
    assert "epsilon 1 for each patient" in done.output
    assert "remaining: epsilon 2, delta 1e-06" in done.output


def test_the_same_again_is_free_and_so_are_other_counts_of_it(project: Path) -> None:
    first = run(f"{MAKE} --json").json
    second = run(f"{MAKE} --by ward --json").json
    assert first["synopsis"] == second["synopsis"]
    assert first["remaining"] == second["remaining"]
    for row in second["rows"]:
        together = sum(r["n"] for r in first["rows"] if r["ward"] == row["ward"])
        assert row["n"] == pytest.approx(together)
    assert "(nothing was charged)" in run(MAKE).output


def test_machines_get_the_expected_noise_of_every_marginal(project: Path) -> None:
    told = run(f"{MAKE} --marginals 1 --json").json
    assert [marginal["attributes"] for marginal in told["marginals"]] == [["ward"], ["decade"]]
    assert [marginal["cells"] for marginal in told["marginals"]] == [3, 13]
    assert all(marginal["sd"] > 0 for marginal in told["marginals"])
    assert told["rmse"] > 0
    assert [row["ward"] for row in told["rows"]] == ["A", "B", "C"]


@pytest.mark.parametrize("delta", ["", "--delta 1e-8", "--delta 1e-6"])
def test_a_delta_does_not_make_counts_worse(project: Path, delta: str) -> None:
    """Three rows of each person at epsilon 1/2: √2 · 6. Gaussian noise at 1e-6 leaves 26.99."""
    asked = MAKE.replace("--epsilon 1", "--epsilon 0.5")
    told = run(f"{asked} {delta} --dry-run --json").json
    assert told["rmse"] == pytest.approx(8.485, abs=5e-4)


@pytest.mark.parametrize("name", ["matrix", "mwem --rounds 2"])
def test_every_mechanism_by_its_name(project: Path, name: str) -> None:
    done = run(f"{MAKE} --mechanism {name} --json")
    assert done.code == 0, done.error
    assert len(done.json["rows"]) == 39


def test_counts_are_written_in_the_form_that_the_name_says(project: Path) -> None:
    pl = pytest.importorskip("polars")
    for ending in ("csv", "json", "parquet"):
        assert run(f"{MAKE} --by ward --output counts.{ending}").code == 0
    with Path("counts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["ward"] for row in rows] == ["A", "B", "C"]
    assert json.loads(Path("counts.json").read_text(encoding="utf-8"))
    assert pl.read_parquet("counts.parquet")["ward"].to_list() == ["A", "B", "C"]


def test_counts_and_expected_errors_are_drawn(project: Path) -> None:
    pytest.importorskip("altair")
    assert run(f"{MAKE} --plot counts.json --plot-errors errors.json").code == 0
    drawn = json.loads(Path("errors.json").read_text(encoding="utf-8"))
    assert drawn["data"]["values"]
    assert Path("counts.json").exists()


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("synopsis visits --attributes ward", "spend_or_accuracy"),
        ("synopsis visits --attributes height --epsilon 1", "unknown_column"),
        ("synopsis nobody --attributes ward --epsilon 1", "unknown_table"),
        ("synopsis visits --attributes ward --epsilon 1 --output counts.xls", "output_format"),
        ("synopsis visits --attributes ward --epsilon 1 --plot counts.xls", "plot_format"),
        ("synopsis visits --attributes ward --epsilon 1 --mechanism mwem", "rounds_unclear"),
        ("synopsis visits --attributes ward --epsilon 1 --rounds 3", "rounds_unclear"),
        ("synopsis visits --attributes ward --epsilon 9", "budget_exhausted"),
        ("synopsis visits --attributes ' ' --epsilon 1", "attribute_names"),
        ("synopsis visits --attributes ward --epsilon 1 --output no/counts.csv", "table_not_saved"),
        ("synopsis visits --attributes ward --epsilon 1 --plot no/counts.svg", "table_not_saved"),
        ("synopsis visits --attributes ward --epsilon 1 --by wart", "Did you mean ward?"),
        (f"{MAKE} --by , --plot counts.svg", "plot_keys"),
        (f"{MAKE} --marginals 1 --delta 1e-8 --by ward,decade", "marginal_not_measured"),
    ],
)
def test_refusals_cost_nothing_and_begin_no_ledger(project: Path, line: str, code: str) -> None:
    done = run(f"{line} --json")
    assert done.code == 2
    assert code in done.output + done.error
    assert not (project / "visits.ledger").exists()


def test_names_are_told_from_expressions_and_commas_in_brackets_stay() -> None:
    assert parse_attributes(["a, b", "c=LEAST(x, 3),d='p,q'"]) == (
        ("a", "b"),
        {"c": "LEAST(x, 3)", "d": "'p,q'"},
    )
    assert parse_attributes(["sex"]) == (("sex",), {})
    assert parse_attributes(["sex,,ward, "]) == (("sex", "ward"), {})
    with pytest.raises(InvalidParameter, match="rounds_unclear"):
        maker(MechanismName.MATRIX, 3)


def test_counts_that_cannot_be_shown_are_not_paid_for_later_either(project: Path) -> None:
    before = run(f"{MAKE} --json").json["remaining"]
    refused = run(f"{MAKE} --marginals 1 --delta 1e-8 --by ward,decade --json")
    assert "marginal_not_measured" in refused.error
    assert run(f"{MAKE} --json").json["remaining"] == before


def test_why_there_is_no_picture_of_errors_is_said_as_it_is(project: Path) -> None:
    pytest.importorskip("altair")
    matrix = run(f"{MAKE} --mechanism matrix --plot-errors errors.json")
    assert "drawn: errors.json" in matrix.output + matrix.error
    learnt = run(f"{MAKE} --mechanism mwem --rounds 2 --plot-errors errors.json")
    assert "they depend on the data" in learnt.output + learnt.error


def test_a_dry_run_shows_expected_errors_and_price_and_pays_nothing(project: Path) -> None:
    told = run(f"{MAKE} --dry-run")
    assert told.code == 0, told.error
    assert "worst marginal: " in told.output
    assert "such synopses left: 3" in told.output
    ahead = run(f"{MAKE} --dry-run --json").json
    made = run(f"{MAKE} --json").json
    assert ahead["rmse"] == made["rmse"]
    assert [each["sd"] for each in ahead["marginals"]] == pytest.approx(
        [each["sd"] for each in made["marginals"]]
    )
    assert made["remaining"]["epsilon"] == 2
    assert run(f"{MAKE} --dry-run --json").json["affordable"] == 2
