"""Reads a collection of questions, kept as SQL text, and says what each is to come to.

A file holds questions apart from each other by an empty line. Before its text each has comments:
its name; then, if it is not simply answered, one of

- ``-- gap: code | topic``: it could be protected and is not understood yet. The topic is a
  heading of ``docs/sql-gaps.md``, which says what to write instead.
- ``-- refused: code | why``: it must not be answered.
- ``-- wrong: what``: it is answered, and not rightly. There must be none of these.

Beside these ``-- plain: ...`` is the question for an engine without privacy, where its text
differs; ``-- spend: delta`` buys with a delta; ``-- within: 0.5`` is how far a number chosen from
candidates may be off; ``-- ties`` says that ORDER BY leaves an order open; ``-- empty groups``
that keys without rows are in the answer too, as the contract demands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
COLLECTIONS = tuple(sorted(path.stem for path in FOLDER.glob("*.sql")))


@dataclass(frozen=True)
class Question:
    """A question, and what becomes of it. Without a ``code`` it is answered."""

    collection: str
    name: str
    sql: str
    plain: str
    code: str | None = None
    gap: str | None = None
    why: str | None = None
    wrong: str | None = None
    spend: str = "pure"
    within: float = 0.0
    ties: bool = False
    empty_groups: bool = False

    @property
    def protectable(self) -> bool:
        """Whether it could be answered with protection."""
        return self.why is None

    @property
    def answered(self) -> bool:
        """Whether it is answered now."""
        return self.code is None

    @property
    def ordered(self) -> bool:
        """Whether the rows have one order."""
        return not self.ties and bool(re.search(r"\border\s+by\b[^)]*$", self.plain, re.IGNORECASE))


def questions(collection: str) -> Iterator[Question]:
    """All questions of a collection, in the order of its file."""
    text = (FOLDER / f"{collection}.sql").read_text(encoding="utf-8")
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = block.strip().splitlines()
        heads = [line for line in lines if line.startswith("--")]
        body = lines[len(heads) :]
        if lines[0].startswith("---"):
            continue
        yield _question(collection, [head[2:].strip() for head in heads], "\n".join(body))


def _question(collection: str, heads: list[str], sql: str) -> Question:
    name, *rest = heads
    said = dict(_pair(line) for line in rest)
    code, topic = (said.get("gap") or said.get("refused") or " | ").split(" | ", 1)
    unknown = set(said) - {
        "gap",
        "refused",
        "wrong",
        "plain",
        "spend",
        "within",
        "ties",
        "empty groups",
    }
    assert not unknown, (name, unknown)
    assert sql.strip(), name
    return Question(
        collection=collection,
        name=name,
        sql=sql,
        plain=said.get("plain", without_clause(sql)),
        code=code.strip() or None,
        gap=topic.strip() if "gap" in said else None,
        why=topic.strip() if "refused" in said else None,
        wrong=said.get("wrong"),
        spend=said.get("spend", "pure"),
        within=float(said.get("within", 0)),
        ties="ties" in said,
        empty_groups="empty groups" in said,
    )


_CLAUSES = {
    r"WITH\s+(DIFFERENTIAL_PRIVACY|ANONYMIZATION)(\s+OPTIONS\s*\(([^()]|\([^()]*\))*\))?": "",
    r",\s*contribution_bounds_per_(group|row)\s*=>\s*(STRUCT)?\([^()]*\)": "",
    r",\s*(report_format|epsilon)\s*=>\s*[\w']+": "",
    r"\s+CLAMPED\s+BETWEEN\s+\S+\s+AND\s+[\d.]+": "",
    r"\s+WITH\s+REPORT\s*\([^)]*\)": "",
    r"\bANON_": "",
    r"UNION\s+DISTINCT": "UNION",
}
"""What an engine without privacy does not know, and which changes no number where no bound cuts."""


def without_clause(sql: str) -> str:
    """The text without GoogleSQL's clauses about privacy."""
    for pattern, instead in _CLAUSES.items():
        sql = re.sub(pattern, instead, sql, flags=re.IGNORECASE)
    return sql


def _pair(line: str) -> tuple[str, str]:
    word, _, value = line.partition(": ")
    return word.strip(), value.strip()
