"""Text that came from somewhere else: JSON as it is written here, and refusals of all the rest.

Whoever reads a saved file knows nothing about who wrote it. What is no file of ours ends in a
refusal with a code, whatever it makes of the program that reads it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from discreet.core.errors import DiscreetError, InvalidParameter


def plain_json(text: str) -> Any:
    """What a text of JSON holds; NaN and infinite numbers, which are none in JSON, are refused.

    >>> plain_json('{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    """
    return json.loads(text, parse_constant=_refuse)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


@contextmanager
def refusing(*, code: str, expectation: str) -> Iterator[None]:
    """Turn whatever a foreign text ends in into one refusal; refusals in words stay as they are."""
    try:
        yield
    except DiscreetError:
        raise
    except Exception as error:  # whatever a foreign text does: it is not ours
        raise InvalidParameter(
            code=code,
            expectation=expectation,
            received=type(error).__name__,
            remedy="Pass the file unchanged, or upgrade discreet.",
        ) from None
