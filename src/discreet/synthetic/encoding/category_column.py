"""A column with a public list of values: words, whole numbers, truth values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import Source
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes


@dataclass(frozen=True)
class CategoryColumn:
    """Each listed value has a cell; whatever is not listed counts as missing.

    Lists may be long: mechanisms put values together that are too rare to be told apart under
    noise, and draw from them again in the sample.

    >>> ward = CategoryColumn(["A", "B"])
    >>> ward.encode(["B", None, "elsewhere", "A"]).tolist()
    [1, 2, 2, 0]
    """

    values: tuple[object, ...]
    missing: bool = True

    def __init__(self, values: Iterable[object], *, missing: bool = True) -> None:
        """A list of values; None in it says that missing values have a cell."""
        given = None if isinstance(values, str) else tuple(values)
        if given is None or len(set(given)) < len(given) or not set(given) - {None}:
            raise InvalidParameter(
                code="category_values",
                expectation="a list of at least one value, each of them once",
                received="one text" if given is None else len(given),
                remedy='List the public values: CategoryColumn(["A", "B"]).',
            )
        object.__setattr__(self, "values", tuple(value for value in given if value is not None))
        object.__setattr__(self, "missing", bool(missing or None in given))

    @property
    def size(self) -> int:
        return len(self.values) + self.missing

    @property
    def labels(self) -> tuple[object, ...]:
        return (*self.values, *((None,) if self.missing else ()))

    def encode(self, values: Sequence[Any]) -> Codes:
        places = {_key(value): place for place, value in enumerate(self.values)}
        rest = len(self.values) if self.missing else OUTSIDE
        try:
            found = [places.get(_key(value), rest) for value in values]
        except Exception:  # a value that has no hash, or does not compare, is in no list
            found = [_find_place(places, value, rest) for value in values]
        return np.array(found, dtype=np.int64)

    def decode(self, codes: Codes, randomness: Source) -> list[Any]:
        labels = self.labels
        return [labels[code] for code in codes.tolist()]

    def to_dict(self) -> Mapping[str, Any]:
        from discreet.release.keys import column_to_json, kind_of

        kind = kind_of("values", self.values)  # type: ignore[arg-type]
        return {
            "column": "category",
            "kind": kind,
            "values": column_to_json(kind, self.values),  # type: ignore[arg-type]
            "missing": self.missing,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> CategoryColumn:
        """The column that ``to_dict`` wrote."""
        from discreet.release.keys import column_from_json

        values = column_from_json(plain["kind"], plain["values"])
        return cls(values, missing=plain["missing"])


def _key(value: object) -> object:
    """True is not 1 and 1 is 1.0, as in a database."""
    if isinstance(value, np.generic):
        value = value.item()
    return (bool, value) if isinstance(value, bool) else value


def _find_place(places: Mapping[object, int], value: object, rest: int) -> int:
    try:
        return places.get(_key(value), rest)
    except Exception:  # a value of the data may fail in any way, and none may show
        return rest
