"""A curator for private data: differentially private answers with their accuracy and price.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet import (
        accounting,
        audit,
        calculus,
        errors,
        events,
        ledger,
        mechanisms,
        noise,
        queries,
        synthetic,
        theory,
    )
    from discreet.client.connect import connect
    from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, GaussianDP, PureDP, RenyiDP
    from discreet.core.unit import Edge, Node, Person, Replace, Row
    from discreet.curator.accuracy import Within
    from discreet.curator.curator import Curator
    from discreet.curator.paid_before import PayAgain, Reuse
    from discreet.curator.policy.policy import Policy
    from discreet.curator.project import Project
    from discreet.relational.engines.duckdb.engine import DuckDB
    from discreet.relational.engines.postgres.engine import Postgres
    from discreet.relational.engines.spark.engine import Spark
    from discreet.relational.frontends.frame.functions import (
        col,
        corr,
        count,
        count_distinct,
        expr,
        first,
        last,
        max,
        mean,
        median,
        min,
        quantile,
        std,
        sum,
        variance,
    )
    from discreet.relational.plan.left_out import LeftOut
    from discreet.relational.plan.rows_per import RowsPer
    from discreet.relational.schema.declarations import (
        Boolean,
        Category,
        Dates,
        Discovered,
        Integer,
        Number,
        Text,
    )
    from discreet.relational.schema.table import public, table
    from discreet.release import Release

__version__ = "0.1.0.dev0"

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "Boolean",
    "Category",
    "Curator",
    "Dates",
    "Discovered",
    "DuckDB",
    "Edge",
    "GaussianDP",
    "Integer",
    "LeftOut",
    "Node",
    "Number",
    "PayAgain",
    "Person",
    "Policy",
    "Postgres",
    "Project",
    "PureDP",
    "Release",
    "RenyiDP",
    "Replace",
    "Reuse",
    "Row",
    "RowsPer",
    "Spark",
    "Text",
    "Within",
    "__version__",
    "accounting",
    "audit",
    "calculus",
    "col",
    "connect",
    "corr",
    "count",
    "count_distinct",
    "errors",
    "events",
    "expr",
    "first",
    "last",
    "ledger",
    "max",
    "mean",
    "mechanisms",
    "median",
    "min",
    "noise",
    "public",
    "quantile",
    "queries",
    "std",
    "sum",
    "synthetic",
    "table",
    "theory",
    "variance",
]

_MODULES = {
    "accounting": "discreet.accounting",
    "audit": "discreet.audit",
    "calculus": "discreet.calculus",
    "errors": "discreet.errors",
    "events": "discreet.events",
    "ledger": "discreet.ledger",
    "mechanisms": "discreet.mechanisms",
    "noise": "discreet.noise",
    "queries": "discreet.queries",
    "synthetic": "discreet.synthetic",
    "theory": "discreet.theory",
}
_NAMES = {
    "discreet.client.connect": ("connect",),
    "discreet.core.guarantee": (
        "ApproxDP",
        "ApproxZCDP",
        "GaussianDP",
        "PureDP",
        "RenyiDP",
        "ZCDP",
    ),
    "discreet.core.unit": ("Edge", "Node", "Person", "Replace", "Row"),
    "discreet.curator.accuracy": ("Within",),
    "discreet.curator.paid_before": ("PayAgain", "Reuse"),
    "discreet.curator.curator": ("Curator",),
    "discreet.curator.policy.policy": ("Policy",),
    "discreet.curator.project": ("Project",),
    "discreet.release": ("Release",),
    "discreet.relational.plan.left_out": ("LeftOut",),
    "discreet.relational.plan.rows_per": ("RowsPer",),
    "discreet.relational.engines.duckdb.engine": ("DuckDB",),
    "discreet.relational.engines.postgres.engine": ("Postgres",),
    "discreet.relational.engines.spark.engine": ("Spark",),
    "discreet.relational.frontends.frame.functions": (
        *("col", "corr", "count", "count_distinct", "expr", "first", "last", "max", "mean"),
        *("median", "min", "quantile", "std", "sum", "variance"),
    ),
    "discreet.relational.schema.declarations": (
        "Boolean",
        "Category",
        "Dates",
        "Discovered",
        "Integer",
        "Number",
        "Text",
    ),
    "discreet.relational.schema.table": ("public", "table"),
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # so that type checkers still see a misspelt name

    def __getattr__(name: str) -> object:
        """Load a public name on first use, and keep it."""
        if name in _MODULES:
            value: object = import_module(_MODULES[name])
        elif name in _HOMES:
            value = getattr(import_module(_HOMES[name]), name)
        else:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: object) -> None:
    """What ``%load_ext discreet`` calls: notebooks learn ``%%discreet``."""
    from discreet.client.magic import register

    register(shell)
