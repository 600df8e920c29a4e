"""The report of an evaluation: one HTML file with pictures inside, and the warning on top."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.synthetic.evaluation.pictures import STYLE, column_picture, pair_picture
from discreet.synthetic.evaluation.score_table import score_table

if TYPE_CHECKING:
    from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation, TableScores

_MOST_COLUMNS = 30
_MOST_RARE = 40
_STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --page: #fff; --band: #f4f4f4; --rule: #ccc;
  --harm: #b00020; --real: #0072b2; --made: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e8e8; --page: #161616; --band: #242424;
  --rule: #555; --harm: #ff7b8a; --real: #56b4e9; --made: #e69f00; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: var(--ink); background: var(--page); overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
td, th { padding: .2rem .8rem; text-align: right; }
td:first-child, th:first-child { text-align: left; padding-left: 0; }
thead { border-bottom: 1px solid var(--rule); }
tbody tr:nth-child(even) { background: var(--band); }
.warning { border: 2px solid var(--harm); padding: .6rem 1rem; font-weight: bold; }
figure { margin: 1rem 0; }
"""


def save_html(found: NonPrivateEvaluation, path: str | PathLike[str]) -> None:
    """Write the report."""
    Path(path).write_text(report(found), encoding="utf-8")


def report(found: NonPrivateEvaluation) -> str:
    """The report as HTML."""
    real, made = found.rows
    parts = [
        f'<p class="warning">{html.escape(found.warning)}</p>',
        f"<p>{real:,} real rows, {made:,} synthetic rows.</p>",
        "<h2>Scores</h2>",
        _table(*score_table({name: each.list_scores() for name, each in found.tables.items()})),
        "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in found.meaning) + "</ul>",
        "<p>The tables below the synthetic one are not private. They show what else an owner might "
        "publish: some of the real rows, columns without what is between them, groups of 25.</p>",
        "<h3>Worst marginals</h3>",
        "<p>The largest total variation of any marginal of so many columns.</p>",
        _table(*score_table({name: _worst(each) for name, each in found.tables.items()})),
    ]
    if found.scores.violations:
        parts += [
            "<h2>Constraints</h2>",
            "<p>None is best.</p>",
            _table(("constraint", "synthetic rows that break it"), found.scores.violations.items()),
        ]
    if found.pairs:
        parts += [
            "<h2>Pairs of columns</h2>",
            "<p>Total variation between the real and the synthetic counts of each pair: 0 is best."
            "</p>",
            _figure(pair_picture(found.pairs)),
        ]
    if found.scores.classifier is not None and found.scores.classifier.importances:
        parts += [
            "<h2>Importance of columns</h2>",
            "<p>How far shuffling a column among real rows moves what the classifier predicts, "
            "after training on real and on synthetic rows. They should be alike.</p>",
            _table(
                ("column", "real", "synthetic"),
                (
                    (name, f"{real:.4f}", f"{made:.4f}")
                    for name, (real, made) in found.scores.classifier.importances.items()
                ),
            ),
        ]
    parts.append("<h2>Columns</h2>")
    parts.append(
        '<p>Shares of rows, which should be alike: <span class="key real"></span> real, '
        '<span class="key made"></span> synthetic.</p>'
    )
    shown = list(found.columns.items())[:_MOST_COLUMNS]
    for name, (labels, first, second) in shown:
        parts.append(f"<h3>{html.escape(name)}</h3>")
        parts.append(_figure(column_picture(labels, first, second)))
    if len(found.columns) > len(shown):
        parts.append(f"<p>And {len(found.columns) - len(shown)} more columns.</p>")
    parts += [
        "<h2>Rare groups</h2>",
        "<p>Values that fewer than 2 % of real rows have, rarest first; synthetic counts as if "
        "there were as many rows. The nearer the two numbers, the better.</p>",
        _table(
            ("column", "value", "real rows", "synthetic rows"),
            (
                (each.column, each.value, f"{each.real:,}", f"{each.synthetic:,.0f}")
                for each in found.rare[:_MOST_RARE]
            ),
        ),
    ]
    body = "\n".join(parts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Evaluation of a synthetic table</title><style>{_STYLE}{STYLE}</style></head>\n"
        f"<body><main><h1>Evaluation of a synthetic table</h1>\n{body}\n</main></body></html>\n"
    )


def _worst(scores: TableScores) -> dict[str, float | None]:
    return {f"{k}-way TV": scores.worst[k] for k in sorted(scores.worst)}


def _figure(picture: str) -> str:
    return f'<figure class="scroll" tabindex="0">{picture}</figure>'


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    listed = [list(row) for row in rows]
    if not listed:
        return "<p>None.</p>"
    top = "".join(f'<th scope="col">{html.escape(each)}</th>' for each in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in listed
    )
    table = f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'
