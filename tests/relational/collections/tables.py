"""The invented tables that every collected question is asked about, and a curator over them.

Every combination of keys that the questions use occurs in the rows, so that an answer with a row
for each listed key is also the plain answer; limits are so high that no row is left out.
"""

from __future__ import annotations

from datetime import date, datetime, timedelta

import polars as pl

import discreet as dp
from discreet.noise import Noiseless

PEOPLE = 480
SEXES = ("f", "m", "x")
REGIONS = ("north", "east", "south", "west")
WARDS = ("A", "B", "C", "D")
ITEMS = ("tea", "rice", "soap", "ink", "rope", "lamp")
_NEW_YEAR = date(2024, 1, 1)


def people() -> pl.DataFrame:
    """One row for each person."""
    each = range(PEOPLE)
    return pl.DataFrame(
        {
            "pid": list(each),
            "name": [f"p{i}" for i in each],
            "age": [18 + i % 40 for i in each],
            "sex": [SEXES[(i // 40) % 3] for i in each],
            "region": [REGIONS[(i // 12) % 4] for i in each],
            "married": [(i // 120) % 2 == 0 for i in each],
            "schooling": [1 + (i * 5 + i // 12) % 12 for i in each],
            "income": [None if i % 16 == 3 else (i * 613 % 8000) / 1.0 for i in each],
            "score": [None if i % 13 == 4 else i % 11 for i in each],
            "joined": [date(2020, 1, 1) + timedelta(days=(i * 37) % 1461) for i in each],
            "town": [f"town {'abcdef'[i % 6]}" for i in each],
            "note": [("ok", " late ", "Lost", None)[i % 4] for i in each],
        }
    )


def visits() -> pl.DataFrame:
    """One to four rows for each person."""
    rows = [(i, k) for i in range(PEOPLE) for k in range(1 + i % 4)]
    return pl.DataFrame(
        {
            "visit_id": list(range(len(rows))),
            "pid": [i for i, _ in rows],
            "ward": [WARDS[(i + k * k) % 4] for i, k in rows],
            "kind": [(None, "first", "repeat")[(i // 4 + k) % 3] for i, k in rows],
            "day": [_NEW_YEAR + timedelta(days=(i * 11 + k * 50) % 366) for i, k in rows],
            "at": [
                datetime(2024, 1, 1) + timedelta(minutes=(i * 997 + k * 7919) % 500_000)
                for i, k in rows
            ],
            "cost": [None if (i + k) % 13 == 0 else (i * 97 + k * 31) % 400 / 1.0 for i, k in rows],
            "minutes": [(i * 17 + k * 23) % 91 for i, k in rows],
            "warmth": [36 + ((i * 3 + k) % 40) / 8 for i, k in rows],
            "urgent": [(i // 12 + k) % 3 == 0 for i, k in rows],
            "remark": [("fine", "see again", "left")[(i + k) % 3] for i, k in rows],
        }
    )


def orders() -> pl.DataFrame:
    """None to three rows for each person."""
    rows = [(i, k) for i in range(PEOPLE) for k in range(i % 4)]
    return pl.DataFrame(
        {
            "order_id": list(range(1000, 1000 + len(rows))),
            "pid": [i for i, _ in rows],
            "item": [ITEMS[(i // 4 + i // 48 + k) % 6] for i, k in rows],
            "quantity": [1 + (i // 24 + k) % 12 for i, k in rows],
            "price": [((i * 7 + k * 13) % 240) / 4 for i, k in rows],
            "day": [_NEW_YEAR + timedelta(days=(i * 29 + k * 5) % 366) for i, k in rows],
            "paid": [(i // 8 + k) % 2 == 0 for i, k in rows],
        }
    )


def lines() -> pl.DataFrame:
    """Two rows for each order; the person is the order's."""
    order = orders()["order_id"].to_list()
    rows = [(o, k) for o in order for k in range(2)]
    return pl.DataFrame(
        {
            "order_id": [o for o, _ in rows],
            "good": [("big", "small", "odd")[(o + k) % 3] for o, k in rows],
            "amount": [(o * 3 + k * 4) % 10 for o, k in rows],
            "worth": [((o * 11 + k) % 200) / 2 for o, k in rows],
        }
    )


def wards() -> pl.DataFrame:
    """Public: where each ward is. Nobody was ever in ward E."""
    return pl.DataFrame(
        {
            "ward": ["A", "B", "C", "D", "E"],
            "site": ["old", "old", "new", "new", "far"],
            "beds": [10, 20, 30, 40, 50],
        }
    )


def regions() -> pl.DataFrame:
    """Public: how many people live in each region."""
    return pl.DataFrame(
        {
            "region": list(REGIONS),
            "country": ["up", "up", "down", "down"],
            "population": [1000, 2000, 4000, 8000],
        }
    )


def goods() -> pl.DataFrame:
    """Public: shelf and weight of each item."""
    return pl.DataFrame(
        {
            "item": list(ITEMS),
            "shelf": ["food", "food", "house", "office", "house", "office"],
            "weight": [0.25, 1.0, 0.5, 0.125, 2.0, 1.5],
        }
    )


def holidays() -> pl.DataFrame:
    """Public: some days of the year."""
    days = [date(2024, 1, 1), date(2024, 5, 1), date(2024, 10, 3), date(2024, 12, 25)]
    return pl.DataFrame({"day": days, "title": ["new year", "may", "unity", "christmas"]})


FRAMES = {
    "people": people(),
    "visits": visits(),
    "orders": orders(),
    "lines": lines(),
    "wards": wards(),
    "regions": regions(),
    "goods": goods(),
    "holidays": holidays(),
}

PERSON = dp.Person("pid", max_rows=400, max_groups=60)
YEAR = dp.Dates(date(2024, 1, 1), date(2024, 12, 31))


def open_curator() -> dp.Curator:
    """A curator in test mode: without noise, and with a budget that is never used up."""
    return dp.Curator(
        people=dp.table(
            FRAMES["people"],
            unit=PERSON,
            columns={
                "age": dp.Number(18, 57),
                "sex": dp.Category(list(SEXES)),
                "region": dp.Category(list(REGIONS)),
                "married": dp.Category([False, True]),
                "schooling": dp.Number(1, 12),
                "income": dp.Number(0.0, 8000.0),
                "score": dp.Number(0, 10),
                "joined": dp.Dates(date(2020, 1, 1), date(2023, 12, 31)),
                "town": dp.Discovered(),
            },
        ),
        visits=dp.table(
            FRAMES["visits"],
            unit=PERSON,
            columns={
                "ward": dp.Category(list(WARDS)),
                "kind": dp.Category(["first", "repeat", None]),
                "day": YEAR,
                "cost": dp.Number(0.0, 400.0),
                "minutes": dp.Number(0, 90),
                "warmth": dp.Number(36.0, 41.0),
                "urgent": dp.Category([False, True]),
            },
        ),
        orders=dp.table(
            FRAMES["orders"],
            unit=PERSON,
            columns={
                "item": dp.Category(list(ITEMS)),
                "quantity": dp.Number(1, 12),
                "price": dp.Number(0.0, 60.0),
                "day": YEAR,
                "paid": dp.Category([False, True]),
            },
        ),
        lines=dp.table(
            FRAMES["lines"],
            unit=dp.Person("order_id", via="orders.pid", max_rows=400, max_groups=60),
            columns={
                "good": dp.Category(["big", "small", "odd"]),
                "amount": dp.Number(0, 9),
                "worth": dp.Number(0.0, 100.0),
            },
        ),
        wards=dp.public(FRAMES["wards"]),
        regions=dp.public(FRAMES["regions"]),
        goods=dp.public(FRAMES["goods"]),
        holidays=dp.public(FRAMES["holidays"]),
        budget=dp.ApproxDP(epsilon=10**12, delta=0.9),
        ledger=dp.ledger.Memory(),
        randomness=Noiseless(),
    )
