"""Only the living copy of a ledger is added to: whoever writes asks the fence first.

A key file without a fence gets one from the first ledger that is opened or written with it. A
ledger that was renamed, or put back in its own place, stays the living one, and the fence follows.
Reading is free: a back-up can be verified whatever the fence says.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from discreet.ledger.errors import key_wrong, superseded
from discreet.ledger.fence import Fence, Place, fence_of, secret_of
from discreet.ledger.fence_file import FenceFile
from discreet.ledger.key import OwnerKey

if TYPE_CHECKING:
    from discreet.ledger.chain import Chain


class Living:
    """Asks the fence of one key file for one ledger."""

    def __init__(self, file: FenceFile | None, here: Callable[[], Place | None]) -> None:
        """Look at nothing yet; ``here`` says where the ledger lies, None if it is not there."""
        self._file = file
        self._here = here

    @contextmanager
    def held(self, chain: Chain) -> Iterator[Fence | None]:
        """Keep the fence where it is throughout; None where there is none.

        Refused where the fence says that another copy lives. Whether the chain contains the
        fence's entry is for the caller to ask, once it reads.
        """
        while self._file is not None:
            with self._file.shared() as content:
                fence, here = None if content is None else fence_of(content), self._here()
                if content is None or here is None or (fence and fence.place == here):
                    yield fence  # a ledger that is not there is for the store to miss
                    return
            if not self._settled(self._file, chain):
                break
        yield None

    def _settled(self, file: FenceFile, chain: Chain) -> bool:
        """Put the fence around this copy, if it may be; False where no fence can be kept."""
        with file.alone() as content:
            here = self._here()
            if content is None or here is None:
                return True
            fence = fence_of(content)
            if fence is None:
                with chain.reading() as last:
                    if OwnerKey(secret_of(content)).identity != chain.owner().identity:
                        raise key_wrong()
                    return file.put(content, Fence(last.head, here))
            if not fence.place.is_also(here):
                raise superseded(fence.place.text)
            with chain.reading():
                chain.require_head(fence.head, "the entry that the owner's key names")
            return file.put(content, replace(fence, place=here))


UNFENCED = Living(None, lambda: None)
"""For ledgers whose key is no file: there is no place for a fence, and one copy is the owner's to
see to."""
