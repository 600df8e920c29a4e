"""The online sketch of the paper."""

import numpy as np
import pytest

from discreet.theory.online_game import online_sketch


def test_the_online_sketch_falls_by_two_fifths_for_each_decade() -> None:
    sizes = 10.0 ** np.arange(6, 11)
    found = [
        online_sketch(
            cells=4096, questions=1e6, records=n, data_rho=0.024356, analyst_rho=0.024356
        ).alpha
        for n in sizes
    ]
    slope = np.polyfit(np.log10(sizes), np.log10(found), 1)[0]
    assert slope == pytest.approx(-0.40, abs=0.03)


@pytest.mark.parametrize(
    ("answers", "wanted", "hard"),
    [
        (0.7, [0.5221, 0.2078, 0.0827], [7.4e4, 1.17e6, 1.85e7]),
        (1, [0.4861, 0.1935, 0.0770], [9.1e4, 1.45e6, 2.29e7]),
    ],
    ids=["comparisons paid as well", "answers alone"],
)
def test_the_errors_of_the_source_and_what_answers_alone_would_give(
    answers: float, wanted: list[float], hard: list[float]
) -> None:
    """The source has .52, .21, .083, with 7e4, 1.2e6 and 1.9e7 hard answers: .7 of the rho."""
    found = [
        online_sketch(
            cells=4096,
            questions=1e6,
            records=n,
            data_rho=0.024356,
            analyst_rho=0.024356,
            answers=answers,
        )
        for n in (1e5, 1e6, 1e7)
    ]
    assert [each.alpha for each in found] == pytest.approx(wanted, abs=1e-4)
    assert [each.hard for each in found] == pytest.approx(hard, rel=0.01)


def test_the_data_share_enters_by_its_fifth_root() -> None:
    given = {"cells": 512, "questions": 1e4, "records": 1e6, "data_rho": 0.1, "analyst_rho": 0.1}
    half, whole = (online_sketch(**given, answers=part).alpha for part in (0.5, 1))  # type: ignore[arg-type]
    assert half / whole == pytest.approx(2**0.2, rel=1e-9)
