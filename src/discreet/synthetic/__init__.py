"""Synthetic data: models of a table made from noisy marginals, and rows drawn from them.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.synthetic.aim import AIM
    from discreet.synthetic.encoding.category_column import CategoryColumn
    from discreet.synthetic.encoding.constraints import Between, Determined, Impossible
    from discreet.synthetic.encoding.day_column import DayColumn
    from discreet.synthetic.encoding.identifier_column import IdentifierColumn
    from discreet.synthetic.encoding.number_column import NumberColumn, PrivateBins
    from discreet.synthetic.evaluation.evaluate import evaluate
    from discreet.synthetic.full_histogram import FullHistogram
    from discreet.synthetic.independent_marginals import IndependentMarginals
    from discreet.synthetic.model import SyntheticModel, model_from_dict
    from discreet.synthetic.mst import MST
    from discreet.synthetic.mwem_pgm import MWEMPGM
    from discreet.synthetic.progress import FitProgress
    from discreet.synthetic.stored_form import load
    from discreet.synthetic.structural_zeros import StructuralZeros
    from discreet.synthetic.synthesizer import Synthesizer
    from discreet.synthetic.synthetic_release import SyntheticRelease

__all__ = [
    "AIM",
    "MST",
    "MWEMPGM",
    "Between",
    "CategoryColumn",
    "DayColumn",
    "Determined",
    "FitProgress",
    "FullHistogram",
    "IdentifierColumn",
    "Impossible",
    "IndependentMarginals",
    "NumberColumn",
    "PrivateBins",
    "StructuralZeros",
    "Synthesizer",
    "SyntheticModel",
    "SyntheticRelease",
    "evaluate",
    "load",
    "model_from_dict",
]

_NAMES = {
    "aim": ("AIM",),
    "encoding.category_column": ("CategoryColumn",),
    "encoding.constraints": (
        "Between",
        "Determined",
        "Impossible",
    ),
    "encoding.day_column": ("DayColumn",),
    "encoding.identifier_column": ("IdentifierColumn",),
    "encoding.number_column": (
        "NumberColumn",
        "PrivateBins",
    ),
    "evaluation.evaluate": ("evaluate",),
    "stored_form": ("load",),
    "synthesizer": ("Synthesizer",),
    "synthetic_release": ("SyntheticRelease",),
    "full_histogram": ("FullHistogram",),
    "independent_marginals": ("IndependentMarginals",),
    "model": ("SyntheticModel", "model_from_dict"),
    "mst": ("MST",),
    "mwem_pgm": ("MWEMPGM",),
    "progress": ("FitProgress",),
    "structural_zeros": ("StructuralZeros",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
