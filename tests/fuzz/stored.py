"""Tables of every kind of source, with stored types at their extremes, and neighbours of them."""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

import discreet as dp

NUMBER, WORDS, TRUTHS, DAYS = (
    dp.Number(-10, 10),
    dp.Category(["A", "b", ""]),
    dp.Category([False, True]),
    dp.Dates(date(2020, 1, 1), date(2024, 12, 31)),
)
_DAY = 86_400
_INF, _NAN = float("inf"), float("nan")


@dataclass(frozen=True)
class Stored:
    """Values of one type of Arrow, and what may be declared of them."""

    kind: Any
    values: Sequence[Any]
    declared: Any


def _ends(bits: int, least: int) -> list[Any]:
    return [least, 0, 1, 7, (1 << bits) - 1, None]


def _moments(unit: str) -> Stored:
    a_day = _DAY * {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[unit]
    values = [0, 19_000 * a_day, -(2**63) + 1, 2**63 - 1, 2**62, -(2**62), -1, None]
    return Stored(pa.timestamp(unit), values, DAYS)


TYPES: dict[str, Stored] = {
    **{
        f"int{n}": Stored(getattr(pa, f"int{n}")(), _ends(n - 1, -(1 << (n - 1))), NUMBER)
        for n in (8, 16, 32, 64)
    },
    **{f"uint{n}": Stored(getattr(pa, f"uint{n}")(), _ends(n, 0), NUMBER) for n in (8, 16, 32, 64)},
    "float16": Stored(pa.float16(), [np.float16(v) for v in (0, -0.0, _NAN, _INF, 6e-8)], NUMBER),
    "float32": Stored(pa.float32(), [0.1, -0.0, _NAN, _INF, -_INF, 3.4e38, 1e-45, None], NUMBER),
    "float64": Stored(pa.float64(), [0.1, _NAN, _INF, -_INF, 1.8e308, 5e-324, None], NUMBER),
    "decimal(4,2)": Stored(pa.decimal128(4, 2), [Decimal("99.99"), Decimal("-0.01"), None], NUMBER),
    "decimal(38,0)": Stored(
        pa.decimal128(38, 0), [Decimal("9" * 38), Decimal("-" + "9" * 38), Decimal(3)], NUMBER
    ),
    "decimal(38,38)": Stored(
        pa.decimal128(38, 38), [Decimal("0." + "9" * 38), Decimal("-1e-38"), None], NUMBER
    ),
    "bool": Stored(pa.bool_(), [True, False, None], TRUTHS),
    "string": Stored(
        pa.string(), ["A", "b", "", "a", "A\0", "\U0010ffff", "?", "é" * 3000, None], WORDS
    ),
    "wrong string": Stored(
        pa.string(), [b"A", b"b", b"\xff", b"A\xff", b"\xed\xa0\x80", b"\xc0\x80", b"?", b""], WORDS
    ),
    "numbers as text": Stored(
        pa.string(), ["1", "-1e400", "nan", "0x1F", " 2", "9" * 5000, "1e-400", "", None], NUMBER
    ),
    "large string": Stored(pa.large_string(), ["A", "x" * 70_000, "", None], WORDS),
    "dictionary": Stored(pa.dictionary(pa.int8(), pa.string()), ["A", "A", "b", None], WORDS),
    "date32": Stored(pa.date32(), [0, 19_000, -(2**31) + 2, 2**31 - 2, None], DAYS),
    "date64": Stored(
        pa.date64(), [0, 19_000 * _DAY * 1000, 2**50 // 86_400_000 * 86_400_000], DAYS
    ),
    **{f"timestamp {unit}": _moments(unit) for unit in ("s", "ms", "us", "ns")},
    "timestamp zoned": Stored(pa.timestamp("us", "UTC"), [0, 2**63 - 1, -(2**63) + 1, None], DAYS),
    "time": Stored(pa.time64("us"), [0, _DAY * 10**6 - 1, None], None),
    "duration": Stored(pa.duration("us"), [0, 2**63 - 1, -(2**63) + 1, None], None),
    "binary": Stored(pa.binary(), [b"", b"\xff\0", b"A", None], None),
    "list": Stored(pa.list_(pa.int8()), [[], [1, None], None], None),
    "struct": Stored(pa.struct({"a": pa.string()}), [{"a": "x"}, {"a": None}, None], None),
    "null": Stored(pa.null(), [None, None], None),
}


OUT_OF_REACH = {("parquet", "timestamp ms"), ("parquet of polars", "timestamp ms")}
"""Where values far from today make DuckDB itself fail: a known limit, tested as one."""


def places(source: str, kind: str) -> list[int]:
    """The values of a type that a source may hold."""
    known = source, kind
    return [
        place
        for place, value in enumerate(TYPES[kind].values)
        if known not in OUT_OF_REACH or value is None or abs(value) < 1 << 50
    ]


def array(stored: Stored, places: Sequence[int]) -> Any:
    """An Arrow array of some of the values, each at least once as it is."""
    values = [stored.values[place] for place in places]
    if stored.kind == pa.string() and any(isinstance(value, bytes) for value in values):
        buffers = pa.array(values, type=pa.binary()).buffers()
        return pa.Array.from_buffers(pa.string(), len(values), buffers)
    if pa.types.is_timestamp(stored.kind) or pa.types.is_date64(stored.kind):
        return pa.array(values, type=pa.int64()).view(stored.kind)
    if pa.types.is_date32(stored.kind):
        return pa.array(values, type=pa.int32()).view(stored.kind)
    return pa.array(values, type=stored.kind)


def _parquet(table: Any, path: Path) -> object:
    pq.write_table(table, path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def _polars_parquet(table: Any, path: Path) -> object:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame)
    frame.write_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


def _database(table: Any, path: Path) -> object:
    place = path.with_suffix(".duckdb")
    with duckdb.connect(place) as connection:
        connection.register("rows", table)
        connection.execute(f'CREATE TABLE "{path.stem}" AS SELECT * FROM rows')
    return place


def _csv(table: Any, path: Path) -> object:
    place = path.with_suffix(".csv")
    columns = [[_written(value) for value in _plain(column)] for column in table.columns]
    lines = [b",".join(fields) for fields in zip(*columns, strict=True)]
    place.write_bytes(b"\n".join([",".join(table.column_names).encode(), *lines, b""]))
    return place


def _plain(column: Any) -> list[Any]:
    """Values of Python; text as bytes, which nobody checks."""
    values: list[Any] = (
        column.combine_chunks().view(pa.binary()) if pa.types.is_string(column.type) else column
    ).to_pylist()
    return values


def _written(value: object) -> bytes:
    if value is None:
        return b""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _numpy(table: Any, _: Path) -> object:
    arrays = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        values = column.combine_chunks()
        if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
            binary = pa.large_binary() if pa.types.is_large_string(values.type) else pa.binary()
            texts = values.view(binary).to_pylist()
            plain = [(text or b"").decode("utf-8", "surrogateescape") for text in texts]
            arrays[name] = np.ma.array(np.array(plain), mask=[text is None for text in texts])
        elif pa.types.is_boolean(values.type):
            # An array of objects with a NULL in it, and of booleans without: the type would differ.
            truths = values.to_pylist()
            known = np.array([bool(truth) for truth in truths], dtype=np.bool_)
            arrays[name] = np.ma.array(known, mask=[truth is None for truth in truths])
        else:
            arrays[name] = values.to_numpy(zero_copy_only=False)
    return arrays


def _pandas_objects(table: Any, path: Path) -> object:
    arrays = _numpy(table, path)
    assert isinstance(arrays, dict)
    return pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in arrays.items()})


Make = Callable[[Any, Path], object]
SOURCES: dict[str, Make] = {
    "arrow": lambda table, _: table,
    "polars": lambda table, _: pl.from_arrow(table),
    "pandas": lambda table, _: table.to_pandas(),
    "pandas of arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas of objects": _pandas_objects,
    "numpy": _numpy,
    "parquet": _parquet,
    "parquet of polars": _polars_parquet,
    "duckdb": _database,
    "csv": _csv,
}


# CSV dialects ------------------------------------------------------------------------------------

SEPARATORS = {"comma": b",", "semicolon": b";", "tab": b"\t", "bar": b"|"}
ENDINGS = {"unix": b"\n", "windows": b"\r\n"}
WRAPPINGS = {"bare": b"", "quoted": b'"'}
MARKS = {"plain": b"", "marked": b"\xef\xbb\xbf"}
PACKINGS: dict[str, Callable[[bytes], bytes]] = {".csv": bytes, ".csv.gz": gzip.compress}
ODDITIES: dict[str, bytes] = {
    "open quote": b'7{s}A{s}"Bob',
    "open quote first": b'"7{s}A{s}1',
    "quote within": b'7{s}A"b{s}1',
    "quote after": b'7{s}"A"b{s}1',
    "three quotes": b'7{s}"""{s}1',
    "quoted separator": b'7{s}"A{s}"{s}1',
    "carriage returns": b"7{s}A{s}1\r7{s}A{s}1\r7{s}A{s}1",
    "return at the end": b"7{s}A{s}1\r",
    "only a return": b"\r",
    "returns": b"\r\r\r",
    "nul": b"7{s}A\0{s}1",
    "only nul": b"\0\0",
    "mark": b"\xef\xbb\xbf7{s}A{s}1",
    "latin": b"7{s}caf\xe9{s}1",
    "surrogate": b"7{s}\xed\xa0\x80{s}1",
    "utf-16": "7{s}A{s}1".encode("utf-16"),
    "too few": b"7",
    "too many": b"7{s}A{s}1{s}2{s}3{s}4",
    "separators": b"{s}" * 5000,
    "empty": b"",
    "spaces": b"   ",
    "comment": b"#7{s}A{s}1",
    "backslash": b'7{s}\\"A\\{s}1\\',
    "header again": b"pid{s}v{s}x",
    "escape": b"7{s}A\x1a{s}1\x1b",
    "separator of lines": "7{s}A\u2028\u0085\x0b\x0c{s}1".encode(),
    "long": b"7{s}A{s}" + b"1" * 60_000,
    "too long": b"7{s}A{s}" + b"1" * 3_000_000,
    "null": b"NULL{s}\\N{s}nan",
}


def text_file(draw: random.Random, chosen: Sequence[str], oddity: str, folder: Path) -> list[Path]:
    """A file with a line of Bob's, and the same file without it, in one dialect."""
    separator, ending, wrapping, mark, packing = chosen
    sign, end, quote = SEPARATORS[separator], ENDINGS[ending], WRAPPINGS[wrapping]
    rows = [(b"%d" % k, b"AbC"[k % 3 : k % 3 + 1], b"%d" % (k % 12)) for k in range(30)]
    lines = [sign.join(quote + field + quote for field in row) for row in rows]
    bobs = ODDITIES[oddity].replace(b"{s}", sign)
    at = draw.randrange(len(lines) + 1)
    header = MARKS[mark] + sign.join(quote + n + quote for n in (b"pid", b"v", b"x"))
    made = []
    for name, world in (("with", [*lines[:at], bobs, *lines[at:]]), ("without", lines)):
        path = folder / f"{name}{packing}"
        text = end.join([header, *world]) + (end if draw.random() < 0.7 else b"")
        path.write_bytes(PACKINGS[packing](text))
        made.append(path)
    return made
