"""The statement as an object, for machines and for people."""

from __future__ import annotations

import json
from typing import Self

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import from_json
from discreet.release.guarantee import guarantee_from_dict
from discreet.release.statement import layout
from discreet.release.statement.facts import FORM, StatementFacts


class Statement(StatementFacts):
    """The privacy statement of one release; as a mapping, the facts that were stored with it.

    Print it for people, :meth:`to_json` for machines.
    """

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The statement that :meth:`to_json` wrote; what follows from the facts is derived anew."""
        try:
            plain = json.loads(text)
            form = plain["form"]
            if form == FORM:
                return cls(
                    plain["facts"],
                    query=plain["question"],
                    guarantee=guarantee_from_dict(plain["guarantee"]),
                    event=from_json(json.dumps(plain["event"])),
                    confidence=plain["confidence"],
                )
        except (TypeError, ValueError, KeyError):
            form = None
        raise InvalidParameter(
            code="not_a_statement",
            expectation=f"a statement of form {FORM}, as `to_json` wrote it",
            received=form,
            remedy="Pass the text unchanged, or upgrade discreet.",
        )

    def to_markdown(self) -> str:
        """The text with headings and lists, to be published beside the answer."""
        return layout.markdown(self)

    def __str__(self) -> str:
        return layout.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        return layout.html(self)
