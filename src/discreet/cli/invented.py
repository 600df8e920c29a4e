"""An invented hospital: a table that anybody may look at, made by arithmetic, not by chance."""

from __future__ import annotations

from pathlib import Path

import duckdb

VISITS = 30_000
PATIENTS = 9_000

# Each number is a fixed function of the row or patient, spread evenly over [0, 1) by a hash.
_SHARE = "(hash({what}, '{salt}') % 1000003) / 1000003.0"
_ROWS = f"""
WITH visits AS (
  SELECT CAST(floor({PATIENTS} * pow({_SHARE.format(what="i", salt="patient")}, 1.4)) AS INTEGER)
           AS patient,
         {_SHARE.format(what="i", salt="ward")} AS w,
         {_SHARE.format(what="i", salt="cost")} AS c,
         {_SHARE.format(what="i", salt="day")} AS d
  FROM range({VISITS}) AS r(i)
), known AS (
  SELECT *, CAST(floor(100 * pow({_SHARE.format(what="patient", salt="age")}, 0.8)) AS INTEGER)
           AS age
  FROM visits
)
SELECT patient, age,
       CASE WHEN w < 0.45 THEN 'medicine' WHEN w < 0.75 THEN 'surgery'
            WHEN w < 0.9 THEN 'maternity' ELSE 'children' END AS ward,
       DATE '2024-01-01' + CAST(floor(366 * d) AS INTEGER) AS day,
       CAST(floor(1 + 6 * c * (1 + age / 50.0)) AS INTEGER) AS nights,
       round(-900 * ln(1 - 0.999 * c) * (0.5 + age / 60.0), 2) AS cost
FROM known
"""


def write_visits(path: Path) -> None:
    """Write the table as Parquet."""
    with duckdb.connect(config={"temp_directory": ""}) as connection:
        target = str(path).replace("'", "''")
        connection.execute(f"COPY ({_ROWS}) TO '{target}' (FORMAT parquet)")
