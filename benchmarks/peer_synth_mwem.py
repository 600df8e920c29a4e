"""SmartNoise Synth's MWEM on a table of whole codes; started by the suite ``queries``.

A request has the ``table`` (an ``.npz`` with ``codes``, one row per record, and ``shape``),
``epsilon``, the ``settings`` of the synthesizer and the path to write answers ``to``, which are the
synthetic histograms of each group of columns: groups are independent of each other. What is timed,
in seconds of processor time, is ``fit`` alone; drawing synthetic rows would add noise and time of
its own. Noise is for one record that comes or goes, and yet the exact number of records is used
without being paid for.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
from peers import serve
from snsynth import Synthesizer  # type: ignore[import-not-found,unused-ignore]
from snsynth.transform import NoTransformer  # type: ignore[import-not-found,unused-ignore]


def fitted(codes: Any, epsilon: float, settings: dict[str, Any]) -> Any:
    """A synthesizer that has seen the data; codes are used as they are."""
    frame = pd.DataFrame(codes, columns=[f"c{place}" for place in range(codes.shape[1])])
    made = Synthesizer.create("mwem", epsilon=epsilon, **settings)
    made.fit(frame, transformer=NoTransformer())
    return made


def seconds(request: dict[str, Any]) -> float:
    """Fit once and write the histograms."""
    stored = np.load(request["table"])
    start = time.process_time()
    made = fitted(stored["codes"], request["epsilon"], request["settings"])
    took = time.process_time() - start
    parts: dict[str, Any] = {}
    for place, (histogram, _, columns) in enumerate(made.synthetic_histograms):
        parts[f"columns{place}"] = np.asarray(columns)
        parts[f"histogram{place}"] = np.asarray(histogram)
    np.savez(request["to"], **parts)
    return took


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve(seconds, "smartnoise-synth", "numpy")
