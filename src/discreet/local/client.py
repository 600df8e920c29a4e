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
Source: 004a:C1, C5–C9, C31. Proof: ``proofs/local.md``.
"""

from __future__ import annotations

import json
import os
from typing import Any

FORMAT = "discreet.local/1"
TEXT_PRIME = 2147483647
_WHOLE = 1 << 64
_BITS = 320
_MOST = 32


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
        self._oracle = document["oracle"]
        if self._oracle["kind"] not in _KINDS:
            raise Refused(code="local_schema_kind", expectation="an oracle that is known here")
        labels = document["domain"].get("labels")
        self._labels = None if labels is None else {label: i for i, label in enumerate(labels)}
        self._check_chances()
        self.question = f"{document['name']}/{document['version']}"
        self.memory: dict[str, Any] = {} if memory is None else memory

    def _check_chances(self) -> None:
        if not _keeps_its_word(self._schema):
            raise Refused(
                code="local_schema_chances", expectation="chances that keep the schema's epsilon"
            )

    @property
    def held(self) -> int | None:
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

    def _payload(self, index: int) -> Any:
        randomise = _KINDS[self._oracle["kind"]]
        if not self._schema["memoised"]:
            return randomise(self, self._oracle, index)
        kept = self.memory.setdefault(self.question, {})
        if kept.get("value") != index:
            kept["report"] = randomise(self, self._oracle, index)
            kept["value"] = index
        again = self._oracle.get("again")
        if again is None:
            return kept["report"]
        cohort, bits = kept["report"]
        held = [bool(byte >> bit & 1) for byte in bytes.fromhex(bits) for bit in range(8)]
        return [cohort, self._unary(again, held[: self._oracle["cells"]])]

    def _index(self, value: object) -> int:
        domain = self._schema["domain"]
        if domain.get("text"):
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
        a, b, c, d = oracle["hashes"][row]
        cell = (a * index + b) % oracle["prime"] % oracle["cells"]
        if oracle["signed"]:
            cell = 2 * cell + (c * index + d) % oracle["prime"] % 2
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


_KINDS = {
    "direct": Client._direct,
    "unary": Client._one_hot,
    "hashing": Client._hashing,
    "hadamard": Client._hadamard,
    "subset": Client._subset,
    "wave": Client._wave,
    "mean": Client._mean,
    "one_of": Client._one_of,
    "sketch": Client._sketch,
    "bloom": Client._bloom,
}


def _keeps_its_word(schema: dict[str, Any]) -> bool:
    """Whether no two values of the domain are told apart by more than exp(epsilon)."""
    try:
        domain = schema["domain"]
        labels = domain.get("labels")
        size = (
            TEXT_PRIME
            if domain.get("text")
            else _whole(domain["size"] if labels is None else len(labels))
        )
        _whole(schema["version"])
        return _within(schema["oracle"], size, _exp_below(schema["epsilon"]))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return False


def _within(oracle: dict[str, Any], values: int, most: int) -> bool:
    """Whether ratios of chances are at most ``most`` over 2**320, for so many values."""
    kind = oracle["kind"]
    if kind == "one_of":
        parts = [(part["oracle"], _product(part["digits"])) for part in oracle["parts"]]
        return bool(parts) and all(_within(inner, below, most) for inner, below in parts)
    if kind == "sketch":
        for numbers in oracle["hashes"]:
            _ = [_whole(number) for number in numbers]
        cells = _whole(oracle["cells"]) * (2 if oracle["signed"] else 1)
        return _whole(oracle["prime"]) > 0 and _within(oracle["inner"], cells, most)
    if kind in ("unary", "bloom"):
        one, zero = int(oracle["one"]), int(oracle["zero"])
        pairs = 1
        if kind == "bloom":
            _ = [_whole(number) for row in oracle["cohorts"] for pair in row for number in pair]
            pairs = max(len(row) for row in oracle["cohorts"])
        possible = 0 < one < _WHOLE and 0 < zero < _WHOLE
        return possible and _alike(one * (_WHOLE - zero), zero * (_WHOLE - one), pairs, most)
    keep, size = int(oracle["keep"]), values
    if kind == "hashing":
        near, far = 1, _whole(oracle["cells"]) - 1
    elif kind == "hadamard":
        near, far = 1, _words(_whole(oracle["rows"])) - 1
    else:
        size = _whole(oracle["size"])
        near, far = 1, size - 1
        if kind == "subset":
            near, far = _whole(oracle["chosen"]), size - _whole(oracle["chosen"])
        elif kind == "wave":
            near = 2 * _whole(oracle["reach"]) + 1
        elif kind == "mean":
            far = 1
    return values <= size and _alike(keep * far, (_WHOLE - keep) * near, 1, most)


def _alike(one: int, other: int, power: int, most: int) -> bool:
    """Whether neither of two chances is too many times the other, ``power`` times over."""
    low, high = sorted((one, other))
    return low > 0 and high**power << _BITS <= most * low**power


def _exp_below(epsilon: str) -> int:
    """Not above exp(epsilon) times 2**320: its series, with every term rounded down."""
    above, _, under = epsilon.partition("/")
    p, q = int(above), int(under or "1")
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
    for digit in digits:
        *hashed, below = [_whole(number) for number in digit]
        if len(hashed) not in (1, 3) or 0 in (below, hashed[-1]):
            raise ValueError
        found *= below
    return found


def _words(bits: int) -> int:
    """How many words of so many bits there are, up to 32 bits."""
    if bits > _MOST:
        raise ValueError
    return 1 << bits


def _whole(value: object) -> int:
    """A number of a schema: whole, not negative, and exact in JavaScript."""
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise ValueError
    return value


def fingerprint(text: str) -> int:
    """The number that stands for a text: FNV-1a of its UTF-8 bytes, modulo a prime.

    >>> fingerprint("apples")
    827331629
    """
    value = 0xCBF29CE484222325
    for byte in text.encode("utf-8"):
        value = (value ^ byte) * 0x100000001B3 % _WHOLE
    return value % TEXT_PRIME
