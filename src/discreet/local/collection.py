"""A collection: an oracle with a name and a version, as the schema that clients read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, exact
from discreet.local.bloom import BloomFilter, Rappor
from discreet.local.client import FORMAT, Client
from discreet.local.direct import DirectEncoding
from discreet.local.domain import ANY_TEXT, Choices
from discreet.local.hadamard import HadamardResponse
from discreet.local.hashing import BinaryLocalHashing, OptimalLocalHashing
from discreet.local.oracle import FrequencyOracle
from discreet.local.sketch import CountMeanSketch, CountSketch
from discreet.local.subset import SubsetSelection
from discreet.local.unary import OptimizedUnary, SymmetricUnary

if TYPE_CHECKING:
    from collections.abc import Callable

_TAGS: dict[str, type[FrequencyOracle]] = {
    "direct": DirectEncoding,
    "symmetric_unary": SymmetricUnary,
    "optimized_unary": OptimizedUnary,
    "binary_hashing": BinaryLocalHashing,
    "optimal_hashing": OptimalLocalHashing,
    "hadamard": HadamardResponse,
    "subset": SubsetSelection,
    "count_mean_sketch": CountMeanSketch,
    "count_sketch": CountSketch,
    "bloom": BloomFilter,
    "rappor": Rappor,
}
"""How schemas name oracles; these never change."""
_PARAMETERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("bits", "rows", "cells", "seed", "hashes", "cohorts"), int),
    "once": Fraction,
}


@dataclass(frozen=True, kw_only=True)
class Collection:
    """One question to many people. Change anything, and the version changes.

    A ``memoised`` collection asks clients to keep the report about each value and to send it again:
    then repetition tells nothing new while the value stays. Every further value costs epsilon.
    Memoised reports are linkable, so shuffling earns them nothing.
    """

    name: str
    version: int
    oracle: FrequencyOracle
    memoised: bool

    def __post_init__(self) -> None:
        """Refuse empty names, and RAPPOR without memory."""
        if not isinstance(self.name, str) or not 0 < len(self.name) <= 200:
            raise InvalidParameter(
                code="local_collection_name",
                expectation="a name of 1 to 200 letters",
                received=type(self.name).__name__,
                remedy="Name what is asked, for instance 'keyboard/emoji'.",
            )
        count("version", self.version)
        if isinstance(self.oracle, Rappor) and not self.memoised:
            raise InvalidParameter(
                code="local_rappor_memory",
                expectation="memoised=True for RAPPOR, whose first draw must be kept",
                remedy="Pass memoised=True, or use BloomFilter.",
            )

    @property
    def schema(self) -> str:
        """What clients read: JSON, the same text for the same collection."""
        tag = next((tag for tag, kind in _TAGS.items() if kind is type(self.oracle)), None)
        if tag is None:
            raise InvalidParameter(
                code="local_oracle_unknown",
                expectation="one of the oracles of discreet.local",
                received=type(self.oracle).__name__,
                remedy="Clients know no other kinds.",
            )
        found = {
            name: str(exact(getattr(self.oracle, name)))
            if name == "once"
            else read(getattr(self.oracle, name))
            for name, read in _PARAMETERS.items()
            if name in type(self.oracle).__dataclass_fields__
        }
        document = {
            "format": FORMAT,
            "name": self.name,
            "version": self.version,
            "epsilon": str(exact(self.oracle.epsilon)),
            "memoised": self.memoised,
            "domain": self.oracle.choices.written(),
            "made": {"by": tag, **found},
            "oracle": self.oracle.written(),
        }
        return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_schema(cls, schema: str) -> Collection:
        """The collection that a schema describes; one that was tampered with is refused.

        The oracle is made anew from epsilon and shape: chances in the text that are not those that
        follow from them are refused, so that no schema promises more than it keeps.
        """
        try:
            document = json.loads(schema)
            made = dict(document["made"])
            kind = _TAGS[made.pop("by")]
            written = document["domain"]
            domain = ANY_TEXT if written.get("text") else written.get("labels", written.get("size"))
            parameters = {name: _PARAMETERS[name](value) for name, value in made.items()}
            oracle = kind(
                epsilon=Fraction(document["epsilon"]), domain=Choices.of(domain), **parameters
            )
            found = cls(
                name=document["name"],
                version=document["version"],
                oracle=oracle,
                memoised=bool(document["memoised"]),
            )
            if json.loads(found.schema) != document:
                raise ValueError
        except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError):
            raise InvalidParameter(
                code="local_schema_unreadable",
                expectation="a schema as Collection.schema writes it, with its own chances",
                remedy="Publish the schema again from the collection.",
            ) from None
        return found

    def client(self, memory: dict[str, Any] | None = None) -> Client:
        """A client of this collection in this process."""
        return Client(self.schema, memory)
