"""What came of a text: an answer, or a refusal with a listed code; anything else is a fault."""

from __future__ import annotations

import re
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import discreet as dp
from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee

SLOWEST = 30.0
"""Seconds of processor time that no text of a few lines may need."""
SPENDS = (
    dp.PureDP(epsilon=1),
    dp.ApproxDP(epsilon=0.5, delta=1e-9),
    dp.ApproxDP(epsilon=1, delta=1e-7),
)


@cache
def listed_codes() -> frozenset[str]:
    """The codes that the documents explain."""
    written = (Path(__file__).parents[2] / "docs/errors.md").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^\| `(\w+)` \|", written, re.MULTILINE))


UNTHOUGHT = ("engine_failed", "sql_not_understood")
"""Refusals by the last lines of defence: somebody should have thought of it."""


@dataclass
class Outcomes:
    """Answers and refusals so far, and what should not have happened."""

    answered: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def ask(self, curator: dp.Curator, text: str, spend: Guarantee) -> None:
        """Put one text to a curator."""
        begun = time.process_time()
        try:
            curator.sql(text, spend=spend)
            self.answered += 1
        except DiscreetError as refusal:
            self.refused[refusal.code] += 1
            if refusal.code in UNTHOUGHT or refusal.code not in listed_codes():
                self.faults.append(f"{refusal.code}: {_shown(text)}")
        except Exception as fault:  # the fuzzer's quarry
            self.faults.append(f"{type(fault).__name__} {str(fault)[:120]}: {_shown(text)}")
        if time.process_time() - begun > SLOWEST:
            self.faults.append(f"slow: {_shown(text)}")


def _shown(text: str) -> str:
    return ascii(text if len(text) < 600 else f"{text[:400]} ... {text[-150:]}")
