"""Requests to the service, over the standard library's HTTP; repeated where that is harmless.

Whatever reads, and whatever carries an Idempotency-Key, is sent again after a connection broke: the
service knows the key, and answers with the same job. What could be paid for twice is sent once.
Redirections are not followed: the token is for one address.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from discreet.client.address import ServiceAddress
from discreet.client.refusals import misread, refused_by, unreachable, untrusted
from discreet.client.token import AccessToken
from discreet.core.errors import InvalidParameter

_PAUSES = (0.1, 0.4, 1.6, 3.2)
"""Seconds before each repetition."""
_AWAY = (502, 503, 504)
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True)
class ServiceReply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The JSON of a success; a refusal is raised as the library's own error."""
        if not 200 <= self.status < 300:
            raise refused_by(self.status, self.body)
        try:
            found = json.loads(self.body)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise misread(received=f"status {self.status}")
        return found

    def text(self) -> str:
        """The text of a success."""
        if not 200 <= self.status < 300:
            raise refused_by(self.status, self.body)
        return self.body.decode()


class Transport:
    """Sends requests with one token to one address. Threads may share it."""

    def __init__(
        self,
        address: ServiceAddress,
        token: AccessToken,
        *,
        timeout: float,
        certificates: str | None,
    ) -> None:
        """Send nothing yet. ``timeout`` is how long the network may be silent, in seconds."""
        self.address = address
        self.timeout = timeout
        self._token = token
        self._trust = (
            ssl.create_default_context(cafile=certificates) if address.scheme == "https" else None
        )

    def get(self, path: str, **query: object) -> ServiceReply:
        """What the service has at a path; read again where the connection broke."""
        place = _with_query(path, query)
        return self._repeated(lambda: self._sent("GET", place))

    def post(
        self, path: str, body: object, *, key: str | None = None, **query: object
    ) -> ServiceReply:
        """Send what may be sent again: it is free, or ``key`` makes it the same job."""
        place, headers = _with_query(path, query), {} if key is None else {"Idempotency-Key": key}
        return self._repeated(lambda: self._sent("POST", place, body, headers))

    def post_once(self, path: str, body: object) -> ServiceReply:
        """Send what might be done twice: once."""
        try:
            return self._sent("POST", path, body)
        except (OSError, http.client.HTTPException) as why:
            raise unreachable(self.address, why) from None

    def delete(self, path: str) -> ServiceReply:
        """End something; ending it twice is ending it."""
        return self._repeated(lambda: self._sent("DELETE", path))

    def events(self, path: str, *, seconds: float) -> Iterator[str]:
        """Names of server-sent events as they come, as long as the connection holds.

        It breaks after so many ``seconds`` of silence.
        """
        with closing(self._connection()) as connection:
            connection.timeout = min(self.timeout, seconds)
            connection.request("GET", self.address.place(path), headers=self._headers())
            response = connection.getresponse()
            if response.status != 200:
                return
            for line in response:
                name, _, value = line.decode("utf-8", "replace").partition(":")
                if name == "event":
                    yield value.strip()

    def _repeated(self, send: Callable[[], ServiceReply]) -> ServiceReply:
        for pause in _PAUSES:
            try:
                reply = send()
            except ssl.SSLCertVerificationError:
                raise untrusted(self.address) from None
            except (OSError, http.client.HTTPException):
                time.sleep(pause)
                continue
            later = _asked_to_wait(reply)
            if later is None and reply.status not in _AWAY:
                return reply
            time.sleep(pause if later is None else later)
        try:
            return send()
        except (OSError, http.client.HTTPException) as why:
            failed = why
        raise unreachable(self.address, failed)

    def _sent(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServiceReply:
        text = None if body is None else _encoded(body)
        more = {"Content-Type": "application/json"} if text is not None else {}
        with closing(self._connection()) as connection:
            connection.request(
                method,
                self.address.place(path),
                body=text,
                headers={**self._headers(), **more, **(headers or {})},
            )
            response = connection.getresponse()
            return ServiceReply(response.status, dict(response.getheaders()), response.read())

    def _headers(self) -> dict[str, str]:
        return {"Authorization": self._token.header(), "Accept": "application/json"}

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if self._trust is None:
            return http.client.HTTPConnection(host, port, timeout=self.timeout)
        return http.client.HTTPSConnection(host, port, timeout=self.timeout, context=self._trust)


def _encoded(body: object) -> bytes:
    try:
        return json.dumps(body, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise InvalidParameter(
            code="request_not_json",
            expectation="texts, finite numbers, truth values, and lists and mappings of them",
            remedy="Convert numbers of other libraries with int() or float(); leave out NaN.",
        ) from None


def _with_query(path: str, query: Mapping[str, object]) -> str:
    given = {name: value for name, value in query.items() if value is not None}
    return f"{path}?{urlencode(given)}" if given else path


def _asked_to_wait(reply: ServiceReply) -> float | None:
    """Seconds after which the service wants to be asked again, where it says so."""
    said = {name.lower(): value for name, value in reply.headers.items()}.get("retry-after", "")
    if reply.status not in (429, *_AWAY) or not said.isdigit():
        return None
    return min(float(said), _LONGEST_PAUSE)
