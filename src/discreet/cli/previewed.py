"""What commands do with a preview: show it, or refuse what it says cannot be paid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.cli import display

if TYPE_CHECKING:
    from discreet.curator.fit_preview import FitPreview
    from discreet.curator.project import Look
    from discreet.curator.synthetic.preview import SynthesisPreview
    from discreet.curator.synthetic.preview_tables import TablesPreview

    Expected = FitPreview | SynthesisPreview | TablesPreview


def show_expected(expected: Expected, *, machine: bool) -> None:
    """Show a preview, and that nothing else happened."""
    if machine:
        display.as_json(display.members(expected))
        return
    display.lines(str(expected))
    display.note("nothing was released, and nothing was charged")


def require_affordable(look: Look, expected: Expected) -> None:
    """Refuse what the whole budget cannot pay, before a ledger is started."""
    from discreet.accounting.adaptive.exhausted import budget_exhausted
    from discreet.release.guarantee import guarantee_text

    if expected.affordable < 1:
        raise budget_exhausted(
            display.describe_remaining_budget(look.remaining),
            guarantee_text(expected.price),
            "Spend less, or write a larger budget into the project file.",
        )
