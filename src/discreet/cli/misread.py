"""A refusal with the place in a text that it is about."""

from __future__ import annotations

from discreet.core.errors import DiscreetError, InvalidParameter


class Misread(InvalidParameter):
    """A refusal with the place in the text that it is about."""

    def __init__(self, refusal: DiscreetError, text: str, start: int, end: int) -> None:
        """Keep the refusal's parts; ``start`` and ``end`` count characters of ``text``."""
        super().__init__(
            code=refusal.code,
            expectation=refusal.expectation,
            received=refusal.received,
            remedy=refusal.remedy,
        )
        self.text, self.start, self.end = text, start, max(end, start + 1)

    def pointer(self, width: int = 70) -> str:
        """The text around the place, with signs below it."""
        begin = max(0, min(self.start - width // 2, len(self.text) - width))
        line = self.text[begin : begin + width]
        length = max(1, min(self.end - begin, len(line)) - (self.start - begin))
        return f"{line}\n{' ' * (self.start - begin)}{'^' * length}"
