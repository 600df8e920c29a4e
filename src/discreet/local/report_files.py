"""Reports in files, aggregated by a data engine or in pieces: memory does not grow with them.

DuckDB reads Parquet, CSV and Arrow. Direct reports are counted inside the engine; of other oracles
the columns come out in pieces and NumPy adds them to a tally, at the speed of a scan.
``hashing_sql.py`` beside this file counts hashed reports inside any engine.

Reports are already private, and hold nothing else, so that rules for private rows do not apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, Mismatch
from discreet.core.source import ColumnSource
from discreet.ledger.durable_files import sync_file, sync_folder, write_new
from discreet.local.direct import DirectEncoding
from discreet.local.randomiser import LocalRandomiser
from discreet.local.reports import ReportBatch
from discreet.local.tally import Tally
from discreet.noise.randomness import random_id

_ROWS = 1 << 20
_IMPOSSIBLE = np.int64(1 << 40)


@dataclass(frozen=True)
class TalliedFiles:
    """A tally with how many reports were read and left out."""

    tally: Tally
    rejected: int


def write_parquet(batch: ReportBatch, oracle: LocalRandomiser, path: str) -> None:
    """Reports as a Parquet file with the oracle's own columns (extra ``frames``).

    For its owner alone, and whole or not at all: a file that a crash left half-written never has
    the name that a scan of all ``*.parquet`` would find.
    """
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    arrays = []
    for field in oracle.fields:
        column = batch.columns[field.name]
        if field.width:
            flat = np.ascontiguousarray(column).tobytes()
            kind = pa.binary(field.width)
            arrays.append(
                pa.FixedSizeBinaryArray.from_buffers(kind, len(column), [None, pa.py_buffer(flat)])
            )
        else:
            arrays.append(pa.array(column))
    names = [field.name for field in oracle.fields]
    place = Path(path)
    draft = place.with_name(f"{place.name}.{random_id()}.part")
    write_new(draft, b"")
    try:
        pq.write_table(pa.Table.from_arrays(arrays, names=names), str(draft))
        sync_file(draft)
        draft.replace(place)
    finally:
        draft.unlink(missing_ok=True)
    sync_folder(place.parent)


def aggregate_files(
    oracle: LocalRandomiser, source: Any, *, connection: Any = None
) -> TalliedFiles:
    """The tally of all reports in ``source``: paths of Parquet files, or a DuckDB relation.

    Reports that no client could have sent, NULLs among them, are left out and counted.
    """
    import duckdb

    base = connection
    if connection is None:
        base = duckdb.connect(config={"temp_directory": ""})
    relation = base.read_parquet(source) if isinstance(source, str) else source
    missing = {field.name for field in oracle.fields} - set(relation.columns)
    if missing:
        raise Mismatch(
            code="local_columns_missing",
            expectation="the columns of this oracle's reports",
            received=sorted(relation.columns),
            remedy=f"Columns that are missing: {', '.join(sorted(missing))}.",
        )
    if isinstance(oracle, DirectEncoding):
        return _count_direct_reports(oracle, relation)
    names = [f'"{field.name}"' for field in oracle.fields]
    absent = relation.filter(" OR ".join(f"{name} IS NULL" for name in names))
    nulls = int(absent.aggregate("count(*)").fetchall()[0][0])
    present = relation.filter(" AND ".join(f"{name} IS NOT NULL" for name in names))
    found = aggregate_columns(oracle, _Relation(present, oracle))
    return TalliedFiles(found.tally, found.rejected + nulls)


def aggregate_columns(oracle: LocalRandomiser, source: ColumnSource) -> TalliedFiles:
    """The tally of reports that a source hands out in pieces; impossible ones are left out."""
    tally, rejected = oracle.aggregate(oracle.batch([])[0]), 0
    for columns in source.pieces([field.name for field in oracle.fields]):
        batch = ReportBatch(columns)
        part = oracle.aggregate(batch)
        rejected += batch.people - part.people
        tally = tally + part
    return TalliedFiles(tally, rejected)


def _count_direct_reports(oracle: DirectEncoding, relation: Any) -> TalliedFiles:
    """Direct reports: one GROUP BY."""
    rows = relation.aggregate("value, count(*) AS n", "value").fetchall()
    table = np.zeros(oracle.size, dtype=np.int64)
    rejected = 0
    for value, n in rows:
        if isinstance(value, int) and 0 <= value < oracle.size:
            table[value] += n
        else:
            rejected += n
    return TalliedFiles(Tally(oracle.digest, int(table.sum()), table), rejected)


@dataclass(frozen=True)
class _Relation:
    """A DuckDB relation without NULLs as a source of columns."""

    relation: Any
    oracle: LocalRandomiser

    def pieces(self, columns: Sequence[str]) -> Iterator[Mapping[str, NDArray[Any]]]:
        fields = {field.name: field for field in self.oracle.fields}
        names = ", ".join(f'"{name}"' for name in columns)
        for piece in self.relation.project(names).to_arrow_reader(_ROWS):
            yield {
                name: _array(column, fields[name].width, fields[name].dtype)
                for name, column in zip(columns, piece.columns, strict=True)
            }


def _array(column: Any, width: int, dtype: str) -> NDArray[Any]:
    """An Arrow column as the array of a report's part; negative numbers become impossible."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    if not width:
        if not pa.types.is_integer(column.type):
            raise _type_refused(str(column.type))
        wide: NDArray[np.int64] = np.asarray(column.cast(pa.int64()))
        return np.where(wide < 0, _IMPOSSIBLE, wide)
    if not (pa.types.is_binary(column.type) or pa.types.is_fixed_size_binary(column.type)):
        raise _type_refused(str(column.type))
    rows = column.cast(pa.large_binary())
    if np.any(np.asarray(pc.binary_length(rows)) != width):
        received = f"binary values of other than {width} bytes"
        raise _type_refused(received)
    _, offsets, data = rows.buffers()
    start = int(np.frombuffer(offsets, dtype=np.int64)[rows.offset]) if len(rows) else 0
    held = np.zeros(0, dtype=dtype) if data is None else np.frombuffer(data, dtype=dtype)
    return held[start : start + len(rows) * width].reshape(-1, width)


def _type_refused(received: str) -> InvalidData:
    return InvalidData(
        code="local_column_type",
        expectation="whole numbers, or packed bits of the oracle's width",
        received=received,
        remedy="Write reports with write_parquet.",
    )
