"""The names under which hierarchies and what is made for them are written down, for ever.

As in :mod:`discreet.queries.tags`.
"""

from __future__ import annotations

from discreet.core.written import Form
from discreet.synthetic.hierarchy import levels, topdown

FORMS: dict[object, Form] = {
    levels.Hierarchy: Form("synthetic.hierarchy.Hierarchy", "levels"),
    levels.Level: Form("synthetic.hierarchy.Level", "name by groups share totals"),
    topdown.TopDown: Form(
        "synthetic.hierarchy.TopDown", "workload spend size hierarchy records randomness"
    ),
    topdown.ToyDown: Form(
        "synthetic.hierarchy.ToyDown", "workload spend size hierarchy records randomness"
    ),
}

for _kind, _form in FORMS.items():
    assert isinstance(_kind, type)
    _form.require_all(_kind, compared=False)
