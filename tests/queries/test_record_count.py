"""No refusal tells how many records there are, or how many lie in a cell."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet.curator.interactive import open_conversation as conversing
from discreet.errors import DiscreetError
from discreet.noise import Noiseless
from discreet.queries.record_count import NoisyRecordCount, PublicCount, count_records, require_size
from discreet.queries.workload.cell_counts import whole_counts
from tests.curator.people import conversation, curator

SECRET = 7919
COUNTS = np.array([SECRET, 3])
REAL: Any = COUNTS + 0.0


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        (partial(count_records, PublicCount(SECRET + 4), COUNTS, None), "records_differ"),
        (partial(whole_counts, COUNTS, 3), "counts_misfit"),
        (partial(whole_counts, REAL, 2), "counts_misfit"),
        (partial(require_size, SECRET), "size_not_a_count"),
        (partial(require_size, COUNTS), "size_not_a_count"),
    ],
)
def test_a_refusal_about_records_shows_no_count(refused: Callable[[], object], code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        refused()
    assert refusal.value.code == code
    told = f"{refusal.value} {refusal.value!r} {vars(refusal.value)}"
    assert str(SECRET) not in told
    assert str(SECRET + 3) not in told


def test_more_records_than_can_be_counted_look_like_any_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    source = curator()
    talk = conversation(source)
    talk.ask("ward", "A")
    monkeypatch.setattr(conversing, "MOST", 4000)
    attempts: list[Callable[[], Any]] = [
        lambda: conversation(source),
        lambda: source.resume(talk.id),
    ]
    for attempt in attempts:
        with pytest.raises(DiscreetError) as refusal:
            attempt()
        assert refusal.value.code == "engine_failed"
        assert refusal.value.__context__ is None
        assert refusal.value.__cause__ is None
        assert "4000" not in f"{refusal.value} {vars(refusal.value)}"


def test_a_bought_number_of_records_is_noisy_and_at_least_one() -> None:
    from discreet.mechanisms import DiscreteLaplace

    noise = DiscreteLaplace(epsilon=1, sensitivity=1, randomness=Noiseless())
    assert count_records(NoisyRecordCount(), np.array([0, 0]), noise) == 1
    assert count_records(NoisyRecordCount(), COUNTS, noise) == SECRET + 3
