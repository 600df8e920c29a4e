"""What a stream may tell beside counts of listed keys: found keys, sums, averages, quantiles."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.curator.purchase import Offer
from discreet.curator.streams import open_stream
from discreet.errors import DiscreetError
from discreet.streams.live.clock import ReplayClock
from discreet.streams.live.events import EventFields
from discreet.streams.live.found_keys import FoundKeys
from discreet.streams.live.rules import CountAs, EventRules
from discreet.streams.live.series import QuantileSeries
from discreet.streams.sources.counted_batches import CountedBatches
from discreet.streams.statistics.histogram import Quantiles
from discreet.streams.statistics.totals import BoundedNumber, RunningAverage, RunningTotal
from discreet.streams.units import EventLevel, UserLevel
from discreet.streams.window import SlidingWindow
from tests.curator.streams.wards import START, curator, source, stream, write

VALUED = EventFields(key="ward", person="patient", time="at", value="bill")
KEYED = EventFields(key="ward", person="patient", time="at")
BILL = BoundedNumber(low=0, high=100, step=1.0)
FEW = FoundKeys(most=5, every=2)
LARGE = dp.ApproxDP(epsilon=3 * 10**5, delta=1e-4)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(
        tmp_path / "visits.jsonl",
        [
            {"ward": "AB"[n % 2], "patient": f"p{n}", "at": START.timestamp() + 10 * n, "bill": n}
            for n in range(48)
        ],
    )
    return tmp_path


# Statistics ---------------------------------------------------------------------------------------


def valued(owner: dp.Curator, folder: Path, **more: Any) -> Any:
    given: dict[str, Any] = {"source": source(folder, VALUED), "keys": ["A", "B", "C"], **more}
    return stream(owner, folder, unit=UserLevel("patient", max_events=1), **given)


def test_sums_of_a_bounded_number_by_key_have_their_error(folder: Path) -> None:
    write(folder / "visits.jsonl", [{"ward": "A", "patient": "q", "at": START.timestamp()}])
    extreme = [{"ward": "C", "patient": "r", "at": START.timestamp(), "bill": 10**9}]
    write(folder / "visits.jsonl", extreme)
    with curator(folder) as owner:
        opened = valued(owner, folder, statistic=RunningTotal(BILL))
        *_, last = opened
        assert last.values == {
            "A": sum(range(0, 48, 2)),
            "B": sum(range(1, 48, 2)),
            "C": 100,  # clamped
        }
        assert last.within is not None
        assert last.within < 1
        assert opened.left_out_for_owner() == {"without a value": 1}


def test_a_sum_has_the_noise_of_its_bound(folder: Path) -> None:
    spend, unit = dp.PureDP(epsilon=1), UserLevel("patient", max_events=1)
    with curator(folder) as owner:
        summed = next(valued(owner, folder, statistic=RunningTotal(BILL), spend=spend))
        counted = next(stream(owner, folder, spend=spend, unit=unit, state=folder / "counts"))
        assert summed.within / counted.within == pytest.approx(100, rel=0.05)


def test_averages_and_quantiles_say_what_they_are_and_promise_no_error(folder: Path) -> None:
    quartiles = QuantileSeries(Quantiles([0, 8, 16, 24, 32, 40, 48, 56]), (0.25, 0.5, 0.75))
    with curator(folder) as owner:
        *_, last = valued(owner, folder, statistic=RunningAverage(BILL), keys=["A", "B"])
        assert last.values == pytest.approx({"A": 23, "B": 24}, abs=0.01)
        assert last.within is None
        assert "within" not in str(last)
        *_, last = valued(owner, folder, statistic=quartiles, keys=["A"], state=folder / "q")
        assert last.values == {"A 25%": 16, "A 50%": 24, "A 75%": 40}
        unkeyed = source(folder, EventFields(person="patient", time="at", value="bill"))
        *_, last = valued(
            owner, folder, statistic=quartiles, keys=None, source=unkeyed, state=folder / "u"
        )
        assert set(last) == {"25%", "50%", "75%"}


@pytest.mark.parametrize(
    "statistic",
    [RunningTotal(BILL), RunningAverage(BILL), QuantileSeries(Quantiles([1, 9, 99]), (0.5,))],
)
def test_a_statistic_goes_on_after_a_crash(folder: Path, statistic: Any) -> None:
    with curator(folder) as owner:
        opened = valued(owner, folder, statistic=statistic, spend=dp.PureDP(epsilon=1))
        before = [next(opened) for _ in range(3)]
        spent, name = owner.spent, opened.id
    with curator(folder) as owner:
        again = owner.resume(name, source=source(folder, VALUED), clock=ReplayClock())
        assert list(again.released()) == before
        assert [tick.number for tick in again] == [3, 4, 5, 6, 7]
        assert owner.spent == spent


def test_a_window_tells_of_the_last_ticks_alone(folder: Path) -> None:
    window = partial(SlidingWindow, window=2)
    with curator(folder) as owner:
        opened = stream(owner, folder, source=source(folder, KEYED), mechanism=window)
        told = [dict(tick.values) for tick in opened]
        assert [each["A"] for each in told] == [3, 6, 6, 6, 6, 6, 6, 6]


# Found keys ---------------------------------------------------------------------------------------


def found(owner: dp.Curator, folder: Path, **more: Any) -> Any:
    given: dict[str, Any] = {
        "keys": FEW,
        "spend": LARGE,
        "unit": UserLevel("patient", max_events=2),
        "source": source(folder, KEYED),
        **more,
    }
    return stream(owner, folder, **given)


def rich(folder: Path, **more: Any) -> dp.Curator:
    return curator(folder, budget=dp.ApproxDP(epsilon=10**6, delta=1e-3), **more)


def test_found_keys_appear_once_they_are_named_and_count_from_the_beginning(folder: Path) -> None:
    with rich(folder) as owner:
        opened = found(owner, folder)
        told = list(opened)
        assert told[0].values == {}
        assert told[1].values == {"A": 6, "B": 6}
        assert told[7].values == {"A": 24, "B": 24}
        assert opened.keys == ("A", "B")


def test_names_and_counts_are_paid_for_together(folder: Path) -> None:
    spend = dp.ApproxDP(epsilon=6, delta=1e-6)
    with rich(folder) as owner:
        opened = found(owner, folder, spend=spend)
        spent: Any = owner.spent
        assert spent.epsilon == 6
        assert 0.5e-6 <= spent.delta <= 1e-6  # half is for counts, where normal noise is better
        told = [next(opened) for _ in range(3)]
        name = opened.id
    with rich(folder) as owner:
        again = owner.resume(name, source=source(folder, KEYED), clock=ReplayClock())
        assert list(again.released()) == told
        assert len(list(again)) == 5
        assert owner.spent == spent


def test_a_twin_that_forgets_to_pay_for_names_shows_in_the_ledger(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend = dp.ApproxDP(epsilon=6, delta=1e-6)

    def forgetful(context: Any, made: Any, told: Any, parts: Any, detail: Any) -> Any:
        return Offer(made, made.event, detail, charges=((parts[1], (made.event,)),))

    monkeypatch.setattr(open_stream, "_with_names", forgetful)
    with rich(folder) as owner:
        found(owner, folder, spend=spend)
        spent: Any = owner.spent
        assert spent.epsilon == 4  # and names were told for nothing


def test_a_budget_in_rho_pays_with_the_delta_that_it_set_apart(folder: Path) -> None:
    budget = dp.ApproxDP(epsilon=10, delta=1e-5, by=dp.ApproxZCDP)
    spend = dp.ApproxDP(epsilon=1, delta=1e-6)
    with curator(folder, budget=budget) as owner:
        assert len(list(found(owner, folder, spend=spend))) == 8
    apart = folder / "apart"
    apart.mkdir()
    write(apart / "visits.jsonl", [{"ward": "A"}])
    budget = dp.ApproxDP(epsilon=10, delta=1e-5, by=dp.ZCDP)
    with curator(apart, budget=budget) as owner, pytest.raises(DiscreetError):
        found(owner, apart, spend=spend)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a pure spend": ({"spend": dp.PureDP(epsilon=1)}, "keys_need_delta"),
    "a bound at each tick": (
        {"unit": UserLevel("patient", max_events=2, max_per_tick=1)},
        "stream_found_unit",
    ),
    "a key for all others": (
        {"rules": EventRules(unlisted=CountAs("other"))},
        "stream_found_keys",
    ),
    "no key at all": (
        {"source": EventFields(person="patient", time="at")},
        "stream_found_keys",
    ),
    "a statistic": ({"source": VALUED, "statistic": RunningTotal(BILL)}, "stream_found_keys"),
    "a window": ({"mechanism": partial(SlidingWindow, window=2)}, "stream_found_keys"),
    "a value and no statistic": ({"source": VALUED}, "stream_field"),
    "a statistic and no value": ({"statistic": RunningTotal(BILL)}, "stream_field"),
    "no statistic": ({"statistic": Quantiles([1, 2])}, "not_a_live_statistic"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_together_is_refused_and_costs_nothing(folder: Path, name: str) -> None:
    given, code = REFUSED[name]
    if isinstance(given.get("source"), EventFields):
        given = {**given, "source": source(folder, given["source"])}
    with rich(folder) as owner:
        before = owner.spent
        with pytest.raises(DiscreetError, match=code):
            found(owner, folder, **given)
        assert owner.spent == before


def test_batches_have_listed_keys_and_counts(folder: Path) -> None:
    batches = CountedBatches("ward")
    with rich(folder, unit=dp.Row()) as owner, pytest.raises(DiscreetError, match="found_keys"):
        found(owner, folder, source=batches, unit=EventLevel())
