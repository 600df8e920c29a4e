"""SmartNoise's MST and AIM on a table of whole codes; started by the suite ``synthetic``.

A request is that of ``peer_dpmm_synthetic.py``. All columns are categories, so that nothing is
spent on finding bounds.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
from peers import serve
from processor_limit import limit_processor_time
from snsynth import Synthesizer  # type: ignore[import-not-found,unused-ignore]


def seconds(request: dict[str, Any]) -> float:
    """Fit once, draw, and write the codes."""
    stored = np.load(request["table"])
    codes, shape = stored["codes"], stored["shape"]
    names = [f"c{place}" for place in range(codes.shape[1])]
    frame = pd.DataFrame(codes, columns=names)
    limit_processor_time(request["patience"])
    start = time.process_time()
    made = Synthesizer.create(request["kind"], epsilon=request["epsilon"], delta=request["delta"])
    made.fit(frame, categorical_columns=names, preprocessor_eps=0.0)
    drawn = made.sample(len(codes))
    took = time.process_time() - start
    numbers = drawn[names].apply(pd.to_numeric, errors="coerce").fillna(0).astype(int).to_numpy()
    np.savez(request["to"], codes=np.clip(numbers, 0, shape - 1))
    return took


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve(seconds, "smartnoise-synth", "numpy")
