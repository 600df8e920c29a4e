"""OpenDP's contingency tables on a table of whole codes; started by the suite ``queries``.

OpenDP has no MWEM by that name. Its AIM is the same loop (select the worst marginal, measure
it, fit) with a graphical model as the estimate. A request has the ``table`` (an ``.npz`` with
``codes`` and ``shape``), ``epsilon``, the number of ``ways`` of the marginals wanted, and the path
to write answers ``to``: all those marginals, in order. One record comes or goes; the spend is pure.
Timed is processor time, of all threads.
"""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found,unused-ignore]
import polars as pl
from peers import serve


def fitted(frame: Any, shape: list[int], epsilon: float, ways: int) -> Any:
    """A contingency table whose only candidates are the marginals asked for."""
    names = frame.columns
    context = dp.Context.compositor(
        data=frame.lazy(),
        privacy_unit=dp.unit_of(contributions=1),
        privacy_loss=dp.loss_of(epsilon=epsilon),
        split_evenly_over=1,
    )
    keys = {name: list(range(size)) for name, size in zip(names, shape, strict=True)}
    asked = [dp.mbi.Count(by=chosen) for chosen in combinations(names, ways)]
    query = context.query().select(*names)
    return query.contingency_table(keys=keys, algorithm=dp.mbi.AIM(queries=asked)).release()


def seconds(request: dict[str, Any]) -> float:
    """Release once and write the marginals; the cell of missing values is left out."""
    stored = np.load(request["table"])
    shape = [int(size) for size in stored["shape"]]
    names = [f"c{place}" for place in range(len(shape))]
    frame = pl.DataFrame(stored["codes"], schema=names)
    start = time.process_time()
    made = fitted(frame, shape, request["epsilon"], request["ways"])
    took = time.process_time() - start
    parts = [
        np.asarray(made.project(list(chosen)))[tuple(slice(shape[c]) for c in places)].ravel()
        for chosen, places in zip(
            combinations(names, request["ways"]),
            combinations(range(len(shape)), request["ways"]),
            strict=True,
        )
    ]
    np.savez(request["to"], answers=np.concatenate(parts))
    return took


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve(seconds, "opendp", "mbi", "polars")
