"""Random nested questions: every step of a plan over the tables of ``neighbours``, at random depth.

A relation is what may stand in FROM, with its columns by kind. Each step puts one around others;
columns that it computes are expressions of the grammar, bounded as analysts bound them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from discreet.relational.aggregates.function import Argument
from discreet.relational.aggregates.registry import FUNCTIONS
from tests.fuzz.grammar import DAY, KINDS, NUMBER, TEXT, TRUTH, WHOLE, Grammar
from tests.fuzz.vocabulary import (
    BOUNDED,
    ELEMENTS,
    ITEMS,
    KEYS,
    LINES,
    LISTED,
    MARKS,
    OVER_DIFFERENT,
    PUBLIC,
    SEPARATORS,
    SETS,
    STATISTICS,
    STORED,
    U,
    merged,
    qualified,
)


@dataclass(frozen=True)
class Relation:
    """What may stand in FROM, the columns above it by kind, and the person's, if rows have one."""

    text: str
    columns: Mapping[str, Sequence[str]]
    person: str | None = None

    def of(self, kind: str) -> Sequence[str]:
        """Columns of one kind."""
        return self.columns.get(kind, ())


@dataclass
class Questions:
    """Draws questions. ``tables`` are private; ``people`` says whether rows have persons.

    ``focus`` names functions that expressions are to be about, ``steps`` those of a plan, and
    ``unlisted`` columns of which nobody lists the values; ``derived`` are columns by kind that the
    owner of ``t`` added. ``clauses`` are those of the last question, and ``wanted`` those that are
    to be drawn first, wherever there is a choice.
    """

    draw: random.Random
    tables: Sequence[str]
    people: bool
    focus: Sequence[str] = ()
    steps: Sequence[str] = ()
    unlisted: Sequence[str] = ()
    derived: Mapping[str, Sequence[str]] = field(default_factory=dict)
    wanted: Collection[str] = ()
    made: int = 0
    clauses: set[str] = field(default_factory=set)
    _open: list[str] = field(default_factory=list)

    def query(self, depth: int) -> str:
        """A question around a relation of at most this depth."""
        self._open, self.clauses = [], set()
        asked = self.relation(depth)
        keys = self._keys(asked)
        where = f" WHERE {self.grown(asked, TRUTH, 2)}" if self._chance(0.3) else ""
        group = f" GROUP BY {self._grouped(keys)}" if keys else ""
        with_ = f"WITH {', '.join(self._open)} " if self._open else ""
        if where:
            self.clauses.add("where")
        if keys:
            self.clauses.add("group")
        if keys and self._chance(0.15, "top"):
            self.clauses.add("top")
            by = "COUNT(*)" if asked.person is None else f"COUNT(DISTINCT {asked.person})"
            start, end = self._most("1")
            start = f"{self._clause()}{start}"
            return (
                f"{with_}SELECT{start} {', '.join(keys)} FROM {asked.text}{where}{group} "
                f"ORDER BY {by} DESC{end}"
            )
        found = [self._aggregate(asked) for _ in range(self.draw.randint(1, 3))]
        named = [*keys, *(f"{text} AS a{place}" for place, text in enumerate(found))]
        start, end = "", ""
        if self._chance(0.15):
            self.clauses |= {"having", "order"}
            start, end = self._most("5")
            end = (" HAVING a0 > 0 ORDER BY a0" if keys else " ORDER BY 1") + end
        start = f"{self._clause()}{start}"
        return f"{with_}SELECT{start} {', '.join(named)} FROM {asked.text}{where}{group}{end}"

    def _clause(self) -> str:
        """BigQuery's clause, which narrows bounds; its price is not read here."""
        if not self._chance(0.08, "max_groups_contributed"):
            return ""
        self.clauses.add("max_groups_contributed")
        rows = self.draw.choice(("", ", max_rows_contributed = 2"))
        options = f"epsilon = 1, max_groups_contributed = {self.draw.randint(1, 3)}{rows}"
        return f" WITH DIFFERENTIAL_PRIVACY OPTIONS({options})"

    def _grouped(self, keys: Sequence[str]) -> str:
        """The keys, or several sets of them at once."""
        words = [word for word in SETS if self._wants(word)]
        if not words and not self._chance(0.1):
            return ", ".join(keys)
        word = self.draw.choice(words or SETS)
        self.clauses.add(word)
        if word == "GROUPING SETS":
            return f"GROUPING SETS (({', '.join(keys)}), ({keys[0]}), ())"
        return f"{word} ({', '.join(keys)})"

    def _wants(self, clause: str) -> bool:
        """Whether a clause is to be drawn first, and this question does not have it yet."""
        return clause in self.wanted and clause not in self.clauses

    def _most(self, count: str) -> tuple[str, str]:
        """TOP at the start or LIMIT at the end."""
        word = self.draw.choice(("TOP", "LIMIT"))
        self.clauses.add(word)
        return (f" TOP {count}", "") if word == "TOP" else ("", f" LIMIT {count}")

    def steps_there_are(self) -> list[str]:
        """Names of steps, as often as they are to be drawn."""
        steps = ["select", "select", "distinct", "union", "union", "public", "constants"]
        steps += ["elements", "elements"]
        steps += ["common", "every"]
        if self.people:
            steps += ["people", "features", "features", "windows", "subqueries"]
        if {"t", "u"} <= set(self.tables):
            steps.append("by_key")
        return steps

    def relation(self, depth: int) -> Relation:
        """Rows after random steps."""
        if depth <= 0 or self._chance(0.1):
            return self._table()
        steps = self.steps_there_are()
        wanted = [name for name in steps if name in self.steps]
        chosen = self.draw.choice(wanted or steps)
        made: Relation = getattr(self, f"_{chosen}")(depth)
        return made

    def grown(self, over: Relation, kind: str, depth: int) -> str:
        """An expression over the columns of a relation."""
        grammar = Grammar(self.draw, over.columns)
        for _ in range(3 if self.focus and depth else 0):
            found, text, _ = grammar.about(
                self.draw.choice(self.focus), self.draw.randint(1, depth)
            )
            if {found, kind} <= {NUMBER, WHOLE} or found == kind:
                return text
        return grammar.grown(kind, depth)

    def number(self, over: Relation) -> str:
        """A number with bounds, as a rule; sums of others are refused."""
        match self.draw.randrange(8):
            case 0 | 1:
                return self.draw.choice([*over.of(WHOLE), *over.of(NUMBER)] or ["1"])
            case 2:
                return self.grown(over, NUMBER, 2)
        ends = self.draw.choice(("-3), 5", "0), 1", "-2e9), 1", "-1e100), 1e100", "-0.5), 0.25"))
        bounded = f"least(greatest({self.grown(over, NUMBER, 2)}, {ends})"
        whole = "0.25" not in ends and self._chance(0.5)
        return f"CAST({bounded} AS BIGINT)" if whole else bounded

    # Steps ---------------------------------------------------------------------------------------

    def _table(self) -> Relation:
        name = self.draw.choice(self.tables)
        alias = self._alias()
        columns = self._columns(name)
        person = f"{alias}.pid" if self.people and name != "items" else None
        return Relation(f"{name} AS {alias}", qualified(columns, alias), person)

    def _columns(self, name: str) -> Mapping[str, Sequence[str]]:
        """Of a private table, with those that its owner derives."""
        stored = {"t": STORED, "u": U, "items": ITEMS}[name]
        return merged(stored, self.derived) if name == "t" else stored

    def _select(self, depth: int) -> Relation:
        below = self.relation(depth - 1)
        if self._chance(0.4, "inner where"):
            self.clauses.add("inner where")
            where = f" WHERE {self.grown(below, TRUTH, 2)}"
        else:
            where = ""
        return self._projected(below, "", where)

    def _every(self, depth: int) -> Relation:
        """SELECT *, where names are distinct."""
        alias = self._alias()
        name = self.draw.choice([name for name in self.tables if name != "items"] or ["items"])
        columns = self._columns(name)
        person = f"{alias}.pid" if self.people and name != "items" else None
        text = f"(SELECT * FROM {name} WHERE TRUE) AS {alias}"
        return Relation(text, qualified(columns, alias), person)

    def _distinct(self, depth: int) -> Relation:
        self.clauses.add("distinct")
        return self._projected(self.relation(depth - 1), "DISTINCT ", "", person=self._chance(0.5))

    def _common(self, depth: int) -> Relation:
        """A common table, named once or twice."""
        self.clauses.add("with")
        made = self._projected(self.relation(depth - 1), "", "")
        body, _, alias = made.text.rpartition(" AS ")
        names = sorted((name for kind in KINDS for name in made.of(kind)), key=_number)
        if made.person is not None:
            names.insert(0, made.person)
        if self._chance(0.5, "with names"):
            self.clauses.add("with names")
            renamed = [name.replace(f"{alias}.c", f"{alias}.n") for name in names]
            made = _called(made, dict(zip(names, renamed, strict=True)))
            listed = ", ".join(name.partition(".")[2] for name in renamed)
            self._open.append(f"{alias} ({listed}) AS {body}")
        else:
            self._open.append(f"{alias} AS {body}")
        if made.person is None or not self._chance(0.4):
            return Relation(alias, made.columns, made.person)
        other = self._alias()
        twin = {
            kind: [n.replace(f"{alias}.", f"{other}.") for n in made.of(kind)] for kind in KINDS
        }
        on = f"{made.person} = {made.person.replace(f'{alias}.', f'{other}.')}"
        return Relation(
            f"{alias} JOIN {alias} AS {other} ON {on}", merged(made.columns, twin), made.person
        )

    def _union(self, depth: int) -> Relation:
        """Branches with columns of the same kinds; UNION without ALL drops repeated rows."""
        kinds = [self.draw.choice((WHOLE, NUMBER, TEXT, TRUTH, WHOLE)) for _ in range(2)]
        branches = [self.relation(depth - 1 - n) for n in range(self.draw.choice((2, 2, 3)))]
        owned = all(branch.person for branch in branches) and self._chance(0.8)
        names = [self._name() for _ in kinds]
        texts = []
        for branch in branches:
            items = [f"{branch.person} AS pid"] if owned else []
            items += [f"{self._value(branch, k)} AS {n}" for k, n in zip(kinds, names, strict=True)]
            texts.append(f"SELECT {', '.join(items)} FROM {branch.text}")
        word = self._pick(("UNION ALL", "UNION ALL", "UNION ALL", "UNION"))
        alias = self._alias()
        columns: dict[str, list[str]] = {}
        for kind, name in zip(kinds, names, strict=True):
            columns.setdefault(kind, []).append(f"{alias}.{name}")
        person = f"{alias}.pid" if owned and word == "UNION ALL" else None
        return Relation(f"({f' {word} '.join(texts)}) AS {alias}", columns, person)

    def _public(self, depth: int) -> Relation:
        below = self.relation(depth - 1)
        name = self.draw.choice(sorted(PUBLIC))
        columns, kind, key = PUBLIC[name]
        alias = self._alias()
        if not below.of(kind):
            return below
        join = self._pick(("JOIN", "LEFT JOIN"), "public {}")
        on = f"{self.draw.choice(below.of(kind))} = {alias}.{key}"
        above = merged(below.columns, qualified(columns, alias))
        if join == "JOIN" and self._chance(0.4):
            more = self.grown(Relation("", above), TRUTH, 1)
            on = f"{on} AND {more}" if self._chance(0.7) else more
        return Relation(f"{below.text} {join} {name} AS {alias} ON {on}", above, below.person)

    def _constants(self, depth: int) -> Relation:
        """Beside rows that the question itself writes down, of which some share a key."""
        below = self.relation(depth - 1)
        alias = self._alias()
        columns = {WHOLE: [f"{alias}.a"], TEXT: [f"{alias}.b"]}
        join = self.draw.choice(("JOIN", "LEFT JOIN", "CROSS JOIN"))
        on = ""
        if join != "CROSS JOIN":
            if not below.of(WHOLE):
                return below
            on = f" ON {self.draw.choice(below.of(WHOLE))} = {alias}.a"
        self.clauses.add(f"constants {join.lower()}")
        word = self.draw.choice([each for each in LISTED if self._wants(each)] or LISTED)
        self.clauses.add(word)
        written = f"(VALUES (1, 'A'), (2, 'B'), (2, 'C'), (NULL, 'A')) AS {alias}(a, b)"
        if word != "VALUES":
            columns = {WHOLE: [f"{alias}.a"]}
            listed = "UNNEST([1, 2, 2, NULL])" if word == "UNNEST" else "generate_series(0, 6, 3)"
            written = f"{listed} AS {alias}(a)"
        above = merged(below.columns, columns)
        return Relation(f"{below.text} {join} {written}{on}", above, below.person)

    def _elements(self, depth: int) -> Relation:
        """Beside the elements of a text, of which a public number counts."""
        below = self.relation(depth - 1)
        if not below.of(TEXT):
            return below
        way = self.draw.choice([w for w in ELEMENTS if self._wants(f"unnest {w}")] or ELEMENTS)
        split = f"string_split({self.draw.choice(below.of(TEXT))}, {self.draw.choice(SEPARATORS)})"
        most, alias, name, place = self.draw.randint(1, 4), self._alias(), self._name(), ""
        self.clauses.add(f"unnest {way}")
        if way == "selected":
            items = [f"{below.person} AS pid"] if below.person else []
            items += [f"unnest({split}[1:{most}]) AS {name}"]
            own = self._name()
            items += [f"{self._value(below, WHOLE)} AS {own}"]
            made = {TEXT: [f"{alias}.{name}"], WHOLE: [f"{alias}.{own}"]}
            text = f"(SELECT {', '.join(items)} FROM {below.text}) AS {alias}"
            return Relation(text, made, f"{alias}.pid" if below.person else None)
        named = f"{alias}({name})"
        join = {
            "slice": f"CROSS JOIN UNNEST({split}[1:{most}]) AS {named}",
            "declared": f"CROSS JOIN UNNEST({split}) AS {named}",
            "lateral": f"JOIN LATERAL unnest({split}[1:{most}]) AS {named} ON TRUE",
            "left": f"LEFT JOIN UNNEST({split}[1:{most}]) AS {named} ON TRUE",
        }.get(way)
        if join is None:
            place = self._name()
            join = f"JOIN UNNEST({split}) AS {named} WITH OFFSET AS {place} ON {place} < {most}"
            if way == "ordinality":
                named = f"{alias}({name}, {place})"
                join = f"JOIN UNNEST({split}) WITH ORDINALITY AS {named} ON {place} <= {most}"
        columns = {TEXT: [f"{alias}.{name}"], WHOLE: [f"{alias}.{place}"] if place else []}
        return Relation(f"{below.text} {join}", merged(below.columns, columns), below.person)

    def _people(self, depth: int) -> Relation:
        left, right = self.relation(depth - 1), self.relation(depth - 2)
        if left.person is None or right.person is None or " " not in right.text:
            return left
        if " JOIN " in outside(right.text):
            right = self._projected(right, "", "")
        join = self._pick(("JOIN", "JOIN", "LEFT JOIN"), "people {}")
        on = f"{left.person} = {right.person}"
        if left.of(TEXT) and right.of(TEXT) and join == "JOIN" and self._chance(0.3):
            on += f" AND {left.of(TEXT)[0]} = {right.of(TEXT)[0]}"
        columns = merged(left.columns, right.columns)
        return Relation(f"{left.text} {join} {right.text} ON {on}", columns, left.person)

    def _by_key(self, depth: int) -> Relation:
        names = [self.draw.choice(("t", "u")) for _ in range(2)]
        left, right = self._alias(), self._alias()
        keys = [self.draw.choice(KEYS[name]) for name in names]
        join = self._pick(("JOIN", "LEFT JOIN"), "key {}")
        columns = merged(
            *({**qualified(self._columns(n), a)} for n, a in zip(names, (left, right), strict=True))
        )
        on = f"{left}.{keys[0]} = {right}.{keys[1]}"
        return Relation(f"{names[0]} AS {left} {join} {names[1]} AS {right} ON {on}", columns)

    def _features(self, depth: int) -> Relation:
        below = self.relation(depth - 1)
        if below.person is None:
            return below
        value, words = self.number(below), [*below.of(TEXT), *below.of(TRUTH), *below.of(WHOLE)]
        order = [*below.of(DAY), *below.of(WHOLE), *below.of(NUMBER)]
        makers: list[Callable[[], tuple[str, str]]] = [
            lambda: (WHOLE, "COUNT(*)"),
            lambda: (NUMBER, f"SUM({value})"),
            lambda: (NUMBER, f"AVG({value})"),
            lambda: (NUMBER, f"MIN({value})"),
            lambda: (NUMBER, f"MAX({value}) FILTER (WHERE {self.grown(below, TRUTH, 1)})"),
            lambda: (NUMBER, f"{self.draw.choice(STATISTICS)}({value})"),
            lambda: (TRUTH, f"{self.draw.choice(('BOOL_OR', 'BOOL_AND'))}({value} > 0)"),
        ]
        if words:
            makers.append(lambda: (WHOLE, f"COUNT(DISTINCT {self.draw.choice(words)})"))
        listed = [name for name in below.of(TEXT) if not name.endswith("note")]
        if listed:
            makers.append(lambda: (TEXT, f"MODE({self.draw.choice(listed)})"))
        if order and listed:
            makers.append(
                lambda: (
                    TEXT,
                    f"{self.draw.choice(('ARG_MAX', 'ARG_MIN'))}({self.draw.choice(listed)}, "
                    f"{self.draw.choice(order)})",
                )
            )
        if order and below.of(TEXT):
            makers.append(
                lambda: (
                    TEXT,
                    f"{self.draw.choice(('FIRST', 'LAST'))}({self.draw.choice(below.of(TEXT))} "
                    f"ORDER BY {self.draw.choice(order)})",
                )
            )
        alias, columns, items = self._alias(), {}, [f"{below.person} AS pid"]
        made: dict[str, list[str]] = {}
        for _ in range(self.draw.randint(1, 3)):
            kind, text = self.draw.choice(makers)()
            name = self._name()
            items.append(f"{text} AS {name}")
            made.setdefault(kind, []).append(f"{alias}.{name}")
        columns, by = made, [str(below.person)]
        if words and self._chance(0.35, "features by key"):
            kind = self.draw.choice([k for k in (TEXT, TRUTH, WHOLE) if below.of(k)])
            key, name = self.draw.choice(below.of(kind)), self._name()
            by.append(key)
            items.append(f"{key} AS {name}")
            columns.setdefault(kind, []).append(f"{alias}.{name}")
            self.clauses.add("features by key")
        having = " HAVING COUNT(*) > 1" if self._chance(0.35, "inner having") else ""
        self.clauses.add("features")
        if having:
            self.clauses.add("inner having")
        text = f"(SELECT {', '.join(items)} FROM {below.text} GROUP BY {', '.join(by)}{having})"
        return Relation(f"{text} AS {alias}", columns, f"{alias}.pid")

    def _windows(self, depth: int) -> Relation:
        """Windows over each person's rows, beside columns of their own."""
        below = self.relation(depth - 1)
        order = [*below.of(DAY), *below.of(WHOLE), *below.of(NUMBER)]
        if below.person is None or not order:
            return below
        way = self.draw.choice(("", " DESC"))
        over = f"OVER (PARTITION BY {below.person} ORDER BY {self.draw.choice(order)}{way}"
        value, words = self.number(below), [*below.of(TEXT)] or ["1"]
        frame = self.draw.choice(("", " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW"))
        makers = [
            (WHOLE, f"{self.draw.choice(('ROW_NUMBER', 'RANK', 'DENSE_RANK'))}() {over})"),
            (NUMBER, f"{self.draw.choice(('LAG', 'LEAD', 'FIRST_VALUE'))}({value}) {over})"),
            (NUMBER, f"{self.draw.choice(('SUM', 'AVG', 'MAX'))}({value}) {over}{frame})"),
            (WHOLE, f"COUNT(*) {over})"),
            (TEXT, f"LAG({self.draw.choice(words)}) {over})"),
        ]
        alias, items = self._alias(), [f"{below.person} AS pid"]
        columns: dict[str, list[str]] = {}
        for kind, text in self.draw.sample(makers[:-1] if words == ["1"] else makers, 2):
            name = self._name()
            items.append(f"{text} AS {name}")
            columns.setdefault(kind, []).append(f"{alias}.{name}")
        own = self._name()
        items.append(f"{self._value(below, WHOLE)} AS {own}")
        columns.setdefault(WHOLE, []).append(f"{alias}.{own}")
        qualify = f" QUALIFY ROW_NUMBER() {over}) = 1" if self._chance(0.3) else ""
        self.clauses.add("windows")
        return Relation(
            f"(SELECT {', '.join(items)} FROM {below.text}{qualify}) AS {alias}",
            columns,
            f"{alias}.pid",
        )

    def _subqueries(self, depth: int) -> Relation:
        """Rows of people who have, or have not, rows in a table of their own."""
        below = self.relation(depth - 1)
        names = [name for name in self.tables if name in ("t", "u")]
        if below.person is None or not names:
            return below
        name, alias = self.draw.choice(names), self._alias()
        columns = qualified(self._columns(name), alias)
        inner = self.grown(Relation("", columns), TRUTH, 1)
        word = self.draw.choice(("", "NOT "))
        condition = self.draw.choice(
            (
                f"{word}EXISTS (SELECT 1 FROM {name} AS {alias} WHERE {alias}.pid = "
                f"{below.person} AND {inner})",
                f"{below.person} {word}IN (SELECT {alias}.pid FROM {name} AS {alias} "
                f"WHERE {inner})",
                f"(SELECT COUNT(*) FROM {name} AS {alias} WHERE {alias}.pid = {below.person}) > 1",
            )
        )
        self.clauses.add("subqueries")
        return self._projected(below, "", f" WHERE {condition}")

    # Parts ---------------------------------------------------------------------------------------

    def _projected(
        self, below: Relation, word: str, where: str, *, person: bool = True
    ) -> Relation:
        alias, items = self._alias(), []
        columns: dict[str, list[str]] = {}
        if below.person and person:
            items.append(f"{below.person} AS pid")
        for _ in range(self.draw.randint(1, 4)):
            kind = self.draw.choice((WHOLE, NUMBER, TEXT, TRUTH, DAY))
            name = self._name()
            items.append(f"{self._value(below, kind)} AS {name}")
            columns.setdefault(kind, []).append(f"{alias}.{name}")
        owner = f"{alias}.pid" if below.person and person and not word else None
        text = f"(SELECT {word}{', '.join(items)} FROM {below.text}{where}) AS {alias}"
        return Relation(text, columns, owner)

    def _value(self, below: Relation, kind: str) -> str:
        if below.of(kind) and self._chance(0.1 if self.focus else 0.4):
            return self.draw.choice(below.of(kind))
        return self.number(below) if kind == NUMBER else self._whole_or(below, kind)

    def _whole_or(self, below: Relation, kind: str) -> str:
        if kind == WHOLE:
            if self._chance(0.15):
                return self.draw.choice(("0", "1", "-7"))
            low, high = self.draw.choice((("-2e9", "1"), ("-1", "2e9"), ("-3", "5"), ("-7", "1")))
            inner = self.grown(below, NUMBER, 2)
            return f"CAST(least(greatest({inner}, {low}), {high}) AS BIGINT)"
        return self.grown(below, kind, 2)

    def _keys(self, over: Relation) -> list[str]:
        plain = [name for name in over.of(TEXT) if name.rpartition(".")[2] in self.unlisted]
        if plain and self._chance(0.6):
            return plain[:1]
        found = [*over.of(TEXT), *over.of(TRUTH), *over.of(WHOLE), *over.of(DAY)]
        found = [name for name in found if name.rpartition(".")[2] not in {"note", *self.unlisted}]
        found += [f"bin({name}, -3, 5, 4)" for name in over.of(NUMBER)]
        found += [f"({self.grown(over, TRUTH, 2)})"]
        return self.draw.sample(found, min(len(found), self.draw.choice((0, 0, 0, 1, 1, 2))))

    def _aggregate(self, over: Relation) -> str:
        value = self.number(over)
        if over.of(WHOLE) and self._chance(0.35):
            self.clauses.add("SUM")
            return f"SUM({self.draw.choice(over.of(WHOLE))})"
        names = [*over.of(TEXT), *over.of(TRUTH), *over.of(WHOLE)] or ["1"]
        condition = self.grown(over, TRUTH, 1)
        positive = f"greatest({value}, 1)" if self._chance(0.5) else value
        written = {
            Argument.COUNTED: (value,),
            Argument.CONDITION: (condition,),
            Argument.NUMBER: (positive, self.number(over)),
            Argument.CANDIDATES: (value,),
            Argument.LEVEL: ("", "0.9"),
        }
        made = ["COUNT(*)", f"SUM({value})", f"SUM({value}) FILTER (WHERE {condition})"]
        made += [f"COUNT(DISTINCT {self.draw.choice(names)})"]
        for function in FUNCTIONS:
            arguments = [written[kind][place] for place, kind in enumerate(function.arguments)]
            made.append(f"{function.names[0]}({', '.join(arguments)})")
        made += [f"{name}({value}, {self.number(over)})" for name in LINES]
        made += self._more(over)
        made += [f"SAFE_DIVIDE(SUM({value}), COUNT(*))"]
        if over.person:
            made += [f"COUNT(DISTINCT {over.person})"] * 2
        text = self._chosen(made)
        self.clauses.add(text.partition("(")[0] + (" filter" if "FILTER" in text else ""))
        return text

    def _more(self, over: Relation) -> list[str]:
        """Aggregates with bounds in the text, of different values, and of several levels."""
        value = self.number(over)
        per_row, per_group = (f"contribution_bounds_per_{each} => (-1, 2)" for each in BOUNDED)
        made = [f"SUM({value}, {per_row})", f"AVG({value}, {per_row})"]
        made += [f"SUM({value}, {per_group})", "COUNT(*, contribution_bounds_per_group => (0, 2))"]
        made += [f"QUANTILE({value}, [0.25, 0.5])"]
        few = over.of(WHOLE)
        made += [f"{start} {self.draw.choice(few)})" for start in OVER_DIFFERENT if few]
        return made

    def _chosen(self, made: Sequence[str]) -> str:
        """One of several aggregates; the clauses that it brings are noted."""
        brought = {
            text: [*(mark for mark in MARKS if mark in text), text.partition("(")[0]]
            for text in made
        }
        first = [text for text in made if any(self._wants(mark) for mark in brought[text])]
        text = self.draw.choice(first or made)
        self.clauses.update(brought[text])
        return text

    def _pick(self, options: Sequence[str], clause: str = "{}") -> str:
        """One of several words, those first that bring a clause which is wanted; it is noted."""
        first = [each for each in options if self._wants(clause.format(each.lower()))]
        word = self.draw.choice(first or options)
        self.clauses.add(clause.format(word.lower()))
        return word

    def _chance(self, share: float, brings: str = "") -> bool:
        """Whether to do something; surely if it brings a clause that is wanted."""
        return self.draw.random() < share or self._wants(brings)

    def _alias(self) -> str:
        self.made += 1
        return f"r{self.made}"

    def _name(self) -> str:
        self.made += 1
        return f"c{self.made}"


def _number(name: str) -> int:
    """The place of a column in the order in which they were named."""
    return int(name.rpartition(".")[2][1:])


def _called(relation: Relation, names: Mapping[str, str]) -> Relation:
    """The same relation with other names for its columns."""
    columns = {kind: [names[name] for name in relation.of(kind)] for kind in KINDS}
    return replace(relation, columns=columns)


def outside(text: str) -> str:
    """What stands outside of parentheses."""
    depth, kept = 0, []
    for letter in text:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            kept.append(letter)
    return "".join(kept)
