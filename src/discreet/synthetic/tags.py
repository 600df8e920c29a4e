"""The names under which synthesisers, and what they take, are written down, for ever.

As in :mod:`discreet.mechanisms.tags`.
"""

from __future__ import annotations

from dataclasses import is_dataclass

from discreet.core.written import Form
from discreet.synthetic import private_groups

FORMS: dict[object, Form] = {
    private_groups.Grouping: Form("synthetic.private_groups.Grouping", "attribute groups missing"),
    private_groups.PrivateGroups: Form(
        "synthetic.private_groups.PrivateGroups",
        "workload spend mechanism groupings share size records randomness",
    ),
}

for _kind, _form in FORMS.items():
    if is_dataclass(_kind) and isinstance(_kind, type):
        _form.require_all(_kind, compared=False)
