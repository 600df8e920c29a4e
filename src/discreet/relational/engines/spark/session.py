"""A Spark session of our own, in which every setting that a result depends on is fixed.

The user's session is never changed: ours shares its cluster, catalogs and cached tables and has
its own settings and views. Flags that bring back the behaviour of older versions are taken away.
Nothing of pyspark is imported until a session is given.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

from discreet.core.errors import InvalidParameter

Session: TypeAlias = Any
"""A SparkSession, classic or Connect; their common part has no type that is cheap to check."""

_OLDEST = 4
_YES, _NO = "true", "false"
PINNED = {
    # No operation fails on a row: see spark_dialect.
    "spark.sql.ansi.enabled": _NO,
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.caseSensitive": _NO,
    # How text is read: backslashes escape, ${name} stands for itself, names in backticks are names.
    "spark.sql.parser.escapedStringLiterals": _NO,
    "spark.sql.parser.quotedRegexColumnNames": _NO,
    "spark.sql.variable.substitute": _NO,
    "spark.sql.groupByAliases": _YES,
    "spark.sql.groupByOrdinal": _YES,
    "spark.sql.orderByOrdinal": _YES,
    "spark.sql.crossJoin.enabled": _YES,
    "spark.sql.decimalOperations.allowPrecisionLoss": _YES,
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": _NO,
    "spark.sql.legacy.integralDivide.returnBigint": _YES,
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    # How files are read: days before 1582 by one calendar, no file left out in silence.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.files.ignoreCorruptFiles": _NO,
    "spark.sql.files.ignoreMissingFiles": _NO,
    "spark.sql.readSideCharPadding": _YES,
    "spark.sql.preserveCharVarcharTypeInfo": _NO,
}
"""Settings on which answers depend."""

_CARRIED = ("spark.sql.catalog.", "spark.sql.shuffle.", "spark.sql.adaptive.", "spark.sql.auto")
_DROPPED = ("spark.sql.legacy.", "spark.sql.ansi.", "spark.sql.parser.")


def own_session(session: Session) -> Session:
    """A new session beside the user's, with the settings pinned.

    Catalogs, the current schema and what only concerns speed are taken over.
    """
    own, failed = None, False
    try:
        with quiet(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Connect warns of settings that it means to drop
            own = session.newSession()
            _set(own, session)
            own.sql("SELECT 1").collect()
    except Exception:  # of a session that ended, or of no session at all
        failed = True
    if failed or own is None:
        raise unreachable()
    if int(str(own.version).partition(".")[0]) < _OLDEST:
        raise InvalidParameter(
            code="engine_unsuited",
            expectation=f"Spark {_OLDEST} or later",
            received=str(own.version),
            remedy="Use a newer Spark; its SQL is what the answers were tested on.",
        )
    require_pinned(own)
    return own


def require_pinned(own: Session) -> None:
    """Refuse to run where a setting was changed under us."""
    changed = [name for name, value in PINNED.items() if own.conf.get(name, "") != value]
    if changed:
        raise InvalidParameter(
            code="engine_settings_changed",
            expectation="the settings that the engine pinned",
            received=changed,
            remedy="Leave the engine's own session alone; make a new Spark(session).",
        )


def unreachable() -> InvalidParameter:
    """Spark does not answer; what it said is not passed on."""
    return InvalidParameter(
        code="engine_unreachable",
        expectation="a Spark session that answers",
        remedy="Check that the session was not stopped and that its cluster is up.",
    )


def _set(own: Session, users: Session) -> None:
    with suppress(Exception):  # classic sessions have none
        own.clearProgressHandlers()  # which draw bars of stages on the console
    for name in [name for name in own.conf.getAll if name.startswith(_DROPPED)]:
        own.conf.unset(name)
    for name, value in users.conf.getAll.items():
        if name.startswith(_CARRIED) and own.conf.isModifiable(name):
            own.conf.set(name, value)
    for name, value in PINNED.items():
        own.conf.set(name, value)
    own.catalog.setCurrentCatalog(users.catalog.currentCatalog())
    own.catalog.setCurrentDatabase(users.catalog.currentDatabase())


class _Silence(logging.Filter):
    """Keeps what pyspark writes about failed statements off the console: it quotes values."""

    def __init__(self) -> None:
        super().__init__()
        self.here = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.here, "on", False)


_SILENCE = _Silence()


@contextmanager
def quiet() -> Iterator[None]:
    """While our statements run in this thread, pyspark's own log of failures is silent."""
    from pyspark.logger import PySparkLogger

    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).addFilter(_SILENCE)
    before = getattr(_SILENCE.here, "on", False)
    _SILENCE.here.on = True
    try:
        yield
    finally:
        _SILENCE.here.on = before
