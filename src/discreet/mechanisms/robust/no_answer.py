"""The typed "no answer" of a mechanism whose test failed: a result, not an error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class NoAnswer:
    """A release that withholds the value because the data looked too unstable to publish it.

    Guarantee: it is one of the outcomes the mechanism's privacy covers, it costs exactly as much
    as an answer, and its reason is public. It is false, so ``if answer:`` and ``or`` read well;
    where zero is a possible answer, compare with ``isinstance``.

    >>> bool(NoAnswer()), NoAnswer()
    (False, NoAnswer(reason='test failed'))
    """

    reason: str = "test failed"

    def __bool__(self) -> bool:
        return False


NO_ANSWER = NoAnswer()
