"""One connection: messages in, within bounds of size and time, and bytes out.

A message must be complete soon after its first byte, and what is sent must be taken soon: whoever
is slower is let go. Between messages a client may be silent for the session's idle time.
"""

from __future__ import annotations

import asyncio

from discreet.server.wire.messages import (
    LONGEST_SECRET,
    Message,
    PasswordMessage,
    ProtocolViolation,
    SaslBegun,
    length_of,
    read_message,
    read_password,
    read_sasl,
)

_PIECE = 64 * 1024
"""Bytes that wait to be sent together."""


class ConnectionClosed(Exception):
    """Nobody is there any more."""


class ClientTimeout(Exception):
    """A message was begun and not finished, or nobody took what was sent, or nobody said a word."""


class WireStream:
    """Reads messages and collects what is to be sent."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        patience: float,
        longest: int,
    ) -> None:
        """Read from ``reader``, messages of at most ``longest`` bytes."""
        self._reader, self._writer = reader, writer
        self._patience, self._longest = patience, longest
        self._waiting: list[bytes] = []
        self._size = 0

    async def password(self) -> PasswordMessage:
        """The one message that somebody who is not let in may send."""
        letter = await self._exactly(1, self._patience)
        return read_password(letter, await self._body(LONGEST_SECRET))

    async def sasl(self) -> SaslBegun:
        """The mechanism that somebody chose who is not let in, and what comes with it."""
        letter = await self._exactly(1, self._patience)
        return read_sasl(letter, await self._body(LONGEST_SECRET))

    async def sasl_more(self) -> bytes:
        """What somebody says next who is not let in."""
        if await self._exactly(1, self._patience) != b"p":
            raise ProtocolViolation
        return await self._body(LONGEST_SECRET)

    async def message(self, idle: float) -> Message:
        """The next message."""
        letter = await self._exactly(1, idle)
        return read_message(letter, await self._body(self._longest))

    async def _body(self, most: int) -> bytes:
        try:
            async with asyncio.timeout(self._patience):
                header = await self._reader.readexactly(4)
                return await self._reader.readexactly(length_of(header, most=most))
        except TimeoutError:
            raise ClientTimeout from None
        except (asyncio.IncompleteReadError, OSError):
            raise ConnectionClosed from None

    async def _exactly(self, count: int, seconds: float) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                return await self._reader.readexactly(count)
        except TimeoutError:
            raise ClientTimeout from None
        except (asyncio.IncompleteReadError, OSError):
            raise ConnectionClosed from None

    async def queue_bytes(self, *parts: bytes) -> None:
        """Collect bytes, and send them where there are many."""
        self._waiting += parts
        self._size += sum(map(len, parts))
        if self._size > _PIECE:
            await self.flush()

    async def flush(self) -> None:
        """Send what was collected, and wait until it is taken."""
        together, self._waiting, self._size = b"".join(self._waiting), [], 0
        try:
            async with asyncio.timeout(self._patience):
                self._writer.write(together)
                await self._writer.drain()
        except TimeoutError:
            raise ClientTimeout from None
        except OSError:
            raise ConnectionClosed from None

    def drop(self) -> None:
        """Let go of what was collected and not sent."""
        self._waiting, self._size = [], 0

    async def close(self) -> None:
        """End the connection."""
        self._writer.close()
        try:
            async with asyncio.timeout(1):
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self._writer.transport.abort()
