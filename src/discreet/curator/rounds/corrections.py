"""What follows a game, as it is asked for and as ledgers keep it.

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from typing import Any

from discreet.core.parameters import count
from discreet.queries.analysts.failing_analysts import AnalystRuns

_RUNS = "analyst-runs/1"


def corrections_asked(corrections: int | AnalystRuns) -> int | AnalystRuns:
    """A number of corrections for each analyst, none for zero; or runs for those who fail."""
    if isinstance(corrections, AnalystRuns) or corrections == 0:
        return corrections
    return count("corrections", corrections)


def corrections_to_json(corrections: int | AnalystRuns) -> int | dict[str, Any]:
    """As plain JSON."""
    if isinstance(corrections, AnalystRuns):
        return {"kind": _RUNS, "analysts": corrections.analysts}
    return corrections


def corrections_from_json(kept: Any) -> int | AnalystRuns:
    """What :func:`corrections_to_json` wrote."""
    if isinstance(kept, dict):
        assert kept["kind"] == _RUNS
        return AnalystRuns(kept["analysts"])
    return int(kept)
