"""Connecting to a service with a token."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike, fspath

from discreet.client.address import ServiceAddress
from discreet.client.asking import Asking
from discreet.client.curator import RemoteCurator
from discreet.client.progress import Progress, usual_progress
from discreet.client.refusals import misread
from discreet.client.token import AccessToken
from discreet.client.transport import Transport
from discreet.core.parameters import positive


def connect(
    url: str,
    token: str | None = None,
    *,
    purpose: str | None = None,
    account: str | None = None,
    timeout: float = 60.0,
    patience: float = 600.0,
    certificates: str | PathLike[str] | None = None,
    progress: Callable[[], Progress] = usual_progress,
) -> RemoteCurator:
    """A curator at a service, asked as a local one is.

    ``token`` is looked for in the variable ``DISCREET_TOKEN`` where it is left out; it is never
    printed, and sent by https:// only, or within this machine. ``purpose`` or ``account`` say which
    of one's budgets pays, where there are several. ``timeout`` is how many seconds the network may
    be silent, ``patience`` how many an answer may take; a question that takes longer goes on, and
    ``curator.answer(job)`` waits for it again. ``certificates`` is a file of an authority of one's
    own. ``progress`` makes what is shown meanwhile: a line at terminals and in notebooks.
    """
    transport = Transport(
        ServiceAddress.parse(url),
        AccessToken(token),
        timeout=float(positive("timeout", timeout)),
        certificates=None if certificates is None else fspath(certificates),
    )
    asking = Asking(transport, patience=float(positive("patience", patience)), progress=progress)
    me = transport.get("me").json()
    if not isinstance(me.get("name"), str):
        raise misread(received="no name")
    return RemoteCurator(asking, name=me["name"], purpose=purpose, account=account)
