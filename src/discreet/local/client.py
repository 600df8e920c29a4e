"""The client of local privacy: one file for the device, of the standard library alone.

A schema, as its text, says how answers are randomised; :class:`Client` turns one value into one
report, which may be seen by anybody. Chances are whole numbers over 2**64 that were rounded when
the schema was made, so that nothing here calls ``exp`` or compares fractions: a random word is
below a whole number or it is not. ``client.js`` is the same client for web pages, held to the same
test vectors.

Guarantee: a report depends on the value only through coins of those chances and uniform numbers,
drawn from the operating system's generator, and a schema whose chances tell more than its epsilon
is refused on the device. A memoised schema needs :attr:`Client.memory` kept there; it holds the
report about the current value of each schema, and whoever loses it pays again.
Source: 004a:C1, C2, C5–C9, C25, C26, C31; modern-learn:9. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from math import copysign, floor, isnan
from numbers import Real
from typing import Any

FORMAT = "discreet.local/1"
TEXT_PRIME = 2147483647
_WHOLE = 1 << 64
_BITS = 320
_MOST = 32
_LONGEST = 1000


class Refused(ValueError):
    """A schema or a value that the client does not take; the value itself is never repeated."""

    def __init__(self, *, code: str, expectation: str) -> None:
        """Keep the code beside the message."""
        super().__init__(f"[{code}] Expected {expectation}.")
        self.code = code


class Client:
    """Randomises values by a schema: ``Client(schema).privatize("yes")`` is a report, as JSON."""

    def __init__(self, schema: str, memory: dict[str, Any] | None = None) -> None:
        """``memory`` is what an earlier client of this device kept, for memoised schemas."""
        document = json.loads(schema)
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise Refused(code="local_schema_format", expectation=f"a schema of format {FORMAT}")
        self._schema = document
        oracle = document.get("oracle")
        if not isinstance(oracle, dict) or oracle.get("kind") not in list(_SHAPES):
            raise Refused(code="local_schema_kind", expectation="an oracle that is known here")
        self._oracle: dict[str, Any] = oracle
        self._check_chances()
        labels = document["domain"].get("labels")
        self._labels = None if labels is None else {label: i for i, label in enumerate(labels)}
        self.question = f"{document['name']}/{document['version']}"
        self.memory: dict[str, Any] = {} if memory is None else memory
        asked = [document["domain"], oracle]
        self._asked = json.dumps(asked, separators=(",", ":"), ensure_ascii=False)
        if self._schema["memoised"]:
            self._check_memory(self.memory.get(self.question, {}))

    def _check_chances(self) -> None:
        if not _keeps_its_word(self._schema):
            raise Refused(
                code="local_schema_chances", expectation="chances that keep the schema's epsilon"
            )

    def _check_memory(self, kept: dict[str, Any]) -> None:
        """Refuse another question under a name and version whose report is kept.

        With other numbers for the same values, whether the kept report comes again would tell them.
        """
        if "asked" not in kept:
            kept.pop("value", None)  # of which question, nobody knows: it is drawn anew
            kept["asked"] = self._asked
        if kept["asked"] != self._asked:
            raise Refused(
                code="local_schema_changed",
                expectation="the question that this name and version asked before; another one "
                "has another version",
            )

    @property
    def number_of_kept_value(self) -> int | None:
        """The number of the value whose report is kept, if there is one; it is private."""
        found: int | None = self.memory.get(self.question, {}).get("value")
        return found

    def forget(self) -> None:
        """Drop the kept report: the next one is drawn anew, and costs epsilon."""
        self.memory.get(self.question, {}).pop("value", None)

    def privatize(self, value: object) -> str:
        """One report about ``value``, ready to be sent."""
        payload = self._payload(self._index(value))
        report = {
            "schema": self._schema["name"],
            "version": self._schema["version"],
            "nonce": self._bytes(16).hex(),
            "report": payload,
        }
        return json.dumps(report, separators=(",", ":"))

    def _payload(self, index: Any) -> Any:
        randomise = _KINDS[self._oracle["kind"]]
        if not self._schema["memoised"]:
            return randomise(self, self._oracle, index)
        kept = self.memory.setdefault(self.question, {})
        self._check_memory(kept)
        if kept.get("value") != index:
            kept["report"] = randomise(self, self._oracle, index)
            kept["value"] = index
        if "again" not in self._oracle:
            return kept["report"]
        again = self._oracle["again"]
        cohort, bits = kept["report"]
        held = [bool(byte >> bit & 1) for byte in bytes.fromhex(bits) for bit in range(8)]
        return [cohort, self._unary(again, held[: self._oracle["cells"]])]

    def _index(self, value: object) -> Any:
        domain = self._schema["domain"]
        if "vector" in domain:
            if isinstance(value, Iterable) and not isinstance(value, str):
                steps = [_step(each, self._oracle["steps"]) for each in value]
                if len(steps) == domain["vector"]:
                    return steps
        elif domain.get("text"):
            if isinstance(value, str):
                try:
                    return fingerprint(value)
                except UnicodeEncodeError:
                    pass
        elif self._labels is not None:
            if isinstance(value, str) and value in self._labels:
                return self._labels[value]
        elif isinstance(value, int) and not isinstance(value, bool) and 0 <= value < domain["size"]:
            return value
        raise Refused(code="local_value_outside", expectation="a value of the schema's domain")

    # What is random, and nothing else is.

    def _bytes(self, count: int) -> bytes:
        return os.urandom(count)

    def _word(self) -> int:
        return int.from_bytes(self._bytes(8), "little")

    def _coin(self, chance: str) -> bool:
        """Heads with ``chance`` over 2**64."""
        return self._coins([int(chance)])[0]

    def _coins(self, chances: list[int]) -> list[bool]:
        """One coin for each chance over 2**64."""
        drawn = self._bytes(8 * len(chances))
        words = (drawn[place : place + 8] for place in range(0, len(drawn), 8))
        return [int.from_bytes(w, "little") < c for w, c in zip(words, chances, strict=True)]

    def _uniform(self, below: int) -> int:
        """A number from 0 to ``below - 1``; words of the surplus are drawn again."""
        limit = _WHOLE - _WHOLE % below
        while True:
            word = self._word()
            if word < limit:
                return word % below

    # One method for each kind of oracle.

    def _direct(self, oracle: dict[str, Any], index: int) -> int:
        if self._coin(oracle["keep"]):
            return index
        other = self._uniform(oracle["size"] - 1)
        return other + (other >= index)

    def _unary(self, oracle: dict[str, Any], bits: list[bool]) -> str:
        one, zero = int(oracle["one"]), int(oracle["zero"])
        noisy = self._coins([one if bit else zero for bit in bits])
        packed = bytearray(-(-len(bits) // 8))
        for place, bit in enumerate(noisy):
            packed[place >> 3] |= bit << (place & 7)
        return packed.hex()

    def _one_hot(self, oracle: dict[str, Any], index: int) -> str:
        return self._unary(oracle, [place == index for place in range(oracle["size"])])

    def _hashing(self, oracle: dict[str, Any], index: int) -> list[int]:
        a, b = self._uniform(oracle["prime"]), self._uniform(oracle["prime"])
        cell = (a * index + b) % oracle["prime"] % oracle["cells"]
        return [a, b, self._direct({"size": oracle["cells"], "keep": oracle["keep"]}, cell)]

    def _hadamard(self, oracle: dict[str, Any], index: int) -> list[int]:
        masks = oracle.get("masks")
        if masks is None:
            rows = [self._uniform(1 << oracle["bits"]) for _ in range(oracle["rows"])]
        else:
            rows = [masks[self._uniform(len(masks))] for _ in range(oracle["rows"])]
        word = sum(((row & index).bit_count() & 1) << place for place, row in enumerate(rows))
        noisy = self._direct({"size": 1 << len(rows), "keep": oracle["keep"]}, word)
        return [*rows, noisy]

    def _subset(self, oracle: dict[str, Any], index: int) -> list[int]:
        kept = self._coin(oracle["keep"])
        chosen: set[int] = set()
        others = oracle["size"] - 1
        for top in range(others - oracle["chosen"] + kept, others):
            place = self._uniform(top + 1)
            chosen.add(top if place in chosen else place)
        found = {other + (other >= index) for other in chosen}
        return sorted(found | {index} if kept else found)

    def _wave(self, oracle: dict[str, Any], index: int) -> int:
        near = 2 * oracle["reach"] + 1
        if self._coin(oracle["keep"]):
            return index + self._uniform(near)
        far = self._uniform(oracle["size"] - 1)
        return far if far < index else far + near

    def _mean(self, oracle: dict[str, Any], index: int) -> int:
        high = self._uniform(oracle["size"] - 1) < index
        return self._direct({"size": 2, "keep": oracle["keep"]}, int(high))

    def _laplace(self, oracle: dict[str, Any], index: int) -> int:
        low, coins = [int(digit) for digit in oracle["digits"]], int(oracle["coins"])
        chances = [int(oracle["noise"]), _WHOLE >> 1, *low, *[int(oracle["more"])] * coins]
        noisy, below, *bits = self._coins(chances)
        size = sum(bit << place for place, bit in enumerate(bits[: len(low)]))
        size += 1 + ([*bits[len(low) :], False].index(False) << len(low))
        sizes, values = coins << len(low), int(oracle["size"])
        told = index + noisy * (-size if below else size) + sizes - values
        return max(0, min(told, 2 * sizes - values - 1))

    def _coordinate(self, oracle: dict[str, Any], steps: list[int]) -> list[int]:
        place = self._uniform(oracle["dimensions"])
        high = self._uniform(2 * oracle["steps"]) < steps[place] + oracle["steps"]
        return [place, self._direct({"size": 2, "keep": oracle["keep"]}, int(high))]

    def _directions(self, oracle: dict[str, Any], steps: list[int]) -> list[int]:
        length = self._uniform(oracle["steps"])
        kept = steps if length * length < sum(step * step for step in steps) else [0] * len(steps)
        seed, many, near = self._uniform(1 << 32), oracle["directions"], oracle["near"]
        scores = [_score(seed, place, kept) for place in range(many)]
        order = sorted(range(many), key=lambda place: (-scores[place], place))
        named = order[:near] if self._coin(oracle["keep"]) else order[near:]
        return [seed, named[self._uniform(len(named))]]

    def _one_of(self, oracle: dict[str, Any], index: int) -> list[Any]:
        part = self._uniform(len(oracle["parts"]))
        digits, inner = oracle["parts"][part]["digits"], oracle["parts"][part]["oracle"]
        value = 0
        for digit in digits:
            *hashed, below = digit
            if len(hashed) == 1:
                found = index // hashed[0] % below
            else:
                a, b, prime = hashed
                found = (a * index + b) % prime % below
            value = value * below + found
        return [part, _KINDS[inner["kind"]](self, inner, value)]

    def _sketch(self, oracle: dict[str, Any], index: int) -> list[Any]:
        row = self._uniform(len(oracle["hashes"]))
        a, b, c, d, e = oracle["hashes"][row]
        cell = ((a * index + b) * index + c) % oracle["prime"] % oracle["cells"]
        if oracle["signed"]:
            cell = 2 * cell + (d * index + e) % oracle["prime"] % 2
        inner = oracle["inner"]
        return [row, _KINDS[inner["kind"]](self, inner, cell)]

    def _bloom(self, oracle: dict[str, Any], index: int) -> list[Any]:
        if self._schema["memoised"]:
            kept = self.memory.setdefault(self.question, {})
            if "cohort" not in kept:
                kept["cohort"] = self._uniform(len(oracle["cohorts"]))
            cohort = kept["cohort"]
        else:
            cohort = self._uniform(len(oracle["cohorts"]))
        hashes = oracle["cohorts"][cohort]
        cells = {(a * index + b) % oracle["prime"] % oracle["cells"] for a, b in hashes}
        bits = [place in cells for place in range(oracle["cells"])]
        return [cohort, self._unary(oracle, bits)]


_VECTORS = ("coordinate", "directions")
_KINDS: dict[str, Callable[..., Any]] = {
    "direct": Client._direct,
    "unary": Client._one_hot,
    "hashing": Client._hashing,
    "hadamard": Client._hadamard,
    "subset": Client._subset,
    "wave": Client._wave,
    "mean": Client._mean,
    "laplace": Client._laplace,
    "coordinate": Client._coordinate,
    "directions": Client._directions,
    "one_of": Client._one_of,
    "sketch": Client._sketch,
    "bloom": Client._bloom,
}


_SHAPES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("direct", "unary", "mean"), ("size",)),
    **dict.fromkeys(("hashing", "sketch", "bloom"), ("prime", "cells")),
    "hadamard": ("bits", "rows"),
    "subset": ("size", "chosen"),
    "wave": ("size", "reach"),
    "laplace": ("size", "coins"),
    "coordinate": ("dimensions", "steps"),
    "directions": ("dimensions", "steps", "directions", "near"),
    "one_of": (),
}
"""What every kind is described by, all of them whole numbers above zero."""


def _keeps_its_word(schema: dict[str, Any]) -> bool:
    """Whether no two values of the domain are told apart by more than exp(epsilon)."""
    try:
        oracle, most = schema["oracle"], _exp_below(schema["epsilon"])
        named = isinstance(schema["name"], str) and _whole(schema["version"]) > 0
        vectors, kept = "vector" in schema["domain"], schema["memoised"]
        if not named or type(kept) is not bool or vectors != (oracle["kind"] in _VECTORS):
            return False
        if vectors and kept:
            return False
        if "again" in oracle and not (kept and oracle["kind"] == "bloom"):
            return False
        return _within(oracle, _values(schema["domain"]), most)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError):
        return False


def _values(domain: dict[str, Any]) -> int:
    """How many values may be told, or how many coordinates a vector has."""
    if "vector" in domain:
        return _above(domain["vector"])
    if "text" in domain:
        return TEXT_PRIME if domain["text"] is True else _above(None)
    labels = domain.get("labels")
    if labels is None:
        return _above(domain["size"])
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise TypeError
    return len(labels)


def _within(oracle: dict[str, Any], values: int, most: int) -> bool:
    """Whether ratios of chances are at most ``most`` over 2**320, for so many values."""
    kind = oracle["kind"]
    shape = {name: _above(oracle[name]) for name in _SHAPES[kind]}
    if kind in ("one_of", "sketch"):
        return all(
            inner["kind"] not in _VECTORS and "again" not in inner and _within(inner, below, most)
            for inner, below in _parts(oracle)
        )
    if kind in ("unary", "bloom"):
        return _bits_within(oracle, most)
    if kind == "laplace":
        return values <= shape["size"] and _noise_within(oracle, most)
    keep, size = _chance(oracle["keep"]), shape.get("size", values)
    near, far = 1, size - 1
    if kind in ("mean", "coordinate"):
        near, far = 1, min(1, shape.get("size", 2) - 1)
    elif kind == "hashing":
        far = shape["cells"] - 1
    elif kind == "hadamard":
        _ = [_whole(mask) for mask in oracle.get("masks", [0])], _words(shape["bits"])
        far = _words(shape["rows"]) - 1 if oracle.get("masks", [0]) else 0
    elif kind == "subset":
        near, far = shape["chosen"], size - shape["chosen"]
    elif kind == "wave":
        near = 2 * shape["reach"] + 1
        _ = _whole(size + near)
    elif kind == "directions":
        near, far = shape["near"], shape["directions"] - shape["near"]
    fits = values == shape["dimensions"] if kind in _VECTORS else values <= size
    return fits and far > 0 and _alike(keep * far, (_WHOLE - keep) * near, 1, most)


def _parts(oracle: dict[str, Any]) -> list[tuple[dict[str, Any], int]]:
    """The oracles within one, with how many values each is asked about; at least one."""
    if oracle["kind"] == "sketch":
        for row in _require_list(oracle["hashes"]):
            a, b, c, d, e = _require_list(row)
            _ = [_whole(number) for number in (a, b, c, d, e)]
        signs = {True: 2, False: 1}[oracle["signed"]] if type(oracle["signed"]) is bool else 0
        found = [(oracle["inner"], _whole(oracle["cells"] * signs))] * bool(oracle["hashes"])
    else:
        found = [
            (part["oracle"], _product(part["digits"])) for part in _require_list(oracle["parts"])
        ]
    if not found or not all(below for _, below in found):
        raise ValueError
    return found


def _bits_within(oracle: dict[str, Any], most: int) -> bool:
    """The same for bits that are told one by one, and told again if they were kept."""
    one, zero, pairs = _chance(oracle["one"]), _chance(oracle["zero"]), 1
    if oracle["kind"] == "bloom":
        _ = [
            (_whole(a), _whole(b))
            for row in _require_list(oracle["cohorts"])
            for a, b in _require_list(row)
        ]
        pairs = max(len(row) for row in oracle["cohorts"])
    if "again" in oracle and not _once_within(one, zero, oracle["again"], pairs):
        return False
    possible = 0 < one < _WHOLE and 0 < zero < _WHOLE
    return possible and _alike(one * (_WHOLE - zero), zero * (_WHOLE - one), pairs, most)


def _noise_within(oracle: dict[str, Any], most: int) -> bool:
    """The same for noise: no two sizes next to each other tell more than their part of it."""
    step, noise, more = (_chance(oracle[name]) for name in ("step", "noise", "more"))
    digits, size = [_chance(digit) for digit in _require_list(oracle["digits"])], oracle["size"]
    if len(digits) >= _MOST or not all(0 < each < _WHOLE for each in (step, noise, more, *digits)):
        return False
    ones = zeros = 1
    for digit in digits:
        if not _near(digit * zeros, (_WHOLE - digit) * ones, step):
            return False
        ones, zeros = ones * digit, zeros * (_WHOLE - digit)
    least = noise * (_WHOLE - more) * zeros
    return (
        4 < 4 * size < _whole(oracle["coins"] << len(digits) + 2)
        and _near(more * zeros, _WHOLE * ones, step)
        and _near(least, 2 * (_WHOLE - noise) * _WHOLE ** (len(digits) + 1), step)
        and _steps_within(step, size - 1, most)
    )


def _near(one: int, other: int, step: int) -> bool:
    """Whether neither of two chances is below the other times ``step`` over 2**64."""
    low, high = sorted((one, other))
    return low * _WHOLE >= high * step


def _steps_within(step: int, steps: int, most: int) -> bool:
    """Whether so many steps tell no more than ``most``; every product is rounded up."""
    total, power = 1 << _BITS, -(-(_WHOLE << _BITS) // step)
    while steps and power <= most:
        if steps & 1:
            total = -(-total * power >> _BITS)
        steps, power = steps >> 1, -(-power * power >> _BITS)
    return not steps and total <= most


def _once_within(one: int, zero: int, again: dict[str, Any], pairs: int) -> bool:
    """Whether a single report of kept bits, told again, tells no more than its own epsilon."""
    told, other, whole = _chance(again["one"]), _chance(again["zero"]), _WHOLE**2
    one, zero = (kept * told + (_WHOLE - kept) * other for kept in (one, zero))
    most = _exp_below(again["once"])
    return _alike(one * (whole - zero), zero * (whole - one), pairs, most)


def _alike(one: int, other: int, power: int, most: int) -> bool:
    """Whether neither of two chances is too many times the other, ``power`` times over."""
    low, high = sorted((one, other))
    return low > 0 and high**power << _BITS <= most * low**power


def _exp_below(epsilon: str) -> int:
    """Not above exp(epsilon) times 2**320: its series, with every term rounded down."""
    above, _, under = epsilon.partition("/")
    p, q = _digits(above), _digits(under or "1")
    if not 0 < p <= _MOST * q:
        raise ValueError
    total = term = 1 << _BITS
    place = 0
    while term:
        place += 1
        term = term * p // (q * place)
        total += term
    return total


def _product(digits: list[list[int]]) -> int:
    """How many values digits have together."""
    found = 1
    for digit in _require_list(digits):
        *hashed, below = [_whole(number) for number in _require_list(digit)]
        if len(hashed) not in (1, 3) or 0 in (below, hashed[-1]):
            raise ValueError
        found = _whole(found * below)
    return found


def _words(bits: int) -> int:
    """How many words of so many bits there are, up to 32 bits."""
    if bits > _MOST:
        raise ValueError
    return 1 << bits


def _require_list(value: object) -> list[Any]:
    if type(value) is not list:
        raise ValueError
    return value


def _digits(text: object) -> int:
    """A number that is written in digits alone."""
    if type(text) is not str or not text.isascii() or not text.isdigit() or len(text) > _LONGEST:
        raise ValueError
    return int(text)


def _chance(text: object) -> int:
    """A chance over 2**64."""
    chance = _digits(text)
    if chance > _WHOLE:
        raise ValueError
    return chance


def _above(value: object) -> int:
    """A number of a schema that is not zero."""
    if _whole(value) == 0:
        raise ValueError
    return _whole(value)


def _whole(value: object) -> int:
    """A number of a schema: whole, not negative, and exact in JavaScript."""
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise ValueError
    return value


def _step(number: Any, steps: int) -> int:
    """A number from -1 to 1 in whole steps; others are clamped, and no number counts as 0."""
    if isinstance(number, bool) or not isinstance(number, Real) or isnan(number):
        return 0
    plain: Any = number
    inside = float(plain) if -1 < plain < 1 else copysign(1, plain)
    return floor(inside * steps + 0.5)


def _score(seed: int, place: int, steps: list[int]) -> int:
    """The inner product of a vector with a direction of a seed; the server makes the same one."""
    score, counter = 0, place * len(steps)
    for step in steps:
        word = _mixed((_mixed(counter & _WORD) + seed) & _WORD)
        counter += 1
        score += step * sum(_BYTES[word >> shift & 255] for shift in (0, 8, 16, 24))
    return score


def _mixed(word: int) -> int:
    word = (word ^ word >> 16) * 0x7FEB352D & _WORD
    word = (word ^ word >> 15) * 0x846CA68B & _WORD
    return word ^ word >> 16


def _byte_value(odd: int) -> int:
    """An odd polynomial: sums of four of its values are nearly normal."""
    size = abs(odd)
    value = (size * (1783121194 - 65225 * size**2 + size**4) + 150_000_000) // 300_000_000
    return value if odd > 0 else -value


_WORD = (1 << 32) - 1
_BYTES = [_byte_value(2 * byte - 255) for byte in range(256)]


def fingerprint(text: str) -> int:
    """The number that stands for a text: FNV-1a of its UTF-8 bytes, modulo a prime.

    >>> fingerprint("apples")
    827331629
    """
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % _WHOLE
    return value % TEXT_PRIME
