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
from discreet.local.laplace import LaplaceMean
from discreet.local.masks import MaskedHadamard
from discreet.local.numeric import MeanResponse, SquareWave
from discreet.local.oracle import SupportOracle
from discreet.local.randomiser import LocalRandomiser
from discreet.local.sketch import CountMeanSketch, CountSketch
from discreet.local.split import QuestionPart, SplitPeople
from discreet.local.subset import SubsetSelection
from discreet.local.unary import OptimizedUnary, SymmetricUnary
from discreet.local.unit_vectors import PrivUnit
from discreet.local.vectors import VectorMean, VectorRandomiser

if TYPE_CHECKING:
    from collections.abc import Callable

_TAGS: dict[str, type[LocalRandomiser]] = {
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
    "one_of": SplitPeople,
    "masked_hadamard": MaskedHadamard,
    "mean": MeanResponse,
    "square_wave": SquareWave,
    "laplace": LaplaceMean,
    "vector_mean": VectorMean,
    "priv_unit": PrivUnit,
}
"""How schemas name oracles; these never change."""
_PARAMETERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("bits", "rows", "cells", "seed", "hashes", "cohorts", "dimensions"), int),
    "once": lambda value: str(exact(value)),
    "masks": list,
}
_READ: dict[str, Callable[[Any], Any]] = {"once": Fraction, "masks": tuple}


@dataclass(frozen=True, kw_only=True)
class Collection:
    """One question to many people. Change anything, and the version changes.

    A ``memoised`` collection asks clients to keep their report and to send it again: then
    repetition tells nothing new while the value stays. Every change costs epsilon, a return to an
    earlier value too, and the time of a change is not protected.
    Memoised reports are linkable, so shuffling earns them nothing.
    """

    name: str
    version: int
    oracle: LocalRandomiser
    memoised: bool

    def __post_init__(self) -> None:
        """Refuse empty names, RAPPOR without memory, and vectors with it."""
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
        if isinstance(self.oracle, VectorRandomiser) and self.memoised:
            raise InvalidParameter(
                code="local_vector_memory",
                expectation="memoised=False for vectors, which hardly ever stay the same",
                remedy="Ask each person once, and count every report with a PersonalLedger.",
            )

    @property
    def schema(self) -> str:
        """What clients read: JSON, the same text for the same collection."""
        document = {
            "format": FORMAT,
            "name": self.name,
            "version": self.version,
            "epsilon": str(exact(self.oracle.epsilon)),
            "memoised": self.memoised,
            "domain": self.oracle.written_domain(),
            "made": _write_oracle_parameters(self.oracle),
            "oracle": self.oracle.describe_randomiser(),
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
            epsilon = Fraction(document["epsilon"])
            oracle = _remade(document["made"], epsilon, _domain(document["domain"]))
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


def _write_oracle_parameters(oracle: LocalRandomiser) -> dict[str, Any]:
    """What an oracle is made with, beside epsilon and domain, under frozen names."""
    tag = next((tag for tag, kind in _TAGS.items() if kind is type(oracle)), None)
    if tag is None:
        raise InvalidParameter(
            code="local_oracle_unknown",
            expectation="one of the oracles of discreet.local",
            received=type(oracle).__name__,
            remedy="Clients know no other kinds.",
        )
    made: dict[str, Any] = {"by": tag}
    for name, write in _PARAMETERS.items():
        if name in type(oracle).__dataclass_fields__:
            made[name] = write(getattr(oracle, name))
    if isinstance(oracle, SplitPeople):
        made["parts"] = [
            {
                "digits": [list(digit) for digit in part.digits],
                "domain": part.oracle.choices.describe_domain(),
                "made": _write_oracle_parameters(part.oracle),
            }
            for part in oracle.parts
        ]
    return made


def _remade(made: dict[str, Any], epsilon: Fraction, domain: Choices | None) -> LocalRandomiser:
    kind = _TAGS[made["by"]]
    given = {name: _READ.get(name, int)(made[name]) for name in _PARAMETERS if name in made}
    if kind is SplitPeople:
        parts = []
        for part in made["parts"]:
            oracle = _remade(part["made"], epsilon, _domain(part["domain"]))
            if not isinstance(oracle, SupportOracle):
                raise TypeError
            digits = tuple(tuple(int(each) for each in digit) for digit in part["digits"])
            parts.append(QuestionPart(digits, oracle))
        given["parts"] = tuple(parts)
    if domain is not None:
        given["domain"] = domain
    return kind(epsilon=epsilon, **given)


def _domain(written: dict[str, Any]) -> Choices | None:
    """Values to choose from; None where vectors are asked for."""
    if "vector" in written:
        return None
    if written.get("text"):
        return ANY_TEXT
    return Choices.of(written["labels"] if "labels" in written else written["size"])
