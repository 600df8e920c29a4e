"""Refusals of the service as the library's own errors, and those of the way to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.core.errors import FAMILIES, DiscreetError


class ServiceUnreachable(DiscreetError, ConnectionError):
    """The service could not be reached, or answered with what is no answer of it."""


class StillWaiting(DiscreetError, TimeoutError):
    """An answer did not come within one's patience; ``received`` is the job that goes on."""


def refused(plain: Mapping[str, Any]) -> DiscreetError:
    """What the service refused, as the library's own error."""
    family = FAMILIES.get(str(plain.get("family")), DiscreetError)
    parts = {name: str(plain[name]) for name in ("code", "expectation", "remedy")}
    return family(**parts, received=plain.get("received"))


def refused_by(status: int, body: bytes) -> DiscreetError:
    """What a response says that is none of success."""
    try:
        plain = json.loads(body)
        return refused(plain)
    except (ValueError, KeyError, TypeError, AttributeError):
        return misread(received=f"status {status}")


def misread(*, received: str) -> ServiceUnreachable:
    """Somebody else answered, or half of an answer came."""
    return ServiceUnreachable(
        code="reply_misread",
        expectation="an answer of a discreet service",
        received=received,
        remedy="Look whether the address is the service's own, and its version that of this "
        "library; a proxy may stand between.",
    )


def unreachable(address: object, why: BaseException) -> ServiceUnreachable:
    """Nobody answered, however often it was tried."""
    return ServiceUnreachable(
        code="service_unreachable",
        expectation=f"a service that answers at {address}",
        received=type(why).__name__,
        remedy="Try again when it is there. What was asked may have been paid for: the same "
        "question again is then answered for nothing.",
    )


def untrusted(address: object) -> ServiceUnreachable:
    """Somebody answered whose certificate nobody vouches for."""
    return ServiceUnreachable(
        code="certificate_untrusted",
        expectation=f"a certificate for {address} that this machine trusts",
        remedy="Name the authority's file: connect(url, token, certificates='authority.pem').",
    )


def still_waiting(job: str, seconds: float, phase: str) -> StillWaiting:
    """The job goes on; it can be asked for again."""
    return StillWaiting(
        code="still_waiting",
        expectation=f"an answer within {seconds:g} seconds; the question is {phase}",
        received=job,
        remedy="It goes on. curator.answer(error.received) waits for it again, at no further "
        "charge; curator.cancel(error.received) gives it up.",
    )


def cancelled(job: str) -> DiscreetError:
    """Somebody gave the question up."""
    return DiscreetError(
        code="job_cancelled",
        expectation="a question that nobody gave up",
        received=job,
        remedy="Ask again. What was charged stays charged.",
    )
