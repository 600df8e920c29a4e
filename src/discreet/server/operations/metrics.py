"""What is counted about the service itself: in Prometheus' text form, for those who may monitor.

Counts are of all people together: of routes, outcomes, workers. No label names anybody, and nothing
is about data. They tell how busy others are, so analysts do not see them.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


@dataclass
class Metrics:
    """Counters of one front process; they begin with it."""

    began: float = field(default_factory=time.time)
    requests: Counter[tuple[str, str, int]] = field(default_factory=Counter)
    seconds: Counter[float] = field(default_factory=Counter)
    total_seconds: float = 0.0

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request, by its route's pattern."""
        self.requests[method, route, status] += 1
        self.total_seconds += seconds
        self.seconds[next((b for b in _BUCKETS if seconds <= b), float("inf"))] += 1

    def text(self, **gauges: float) -> str:
        """All of it, for a scraper."""
        return "".join(f"{line}\n" for line in self._lines(gauges))

    def _lines(self, gauges: dict[str, float]) -> Iterator[str]:
        yield "# HELP discreet_requests_total Requests by method, route and status."
        yield "# TYPE discreet_requests_total counter"
        for (method, route, status), count in sorted(self.requests.items()):
            labels = f'method="{method}",route="{route}",status="{status}"'
            yield f"discreet_requests_total{{{labels}}} {count}"
        yield "# HELP discreet_request_seconds How long requests took, padding included."
        yield "# TYPE discreet_request_seconds histogram"
        below = 0
        for bucket in _BUCKETS:
            below += self.seconds[bucket]
            yield f'discreet_request_seconds_bucket{{le="{bucket:g}"}} {below}'
        whole = sum(self.seconds.values())
        yield f'discreet_request_seconds_bucket{{le="+Inf"}} {whole}'
        yield f"discreet_request_seconds_sum {self.total_seconds:.6f}"
        yield f"discreet_request_seconds_count {whole}"
        yield "# TYPE discreet_started_seconds gauge"
        yield f"discreet_started_seconds {self.began:.0f}"
        for name, value in sorted(gauges.items()):
            yield f"# TYPE discreet_{name} gauge"
            yield f"discreet_{name} {value:g}"
