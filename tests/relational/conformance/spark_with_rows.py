"""Spark in the tests: one local session for the process, on loopback, without its web interface.

Without Java 17 or pyspark the tests are skipped, with the reason. Small queries spend their time
in planning and compiling, so both are kept short: one partition and a quick compiler.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from discreet.relational.bounding.hashing import NATIVE, Hashing
from discreet.relational.engines.spark.engine import Spark
from tests.relational.conformance import spark_connect_server

_OLDEST_JAVA = 17
_SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.ui.enabled": "false",
    "spark.ui.retainedJobs": "1",  # else it keeps the plans of a thousand questions
    "spark.ui.retainedStages": "1",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
}

CONNECT = "DISCREET_SPARK_CONNECT"
"""The variable that says so to a process of tests."""


def connected() -> bool:
    """Whether the tests of this process talk to a server of their own by Spark Connect.

    One process has one kind of session: ``test_spark_connect.py`` starts another.
    """
    return os.environ.get(CONNECT) == "yes"


@cache
def missing() -> str | None:
    """Why Spark cannot run here, if so."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed: pip install 'discreet[spark]'"
    if connected() and spark_connect_server.missing() is not None:
        return spark_connect_server.missing()
    java = shutil.which("java")
    if java is None:
        return "Spark needs Java 17, and there is no java on the path"
    said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = said.partition('version "')[2].partition(".")[0].partition('"')[0]
    if not version.isdigit() or int(version) < _OLDEST_JAVA:
        return f"Spark needs Java 17, and java is {version or 'of an unknown version'}"
    return None


@cache
def folder() -> Path:
    """Where this process keeps its rows; removed at the end."""
    made = tempfile.mkdtemp(prefix="discreet-spark-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


@cache
def session() -> Any:
    """The one session of this process."""
    with warnings.catch_warnings():
        # pyspark says on import that it does not know pandas 3.
        warnings.simplefilter("ignore", FutureWarning)
        from pyspark.sql import SparkSession

        settings = {**_SETTINGS, "spark.sql.warehouse.dir": str(folder() / "warehouse")}
        if connected():
            return SparkSession.builder.remote(spark_connect_server.started(settings)).getOrCreate()
        builder = SparkSession.builder.master("local[1]").appName("discreet")
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()


INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Expressions are interpreted instead of compiled: twice as fast for a few rows."""
SPREAD = {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.enabled": "true"}
"""Compiled, with rows in several partitions and plans that change as they run."""


@dataclass
class SparkWithRows:
    """Frames become temporary views over Parquet files."""

    hashing: Hashing = NATIVE
    settings: Mapping[str, str] = field(default_factory=lambda: SPREAD)
    engine: Spark = field(init=False)
    _views: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engine = Spark(session(), hashing=self.hashing)
        for name, value in self.settings.items():
            self.engine._session.conf.set(name, value)

    def source(self, frame: pl.DataFrame) -> object:
        name = f"t{next(_NUMBERS)}"
        path = folder() / f"{name}.parquet"
        frame.write_parquet(path)
        session().read.parquet(str(path)).createOrReplaceTempView(name)
        self._views.append(name)
        return self.engine.table(name)

    def close(self) -> None:
        self.engine.close()
        for name in self._views:
            session().catalog.dropTempView(name)
            (folder() / f"{name}.parquet").unlink()
        self._views.clear()


_NUMBERS = iter(range(1 << 62))
