"""A guarantee and its unit, as plain JSON and in words."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.fraction_json import fraction_from_json, fraction_to_json
from discreet.core.guarantee import (
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
)
from discreet.core.unit import Person, PrivacyUnit, Replace, TickWindow
from discreet.core.written import FORMS, KINDS
from discreet.release.format import at_most


def guarantee_to_dict(guarantee: Guarantee) -> dict[str, Any]:
    """The guarantee as a JSON object.

    >>> from discreet.core.unit import Row
    >>> guarantee_to_dict(PureDP(epsilon=Fraction(1, 3), unit=Row()))
    {'kind': 'PureDP', 'unit': {'kind': 'Row'}, 'epsilon': {'ratio': ['1', '3']}}
    """
    plain: dict[str, Any] = _plain(guarantee)
    return plain


def guarantee_from_dict(plain: Any) -> Guarantee:
    """The guarantee that :func:`guarantee_to_dict` wrote."""
    guarantee = _read_plain_value(plain)
    if not isinstance(guarantee, Guarantee) or not _is_unit(guarantee.unit):
        raise InvalidParameter(
            code="guarantee_not_plain",
            expectation="a guarantee as `guarantee_to_dict` wrote it",
            received=type(guarantee).__name__,
            remedy="Pass the object unchanged.",
        )
    return guarantee


def _is_unit(unit: object) -> bool:
    inside = unit.unit if isinstance(unit, Replace | TickWindow) else unit
    return inside is None or isinstance(inside, PrivacyUnit)


def guarantee_text(guarantee: Guarantee) -> str:  # noqa: PLR0911 -- one line for each definition
    """The numbers of a guarantee in words; losses are rounded up.

    >>> guarantee_text(ApproxDP(epsilon=0.5, delta=1e-6))
    'epsilon 0.5, delta 1e-06'
    """
    match guarantee:
        case PureDP(epsilon=epsilon):
            return f"epsilon {at_most(epsilon)}"
        case ApproxDP(epsilon=epsilon, delta=delta):
            return f"epsilon {at_most(epsilon)}, delta {at_most(delta)}"
        case ZCDP(rho=rho):
            return f"rho {at_most(rho)} (zero-concentrated)"
        case ApproxZCDP(rho=rho, delta=delta):
            return f"rho {at_most(rho)} (zero-concentrated), delta {at_most(delta)} apart"
        case RenyiDP(alpha=alpha, epsilon=epsilon):
            return f"epsilon {at_most(epsilon)} at Rényi order {float(alpha):g}"
        case GaussianDP(mu=mu):
            return f"mu {at_most(mu)} (Gaussian)"
        case _:
            return repr(guarantee)


def protection_text(unit: PrivacyUnit | None) -> str:
    """Whom a guarantee protects, in words.

    >>> from discreet.core.unit import Row
    >>> protection_text(Person("patient_id", max_rows=20, max_groups=5))
    'each patient_id (at most 20 rows, 5 groups)'
    >>> protection_text(Replace(Row()))
    'each row, replaced'
    """
    match unit:
        case Replace(unit=inner):
            return f"{protection_text(inner)}, replaced"
        case Person(id=name):
            bounds = (
                ("row", "", unit.max_rows),
                ("group", "", unit.max_groups),
                ("row", " in each group", unit.max_rows_per_group),
            )
            stated = [
                f"{most} {what}{'s' if most > 1 else ''}{where}"
                for what, where, most in bounds
                if most is not None
            ]
            return f"each {name}" + (f" (at most {', '.join(stated)})" if stated else "")
        case None:
            return "nobody named"
        case _:
            return f"each {FORMS[type(unit)].tag.lower()}"


def _plain(value: Any) -> Any:
    if isinstance(value, Fraction):
        return fraction_to_json(value)
    form = FORMS.get(type(value))
    if form is None:
        return value
    parts = {name: _plain(part) for name, part in form.parts(value)}
    return {"kind": form.tag, **{name: part for name, part in parts.items() if part is not None}}


def _read_plain_value(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    if (fraction := fraction_from_json(plain)) is not None:
        return fraction
    parts = {name: _read_plain_value(part) for name, part in plain.items() if name != "kind"}
    kind = KINDS.get(plain.get("kind", ""))
    given = None if kind is None else FORMS[kind].arguments(parts)
    if kind is None or given is None:
        raise InvalidParameter(
            code="guarantee_not_plain",
            expectation="a guarantee or unit of a known kind, with its own fields",
            received=plain.get("kind"),
            remedy="Pass what `guarantee_to_dict` wrote, unchanged.",
        )
    return kind(**given)
