"""multi-freq-ldpy: clients and server of three oracles; started by the suite ``local``.

A request names the oracle, users, domain and epsilon. Clients run one by one as the library has
them; the answer is the time of clients and server together, after one warm-up that compiles.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import (  # type: ignore[import-not-found,unused-ignore]
    GRR_Aggregator_MI,
    GRR_Client,
)
from multi_freq_ldpy.pure_frequency_oracles.LH import (  # type: ignore[import-not-found,unused-ignore]
    LH_Aggregator_MI,
    LH_Client,
)
from multi_freq_ldpy.pure_frequency_oracles.UE import (  # type: ignore[import-not-found,unused-ignore]
    UE_Aggregator_MI,
    UE_Client,
)
from peers import serve
from timing import clock


def work(oracle: str, values: list[int], domain: int, epsilon: float) -> Any:
    """Reports of all users, and the estimate from them."""
    if oracle == "direct":
        reports = [GRR_Client(value, domain, epsilon) for value in values]
        return GRR_Aggregator_MI(np.array(reports), domain, epsilon)
    if oracle == "unary":
        reports = [UE_Client(value, domain, epsilon, optimal=True) for value in values]
        return UE_Aggregator_MI(reports, epsilon, optimal=True)
    reports = [LH_Client(value, domain, epsilon, optimal=True) for value in values]
    return LH_Aggregator_MI(reports, domain, epsilon, optimal=True)


@lru_cache
def warmed(oracle: str, domain: int, epsilon: float) -> bool:
    """Compile once, off the clock."""
    work(oracle, [0, 1, 2], domain, epsilon)
    return True


def seconds(request: dict[str, Any]) -> float:
    """Time clients and server together."""
    oracle, domain, epsilon = request["oracle"], request["domain"], request["epsilon"]
    warmed(oracle, domain, epsilon)
    chances = 1 / np.arange(1, domain + 1) ** 1.1
    values = np.random.default_rng().choice(domain, request["users"], p=chances / chances.sum())
    listed = [int(value) for value in values]
    return clock(lambda: work(oracle, listed, domain, epsilon))()


if __name__ == "__main__":
    serve(seconds, "multi-freq-ldpy", "numpy")
