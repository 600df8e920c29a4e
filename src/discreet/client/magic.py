"""``%%discreet`` in notebooks: a cell of SQL is asked, and its answer shown.

It asks the variable ``curator`` of the notebook, local or connected; ``--on`` names another.
IPython is loaded by whoever writes ``%load_ext discreet``, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP

NAME = "discreet"
_NUMBERS = ("epsilon", "delta", "rho")
_WORDS = ("purpose", "into", "on")
_OPTION = re.compile(r"""--(?P<name>[a-z]+)(?:[ =]+(?P<value>"[^"]*"|'[^']*'|[^\s-]\S*))?\s*""")


@dataclass(frozen=True)
class MagicOptions:
    """What stands behind ``%%discreet``: options, and SQL after them.

    Attributes:
        numbers: Those of the price.
        words: Purpose, the variable to keep the answer in, the variable to ask.
        preview: Whether the errors are wanted and not the answer.
        text: The rest.
    """

    numbers: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    preview: bool = False
    text: str = ""

    @classmethod
    def parse(cls, line: str) -> MagicOptions:
        """Read options up to the first word that is none.

        >>> MagicOptions.parse("--epsilon 0.5 --into n SELECT 1").text
        'SELECT 1'
        """
        rest = line.strip()
        numbers: dict[str, float] = {}
        words: dict[str, str] = {}
        preview = False
        while rest.startswith("--"):
            found = _OPTION.match(rest)
            name = found["name"] if found else ""
            if found and name == "preview":
                preview, rest = True, rest[len("--preview") :].lstrip()
                continue
            if not found or found["value"] is None or name not in (*_NUMBERS, *_WORDS):
                raise _misread(received=rest.split(maxsplit=1)[0])
            value = found["value"].strip("\"'")
            if name in _NUMBERS:
                numbers[name] = _number(name, value)
            else:
                words[name] = value
            rest = rest[found.end() :]
        into = words.get("into", "answer")
        if not into.isidentifier():
            raise _misread(received=f"--into {into}")
        return cls(numbers, words, preview, rest)

    @property
    def spend(self) -> Guarantee | None:
        """The price; None where the text states it, or nobody does."""
        match self.numbers:
            case {"epsilon": epsilon, "delta": delta, **rest} if not rest:
                return ApproxDP(epsilon=epsilon, delta=delta)
            case {"epsilon": epsilon, **rest} if not rest:
                return PureDP(epsilon=epsilon)
            case {"rho": rho, **rest} if not rest:
                return ZCDP(rho=rho)
            case {}:
                if not self.numbers:
                    return None
        raise _misread(received=" ".join(f"--{name}" for name in self.numbers))


def register(shell: Any) -> None:
    """Teach a shell of IPython the word ``discreet``, for lines and cells."""
    from IPython.core.error import UsageError

    def discreet(line: str, cell: str | None = None) -> Any:
        """Ask a curator in SQL, in a cell or behind the options of a line.

        --epsilon E, --epsilon E --delta D or --rho R state the price; --purpose P what for;
        --into VARIABLE keeps the answer; --on CURATOR asks another variable than ``curator``;
        --preview tells the errors and costs nothing. Alone it says what remains.
        """
        try:
            return answer_line_or_cell(shell.user_ns, line, cell)
        except DiscreetError as refusal:
            raise UsageError(str(refusal)) from refusal

    shell.register_magic_function(discreet, magic_kind="line_cell", magic_name=NAME)


def answer_line_or_cell(space: dict[str, Any], line: str, cell: str | None) -> Any:
    """What a line or a cell asks, answered; kept in a variable of the notebook where it says so."""
    options = MagicOptions.parse(line)
    if cell is not None and options.text:
        raise _misread(received=options.text.split(maxsplit=1)[0])
    text = options.text if cell is None else cell.strip()
    curator = _curator(space, options.words.get("on", "curator"))
    if not text:
        return curator.remaining
    try:
        if options.preview:
            answer = curator.preview(text, spend=options.spend)
        else:
            purpose = options.words.get("purpose")
            answer = curator.sql(text, spend=options.spend, purpose=purpose)
    except InvalidParameter as refusal:
        if refusal.code != "spend_or_accuracy":
            raise
        raise InvalidParameter(
            code=refusal.code,
            expectation="a price; there is no usual one",
            remedy="Write %discreet --epsilon 0.5, or --rho, before the question.",
        ) from None
    if "into" in options.words:
        space[options.words["into"]] = answer
    return answer


def _curator(space: Mapping[str, Any], name: str) -> Any:
    found = space.get(name)
    if not callable(getattr(found, "sql", None)) or isinstance(found, type):
        raise InvalidParameter(
            code="magic_without_curator",
            expectation=f"a curator in the variable {name}",
            received=type(found).__name__,
            remedy=f"Write {name} = discreet.connect(url, token) in a cell before, or name another "
            "variable: --on NAME.",
        )
    return found


def _number(name: str, value: str) -> float:
    try:
        return float(value)
    except ValueError:
        raise _misread(received=f"--{name} {value}") from None


def _misread(*, received: str) -> InvalidParameter:
    return InvalidParameter(
        code="magic_misread",
        expectation="options --epsilon, --delta, --rho, --purpose, --into, --on with a value, or "
        "--preview; SQL in the cell, or after the options of a line",
        received=received,
        remedy="Write %%discreet --epsilon 0.5 --into answer, and the question below it.",
    )
