"""The frozen name of a class or function of this package, and nothing of others.

Tables of names live beside what they name. Those of queries are read when something is asked for
that mechanisms do not have, so that a plain question loads none of them.

Source: contract, "Spending" (explicit, versioned tags).
"""

from __future__ import annotations

from functools import cache
from types import FunctionType

from discreet.core import guarantee, unit
from discreet.core.written import Form
from discreet.mechanisms import tags as mechanisms

FORMS: dict[object, Form] = {
    guarantee.ApproxDP: Form("core.guarantee.ApproxDP", "unit epsilon delta by"),
    guarantee.ApproxZCDP: Form("core.guarantee.ApproxZCDP", "unit rho delta"),
    guarantee.GaussianDP: Form("core.guarantee.GaussianDP", "unit mu"),
    guarantee.PureDP: Form("core.guarantee.PureDP", "unit epsilon"),
    guarantee.RenyiDP: Form("core.guarantee.RenyiDP", "unit alpha epsilon"),
    guarantee.ZCDP: Form("core.guarantee.ZCDP", "unit rho"),
    unit.Edge: Form("core.unit.Edge"),
    unit.Node: Form("core.unit.Node"),
    unit.Person: Form(
        "core.unit.Person", "id max_rows max_groups max_rows_per_group via of", later="row"
    ),
    unit.Replace: Form("core.unit.Replace", "unit"),
    unit.Row: Form("core.unit.Row"),
}


def form_of(kind: object) -> Form | None:
    """How a class or a function is written; None for what is neither, or not of this package."""
    if not isinstance(kind, type | FunctionType):  # objects need not be hashable
        return None
    known = mechanisms.FORMS.get(kind) or FORMS.get(kind)
    return known or _queries().get(kind)


def name_of(mechanism: object) -> str:
    """The name of a mechanism in ledgers and statements; its own for one of another package.

    >>> from discreet.mechanisms import Laplace
    >>> name_of(Laplace(epsilon=1, sensitivity=1))
    'Laplace'
    """
    form = form_of(type(mechanism))
    return type(mechanism).__name__ if form is None else short(form)


def short(form: Form) -> str:
    """The last word of a tag."""
    return form.tag.rpartition(".")[2]


@cache
def _queries() -> dict[object, Form]:
    from discreet.queries import tags  # many modules, which most questions do without
    from discreet.queries.analysts import tags as analysts
    from discreet.synthetic import tags as synthetic
    from discreet.synthetic.hierarchy import tags as hierarchy

    return {**tags.FORMS, **analysts.FORMS, **synthetic.FORMS, **hierarchy.FORMS}
