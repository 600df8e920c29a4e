"""Charts hold the library's numbers; how they look is not tested."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from discreet import events
from discreet.accounting import GAUSSIAN, PRIVACY_LOSS, PURE, compare, plots
from discreet.core import plotting
from discreet.core.accountant import Accountant
from discreet.errors import InvalidParameter

pytest.importorskip("altair", reason="needs the extra plots")

LAPLACE = events.Laplace(epsilon=0.1)


def data(chart: Any) -> list[dict[str, Any]]:
    values: list[dict[str, Any]] = chart.to_dict()["data"]["values"]
    return values


def test_every_accountant_quotes_or_says_why_not() -> None:
    step = events.Gaussian(noise_multiplier=1.0).subsample(rate=0.01)
    found = {quote.accountant: quote for quote in compare.quotes(step * 100, delta=1e-5)}
    assert list(found) == list(compare.accountants())
    assert found["privacy loss"].epsilon == (step * 100).epsilon(delta=1e-5)
    refusal = found["Gaussian"].refusal
    assert refusal is not None
    assert refusal.code == "unpriced"
    assert found["Gaussian"].epsilon == float("inf")


def test_epsilon_against_steps_is_the_price_of_each_accountant() -> None:
    among: dict[str, Accountant[Any]] = {"pure": PURE, "privacy loss": PRIVACY_LOSS}
    chart = plots.epsilon_against_steps(
        lambda number: LAPLACE * number, [1, 10, 100], delta=1e-6, among=among
    )
    assert data(chart) == [
        {
            "steps": number,
            "accountant": name,
            "epsilon": (LAPLACE * number).with_accountant(accountant).epsilon(delta=1e-6),
        }
        for number in (1, 10, 100)
        for name, accountant in among.items()
    ]


def test_accountants_without_a_price_have_no_line() -> None:
    step = events.Gaussian(noise_multiplier=1.0).subsample(rate=0.01)
    chart = plots.epsilon_against_steps(lambda number: step * number, [10], delta=1e-5)
    names = {point["accountant"] for point in data(chart)}
    assert "privacy loss" in names
    assert "Gaussian" not in names
    domain = chart.to_dict()["encoding"]["color"]["scale"]["domain"]
    assert set(domain) == names


def test_side_by_side_is_the_price_at_each_delta() -> None:
    event, deltas = LAPLACE * 100, [1e-9, 1e-6]
    points = data(plots.accountants_side_by_side(event, deltas))
    assert len(points) == len(deltas) * len(compare.accountants())
    for point in points:
        accountant = compare.accountants()[point["accountant"]]
        priced = event.with_accountant(accountant)
        assert point["epsilon"] == priced.epsilon(delta=point["delta"])


def test_an_accountant_keeps_its_colour() -> None:
    def colours(chart: Any) -> dict[str, str]:
        scale = chart.to_dict()["encoding"]["color"]["scale"]
        return dict(zip(scale["domain"], scale["range"], strict=True))

    step = events.Gaussian(noise_multiplier=1.0).subsample(rate=0.01)
    few = colours(plots.accountants_side_by_side(step, [1e-6]))
    many = colours(plots.accountants_side_by_side(LAPLACE, [1e-6]))
    assert few.items() <= many.items()
    assert len(set(many.values())) == len(many)


def test_tradeoff_curves_are_those_of_the_events() -> None:
    named = {"Laplace": events.Laplace(epsilon=1), "normal": events.Gaussian(noise_multiplier=2)}
    layers = plots.tradeoff_curves(named).to_dict()["layer"]
    points = layers[1]["data"]["values"]
    assert {point["event"] for point in points} == set(named)
    for name, event in named.items():
        curve = event.tradeoff()
        for point in points:
            if point["event"] == name:
                assert point["misses"] == curve(point["false alarms"])[0]
                assert 0 <= point["misses"] <= 1 - point["false alarms"] + 1e-12


def test_nothing_to_draw_is_refused() -> None:
    with pytest.raises(InvalidParameter) as caught:
        plots.accountants_side_by_side(
            events.Gaussian(noise_multiplier=1), [0.0], among={"Gaussian": GAUSSIAN}
        )
    assert caught.value.code == "plot_empty"


def test_saving_goes_by_the_ending(tmp_path: Path) -> None:
    chart = plots.accountants_side_by_side(LAPLACE, [1e-6, 1e-5])
    plotting.save(chart, tmp_path / "a.json")
    assert (tmp_path / "a.json").read_text(encoding="utf-8").startswith("{")
    with pytest.raises(InvalidParameter, match="plot_format"):
        plotting.save(chart, tmp_path / "a.docx")


def test_without_altair_the_remedy_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(InvalidParameter, match=r"discreet\[plots\]"):
        plots.tradeoff_curves({"Laplace": LAPLACE})
