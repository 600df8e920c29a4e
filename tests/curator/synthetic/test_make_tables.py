"""People and their rows in one purchase: kept, found again, and refused for nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.curator.synthetic.make_tables import TablesRequest
from discreet.errors import DiscreetError
from discreet.mechanisms.for_spend import deviation
from discreet.synthetic.encoding.constraints import Between, Impossible
from discreet.synthetic.encoding.number_column import PrivateBins
from discreet.synthetic.tables.stored_tables import load_tables, tables_from_json
from tests.curator.test_purchase import NO_SPEND

PEOPLE = 3000
SPEND = dp.PureDP(epsilon=6)


def curator(**more: Any) -> dp.Curator:
    """The south has more visits; wards follow the region; half of all people order one thing."""
    rng = np.random.default_rng(5)
    region = rng.integers(0, 2, PEOPLE)
    each = rng.poisson(np.where(region == 0, 0.4, 1.8))
    owner = np.repeat(np.arange(PEOPLE), each)
    ward = np.where(rng.random(len(owner)) < 0.9, region[owner], 1 - region[owner])
    buys = np.flatnonzero(rng.random(PEOPLE) < 0.5)
    visit: Any = {"patient": owner, "ward": np.array(["A", "B"])[ward]}
    people: Any = {"patient": np.arange(PEOPLE), "region": np.array(["n", "s"])[region]}
    return dp.Curator(
        patients=dp.table(
            people,
            unit=dp.Person("patient", max_rows=1),
            columns={"region": dp.Category(["n", "s"])},
            snapshot="1",
        ),
        visits=dp.table(
            visit,
            unit=dp.Person("patient", max_rows=3),
            columns={"ward": dp.Category(["A", "B"])},
            snapshot="1",
        ),
        orders=dp.table(
            {"patient": buys, "region": np.array(["x", "y"])[buys % 2]},
            unit=dp.Person("patient", max_rows=1),
            columns={"region": dp.Category(["x", "y"])},
            snapshot="1",
        ),
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
        **more,
    )


def test_numbers_of_rows_and_what_rows_depend_on_are_kept_for_one_price() -> None:
    """At epsilon 2 for each of three tables; bounds are many deviations from what noise does."""
    made = curator()
    found = made.synthesize_tables("patients", ["visits", "orders"], spend=SPEND)
    assert made.spent == SPEND.per(made.context.unit)
    assert found.guarantee.unit == made.spent.unit
    assert found.event.epsilon(delta=0) <= 6 * (1 + 1e-9)
    tables = found.sample(2000)
    assert list(tables) == ["patients", "visits", "orders"]
    assert tables["patients"]["patient"] == list(range(1, 2001))
    region = dict(zip(tables["patients"]["patient"], tables["patients"]["region"], strict=True))
    visits = list(zip(tables["visits"]["patient"], tables["visits"]["ward"], strict=True))
    assert {owner for owner, _ in visits} <= set(region)
    south = [ward for owner, ward in visits if region[owner] == "s"]
    north = [ward for owner, ward in visits if region[owner] == "n"]
    assert len(south) > 2 * len(north)
    assert south.count("B") > 0.75 * len(south)
    assert max(tables["visits"]["patient"].count(each) for each in range(1, 50)) <= 3
    assert abs(len(tables["orders"]["patient"]) - 1000) < 150
    assert abs(found.model.people.total - PEOPLE) < 100


def test_it_is_found_again_and_reads_the_same() -> None:
    made = curator()
    first = made.synthesize_tables("patients", ["visits"], spend=SPEND)
    again = made.synthesize_tables("patients", ["visits"], spend=SPEND)
    assert made.spent == SPEND.per(made.context.unit)
    assert again.id == first.id
    assert again.event == first.event
    assert (
        again.model.people.marginal(["visits"]) == first.model.people.marginal(["visits"])
    ).all()
    laws = [each.model.rows["visits"].to_dict() for each in (first, again)]
    assert laws[0] == laws[1]
    with pytest.raises(DiscreetError) as refused:
        made.synthesize_tables("patients", ["orders"], spend=SPEND)
    assert refused.value.code == "budget_exhausted"


def test_it_is_written_to_a_file_and_read_again(tmp_path: Path) -> None:
    made = curator()
    found = made.synthesize_tables("patients", ["visits", "orders"], spend=SPEND)
    found.save(tmp_path / "tables.json")
    read = load_tables(tmp_path / "tables.json")
    assert read.to_json() == found.to_json()
    request = TablesRequest.of(made.context, "patients", ["visits", "orders"])
    assert read.model.people.universe.attributes == request.people.universe.attributes
    laws = zip(read.model.rows.values(), request.rows, strict=True)
    assert all(a.universe.attributes == b.universe.attributes for a, b in laws)
    assert (read.guarantee, read.event, read.facts) == (found.guarantee, found.event, found.facts)
    assert set(read.sample(9)) == {"patients", "visits", "orders"}
    by_region = read.people("region")
    assert sum(by_region.to_dict()["n"]) == pytest.approx(found.model.people.total)
    assert by_region.guarantee == found.guarantee
    for wrong in ("{}", "3", read.to_json().replace("tables-release/1", "tables-release/9")):
        with pytest.raises(DiscreetError) as refused:
            tables_from_json(wrong)
        assert refused.value.code == "synthetic_not_json"


def with_ages(**more: Any) -> dp.Curator:
    """The old have dear visits, the young cheap ones; who is young has no pension."""
    rng = np.random.default_rng(6)
    age = rng.integers(0, 100, PEOPLE)
    pension = np.where(age >= 60, "yes", "no")
    owner = np.repeat(np.arange(PEOPLE), 2)
    cost = rng.random(2 * PEOPLE) * 50 + np.where(age[owner] >= 50, 900.0, 0.0)
    return dp.Curator(
        patients=dp.table(
            {"patient": np.arange(PEOPLE), "age": age, "pension": pension},
            unit=dp.Person("patient", max_rows=1),
            columns={"age": dp.Number(0, 99), "pension": dp.Category(["no", "yes"])},
            snapshot="1",
        ),
        visits=dp.table(
            {"patient": owner, "cost": cost},
            unit=dp.Person("patient", max_rows=2),
            columns={"cost": dp.Number(0, 1000)},
            snapshot="1",
        ),
        budget=dp.PureDP(epsilon=20),
        ledger=dp.ledger.Memory(),
        **more,
    )


def test_private_bins_of_people_and_of_rows_cost_no_more_and_keep_dependence() -> None:
    made = with_ages()
    spend = dp.PureDP(epsilon=16)
    asked: dict[str, Any] = {"bins": PrivateBins(4, of=32), "spend": spend}
    ahead = made.preview_tables("patients", ["visits"], **asked)
    assert ahead.tables[0].attributes["age"] == 5
    assert ahead.tables[1].budget_split["bins"] == pytest.approx(0.05)
    found = made.synthesize_tables("patients", ["visits"], **asked)
    assert made.spent == spend.per(made.context.unit)
    tables = found.sample()
    age = dict(zip(tables["patients"]["patient"], tables["patients"]["age"], strict=True))
    visits = zip(tables["visits"]["patient"], tables["visits"]["cost"], strict=True)
    known = [(age[who], cost) for who, cost in visits if None not in (age[who], cost)]
    old = [cost > 500 for years, cost in known if years >= 60]
    young = [cost > 500 for years, cost in known if years < 40]
    assert sum(old) / len(old) > 0.8
    assert sum(young) / len(young) < 0.2
    again = made.synthesize_tables("patients", ["visits"], **asked)
    assert again.to_json() == found.to_json()
    assert tables_from_json(found.to_json()).to_json() == found.to_json()


def test_what_an_owner_knows_to_be_impossible_is_never_made() -> None:
    made = with_ages()
    never = Impossible({"age": Between(0, 60), "pension": ["yes"]})
    found = made.synthesize_tables(
        "patients", ["visits"], constraints={"patients": [never]}, bins=5, spend=SPEND
    )
    people = found.sample(3000)["patients"]
    pairs = zip(people["age"], people["pension"], strict=True)
    assert not [age for age, pension in pairs if pension == "yes" and age is not None and age < 60]
    with pytest.raises(DiscreetError) as refused:
        made.synthesize_tables("patients", ["visits"], constraints={"orders": [never]}, spend=SPEND)
    assert refused.value.code == "tables_names"


def test_prices_are_those_of_the_declared_limits() -> None:
    request = TablesRequest.of(curator().context, "patients", ["visits", "orders"])
    assert [each.records for each in (request.people, *request.rows)] == [1, 3, 1]
    numbers = {each.name: each.values for each in request.people.universe.attributes}
    assert numbers["visits"] == (0, 1, 2, 3)
    assert numbers["orders"] == (0, 1)
    people, *rows = request.mechanisms(SPEND)
    assert [each.records for each in (people, *rows)] == [1, 3, 1]
    total = sum(each.event.epsilon(delta=0) for each in (people, *rows))
    assert 5.9 < total <= 6 * (1 + 1e-9)


def test_a_preview_reads_nothing_charges_nothing_and_is_what_is_then_paid() -> None:
    made = curator()
    found = made.preview_tables("patients", ["visits", "orders"], spend=SPEND)
    assert made.spent == dp.PureDP(epsilon=0).per(made.context.unit)
    assert len(made.history()) == 0
    assert found.price == SPEND.per(made.context.unit)
    assert found.affordable == 1
    people, visits, orders = found.tables
    assert people.attributes == {"region": 3, "rows in visits": 4, "rows in orders": 2}
    assert (people.limit, visits.limit, orders.limit) == (1, 3, 1)
    assert [each.share for each in found.tables] == pytest.approx([1 / 3] * 3)
    request = TablesRequest.of(made.context, "patients", ["visits", "orders"])
    for told, mechanism in zip(found.tables, request.mechanisms(SPEND), strict=True):
        assert told.noise == deviation(mechanism.noise)
    assert orders.noise is not None
    assert visits.noise is not None
    assert 2.5 < visits.noise / orders.noise < 4  # of three rows, on whole numbers
    assert "33% of the spend" in str(found)
    made.synthesize_tables("patients", ["visits", "orders"], spend=SPEND)
    assert made.spent == found.price
    again = made.preview_tables("patients", ["visits"], spend=SPEND, mechanism=dp.synthetic.AIM)
    assert again.affordable == 0
    assert again.tables[0].noise is None


def test_what_cannot_be_made_is_refused_by_a_preview() -> None:
    made = curator()
    with pytest.raises(DiscreetError) as refused:
        made.preview_tables(
            "patients",
            ["visits"],
            spend=SPEND,
            mechanism=partial(dp.synthetic.AIM, max_size=2),
        )
    assert refused.value.code == "junction_tree_too_large"
    with pytest.raises(DiscreetError) as refused:
        made.preview_tables("visits", ["orders"], spend=SPEND)
    assert refused.value.code == "not_a_table_unit"


@pytest.mark.parametrize(
    ("parent", "children", "more", "code"),
    [
        ("patients", [], {}, "tables_names"),
        ("patients", "visits", {}, "tables_names"),
        ("patients", ["patients"], {}, "tables_names"),
        ("patients", ["visits", "visits"], {}, "tables_names"),
        ("patients", ["visits"], {"columns": {"orders": ["region"]}}, "tables_names"),
        ("visits", ["orders"], {}, "not_a_table_unit"),
        ("patients", ["visists"], {}, "unknown_table"),
        ("patients", ["visits"], {"columns": {"visits": ["costs"]}}, "column_unknown"),
        ("patients", ["visits"], {"spend": dp.PureDP(epsilon=11)}, "budget_exhausted"),
    ],
)
def test_refusals_are_free(parent: str, children: Any, more: dict[str, Any], code: str) -> None:
    made = curator()
    with pytest.raises(DiscreetError) as refused:
        made.synthesize_tables(parent, children, **({"spend": SPEND} | more))
    assert refused.value.code == code
    assert made.spent == dp.PureDP(epsilon=0).per(made.context.unit)


@pytest.mark.parametrize("name", NO_SPEND)
def test_what_is_no_spend_is_refused(name: str) -> None:
    made, (spend, codes) = curator(), NO_SPEND[name]
    with pytest.raises(DiscreetError) as refused:
        made.synthesize_tables("patients", ["visits"], spend=spend)
    assert refused.value.code in codes
    assert made.spent == dp.PureDP(epsilon=0).per(made.context.unit)
