"""Pictures of an evaluation, in HTML alone: bars and shades that fit any screen, light or dark.

Labels are text of the page's own size, and colours those of its style; nothing needs to be
installed.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from discreet.core.arrays import Floats

_MOST_CELLS = 60
_MOST_IN_GRID = 20
_WORST = 40

STYLE = """
.bars { display: grid; grid-template-columns: minmax(4rem, max-content) minmax(5rem, 1fr) auto;
  gap: .15rem .6rem; align-items: center; font-variant-numeric: tabular-nums; }
.bars span { min-width: 0; } .bars .number { text-align: right; font-size: .85em; }
.bar { display: block; height: .5em; min-width: 1px; }
.real { background: var(--real); } .made { background: var(--made); }
.key { display: inline-block; width: .8em; height: .8em; }
.grid td { text-align: center; padding: .2rem .4rem; }
.grid thead th { writing-mode: vertical-rl; transform: rotate(180deg); padding: .4rem .2rem;
  font-weight: normal; text-align: left; }
.grid th { font-weight: normal; }
"""


def column_picture(labels: Sequence[str], real: Floats, synthetic: Floats) -> str:
    """The shares of each cell of a column in both tables, one bar below the other."""
    longest = max(float(real.max()), float(synthetic.max()), 1e-12)
    rows = []
    for label, one, other in list(zip(labels, real, synthetic, strict=True))[:_MOST_CELLS]:
        bars = _bar("real", one / longest) + _bar("made", other / longest)
        rows.append(_row(label, bars, f"{100 * one:.1f} % / {100 * other:.1f} %"))
    left = len(labels) - len(rows)
    more = f"<p>And {left:,} more values.</p>" if left else ""
    return f'<div class="bars">{"".join(rows)}</div>{more}'


def pair_picture(pairs: Mapping[tuple[str, str], float]) -> str:
    """The distance of each pair of columns: a grid, or the worst of them where there are many."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    if len(names) <= _MOST_IN_GRID:
        return _grid(names, pairs)
    worst = sorted(pairs.items(), key=lambda each: -each[1])[:_WORST]
    rows = (
        _row(f"{one} × {other}", _bar("made", distance), f"{distance:.3f}")
        for (one, other), distance in worst
    )
    told = f"<p>The {len(worst)} pairs that lie farthest apart, of {len(pairs):,}.</p>"
    return f'{told}<div class="bars">{"".join(rows)}</div>'


def _grid(names: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> str:
    top = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names[:-1])
    body = []
    for place, name in enumerate(names[1:], start=1):
        cells = []
        for other in names[:place]:
            distance = pairs.get((other, name), pairs.get((name, other), 0.0))
            shade = f"color-mix(in srgb, var(--made) {min(50, 120 * distance):.0f}%, var(--page))"
            cells.append(f'<td style="background: {shade}">{distance:.3f}</td>')
        body.append(f'<tr><th scope="row">{html.escape(name)}</th>{"".join(cells)}</tr>')
    head = f"<thead><tr><td></td>{top}</tr></thead>"
    return f'<table class="grid">{head}<tbody>{"".join(body)}</tbody></table>'


def _row(label: str, bars: str, number: str) -> str:
    return (
        f'<span>{html.escape(label)}</span><span>{bars}</span><span class="number">{number}</span>'
    )


def _bar(kind: str, share: float) -> str:
    return f'<i class="bar {kind}" style="width: {100 * min(max(share, 0), 1):.1f}%"></i>'
