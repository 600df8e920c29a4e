"""Several questions at one price."""

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit
from discreet.errors import Exhausted, InvalidParameter
from discreet.release import Estimate

QUESTIONS = {
    "total": "SELECT COUNT(*) AS n FROM visits",
    "ward": "SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY ward",
    "both": "SELECT ward, sex, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward, sex",
    "old": "SELECT sex, COUNT(*) AS n, MEDIAN(age) AS m FROM visits WHERE age > 60 GROUP BY sex",
}
N = 6000


def rows(n: int = N) -> dict[str, np.ndarray]:
    place = np.arange(n)
    return {
        "id": place // 3,
        "ward": np.array(["A", "B", "C", "elsewhere"])[place % 4],
        "sex": np.array(["f", "m"])[place // 7 % 2],
        "age": place * 37 % 101,
    }


def curator(unit: PrivacyUnit, budget: Guarantee, **more: object) -> dp.Curator:
    columns: dict[str, dp.Category | dp.Number] = {
        "ward": dp.Category(["A", "B", "C"]),
        "sex": dp.Category(["f", "m"]),
        "age": dp.Number(0, 110),
    }
    table = dp.table(rows(), unit=unit, columns=columns, snapshot="one")
    return dp.Curator(visits=table, budget=budget, ledger=dp.ledger.Memory(), **more)  # type: ignore[arg-type]


def epsilon(c: dp.Curator) -> float:
    return float(c.spent.epsilon)  # type: ignore[attr-defined]


SPENDS = [dp.PureDP(epsilon=0.5), dp.ApproxDP(epsilon=0.5, delta=1e-6), dp.ZCDP(rho=0.05)]


def holding(spend: Guarantee) -> Guarantee:
    return dp.ZCDP(rho=10) if isinstance(spend, dp.ZCDP) else dp.ApproxDP(epsilon=10, delta=1e-3)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
@pytest.mark.parametrize(
    "unit", [dp.Row(), dp.Person("id", max_rows=3), dp.Replace(dp.Row())], ids=str
)
def test_a_batch_costs_its_spend_and_no_more(unit: PrivacyUnit, spend: Guarantee) -> None:
    with curator(unit, holding(spend)) as c:
        batch = c.batch(QUESTIONS, spend=spend)
        assert list(batch) == list(QUESTIONS)
        assert len(c.history()) == 1
        for name in ("epsilon", "delta", "rho"):
            if hasattr(spend, name):
                assert getattr(c.spent, name) <= getattr(spend, name) * (1 + 1e-12)
        name = "rho" if isinstance(spend, dp.ZCDP) else "epsilon"
        assert getattr(c.spent, name) > 0.98 * getattr(spend, name)


def test_the_same_batch_is_answered_from_the_ledger() -> None:
    with curator(dp.Row(), dp.PureDP(epsilon=1)) as c:
        first = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5))
        again = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5))
        wider = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5), confidence=0.99)
        assert repr(first) == repr(again)
        assert wider["total"].value == first["total"].value
        assert wider["total"]["n"].upper[0] > first["total"]["n"].upper[0]  # type: ignore[index]
        assert epsilon(c) == pytest.approx(0.5)
        with pytest.raises(Exhausted, match="budget_exhausted"):
            c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.6))


def test_another_asker_pays_again() -> None:
    with curator(dp.Row(), dp.PureDP(epsilon=1)) as c:
        first = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5), analyst="ann")
        other = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5), analyst="bob")
        assert repr(first) != repr(other)
        assert epsilon(c) == pytest.approx(1)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
def test_related_answers_agree_where_keys_cover_everything(spend: Guarantee) -> None:
    """Rows of other wards are in the total; those with a sex are all of them."""
    asked = {
        "total": "SELECT COUNT(*) AS n FROM visits",
        "sex": "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex",
        "both": "SELECT sex, ward, COUNT(*) AS n FROM visits GROUP BY sex, ward",
    }
    with curator(dp.Row(), holding(spend)) as c:
        batch = c.batch(asked, spend=spend)
        total, sex, both = (np.array(batch[name]["n"].values, dtype=float) for name in asked)
        raw = np.array(batch.unprocessed["both"]["n"].values)
        assert (raw == raw.round()).all()
        assert not (both == raw).all()
        # Cells with a NULL key are measured too, hidden here, and make up the difference.
        assert abs(sex.sum() - total[0]) < 200
        assert abs(both.reshape(2, 3).sum(axis=1) - sex * 0.75).max() < 400


def test_without_noise_a_batch_gives_the_exact_answers() -> None:
    with curator(dp.Row(), dp.PureDP(epsilon=1e9)) as c:
        batch = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=1e7))
        data = rows()
        assert batch["total"].value == pytest.approx(N, abs=0.01)
        for place, ward in enumerate("ABC"):
            inside = data["ward"] == ward
            assert batch["ward"]["n"].values[place] == pytest.approx(inside.sum(), abs=0.01)
            mean = data["age"][inside].mean()
            assert batch["ward"]["a"].values[place] == pytest.approx(mean, abs=0.01)
        old = data["age"] > 60
        for place, sex in enumerate("fm"):
            assert batch["old"]["n"].values[place] == (old & (data["sex"] == sex)).sum()


@pytest.mark.parametrize(
    ("batches", "least"), [(60, 0.9), pytest.param(1000, 0.935, marks=pytest.mark.slow)]
)
def test_intervals_of_estimates_cover_as_they_say(batches: int, least: float) -> None:
    """Ten cells in each batch, counted as four independent ones.

    If each covers 95 %, the share is below ``least`` with probability below 5e-4.
    """
    asked = {name: QUESTIONS[name] for name in ("total", "ward", "both")}
    held = cells = 0
    with curator(dp.Row(), dp.PureDP(epsilon=1e12)) as c:
        exact = c.batch(asked, spend=dp.PureDP(epsilon=1e6))
        truth = {name: np.array(exact[name]["n"].values, dtype=float).round() for name in asked}
        for number in range(batches):
            batch = c.batch(asked, spend=dp.PureDP(epsilon=0.3), analyst=str(number))
            for name in asked:
                answer = batch[name]["n"]
                lower, upper = np.array(answer.lower), np.array(answer.upper)
                held += int(((lower <= truth[name]) & (truth[name] <= upper)).sum())
                cells += len(lower)
    assert least < held / cells < 0.99


def test_importance_moves_accuracy() -> None:
    def width(importance: dict[str, float] | None) -> float:
        with curator(dp.Row(), dp.PureDP(epsilon=1)) as c:
            batch = c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5), importance=importance)
            answer = batch["total"]["n"]
            assert answer.lower is not None
            assert answer.upper is not None
            return float(answer.upper[0] - answer.lower[0])

    assert width({"total": 100}) < 0.7 * width(None)


def test_noise_that_questions_share_is_known_to_be_the_same() -> None:
    """The same count in two questions: its difference is zero, without any noise."""
    asked = {
        "one": "SELECT sex, COUNT(*) AS n FROM visits WHERE age > 3 GROUP BY sex",
        "two": "SELECT sex, COUNT(*) AS n, SUM(age) AS s FROM visits WHERE age > 3 GROUP BY sex",
    }
    with curator(dp.Row(), dp.PureDP(epsilon=1)) as c:
        batch = c.batch(asked, spend=dp.PureDP(epsilon=0.5))
        one, two = batch.unprocessed["one"], batch.unprocessed["two"]
        assert one["n"].values == two["n"].values
        difference = one.cell("n", sex="f") - two.cell("n", sex="f")
        assert isinstance(difference, Estimate)
        assert difference.value == 0
        assert difference.half_width(confidence=0.95) == 0


def test_bad_batches_are_refused_at_no_charge() -> None:
    with curator(dp.Row(), dp.PureDP(epsilon=1)) as c:
        for questions, importance, code in [
            ({}, None, "batch_names"),
            (QUESTIONS, {"nobody": 2.0}, "batch_names"),
            (QUESTIONS, {"total": -1.0}, "importance"),
            ({"a": "SELECT nothing FROM visits"}, None, "unknown_column|no_such|column"),
        ]:
            with pytest.raises(InvalidParameter, match=code):
                c.batch(questions, spend=dp.PureDP(epsilon=0.5), importance=importance)
        with pytest.raises(InvalidParameter, match="question_unknown"):
            c.batch(QUESTIONS, spend=dp.PureDP(epsilon=0.5))["nobody"]
        assert epsilon(c) == pytest.approx(0.5)
