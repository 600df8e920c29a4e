"""What a form sends: fields by name, numbers read, nothing guessed."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import parse_qs

from pydantic import BaseModel, ValidationError
from starlette.requests import Request

from discreet.core.errors import InvalidParameter

Model = TypeVar("Model", bound=BaseModel)
_MOST_FIELDS = 200


class FormFields:
    """The fields of a form; one that is left empty is not there."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        """Keep the fields."""
        self._fields = fields

    def text(self, name: str) -> str:
        """A field without blanks around it, its lines as they were typed; empty if not there."""
        return self._fields.get(name, [""])[0].replace("\r\n", "\n").strip()

    def secret(self, name: str) -> str:
        """A password, as it is."""
        return self._fields.get(name, [""])[0]

    def maybe(self, name: str) -> str | None:
        """A field that may be left empty."""
        return self.text(name) or None

    def every(self, name: str) -> list[str]:
        """All values of a field, one for each line of it too."""
        told = [line.strip() for each in self._fields.get(name, []) for line in each.splitlines()]
        return [each for each in told if each]

    def number(self, name: str) -> float | None:
        """A number, or None where the field is empty."""
        said = self.text(name)
        if not said:
            return None
        try:
            return float(said)
        except ValueError:
            raise _no_number(name, said) from None

    def whole(self, name: str) -> int | None:
        """A whole number, or None where the field is empty."""
        said = self.text(name)
        if not said:
            return None
        try:
            return int(said)
        except ValueError:
            raise _no_number(name, said) from None

    def values(self) -> dict[str, str]:
        """What was written into each field, to be shown again."""
        return {name: self.text(name) for name in self._fields if name != "csrf"}


async def read_form(request: Request) -> FormFields:
    """The form of a request."""
    body = await request.body()
    try:
        text = body.decode("utf-8", "strict")
        found = parse_qs(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="strict")
        if any("\x00" in value for values in found.values() for value in values):
            raise ValueError  # databases do not keep it
        return FormFields(found)
    except ValueError:
        raise InvalidParameter(
            code="form_misread",
            expectation=f"a form of at most {_MOST_FIELDS} fields, as pages here send it",
            remedy="Load the page again.",
        ) from None


def checked(model: type[Model], **fields: Any) -> Model:
    """What a form says, as the API takes it; a field that is left empty is left out."""
    try:
        return model.model_validate({n: v for n, v in fields.items() if v is not None})
    except ValidationError as mistakes:
        first = mistakes.errors()[0]
        raise InvalidParameter(
            code="request_misread",
            expectation=f"a form with what is needed in it: {first['msg']}",
            received=".".join(str(part) for part in first["loc"])[:200],
            remedy="Correct that field.",
        ) from None


def _no_number(name: str, said: str) -> InvalidParameter:
    return InvalidParameter(
        code="form_number",
        expectation=f"a number in the field {name}",
        received=said[:64],
        remedy="Write for instance 0.5.",
    )
