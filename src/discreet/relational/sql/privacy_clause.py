"""``SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(...)``: the price and the person, in BigQuery's words.

ZetaSQL's former clause, ``WITH ANONYMIZATION OPTIONS(...)``, says the same; its ``kappa`` is the
number of groups.

The clause is found among the tokens of the text, never inside strings or comments, and taken out;
what is left is read as any other question. Its options may only confirm or narrow what the owner
declared: a question cannot choose whose privacy is protected.

Source: contract, "Spending"; the clause as GoogleSQL documents it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import sqlglot
from sqlglot import Token, TokenType

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.core.unit import Person, Replace, add_remove
from discreet.relational.bounding.person_limits import PersonLimits
from discreet.relational.functions.casts import REAL_FORM
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import Query
from discreet.relational.sql.dialect import QueryDialect
from discreet.relational.sql.relation import unsupported

_LONGEST = 300
"""Digits of a whole number; longer ones are read as reals, which must be finite."""
_KNOWN = (
    "epsilon, delta, max_groups_contributed (or kappa), max_rows_contributed, "
    "privacy_unit_column, group_selection_strategy, min_privacy_units_per_group"
)
_CLAUSES = ("DIFFERENTIAL_PRIVACY", "ANONYMIZATION")
_PUBLIC, _THRESHOLD = "PUBLIC_GROUPS", "LAPLACE_THRESHOLD"


@dataclass(frozen=True)
class Clause:
    """What the clause says. ``person`` is a column, perhaps after its table's name or alias."""

    spend: Guarantee
    max_groups: int | None = None
    max_rows: int | None = None
    person: tuple[str, ...] | None = None
    groups: str | None = None
    by_alias: bool = False
    min_people: int | None = None

    def narrowed(self, query: Query) -> Query:
        """The question with bounds at most as wide as declared, about the declared person."""
        if self.person is not None:
            self._require_person(query)
        if self.groups == _PUBLIC and isinstance(query.keys, DiscoveredKeys):
            raise InvalidParameter(
                code="clause_groups",
                expectation=f"keys with a public list where group_selection_strategy is {_PUBLIC}",
                received="keys that are to be discovered",
                remedy=f"Write {_THRESHOLD}, which discovers them, or group by a listed key.",
            )
        if self.min_people is not None:
            query = _shown_from(query, self.min_people)
        bounds = {"max_groups": self.max_groups, "max_rows": self.max_rows}
        for name, value in bounds.items():
            if value is not None:
                query = query.with_limits(partial(_narrowed, name=name, value=value))
        return query

    def _require_person(self, query: Query) -> None:
        assert self.person is not None
        *table, column = (part.lower() for part in self.person)
        for scan in [scan for part in query.parts for scan in scans(part.rows)]:
            named = scan.identifier is not None and scan.route is None
            if (
                named
                and column == (scan.identifier or "").lower()
                and (self.by_alias or table in ([], [scan.table.lower()]))
            ):
                return
        known = sorted({scan.identifier for scan in scans(query.rows) if scan.identifier})
        raise InvalidParameter(
            code="clause_unit",
            expectation=f"privacy_unit_column to be the declared identifier, {known or 'none'}",
            received=".".join(self.person),
            remedy="The owner declares whose privacy is protected, with unit=dp.Person(...); name "
            "that column, or leave the option out.",
        )


def opened(text: str) -> tuple[str, Clause | None]:
    """The text without the clause, and what the clause said; unchanged without one."""
    if not isinstance(text, str) or not any(name in text.upper() for name in _CLAUSES):
        return text, None
    try:
        tokens = sqlglot.tokenize(text, read=QueryDialect)
    except sqlglot.errors.SqlglotError:
        return text, None  # refused as any other text that cannot be read
    found = [place for place in range(len(tokens) - 2) if _begins(tokens[place : place + 3])]
    if not found:
        return text, None
    if len(found) > 1:
        raise unsupported(
            construct=f"WITH {tokens[found[-1] + 2].text.upper()} twice",
            remedy="Write it once: it is the price of the whole question, wherever it stands.",
        )
    first = found[0] + 1
    last, options = _options(tokens, first + 2)
    begins, ends = tokens[first].start, tokens[last].end + 1
    blank = re.sub(r"[^\n]", " ", text[begins:ends])  # what follows stays where it was
    rest = text[:begins] + blank + text[ends:]
    clause = _clause(options)
    return rest, replace(clause, by_alias=_is_alias(clause.person, tokens))


def _is_alias(person: tuple[str, ...] | None, tokens: Sequence[Token]) -> bool:
    """Whether what stands before the person's column is a name given in the text itself."""
    if person is None or len(person) == 1:
        return False
    given = (TokenType.ALIAS, TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN)
    return any(
        after.text.lower() == person[0].lower() and token.token_type in given
        for token, after in pairwise(tokens)
    )


def agreed(
    clause: Clause | None, spend: Guarantee | None, accuracy: object | None
) -> Guarantee | None:
    """The spend of the clause or of the call; both at once are refused."""
    if clause is None:
        return spend
    if spend is None and accuracy is None:
        return clause.spend
    raise InvalidParameter(
        code="spend_twice",
        expectation="a price in OPTIONS(epsilon=...) or in spend= or accuracy=, not in two places",
        received=clause.spend,
        remedy="Leave out spend= and accuracy=, or the clause.",
    )


def _begins(three: Sequence[Token]) -> bool:
    return (
        three[0].token_type is TokenType.SELECT
        and three[1].token_type is TokenType.WITH
        and three[2].token_type is TokenType.VAR
        and three[2].text.upper() in _CLAUSES
    )


def _options(tokens: Sequence[Token], place: int) -> tuple[int, dict[str, list[Token]]]:
    """Where OPTIONS(...) ends, and the tokens of each option's value."""
    begins = [token.text.upper() for token in tokens[place : place + 2]] == [
        "OPTIONS",
        "(",
    ] and tokens[place].token_type is TokenType.VAR
    if not begins:
        raise _option(received="no OPTIONS(...)")
    options: dict[str, list[Token]] = {}
    place += 2
    while place < len(tokens) and tokens[place].token_type is not TokenType.R_PAREN:
        name = tokens[place].text.lower()
        if name in options or [t.token_type for t in tokens[place + 1 : place + 2]] != [
            TokenType.EQ
        ]:
            raise _option(received=name)
        place += 2
        value = options[name] = []
        ends, depth = (TokenType.COMMA, TokenType.R_PAREN), 0
        while place < len(tokens) and (depth or tokens[place].token_type not in ends):
            depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[place].token_type, 0)
            value.append(tokens[place])
            place += 1
        if place < len(tokens) and tokens[place].token_type is TokenType.COMMA:
            place += 1
    if place >= len(tokens):
        raise _option(received="OPTIONS( without )")
    return place, options


def _clause(options: dict[str, list[Token]]) -> Clause:
    read: dict[str, Callable[[str, list[Token]], Any]] = {
        "epsilon": _number,
        "delta": _number,
        "max_groups_contributed": _limit,
        "kappa": _limit,
        "max_rows_contributed": _limit,
        "privacy_unit_column": _column,
        "group_selection_strategy": _strategy,
        "min_privacy_units_per_group": _limit,
    }
    for name in options:
        if name not in read:
            raise _option(received=name)
    said = {name: read[name](name, value) for name, value in options.items()}
    if "epsilon" not in said:
        raise _option(received="no epsilon")
    if "kappa" in said and "max_groups_contributed" in said:
        raise _option(received="kappa beside max_groups_contributed")
    epsilon, delta = said["epsilon"], said.get("delta", 0)
    return Clause(
        ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon),
        said.get("max_groups_contributed", said.get("kappa")),
        said.get("max_rows_contributed"),
        said.get("privacy_unit_column"),
        said.get("group_selection_strategy"),
        min_people=said.get("min_privacy_units_per_group"),
    )


def _shown_from(query: Query, people: int) -> Query:
    """The query with keys that at least so many people have; of keys that are discovered."""
    if not isinstance(query.keys, DiscoveredKeys):
        raise InvalidParameter(
            code="clause_groups",
            expectation="keys that are discovered beside min_privacy_units_per_group",
            received="keys with a public list",
            remedy="Leave it out: listed keys appear whoever has them.",
        )
    return replace(query, keys=replace(query.keys, min_people=max(people, query.keys.min_people)))


def _number(name: str, tokens: list[Token]) -> int | float:
    kinds = [token.token_type for token in tokens]
    text = "".join(token.text for token in tokens)
    spelled = kinds in ([TokenType.NUMBER], [TokenType.DOT, TokenType.NUMBER])
    if not spelled or not re.fullmatch(REAL_FORM, text, re.ASCII):
        raise _option(received=f"{name} that is not a number")
    return int(text) if text.isdigit() and len(text) <= _LONGEST else float(text)


def _limit(name: str, tokens: list[Token]) -> int | None:
    """A number of groups or rows; NULL leaves it as the owner declared it."""
    if [token.token_type for token in tokens] == [TokenType.NULL]:
        return None
    value = _number(name, tokens)
    if not isinstance(value, int) or value < 1:
        raise _option(received=f"{name} that is not a whole number of at least one")
    return value


def _strategy(name: str, tokens: list[Token]) -> str:
    """How groups are chosen: by a noisy threshold where they are not public, or all public ones."""
    said = [token.text.upper() for token in tokens]
    if len(said) != 1 or said[0] not in (_PUBLIC, _THRESHOLD):
        raise _option(received=f"{name} other than {_THRESHOLD} or {_PUBLIC}")
    return said[0]


def _column(name: str, tokens: list[Token]) -> tuple[str, ...]:
    if [token.text for token in (*tokens[:1], *tokens[-1:])] == ["(", ")"]:
        tokens = tokens[1:-1]
    parts, dots = tokens[::2], tokens[1::2]
    words = all(token.token_type in (TokenType.VAR, TokenType.IDENTIFIER) for token in parts)
    dotted = all(token.token_type is TokenType.DOT for token in dots)
    if len(parts) not in (1, 2) or len(dots) != len(parts) - 1 or not (words and dotted):
        raise _option(received=f"{name} that is not a column")
    return tuple(token.text for token in parts)


def _narrowed(query: Query, *, name: str, value: int) -> Query:
    unit, limits = query.unit, query.limits
    person = add_remove(unit)
    declared = getattr(person, name, None)
    if isinstance(person, Person) and limits is not None:
        declared = getattr(limits.bounding(person), name)
    if not isinstance(person, Person) or (declared is not None and value > declared):
        raise InvalidParameter(
            code="clause_bound",
            expectation=f"{name}_contributed of at most what the owner declared"
            if isinstance(person, Person)
            else f"no {name}_contributed where each row is a unit",
            received=(value, declared),
            remedy="Ask for the declared bound or less, or leave the option out.",
        )
    bounds: dict[str, Any] = {name: value}
    narrower = replace(person, **bounds)
    if limits is not None:
        limits = PersonLimits.of(replace(limits.bounding(person), **bounds))
    return replace(
        query, unit=Replace(narrower) if isinstance(unit, Replace) else narrower, limits=limits
    )


def _option(*, received: str) -> InvalidParameter:
    return InvalidParameter(
        code="clause_option",
        expectation=f"WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=...), and of options only {_KNOWN}",
        received=received,
        remedy="Write OPTIONS(epsilon=1, delta=1e-6). Keys are public here, or discovered as the "
        "owner declared: there is no threshold or least number of people to set.",
    )
