"""The privacy statement of a fitted model: public facts, fixed before rows are read."""

from __future__ import annotations

from typing import Any

from discreet.learn.privacy import Privacy
from discreet.learn.tags import FORMS
from discreet.release.guarantee import protection_text
from discreet.release.software import software
from discreet.release.statement.statement import Statement

_VERSION = 2
"""Of the form of the facts, as those of other releases have it."""
_CONFIDENCE = 0.95


def model_facts(model: Any, privacy: Privacy) -> dict[str, Any]:
    """What is public about the fit of a model."""
    return {
        "version": _VERSION,
        "software": software(),
        "private": privacy.randomness.private,
        "protects": protection_text(privacy.unit),
        "model": model_name(model),
        "ledger": False,
        "measures": [
            {
                "measure": f"{model.n_features_in_} feature{'s' * (model.n_features_in_ != 1)}",
                "mechanism": model.mechanism,
                "rows_per_unit": privacy.rows_that_differ,
                "grid": "numbers are rounded to less than a millionth of their bounds",
                "error": "of coefficients and predictions: depends on the data",
            }
        ],
    }


def model_name(model: Any) -> str:
    """The name of a kind of model in ledgers and statements; its own for one of somebody else."""
    form = FORMS.get(type(model))
    return type(model).__name__ if form is None else form.tag.rpartition(".")[2]


def model_statement(model: Any) -> Statement:
    """The statement of a model that was fitted, here or elsewhere."""
    return Statement(
        model.facts_,
        query=model.facts_.get("question", f"{model_name(model)}, fitted to rows in memory"),
        guarantee=model.guarantee_,
        event=model.event_,
        confidence=_CONFIDENCE,
    )
