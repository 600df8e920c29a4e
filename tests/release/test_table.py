"""Tables show what the noise justifies, on one line each, and nothing that could be executed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.mechanisms.distributions.distribution import RoundedLaplace
from discreet.release import NoisyMeasure, Release, ReleasedColumn
from discreet.release.footer import BELOW_ZERO, caveats
from discreet.release.format import above, at_most, below, decimals, format_number
from discreet.release.table import MOST_ROWS
from tests.release.examples import (
    count_column,
    counts,
    made,
    many,
    quantile_column,
    wards,
)

WARDS = """\
ward    n  n_lower  n_upper   age  age_lower  age_upper  median
A     123      117      129  58.0       55.5       60.5      41
B      77       71       83  64.0       60.1       68.0       –
NULL    4        0       10  40.0        0.0      120.0      40
n: discrete Laplace noise of scale 2; 95 % intervals cover noise
age: Laplace noise of scale 100 and discrete Laplace noise of scale 2; 95 % intervals cover noise
median: rank error at most 12 (95 %)
guarantee: epsilon 0.5 for each patient_id (at most 20 rows, 5 groups)"""


def test_a_table_is_aligned_and_says_what_it_cost() -> None:
    assert str(wards()) == repr(wards()) == WARDS


def test_even_intervals_stand_beside_their_numbers() -> None:
    cost = NoisyMeasure("r1", "cost", RoundedLaplace(0.25, 2.0**-30), (1234.56789, -0.5))
    release = made(
        [
            count_column(counts((123, 1077))),
            ReleasedColumn.linear("cost", [(1, cost)], confidence=0.95),
        ],
        {"ward": ("A", "B")},
    )
    assert str(release).splitlines()[:3] == [
        "ward         n            cost",
        "A      123 ± 6  1234.57 ± 0.75",
        "B     1077 ± 6    -0.50 ± 0.75",
    ]


def test_warnings_and_test_mode_are_shown() -> None:
    noisy = events.Laplace(epsilon=0.5)
    release = wards(
        warnings=("few people in ward C",),
        event=events.Unprotected(noisy, reason="test mode: Seeded") + noisy,
    )
    assert str(release).splitlines()[-2:] == [
        "NOT PRIVATE: made in test mode",
        "warning: few people in ward C",
    ]
    assert "NOT PRIVATE" not in str(wards())
    assert "warning" not in str(wards())
    assert "NOT PRIVATE" in str(wards(event=release.event * 3))


def test_a_count_below_its_interval_is_explained_once() -> None:
    note = "the interval is that of 0; the estimate itself is left unbiased"
    below_zero = count_column(counts((-9, -12, 40)))
    assert str(made([below_zero], {"ward": ("A", "B", "C")})).count(note) == 1
    assert note not in str(made([count_column(counts((1, 40)))], {"ward": ("A", "B")}))


def test_noise_far_below_zero_is_never_a_certain_zero() -> None:
    """In tables, columns, cells and frames alike: an interval is no shorter than its half-width."""
    release = made([count_column(counts((-900, -6, -1, 0, 40)))], {"ward": tuple("ABCDE")})
    ends = [(0, 6), (0, 6), (0, 6), (0, 6), (34, 46)]
    columns = release.to_dict()
    assert list(zip(columns["n_lower"], columns["n_upper"], strict=True)) == ends
    assert [release.cell("n", ward=ward).interval() for ward in "ABCDE"] == ends
    assert release.to_polars().select("n_lower", "n_upper").rows() == ends
    assert repr(release.cell("n", ward="A")) == "-900, 0 to 6 (95 %)"


def test_bare_columns_are_told_what_their_intervals_leave_out() -> None:
    limits = [{"limit": "max_rows", "of": "patient", "most": 5}]
    counted, median = count_column(counts((-9, 40))), quantile_column((1, 2))
    keys = {"ward": ("A", "B")}
    told = caveats(made([counted, median], keys, statement={"active_limits": limits}))
    assert told == [
        f"median: {median.note}",
        BELOW_ZERO,
        "limit: max_rows=5: each patient counts as at most 5 rows; not in the intervals",
        "guarantee: epsilon 0.5 for each patient_id (at most 20 rows, 5 groups)",
    ]


def test_long_tables_are_cut_in_the_middle() -> None:
    lines = str(many(1000)).splitlines()
    assert lines[1 + MOST_ROWS // 2] == f"… {1000 - MOST_ROWS + 1} more rows …"
    assert lines[1].startswith("ward 0 ")
    assert lines[MOST_ROWS].startswith("ward 999 ")
    assert "more rows" not in str(many(MOST_ROWS))
    assert f"… {1000 - MOST_ROWS + 1} more rows …" in many(1000)._repr_html_()


def test_wide_letters_stay_aligned() -> None:
    keys = {"町": ("東京", "é́", "A")}
    lines = str(made([quantile_column((1, 2, 3))], keys)).splitlines()[:4]
    assert lines == ["町    median", "東京       1", "é́          2", "A          3"]


def test_keys_cannot_move_the_cursor_or_break_a_line() -> None:
    release = made([quantile_column((1, 2))], {"w\n": ("\x1b[31mred", "a\nb")})
    text = str(release)
    assert "\x1b" not in text
    assert "\\x1b[31mred" in text
    assert text.splitlines()[0].startswith("w\\n")
    assert len(text.splitlines()) == 5


EVIL = "<script>alert('x')</script>&\""


def test_html_is_escaped_everywhere() -> None:
    answer = ReleasedColumn.from_given_values(EVIL, (1, 2), interval=None, note=EVIL)
    release = made([answer], {EVIL + "k": (EVIL, None)}, warnings=(EVIL,), query=EVIL)
    page = release._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<table>") == page.count("</table>") == 1


@given(st.text(max_size=30))
def test_no_key_opens_a_tag(key: str) -> None:
    page = made([quantile_column((1,))], {"key": (key,)})._repr_html_()
    plain = made([quantile_column((1,))], {"key": ("",)})._repr_html_()
    assert page.count("<") == plain.count("<")


def test_html_shows_the_same_numbers() -> None:
    page = wards()._repr_html_()
    for cell in ("123", "58.0", "NULL", "epsilon 0.5", "rank error"):
        assert cell in page


NUMBERS = st.floats(-1e15, 1e15)


@given(NUMBERS, st.floats(1e-12, 1e15))
def test_bounds_are_rounded_outward(value: float, width: float) -> None:
    places = decimals(width)
    low, high = below(value, places), above(value, places)
    assert float(low) <= value <= float(high)
    assert float(high) - float(low) <= max(width, 1) * 1.01


@pytest.mark.parametrize(
    ("value", "places", "text"),
    [
        (2**100, 3, str(2**100)),
        (1e300, 2, "1e+300"),
        (-0.0001, 2, "0.00"),
        (float("nan"), 2, "–"),
        (None, None, "–"),
        (0.5, 3, "0.500"),
    ],
)
def test_numbers_of_every_size(value: Any, places: int | None, text: str) -> None:
    assert format_number(value, places) == text


@given(st.floats(1e-300, 1e300))
def test_prices_are_never_shown_too_low(price: float) -> None:
    assert float(at_most(price)) >= price * (1 - 1e-9)  # what a sum of decimals may be off by
    assert float(at_most(price)) <= price * 1.00002


@pytest.mark.parametrize(
    ("price", "text"),
    [
        (0.1 + 0.2, "0.3"),
        (1.0000000000000002e-06, "1e-06"),
        (0.3 * (1 + 1e-10), "0.3"),
        (0.3 * (1 + 1e-8), "0.300001"),
    ],
)
def test_sums_of_decimals_are_shown_as_decimals(price: float, text: str) -> None:
    assert at_most(price) == text


def test_a_release_without_rows_has_a_header() -> None:
    release: Release = made([count_column(counts(()))], {"ward": ()})
    assert str(release).splitlines()[0] == "ward  n"
