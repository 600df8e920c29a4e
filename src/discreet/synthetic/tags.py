"""The names under which synthesisers, and what they take, are written down, for ever.

As in :mod:`discreet.mechanisms.tags`. What a fit tells while it runs is no part of what is asked.
"""

from __future__ import annotations

from dataclasses import is_dataclass

from discreet.core.written import Form
from discreet.synthetic import (
    aim,
    full_histogram,
    independent_marginals,
    mst,
    mwem_pgm,
    private_groups,
    structural_zeros,
)
from discreet.synthetic.graphical import estimation

_SHARED = "workload spend size records randomness target max_size zeros estimator"
_UNTOLD = {"progress"}

FORMS: dict[object, Form] = {
    aim.AIM: Form("synthetic.aim.AIM", f"{_SHARED} columns merging"),
    estimation.Estimator: Form("synthetic.Estimator", "slack iterations tolerance"),
    full_histogram.FullHistogram: Form("synthetic.full_histogram.FullHistogram", _SHARED),
    independent_marginals.IndependentMarginals: Form(
        "synthetic.independent_marginals.IndependentMarginals", _SHARED
    ),
    mst.MST: Form("synthetic.mst.MST", f"{_SHARED} merging"),
    mwem_pgm.MWEMPGM: Form("synthetic.mwem_pgm.MWEMPGM", f"{_SHARED} rounds"),
    private_groups.BinGrouping: Form(
        "synthetic.private_groups.Grouping", "attribute groups missing"
    ),
    private_groups.PrivateGroups: Form(
        "synthetic.private_groups.PrivateGroups",
        "workload spend mechanism groupings share size records randomness",
    ),
    structural_zeros.StructuralZeros: Form(
        "synthetic.structural_zeros.StructuralZeros", "names possible"
    ),
}

for _kind, _form in FORMS.items():
    if is_dataclass(_kind) and isinstance(_kind, type):
        _form.require_all(_kind, but=_UNTOLD, compared=False)
