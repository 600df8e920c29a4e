"""Random bits are used once: not by another thread, not by a child, not by a copy."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from discreet.noise import SYSTEM, Noiseless, Seeded, System, randomness, rounded_laplace
from discreet.noise.randomness import integer, words16, words32, words64
from tests.noise.oracle import Told

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
WORD = 16


@pytest.fixture(autouse=True)
def fresh() -> None:
    randomness._drop_buffers()


def in_child(work: Callable[[], bytes]) -> bytes:
    """What ``work`` returns in a forked child."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a forked runner may have threads
        child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, work())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        result = pipe.read()
    os.waitpid(child, 0)
    return result


def many_words() -> bytes:
    return b"".join(SYSTEM.bytes(WORD) for _ in range(60))


def words_of(data: bytes) -> set[bytes]:
    return {data[start : start + WORD] for start in range(0, len(data), WORD)}


@needs_fork
@pytest.mark.parametrize("forgotten", ["nothing", "hook", "process number"])
def test_eight_children_parent_and_siblings_share_no_bits(
    forgotten: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Either of the two guards is enough alone."""
    SYSTEM.bytes(1)  # the parent's buffer now holds bits that a child must not use
    held = randomness._buffers.held[0]
    if forgotten == "hook":
        monkeypatch.setattr(randomness, "_Buffers", lambda: randomness._buffers)
    if forgotten == "process number":
        monkeypatch.setattr(os, "getpid", lambda: 1)
        SYSTEM.bytes(1)
        held = randomness._buffers.held[0]
    families = [words_of(in_child(many_words)) for _ in range(8)]
    families.append(words_of(many_words()))
    seen: set[bytes] = set()
    for words in families:
        assert len(words) == 60
        assert not words & seen
        seen |= words
    for words in families[:8]:
        assert not any(word in held for word in words)


@needs_fork
def test_children_draw_different_noise() -> None:
    rounded_laplace(2.0**40, 3)
    drawn = {in_child(lambda: rounded_laplace(2.0**40, 4).tobytes()) for _ in range(8)}
    assert len(drawn) == 8


@needs_fork
def test_grandchildren_share_no_bits_either() -> None:
    SYSTEM.bytes(1)
    both = in_child(lambda: many_words() + in_child(many_words))
    assert len(words_of(both) | words_of(many_words())) == 180


def test_threads_share_no_bits() -> None:
    found: list[bytes] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        found.append(b"".join(SYSTEM.bytes(WORD) for _ in range(2000)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(before)
    assert len(set().union(*map(words_of, found))) == 8 * 2000


def test_nothing_is_handed_out_twice_across_refills() -> None:
    sizes = [1, 3, 16, 100, 2047, 2048, 2049, 8192, 9000]
    data = b"".join(SYSTEM.bytes(size) for _ in range(20) for size in sizes)
    assert len(data) == 20 * sum(sizes)
    windows = {data[start : start + 12] for start in range(0, len(data) - 12, 12)}
    assert len(windows) == len(range(0, len(data) - 12, 12))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this platform")
def test_a_signal_handler_that_draws_gets_bits_of_its_own() -> None:
    """Drawing is safe to interrupt by drawing."""
    inner: list[bytes] = []

    def handler(number: int, frame: FrameType | None) -> None:
        del number, frame
        inner.append(SYSTEM.bytes(WORD))

    old = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
    try:
        outer = [SYSTEM.bytes(WORD) for _ in range(60_000)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    assert inner
    assert len(set(outer) | set(inner)) == len(outer) + len(inner)


def test_bits_interrupted_at_every_step_are_not_shared() -> None:
    """The same, without luck: a draw is made before each line of a draw."""
    code = System.bytes.__code__
    inner: list[bytes] = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        del argument
        if frame.f_code is code and event == "line":
            sys.settrace(None)
            inner.append(SYSTEM.bytes(WORD))
            sys.settrace(trace)
        return trace if frame.f_code is code else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        outer = [SYSTEM.bytes(WORD) for _ in range(300)]
    finally:
        sys.settrace(before)
    assert len(inner) > len(outer)
    assert len(set(outer) | set(inner)) == len(outer) + len(inner)


def test_the_system_source_is_pickled_without_bits() -> None:
    SYSTEM.bytes(1)
    held = randomness._buffers.held[0]
    frozen = pickle.dumps(SYSTEM)
    assert len(frozen) < 100
    assert not any(held[i : i + 8] in frozen for i in range(0, len(held), 8))
    assert pickle.loads(frozen) == System()
    assert vars(SYSTEM) == {}


def test_only_the_system_is_private() -> None:
    assert SYSTEM.private
    assert not Seeded(1).private
    assert not Noiseless().private


def test_a_seed_is_reproducible_and_shows_no_state() -> None:
    assert Seeded(5).bytes(100) == Seeded(5).bytes(100)
    assert Seeded(5).bytes(100) != Seeded(6).bytes(100)
    source = Seeded(5)
    assert source.bytes(8) != source.bytes(8)
    assert repr(source) == "Seeded(seed=5)"


def test_no_randomness_is_all_zeros() -> None:
    assert Noiseless().bytes(5) == bytes(5)
    assert integer(Noiseless(), 77) == 0


@pytest.mark.parametrize("source", [SYSTEM, Seeded(1), Noiseless()])
def test_words_have_their_size_and_number(source: System | Seeded | Noiseless) -> None:
    for make, kind in ((words16, np.uint16), (words32, np.uint32), (words64, np.uint64)):
        for size in (0, 1, 5000):
            words = make(source, size)
            assert words.shape == (size,)
            assert words.dtype == kind


def every_byte(length: int) -> Iterator[bytes]:
    return (value.to_bytes(length, "little") for value in range(1 << 8 * length))


@pytest.mark.parametrize("bits", [1, 3, 8, 11, 16])
def test_integers_are_uniform(bits: int) -> None:
    width = -(-bits // 8)
    source = Told(every_byte(width))
    counts = np.bincount([integer(source, bits) for _ in range(1 << 8 * width)])
    assert len(counts) == 1 << bits
    assert (counts == 1 << (8 * width - bits)).all()


def test_an_integer_of_no_bits_is_zero() -> None:
    assert integer(SYSTEM, 0) == 0
