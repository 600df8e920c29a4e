"""Accuracy against the width of declared bounds, with centring and without, as a picture.

Run ``python benchmarks/learn_centring.py``; it needs the extra ``plots`` and the Adult data. Income
by five features of Adult, at epsilon 1, over ten splits; the upper bound of every feature is so
many times what it need be.
"""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
from learn_data import adult
from peers import ROOT
from sklearn.model_selection import train_test_split

import discreet as dp
from discreet import learn
from discreet.core.plotting import styled

PICTURE = ROOT / "docs" / "figures" / "wide-bounds.svg"
WIDER = (1, 2, 4, 8, 16, 32, 64)
SPLITS = 10
KINDS = {
    "LogisticRegression": (learn.LogisticRegression, dp.PureDP(epsilon=1)),
    "SoftmaxRegression": (learn.SoftmaxRegression, dp.ApproxDP(epsilon=1, delta=1e-5)),
}
COLOURS = {"centring=0.2, the default": "#0072B2", "centring=None": "#E69F00"}


def scores() -> list[dict[str, Any]]:
    """Mean test accuracies."""
    x, y = adult()
    low, high = x.min(axis=0), x.max(axis=0)
    found = []
    for name, (kind, spend) in KINDS.items():
        for wider in WIDER:
            bounds = (low, low + wider * (high - low))
            for line, centring in zip(COLOURS, (0.2, None), strict=True):
                every = []
                for seed in range(SPLITS):
                    fit, test, labels, true = train_test_split(x, y, random_state=seed)
                    model = kind(
                        spend=spend,
                        unit=dp.Row(),
                        bounds=bounds,
                        classes=[0, 1],
                        centring=centring,
                    )
                    every.append(model.fit(fit, labels).score(test, true))
                found.append(
                    {"model": name, "wider": wider, "line": line, "score": float(np.mean(every))}
                )
                print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure, print, draw."""
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    chart = (
        alt.Chart(alt.Data(values=scores()), width=260, height=220)
        .mark_line(point=True)
        .encode(
            x=alt.X("wider:Q", scale=alt.Scale(type="log", base=2), title="width of the bounds"),
            y=alt.Y("score:Q", scale=alt.Scale(zero=False), title="test accuracy"),
            color=alt.Color("line:N", title=None, scale=scale),
            column=alt.Column("model:N", title=None),
        )
    )
    styled(chart).save(PICTURE)


if __name__ == "__main__":
    main()
