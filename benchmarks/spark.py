"""Suite ``spark``: private questions on Spark against the plain ones, bounding by hand, and Tumult.

One local session serves all; Tumult runs in its own environment with its own Spark, in the same
rounds. The rows are those of the suite ``relational``, cached or read from Parquet each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from peers import Missing, Peer
from relational_data import make
from relational_ours import PRIVATE, analyst, curator
from timing import Figure, Timer, alternate, clock, ratios

import discreet as dp

ROWS = 5_000_000
ROUNDS = 5
PEOPLE_ROUNDS = 3
BOUNDED = dp.Person("pid", max_rows=20, max_groups=5)
BY_HAND = """
SELECT grp, COUNT(*), SUM(v) FROM (
    SELECT grp, v,
        dense_rank() OVER (PARTITION BY pid ORDER BY h, grp) AS g,
        row_number() OVER (PARTITION BY pid ORDER BY h, grp, hv, v) AS k
    FROM (SELECT pid, grp, v, xxhash64(pid, grp, {salt}) AS h, xxhash64(v, {salt}) AS hv FROM t)
) WHERE g <= 5 AND k <= 20 GROUP BY grp
"""
SETTINGS = {
    "spark.driver.memory": "6g",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@cache
def session() -> Any:
    """Spark on the cores of this machine."""
    if find_spec("pyspark") is None or which("java") is None:
        reason = "the suite needs pyspark and Java 17"
        raise Missing(reason)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("discreet")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    warehouse = Path(gettempdir()) / "spark-warehouse"
    return builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()


def figures() -> list[Figure]:
    """Ratios to plain Spark, to bounding by hand, and to Tumult."""
    try:
        session()
    except Missing as reason:
        return [Figure(name="spark", values=(), unit="x", remark=f"MISSING {reason}")]
    with TemporaryDirectory() as name:
        return _measured(Path(name))


def _measured(folder: Path) -> list[Figure]:
    path, people = make(folder, ROWS), make(folder, ROWS, "uniform")
    return [
        *_over("row/cached", _cached(path), "ints"),
        *_over("row/parquet", _read(path), "ints"),
        *_over("row_reals/cached", _cached(path), "floats"),
        *_bounded("person/cached", _cached(people)),
        *_bounded("person/parquet", _read(people)),
        *_tumult(path),
    ]


def _over(name: str, view: str, kind: str) -> list[Figure]:
    """A private question where each row is a person, over the same question without privacy."""
    timers = {
        "plain": clock(lambda: session().sql(_at(PRIVATE[kind], view)).collect()),
        "private": _private(view, dp.Row(), kind),
    }
    return _ratio(name, timers, ROUNDS, at_most=2)


def _bounded(name: str, view: str) -> list[Figure]:
    """A private question about people, over the same bounding written by hand."""
    timers = {"plain": clock(_by_hand(view)), "private": _private(view, BOUNDED, "ints")}
    return _ratio(name, timers, PEOPLE_ROUNDS, at_most=1.5)


def _tumult(path: Path) -> list[Figure]:
    """How many times as fast as Tumult, each row a person and the rows in memory."""
    name = "spark/tumult/row"
    try:
        with Peer("tumult", "peer_tumult_relational.py") as peer:
            timers: dict[str, Timer] = {
                "tumult": partial(peer.seconds, path=str(path), rows=ROWS, case="row"),
                "private": _private(_cached(path), dp.Row(), "ints"),
            }
            seconds = alternate(name, timers, rounds=PEOPLE_ROUNDS)
            versions = ", ".join(f"{peer} {number}" for peer, number in peer.versions.items())
    except Missing as reason:
        remark = f"MISSING tumult: {reason}"
        return [Figure(name=f"{name}/speedup", values=(), unit="x", at_least=1, remark=remark)]
    speedup = ratios(seconds["tumult"], seconds["private"])
    return [
        Figure(name=f"{name}/seconds", values=seconds["tumult"], unit="s", remark=versions),
        Figure(name=f"{name}/speedup", values=speedup, unit="x", at_least=1),
    ]


def _ratio(name: str, timers: dict[str, Timer], rounds: int, *, at_most: float) -> list[Figure]:
    seconds = alternate(f"spark/{name}", timers, rounds=rounds, warm=2)
    ratio = ratios(seconds["private"], seconds["plain"])
    return [
        Figure(name=f"spark/{name}/plain_seconds", values=seconds["plain"], unit="s"),
        Figure(
            name=f"spark/{name}/ratio",
            values=ratio,
            unit="x",
            at_most=at_most,
            remark=f"{ROWS:.0e} rows; Spark {session().version}",
        ),
    ]


def _private(view: str, unit: Any, kind: str) -> Timer:
    return clock(analyst(curator(dp.Spark(session()).table(view), unit), PRIVATE[kind]))


def _by_hand(view: str) -> Callable[[], object]:
    salt = 0

    def run() -> object:
        nonlocal salt
        salt += 1
        return session().sql(_at(BY_HAND.format(salt=salt), view)).collect()

    return run


def _at(text: str, view: str) -> str:
    return text.replace("FROM t", f"FROM {view}")


def _read(path: Path) -> str:
    """A view that reads the file each time."""
    session().read.parquet(str(path)).createOrReplaceTempView(f"file_{path.stem}")
    return f"file_{path.stem}"


def _cached(path: Path) -> str:
    """A view of the rows in memory."""
    name = f"memory_{path.stem}"
    if not session().catalog.tableExists(name):
        # Read anew and not from the other view, which must not find the rows in memory.
        rows = session().read.parquet(str(path)).selectExpr("*", "1 AS one").cache()
        rows.count()
        rows.createOrReplaceTempView(name)
    return name
