"""The statement for people: headed paragraphs as text, Markdown and HTML."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from discreet.core.unit import Relation, relation_of
from discreet.core.written import FORMS
from discreet.release.format import above, at_most
from discreet.release.guarantee import protection_text
from discreet.release.statement.error_stages import stages
from discreet.release.statement.facts import StatementFacts
from discreet.release.statement.not_covered import assumptions, blind_spots, trust

_WIDTH = 88


@dataclass(frozen=True)
class Section:
    """A heading and its lines."""

    title: str
    lines: tuple[str, ...]


def sections(statement: StatementFacts) -> tuple[Section, ...]:
    """The statement from top to bottom."""
    found = (
        Section("Privacy statement", _opening(statement)),
        Section("Who is protected", _protected(statement)),
        Section("What is guaranteed", _guaranteed(statement)),
        Section("How", _mechanisms(statement)),
        Section("How wrong it may be, stage by stage", _errors(statement)),
        Section("As the owner declared", assumptions(statement, statement.guarantee)),
        Section("Not covered", blind_spots(statement.guarantee)),
        Section("What it rests on", trust(statement)),
    )
    return tuple(section for section in found if section.lines)


def text(statement: StatementFacts) -> str:
    """Paragraphs for a terminal."""
    parts = []
    for section in sections(statement):
        parts.append(section.title.upper())
        parts += [
            textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="    ")
            for line in section.lines
        ]
        parts.append("")
    return "\n".join(parts).rstrip("\n")


def markdown(statement: StatementFacts) -> str:
    """Headings and lists."""
    return "\n\n".join(
        "\n".join([f"## {section.title}", "", *(f"- {line}" for line in section.lines)])
        for section in sections(statement)
    )


def html(statement: StatementFacts) -> str:
    """Headings and lists, for notebooks."""
    return "".join(
        f"<h4>{escape(section.title)}</h4><ul>"
        + "".join(f"<li>{escape(line)}</li>" for line in section.lines)
        + "</ul>"
        for section in sections(statement)
    )


def _opening(statement: StatementFacts) -> tuple[str, ...]:
    lines = [f"Question: {' '.join(statement.query.split())}"]
    if software := statement.get("software"):
        lines.append(f"Made by: {software}")
    if statement.get("private", True) is not True:
        lines.append("NOT PRIVATE: made in test mode, nothing below holds.")
    if statement.get("invented"):
        lines.append("SIMULATED: from invented rows; it says nothing about the data.")
    return tuple(lines)


def _protected(statement: StatementFacts) -> tuple[str, ...]:
    unit = statement.guarantee.unit
    lines = [f"Unit: {statement.get('limits') or protection_text(unit)}."]
    if unit is not None and relation_of(unit) is Relation.REPLACE:
        lines.append("The answer would look much the same with this one's data exchanged.")
        lines.append("How many there are is public.")
    else:
        lines.append("The answer would look much the same had this one never been in the data.")
    return tuple(lines)


def _guaranteed(statement: StatementFacts) -> tuple[str, ...]:
    batch = " for all questions of its batch together" if statement.get("in_a_batch") else ""
    lines = [f"{FORMS[type(statement.guarantee)].tag}: {statement.guarantee_text()}{batch}."]
    implied = statement.pairs
    if len(implied) > 1:
        said = "; ".join(
            f"epsilon {at_most(p.epsilon)} at delta {at_most(p.delta)}" for p in implied
        )
        lines.append(f"This implies {said}.")
    belief = statement.posterior(0.5)
    if belief is not None:
        odds = above(math.exp(min(implied[0].epsilon, 700.0)), 2)
        lines.append(
            f"Whatever the answer, odds about one of them change by a factor of at most {odds}:"
            f" who believed 50 % believes at most {_share(belief)} afterwards, who believed 1 %"
            f" at most {_share(statement.posterior(0.01) or 1)}."
        )
    elif implied:
        guess = min(pair.guess(0.5) for pair in implied)
        lines.append(
            f"Who would guess at even odds whether one of them is there is right with probability"
            f" {_share(guess)} at most."
        )
    lines.append(
        f"A test that accuses 5 % of the innocent finds at most {_share(statement.power())} of"
        " those who are there."
    )
    return (*lines, *_together(statement))


def _together(statement: StatementFacts) -> tuple[str, ...]:
    """What all releases keep: of a share of a larger budget, both are said."""
    if not statement.get("budget"):
        return ()
    share = statement.get("budget_is_a_share")
    all_of = "All releases from the share that paid" if share else "All releases together"
    kept = "keep it" if share else "keep the budget"
    lines = [
        f"{all_of} {kept}, {statement['budget']}; what adds up is"
        f" {statement['budget_adds_up']}, and holds however questions are chosen."
    ]
    if share:
        whole = statement.get("whole_budget")
        lines.append(
            "It was set aside from the budget of the data. All releases of these data, whoever"
            f" asked, keep that one together{f': {whole}' if whole else ''}."
        )
    return tuple(lines)


def _mechanisms(statement: StatementFacts) -> tuple[str, ...]:
    lines = []
    for measure in statement.measures():
        line = f"{_describe_measure(measure)}: {measure.get('mechanism')}"
        if noise := measure.get("noise"):
            spread = {k: v for k, v in noise.items() if k not in ("law", "step")}
            line += f", {', '.join(f'{k} {v:.4g}' for k, v in spread.items())}"
        if "rows_per_unit" in measure:
            line += f"; one unit moves {measure['rows_per_unit']} rows at most"
        lines.append(f"{line}.")
    if bought := statement.get("left_out"):
        lines.append(f"Of that, {bought['price']} say what the limits left out.")
    keys = statement.get("keys")
    if isinstance(keys, dict):
        lines.append(f"Keys: {keys.get('mechanism')}, chosen privately and paid for.")
        if keys.get("discovered"):
            lines.append(
                f"Of that, {keys['price']} name keys: one of {keys['kept_half_at']:,} people with "
                f"probability 1/2, of {keys['kept_95_at']:,} with 95 %."
            )
    elif lines and "model" not in statement:
        cells = statement.get("cells", 1)
        lines.append(
            f"Keys: {cells:,} cells, listed beforehand." if cells != 1 else "Keys: none, one cell."
        )
    return tuple(lines)


def _errors(statement: StatementFacts) -> tuple[str, ...]:
    """Stage by stage; what several measures have in common is said once."""
    unit, lines = statement.guarantee.unit, []
    named: dict[tuple[str, str], list[str]] = {}
    for measure in statement.measures():
        for stage in stages(measure, unit, statement.confidence, statement):
            named.setdefault((stage.name, stage.error), []).append(_describe_measure(measure))
    for acting in ("bounding", "clamping", "grid", "noise"):
        for (name, error), of in named.items():
            if name == acting:
                whose = "" if len(of) == len(statement.measures()) else f", {'; '.join(of)}"
                lines.append(f"{name.capitalize()}{whose}: {error}.")
    if lines and "model" in statement:
        lines.append("Everything that is computed from the model costs no more privacy.")
    elif lines and "synopsis" in statement:
        lines.append("Everything that is computed from the synopsis costs no more privacy.")
    elif lines:
        lines.append(
            "Noise is the same in every cell, so small cells have the larger relative error."
        )
        lines.append(
            "Columns computed from several of these, such as means, carry an interval of their own;"
            " what is computed from released values costs no privacy."
        )
    if lines and statement.get("in_a_batch"):
        lines.append(
            "Related answers of a batch are made to agree by least squares, without bias; their"
            " intervals are narrower than the noise above."
        )
    return tuple(lines)


def _describe_measure(measure: Mapping[str, Any]) -> str:
    columns = ", ".join(measure.get("columns", []))
    what = str(measure.get("measure", "measure"))
    return f"{what} ({columns})" if columns else what


def _share(value: float) -> str:
    return f"{above(100 * value, 1)} %"
