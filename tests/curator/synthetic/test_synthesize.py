"""A curator's synthetic tables: one purchase, free afterwards, refusals that cost nothing."""

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.core.errors import DiscreetError, InvalidParameter, NotPrivate
from discreet.curator.synthetic.make import SynthesisRequest
from discreet.curator.synthetic.preview import preview_synthesis
from discreet.noise.randomness import Noiseless, Seeded
from discreet.synthetic.bounded_records import bounded_records
from discreet.synthetic.encoding.constraints import Between, Determined, Impossible
from discreet.synthetic.encoding.identifier_column import IdentifierColumn
from discreet.synthetic.encoding.number_column import NumberColumn, PrivateBins
from discreet.synthetic.full_histogram import FullHistogram
from discreet.synthetic.independent_marginals import IndependentMarginals
from tests.synthetic.invented import DECLARED, visits

ROWS = visits(1200)
MOMENTS = [datetime(2024, 1, 1) + timedelta(minutes=7 * i) for i in range(1200)]
TABLE = {
    **ROWS,
    "at": MOMENTS,
    "on": MOMENTS,
    "notes": ["secret"] * 1200,
    "code": list(range(1200)),
}
ALL = {
    **DECLARED,
    "at": dp.Dates(datetime(2024, 1, 1), datetime(2024, 1, 5)),
    "on": dp.Dates(date(2024, 1, 1), date(2024, 1, 5)),
    "notes": dp.Text(),
    "code": dp.Number(0, 1000),
}
SPEND = dp.ApproxDP(epsilon=1, delta=1e-7)


def curator(unit: Any = None, **more: Any) -> dp.Curator:
    table = dp.table(pl.DataFrame(TABLE), unit=unit or dp.Row(), columns=ALL, snapshot="first")
    budget = more.pop("budget", dp.ApproxDP(epsilon=10, delta=1e-5))
    return dp.Curator(visits=table, budget=budget, ledger=dp.ledger.Memory(), **more)


def request(of: dp.Curator, **choices: Any) -> SynthesisRequest:
    terms: dict[str, Any] = {"bins": 7, "mechanism": IndependentMarginals}
    return SynthesisRequest.of(of.context, "visits", **(terms | choices))


CONSTRAINTS = [
    Impossible({"ill": [True], "age": Between(high=18)}),
    Impossible({"sex": [None], "ill": [True]}),
]


@pytest.mark.parametrize("constraints", [[], CONSTRAINTS], ids=["free", "constrained"])
def test_the_engine_counts_the_cells_that_columns_encode(constraints: list[Impossible]) -> None:
    with curator() as opened:
        made = request(opened, constraints=constraints)
        encoding = made.encoding
        codes = encoding.encode({name: TABLE[name] for name in encoding.columns})
        here = bounded_records(encoding.universe, codes, dp.Row())
        names = encoding.universe.names
        assert made.workload.universe.attributes == encoding.universe.attributes
        for asked in [[name] for name in names] + [list(names[:2]), list(names[-2:])]:
            assert (made.source.counts(asked) == here.counts(asked)).all(), asked


def test_columns_follow_what_is_stored_and_declared() -> None:
    with curator() as opened:
        encoding = request(opened).encoding
        assert list(encoding.columns) == [name for name in ALL if name != "notes"]
        code = encoding.columns["code"]
        assert isinstance(code, NumberColumn)
        assert code.whole
        sampled = opened.synthesize(
            "visits", spend=SPEND, columns=["at", "on", "code"], mechanism=IndependentMarginals
        ).sample(5)
        assert {type(each) for each in sampled["at"]} <= {datetime, type(None)}
        assert {type(each) for each in sampled["on"]} <= {date, type(None)}  # stored as moments
        assert {type(each) for each in sampled["code"]} <= {int, type(None)}


def test_it_is_charged_once_and_found_again() -> None:
    with curator() as opened:
        terms: dict[str, Any] = {"columns": ["sex", "ill"], "mechanism": FullHistogram}
        first = opened.synthesize("visits", spend=SPEND, **terms)
        spent = opened.spent
        assert spent == dp.ApproxDP(epsilon=1, delta=0, unit=dp.Row())  # Laplace noise errs less
        again = opened.synthesize("visits", spend=SPEND, **terms)
        assert opened.spent == spent
        assert again.id == first.id
        assert (again.marginal("sex", "ill") == first.marginal("sex", "ill")).all()
        first.sample(10_000)
        first.estimate({"sex": ["f"]}, errors=first.simulate(runs=2))
        assert opened.spent == spent
        other = opened.synthesize("visits", spend=SPEND, analyst="another", **terms)
        assert other.id != first.id
        assert opened.spent != spent


@pytest.mark.parametrize(
    "changed",
    [
        {"columns": ["sex", "ill", "age"]},
        {"bins": 9},
        {"ways": 1},
        {"target": "ill"},
        {"mechanism": FullHistogram},
        {"constraints": [Impossible({"sex": [None], "ill": [True]})]},
        {"bins": PrivateBins(3, of=9)},
        {"bins": PrivateBins(3, of=9), "bins_share": 0.3},
    ],
    ids=str,
)
def test_another_request_is_another_purchase(changed: dict[str, Any]) -> None:
    with curator() as opened:
        plain = request(opened, columns=["sex", "ill"], bins=7).identify_question(SPEND)
        same = request(opened, columns=["sex", "ill"], bins=7).identify_question(SPEND)
        other = request(opened, **({"columns": ["sex", "ill"]} | changed)).identify_question(SPEND)
        assert not plain.anew
        assert same.identity == plain.identity
        numbers = {"bins"} <= set(changed) and "age" not in changed.get("columns", [])
        if numbers:  # no column of these has bins
            assert other.identity == plain.identity
        else:
            assert other.identity != plain.identity


def test_bins_are_part_of_the_identity_where_a_column_has_them() -> None:
    with curator() as opened:
        seen = {
            request(opened, columns=["age"], **terms).identify_question(SPEND).identity
            for terms in (
                {"bins": 7},
                {"bins": 9},
                {"bins": PrivateBins(3, of=9)},
                {"bins": PrivateBins(4, of=9)},
                {"bins": PrivateBins(3, of=9), "bins_share": 0.3},
            )
        }
        assert len(seen) == 5


@pytest.mark.parametrize(
    ("terms", "code"),
    [
        ({"columns": ["height"]}, "column_unknown"),
        ({"columns": ["notes"]}, "not_a_column"),
        ({"columns": "sex"}, "attribute_names"),
        ({"columns": []}, "attribute_names"),
        ({"constraints": [Impossible({"sex": ["f", "m", None]})]}, "constraints_infeasible"),
        ({"constraints": [Impossible({"sex": ["x"]})]}, "constraint_value"),
        ({"constraints": [Determined("sex", by="ill", values={})]}, "dependency_incomplete"),
        ({"target": "height"}, "attribute_unknown"),
        ({"mechanism": dp.queries.MWEM}, "not_a_synthesiser"),
        ({"mechanism": FullHistogram, "bins": 60}, "universe_too_large"),
        ({"bins": 0}, "not_a_count"),
    ],
    ids=str,
)
def test_refusals_cost_nothing(terms: dict[str, Any], code: str) -> None:
    with curator() as opened:
        before = opened.spent
        with pytest.raises(DiscreetError) as caught:
            opened.synthesize("visits", spend=SPEND, **terms)
        assert caught.value.code == code
        assert opened.spent == before
        assert len(opened.history()) == 0


def test_a_table_that_is_not_private_or_not_there_is_refused() -> None:
    with curator() as opened, pytest.raises(InvalidParameter, match="nothing"):
        opened.synthesize("nothing", spend=SPEND)


def test_people_are_bounded_in_the_engine() -> None:
    with curator(dp.Person("patient", max_rows=2), randomness=Noiseless()) as opened:
        made = opened.synthesize(
            "visits", spend=SPEND, columns=["sex", "ill"], mechanism=FullHistogram
        )
        rows = np.bincount(ROWS["patient"])
        assert made.total == np.minimum(rows, 2).sum()
        assert made.guarantee.unit == dp.Person("patient", max_rows=2)


def test_test_mode_is_marked_and_stays_out_of_durable_ledgers(tmp_path: Path) -> None:
    with curator(randomness=Seeded(0)) as opened:
        made = opened.synthesize("visits", spend=SPEND, columns=["sex"], mechanism=FullHistogram)
        assert not made.private
    table = dp.table(pl.DataFrame(TABLE), unit=dp.Row(), columns=ALL)
    with pytest.raises(NotPrivate):
        dp.Curator(
            visits=table,
            budget=dp.PureDP(epsilon=1),
            ledger=tmp_path / "visits.ledger",
            randomness=Seeded(0),
        )


def test_it_is_found_again_in_a_durable_ledger(tmp_path: Path) -> None:
    table = dp.table(pl.DataFrame(TABLE), unit=dp.Row(), columns=ALL, snapshot="first")
    terms: dict[str, Any] = {"columns": ["sex", "age"], "bins": PrivateBins(4, of=12)}
    ids = []
    for _ in range(2):
        with dp.Curator(
            visits=table, budget=dp.PureDP(epsilon=1), ledger=tmp_path / "visits.ledger"
        ) as opened:
            made = opened.synthesize(
                "visits", spend=dp.PureDP(epsilon=1), mechanism=IndependentMarginals, **terms
            )
            ids.append((made.id, made.marginal("age").tolist()))
    assert ids[0] == ids[1]


def test_the_whole_budget_is_held() -> None:
    with curator(budget=dp.PureDP(epsilon=1)) as opened:
        terms: dict[str, Any] = {"columns": ["sex"], "mechanism": FullHistogram}
        opened.synthesize("visits", spend=dp.PureDP(epsilon=0.75), **terms)
        with pytest.raises(DiscreetError, match="budget_exhausted"):
            opened.synthesize("visits", spend=dp.PureDP(epsilon=0.5), **terms)


def test_identifiers_are_generated_beside_what_is_declared() -> None:
    with curator() as opened:
        made = opened.synthesize(
            "visits",
            spend=SPEND,
            columns={"patient": IdentifierColumn("P"), "sex": None},
            mechanism=FullHistogram,
        )
        assert made.sample(2)["patient"] == ["P1", "P2"]


def test_a_preview_reads_nothing_and_charges_nothing() -> None:
    with curator() as opened:
        found = preview_synthesis(request(opened, columns=["sex", "age"]), SPEND)
        assert found.affordable == 10
        assert found.attributes == {"sex": 3, "age": 8}
        assert sum(found.budget_split.values()) == pytest.approx(1)
        assert "price: epsilon 1" in str(found)
        assert len(opened.history()) == 0


def test_statements_name_the_columns_and_those_left_out() -> None:
    with curator() as opened:
        made = opened.synthesize("visits", spend=SPEND, columns=["sex"], mechanism=FullHistogram)
        assert made.facts["columns"] == ["sex"]
        assert made.facts["columns_left_out"] == ["notes"]
        assert made.facts["private"] is True
        assert "secret" not in str(made.statement)


def test_distances_are_charged_once_and_found_again_for_the_same_rows() -> None:
    with curator() as opened:
        made = opened.synthesize(
            "visits", spend=SPEND, columns=["sex", "ill"], mechanism=FullHistogram
        )
        rows = made.sample(1200)
        before = opened.history()
        spend = dp.PureDP(epsilon=0.5)
        terms: dict[str, Any] = {"columns": ["sex", "ill"], "spend": spend}
        found = opened.evaluate_synthetic("visits", rows, **terms)
        assert found.private
        assert found.guarantee == spend.per(dp.Row())
        assert set(found.distances) == {1, 2}
        assert all(value < 0.2 for value, _ in found.distances.values())
        assert len(opened.history()) == len(before) + 1
        again = opened.evaluate_synthetic("visits", rows, **terms)
        assert again.distances == found.distances
        assert len(opened.history()) == len(before) + 1
        opened.evaluate_synthetic("visits", made, spend=spend)
        assert len(opened.history()) == len(before) + 2


def test_distances_are_those_of_the_records() -> None:
    with curator(randomness=Noiseless()) as opened:
        rows = {name: TABLE[name] for name in ("sex", "ill")}
        found = opened.evaluate_synthetic("visits", rows, columns=list(rows), spend=SPEND)
        assert not found.private
        assert all(value == 0 for value, _ in found.distances.values())
        nothing: dict[str, list[object]] = {name: [] for name in rows}
        with pytest.raises(InvalidParameter, match="evaluation_empty"):
            opened.evaluate_synthetic("visits", nothing, columns=list(rows), spend=SPEND)


def test_columns_that_are_never_missing_are_never_missing_in_samples() -> None:
    with curator() as opened:
        made = opened.synthesize(
            "visits",
            columns=["sex", "age"],
            never_missing=["sex", "age", "notes"],  # one that is not synthesised does no harm
            spend=SPEND,
            mechanism=IndependentMarginals,
        )
        sampled = made.sample(500)
        assert None not in sampled["sex"]
        assert None not in sampled["age"]
        here = [sex for sex in ROWS["sex"] if sex in {"f", "m"}]
        assert len(here) < len(ROWS["sex"])  # real rows without a value are left out
        assert made.total == pytest.approx(len(here), abs=60)
        with pytest.raises(InvalidParameter) as refused:
            request(opened, never_missing=["Agee"])
        assert refused.value.remedy == "Did you mean age?"


def test_more_cells_than_rows_can_show_are_told_before_and_after() -> None:
    with curator() as opened:
        fine: dict[str, Any] = {"columns": ["sex", "age", "ill"], "constraints": CONSTRAINTS}
        small = dp.PureDP(epsilon=0.1)
        before = opened.preview_synthesis("visits", spend=small, **fine)
        assert before.noise is not None
        assert before.noise.rows_needed > 1200
        assert "rows it drowns" in str(before)
        made = opened.synthesize("visits", spend=small, mechanism=IndependentMarginals, **fine)
        (warned,) = made.warnings
        assert warned.startswith("sex+age+ill: ")
        assert "combinations, each with noise" in warned
        assert f"warning: {warned}" in str(made)
        enough = opened.synthesize(
            "visits",
            spend=dp.PureDP(epsilon=3),
            columns=["sex", "ill"],
            mechanism=IndependentMarginals,
        )
        assert not enough.warnings


def test_columns_that_constraints_tie_are_compared_one_by_one() -> None:
    with curator() as opened:
        made = opened.synthesize(
            "visits",
            columns=["sex", "age", "ill"],
            constraints=CONSTRAINTS,
            spend=SPEND,
            mechanism=IndependentMarginals,
        )
        found = opened.evaluate_synthetic("visits", made, spend=dp.PureDP(epsilon=1))
        assert found.columns == ("sex", "age", "ill")
        assert list(found.distances) == [1, 2, 3]
        assert "compared: sex, age, ill" in str(found)
