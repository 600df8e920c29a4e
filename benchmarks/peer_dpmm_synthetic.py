"""dpmm's MST, AIM and PrivBayes on a table of whole codes; started by the suite ``synthetic``.

A request has the ``table`` (an ``.npz`` with ``codes`` and ``shape``), the ``kind``, ``epsilon``,
``delta``, the path to write synthetic codes ``to`` and the ``patience`` in seconds. What is timed,
in seconds of processor time, is fitting and drawing as many rows as there are.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
from dpmm import pipelines  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from processor_limit import limit_processor_time

KINDS = {
    "mst": pipelines.MSTPipeline,
    "aim": pipelines.AIMPipeline,
    "privbayes": pipelines.PrivBayesPipeline,
}


def seconds(request: dict[str, Any]) -> float:
    """Fit once, draw, and write the codes."""
    stored = np.load(request["table"])
    codes, shape = stored["codes"], stored["shape"]
    names = [f"c{place}" for place in range(codes.shape[1])]
    frame = pd.DataFrame(codes, columns=names).astype("category")
    domain = {
        name: {"categories": list(range(int(size)))}
        for name, size in zip(names, shape, strict=True)
    }
    limit_processor_time(request["patience"])
    start = time.process_time()
    made = KINDS[request["kind"]](epsilon=request["epsilon"], delta=request["delta"])
    made.fit(frame, domain)
    drawn = made.generate(n_records=len(codes))
    took = time.process_time() - start
    numbers = drawn[names].apply(pd.to_numeric, errors="coerce").fillna(0).astype(int).to_numpy()
    np.savez(request["to"], codes=np.clip(numbers, 0, shape - 1))
    return took


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    serve(seconds, "dpmm", "numpy")
