"""The text that engines run: as it was read and found right, and nothing of the analyst's in it.

Each statement lies in ``statements/``, one file for each engine. A change of a text is a change of
what is asked of private rows, or of which rows of a person are kept: read it against the proofs,
then write the files anew with ``python -m tests.relational.compile.test_compiler``.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet as dp
from discreet.core.unit import Person, add_remove
from discreet.relational.aggregates.measures import Measure, Ranks
from discreet.relational.bounding.hashing import NATIVE, PORTABLE, Hashing
from discreet.relational.compile.compiler import Compiler
from discreet.relational.compile.dialect import Dialect
from discreet.relational.database import Database
from discreet.relational.engines.duckdb.dialect import DuckDBDialect
from discreet.relational.engines.postgres.dialect import PostgresDialect
from discreet.relational.engines.spark.dialect import SparkDialect
from discreet.relational.execute.candidate_keys import candidates_text
from discreet.relational.execute.exact_aggregation import statements
from discreet.relational.plan.keys import DiscoveredKeys
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.scope import Scope
from discreet.relational.schema.declarations import Declaration
from tests.relational.compile.text_engine import TextEngine

HERE = Path(__file__).parent / "statements"
TYPES = {
    "duckdb": ("BIGINT", "VARCHAR", "DOUBLE"),
    "postgres": ("int8", "text", "float8"),
    "spark": ("bigint", "string", "double"),
}
DIALECTS: dict[str, type[Dialect]] = {
    "duckdb": DuckDBDialect,
    "postgres": PostgresDialect,
    "spark": SparkDialect,
}
ROW = dp.Row()
FEW = dp.Person("pid", max_rows=5, max_groups=2, max_rows_per_group=3)
QUESTIONS: dict[str, tuple[dp.Row | Person, str]] = {
    "count": (ROW, "SELECT COUNT(*) AS n FROM t"),
    "count-by-key": (ROW, "SELECT ward, COUNT(*) AS n FROM t GROUP BY ward"),
    "sums": (ROW, "SELECT SUM(age) AS a, SUM(cost) AS c FROM t WHERE cost > 1"),
    "median": (ROW, "SELECT ward, MEDIAN(age) AS m FROM t GROUP BY ward"),
    "people": (FEW, "SELECT ward, COUNT(*) AS n, SUM(age) AS a FROM t GROUP BY ward"),
    "presence": (FEW, "SELECT ward, COUNT(DISTINCT pid) AS n FROM t GROUP BY ward"),
    "one-cell": (FEW, "SELECT COUNT(*) AS n, COUNT(DISTINCT ward) AS w FROM t"),
    "distinct": (FEW, "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward, age FROM t) AS q"),
    "union": (ROW, "SELECT SUM(v) AS s FROM (SELECT age AS v FROM t UNION ALL SELECT 1 FROM t) q"),
    "public-join": (FEW, "SELECT p.region, COUNT(*) AS n FROM t JOIN p USING (ward) GROUP BY 1"),
    "join-of-people": (FEW, "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.pid = b.pid"),
    "join-by-key": (FEW, "SELECT COUNT(*) AS n FROM t AS a JOIN t AS b ON a.ward = b.ward"),
    "features": (
        FEW,
        "SELECT AVG(m) AS a FROM (SELECT pid, AVG(age) AS m, FIRST(cost ORDER BY age) AS f FROM t "
        "GROUP BY pid HAVING COUNT(*) > 1) AS q WHERE f > 0",
    ),
    "discovered": (FEW, "SELECT drug, COUNT(*) AS n FROM t GROUP BY drug"),
}


def database(engine: str, unit: dp.Row | Person, hashing: Hashing = NATIVE) -> Database:
    whole, text, real = TYPES[engine]
    made = TextEngine(
        DIALECTS[engine](),
        {
            "t": {"pid": whole, "ward": text, "age": whole, "cost": real, "drug": text},
            "p": {"ward": text, "region": text},
        },
        {"p": {"ward": ["A", "B", "B"], "region": ["n", "s", "w"]}},
        hashing,
    )
    columns: dict[str, Declaration] = {
        "ward": dp.Category(["A", "B"]),
        "age": dp.Number(0, 120),
        "cost": dp.Number(0.0, 50.0),
        "drug": dp.Discovered(),
    }
    private = dp.table(made.table("t"), unit=unit, columns=columns, max_rows_per={"ward": 3})
    return Database(made, {"t": private, "p": dp.public(made.table("p"))})


def texts(base: Database, asked: str) -> list[str]:
    """All statements of a question, under a salt of zero."""
    query = Scope().query(asked, base)
    measures: list[Measure] = []
    for aggregate in query.aggregates:
        measures += [measure for measure in aggregate.measures if measure not in measures]
    measures.sort(key=lambda measure: isinstance(measure, Ranks))
    unit = add_remove(query.unit)
    person = unit if isinstance(unit, Person) and query.rows.privacy_id is not None else None
    if isinstance(query.keys, DiscoveredKeys):
        compiler = Compiler.of(base.engine, salt=0)
        return [candidates_text(query.keys, query.rows, 2 if person else None, compiler)]
    return statements(query, measures, person, base.engine)


def written(engine: str) -> str:
    parts = []
    for name, (unit, asked) in QUESTIONS.items():
        listed = "\n".join(texts(database(engine, unit), asked))
        parts.append(f"-- {name}: {asked}\n{listed}\n")
    return "\n".join(parts)


@pytest.mark.parametrize("engine", TYPES)
def test_statements_are_those_that_were_read(engine: str) -> None:
    assert written(engine) == (HERE / f"{engine}.sql").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", TYPES)
@pytest.mark.parametrize("hashing", [NATIVE, PORTABLE], ids=["native", "portable"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_names_and_comments_of_the_analyst_reach_no_engine(
    engine: str, hashing: Hashing, name: str
) -> None:
    """Aliases, common tables and comments may say anything: the text is the same without them."""
    unit, asked = QUESTIONS[name]
    base = database(engine, unit, hashing)
    renamed = re.sub(r" AS (n|s|c|w)\b", r' AS "zebra"" -- \1"', asked)
    wrapped = re.sub(r"\bFROM t\b(?! AS)", "FROM zebra AS t", renamed).replace(
        "t AS a JOIN t AS b", "zebra AS a JOIN zebra AS b"
    )
    asked = f"/* zebra */ WITH zebra AS (SELECT * FROM t) {wrapped} -- zebra"
    found = texts(base, asked)
    assert "zebra" not in "".join(found)
    assert found == texts(base, QUESTIONS[name][1])


@pytest.mark.parametrize("engine", TYPES)
def test_a_constant_is_quoted_and_nothing_else_is_taken_over(engine: str) -> None:
    base = database(engine, ROW)
    asked = "SELECT COUNT(*) AS n FROM t WHERE drug = 'zebra'' OR 1 = 1 --' AND age < 99"
    (found,) = texts(base, asked)
    literal = base.engine.dialect.literal("zebra' OR 1 = 1 --")
    assert found.count("zebra") == found.count(literal) == 1


@pytest.mark.parametrize("engine", TYPES)
def test_columns_that_nobody_asks_for_are_not_read(engine: str) -> None:
    (found,) = texts(database(engine, ROW), "SELECT SUM(age) AS a FROM t WHERE cost > 1")
    for column in ("pid", "ward", "drug"):
        assert column not in found


def test_a_step_without_a_text_of_its_own_is_refused() -> None:
    class Unknown(PlanNode):
        stability = privacy_id = inputs = label = None  # type: ignore[assignment]

    base = database("duckdb", ROW)
    with pytest.raises(TypeError):
        Compiler.of(base.engine, salt=0).text(Unknown(), frozenset())


def test_only_the_salt_and_the_hash_decide_which_rows_are_kept() -> None:
    base = database("duckdb", FEW)
    rows = Scope().query(QUESTIONS["distinct"][1], base).rows
    needed = frozenset(output.name for output in rows.computed or ())
    one, two = (Compiler.of(base.engine, salt=salt).text(rows, needed) for salt in (1, 2))
    assert one != two
    assert re.sub(r"\b1\b", "2", one) == re.sub(r"\b1\b", "2", two)


if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    for each in TYPES:
        (HERE / f"{each}.sql").write_text(written(each), encoding="utf-8")
