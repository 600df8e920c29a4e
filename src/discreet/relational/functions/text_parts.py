"""Parts of texts: a place between separators, the last letters, letters filled up, a position.

Separators, lengths and fillings are public constants; letters are Unicode code points.
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.function import Function, always
from discreet.relational.functions.signature import takes
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType, type_of_value


def split_part(separator: str, place: int) -> Function:
    """What stands between separators, counted from one; nothing, not NULL, beyond the last.

    >>> split_part(",", 2).apply(["a,b,c"], DataType.TEXT)
    'b'
    """
    _check_text("split_part", separator, most=TEXT_LIMIT)
    _check_count("split_part", "place", place, least=1)
    return Function(
        "split_part",
        accept=takes("split_part", DataType.TEXT),
        result=_as_long,
        compute=lambda text: (text.split(separator)[place - 1 : place] or [""])[0],
        parameters=(separator, place),
        fits=always,
    )


def right(length: int) -> Function:
    """The last letters.

    >>> right(2).apply(["héllo"], DataType.TEXT)
    'lo'
    """
    _check_count("right", "length", length, least=0)
    return Function(
        "right",
        accept=takes("right", DataType.TEXT),
        result=lambda domain: ColumnDomain(DataType.TEXT, length=min(domain.letters, length)),
        compute=lambda text: text[len(text) - min(length, len(text)) :],
        parameters=(length,),
        fits=always,
    )


def padded(side: str, length: int, filling: str = " ") -> Function:
    """Text of exactly so many letters: filled on one side by one letter, or cut at its end.

    >>> padded("leading", 3, "0").apply(["7"], DataType.TEXT)
    '007'
    """
    _check_count("lpad", "length", length, least=0)
    _check_text("lpad", filling, most=1)

    def compute(text: str) -> str:
        missing = filling * max(0, length - len(text))
        return (missing + text if side == "leading" else text + missing)[:length]

    return Function(
        "pad",
        accept=takes("lpad", DataType.TEXT),
        result=lambda _: ColumnDomain(DataType.TEXT, length=length),
        compute=compute,
        parameters=(side, length, filling),
        fits=always,
    )


def _as_long(domain: ColumnDomain) -> ColumnDomain:
    return ColumnDomain(DataType.TEXT, length=domain.letters)


def _check_count(name: str, what: str, value: object, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= TEXT_LIMIT:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"a {what} from {least} to {TEXT_LIMIT} for {name}",
            received=value,
            remedy="Write a whole constant.",
        )


def _check_text(name: str, value: object, *, most: int) -> None:
    known = isinstance(value, str) and type_of_value(value) is DataType.TEXT
    if not known or not 1 <= len(str(value)) <= most:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"a constant of {'one letter' if most == 1 else 'some letters'} for {name}",
            received=value if isinstance(value, str) else type(value).__name__,
            remedy="Write split_part(x, ',', 2), or lpad(x, 5, '0').",
        )


POSITION = Function(
    "position",
    accept=takes("position", DataType.TEXT, DataType.TEXT),
    result=lambda text, _: ColumnDomain(DataType.INTEGER, low=0, high=max(text.letters, 1)),
    compute=lambda text, part: text.find(part) + 1,
)

FUNCTIONS = (POSITION,)
