"""Every member of every schema, replaced by what does not belong there: refused, or no worse.

Both clients read the same hostile schemas. What they take is followed coin by coin: no ratio passes
exp of the epsilon that the schema states, and no value makes a client fail where another does not.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest

from discreet import local
from discreet.local.client import Client, Refused
from discreet.local.marginals import HadamardMarginals
from discreet.local.numeric import MeanResponse, SquareWave
from discreet.local.split import QuestionPart, SplitPeople
from discreet.local.vectors import VectorMean
from tests.local import javascript
from tests.local.enumeration import law, worst_ratio
from tests.local.examples import Scripted, collection, oracles, rappor
from tests.local.test_channels import at_most_exp
from tests.local.test_laplace import CoarseLaplace
from tests.local.test_laplace import schema_of as noise_schema
from tests.local.test_vectors import CoarseUnit, schema_of

GONE = object()
STRANGE: list[Any] = [
    *(0, 1, 2, 7, -1, 0.5, 7.5, 1e300, 2**53 - 1, 2**53, 2**70, True, False, None, GONE),
    *("", "1", "7", "-1", "0x7", "1_0", "1/2", "1/0", "x" * 2000, [], [1], [[]], {}, {"size": 2}),
]


def split() -> local.SplitPeople:
    parts = tuple(
        QuestionPart(((divisor, 2),), local.DirectEncoding(epsilon=1, domain=2))
        for divisor in (1, 2)
    )
    return SplitPeople(epsilon=1, domain=4, parts=parts)


def schemas() -> dict[str, str]:
    small = oracles(1, 3)
    found = {name: collection(oracle).schema for name, oracle in small.items()}
    found["rappor"] = collection(
        local.Rappor(epsilon=2, once=1, domain=3, cells=2, hashes=1, cohorts=1, seed=1)
    ).schema
    found["mean"] = collection(MeanResponse(epsilon=1, domain=3)).schema
    found["wave"] = collection(SquareWave(epsilon=1, domain=3)).schema
    masks = HadamardMarginals(epsilon=1, attributes=2, order=2).oracle
    found["masks"] = collection(masks).schema
    found["split"] = collection(split()).schema
    found["labels"] = collection(local.DirectEncoding(epsilon=1, domain=["a", "b"])).schema
    found["memoised"] = collection(small["direct"], memoised=True).schema
    found["text"] = collection(
        local.CountMeanSketch(epsilon=1, domain=local.ANY_TEXT, rows=1, cells=2, seed=1)
    ).schema
    found["vector"] = collection(VectorMean(epsilon=1, dimensions=2)).schema
    noisy = CoarseLaplace(epsilon=1, domain=3)
    found["laplace"] = noise_schema(noisy)
    found["unit"] = schema_of(CoarseUnit(epsilon=1, dimensions=2))
    return found


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands; of long lists the first two members."""
    if path:
        yield path
    members = (
        document.items()
        if isinstance(document, dict)
        else enumerate(document[:2] if isinstance(document, list) else ())
    )
    for name, inner in members:
        if path or name not in ("made", "format"):
            yield from places(inner, (*path, name))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> str:
    found = copy.deepcopy(document)
    at = found
    for step in path[:-1]:
        at = at[step]
    if value is GONE:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(found)


def hostile(schema: str) -> list[str]:
    document = json.loads(schema)
    return sorted(
        {changed(document, path, value) for path in places(document) for value in STRANGE}
    )


def outcome(schema: str) -> str:
    try:
        Client(schema)
    except Refused as refusal:
        return refusal.code
    return "taken"


def values_of(schema: str) -> list[Any]:
    domain = json.loads(schema)["domain"]
    if "vector" in domain:
        return [[0] * domain["vector"], [1] * domain["vector"], [-1, *[0] * (domain["vector"] - 1)]]
    size = 3 if "text" in domain else domain.get("size") or len(domain["labels"])
    return list(range(min(size, 3)))


def told(schema: str) -> list[dict[str, Fraction] | None]:
    """The law of each value; None where a client fails."""
    found: list[dict[str, Fraction] | None] = []
    for value in values_of(schema):
        try:
            found.append(law(schema, value))
        except (TypeError, ValueError, KeyError, IndexError, ArithmeticError):
            found.append(None)
    return found


def affordable(schema: str) -> bool:
    """Whether a report can be followed in a moment: no table or list beyond a thousand."""
    numbers: list[int] = []

    def look(part: Any) -> None:
        if isinstance(part, dict | list):
            for each in part.values() if isinstance(part, dict) else part:
                look(each)
        elif isinstance(part, int):
            numbers.append(part)

    document = json.loads(schema)
    oracle = dict(document["oracle"])
    if oracle["kind"] in (
        "unary",
        "bloom",
        "subset",
        "directions",
        "hadamard",
        "sketch",
        "laplace",
    ):
        for name in ("size", "cells", "directions", "chosen", "rows", "coins"):
            look(oracle.get(name, 0))
        look(oracle.get("inner", {}).get("rows", 0))
    if "vector" in document["domain"]:
        look(document["domain"])
    return all(number <= 4 for number in numbers)


@pytest.mark.parametrize("name", sorted(schemas()))
def test_what_does_not_belong_is_refused_or_tells_no_more(name: str) -> None:
    honest = schemas()[name]
    assert outcome(honest) == "taken"
    found = hostile(honest)
    mine = [outcome(each) for each in found]
    script = """
    const codes = given.map((schema) => {
      try { new discreetLocal.Client(schema); return "taken"; } catch (error) { return error.code; }
    });
    process.stdout.write(JSON.stringify(codes));
    """
    theirs = javascript.node(javascript.SOURCE + script, found)
    assert [each for each in zip(found, mine, theirs, strict=True) if each[1] != each[2]] == []
    taken = [each for each, code in zip(found, mine, strict=True) if code == "taken"]
    assert len(taken) < len(found) / 3
    for schema in taken:
        if not affordable(schema):
            continue
        laws = told(schema)
        epsilon = Fraction(json.loads(schema)["epsilon"])
        if None in laws:
            assert laws == [None] * len(laws), schema
        elif laws:
            assert at_most_exp(worst_ratio([each for each in laws if each]), epsilon), schema
    assert twins_differ([each for each in taken if affordable(each)]) == []


def said(schema: str) -> list[Any]:
    """Values as a device has them."""
    domain = json.loads(schema)["domain"]
    if "text" in domain:
        return ["a", "b"]
    return domain["labels"][:3] if "labels" in domain else values_of(schema)


def twins_differ(schemas: list[str]) -> list[Any]:
    """Where client.js does not say what client.py says of the same bytes, whose law is followed."""
    vectors = []
    for schema in schemas:
        client = Scripted(schema, 1)
        values = said(schema) * 4
        try:
            reports = [client.privatize(value) for value in values]
        except (TypeError, ValueError, KeyError, IndexError, ArithmeticError):
            continue  # for every value, as was seen above
        kept = client.memory
        vectors.append(
            {"schema": schema, "seed": 1, "values": values, "reports": reports, "memory": kept}
        )
    script = "process.stdout.write(JSON.stringify(failures(given)));"
    found: list[Any] = javascript.node(f"{javascript.test_build()}\n{script}", vectors)
    return found


def test_numbers_whose_sums_a_browser_rounds_are_refused() -> None:
    """Above 2**53 odd numbers are lost, and which of a wave's places remain told the value."""
    wave = json.loads(schemas()["wave"])
    reach = 2**53 - 1
    wave["domain"], wave["oracle"] = {"size": 2}, {"kind": "wave", "size": 2, "reach": reach}
    wave["oracle"]["keep"] = str((2 * reach + 1) * 2**64 // (2 * reach + 2))
    # Each digit fits, their product is no number of JavaScript but for the value nought.
    whole = json.loads(schemas()["split"])
    inner = json.loads(schemas()["optimal_hashing"])["oracle"]
    digits = [[1, 2**50], *[[2**50, 2**50]] * 25]
    whole["oracle"]["parts"] = [{"digits": digits, "oracle": inner}]
    signed = json.loads(schemas()["count_sketch"])
    signed["oracle"] |= {"cells": 2**52, "inner": inner}
    noisy = json.loads(schemas()["laplace"])
    noisy["oracle"]["coins"] = 2**52 - 1
    for document in (wave, whole, signed, noisy):
        schema = json.dumps(document)
        assert outcome(schema) == "local_schema_chances"
        script = """
        try { new discreetLocal.Client(given); } catch (error) {
          process.stdout.write(JSON.stringify(error.code));
        }
        """
        assert javascript.node(javascript.SOURCE + script, schema) == "local_schema_chances"


def test_a_prime_that_is_no_whole_number_was_a_leak() -> None:
    """Cells that are fractions tell the value that made them: (a v + b) mod 7.5 mod 2."""
    document = json.loads(collection(oracles(Fraction(1, 10), 3)["optimal_hashing"]).schema)
    for prime in (7.5, 0, -7, "7", True):
        schema = changed(document, ("oracle", "prime"), prime)
        assert outcome(schema) == "local_schema_chances"
    assert {(a * v + 1) % 7.5 % 2 for v in range(3) for a in (7,)} - {0, 1}


def test_rappor_is_checked_for_both_of_its_promises() -> None:
    for epsilon, once in ((2, 1), (4, 2)):
        assert outcome(collection(rappor(epsilon, once)).schema) == "taken"
