"""The names under which synthesisers, and what they take, are written down, for ever.

As in :mod:`discreet.mechanisms.tags`. Callbacks are not written: a release that reports its
progress is the same release.
"""

from __future__ import annotations

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
from discreet.synthetic.privbayes import ConditionalPrivBayes, PrivBayes

_SHARED = "workload spend size records randomness target max_size zeros public estimator"

FORMS: dict[object, Form] = {
    aim.AIM: Form("synthetic.AIM", f"{_SHARED} columns merging"),
    estimation.Estimator: Form("synthetic.Estimator", "slack iterations tolerance"),
    full_histogram.FullHistogram: Form("synthetic.FullHistogram", _SHARED),
    independent_marginals.IndependentMarginals: Form("synthetic.IndependentMarginals", _SHARED),
    mst.MST: Form("synthetic.MST", f"{_SHARED} merging"),
    mwem_pgm.MWEMPGM: Form("synthetic.MWEMPGM", f"{_SHARED} rounds"),
    private_groups.BinGrouping: Form("synthetic.BinGrouping", "attribute groups missing"),
    private_groups.PrivateGroups: Form(
        "synthetic.PrivateGroups",
        "workload spend mechanism groupings share size records randomness",
    ),
    structural_zeros.StructuralZeros: Form("synthetic.StructuralZeros", "names possible"),
    ConditionalPrivBayes: Form(
        "synthetic.ConditionalPrivBayes",
        "workload spend size degree selection useful records randomness given",
    ),
    PrivBayes: Form(
        "synthetic.PrivBayes", "workload spend size degree selection useful records randomness"
    ),
}

for _kind, _form in FORMS.items():
    assert isinstance(_kind, type)
    _form.require_all(_kind, but=("progress",), compared=False)
