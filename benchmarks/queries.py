"""Many linear queries at once: all marginals of real tables, peers, and a long conversation.

Errors are root mean squared errors of a count over all queries of a workload, in records; the mean
absolute error stands beside them. Peers take hours over tables of eight attributes, so their
numbers there come from a record (``queries_record.py``); on five attributes they run here, in turn
with MWEM. Seconds are those of the processor, on both sides.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from statistics import median

import peers
from queries_data import Table, tables
from queries_figure import draw, workload_curves
from queries_mechanisms import MECHANISMS, Released, mwem, release
from queries_online import online
from queries_record import CONTENDERS, DEFAULT, EPSILONS, WAYS, Contender, key, recorded
from timing import Figure

import discreet as dp
from discreet.queries.workload.workload import Workload

RELEASES = 3
LIVE = ("education", "marital", "race", "sex", "income")
LIVE_ROUNDS = 2
ONLY_SMALL = {"projection"}
"""Takes minutes for each release over 200 000 cells."""
SMALL = 1 << 12


def figures() -> list[Figure]:
    """All figures of this suite."""
    known = {table.name: table for table in tables()}
    found = [
        Figure(name=f"queries/{name}", values=(), unit="records", remark=f"MISSING {name}")
        for name in ("adult", "survey")
        if name not in known
    ]
    for table in known.values():
        for ways in WAYS:
            for epsilon in EPSILONS:
                found += compared(table, ways, epsilon)
    if "adult" in known:
        few = known["adult"].only("few", *LIVE)
        for epsilon in EPSILONS:
            found += compared(few, 2, epsilon, contenders=())
        found += live(few)
        draw(workload_curves(known["adult"]))
    return found + online()


def compared(
    table: Table, ways: int, epsilon: float, contenders: Sequence[Contender] = CONTENDERS
) -> list[Figure]:
    """Errors of all mechanisms on all marginals, and what peers make of the same."""
    name = f"queries/{table.name}/{ways}-way/epsilon={epsilon:g}"
    print(name, end=" ", file=sys.stderr, flush=True)
    workload, records = Workload.marginals(table.universe, ways), int(table.counts.sum())
    done: dict[str, list[Released]] = {}
    for kind, build in MECHANISMS.items():
        if kind in ONLY_SMALL and table.universe.size > SMALL:
            continue
        mechanism = build(workload, epsilon, records)
        done[kind] = [release(mechanism, workload, table.counts) for _ in range(RELEASES)]
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    alone = median(each.rmse for each in done["independent"])
    found = [
        Figure(
            name=f"{name}/{kind}",
            values=[each.rmse for each in releases],
            unit="records",
            remark=_remark(releases, alone),
        )
        for kind, releases in done.items()
    ]
    for contender in contenders:
        theirs = [
            Released(**numbers)
            for numbers in recorded().get(key(contender, table.name, epsilon, ways), [])
        ]
        label = f"{name}/{contender.peer}_{contender.name}"
        found += [
            Figure(
                name=label,
                values=[each.rmse for each in theirs],
                unit="records",
                remark=f"{_remark(theirs, alone)}; recorded" if theirs else "MISSING in the record",
            ),
            *against(label, done["mwem"], theirs),
        ]
    return found


def _remark(releases: Sequence[Released], alone: float) -> str:
    mae, seconds = median(x.mae for x in releases), median(x.seconds for x in releases)
    share = median(x.rmse for x in releases) / alone
    return f"mean absolute {mae:.3g}; {share:.2g} of independent noise; {seconds:.2g} s"


def against(label: str, ours: list[Released], theirs: list[Released]) -> list[Figure]:
    """MWEM's error over the peer's, and how much sooner it is there; both need the peer."""
    rmse = median(each.rmse for each in theirs) if theirs else 1.0
    seconds = median(each.seconds for each in theirs) if theirs else 1.0
    reached = [each for each in ours if each.rmse <= rmse] if theirs else []
    return [
        Figure(
            name=f"{label}/mwem_error",
            values=[each.rmse / rmse for each in ours] if theirs else (),
            unit="x",
            at_most=1,
        ),
        Figure(
            name=f"{label}/mwem_speedup",
            values=[seconds / each.seconds for each in reached],
            unit="x",
            at_least=5,
            remark="to reach its error or less",
        ),
    ]


def live(table: Table) -> list[Figure]:
    """Peers at their own defaults on few attributes, each release followed by one of MWEM's."""
    found = []
    workload, records = Workload.marginals(table.universe, 2), int(table.counts.sum())
    for contender in (DEFAULT, CONTENDERS[0]):
        label = f"queries/live/{contender.peer}_{contender.name}"
        ours, theirs, reason = rounds(contender, table, workload, records)
        remark = f"MISSING {contender.peer}: {reason}" if reason else ""
        found += [
            Figure(name=label, values=[x.rmse for x in theirs], unit="records", remark=remark),
            Figure(name=f"{label}/seconds", values=[x.seconds for x in theirs], unit="s"),
            Figure(name=f"{label}/mwem", values=[x.rmse for x in ours], unit="records"),
            Figure(name=f"{label}/mwem/seconds", values=[x.seconds for x in ours], unit="s"),
            *against(label, ours, theirs),
        ]
    return found


def rounds(
    contender: Contender, table: Table, workload: Workload, records: int
) -> tuple[list[Released], list[Released], str]:
    """Releases in turn, at epsilon 1, or why there are none."""
    print(f"queries/live/{contender.name}", end=" ", file=sys.stderr, flush=True)
    ours: list[Released] = []
    theirs: list[Released] = []
    mechanism = mwem(workload, dp.PureDP(epsilon=1), records)
    reason = ""
    try:
        with peers.Peer(contender.peer, f"peer_{contender.peer}_mwem.py") as running:
            for _ in range(LIVE_ROUNDS):
                numbers = contender.ask(running, table, 1.0, (2,))[2]
                theirs.append(Released(**numbers))
                ours.append(release(mechanism, workload, table.counts))
                print(".", end="", file=sys.stderr, flush=True)
    except peers.Missing as missing:
        reason = str(missing)
    print(file=sys.stderr)
    return ours, theirs, reason
