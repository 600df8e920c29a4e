"""A hundred million reports from Parquet, direct and hashed: runs only when it is asked for."""

from __future__ import annotations

import resource
import tempfile
from pathlib import Path

import numpy as np
from timing import Figure, clock

from discreet import local
from discreet.local.oracle import FrequencyOracle

REPORTS, FILES, DOMAIN = 100_000_000, 20, 1024


def figures() -> list[Figure]:
    """Seconds to aggregate the files, and the most memory that the process ever had."""
    found = []
    oracles: dict[str, FrequencyOracle] = {
        "hashing": local.OptimalLocalHashing(epsilon=1, domain=DOMAIN),
        "direct": local.DirectEncoding(epsilon=1, domain=DOMAIN),
    }
    for name, oracle in oracles.items():
        with tempfile.TemporaryDirectory() as folder:
            written(oracle, Path(folder))
            told: list[local.Tally] = []
            took = clock(
                lambda oracle=oracle, folder=folder, told=told: told.append(
                    local.aggregate_files(oracle, f"{folder}/*.parquet").tally
                )
            )()
        assert told[0].people == REPORTS
        shares = oracle.estimate(told[0])
        worst = float(np.abs(shares.shares[:3] - truth()[:3]).max() / shares.standard_errors[0])
        remark = f"first shares within {worst:.1f} standard errors"
        found.append(Figure(name=f"local/files/{name}", values=[took], unit="s", remark=remark))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    found.append(Figure(name="local/files/memory", values=[most], unit="MB", at_most=2048))
    return found


def truth() -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What share has each value."""
    chances = 1 / np.arange(1, DOMAIN + 1) ** 1.1
    return chances / chances.sum()


def written(oracle: FrequencyOracle, folder: Path) -> None:
    """Write the reports, a file at a time."""
    generator = np.random.default_rng()
    for place in range(FILES):
        values = generator.choice(DOMAIN, REPORTS // FILES, p=truth())
        batch = oracle.privatize_many(values)
        local.write_parquet(batch, oracle, str(folder / f"{place:03}.parquet"))
