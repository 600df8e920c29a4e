"""The real tables of the suite ``accuracy`` as Parquet files, once or many times over."""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb
from accuracy_queries import COPY, KEYS
from peers import ROOT, Missing, Peer

sys.path.append(str(ROOT / "examples"))


def tables(folder: Path) -> dict[str, Path]:
    """Every table that can be had, by name; the others are left out with a message."""
    found = {}
    try:
        with Peer("datasets", "peer_datasets_accuracy.py") as peer:
            for table in KEYS:
                path = folder / f"{table}.parquet"
                if table != "adult":
                    peer.seconds(table=table, path=str(path))
                    found[table] = path
    except Missing as reason:
        print(f"MISSING datasets: {reason}", file=sys.stderr)
    try:
        found["adult"] = adult(folder / "adult.parquet")
    except FileNotFoundError as reason:
        print(f"MISSING adult: {reason}", file=sys.stderr)
    return found


def adult(path: Path) -> Path:
    """The Adult table, with the columns that are asked about."""
    import adult as source
    import numpy as np

    data = source.load()
    columns = {
        "age": data.age,
        "education_years": data.education_years,
        "sex": data.sex,
        "race": data.race,
        "income": data.income,
        "hours": data.hours_per_week,
        "capital_gain": data.capital_gain,
        "capital_loss": data.capital_loss,
    }
    frame = {name: np.array(values) for name, values in columns.items()}
    with duckdb.connect() as engine:
        engine.register("frame", frame)
        engine.execute(f"COPY (SELECT * FROM frame) TO '{path}' (FORMAT parquet)")
    return path


def copies(path: Path, times: int) -> Path:
    """The table that many times over, with the number of the copy; people stay apart."""
    repeated = path.with_name(f"{path.stem}_{times}.parquet")
    if not repeated.is_file():
        with duckdb.connect() as engine:
            names = [row[0] for row in engine.execute(f"DESCRIBE FROM '{path}'").fetchall()]
            person = f"REPLACE (pid * {times} + {COPY} AS pid)" if "pid" in names else ""
            engine.execute(
                f"COPY (SELECT * {person} FROM '{path}', "
                f"(SELECT CAST(i AS INTEGER) AS {COPY} FROM range({times}) AS numbers(i))) "
                f"TO '{repeated}' (FORMAT parquet)"
            )
    return repeated


def thin(path: Path, rows: int = 1000) -> Path:
    """About that many rows of the table, with all rows of a person or none."""
    some = path.with_name(f"{path.stem}_thin.parquet")
    if not some.is_file():
        with duckdb.connect() as engine:
            names = [row[0] for row in engine.execute(f"DESCRIBE FROM '{path}'").fetchall()]
            (total,) = engine.execute(f"SELECT COUNT(*) FROM '{path}'").fetchone() or (0,)
            lot = "pid" if "pid" in names else "file_row_number"
            engine.execute(
                "COPY (SELECT * EXCLUDE (file_row_number) "
                f"FROM read_parquet('{path}', file_row_number = true) "
                f"WHERE hash({lot}) % {total} < {rows}) TO '{some}' (FORMAT parquet)"
            )
    return some
