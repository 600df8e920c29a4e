"""The report of an evaluation: what it says, and how it looks on a phone and in the dark."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.synthetic.evaluation.evaluate import evaluate
from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation
from discreet.synthetic.evaluation.pictures import column_picture, pair_picture
from tests.server.browsing import DESKTOP, browser
from tests.synthetic.invented import DECLARED, visits

PHONE = (375, 812)
LONG = "a name of a column that is <longer> than the widest of all phones"


@pytest.fixture(scope="module")
def found() -> NonPrivateEvaluation:
    columns = {name: DECLARED[name] for name in ("sex", "age", "ill")}
    columns[LONG] = columns.pop("age")
    tables = []
    for seed in (0, 1):
        rows = visits(600)
        order = np.random.default_rng(seed).permutation(600)
        ages = rows.pop("age")
        rows[LONG] = [ages[place] for place in order]
        tables.append(rows)
    made = evaluate(*tables, columns=columns, target="ill")
    assert isinstance(made, NonPrivateEvaluation)
    return made


def test_it_says_what_is_good_and_has_no_empty_column(found: NonPrivateEvaluation) -> None:
    from discreet.synthetic.evaluation.report import report

    page = report(found)
    assert page.index("NOT PRIVATE") < page.index("Scores")
    for words in ("0 is best", "0.5 is best", "after training on real rows is what to come near"):
        assert words in page
    assert "workload" not in page.lower()  # none was asked for
    assert "Constraints" not in page
    assert "<longer>" not in page
    assert "workload" not in str(found).lower()
    assert LONG in str(found)


def test_pictures_of_many_values_and_columns_stay_small() -> None:
    shares = np.full(500, 1 / 500)
    drawn = column_picture([f"v{n}" for n in range(500)], shares, shares)
    assert "And 440 more values" in drawn
    pairs = {(f"c{a}", f"c{b}"): a / 100 for b in range(30) for a in range(b)}
    told = pair_picture(pairs)
    assert "40 pairs that lie farthest apart, of 435" in told
    assert "c28 × c29" in told
    assert "c0 × c1<" not in told


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_overflows_and_all_can_be_read(
    found: NonPrivateEvaluation, tmp_path: Path, size: tuple[int, int], *, dark: bool
) -> None:
    place = tmp_path / "report.html"
    found.save_html(place)
    with browser(dark=dark, size=size) as page:
        page.open(place.as_uri())
        assert not page.overflows()
        assert not page.out_of_reach()
        assert not page.barriers()
        assert not page.complaints()
        page.picture(tmp_path / "report.png")
        ground = page.driver.execute_script("return getComputedStyle(document.body).background")
        assert ("22, 22, 22" in ground) == dark
