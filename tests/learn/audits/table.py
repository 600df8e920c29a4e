"""All audits, and which names of ``discreet.learn`` release nothing that could be audited."""

from __future__ import annotations

from .attack import Attack
from .estimators import ESTIMATORS
from .learners import LEARNERS
from .optimisers import OPTIMISERS

AUDITS: tuple[Attack, ...] = (*ESTIMATORS, *OPTIMISERS, *LEARNERS)

NOTHING_TO_AUDIT = {
    "AbsoluteLoss": "a loss",
    "Cube": "a set of rows; estimators that use it are audited",
    "Privacy": "what a learner is given",
    "SmoothHingeLoss": "a loss; LinearSVC has it",
    "chance_of_trying": "reads no rows",
    "load": "reads models that were released",
    "train_test_split": "draws coins and reads no rows; what they select is for the caller alone",
}
"""Names that no audit covers, and why."""

HEADINGS = ("audited", "claim", "fits", "could refute", "broken twin", "twin refuted at", "missed")


def line(audit: Attack, could: float, caught: float, missed: float) -> str:
    """A line of the table, in Markdown."""
    claim = f"{audit.epsilon:g}" + (f", δ = {audit.delta:g}" if audit.delta else "")
    of_twin = "" if audit.twin_epsilon is None else f" (claim {audit.twin_epsilon:g})"
    cells = (
        f"`{audit.name.partition(',')[0]}`" + "".join(audit.name.partition(",")[1:]),
        claim,
        str(audit.trials),
        f"{could:.2f}",
        audit.mistake,
        f"{caught:.2f}{of_twin}",
        "< 0.001" if missed < 1e-3 else f"{missed:.3f}",
    )
    return "| " + " | ".join(cells) + " |"
