"""The report of an evaluation: one HTML file with pictures inside, and the warning on top."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.synthetic.evaluation.pictures import column_chart, pair_chart, picture

if TYPE_CHECKING:
    from discreet.synthetic.evaluation.evaluation import NonPrivateEvaluation, TableScores

_MOST_COLUMNS = 30
_MOST_RARE = 40
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } td, th { padding: .2rem .8rem; text-align: right; }
td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #f4f4f4; }
.warning { border: 2px solid #b00020; padding: .6rem 1rem; font-weight: bold; }
figure { margin: 1rem 0; } svg { max-width: 100%; height: auto; }
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
        _scores({"synthetic": found.scores, **found.references}),
        _classifier(found.scores),
        "<h2>Constraints</h2>",
        _table(("constraint", "synthetic rows that break it"), found.scores.violations.items()),
        "<h2>Pairs of columns</h2>",
        "<p>Total variation between the real and the synthetic counts of each pair.</p>",
        f"<figure>{picture(pair_chart(found.pairs))}</figure>" if found.pairs else "",
        "<h2>Columns</h2>",
    ]
    shown = list(found.columns.items())[:_MOST_COLUMNS]
    for name, (labels, first, second) in shown:
        parts.append(f"<h3>{html.escape(name)}</h3>")
        parts.append(f"<figure>{picture(column_chart(labels, first, second))}</figure>")
    if len(found.columns) > len(shown):
        parts.append(f"<p>And {len(found.columns) - len(shown)} more columns.</p>")
    parts += [
        "<h2>Rare groups</h2>",
        "<p>Values that fewer than 2 % of real rows have, rarest first; synthetic counts as if "
        "there were as many rows.</p>",
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
        f"<title>Evaluation of a synthetic table</title><style>{_STYLE}</style></head>\n"
        f"<body><h1>Evaluation of a synthetic table</h1>\n{body}\n</body></html>\n"
    )


def _scores(tables: Mapping[str, TableScores]) -> str:
    ways = sorted(next(iter(tables.values())).marginals)
    head = (
        "table",
        *(f"{k}-way TV" for k in ways),
        *(f"worst {k}-way" for k in ways),
        "workload error",
        "classifier",
        "told apart (AUC)",
    )
    rows = []
    for name, scores in tables.items():
        learnt = None if scores.classifier is None else scores.classifier.synthetic
        numbers = [
            *(scores.marginals[k] for k in ways),
            *(scores.worst[k] for k in ways),
            scores.workload,
            learnt,
            scores.discriminator,
        ]
        rows.append((name, *("" if each is None else f"{each:.4f}" for each in numbers)))
    return _table(head, rows)


def _classifier(scores: TableScores) -> str:
    if scores.classifier is None:
        return ""
    best = scores.classifier
    return (
        f"<p>Classifier of {html.escape(best.target)}, tested on real rows that nothing learnt "
        f"from: {best.synthetic:.3f} correct after training on synthetic rows, {best.real:.3f} "
        f"after training on real ones, {best.majority:.3f} by its most frequent value.</p>"
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    listed = [list(row) for row in rows]
    if not listed:
        return "<p>None.</p>"
    top = "".join(f"<th>{html.escape(each)}</th>" for each in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in listed
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
