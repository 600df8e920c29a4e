"""Errors that say what was expected and how to fix it, and never repeat private data.

Tree::

    DiscreetError
    ├── InvalidParameter   a public parameter is out of range or of the wrong kind
    ├── InvalidData        data lies outside the declared domain (its values are never shown)
    ├── Mismatch           two parts of a pipeline do not fit: domain, metric or unit
    ├── Unpriced           no accountant knows this event, so nothing may be claimed
    ├── NotPrivate         test mode met something that must be private
    ├── Exhausted          a mechanism or a budget has already given all it may give
    ├── EngineFailed       private data could not be read; why is for the owner's log only
    └── LedgerError        the record of spending is missing, damaged or not the one expected

Every error carries a ``code`` (stable, documented in ``docs/errors.md``), the
``expectation``, the public part of what was ``received`` and a ``remedy``.
"""

from __future__ import annotations

_MOST_BITS = 4096
"""Longer numbers are told by their length: Python refuses to write out very long ones."""


class DiscreetError(Exception):
    """Base of all errors raised on purpose by discreet.

    Contract: ``received`` is a public parameter or a type name, never a value of the data.
    """

    def __init__(
        self, *, code: str, expectation: str, remedy: str, received: object = None
    ) -> None:
        """Keep the four parts; the message is composed from them."""
        self.code = code
        self.expectation = expectation
        self.received = received
        self.remedy = remedy
        if isinstance(received, int) and received.bit_length() > _MOST_BITS:
            received = f"a number of {received.bit_length()} bits"  # too long to be written out
            self.received = received
        got = "" if received is None else f" Got {received!r}."
        super().__init__(f"[{code}] Expected {expectation}.{got} {remedy}")

    def __reduce__(self) -> tuple[object, ...]:
        """Survive pickling across processes although arguments are keyword-only."""
        parts = {
            "code": self.code,
            "expectation": self.expectation,
            "remedy": self.remedy,
            "received": self.received,
        }
        return (_rebuild, (type(self), parts))


def _rebuild(kind: type[DiscreetError], parts: dict[str, str]) -> DiscreetError:
    return kind(**parts)


class InvalidParameter(DiscreetError, ValueError):
    """A public parameter is missing, out of range or of the wrong kind."""


class InvalidData(DiscreetError, ValueError):
    """Data lies outside the declared domain; the offending value is never shown."""


class Mismatch(DiscreetError, TypeError):
    """Two parts of a pipeline do not fit together: domain, metric or privacy unit."""


class Unpriced(DiscreetError, LookupError):
    """No pricing function is registered for this event and accountant."""


class NotPrivate(DiscreetError, RuntimeError):
    """A seeded or noise-free release reached a place that accepts private ones only."""


class Exhausted(DiscreetError, RuntimeError):
    """An interactive mechanism has reached its cut-off, or a budget its limit."""


class EngineFailed(DiscreetError, RuntimeError):
    """Something went wrong after private data was opened; all such failures look alike."""


class LedgerError(DiscreetError, RuntimeError):
    """The record of spending is missing, damaged, unwritable or not the one expected."""


FAMILIES: dict[str, type[DiscreetError]] = {
    "parameter": InvalidParameter,
    "data": InvalidData,
    "mismatch": Mismatch,
    "unpriced": Unpriced,
    "not_private": NotPrivate,
    "exhausted": Exhausted,
    "engine": EngineFailed,
    "ledger": LedgerError,
    "error": DiscreetError,
}
"""The kinds of errors by the names that they have between processes; these never change."""


def family_of(error: DiscreetError) -> str:
    """The name of an error's kind.

    >>> family_of(Exhausted(code="x", expectation="less", remedy="Wait."))
    'exhausted'
    """
    return next(name for name, kind in FAMILIES.items() if isinstance(error, kind))
