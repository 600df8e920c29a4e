"""A stream as it goes: a line for one key, within its band, up to the latest tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.server.web.charts.scale import scale_of
from discreet.streams.live.tick import Tick

_LEFT, _RIGHT, _TOP, _FOOT = 64, 544, 12, 148


@dataclass(frozen=True)
class StreamChart:
    """All that a template needs to draw it; ``line`` and ``band`` are paths.

    Attributes:
        key: What was counted.
        value: The latest estimate.
        within: How far it may be off, with ``confidence`` in percent; None where it is not known.
        axis: Round numbers, with their places.
        times: The first and the last moment, in words.
        words: What it shows, for who does not see it.
    """

    key: str
    value: float
    within: float | None
    confidence: float
    line: str
    band: str
    axis: tuple[tuple[float, str], ...]
    times: tuple[str, str]
    words: str


def stream_chart(key: str, ticks: Sequence[Tick]) -> StreamChart:
    """The chart of one key over those of some ticks that tell of it, of which one does."""
    ticks = [tick for tick in ticks if key in tick.values]
    low = [tick[key] - (tick.within or 0.0) for tick in ticks]
    high = [tick[key] + (tick.within or 0.0) for tick in ticks]
    up = scale_of([*low, *high], _FOOT, _TOP, zero=True)
    seconds = [tick.ends.timestamp() for tick in ticks]
    across = scale_of([seconds[0], max(seconds[-1], seconds[0] + 1)], _LEFT, _RIGHT, zero=False)
    places = [across(each) for each in seconds]
    upper = [f"{x} {up(y)}" for x, y in zip(places, high, strict=True)]
    lower = [f"{x} {up(y)}" for x, y in zip(places, low, strict=True)]
    last = ticks[-1]
    told = f"{last[key]:,.6g}" + ("" if last.within is None else f" ± {last.within:,.6g}")
    return StreamChart(
        key=key,
        value=last[key],
        within=last.within,
        confidence=100 * last.confidence,
        line="M" + "L".join(f"{x} {up(tick[key])}" for x, tick in zip(places, ticks, strict=True)),
        band="M" + "L".join([*upper, *reversed(lower)]) + "Z",
        axis=tuple(up.marks(3)),
        times=(f"{ticks[0].ends:%d %b %Y, %H:%M}", f"{last.ends:%d %b %Y, %H:%M}"),
        words=f"{key}: {told} after {len(ticks)} ticks.",
    )
