"""The accuracy that the theorem on private multiplicative weights promises."""

import pytest

from discreet.theory.query_release import pmw_error


def test_the_theorem_s_accuracy() -> None:
    """000a:F5 with 36 for the printed 32."""
    given = {"cells": 1024, "queries": 1000, "records": 10**6, "epsilon": 1, "confidence": 0.95}
    assert pmw_error(**given) == pytest.approx(0.16763, abs=5e-6)  # type: ignore[arg-type]
    assert pmw_error(**given, delta=1e-6) == pytest.approx(0.09727, abs=5e-6)  # type: ignore[arg-type]
