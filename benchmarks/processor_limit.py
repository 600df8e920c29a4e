"""A limit on the processor time of a peer: it needs the standard library only."""

from __future__ import annotations

import resource
import signal
import time
from typing import Any

_GRACE = 60


def limit_processor_time(seconds: int) -> None:
    """From now on this process may use so many seconds; then :class:`TimeoutError` is raised.

    What does not look at signals ends a minute later.
    """

    def stop(*_: Any) -> None:
        reason = f"not finished within {seconds} s of the processor"
        raise TimeoutError(reason)

    used = int(time.process_time())
    signal.signal(signal.SIGXCPU, stop)
    resource.setrlimit(resource.RLIMIT_CPU, (used + seconds, used + seconds + _GRACE))
