"""Types of the library that lie above this package, loaded by name when one is first needed.

Whoever asks for a table needs none of them. Synopses, universes and histories are the curator's own
types here too, so that what is written for a curator goes on as it is.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def universes() -> Any:
    """Universes that say how their attributes are read from tables."""
    return import_module("discreet.relational.plan.keyed_universe")


def attributes() -> Any:
    """Attributes with their values."""
    return import_module("discreet.queries.workload.universe")


def families() -> Any:
    """Families of queries on one attribute."""
    return import_module("discreet.queries.workload.families")


def mechanisms() -> Any:
    """What makes synopses and conversations."""
    return import_module("discreet.queries")


def synopses() -> Any:
    """Synopses, from the text that holds all of one."""
    return import_module("discreet.curator.synopsis.stored_form")


def synthetic_tables() -> Any:
    """Synthetic tables, from the text that holds all of one."""
    return import_module("discreet.synthetic.stored_form")


def model_tags() -> Any:
    """The names under which models are written down."""
    return import_module("discreet.learn.tags")


def saved_models() -> Any:
    """What is written of a model, and back into an estimator."""
    return import_module("discreet.learn.saved_models")


def load_models() -> Any:
    """Models, from the text that holds all of one."""
    return import_module("discreet.learn.load_models")


def fit_previews() -> Any:
    """What a fit would take."""
    return import_module("discreet.curator.fit_preview")


def synthesizers() -> Any:
    """The words for what makes synthetic tables."""
    return import_module("discreet.synthetic.mechanism_words")


def bins() -> Any:
    """Bins of equal counts, which are paid for."""
    return import_module("discreet.synthetic.encoding.number_column")


def several_tables() -> Any:
    """Several synthetic tables, from the text that holds all of them."""
    return import_module("discreet.synthetic.tables.stored_tables")


def tables_previews() -> Any:
    """What several synthetic tables would take."""
    return import_module("discreet.curator.synthetic.preview_tables")


def synopsis_previews() -> Any:
    """What a synopsis would be like."""
    return import_module("discreet.curator.synopsis.preview")


def bounds() -> Any:
    """Estimated bounds of a column."""
    return import_module("discreet.curator.bounds")


def histories() -> Any:
    """What was asked, and at what price."""
    return import_module("discreet.curator.history")


def interactive_sessions() -> Any:
    """What was opened and goes on."""
    return import_module("discreet.curator.interactive.sessions")


def frames() -> Any:
    """Queries built step by step."""
    return import_module("discreet.relational.frontends.frame.frame")
