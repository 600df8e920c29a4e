"""Synthetic data: models of a table made from noisy marginals, and rows drawn from them.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.synthetic.aim import AIM
    from discreet.synthetic.bayesian_network import BayesianNetwork
    from discreet.synthetic.encoding.category_column import CategoryColumn
    from discreet.synthetic.encoding.constraints import Between, Determined, Impossible
    from discreet.synthetic.encoding.day_column import DayColumn
    from discreet.synthetic.encoding.identifier_column import IdentifierColumn
    from discreet.synthetic.encoding.number_column import NumberColumn, PrivateBins
    from discreet.synthetic.evaluation.evaluate import evaluate
    from discreet.synthetic.evaluation.repeated_scores import RepeatedScores, repeated_scores
    from discreet.synthetic.full_histogram import FullHistogram
    from discreet.synthetic.hierarchy.cell_table import CellTable
    from discreet.synthetic.hierarchy.levels import Hierarchy, Level
    from discreet.synthetic.hierarchy.tables import MeasuredCount, level_counts, measured_counts
    from discreet.synthetic.hierarchy.topdown import TopDown, ToyDown
    from discreet.synthetic.independent_marginals import IndependentMarginals
    from discreet.synthetic.model import SyntheticModel, model_from_dict
    from discreet.synthetic.mst import MST
    from discreet.synthetic.mwem_pgm import MWEMPGM
    from discreet.synthetic.privbayes import ConditionalPrivBayes, PrivBayes
    from discreet.synthetic.progress import FitProgress
    from discreet.synthetic.stored_form import load
    from discreet.synthetic.structural_zeros import StructuralZeros
    from discreet.synthetic.synthesizer import Synthesizer
    from discreet.synthetic.synthetic_release import SyntheticRelease
    from discreet.synthetic.tables.person_tables import OwnedRows, PersonTables
    from discreet.synthetic.tables.several_tables import ChildTable, SeveralTables
    from discreet.synthetic.tables.stored_tables import load_tables
    from discreet.synthetic.tables.tables_model import TablesModel

__all__ = [
    "AIM",
    "MST",
    "MWEMPGM",
    "BayesianNetwork",
    "Between",
    "CategoryColumn",
    "CellTable",
    "ChildTable",
    "ConditionalPrivBayes",
    "DayColumn",
    "Determined",
    "FitProgress",
    "FullHistogram",
    "Hierarchy",
    "IdentifierColumn",
    "Impossible",
    "IndependentMarginals",
    "Level",
    "MeasuredCount",
    "NumberColumn",
    "OwnedRows",
    "PersonTables",
    "PrivBayes",
    "PrivateBins",
    "RepeatedScores",
    "SeveralTables",
    "StructuralZeros",
    "Synthesizer",
    "SyntheticModel",
    "SyntheticRelease",
    "TablesModel",
    "TopDown",
    "ToyDown",
    "evaluate",
    "level_counts",
    "load",
    "load_tables",
    "measured_counts",
    "model_from_dict",
    "repeated_scores",
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
    "evaluation.repeated_scores": ("RepeatedScores", "repeated_scores"),
    "stored_form": ("load",),
    "synthesizer": ("Synthesizer",),
    "synthetic_release": ("SyntheticRelease",),
    "bayesian_network": ("BayesianNetwork",),
    "full_histogram": ("FullHistogram",),
    "hierarchy.cell_table": ("CellTable",),
    "hierarchy.levels": ("Hierarchy", "Level"),
    "hierarchy.tables": ("MeasuredCount", "level_counts", "measured_counts"),
    "hierarchy.topdown": ("TopDown", "ToyDown"),
    "independent_marginals": ("IndependentMarginals",),
    "model": ("SyntheticModel", "model_from_dict"),
    "mst": ("MST",),
    "mwem_pgm": ("MWEMPGM",),
    "privbayes": ("ConditionalPrivBayes", "PrivBayes"),
    "progress": ("FitProgress",),
    "structural_zeros": ("StructuralZeros",),
    "tables.person_tables": ("OwnedRows", "PersonTables"),
    "tables.several_tables": ("ChildTable", "SeveralTables"),
    "tables.stored_tables": ("load_tables",),
    "tables.tables_model": ("TablesModel",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
