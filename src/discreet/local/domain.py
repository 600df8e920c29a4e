"""What people may say: numbers below a size, labels, or any text by its fingerprint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.parameters import count
from discreet.local.client import TEXT_PRIME, fingerprint

MOST_VALUES = TEXT_PRIME
"""Hashes are modulo a prime of at most 31 bits, so that products fit 63."""


@dataclass(frozen=True)
class Choices:
    """The public values of a question, in order.

    >>> Choices.of(["no", "yes"]).numbers(["yes", "no"])
    array([1, 0])
    """

    size: int
    labels: tuple[str, ...] | None = None
    text: bool = False

    @classmethod
    def of(cls, domain: int | Sequence[str] | Choices) -> Choices:
        """``domain`` is how many values there are, or the list of their labels."""
        if isinstance(domain, Choices):
            return domain
        if isinstance(domain, int | np.integer) and not isinstance(domain, bool):
            size = count("domain", domain, least=2)
            if size > MOST_VALUES:
                raise InvalidParameter(
                    code="local_domain_size",
                    expectation=f"at most {MOST_VALUES} values",
                    received=size,
                    remedy="Use ANY_TEXT, whose values are fingerprints, or a sketch.",
                )
            return cls(size)
        labels = () if isinstance(domain, str | bool) else tuple(domain)
        if len(labels) < 2 or not all(isinstance(label, str) for label in labels):
            raise InvalidParameter(
                code="local_domain_labels",
                expectation="a number of values, or two labels or more, each a string",
                received=type(domain).__name__,
                remedy="Pass for instance domain=1024 or domain=['no', 'yes'].",
            )
        if len(set(labels)) < len(labels):
            raise InvalidParameter(
                code="local_domain_twice",
                expectation="labels that differ from each other",
                remedy="List every label once.",
            )
        return cls(len(labels), labels)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {label: place for place, label in enumerate(self.labels or ())}

    def numbers(self, values: Any) -> NDArray[np.int64]:
        """The numbers of values, refused together if one lies outside; none is shown."""
        try:
            if self.text:
                found = np.array([fingerprint(value) for value in values], dtype=np.int64)
            elif self.labels is not None:
                found = np.array([self._places[value] for value in values], dtype=np.int64)
            else:
                found = _whole(values)
        except (KeyError, TypeError, AttributeError, UnicodeEncodeError):
            raise _outside() from None
        if found.ndim != 1 or (found.size and not 0 <= found.min() <= found.max() < self.size):
            raise _outside()
        return found

    def describe_domain(self) -> dict[str, Any]:
        """The domain as a schema says it."""
        if self.text:
            return {"text": True}
        return {"size": self.size} if self.labels is None else {"labels": list(self.labels)}


ANY_TEXT = Choices(MOST_VALUES, text=True)
"""Every text, by a fingerprint of 31 bits: for hashing, sketches and Bloom filters."""


def _whole(values: Any) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise _outside()
    if array.dtype.kind == "u" and array.size and array.max() > MOST_VALUES:
        raise _outside()
    return array.astype(np.int64, copy=False)


def _outside() -> InvalidData:
    return InvalidData(
        code="local_values_outside",
        expectation="values of the declared domain, in one dimension",
        remedy="Map other values to one that stands for them before they are randomised.",
    )
