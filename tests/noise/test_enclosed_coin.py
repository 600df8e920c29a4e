"""A coin known by enclosures: a word on the border is left to further bits."""

from __future__ import annotations

import pytest

from discreet.noise.bernoulli import _enclosed_coin
from tests.noise.oracle import Told, told_integer


def third(index: int, bits: int) -> tuple[int, int]:
    """Floor and ceiling of a third."""
    del index
    return (1 << bits) // 3, (1 << bits) // 3 + 1


@pytest.mark.parametrize(("more", "heads"), [(0, 1), (2**64 - 1, 0), (2**63, 0)])
def test_a_word_on_the_border_is_decided_by_the_bits_after_it(
    more: int,
    heads: int,
) -> None:
    border = 2**64 // 3
    source = Told([told_integer(more, 64)])
    assert _enclosed_coin(third, 0, border, source) == heads
    assert len(source.given) == 1
    for word, verdict in [(border - 1, True), (border + 1, False)]:
        source = Told()
        assert _enclosed_coin(third, 0, word, source) is verdict
        assert not source.given
