"""The names under which models are written down, for ever, and what is written of each.

As in :mod:`discreet.mechanisms.tags`: parameters that decide what a model is, and fitted
attributes. Spend and unit stand in its guarantee; randomness is not kept. Each estimator states its
form above its class; to rename one, leave the text as it is, to rename a field write ``old:new``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from discreet.core.written import Form

Kind = TypeVar("Kind", bound=type)

_LATER = {"features_", "bounds_"}
"""Fitted attributes that models of the first files do not have."""


@dataclass(frozen=True)
class ModelForm:
    """The form of parameters, whose tag is that of the model, and that of fitted attributes."""

    parameters: Form
    fitted: Form

    @property
    def tag(self) -> str:
        """The name of the kind of model."""
        return self.parameters.tag

    @property
    def required(self) -> set[str]:
        """The fitted attributes that every file of such a model holds."""
        return {now for name, now in self.fitted.names if name not in _LATER}


FORMS: dict[type, ModelForm] = {}
"""The form of each estimator that was loaded; a class derived from one has none."""


def written_as(tag: str, parameters: str, fitted: str) -> Callable[[Kind], Kind]:
    """State the form of an estimator: its tag, its parameters beside the bounds, what is fitted."""
    form = ModelForm(
        Form(tag, f"bounds {parameters}"),
        Form(tag, fitted, later="features_"),
    )

    def stated(kind: Kind) -> Kind:
        FORMS[kind] = form
        return kind

    return stated
