"""Random questions with conditions on public rows and with the words of other systems.

Each step here says by other words what a plan can do already: membership in public rows, semi and
anti joins, NATURAL JOIN, INTERSECT and EXCEPT, groups of public rows, order that has no effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.fuzz.grammar import NUMBER, TEXT, TRUTH, WHOLE
from tests.fuzz.relations import Questions, Relation
from tests.fuzz.vocabulary import LINES, PUBLIC, SETS, merged, qualified


class Clauses(Questions):
    """Draws questions from every step, those of :class:`Questions` and these."""

    def steps_there_are(self) -> list[str]:
        """Names of steps, as often as they are to be drawn."""
        found = [*super().steps_there_are(), "among", "among", "groups", "ordered", "written"]
        found += ["natural_public"]
        if self.people:
            found += ["semi", "natural", "sets"]
        return found

    def _among(self, depth: int) -> Relation:
        """Rows whose values are, or are not, among those of a public table."""
        below = self.relation(depth - 1)
        condition = self._membership(below)
        if condition is None:
            return below
        if self._chance(0.25, "public or"):
            self.clauses.add("public or")
            condition = f"({condition} OR {self.grown(below, TRUTH, 1)})"
        return self._projected(below, "", f" WHERE {condition}")

    def _membership(self, below: Relation) -> str | None:
        """One condition on a public table."""
        name = self.draw.choice(sorted(PUBLIC))
        columns, kind, key = PUBLIC[name]
        if not below.of(kind):
            return None
        value, alias = self.draw.choice(below.of(kind)), self._alias()
        inner = self.grown(Relation("", qualified(columns, alias)), TRUTH, 1)
        source = f"{name} AS {alias}"
        two = next((each for each in _TWO if self._wants(each)), "")
        if name == "p" and below.of(WHOLE) and self._chance(0.3, two):
            other = self.draw.choice(below.of(WHOLE))
            word = self._pick(("IN", "EXISTS", "NOT EXISTS"), "public {}, two columns")
            if word == "IN":
                return f"({value}, {other}) IN (SELECT {alias}.w, {alias}.weight FROM {source})"
            return (
                f"{word} (SELECT 1 FROM {source} WHERE {alias}.w = {value} AND "
                f"{other} = {alias}.weight)"
            )
        word = self._pick(("IN", "NOT IN", "EXISTS", "NOT EXISTS"), "public {}")
        if word.endswith("IN"):
            where = f" WHERE {inner}" if self._chance(0.7) else ""
            return f"{value} {word} (SELECT {alias}.{key} FROM {source}{where})"
        return f"{word} (SELECT 1 FROM {source} WHERE {alias}.{key} = {value} AND {inner})"

    def _semi(self, depth: int) -> Relation:
        """Semi and anti joins, with rows of the same people or with public ones."""
        below = self.relation(depth - 1)
        word, alias = self.draw.choice(("SEMI", "ANTI", "LEFT SEMI", "LEFT ANTI")), self._alias()
        kind = word.rpartition(" ")[2].lower()
        if below.of(TEXT) and self._chance(0.3):
            self.clauses.add(f"public {kind} join")
            on = f"{self.draw.choice(below.of(TEXT))} = {alias}.w"
            return self._projected(_beside(below, f"{word} JOIN p AS {alias} ON {on}"), "", "")
        names = [name for name in self.tables if name in ("t", "u")]
        if below.person is None or not names:
            return below
        name = self.draw.choice(names)
        self.clauses.add(f"{kind} join")
        if below.text.endswith(f" AS {below.person.partition('.')[0]}") and self._chance(0.4):
            return self._projected(
                _beside(below, f"{word} JOIN {name} AS {alias} USING (pid)"), "", ""
            )
        on = f"{below.person} = {alias}.pid"
        if self._chance(0.5):
            on += (
                f" AND {self.grown(Relation('', qualified(self._columns(name), alias)), TRUTH, 1)}"
            )
        return self._projected(_beside(below, f"{word} JOIN {name} AS {alias} ON {on}"), "", "")

    def _natural(self, depth: int) -> Relation:
        """Two selections of the same people, which share the person's column alone."""
        left = self._projected(self.relation(depth - 1), "", "")
        if left.person is None or "u" not in self.tables:
            return left
        alias, word, tally = self._alias(), self._name(), self._name()
        text = f"(SELECT pid, k AS {word}, v AS {tally} FROM u) AS {alias}"
        right = Relation(text, {TEXT: [f"{alias}.{word}"], WHOLE: [f"{alias}.{tally}"]})
        join = self._pick(("NATURAL JOIN", "NATURAL LEFT JOIN"))
        columns = merged(left.columns, right.columns)
        return Relation(f"{left.text} {join} {right.text}", columns, left.person)

    def _natural_public(self, depth: int) -> Relation:
        """A table beside the public table that shares one column with it."""
        if "t" not in self.tables:
            return self.relation(depth - 1)
        own, alias = self._alias(), self._alias()
        name = self.draw.choice(sorted(PUBLIC))
        columns, _, key = PUBLIC[name]
        self.clauses.add("public natural join")
        there = merged(
            _but(qualified(self._columns("t"), own), f"{own}.{key}"),
            _but(qualified(columns, alias), f"{alias}.{key}"),
        )
        person = f"{own}.pid" if self.people else None
        return Relation(f"t AS {own} NATURAL JOIN {name} AS {alias}", there, person)

    def _sets(self, depth: int) -> Relation:
        """People who are in one selection and in or not in another; words among public ones."""
        below, alias = self.relation(depth - 1), self._alias()
        if below.of(TEXT) and self._chance(0.4):
            word = self._pick(("INTERSECT", "EXCEPT"), "public {}")
            text = (
                f"(SELECT {self.draw.choice(below.of(TEXT))} AS s FROM {below.text} {word} "
                f"SELECT w FROM p) AS {alias}"
            )
            return Relation(text, {TEXT: [f"{alias}.s"]})
        names = [name for name in self.tables if name in ("t", "u")]
        if below.person is None or not names:
            return below
        word = self._pick(("INTERSECT", "EXCEPT"))
        other, name = self._alias(), self.draw.choice(names)
        inner = self.grown(Relation("", qualified(self._columns(name), other)), TRUTH, 1)
        where = f" WHERE {inner}" if self._chance(0.5) else ""
        text = (
            f"(SELECT {below.person} AS pid FROM {below.text} {word} "
            f"SELECT {other}.pid FROM {name} AS {other}{where}) AS {alias}"
        )
        return Relation(text, {})

    def _groups(self, depth: int) -> Relation:
        """Beside the groups of a public table, each once."""
        below, alias = self.relation(depth - 1), self._alias()
        if not below.of(TEXT):
            return below
        self.clauses.add("public group")
        on = f"{self.draw.choice(below.of(TEXT))} = {alias}.w"
        above = merged(below.columns, {TEXT: [f"{alias}.w"]})
        text = f"{below.text} JOIN (SELECT w FROM p GROUP BY w) AS {alias} ON {on}"
        return Relation(text, above, below.person)

    def _ordered(self, depth: int) -> Relation:
        """Rows in an order that has no effect."""
        below = self.relation(depth - 1)
        places = [name for kind in (WHOLE, TEXT) for name in below.of(kind)]
        if not places:
            return below
        self.clauses.add("inner order")
        return self._projected(below, "", f" ORDER BY {self.draw.choice(places)} DESC")

    def _written(self, depth: int) -> Relation:
        """Beside constants that are selected without FROM."""
        below, alias = self.relation(depth - 1), self._alias()
        self.clauses.add("constants union")
        written = f"(SELECT 1 AS a, 'A' AS b UNION ALL SELECT 2, 'B') AS {alias}"
        above = merged(below.columns, {WHOLE: [f"{alias}.a"], TEXT: [f"{alias}.b"]})
        return Relation(f"{below.text} CROSS JOIN {written}", above, below.person)


class PlainlyAsked(Clauses):
    """The same steps under plain aggregates and short expressions, which are seldom refused."""

    def grown(self, over: Relation, kind: str, depth: int) -> str:
        """An expression of one step at most."""
        return super().grown(over, kind, min(depth, self.draw.choice((0, 1))))

    def number(self, over: Relation) -> str:
        """A number with near bounds."""
        columns = [*over.of(WHOLE), *over.of(NUMBER)] or ["1"]
        return f"least(greatest({self.draw.choice(columns)}, -3), 5)"

    def _keys(self, over: Relation) -> list[str]:
        """At most one, of which the values are known as a rule."""
        found = [*over.of(TEXT), *over.of(TRUTH)]
        found = [name for name in found if name.rpartition(".")[2] != "note"]
        if any(self._wants(word) for word in SETS):
            return self.draw.sample(found, min(len(found), 2))
        return [self.draw.choice(found)] if found and self._chance(0.4) else []

    def _aggregate(self, over: Relation) -> str:
        made = ["COUNT(*)", "COUNT(*)"]
        if over.person:
            made.append(f"COUNT(DISTINCT {over.person})")
        if over.of(WHOLE) or over.of(NUMBER):
            value, line = self.number(over), self.draw.choice(LINES)
            made += [f"SUM({value})", f"AVG({value})", f"MEDIAN({value})"]
            made += [f"{line}({value}, {self.number(over)})"]
            made += [f"SAFE_DIVIDE(SUM({value}), COUNT(*))", *self._more(over)]
        text = self._chosen(made)
        self.clauses.add(text.partition("(")[0])
        return text


_TWO = tuple(f"public {word}, two columns" for word in ("in", "exists", "not exists"))


def _beside(below: Relation, join: str) -> Relation:
    """The same columns after a join that adds none."""
    return Relation(f"{below.text} {join}", below.columns, below.person)


def _but(columns: Mapping[str, Sequence[str]], name: str) -> dict[str, list[str]]:
    return {kind: [each for each in names if each != name] for kind, names in columns.items()}
