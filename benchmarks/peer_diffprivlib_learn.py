"""Fits of diffprivlib; started by the suite ``learn``.

A request has a ``model``, an ``epsilon``, the ``split`` to read and the ``path`` to write the score
to. Bounds are those of the split, so that nothing is read from the data.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from diffprivlib import models  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock


def score(request: dict[str, Any]) -> float:
    """Fit and score one model."""
    warnings.simplefilter("ignore")
    part = np.load(request["split"])
    low, high, epsilon = part["low"], part["high"], request["epsilon"]
    x_fit, x_test = part["x_fit"], part["x_test"]
    if request["model"] == "LogisticRegression":
        norm = float(len(low)) ** 0.5
        if request.get("unit"):  # rows of length one instead of features within [-1, 1]
            norm, low, high = 1.0, low * 1.0, high * 1.0
        scale = 1.0 if norm > 1 else float(len(low)) ** -0.5
        x_fit, x_test = (scale * (2 * x - low - high) / (high - low) for x in (x_fit, x_test))
        model = models.LogisticRegression(epsilon=epsilon, data_norm=norm, max_iter=1000)
    elif request["model"] == "GaussianNB":
        model = models.GaussianNB(epsilon=epsilon, bounds=(low, high))
    elif request["model"] == "RandomForestClassifier":
        classes = list(range(int(part["classes"])))
        model = models.RandomForestClassifier(
            10, epsilon=epsilon, bounds=(low, high), classes=classes, max_depth=5
        )
    else:
        bounds = tuple(part["target"].tolist())
        model = models.LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=bounds)
    found = model.fit(x_fit, part["y_fit"]).score(x_test, part["y_test"])
    return float(found)


def seconds(request: dict[str, Any]) -> float:
    """Write the score, and say how long it took."""

    def work() -> None:
        Path(request["path"]).write_text(repr(score(request)))

    return clock(work)()


if __name__ == "__main__":
    serve(seconds, "diffprivlib", "scikit-learn", "numpy")
