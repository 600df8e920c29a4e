"""The statement as an object, for machines and for people."""

from __future__ import annotations

import json
from typing import Self

from discreet.core.events.event import from_json
from discreet.core.foreign_text import plain_json, refusing
from discreet.release.kept_guarantee import kept_guarantee
from discreet.release.statement import layout
from discreet.release.statement.facts import FORM, StatementFacts


class Statement(StatementFacts):
    """The privacy statement of one release; as a mapping, the facts that were stored with it.

    Print it for people, :meth:`to_json` for machines.
    """

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The statement that :meth:`to_json` wrote; what follows from the facts is derived anew."""
        expected = f"a statement of form {FORM}, as `to_json` wrote it"
        with refusing(code="not_a_statement", expectation=expected):
            plain = plain_json(text)
            if plain["form"] != FORM:
                raise ValueError(plain["form"])
            event = from_json(json.dumps(plain["event"]))
            found = cls(
                plain["facts"],
                query=plain["question"],
                guarantee=kept_guarantee(plain["guarantee"], event, plain["facts"]),
                event=event,
                confidence=plain["confidence"],
            )
            found.try_words()
            return found

    def try_words(self) -> None:
        """Put everything into words once: facts that were read may be of any kind."""
        _ = str(self), self.to_json()

    def to_markdown(self) -> str:
        """The text with headings and lists, to be published beside the answer."""
        return layout.markdown(self)

    def __str__(self) -> str:
        return layout.text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """For notebooks."""
        return layout.html(self)
