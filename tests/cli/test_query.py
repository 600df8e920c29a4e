"""``discreet query``, ``preview`` and ``explain``: the library's answers, in a shell."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

import discreet as dp
from tests.cli.hospital import INIT, changed, run

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY ward"


def test_an_answer_has_intervals_its_guarantee_and_what_remains(project: Path) -> None:
    done = run(f'query "{BY_WARD}" --epsilon 0.5')
    assert done.code == 0
    assert re.search(r"^A +\d+ ± \d+ ", done.output, re.MULTILINE)
    assert "guarantee: epsilon 0.5 for each patient (at most 3 rows)" in done.output
    assert "remaining: epsilon 2.5, delta 1e-06" in done.output
    assert (project / "visits.ledger").exists()


def test_the_same_again_is_free_and_the_same(project: Path) -> None:
    first = run(f'query "{COUNT}" --epsilon 0.5 --json').json
    second = run(f'query "{COUNT}" --epsilon 0.5 --json').json
    assert first == second
    assert "(nothing was charged)" in run(f'query "{COUNT}" --epsilon 0.5').output
    assert run(f'query "{COUNT}" --epsilon 0.5 --as ann --json').json["remaining"]["epsilon"] == 2


def test_machines_get_rows_and_the_release_that_the_ledger_keeps(project: Path) -> None:
    answer = run(f'query "{BY_WARD}" --epsilon 0.5 --json').json
    release = dp.Release.from_json(json.dumps(answer["release"]))
    assert answer["rows"] == list(release)
    assert [row["ward"] for row in answer["rows"]] == ["A", "B", "C"]
    assert answer["remaining"] == {"notion": "ApproxDP", "epsilon": 2.5, "delta": 1e-6}


def test_the_privacy_statement_comes_with_it_on_request(project: Path) -> None:
    plain = run(f'query "{COUNT}" --epsilon 0.5')
    shown = run(f'query "{COUNT}" --epsilon 0.5 --statement')
    assert len(shown.output) > 2 * len(plain.output)
    told = run(f'query "{COUNT}" --epsilon 0.5 --statement --json').json
    assert told["statement"] == json.loads(
        dp.Release.from_json(json.dumps(told["release"])).statement.to_json()  # type: ignore[attr-defined]
    )


def test_comma_separated_values_have_every_column_in_full(project: Path) -> None:
    done = run(f'query "{BY_WARD}" --epsilon 0.5 --csv')
    rows = list(csv.DictReader(io.StringIO(done.output)))
    again = run(f'query "{BY_WARD}" --epsilon 0.5 --json').json["rows"]
    assert [float(row["age"]) for row in rows] == [row["age"] for row in again]
    assert list(rows[0]) == ["ward", "n", "n_lower", "n_upper", "age", "age_lower", "age_upper"]
    assert "counts as at most 3 rows; not in the intervals" in done.error
    assert "guarantee: epsilon 0.5 for each patient" in done.error


def test_accuracy_is_bought_at_its_price(project: Path) -> None:
    price = run(f'preview "{COUNT}" --within n=20 --json').json["price"]["epsilon"]
    row = run(f'query "{COUNT}" --within n=20 --json').json["rows"][0]
    assert row["n_upper"] - row["n_lower"] <= 40
    assert run("ledger show --json").json["spent"]["epsilon"] == pytest.approx(price)
    alone = run(f'query "{COUNT}" --within 20 --json')
    assert alone.json["rows"] == [row]


def test_an_error_may_be_a_share_of_a_public_size(project: Path) -> None:
    share = run(f'preview "{COUNT}" --within n=5% --rows-at-least 400 --json').json["price"]
    assert share == run(f'preview "{COUNT}" --within n=20 --json').json["price"]
    paid = run(f'query "{COUNT}" --within n=5% --rows-at-least 400 --at-most 1 --json')
    assert paid.code == 0


def test_prices_in_other_notions(project: Path) -> None:
    assert run(f'query "{COUNT}" --epsilon 0.5 --delta 1e-7').code == 0
    refused = run(f'query "{COUNT}" --rho 0.1')
    assert (refused.code, "spend_notion" in refused.error) == (2, True)
    assert run(f"{INIT} --project z.toml --ledger z.ledger").code == 0
    text = (project / "z.toml").read_text(encoding="utf-8").replace('# by = "zcdp"', 'by = "zcdp"')
    (project / "z.toml").write_text(text, encoding="utf-8")
    done = run(f'query "{COUNT}" --rho 0.01 --project z.toml')
    assert done.code == 0, done.error
    assert "remaining: rho" in done.output


@pytest.mark.parametrize("form", ["@question.sql", "-"])
def test_the_question_may_come_from_a_file_or_standard_input(project: Path, form: str) -> None:
    (project / "question.sql").write_text(f"{COUNT}\n-- a comment\n", encoding="utf-8")
    done = run(f"query {form} --epsilon 0.5 --json", typed=COUNT)
    assert done.code == 0, done.error
    assert list(done.json["rows"][0]) == ["n", "n_lower", "n_upper"]


def test_a_picture_is_drawn_and_named_on_standard_error(project: Path) -> None:
    done = run(f'query "{BY_WARD}" --epsilon 0.5 --json --plot n.svg')
    assert (project / "n.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "n.svg" in done.error
    assert done.json["rows"]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f'"{COUNT}"', "spend_or_accuracy"),
        (f'"{COUNT}" --epsilon 1 --within n=5', "spend_or_accuracy"),
        (f'"{COUNT}" --delta 1e-7', "spend_unclear"),
        (f'"{COUNT}" --epsilon 1 --rho 1', "spend_unclear"),
        (f'"{COUNT}" --within n=five', "accuracy_misread"),
        (f'"{COUNT}" --within m=5', "accuracy_columns"),
        (f'"{COUNT}" --within n=0.01', "accuracy_too_expensive"),
        (f'"{COUNT}" --within n=20 --at-most 0.01', "accuracy_too_expensive"),
        (f'"{COUNT}" --within n=20 --at-most much', "at_most_misread"),
        (f'"{COUNT}" --within n=20 --at-most delta=1', "at_most_misread"),
        (f'"{COUNT}" --epsilon 1 --at-most 2', "at_most_without_accuracy"),
        (f'"{COUNT}" --epsilon 1 --left-out-rows 9', "left_out_misread"),
        (f'"{COUNT}" --epsilon 1 --left-out 2', "not_a_probability"),
        (f'"{COUNT}" --within n=5%', "relative_to_unknown"),
        (f'"{COUNT}" --within n=500% --rows-at-least 9', "error_misread"),
        (f'"{COUNT}" --epsilon 1 --json --csv', "two_forms"),
        (f'"{COUNT}" --epsilon 1 --plot n.pdf', "plot_format"),
        (f'"{COUNT}" --epsilon 5', "budget_exhausted"),
        (f'"{COUNT}" --epsilon 1 --project other.toml', "project_missing"),
        ('"SELECT * FROM visits" --epsilon 1', "unsupported_sql"),
        ('"SELECT COUNT(* FROM visits" --epsilon 1', "sql_syntax"),
        ('"SELECT notes, COUNT(*) AS n FROM visits GROUP BY 1" --epsilon 1', "key_not_declared"),
        ("@nothing.sql --epsilon 1", "question_unreadable"),
    ],
)
def test_a_refusal_has_its_code_leaves_with_two_and_costs_nothing(
    project: Path, line: str, code: str
) -> None:
    done = run(f"query {line} --json")
    assert (done.code, done.output) == (2, "")
    said = json.loads(done.error)["error"]
    assert said["code"] == code
    assert said["expectation"]
    assert said["remedy"]
    spent = run("ledger show --json")
    assert spent.code == 2 or spent.json["spent"]["epsilon"] == 0


def test_people_read_a_refusal_in_words(project: Path) -> None:
    done = run(f'query "{COUNT}"')
    assert (done.code, done.output) == (2, "")
    for part in ("spend_or_accuracy", "Expected either a price or an accuracy", "--epsilon 0.5"):
        assert part in done.error


def test_a_preview_reads_no_data_costs_nothing_and_begins_no_ledger(project: Path) -> None:
    expected = run(f'preview "{COUNT}" --epsilon 0.5')
    assert "n: ± 18" in expected.output
    assert "such questions left: 6" in expected.output
    assert not (project / "visits.ledger").exists()
    row = run(f'query "{COUNT}" --epsilon 0.5 --json').json["rows"][0]
    assert (row["n_upper"] - row["n_lower"]) / 2 <= 18
    assert "such questions left: 5" in run(f'preview "{COUNT}" --epsilon 0.5').output


def test_an_explanation_shows_how_far_one_person_can_move_a_number(project: Path) -> None:
    sql = "SELECT ward, SUM(cost) AS cost FROM visits GROUP BY ward"
    done = run(f'explain "{sql}"')
    assert "sensitivity L1 15000" in done.output
    assert "standard deviation" not in done.output
    assert "standard deviation" in run(f'explain "{sql}" --epsilon 1').output
    assert "SELECT" in run(f'explain "{sql}" --sql').output
    assert run(f'explain "{sql}" --json').json["measures"][0]["l1"] == 15000


def test_terms_cannot_change_after_the_first_question(project: Path) -> None:
    assert run(f'query "{COUNT}" --epsilon 0.5').code == 0
    changed(project, "max_rows = 3", "max_rows = 9")
    done = run(f'query "{COUNT}" --epsilon 0.5')
    assert (done.code, "ledger_terms" in done.error) == (2, True)


def test_why_an_engine_failed_goes_to_the_owners_log_alone(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (project / "discreet.toml").read_text(encoding="utf-8")
    text = text.replace('# owner_log = "owner.log"', 'owner_log = "owner.log"')
    (project / "discreet.toml").write_text(text, encoding="utf-8")

    def broken(*_: object) -> None:
        message = "row 17 says SECRET"
        raise RuntimeError(message)

    monkeypatch.setattr("discreet.relational.engines.duckdb.engine.DuckDB.numbers", broken)
    done = run(f'query "{COUNT}" --epsilon 0.5')
    assert done.code == 2
    assert "engine_failed" in done.error
    assert "SECRET" not in done.error + done.output
    assert "SECRET" in (project / "owner.log").read_text(encoding="utf-8")


def test_an_owners_log_that_cannot_be_written_is_refused_before_data_is_opened(
    project: Path,
) -> None:
    text = (project / "discreet.toml").read_text(encoding="utf-8")
    text = text.replace('# owner_log = "owner.log"', 'owner_log = "nowhere/owner.log"')
    (project / "discreet.toml").write_text(text, encoding="utf-8")
    done = run(f'query "{COUNT}" --epsilon 0.5')
    assert (done.code, "owner_log_unwritable" in done.error) == (2, True)
    assert not (project / "visits.ledger").exists()


@pytest.mark.parametrize(
    "line",
    [
        '"SELECT COUNT(*) AS n FROM visits WHERE wrd = 1" --epsilon 0.5',
        f'"{COUNT}" --rho 0.1',
        f'"{COUNT}" --epsilon 5',
        f'"{COUNT}" --within m=5',
        f'"{COUNT}" --epsilon 0.5 --confidence 2',
    ],
)
def test_a_refused_first_question_begins_no_ledger_so_the_terms_may_still_change(
    project: Path, line: str
) -> None:
    assert run(f"query {line}").code == 2
    assert not (project / "visits.ledger").exists()
    assert run(INIT.replace("--max-rows 3", "--max-rows 9") + " --force").code == 0
    assert run(f'query "{COUNT}" --epsilon 0.5').code == 0


def test_other_terms_need_a_ledger_of_another_name(project: Path) -> None:
    assert run(f'query "{COUNT}" --epsilon 0.5').code == 0
    changed(project, "max_rows = 3", "max_rows = 9")
    done = run(f'query "{COUNT}" --epsilon 0.5 --json')
    said = json.loads(done.error)["error"]
    assert said["code"] == "ledger_terms"
    assert "`ledger =` in it to a new name" in said["remedy"]
    assert "delete" not in said["remedy"]


def test_amounts_are_shown_as_the_decimals_that_were_asked_for(project: Path) -> None:
    for price in ("0.1", "0.2"):
        assert run(f'query "{COUNT}" --epsilon {price} --delta 1e-7').code == 0
    shown = run("ledger show").output
    assert "spent:     epsilon 0.3, delta " in shown
    assert "remaining: epsilon 2.7, delta " in shown
    assert "0001" not in shown.split("checkpoint")[0].split("spent")[1]
    assert run("ledger show --json").json["spent"]["epsilon"] == 0.3


def test_a_price_and_an_accuracy_are_one_too_many(project: Path) -> None:
    done = run(f'query "{COUNT}" --epsilon 0.2 --within n=3 --json')
    assert "one of them, not both" in json.loads(done.error)["error"]["expectation"]


def test_a_file_that_is_gone_is_sought_beside_the_project_file(project: Path) -> None:
    (project / "visits.csv").unlink()
    done = run(f'preview "{COUNT}" --epsilon 0.2 --json')
    said = json.loads(done.error)["error"]
    assert said["code"] == "file_not_found"
    assert "relative to the folder of that file" in said["remedy"]


def test_a_pure_budget_says_that_it_spends_no_delta(project: Path) -> None:
    assert run(INIT.replace("--delta 1e-6", "--delta 0") + " --force").code == 0
    done = run(f'query "{COUNT}" --epsilon 0.2 --delta 1e-7 --json')
    said = json.loads(done.error)["error"]
    assert (said["code"], "leave --delta" in said["remedy"]) == ("spend_notion", True)


def test_a_first_question_that_the_policy_refuses_begins_no_ledger(project: Path) -> None:
    (project / "policy.toml").write_text(
        'analysts = ["ann"]\n[max_spend]\nepsilon = 1\n[tables.visits]\n'
        'filter = []\ngroup = ["ward"]\naggregate = []\n',
        encoding="utf-8",
    )
    text = (project / "discreet.toml").read_text(encoding="utf-8")
    (project / "discreet.toml").write_text(f'policy = "policy.toml"\n{text}', encoding="utf-8")
    refused = run(f'query "{COUNT}" --epsilon 0.5 --as eve')
    assert (refused.code, "policy_asker" in refused.error) == (2, True)
    refused = run(f'query "{BY_WARD}" --epsilon 0.5 --as ann')
    assert (refused.code, "policy_column" in refused.error) == (2, True)
    assert not (project / "visits.ledger").exists()
    assert run(f'query "{COUNT}" --epsilon 0.5 --as ann').code == 0
