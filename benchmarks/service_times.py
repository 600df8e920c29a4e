"""What the service adds to a question, and what its answers' times tell.

    python benchmarks/service_times.py overhead
    python benchmarks/service_times.py padding --rows 300000 --answers 2000 --factors 4 1 --step 8
    python benchmarks/service_times.py levels --rows 300000 --answers 2000
    python benchmarks/service_times.py load

``overhead``: two at a time, padding off, the same questions to the service and to the library in
turn. ``padding``: two tables that differ in one person with 100 000 rows, one service for each, and
a classifier that is given the times of their answers; at a factor of 1 the questions take as long
as the quantum, its edge. ``levels``: the times of that many answers are measured without padding,
and levels drawn for them as the service draws them, for quanta from half to eight times the median:
for busy machines, and for all edges. ``load``: how one analyst's work moves the
times of another's answers.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from statistics import mean, median, quantiles

import httpx
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

import discreet as dp
from discreet.curator.project import Project
from discreet.server.timing import STEP, law, leaving, most_auc
from tests.server.replicas import Replica, people_with_budgets
from tests.server.running_service import SERVICE, hospital

BUDGET = dp.PureDP(epsilon=100)
PRICE = 0.005
PERSON_ROWS = 100_000
MOST_OVERHEAD = 0.025
MOST_AUC = 0.55
_MOST_STREAMS, _FIRST = 16, 3


class Analyst:
    """Somebody who asks one question after the other, and notes how long each took."""

    def __init__(self, address: str, token: str) -> None:
        """Connect once."""
        self._http = httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=120
        )

    def time(self, sql: str) -> float:
        """Seconds from the request to its answer."""
        began = time.perf_counter()
        reply = self._http.post("/api/v1/questions", json={"sql": sql, "epsilon": PRICE})
        took = time.perf_counter() - began
        reply.raise_for_status()
        return took


@contextmanager
def service(place: Path, names: list[str]) -> Iterator[dict[str, Analyst]]:
    """A service over a project, and analysts with a budget each."""
    _, tokens = asyncio.run(people_with_budgets(place, names, BUDGET))
    replica = Replica(place)
    try:
        yield {name: Analyst(replica.address, tokens[name].token) for name in names}
    finally:
        replica.stop()


def settings(quantum: float, step: int = STEP) -> str:
    """Of a service with this quantum and step; none at zero."""
    told = '"off"' if quantum == 0 else f"{quantum:.4f}"
    more = f"quantum = {told}\nstep = {step}\nwait = 110\noverruns = 1000000"
    return SERVICE.replace('quantum = "off"', more).replace(
        "workers = 64", f"workers = {_MOST_STREAMS}"
    )


# Overhead --------------------------------------------------------------------------------------


def counted(number: int) -> str:
    """A cheap question that nobody asked before."""
    return f"SELECT COUNT(*) AS n FROM visits WHERE age > {number / 10_000}"


def service_times(who: Analyst, first: int, count: int) -> list[float]:
    """Seconds of questions to the service."""
    return [who.time(counted(number)) for number in range(first, first + count)]


_OPENED: dict[str, dp.Curator] = {}


def library_times(place: Path, account: str, first: int, count: int) -> list[float]:
    """Seconds of questions to the library itself, in a process of its own."""
    if not _OPENED:
        _OPENED["whole"] = Project.read(place).curator()
    child = _OPENED["whole"].child(account, budget=BUDGET)
    found = []
    for number in range(first, first + count):
        began = time.perf_counter()
        child.sql(counted(number), spend=dp.PureDP(epsilon=PRICE), analyst=account)
        found.append(time.perf_counter() - began)
    return found


def overhead(rounds: int, each: int) -> None:
    """Two at a time, the service and the library in turn."""
    at_service: list[float] = []
    at_library: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        place = hospital(Path(folder), service=settings(0))
        with (
            service(place, ["ann", "bob"]) as analysts,
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as first,
            ProcessPoolExecutor(1, mp_context=get_context("spawn")) as second,
            ThreadPoolExecutor(2) as threads,
        ):
            for turn in range(-1, rounds):
                start = (turn + 1) * each
                asked = [
                    threads.submit(service_times, who, start, each) for who in analysts.values()
                ]
                served = [took for one in asked for took in one.result()]
                ran = [
                    pool.submit(library_times, place, name, start, each)
                    for pool, name in ((first, "lib-ann"), (second, "lib-bob"))
                ]
                alone = [took for one in ran for took in one.result()]
                if turn >= 0:  # the first round opens the tables
                    at_service += served
                    at_library += alone
    shown("service", at_service)
    shown("library", at_library)
    added = p95(at_service) - p95(at_library)
    print(f"p95 of the service less p95 of the library: {1e3 * added:.1f} ms (most 25)")
    print(f"medians: {1e3 * (median(at_service) - median(at_library)):.1f} ms")
    print("holds" if added < MOST_OVERHEAD else "DOES NOT HOLD")


def p95(times: list[float]) -> float:
    """The 95th percentile."""
    return quantiles(times, n=20)[-1]


def shown(name: str, times: list[float]) -> None:
    """A line about times."""
    print(
        f"{name:8} {len(times)} questions: median {1e3 * median(times):.1f} ms, "
        f"p95 {1e3 * p95(times):.1f} ms, least {1e3 * min(times):.1f} ms"
    )


# Padding ---------------------------------------------------------------------------------------


def large_hospital(
    folder: Path, rows: int, *, with_person: bool, quantum: float, step: int = STEP
) -> Path:
    """Visits of many people; one more person has 100 000 of them, or is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    place = hospital(folder, service=settings(quantum, step))
    wards = ["medicine", "surgery", "children"]
    more = PERSON_ROWS if with_person else 0
    pl.DataFrame(
        {
            "patient": [n % (rows // 4) for n in range(rows)] + [rows] * more,
            "ward": [wards[n % 3] for n in range(rows + more)],
            "age": [float(n * 7919 % 97) for n in range(rows + more)],
        }
    ).write_parquet(folder / "visits.parquet")
    return place


def averaged(number: int) -> str:
    """A question that reads all rows."""
    return (
        f"SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM visits "
        f"WHERE age > {number / 100_000} GROUP BY ward"
    )


def paired_times(
    rows: int, quantum: float, answers: int, streams: int, step: int = STEP
) -> tuple[list[float], list[float]]:
    """Times of answers over the table without the person, and over the one with.

    In each stream one analyst asks both services, one after the other in random order.
    """
    names = [f"analyst-{number}" for number in range(streams)]
    with tempfile.TemporaryDirectory() as folder:
        places = [
            large_hospital(
                Path(folder) / str(each), rows, with_person=each, quantum=quantum, step=step
            )
            for each in (False, True)
        ]
        with (
            service(places[0], names) as first,
            service(places[1], names) as second,
            ThreadPoolExecutor(streams) as threads,
        ):
            each = answers // 2 // streams
            done = [threads.submit(stream, (first[name], second[name]), each) for name in names]
            found = [one.result() for one in done]
    return [took for one in found for took in one[0]], [took for one in found for took in one[1]]


def stream(pair: tuple[Analyst, Analyst], count: int) -> tuple[list[float], list[float]]:
    """Times of both services; the first answers open the tables, and are left out."""
    found: tuple[list[float], list[float]] = ([], [])
    chance = random.Random(1)
    for number in range(count + _FIRST):
        for which in chance.sample((0, 1), 2):
            found[which].append(pair[which].time(averaged(number)))
    return found[0][_FIRST:], found[1][_FIRST:]


def auc(negative: list[float], positive: list[float]) -> float:
    """How often a score of the second exceeds one of the first; ties count half."""
    ranked = sorted([(score, 0) for score in negative] + [(score, 1) for score in positive])
    total, place = 0.0, 0
    while place < len(ranked):
        end = place
        while end < len(ranked) and ranked[end][0] == ranked[place][0]:
            end += 1
        middle = (place + end + 1) / 2
        total += middle * sum(label for _, label in ranked[place:end])
        place = end
    count = len(positive)
    return (total - count * (count + 1) / 2) / (count * len(negative))


def learned_auc(negative: list[float], positive: list[float], bins: int = 24) -> float:
    """Of the likelihood ratio in bins of equal count, learned on one half, tried on the other."""
    found = []
    for half in (0, 1):
        training = sorted(negative[half::2] + positive[half::2])
        edges = [training[len(training) * k // bins] for k in range(1, bins)]
        score = _ratio(edges, negative[half::2], positive[half::2])
        other = 1 - half
        found.append(
            auc([score(t) for t in negative[other::2]], [score(t) for t in positive[other::2]])
        )
    return sum(found) / 2


def _ratio(
    edges: list[float], negative: list[float], positive: list[float]
) -> Callable[[float], float]:
    def place(value: float) -> int:
        return sum(value >= edge for edge in edges)

    counts = [[1, 1] for _ in range(len(edges) + 1)]
    for label, values in enumerate((negative, positive)):
        for value in values:
            counts[place(value)][label] += 1
    return lambda value: counts[place(value)][1] / counts[place(value)][0]


def padding(rows: int, answers: int, factors: list[float], step: int, streams: int) -> None:
    """A classifier on the times of answers, without padding and at several quanta."""
    without, present = paired_times(rows, 0, min(answers, 100), 1)
    usual = median(without + present)
    shown("without", without)
    shown("with", present)
    ratio = median(present) / median(without)
    print(f"padding off: AUC {auc(without, present):.3f}; times differ by a factor {ratio:.3f}")
    print(f"bound at step {step}: {most_auc(ratio, step=step):.3f}", flush=True)
    for factor in factors:
        quantum = factor * usual
        without, present = paired_times(rows, quantum, answers, streams, step)
        plain, learned = auc(without, present), learned_auc(without, present)
        late = sum(took > 1.5 * quantum for took in without + present)
        print(
            f"quantum {1e3 * quantum:.0f} ms = {factor:g} x the median answer: "
            f"{len(without) + len(present)} answers, {late} overruns "
            f"(by the law {1 - law(1 / factor, step=step).get(0, 0.0):.0%} at the median), "
            f"mean {1e3 * mean(without + present):.0f} ms, "
            f"AUC of times {plain:.3f}, learned {learned:.3f}: "
            f"{'holds' if max(plain, 1 - plain, learned) <= MOST_AUC else 'DOES NOT HOLD'}",
            flush=True,
        )


def levels(rows: int, answers: int, step: int, streams: int) -> None:
    """What a classifier would make of levels drawn for times that were measured without padding."""
    without, present = paired_times(rows, 0, answers, streams)
    shown("without", without)
    shown("with", present)
    usual = median(without + present)
    ratio = median(present) / median(without)
    print(f"padding off: AUC {auc(without, present):.3f}; medians differ by a factor {ratio:.3f}")
    print(f"learned, padding off: {learned_auc(without, present):.3f}")
    print(f"bound at step {step}: {most_auc(ratio, step=step):.3f}")
    for factor in (8.0, 5.66, 4.0, 2.83, 2.0, 1.41, 1.0, 0.71, 0.5):
        found = [drawn(without, present, factor * usual, step) for _ in range(40)]
        plain = [each[0] for each in found]
        print(
            f"quantum {factor:g} x the median: mean AUC {mean(plain):.3f}, "
            f"largest of {len(plain)} draws {max(plain):.3f}, "
            f"learned {mean(each[1] for each in found):.3f}; "
            f"overruns {mean(each[2] for each in found):.0%}, "
            f"mean time {mean(each[3] for each in found) / usual:.1f} medians",
            flush=True,
        )


def drawn(
    without: list[float], present: list[float], quantum: float, step: int
) -> tuple[float, float, float, float]:
    """AUC, learned AUC, overruns and mean time, for one draw of all levels."""
    first = [leaving(t, quantum, step=step).after for t in without]
    second = [leaving(t, quantum, step=step).after for t in present]
    late = mean(t > quantum for t in first + second)
    return auc(first, second), learned_auc(first, second), late, mean(first + second)


# Load ------------------------------------------------------------------------------------------


def load(rows: int, answers: int) -> None:
    """Times of one analyst's answers while another does nothing, and while another works."""
    with tempfile.TemporaryDirectory() as folder:
        place = large_hospital(Path(folder) / "probe", rows, with_person=False, quantum=0)
        with service(place, ["ann"]) as analysts:
            usual = median([analysts["ann"].time(averaged(n)) for n in range(20)][5:])
        quantum = 4 * usual
        place = large_hospital(Path(folder) / "padded", rows, with_person=False, quantum=quantum)
        with service(place, ["ann", "bob"]) as analysts:
            for number in range(5):
                analysts["ann"].time(averaged(number))
                analysts["bob"].time(averaged(number))
            quiet: list[float] = []
            busy: list[float] = []
            number = 5
            for turn in range(8):
                over = threading.Event()
                work = threading.Thread(target=keep_busy, args=(analysts["bob"], over, 1000 * turn))
                if turn % 2:
                    work.start()
                    time.sleep(quantum)
                for _ in range(answers // 8):
                    (busy if turn % 2 else quiet).append(analysts["ann"].time(averaged(number)))
                    number += 1
                over.set()
                if turn % 2:
                    work.join()
    shown("quiet", quiet)
    shown("busy", busy)
    moved = abs(median(busy) - median(quiet))
    print(f"quantum {1e3 * quantum:.0f} ms; median moved by {1e3 * moved:.1f} ms")
    print(f"p95 moved by {1e3 * (p95(busy) - p95(quiet)):.1f} ms")
    print("holds" if moved <= quantum and p95(busy) - p95(quiet) <= quantum else "DOES NOT HOLD")


def keep_busy(who: Analyst, over: threading.Event, first: int) -> None:
    """Ask heavy questions one after the other until it is over."""
    number = first
    while not over.is_set():
        number += 1
        who.time(
            f"SELECT ward, COUNT(*) AS n, AVG(age) AS a, SUM(age * age) AS s FROM visits "
            f"WHERE age * age + {number} > 5 GROUP BY ward"
        )


def main() -> None:
    """Run one of them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=["overhead", "padding", "levels", "load"])
    parser.add_argument("--rows", type=int, default=300_000)
    parser.add_argument("--answers", type=int, default=2_000)
    parser.add_argument("--factors", type=float, nargs="+", default=[4.0, 1.0])
    parser.add_argument("--step", type=int, default=STEP)
    parser.add_argument("--streams", type=int, default=2)
    given = parser.parse_args()
    if given.what == "overhead":
        overhead(rounds=10, each=20)
    elif given.what == "padding":
        padding(given.rows, given.answers, given.factors, given.step, given.streams)
    elif given.what == "levels":
        levels(given.rows, given.answers, given.step, given.streams)
    else:
        load(given.rows, min(given.answers, 400))


if __name__ == "__main__":
    main()
