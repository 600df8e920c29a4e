"""Which rows of a person count: a systematic sample in the order of their cells.

Rows are looked at as the cells they lie in; rows in the same cells are alike, and it does not
matter which of them is kept. So what is kept of a person is a function of that person's own cells
and the salt: never of the order of the file, nor of other people.

Source: contract, "Bounding inside the engine".
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.person_key import PersonKey, is_missing, person_key
from discreet.synthetic.encoding.encoded_column import Codes


def kept_rows(
    codes: Codes, people: Sequence[Any], *, max_rows: int, salt: bytes
) -> NDArray[np.bool_]:
    """Which rows are kept: at most ``max_rows`` of each person, none of nobody's.

    Guarantee: with one person's rows added or removed, the kept rows of all others are the same;
    each of a person's n rows is kept with chance min(1, max_rows / n).
    """
    kept = np.zeros(len(codes), dtype=np.bool_)
    numbers: dict[PersonKey, int] = {}
    owner = np.array(
        [
            -1 if is_missing(each) else numbers.setdefault(person_key(each), len(numbers))
            for each in people
        ],
        dtype=np.int64,
    )
    offsets = np.array([_offset(each, salt) for each in numbers], dtype=np.float64)
    owned = np.flatnonzero(owner >= 0)
    if not len(owned):
        return kept
    order = owned[np.lexsort((*codes[owned].T[::-1], owner[owned]))]
    sorted_owner = owner[order]
    first = np.searchsorted(sorted_owner, np.arange(len(numbers)), side="left")
    counts = np.bincount(sorted_owner, minlength=len(numbers))
    place = np.arange(len(order)) - first[sorted_owner]
    # A grid of max_rows points with a common random offset, of which a row takes those it covers.
    of = counts[sorted_owner]
    reach = max_rows / of
    before = np.floor(place * reach + offsets[sorted_owner])
    after = np.floor((place + 1) * reach + offsets[sorted_owner])
    chosen = (of <= max_rows) | (after > before)
    kept[order[chosen & (_place_among_chosen(chosen, sorted_owner) < max_rows)]] = True
    return kept


def _place_among_chosen(chosen: NDArray[np.bool_], owner: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rows of the same person were chosen before: the last bound, whatever rounding."""
    running: NDArray[np.int64] = np.cumsum(chosen) - chosen
    first = np.searchsorted(owner, owner, side="left")
    return np.asarray(running - running[first], dtype=np.int64)


def _offset(person: PersonKey, salt: bytes) -> float:
    """From [0, 1), by a salted hash of the identifier."""
    kind, value = person
    text = f"{kind}:{value}".encode(errors="surrogatepass")
    digest = hashlib.blake2b(text, key=salt, digest_size=8).digest()
    return (int.from_bytes(digest, "little") >> 11) * 2.0**-53
