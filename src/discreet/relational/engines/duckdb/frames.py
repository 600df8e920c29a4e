"""Frames in types that DuckDB finds without looking at values, and in values that it can read.

DuckDB would list the values of a pandas category in a type, or read numbers with a NULL among them
as doubles; and a text that is not UTF-8, or an object that cannot say what it is, makes it fail in
the middle of a question. Categories are text here, and such values are NULL, each for itself.

Source: contract, "Columns", "What may be seen".
"""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.relational.types.data_type import LARGEST_WHOLE

_MANY = 1 << 16
_FIRST_SURROGATE, _LAST_SURROGATE, _LAST_LETTER = 0xD800, 0xDFFF, 0x10FFFF
_COARSE = {"s": 1_000_000, "ms": 1_000}
"""Units of moments that may lie beyond the reach of microseconds, and microseconds in them."""
_MISSING = ("NAType", "NaTType")


def typed(frame: Any) -> Any:
    """The frame itself where DuckDB can read all of it, and otherwise one that it can."""
    if isinstance(frame, dict):
        return {str(name): _array(values) for name, values in frame.items()}
    match type(frame).__module__.partition(".")[0]:
        case "pandas" if hasattr(frame, "columns"):
            return _pandas(frame)
        case "polars" if hasattr(frame, "to_arrow") and hasattr(frame, "columns"):
            return _polars(frame)
        case "pyarrow" if hasattr(frame, "columns") and hasattr(frame, "schema"):
            return _arrow(frame)
    return frame


def _array(values: Any) -> NDArray[Any]:
    """Text as objects, days as moments."""
    array: NDArray[Any] = np.asanyarray(values)
    if array.dtype.kind in "iufM" and not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.kind == "U":
        return _letters(array)
    if array.dtype.kind == "T":
        return _texts(array.astype(object))
    if array.dtype.kind == "M":
        return _moments(array)
    return _convert_object_array(array, values) if array.dtype.hasobject else array


def _convert_object_array(array: NDArray[Any], values: Any) -> NDArray[Any]:
    """Objects, of public tables alone, by what they are: days, numbers, or text."""
    given = [value for value in array.tolist() if value is not None]
    if given and all(isinstance(value, date) for value in given):
        return np.array(values, dtype="datetime64[us]")
    if given and all(isinstance(value, int | float) for value in given):
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return _texts(array)


def _letters(array: NDArray[Any]) -> NDArray[Any]:
    """An array of text as objects; what no UTF-8 can hold is None."""
    plain = np.array(np.ma.getdata(array), dtype=array.dtype.newbyteorder("="), order="C")
    width = plain.dtype.itemsize // 4
    made = np.empty(plain.shape, dtype=object)
    for start in range(0, len(plain) if plain.ndim else 0, _MANY):
        part = plain[start : start + _MANY]
        codes = part.view(np.uint32).reshape(*part.shape, width)
        wrong = (codes >= _FIRST_SURROGATE) & (codes <= _LAST_SURROGATE) | (codes > _LAST_LETTER)
        hidden = wrong.any(axis=-1)
        part[hidden] = ""
        made[start : start + _MANY] = part.astype(object)
        made[start : start + _MANY][hidden] = None
    return np.ma.array(made, mask=array.mask) if isinstance(array, np.ma.MaskedArray) else made


def _moments(array: NDArray[Any]) -> NDArray[Any]:
    """Microseconds; moments that they do not reach are missing.

    Beyond their reach a conversion wraps around, which moves a moment by many years.
    """
    made = array.astype("datetime64[us]")
    moved = _years(made) - _years(array)
    made[~np.isnat(array) & (np.abs(moved) > 1)] = np.datetime64("NaT")
    return made


def _years(array: NDArray[Any]) -> NDArray[np.float64]:
    return array.astype("datetime64[Y]").astype(np.int64).astype(np.float64)


def _texts(values: NDArray[Any]) -> NDArray[Any]:
    """Objects as text: None where they have none, or none in UTF-8."""
    made, flat = values, values.ravel()
    for start in range(0, len(flat), _MANY):
        part = flat[start : start + _MANY].tolist()
        try:
            "".join(part).encode()
        except (TypeError, UnicodeEncodeError):
            if made is values:
                made = values.copy()
            made.reshape(-1)[start : start + _MANY] = np.array(
                [*map(_text, part), None], dtype=object
            )[:-1]
    return made


def _text(value: object) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if type(value).__name__ in _MISSING:
        return None
    try:
        text = value if type(value) is str else str(value)
        text.encode()
    except Exception:  # an object of any kind may refuse in any way
        return None
    return text


def _pandas(frame: Any) -> Any:
    made = frame
    for place in range(len(frame.columns)):
        column = frame.iloc[:, place]
        read = _zoned(column)
        if read is None:
            texts = _objects(column)
            if texts is None:
                continue
            read = type(column)(texts, index=frame.index, dtype=object)
        if made is frame:
            made = frame.copy(deep=False)
        made.isetitem(place, read)
    return made


def _zoned(column: Any) -> Any:
    """Moments with a zone in microseconds; None for other columns, and finer moments."""
    kind = getattr(column.dtype, "pyarrow_dtype", column.dtype)
    if getattr(kind, "tz", None) is None or getattr(kind, "unit", "") not in _COARSE:
        return None
    plain = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(f"datetime64[{kind.unit}]")
    moments = type(column)(_moments(plain), index=column.index)
    return moments.dt.tz_localize("UTC")


def _objects(column: Any) -> NDArray[Any] | None:
    """A pandas column as text and None; None if DuckDB can read it as it is."""
    kind = column.dtype
    storage = getattr(kind, "storage", None)
    if storage == "pyarrow" or hasattr(kind, "pyarrow_dtype"):
        array = column.array.__arrow_array__()
        read = _clean_arrow_column(array)
        return None if read is array else np.array([*read.to_pylist(), None], dtype=object)[:-1]
    listed = hasattr(kind, "categories")
    if not listed and storage != "python" and kind != np.dtype(object):
        return None
    values = column.astype(object).to_numpy()
    texts = _texts(values)
    return None if texts is values and not listed else texts


def _polars(frame: Any) -> Any:
    try:
        arrow = frame.to_arrow()
    except Exception:  # a column of objects: DuckDB refuses the frame for its type
        return frame
    made = _arrow(arrow)
    return frame if made is arrow else made


def _arrow(table: Any) -> Any:
    made = table
    for place, column in enumerate(table.columns):
        read = _clean_arrow_column(column)
        if read is not column:
            made = made.set_column(place, table.schema.field(place).name, read)
    return made


def _clean_arrow_column(column: Any) -> Any:
    """A column of Arrow; text in it that is not UTF-8 is NULL, and so are moments out of reach."""
    import pyarrow as pa  # type: ignore[import-untyped]

    kind = column.type
    dictionary = pa.types.is_dictionary(kind)
    text = kind.value_type if dictionary else kind
    if pa.types.is_timestamp(text) and text.tz is not None and text.unit in _COARSE:
        return _within_reach(column.cast(text))
    binary = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }.get(text)
    if binary is None:
        return column
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    if all(_is_valid(chunk.dictionary if dictionary else chunk) for chunk in chunks):
        return column
    read = [
        _decoded(chunk.dictionary, binary).take(chunk.indices)
        if dictionary
        else _decoded(chunk, binary)
        for chunk in chunks
    ]
    return pa.chunked_array(read) if isinstance(column, pa.ChunkedArray) else read[0]


def _within_reach(column: Any) -> Any:
    """Zoned moments in microseconds, which an engine takes them for, wherever they can be."""
    import pyarrow as pa
    import pyarrow.compute as pc  # type: ignore[import-untyped]

    ticks = column.cast(pa.int64())
    most = LARGEST_WHOLE // _COARSE[column.type.unit]
    near = pc.and_(pc.less_equal(ticks, most), pc.greater_equal(ticks, -most))
    kept = pc.if_else(near, ticks, pa.scalar(None, pa.int64()))
    return kept.cast(column.type).cast(pa.timestamp("us", column.type.tz))


def _is_valid(array: Any) -> bool:
    import pyarrow as pa

    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _decoded(array: Any, binary: Any) -> Any:
    import pyarrow as pa

    def text(value: bytes | None) -> str | None:
        try:
            return None if value is None else value.decode()
        except UnicodeDecodeError:
            return None

    return pa.array([*map(text, array.view(binary).to_pylist())], type=pa.large_string())
