"""Errors that theorems promise, against the catalogue's numbers."""

import math

import pytest

from discreet import theory
from discreet.queries.net import sampling_rows
from discreet.theory.query_release import construction_error, step_epsilon


def test_bounds_of_the_catalogue() -> None:
    assert sampling_rows(queries=1000, error=0.05) == 2764
    assert theory.sampling_failure(queries=1000, rows=2764, error=0.05) <= 0.002
    given = {"cells": 32, "queries": 32, "epsilon": 1.0, "confidence": 0.95}
    assert theory.small_db_records(error=0.1, **given) == 204165  # type: ignore[arg-type]
    assert theory.small_db_error(records=10**6, **given) == pytest.approx(0.05888, abs=5e-6)  # type: ignore[arg-type]
    assert theory.laplace_workload_error(queries=4, epsilon=1) == 128
    assert theory.vc_floor(epsilon=1) == pytest.approx(0.1345, abs=5e-5)
    found = theory.net_error(fineness=0.5, candidates=28, records=100, epsilon=1, confidence=0.95)
    assert found == pytest.approx(0.5 + 2 * (math.log(28) + math.log(20)) / 100)


def test_constants_of_the_corrected_theorem() -> None:
    """000a:G5: 32 T and 64 sqrt(T ln(1/delta)); 200 steps at .006726 compose to .5091."""
    given = {"updates": 100, "queries": 50, "records": 10**6, "epsilon": 1.0, "confidence": 0.95}
    union = math.log(50 / (0.05 / 200))
    found = construction_error(**given)  # type: ignore[arg-type]
    assert found == pytest.approx(32 * 100 * union / 10**6)
    found = construction_error(**given, delta=1e-6)  # type: ignore[arg-type]
    assert found == pytest.approx(64 * math.sqrt(100 * math.log(1e6)) * union / 10**6)
    each = step_epsilon(updates=100, epsilon=1, delta=1e-6)
    assert each == pytest.approx(0.006726, abs=5e-7)
    composed = math.sqrt(400 * math.log(1e6)) * each + 200 * each * math.expm1(each)
    assert composed == pytest.approx(0.5091, abs=5e-5)
