"""What the limits on a person leave out: people who count in part, and rows that do not count.

Of each person the rows n in every group decide, and nothing else: no salt, no content. A person is
*cut* in a group where some of the rows there do not count in full. Of n rows, of which h are within
the limit of a group, the share a counts: T/t, where t = sum h exceeds T, the limit in all
(``row_weights``); where whole rows are sampled, and g groups exceed G, at most G/g, the chance of a
group. So n - a h rows are left out; a is rounded up, and they are not overstated.

Two bounds stand last, in whole numbers: a person with cut rows in k groups is counted as H/k of a
person in each where k exceeds H, and a person's rows left out are scaled to C where they exceed it.

    sum over groups of floor(H * 2**q / k)  <=  H * 2**q
    sum over groups of floor(x * a / 2**z)  <=  C * 2**p         a = floor(C * 2**(p + z) / sum x)

Source: contract, "Bounding inside the engine". Proof: ``proofs/left_out.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.compile.dialect import Dialect

PLACES = 20
"""Binary places of a row left out: a million groups of people lose less than one row."""
MOST_ROWS = 100_000
"""The largest cap on rows left out of one person: sums over all groups fit 62 bits."""
_FINER = 24
"""Binary places of the share to which rows left out are scaled: MOST_ROWS fills 37 bits before."""
_MANY = 1 << 36
"""More rows than anybody has; sums over groups and products with weights fit 62 bits below it."""


@dataclass(frozen=True)
class Limits:
    """The limits that can act on a person; None where one cannot.

    ``rows`` count in all and ``rows_per_group`` in one group; ``groups`` are kept where whole rows
    are sampled, and ``presence`` is in how many groups a person is counted once.
    """

    rows: int | None = None
    rows_per_group: int | None = None
    groups: int | None = None
    presence: int | None = None

    @property
    def act(self) -> bool:
        """Whether any of them can."""
        return self != Limits()

    @property
    def leave_rows(self) -> bool:
        """Whether rows are left out, and not people alone counted in part."""
        return self != Limits(presence=self.presence)


@dataclass(frozen=True)
class LeftOutCaps:
    """How much of one person a report holds at most, and the binary places of its numbers.

    ``groups`` in which one person is counted as cut; ``rows`` left out, None if nobody asks.
    """

    groups: int
    rows: int | None
    people_places: int
    rows_places: int


def left_out_text(owned: str, limits: Limits, caps: LeftOutCaps, dialect: Dialect) -> str:
    """A SELECT of cells, people cut and rows left out there; each as the halves of a wide sum.

    ``owned`` selects the person ``o`` and the group ``cell`` of every row.
    """
    sums = [f"{dialect.wide_sum('p')} AS m0"]
    if caps.rows is not None:
        sums.append(f"{dialect.wide_sum('y')} AS m1")
    outer = [half for number in range(len(sums)) for half in dialect.halves(f"m{number}")]
    inside = f"SELECT cell, {', '.join(sums)} FROM ({_capped(owned, limits, caps, dialect)}) AS q"
    return f"SELECT cell, {', '.join(outer)} FROM ({inside} GROUP BY cell) AS q"


def _capped(owned: str, limits: Limits, caps: LeftOutCaps, dialect: Dialect) -> str:
    """Cells with what one person brings to both numbers: the last bounds."""
    whole = dialect.literal(1 << caps.people_places)
    part = dialect.whole_quotient(dialect.literal(caps.groups << caps.people_places), "k")
    people = f"CASE WHEN k > {caps.groups} THEN {part} ELSE {whole} END AS p"
    if caps.rows is None:
        counted = "cell, COUNT(*) OVER (PARTITION BY o) AS k"
        inside = f"SELECT {counted} FROM ({_select_cut_people(owned, limits, caps, dialect)}) AS q"
        return f"SELECT cell, {people} FROM ({inside}) AS q"
    cap = caps.rows << PLACES
    share = dialect.whole_quotient(dialect.literal(cap << _FINER), "s")
    scaled = dialect.whole_quotient(f"(x * {share})", dialect.literal(1 << _FINER))
    held = f"CASE WHEN s > {dialect.literal(cap)} THEN {scaled} ELSE x END"
    if caps.rows_places < PLACES:
        held = dialect.whole_quotient(
            f"({held})", dialect.literal(1 << (PLACES - caps.rows_places))
        )
    counted = (
        "cell, x, COUNT(*) OVER (PARTITION BY o) AS k, "
        "CAST(SUM(x) OVER (PARTITION BY o) AS BIGINT) AS s"
    )
    inside = f"SELECT {counted} FROM ({_select_cut_people(owned, limits, caps, dialect)}) AS q"
    return f"SELECT cell, {people}, {held} AS y FROM ({inside}) AS q"


def _select_cut_people(owned: str, limits: Limits, caps: LeftOutCaps, dialect: Dialect) -> str:
    """People in groups where they are cut, with steps ``x`` of rows left out, within the cap."""
    each = limits.rows_per_group
    held = "n" if each is None else f"CASE WHEN n > {each} THEN {dialect.literal(each)} ELSE n END"
    many = dialect.literal(_MANY)
    rows = f"CASE WHEN COUNT(*) > {many} THEN {many} ELSE COUNT(*) END"
    grouped = f"SELECT o, cell, {rows} AS n FROM ({owned}) AS q GROUP BY o, cell"
    beside = (
        f"SELECT o, cell, n, {held} AS h, CAST(SUM({held}) OVER (PARTITION BY o) AS BIGINT) AS t, "
        f"COUNT(*) OVER (PARTITION BY o) AS g FROM ({grouped}) AS q"
    )
    conditions = [
        condition
        for limit, condition in (
            (each, "n > h"),
            (limits.rows, f"t > {limits.rows}"),
            (limits.groups, f"g > {limits.groups}"),
            (limits.presence, f"g > {limits.presence}"),
        )
        if limit is not None
    ]
    where = f"WHERE {' OR '.join(conditions)}"
    if caps.rows is None:
        return f"SELECT o, cell FROM ({beside}) AS q {where}"
    cap, full = dialect.literal(caps.rows << PLACES), dialect.literal(1 << PLACES)
    left = f"n * {full} - ({_share(limits, dialect)}) * h"
    weighed = f"SELECT o, cell, {left} AS x FROM ({beside}) AS q {where}"
    # Last: nothing below zero, nothing above the cap, whatever was computed before.
    return (
        f"SELECT o, cell, CASE WHEN x < 0 THEN {dialect.literal(0)} WHEN x > {cap} THEN {cap} "
        f"ELSE x END AS x FROM ({weighed}) AS q"
    )


def _share(limits: Limits, dialect: Dialect) -> str:
    """How much of the rows that groups hold counts: in steps of 2**-PLACES, rounded up."""
    share = dialect.literal(1 << PLACES)
    for most, found in ((limits.rows, "t"), (limits.groups, "g")):
        if most is not None:
            steps = dialect.literal(min(most, _MANY) << PLACES)
            part = dialect.whole_quotient(steps, found)
            share = f"CASE WHEN {found} > {most} THEN {part} + 1 ELSE {share} END"
    return share
