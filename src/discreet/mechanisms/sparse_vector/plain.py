"""Mechanisms of the sparse vector family as plain values, to be taken up again elsewhere.

Only public parameters enter, numbers as exact fractions.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.core.parameters import exact
from discreet.core.written import Form
from discreet.mechanisms.scores import Scores
from discreet.mechanisms.sparse_vector.above_threshold import AboveThreshold
from discreet.mechanisms.sparse_vector.numeric_sparse import NumericSparse
from discreet.mechanisms.sparse_vector.sparse import Sparse
from discreet.noise import Source

SparseVector = AboveThreshold | Sparse | NumericSparse

_FORMS: dict[type[Any], Form] = {
    AboveThreshold: Form("AboveThreshold", "epsilon threshold sensitivity scores"),
    Sparse: Form("Sparse", "epsilon_each cutoff threshold sensitivity scores"),
    NumericSparse: Form("NumericSparse", "epsilon cutoff threshold sensitivity scores"),
}
_KINDS: dict[str, type[Any]] = {form.tag: kind for kind, form in _FORMS.items()}
for _kind, _form in _FORMS.items():
    _form.require_all(_kind, but=("randomness",))
_SCORES = {scores.identity_name: scores for scores in Scores}


def mechanism_to_dict(mechanism: object) -> dict[str, Any] | None:
    """The mechanism without its randomness, for JSON; None for one of another family.

    >>> mechanism_to_dict(AboveThreshold(epsilon=0.5, threshold=10, sensitivity=1))["epsilon"]
    '1/2'
    """
    form = _FORMS.get(type(mechanism))
    if form is None:
        return None
    return {"kind": form.tag, **{name: _plain(part) for name, part in form.parts(mechanism)}}


def mechanism_from_dict(plain: Mapping[str, Any], randomness: Source) -> SparseVector:
    """The mechanism that :func:`mechanism_to_dict` described."""
    read = {name: _read_parameter(name, value) for name, value in plain.items() if name != "kind"}
    kind = _KINDS[plain["kind"]]
    names = dict(_FORMS[kind].names)
    given = {names[name]: value for name, value in read.items()}
    made: SparseVector = kind(**given, randomness=randomness)
    return made


def _plain(value: Any) -> str | int:
    if isinstance(value, Scores):
        return value.identity_name
    return value if isinstance(value, int) else str(exact(value))


def _read_parameter(name: str, value: Any) -> Any:
    if name == "scores":
        return _SCORES[value]
    return value if isinstance(value, int) else Fraction(value)
