"""What a synthesiser is made with: the marginals to keep, the mechanism, private bins before it.

Source: contract, "Spending" (choices use public quantities alone).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes
from discreet.synthetic.encoding.frame_columns import frame_columns
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.private_groups import USUAL_SHARE, BinGrouping, PrivateGroups

USUAL_WAYS = 3
_GIVEN = {"workload", "spend", "size", "records", "randomness"}
"""What every mechanism is made with."""
_MANY = 24
"""Attributes above which pairs are the usual workload: there are too many threes."""


def usual_mechanism() -> Callable[..., Any]:
    """What synthesises where nobody says it: AIM, chosen before any data."""
    from discreet.synthetic.aim import AIM

    return AIM


def usual_workload(universe: Universe, ways: int | None = None) -> Workload:
    """The marginals of every ``ways`` attributes: three of them, or two where there are many."""
    attributes = len(universe.attributes)
    if ways is None:
        ways = USUAL_WAYS if attributes <= _MANY else 2
    return Workload.marginals(universe, min(count("ways", ways), attributes))


def maker_for(
    encoding: TableEncoding,
    mechanism: Callable[..., Any] | None,
    *,
    target: str | None = None,
    share: Number = USUAL_SHARE,
    public: Any = None,
) -> Callable[..., Any]:
    """What makes the mechanism for an encoded table, private bins before it if there are any.

    ``public`` is a table that everybody may see, from which the model starts.
    """
    make = usual_mechanism() if mechanism is None else mechanism
    _require_maker(make)
    for option, given in (("public", public), ("target", target)):
        if given is not None and not _takes(make, option):
            raise _not_taken(make, option)
    if public is not None:
        make = partial(make, public=public_rows(encoding, public))
    if target is not None:
        make = partial(make, target=target_attribute(encoding, target))
    groupings = tuple(
        BinGrouping(name, groups, missing)
        for name, (groups, missing) in encoding.binned_privately.items()
    )
    if groupings:
        make = partial(PrivateGroups, mechanism=make, groupings=groupings, share=share)
    return make


def public_rows(encoding: TableEncoding, table: Any) -> Codes:
    """The cells of public rows; those without one are left out."""
    if encoding.binned_privately:
        raise InvalidParameter(
            code="public_rows_binned",
            expectation="public bins, where public rows are given as a start",
            received=list(encoding.binned_privately),
            remedy="Choose bins that suit the public rows, and leave PrivateBins out.",
        )
    names = [name for attribute in encoding.attributes for name in attribute.columns]
    codes = encoding.encode(frame_columns(table, names))
    inside: Codes = codes[~np.any(codes == OUTSIDE, axis=1)]
    return inside


def with_progress(
    make: Callable[..., Any], progress: Callable[..., None] | None
) -> Callable[..., Any]:
    """The same maker, whose mechanism tells what it does; as it is, if it cannot tell."""
    if progress is None:
        return make
    if isinstance(make, partial) and make.func is PrivateGroups:
        inner = with_progress(make.keywords["mechanism"], progress)
        return partial(make, mechanism=inner)
    return partial(make, progress=progress) if _takes(make, "progress") else make


def target_attribute(encoding: TableEncoding, column: str) -> str:
    """The attribute that holds a column which is to be predicted."""
    (place,) = encoding.needed([column])
    return encoding.attributes[place].name


def require_leaves_model(mechanism: Any) -> None:
    """Refuse a mechanism that says what it leaves, and it is no model of a table."""
    release = getattr(mechanism, "release", None)
    if not callable(release) or not hasattr(mechanism, "event"):
        raise InvalidParameter(
            code="not_a_synthesiser",
            expectation="a mechanism with an event, and a release that leaves a model of a table",
            received=type(mechanism).__name__,
            remedy="Pass dp.synthetic.AIM, or functools.partial(dp.synthetic.MST, max_size=...).",
        )


def _require_maker(make: object) -> None:
    """Refuse what makes no mechanism, or needs more than every synthesiser is given."""
    absent = [] if not callable(make) else _needed(make)
    if callable(make) and not absent:
        return
    name = getattr(make, "__name__", type(make).__name__)
    raise InvalidParameter(
        code="not_a_synthesiser",
        expectation="a mechanism of dp.synthetic, or functools.partial of one with its options",
        received=f"{name} without {', '.join(absent)}" if absent else type(make).__name__,
        remedy=f"Write functools.partial({name}, {absent[0]}=...)."
        if absent
        else "Write mechanism=dp.synthetic.MST.",
    )


def _needed(make: Callable[..., Any]) -> list[str]:
    """Parameters without a default that nobody will give."""
    try:
        parameters = signature(make).parameters.values()
    except (TypeError, ValueError):
        return []
    kinds = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return [
        each.name
        for each in parameters
        if each.default is Parameter.empty and each.kind not in kinds and each.name not in _GIVEN
    ]


def _not_taken(make: Callable[..., Any], option: str) -> InvalidParameter:
    made = make.func if isinstance(make, partial) else make
    return InvalidParameter(
        code="mechanism_option",
        expectation=f"a mechanism that takes a {option}, such as AIM or MST",
        received=getattr(made, "__name__", type(made).__name__),
        remedy=f"Leave {option} out, or choose another mechanism.",
    )


def _takes(make: Callable[..., Any], name: str) -> bool:
    try:
        parameters = signature(make).parameters
    except (TypeError, ValueError):
        return False
    return name in parameters or any(
        each.kind is Parameter.VAR_KEYWORD for each in parameters.values()
    )
