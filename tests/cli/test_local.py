"""``discreet local``: the numbers are the library's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from discreet import local
from discreet.cli.app import app
from discreet.local.simulation import people_needed, trial
from discreet.server.collection.store import BatchStore

RUNNER = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})


def test_people_for_a_wanted_error_as_text_json_and_picture(tmp_path: Path) -> None:
    base = ["local", "simulate", "--domain", "64", "--error", "0.02"]
    done = RUNNER.invoke(app, [*base, "--epsilon", "1", "--people", "40000"])
    assert done.exit_code == 0, done.output
    assert "SubsetSelection" in done.stdout
    assert "Tried" in done.stdout
    pytest.importorskip("altair")
    picture = tmp_path / "people.json"
    done = RUNNER.invoke(app, [*base, "--json", "--plot", str(picture)])
    assert done.exit_code == 0, done.output
    needed = json.loads(done.stdout)["needed"]
    assert {each["epsilon"] for each in needed} == {0.25, 0.5, 1, 2, 4, 8}
    assert "epsilon" in picture.read_text(encoding="utf-8")


def test_refusals_leave_with_code_two() -> None:
    done = RUNNER.invoke(app, ["local", "simulate", "--domain", "1", "--error", "0.1"])
    assert done.exit_code == 2
    done = RUNNER.invoke(
        app, ["local", "simulate", "--domain", "64", "--error", "0.1", "--message-bits", "1"]
    )
    assert done.exit_code == 2


def test_a_trial_with_the_people_needed_keeps_the_error() -> None:
    needed = people_needed(epsilons=[2], domain=32, error=0.02, confidence=0.95)
    best = needed[0]
    ran = trial(best.oracle, people=best.people, error=0.02)
    assert ran.within > 0.6  # 95 % are expected; 32 shares
    assert ran.stated == pytest.approx(0.02 / 1.96, rel=0.2)
    assert isinstance(best.oracle, local.oracle.SupportOracle)


def test_estimate_reads_what_collect_wrote(tmp_path: Path) -> None:
    oracle = local.DirectEncoding(epsilon=8, domain=["no", "yes"])
    asked = local.Collection(name="survey", version=1, oracle=oracle, memoised=False)
    schema = tmp_path / "survey.schema.json"
    schema.write_text(asked.schema, encoding="utf-8")
    command = ["local", "estimate", str(schema), "--store", str(tmp_path / "reports")]
    nobody = RUNNER.invoke(app, command)
    assert nobody.exit_code == 2
    assert "file_not_found" in nobody.output
    assert not (tmp_path / "reports").exists()
    for word in ("estimate", "collect"):
        missing = RUNNER.invoke(app, ["local", word, "none.json", "--store", str(tmp_path)])
        assert missing.exit_code == 2, "no error of discreet"
        assert "file_not_found" in missing.output
    store = BatchStore(asked, tmp_path / "reports", batch=10)
    client = asked.client()
    store.take([client.privatize("yes") for _ in range(40)])
    shown = RUNNER.invoke(app, command)
    assert shown.exit_code == 0
    assert "40 reports" in shown.stdout
    found = json.loads(RUNNER.invoke(app, [*command, "--json"]).stdout)
    stated = oracle.estimate(store.tally())
    assert found["people"] == 40
    assert [row["value"] for row in found["shares"]] == ["yes", "no"]
    assert found["shares"][0]["share"] == stated.shares[1]


def test_estimate_shows_a_mean_vector(tmp_path: Path) -> None:
    question = local.VectorMean(epsilon=8, dimensions=2)
    asked = local.Collection(name="tastes", version=1, oracle=question, memoised=False)
    schema = tmp_path / "tastes.schema.json"
    schema.write_text(asked.schema, encoding="utf-8")
    store = BatchStore(asked, tmp_path, batch=10)
    client = asked.client()
    store.take([client.privatize([0.5, -0.5]) for _ in range(40)])
    command = ["local", "estimate", str(schema), "--store", str(tmp_path)]
    assert "±" in RUNNER.invoke(app, command).stdout
    found = json.loads(RUNNER.invoke(app, [*command, "--json"]).stdout)
    assert found["mean"] == question.mean(store.tally()).mean.tolist()
    assert len(found["standard_errors"]) == 2
