"""Noisy counts of many blocks, kept outside of memory between two passes, in the order they came.

They have been released: what is written here gives nothing away that was not paid for. Each block
takes as few bytes for a count as its largest one needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import SpooledTemporaryFile
from typing import Self

import numpy as np

from discreet.core.arrays import Ints

IN_MEMORY = 1 << 26
"""Bytes that stay in memory."""


class KeptBlocks:
    """Arrays of whole numbers, written once and read in order, as often as needed.

    Contract: used in a ``with`` statement, at the end of which they are gone.
    """

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        """Keep nothing yet."""
        self._file = SpooledTemporaryFile(max_size=in_memory)  # noqa: SIM115 -- closed at the end of `with`
        self._forms: list[tuple[np.dtype[np.signedinteger], tuple[int, ...]]] = []

    def __enter__(self) -> Self:
        """Ready to keep."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forget all of them."""
        self._file.close()

    def keep(self, block: Ints) -> None:
        """Append a block."""
        reach = max(abs(int(block.min(initial=0))), abs(int(block.max(initial=0))))
        kind = np.dtype(np.min_scalar_type(-reach - 1))
        self._file.write(block.astype(kind).tobytes())
        self._forms.append((kind, block.shape))

    def read_blocks(self) -> Iterator[Ints]:
        """All blocks, from the first."""
        place = 0
        for kind, shape in self._forms:
            self._file.seek(place)
            content = self._file.read(kind.itemsize * int(np.prod(shape)))
            place += len(content)
            yield np.frombuffer(content, dtype=kind).astype(np.int64).reshape(shape)
