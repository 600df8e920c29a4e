"""The lines of a text file: one line is one record, whatever else the file holds.

A reader of CSV goes on over the end of a line where a quote is open, and takes a bare carriage
return for an end: one person's line could swallow, or multiply, the lines of others. So no reader
sees such a line. A line is *plain* if it ends as the header does, is not empty and not longer than
``LONGEST_LINE``, is UTF-8 without NUL or bare carriage returns, has as many fields as the header,
and quotes only whole fields (RFC 4180, on one line). Any other line is fixed by itself, from its
own bytes alone, into a plain one or into none.

Guarantee: which line follows or precedes decides nothing about how a line is read.

Source: contract, "Columns".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

LONGEST_LINE = 1 << 16
"""Bytes; a longer line is no record. A reader holds thousands of lines at once."""

_BLOCK = 1 << 20
_FEED, _RETURN, _QUOTE = 10, 13, 34
_UNREADABLE = (b"\0", b"\r")


@dataclass(frozen=True)
class Lines:
    """How the lines of one file are divided: what is public about them, from the header."""

    separator: bytes
    width: int
    ending: bytes

    def plain(self, block: bytes) -> bool:
        """Whether all lines of ``block``, each with its end, are plain: ``odd``, but faster."""
        if not block.endswith(b"\n") or b"\0" in block or not (block.isascii() or _is_text(block)):
            return False
        codes = np.frombuffer(block, np.uint8)
        divided, feeds = codes == self.separator[0], codes == _FEED
        if not self._windows and b"\r" in block:
            return False
        if self._windows and not np.array_equal((codes == _RETURN)[:-1], feeds[1:]):
            return False
        if b'"' in block:
            quotes = codes == _QUOTE
            inside = np.bitwise_xor.accumulate(quotes)
            borders = divided | feeds | quotes
            if self._windows:
                borders |= codes == _RETURN
            misplaced = ~borders[:-1] & (quotes & inside)[1:]
            misplaced |= (quotes & ~inside)[:-1] & ~borders[1:]
            if misplaced.any() or (inside & feeds).any():
                return False
            divided &= ~inside
        marks = np.flatnonzero(divided | feeds)
        ends = marks[self.width - 1 :: self.width]
        if len(marks) != self.width * np.count_nonzero(feeds) or not feeds[ends].all():
            return False
        lengths = np.diff(ends, prepend=-1) - 1
        return bool(lengths.min() > self._windows and lengths.max() <= LONGEST_LINE)

    def odd(self, block: bytes) -> NDArray[np.intp]:
        """The places in ``block``, whole lines, of the lines that are not plain."""
        codes = np.frombuffer(block, np.uint8)
        feeds = codes == _FEED
        ends = np.flatnonzero(feeds)
        if not block.endswith(b"\n"):
            ends = np.append(ends, len(block))
        starts = np.concatenate(([0], ends[:-1] + 1))
        bad = (ends == starts) | (ends - starts > LONGEST_LINE)
        if b"\0" in block:
            bad[np.searchsorted(ends, np.flatnonzero(codes == 0))] = True
        if self._windows or b"\r" in block:
            bad |= self._misreturned(codes, starts, ends)
        try:
            block.decode()
        except UnicodeDecodeError:
            for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
                bad[place] |= not _is_text(block[start:end])
        divided = codes == self.separator[0]
        if b'"' in block:
            quotes, misquoted = self._quoted(codes, starts, ends)
            bad |= misquoted
            # Quotes of lines that are odd anyway must not count for the lines after them.
            kept = np.zeros(len(codes), np.uint8)
            kept[quotes[~bad[np.searchsorted(ends, quotes)]]] = 1
            divided &= np.bitwise_xor.accumulate(kept) == 0
        marks = np.flatnonzero(divided | feeds)
        if len(marks) != self.width * len(ends) or not np.all(
            feeds[marks[self.width - 1 :: self.width]]
        ):
            places = np.flatnonzero(divided)
            before = np.searchsorted(places, starts)
            bad |= np.searchsorted(places, ends) - before != self.width - 1
        return np.flatnonzero(bad)

    def fixed(self, line: bytes) -> bytes | None:
        """A plain line instead of ``line``, or None if it is no record.

        Missing fields at the end are NULL, and so is a field that is not UTF-8 or has a NUL or a
        carriage return in it; fields beyond the header's are left out. A quote that does not
        begin or end a field is part of its text. An empty line and one that is too long are none.
        """
        line = line.removesuffix(b"\r")
        if not line or len(line) > LONGEST_LINE:
            return None
        tokens = islice(self._token.finditer(line + self.separator), self.width)
        fields = [self._field(*token.groups()) for token in tokens]
        fields += [self._null] * (self.width - len(fields))
        return self.separator.join(fields)

    @property
    def _windows(self) -> bool:
        return self.ending == b"\r\n"

    @cached_property
    def _token(self) -> re.Pattern[bytes]:
        end = re.escape(self.separator)
        # Possessive: each byte is looked at a bounded number of times, whatever the line holds.
        return re.compile(
            rb'"((?:[^"]++|"")*+)"' + end + rb"|([^" + end + rb"]*+)" + end, re.DOTALL
        )

    @property
    def _null(self) -> bytes:
        return b'""' if self.width == 1 else b""

    def _field(self, quoted: bytes | None, bare: bytes | None) -> bytes:
        text = quoted if quoted is not None else (bare or b"").replace(b'"', b'""')
        if not _is_text(text) or any(sign in text for sign in _UNREADABLE):
            return self._null
        if quoted is not None or b'"' in text:
            return b'"' + text + b'"'
        return text or self._null

    def _misreturned(
        self, codes: NDArray[np.uint8], starts: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Lines with a carriage return elsewhere than where the header has it."""
        returns = np.bincount(
            np.searchsorted(ends, np.flatnonzero(codes == _RETURN)), minlength=len(ends)
        )
        if not self._windows:
            return np.asarray(returns > 0)
        last = codes[np.maximum(ends - 1, 0)] == _RETURN
        bad: NDArray[np.bool_] = (returns != 1) | ~last | (starts + 1 == ends)
        if ends[-1] == len(codes):  # the last line of the file, without an end
            bad[-1] = returns[-1] > 0
        return bad

    def _quoted(
        self, codes: NDArray[np.uint8], starts: NDArray[np.intp], ends: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Places of quotes, and lines in which one opens or closes elsewhere than a field does.

        Within a line quotes open and close by turns; a doubled one closes and opens again.
        """
        quotes = np.flatnonzero(codes == _QUOTE)
        lines = np.searchsorted(ends, quotes)
        first = np.searchsorted(quotes, starts)
        opening = (np.arange(len(quotes)) - first[lines]) % 2 == 0
        before = codes[np.maximum(quotes - 1, 0)]
        after = codes[np.minimum(quotes + 1, len(codes) - 1)]
        separator = self.separator[0]
        begins = (quotes == starts[lines]) | (before == separator) | (before == _QUOTE)
        finishes = (quotes + 1 == ends[lines]) | (after == separator) | (after == _QUOTE)
        if self._windows:
            finishes |= after == _RETURN
        bad = np.zeros(len(ends), np.bool_)
        bad[lines[~np.where(opening, begins, finishes)]] = True
        return quotes, bad | (np.bincount(lines, minlength=len(ends)) % 2 == 1)


def blocks(file: BinaryIO) -> Iterator[bytes]:
    """The rest of a file in blocks of whole lines; of a line without end, its beginning."""
    rest = b""
    while data := file.read(_BLOCK):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
        rest = rest[: LONGEST_LINE + 1]
    if rest:
        yield rest


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
