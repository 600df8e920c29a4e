"""A token that shows itself to the service and to nobody else."""

from __future__ import annotations

import os
import re
from typing import NoReturn

from discreet.core.errors import InvalidParameter

VARIABLE = "DISCREET_TOKEN"
"""Of the environment: where a token is looked for that nobody passed."""

_FORM = re.compile(r"dsc_[0-9a-f]{64}")


class _Hidden(str):
    """A text that does not print itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'Bearer ...'"


class AccessToken:
    """Who somebody is, to the service; neither printed nor pickled."""

    __slots__ = ("_text",)

    def __init__(self, text: str | None) -> None:
        """Keep a token, or the one of the environment; one of another form is refused unseen."""
        found = os.environ.get(VARIABLE, "") if text is None else text
        if not isinstance(found, str) or not _FORM.fullmatch(found.strip()):
            raise InvalidParameter(
                code="token_misread",
                expectation="a token: dsc_ and 64 digits and letters from a to f",
                remedy=f"Pass it as connect(url, token), or set {VARIABLE}. The service's owner "
                "gives tokens out; whoever has logged in makes one.",
            )
        self._text = found.strip()

    def header(self) -> str:
        """What a request carries; a traceback that shows variables does not show it."""
        return _Hidden(f"Bearer {self._text}")

    def __repr__(self) -> str:
        """Nothing of it."""
        return "AccessToken(...)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be written anywhere."""
        raise InvalidParameter(
            code="token_not_written",
            expectation="a token that stays in this process",
            remedy="Connect again where it is needed; tokens are not pickled or copied.",
        )
