"""``discreet fit``: a model in a shell, paid for once."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from discreet import learn
from tests.cli.hospital import run

ASKED = '"SELECT age, cost FROM visits" --target cost'
MAKE = f"fit {ASKED} --model linear --epsilon 1"


def test_a_model_is_written_and_the_price_is_taken_once(project: Path) -> None:
    done = run(f"{MAKE} --out model.json")
    assert done.code == 0, done.error
    model = learn.load(project / "model.json")
    assert model.features_ == ["age"]
    assert f"age: coefficient {model.coef_[0]:.6g}" in done.output
    shown = re.search(r"age: coefficient .* \(95 %: (.+) to (.+)\)", done.output)
    assert shown is not None
    low, high = model.coef_intervals().coef[0]  # simulated: another draw each time
    assert [*map(float, shown.groups())] == pytest.approx([low, high], abs=0.3 * (high - low))
    assert "LinearRegression of age from visits, to predict cost" in done.output
    assert "limit: values outside their declared bounds count as the nearest" in done.output
    assert "epsilon 1 for each patient" in done.output
    assert "remaining: epsilon 2, delta 1e-06" in done.output
    again = run(f"{MAKE} --out again.json")
    assert "(nothing was charged)" in again.output
    assert (project / "again.json").read_text() == (project / "model.json").read_text()


@pytest.mark.parametrize(
    "asked",
    [
        f"fit {ASKED} --model ridge --alpha 2",
        'fit "SELECT age, cost, ward FROM visits" --model naive-bayes --target ward',
        'fit "SELECT age, cost FROM visits" --model pca --components 1',
        'fit "SELECT age, cost FROM visits" --model scaler',
        'fit "SELECT age, cost FROM visits" --model imputer',
        'fit "SELECT age, cost, ward FROM visits" --model logistic --target ward',
        'fit "SELECT age, cost, ward FROM visits" --model svc --target ward',
        'fit "SELECT age, cost, ward FROM visits" --model softmax --target ward --delta 1e-7',
        'fit "SELECT age, cost, ward FROM visits" --model tree --target ward',
        'fit "SELECT age, cost, ward FROM visits" --model forest --target ward',
        'fit "SELECT age, cost FROM visits" --model lasso --target cost',
        'fit "SELECT age, cost FROM visits" --model kmeans --clusters 2',
    ],
)
def test_every_model_is_made(project: Path, asked: str) -> None:
    done = run(f"{asked} --epsilon 1 --out model.json --json")
    assert done.code == 0, done.error
    assert json.loads(done.json["model"]) == json.loads((project / "model.json").read_text())


def test_a_dry_run_charges_nothing_and_writes_nothing(project: Path) -> None:
    done = run(f"{MAKE} --dry-run")
    assert done.code == 0, done.error
    assert "price: epsilon 1" in done.output
    assert "nothing was charged" in done.output
    told = json.loads(run(f"{MAKE} --dry-run --json").output)
    assert told["event"]["kind"] == "Pure"
    assert all(group["sums"] and group["noise"] > 0 for group in told["groups"])
    assert not list(project.glob("*.ledger*"))


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (f"fit {ASKED} --model linear --out m.json", "spend_or_accuracy"),
        (f"{MAKE}", "nothing_to_write"),
        (f"{MAKE} --out m.txt", "output_format"),
        (f"{MAKE} --out nowhere/m.json", "mkdir -p nowhere"),
        (f"{MAKE} --alpha 2 --out m.json", "option_of_another_model"),
        ('fit "SELECT age FROM visits" --model linear --epsilon 1 --out m.json', "fit_columns"),
        (f"fit {ASKED} --model linear --epsilon 99 --out m.json", "budget_exhausted"),
    ],
)
def test_refusals_cost_nothing_and_begin_no_ledger(project: Path, asked: str, code: str) -> None:
    done = run(asked)
    assert done.code == 2
    assert code in done.error
    assert not list(project.glob("*.ledger*"))


def test_a_model_that_looks_several_times_is_told_line_by_line(project: Path) -> None:
    asked = 'fit "SELECT age, cost, ward FROM visits" --model logistic --target ward --epsilon 1'
    ahead = run(f"{asked} --dry-run")
    assert "bounded rows are read into memory" in ahead.output
    assert "known before, in units of the bounds: noise of sums that find" in ahead.output
    assert "noise of the linear term" in ahead.output
    assert "3 classes: " in ahead.output
    done = run(f"{asked} --out model.json")
    assert done.code == 0, done.error
    model = learn.load(project / "model.json")
    for label, line in zip(model.classes_, model.coef_, strict=True):
        assert f"{label}: coefficient age {line[0]:.6g}, cost {line[1]:.6g}" in done.output
    low, high = model.bounds_[:, 0]
    assert f"are clamped into: age {low:.4g} to {high:.4g}, cost" in done.output
    groups = run(
        'fit "SELECT age, cost FROM visits" --model kmeans --clusters 2 --epsilon 1 --out k.json'
    )
    assert "1: centre age" in groups.output
    assert "2: centre age" in groups.output
