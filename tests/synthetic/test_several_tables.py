"""People and their rows: numbers of rows and what rows depend on are kept; a person is hidden."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.errors import DiscreetError, InvalidParameter
from discreet.noise.randomness import Noiseless, Seeded
from discreet.queries.workload.universe import Universe
from discreet.synthetic.conditional_network import ConditionalNetwork
from discreet.synthetic.privbayes import PrivBayes
from discreet.synthetic.tables.person_tables import OwnedRows, PersonTables
from discreet.synthetic.tables.several_tables import ChildTable, SeveralTables
from tests.queries.transcripts import Tape, shares, taped

PERSON = Universe.of(sex=["f", "m"], region=["north", "south", "west"])
VISIT = Universe.of(ward=["A", "B", "C"], cost=range(4))
ORDER = Universe.of(thing=range(3))
VISITS, ORDERS = (
    ChildTable("visits", VISIT, limit=4),
    ChildTable("orders", ORDER, limit=2, share=0.5),
)


def invented(people: int, seed: int = 0) -> PersonTables:
    """The west has many visits, the north few; wards follow the region, and costs the ward."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, 2, people), rng.integers(0, 3, people)], axis=1)
    numbers = np.minimum(rng.poisson(np.array([0.3, 1.0, 2.5])[codes[:, 1]]), 9)
    owners = np.repeat(np.arange(people), numbers)
    ward = np.where(
        rng.random(len(owners)) < 0.8, codes[owners, 1], rng.integers(0, 3, len(owners))
    )
    cost = np.minimum(rng.poisson(np.array([0.2, 1.0, 2.0])[ward]), 3)
    bought = np.flatnonzero(rng.random(people) < 0.5)
    thing = np.where(rng.random(len(bought)) < 0.9, codes[bought, 0], 2)
    order = rng.permutation(len(owners))
    return PersonTables(
        codes,
        {
            "visits": OwnedRows(owners[order], np.stack([ward, cost], axis=1)[order]),
            "orders": OwnedRows(bought, thing[:, None]),
        },
    )


def shapes(data: PersonTables) -> dict[str, NDArray[np.float64]]:
    """Laws: visits by region of the person, wards by region, costs by ward, things by sex."""
    visits, orders = data.children["visits"], data.children["orders"]
    numbers = np.bincount(visits.owners, minlength=len(data.codes))
    found = {
        "visits by region": (data.codes[:, 1], np.minimum(numbers, 4), (3, 5)),
        "wards by region": (data.codes[visits.owners, 1], visits.codes[:, 0], (3, 3)),
        "costs by ward": (visits.codes[:, 0], visits.codes[:, 1], (3, 4)),
        "things by sex": (data.codes[orders.owners, 0], orders.codes[:, 0], (2, 3)),
    }
    laws = {}
    for name, (first, second, shape) in found.items():
        table = np.zeros(shape)
        np.add.at(table, (first, second), 1)
        laws[name] = table / table.sum(axis=1, keepdims=True)
    return laws


@pytest.mark.parametrize("spend", [dp.PureDP(epsilon=4), dp.ZCDP(rho=0.5)])
def test_numbers_of_rows_and_dependence_on_their_owner_are_kept(spend: Any) -> None:
    """Each law of 20 000 people is within .06 in total variation; independent tables miss it."""
    data = invented(20_000)
    plan = SeveralTables(PERSON, (VISITS, ORDERS), spend, randomness=Seeded(1))
    made = plan.release(data).sample(20_000, randomness=Seeded(2))
    truth, found = shapes(data), shapes(made)
    for name, law in truth.items():
        far = np.abs(found[name] - law).sum(axis=1).max() / 2
        assert far < 0.06, name
        alone = np.abs(law - law.mean(axis=0)).sum(axis=1).max() / 2
        assert alone > 0.2, name  # what independent tables would miss
    assert (np.bincount(made.children["visits"].owners) <= 4).all()


def test_without_noise_laws_are_the_datas_below_the_limit() -> None:
    data = invented(3000)
    plan = SeveralTables(PERSON, (ORDERS,), dp.PureDP(epsilon=50), randomness=Noiseless())
    rows = plan.release(data).rows["orders"]
    assert isinstance(rows, ConditionalNetwork)
    law = rows.conditionals[0]
    by_sex = shapes(data)["things by sex"]
    wide = law.table.reshape(-1, 3)
    assert any(np.allclose(row, by_sex[0], atol=0.05) for row in wide)


def test_the_price_is_that_of_all_tables() -> None:
    plan = SeveralTables(PERSON, (VISITS, ORDERS), dp.PureDP(epsilon=1))
    assert plan.event.epsilon(delta=0) == pytest.approx(1)
    parts = [plan.parent_synthesiser.event, *(each.event for each in plan.child_synthesisers)]
    assert [p.epsilon(delta=0) for p in parts] == pytest.approx([1 / 2.5, 1 / 2.5, 0.5 / 2.5])
    assert [each.records for each in plan.child_synthesisers] == [4, 2]


def test_a_person_with_all_rows_is_hidden_for_the_price() -> None:
    """One person leaves with nine visits: no noise hides less than was promised for it."""
    data = invented(60)
    rows = data.children["visits"]
    mine = np.array([[0, 0]] * 5 + [[2, 3]] * 4)
    data.children["visits"] = OwnedRows(  # type: ignore[index]
        np.concatenate([rows.owners[rows.owners != 59], np.full(9, 59)]),
        np.concatenate([rows.codes[rows.owners != 59], mine]),
    )
    fewer = PersonTables(
        data.codes[:59],
        {
            name: OwnedRows(each.owners[each.owners < 59], each.codes[each.owners < 59])
            for name, each in data.children.items()
        },
    )
    plan = SeveralTables(PERSON, (VISITS, ORDERS), dp.PureDP(epsilon=1))
    bounded = data.children["visits"].bounded(60, 4, Seeded(1))
    assert (bounded.owners == 59).sum() == 4
    most: dict[str, float] = {}
    for seed in range(3):
        tape = Tape(np.random.default_rng(seed))
        worlds = []
        for world in (data, fewer):
            with taped(tape):
                released(plan, world)
            worlds.append(tape.rewind())
        for kind, share in shares(*worlds).items():
            most[kind] = max(most.get(kind, 0.0), share)
    assert max(most.values()) <= 1 + 1e-9
    assert most["DiscreteLaplace"] > 0.99


def released(plan: SeveralTables, data: PersonTables) -> None:
    """With the same rows kept of everybody who is there: the last person's keys come last."""
    kept = {}
    for child in plan.children:
        rows = data.children[child.name]
        order = np.argsort(rows.owners, kind="stable")
        sorted_rows = OwnedRows(rows.owners[order], rows.codes[order])
        mine = sorted_rows.owners
        rank = np.arange(len(mine)) - np.searchsorted(mine, mine, side="left")
        kept[child.name] = OwnedRows(
            mine[rank < child.limit], sorted_rows.codes[rank < child.limit]
        )
    limits = {child.name: child.limit for child in plan.children}
    plan.release_counts(
        data.with_counts(plan.people, limits, kept),
        {
            child.name: data.joined(
                plan.joined(child), kept[child.name], plan.list_given_places(child)
            )
            for child in plan.children
        },
    )


def test_each_row_of_a_person_is_kept_as_often_and_others_do_not_matter() -> None:
    """Five thousand draws of 2 of 6 rows: each is kept 1667 times, within six deviations."""
    owners = np.array([0] * 6 + [1])
    rows = OwnedRows(owners, np.arange(7)[:, None])
    source, tally = Seeded(4), np.zeros(7)
    for _ in range(5000):
        kept = rows.bounded(2, 2, source)
        assert (np.bincount(kept.owners) <= 2).all()
        tally[kept.codes[:, 0]] += 1
    assert tally[6] == 5000
    assert (np.abs(tally[:6] - 5000 / 3) < 6 * np.sqrt(5000 * 2 / 9)).all()


def test_rows_without_an_owner_are_left_out() -> None:
    rows = OwnedRows(np.array([-1, 0, 7]), np.zeros((3, 1), dtype=np.int64))
    assert rows.bounded(2, 3).owners.tolist() == [0]


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        (VISITS, VISITS),
        (ChildTable("sex", VISIT, limit=2),),
        (ChildTable("visits", Universe.of(sex=["f", "m"]), limit=2),),
    ],
)
def test_names_that_meet_are_refused(wrong: tuple[ChildTable, ...]) -> None:
    with pytest.raises(InvalidParameter, match="tables_names"):
        SeveralTables(PERSON, wrong, dp.PureDP(epsilon=1))


def test_limits_and_owners_must_be_there() -> None:
    with pytest.raises(InvalidParameter, match="not_a_count"):
        ChildTable("visits", VISIT, limit=0)
    with pytest.raises(DiscreetError, match="codes_outside"):
        OwnedRows(np.array([1, 2]), np.zeros((3, 1), dtype=np.int64))
    with pytest.raises(InvalidParameter, match="given_attributes"):
        SeveralTables(PERSON, (ChildTable("visits", VISIT, 2, given=()),), dp.PureDP(epsilon=1))


def test_people_may_be_synthesised_otherwise() -> None:
    plan = SeveralTables(
        PERSON, (ORDERS,), dp.PureDP(epsilon=4), mechanism=partial(PrivBayes, degree=1)
    )
    made = plan.release(invented(500)).sample()
    assert made.codes.shape[1] == 2


@pytest.mark.parametrize("owners", [[0.0, 1.0], [0.0, float("nan")]])
def test_owners_that_are_no_whole_numbers_are_refused_whatever_they_are(
    owners: list[float],
) -> None:
    """A missing one among reals would else be told apart by a warning."""
    with pytest.raises(DiscreetError) as refused:
        OwnedRows(np.array(owners), np.zeros((2, 1), dtype=np.int64))
    assert refused.value.code == "codes_outside"
