"""Text: letters are Unicode code points, and positions count from one.

Case is changed letter by letter, each to one letter, independent of place and language. Where a
position, a length or a set of letters is asked for, it is a public constant.

No text is longer than ``TEXT_LIMIT``: what would be is its first letters. Facts say how long a
result may be at most, and an engine cuts before it grows.
"""

from __future__ import annotations

from collections.abc import Callable

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.comparison import truth
from discreet.relational.functions.function import Function, always
from discreet.relational.functions.signature import takes, takes_alike
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import TEXT_LIMIT, DataType, type_of_value

MAX_LETTERS = TEXT_LIMIT
"""The longest constant, and the farthest position, that a function of text takes."""
MAX_JOINED = 100


def lowered(text: str) -> str:
    """Lower case, letter by letter.

    >>> lowered("ÀΣİ")
    'àσi'
    """
    return "".join("i" if letter == "İ" else _single(letter, str.lower) for letter in text)


def uppered(text: str) -> str:
    """Upper case, letter by letter.

    >>> uppered("àß")
    'Àẞ'
    """
    return "".join("ẞ" if letter == "ß" else _single(letter, str.upper) for letter in text)


def _single(letter: str, change: Callable[[str], str]) -> str:
    changed = change(letter)
    if len(changed) == 1:
        return changed
    titled = letter.title()
    return titled if change is str.upper and len(titled) == 1 else letter


def _text(letters: int) -> ColumnDomain:
    return ColumnDomain(DataType.TEXT, length=letters)


def _as_long(domain: ColumnDomain) -> ColumnDomain:
    """Letter for letter, or fewer."""
    return _text(domain.letters)


def _length(domain: ColumnDomain) -> ColumnDomain:
    return ColumnDomain(DataType.INTEGER, low=0, high=domain.letters)


def substring(start: int, length: int | None = None) -> Function:
    """``length`` letters from position ``start``, or all the rest.

    >>> substring(2, 3).apply(["héllo"], DataType.TEXT)
    'éll'
    """
    _check_position("start", start, least=1)
    if length is not None:
        _check_position("length", length, least=0)
    stop = None if length is None else start - 1 + length
    return Function(
        "substring",
        accept=takes("substring", DataType.TEXT),
        result=lambda domain: _text(len(range(domain.letters)[start - 1 : stop])),
        fits=always,
        compute=lambda text: text[start - 1 : stop],
        parameters=(start,) if length is None else (start, length),
    )


def trimmed(side: str, letters: str = " ") -> Function:
    """Text without the given letters at its ``leading`` or ``trailing`` end, or at ``both``."""
    _check_constant("trim", letters)
    strip = {"both": str.strip, "leading": str.lstrip, "trailing": str.rstrip}[side]
    return Function(
        "trim",
        accept=takes("trim", DataType.TEXT),
        result=_as_long,
        fits=always,
        compute=lambda text: strip(text, letters) if letters else text,
        parameters=(side, letters),
    )


def replaced(old: str, new: str) -> Function:
    """Text with each ``old`` made ``new``, from left to right.

    Contract: ``new`` takes no more bytes than ``old``, so that no row grows while it is replaced;
    it may have more letters.
    """
    _check_constant("replace", old)
    _check_constant("replace", new)
    if len(new.encode()) > max(len(old.encode()), 1):
        raise InvalidParameter(
            code="bad_argument",
            expectation="a replacement that is not longer than what it replaces",
            received=(old, new),
            remedy="Shorten it; use CASE to give whole values other names.",
        )
    return Function(
        "replace",
        accept=takes("replace", DataType.TEXT),
        result=lambda domain: _text(_after(domain.letters, old, new)),
        fits=lambda domain: _after(domain.letters, old, new) <= TEXT_LIMIT,
        compute=lambda text: text.replace(old, new) if old else text,
        parameters=(old, new),
    )


def _after(letters: int, old: str, new: str) -> int:
    """How many letters there may be once each ``old`` is ``new``."""
    if len(new) <= len(old) or not old:
        return letters
    times, rest = divmod(letters, len(old))
    return times * len(new) + rest


def _check_position(name: str, value: int, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_LETTERS:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"a {name} from {least} to {MAX_LETTERS} for substring",
            received=value,
            remedy="Write substring(x, 1, 3): positions count from one, from the left.",
        )


def _check_constant(name: str, value: str) -> None:
    if type_of_value(value) is not DataType.TEXT or len(value) > MAX_LETTERS:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"text of at most {MAX_LETTERS} letters for {name}",
            received=type(value).__name__,
            remedy="Pass a constant.",
        )


LOWER = Function("lower", takes("lower", DataType.TEXT), _as_long, lowered, fits=always)
UPPER = Function("upper", takes("upper", DataType.TEXT), _as_long, uppered, fits=always)
REVERSE = Function(
    "reverse", takes("reverse", DataType.TEXT), _as_long, lambda text: text[::-1], fits=always
)
LENGTH = Function("length", takes("length", DataType.TEXT), _length, len)
STARTS_WITH = Function(
    "starts_with", takes("starts_with", DataType.TEXT, DataType.TEXT), truth, str.startswith
)
ENDS_WITH = Function(
    "ends_with", takes("ends_with", DataType.TEXT, DataType.TEXT), truth, str.endswith
)
CONTAINS = Function(
    "contains",
    takes("contains", DataType.TEXT, DataType.TEXT),
    truth,
    lambda text, part: part in text,
)


def _accept_texts(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
    kinds = takes_alike("||", least=1, most=MAX_JOINED)(domain)
    takes("||", *(DataType.TEXT,) * len(kinds))(domain)
    return (DataType.TEXT,) * len(kinds)


def _together(*domain: ColumnDomain) -> int:
    return sum(part.letters for part in domain)


CONCAT = Function(
    "concat",
    accept=_accept_texts,
    result=lambda *domain: _text(_together(*domain)),
    compute=lambda *texts: "".join(texts),
    fits=lambda *domain: _together(*domain) <= TEXT_LIMIT,
)

FUNCTIONS = (LOWER, UPPER, REVERSE, LENGTH, STARTS_WITH, ENDS_WITH, CONTAINS, CONCAT)
