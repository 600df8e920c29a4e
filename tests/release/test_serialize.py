"""A release comes back from JSON byte for byte."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet import events
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.mechanisms.distributions.distribution import DiscreteGaussianDistribution
from discreet.release import Ends, LinearFormula, NoisyMeasure, Release, ReleasedColumn
from discreet.release.guarantee import (
    guarantee_from_dict,
    guarantee_text,
    guarantee_to_dict,
    protection_text,
)
from discreet.release.kept_guarantee import kept_guarantee
from tests.release.examples import (
    COUNTS,
    NORMAL,
    PATIENTS,
    POSITIVE,
    SUMS,
    count_column,
    counts,
    made,
    many,
    wards,
)

FINITE = st.floats(-1e300, 1e300)
TEXT = st.text(max_size=12)
KEYS = st.one_of(
    *(
        st.lists(st.none() | kind, min_size=3, max_size=3)
        for kind in (
            TEXT,
            st.integers(),
            FINITE,
            st.booleans(),
            st.dates(),
            st.datetimes(),
            st.datetimes(timezones=st.sampled_from([UTC, ZoneInfo("Europe/Rome")])),
        )
    )
)
NUMBERS = st.lists(st.integers(), min_size=3, max_size=3) | st.lists(FINITE, min_size=3, max_size=3)


@st.composite
def releases(draw: st.DrawFn) -> Release:
    distribution = draw(st.sampled_from([COUNTS, SUMS, NORMAL, DiscreteGaussianDistribution(2, 1)]))
    n = NoisyMeasure(
        "r1", draw(TEXT), distribution, tuple(draw(NUMBERS)), draw(st.none() | st.just((4, 4, 0)))
    )
    m = NoisyMeasure("r0", "m", COUNTS, tuple(draw(NUMBERS)))
    factor = draw(st.integers(-5, 5).filter(bool) | st.floats(0.25, 4))
    one = LinearFormula(((factor, n), (1, m)), draw(st.integers(-9, 9)))
    ends = sorted(draw(st.lists(st.floats(allow_nan=False), min_size=2, max_size=2)))
    lower, upper = min(ends[0], 1e300), max(ends[1], -1e300)
    answers = (
        ReleasedColumn(name="a", formula=one, interval=None, note=draw(TEXT)),
        ReleasedColumn.from_given_values(
            "b",
            draw(st.lists(st.none() | st.integers(), min_size=3, max_size=3)),
            interval=Ends((lower,) * 3, (upper,) * 3),
            note="",
        ),
    )
    return made(
        answers,
        {draw(TEXT) + "key": tuple(draw(KEYS)), "k": tuple(draw(KEYS))},
        query=draw(TEXT),
        warnings=tuple(draw(st.lists(TEXT, max_size=2))),
        statement=draw(st.dictionaries(TEXT, st.none() | TEXT | FINITE | st.lists(st.integers()))),
    )


@given(releases())
def test_json_is_stable_to_the_byte(release: Release) -> None:
    text = release.to_json()
    again = Release.from_json(text)
    assert again.to_json() == text
    assert again == release
    assert again.to_dict() == release.to_dict()


@pytest.mark.parametrize("release", [wards(), many(50), made([count_column(counts((1,)))])])
def test_releases_of_every_size_return(release: Release) -> None:
    again = Release.from_json(release.to_json())
    assert again == release
    assert again.to_json() == release.to_json()
    assert str(again) == str(release)
    assert again["n"].estimates == release["n"].estimates


def test_kinds_of_keys_return_as_they_were() -> None:
    keys: dict[str, tuple[Any, ...]] = {
        "text": ("ä", "日本", None),
        "whole": (2**70, -1, None),
        "real": (0.1, 1.0, None),
        "truth": (True, False, None),
        "day": (date(2024, 2, 29), None, date(1, 1, 1)),
        "time": (datetime(2024, 2, 29, 12, 30, 0, 5), None, datetime(1999, 1, 1)),
        "none": (None, None, None),
    }
    n = NoisyMeasure("r1", "n", COUNTS, (1, 2, 3))
    again = Release.from_json(made([count_column(n)], keys).to_json())
    assert again.keys == keys
    for name, column in keys.items():
        assert [type(value) for value in again.keys[name]] == [type(value) for value in column]


def test_infinite_ends_are_null() -> None:
    n, s = counts((1, 100)), NoisyMeasure("r1", "s", SUMS, (5.0, 5.0))
    answer = ReleasedColumn.quotient(
        "mean", LinearFormula(((1, s),)), LinearFormula(((1, n),), within=POSITIVE), confidence=0.95
    )
    release = made([answer], {"ward": ("A", "B")})
    assert release["mean"].lower is not None
    assert release["mean"].lower[0] == -math.inf
    text = release.to_json()
    assert "Infinity" not in text
    assert Release.from_json(text) == release


def test_laws_are_stated_once_and_sums_in_steps() -> None:
    plain = json.loads(many(1000).to_json())
    assert len(plain["measures"]) == 3
    assert "values" in plain["measures"][0]
    assert "steps" in plain["measures"][1]
    assert all("values" not in answer for answer in plain["answers"])
    assert len(many(1000).to_json()) < 100_000


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "null", '{"version": 1}', '{"version": 1, "id": "r1"}'),
        wards().to_json().replace('"measures"', '"measured"'),
        wards().to_json().replace('"terms":[[1,0]]', '"terms":[[1,7]]'),
    ],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameter, match="release_not_json"):
        Release.from_json(text)


def test_other_versions_are_refused() -> None:
    for version in ("2", "true", '"1"'):
        with pytest.raises(InvalidParameter, match="release_version"):
            Release.from_json(
                wards().to_json().replace('"version":1,"warn', f'"version":{version},"warn')
            )


GUARANTEES = [
    dp.PureDP(epsilon=Fraction(1, 3), unit=dp.Row()),
    dp.ApproxDP(epsilon=1, delta=1e-6, unit=PATIENTS),
    dp.ZCDP(rho=0.5, unit=dp.Replace(dp.Row())),
    dp.RenyiDP(alpha=8, epsilon=0.25, unit=dp.Edge()),
    dp.GaussianDP(mu=0.5, unit=dp.Node()),
    dp.PureDP(epsilon=1, unit=dp.Replace(dp.Person("id", 3, via="orders.id"))),
]


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=repr)
def test_guarantees_return_with_their_unit(guarantee: Guarantee) -> None:
    plain = guarantee_to_dict(guarantee)
    assert guarantee_from_dict(json.loads(json.dumps(plain))) == guarantee
    release = wards(guarantee=guarantee, event=events.Pure(epsilon=Fraction(1, 7)))
    assert Release.from_json(release.to_json()) == release


def test_guarantees_are_put_in_words() -> None:
    assert [guarantee_text(each) for each in GUARANTEES[:5]] == [
        "epsilon 0.333334",
        "epsilon 1, delta 1e-06",
        "rho 0.5 (zero-concentrated)",
        "epsilon 0.25 at Rényi order 8",
        "mu 0.5 (Gaussian)",
    ]
    assert protection_text(dp.Person("id", max_rows=2)) == "each id (at most 2 rows)"


@pytest.mark.parametrize(
    ("event", "kept", "lie"),
    [
        (events.Gaussian(noise_multiplier=1).subsample(rate=0.01), dp.Row(), dp.Replace(dp.Row())),
        (
            events.Shuffled(event=events.RandomizedResponse(epsilon=1, categories=2), people=1000),
            dp.Replace(dp.Row()),
            dp.Row(),
        ),
    ],
)
def test_a_price_for_one_relation_keeps_no_guarantee_for_the_other(
    event: Any, kept: Any, lie: Any
) -> None:
    """Poisson sampling hides who comes or goes, shuffling who tells what: not the other way."""
    promise = dp.ApproxDP(epsilon=event.epsilon(delta=1e-6), delta=1e-6, unit=kept)
    facts = {"private": True}
    assert kept_guarantee(guarantee_to_dict(promise), event, facts) == promise
    with pytest.raises(InvalidParameter, match="guarantee_not_plain"):
        kept_guarantee(guarantee_to_dict(replace(promise, unit=lie)), event, facts)


@pytest.mark.parametrize("plain", [3, {}, {"kind": "Row"}, {"kind": "PureDP", "size": 1}])
def test_other_guarantees_are_refused(plain: Any) -> None:
    with pytest.raises(InvalidParameter, match="guarantee_not_plain"):
        guarantee_from_dict(plain)
