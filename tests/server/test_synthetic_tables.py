"""Several tables at a service: previews for nothing, one price, and the same for clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import PureDP
from discreet.server.soundness import findings, same_as_kept
from discreet.synthetic.encoding.number_column import PrivateBins
from discreet.synthetic.tables.stored_tables import tables_from_json
from tests.client.programs import at_service, epsilon
from tests.server.running_service import SERVICE, ApiUser, RunningService, running

pytestmark = pytest.mark.xdist_group("server")
PATIENTS = """
[tables.patients]
path = "patients.parquet"

[tables.patients.unit]
kind = "person"
id = "patient"
max_rows = 1

[tables.patients.columns]
sex = { kind = "category", values = ["f", "m"] }
"""
ASKED: dict[str, Any] = {
    "kind": "synthesize_tables",
    "parent": "patients",
    "children": ["visits"],
    "columns": {"visits": ["ward", "age"]},
    "bins": 4,
    "epsilon": 2,
}


@pytest.fixture(scope="module")
def with_patients(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder: Path = tmp_path_factory.mktemp("several")
    people = {"patient": list(range(400)), "sex": ["f" if n % 3 else "m" for n in range(400)]}
    pl.DataFrame(people).write_parquet(folder / "patients.parquet")
    with running(folder, service=PATIENTS + SERVICE) as service:
        yield service


@pytest.fixture(scope="module")
def ann(with_patients: RunningService) -> ApiUser:
    return with_patients.analyst(PureDP(epsilon=7))


def left(user: ApiUser) -> float:
    (account,) = user.get("account").json()["accounts"]
    return float(account["remaining"]["epsilon"])


def test_a_preview_is_free_and_the_models_are_paid_for_once(ann: ApiUser) -> None:
    before = left(ann)
    ahead = ann.post("previews", ASKED).json()["result"]
    assert ahead["price"] == {"epsilon": 2}
    assert [each["name"] for each in ahead["tables"]] == ["patients", "visits"]
    assert left(ann) == before
    told = ann.post("questions", ASKED).json()
    assert before - left(ann) == pytest.approx(2)
    made = tables_from_json(json.dumps(told["result"]["tables"]))
    assert made.private
    tables = made.sample(50)
    assert list(tables) == ["patients", "visits"]
    assert list(tables["visits"]) == ["patient", "ward", "age"]
    assert sum(row["n"] for row in told["result"]["rows"]) == pytest.approx(made.model.people.total)
    again = ann.post("questions", ASKED).json()
    assert again["result"]["tables"] == told["result"]["tables"]
    assert before - left(ann) == pytest.approx(2)


def test_what_cannot_be_made_is_refused_for_nothing(ann: ApiUser) -> None:
    before = left(ann)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"parent": "visits", "children": ["patients"], "columns": None}, "not_a_table_unit"),
        ({"children": ["patients"], "columns": None}, "tables_names"),
        ({"columns": {"visits": ["height"]}}, "column_unknown"),
        ({"epsilon": 70}, "budget_exhausted"),
        ({"epsilon": None}, "spend_or_accuracy"),
    ]
    for more, code in wrong:
        assert ann.post("questions", ASKED | more).json()["code"] == code, more
    assert ann.post("previews", ASKED | {"columns": {"visits": ["height"]}}).json()["code"] == (
        "column_unknown"
    )
    assert ann.post("questions", ASKED | {"children": []}).status_code == 422
    assert ann.post("questions", ASKED | {"mechanism": "gan"}).status_code == 422
    assert left(ann) == before


def test_models_pass_the_checks_of_publications_and_changed_ones_do_not(ann: ApiUser) -> None:
    document = ann.post("questions", ASKED).json()["result"]
    assert findings("r1", json.dumps(document)) == []
    kept = {"tables": document["tables"]["id"], "plain": document["tables"]["plain"]}
    assert same_as_kept("r1", json.dumps(document), kept) == []
    other = {**kept, "plain": {**kept["plain"], "": {}}}
    assert [each.check for each in same_as_kept("r1", json.dumps(document), other)] == ["sealed"]


def test_a_client_asks_as_a_curator_is_asked(with_patients: RunningService) -> None:
    curator = at_service(with_patients.analyst(PureDP(epsilon=4)))
    spend = dp.PureDP(epsilon=2)
    asked: dict[str, Any] = {"columns": {"visits": ["ward"]}, "spend": spend}
    ahead = curator.preview_tables("patients", ["visits"], **asked)
    assert ahead.price == spend.per(curator.unit)
    assert ahead.affordable == 2
    assert "33%" not in str(ahead)
    assert "50% of the spend" in str(ahead)
    made = curator.synthesize_tables("patients", ["visits"], **asked)
    assert made.guarantee == spend.per(curator.unit)
    assert set(made.sample(30)["visits"]["ward"]) <= {"medicine", "surgery", "children", None}
    curator.synthesize_tables("patients", ["visits"], **asked)
    assert epsilon(curator.remaining) == pytest.approx(2)
    with pytest.raises(DiscreetError) as refused:
        curator.synthesize_tables("visits", ["patients"], spend=spend)
    assert refused.value.code == "not_a_table_unit"
    binned = curator.preview_tables("patients", ["visits"], spend=spend, bins=PrivateBins(4))
    assert binned.tables[1].budget_split["bins"] == pytest.approx(0.05)
    (first, *_) = curator.history()
    assert first.price == "epsilon 2"
