"""Private numbers from a real census table: a count, a mean and a histogram, with intervals.

Run by ``make demo``. The table is UCI Adult, 32 561 people, one row each.
"""

from __future__ import annotations

import adult

import discreet as dp
from discreet.calculus import (
    L1,
    Categories,
    Integers,
    Nullable,
    Rows,
    Space,
    count_rows,
    histogram,
    metric_of,
    sum_rows,
)
from discreet.mechanisms import Laplace

CONFIDENCE = 0.95
HOURS = (0, 100)
BAR = 40


def main() -> None:
    """Ask, print, and say what it cost."""
    people = adult.load()
    unit = dp.Row()
    print(f"UCI Adult, one row per person; protected unit: {unit}\n")

    spent = [
        show_count(people.age, unit),
        show_mean(people.hours_per_week, unit),
        show_histogram(people.education, unit),
    ]

    total = spent[0] + spent[1] + spent[2]
    print(f"\nSpent in all: epsilon {total.epsilon(delta=0):.3f}, delta 0, per {unit}.")
    print("The ledger would store:", total.to_json())


def show_count(ages: list[int], unit: dp.Row) -> dp.events.Event:
    """How many people there are."""
    mechanism = Laplace(epsilon=0.1, sensitivity=1)
    pipeline = count_rows(Space(Rows(Integers()), metric_of(unit))) >> mechanism
    answer = pipeline.release(ages)
    lower, upper = mechanism.interval(answer, confidence=CONFIDENCE)
    print(f"people              {answer}   ({lower} to {upper} at {CONFIDENCE:.0%})")
    return pipeline.event()


def show_mean(hours: list[int], unit: dp.Row) -> dp.events.Event:
    """Mean hours of work a week: a sum around the middle of the bounds over a count."""
    low, high = HOURS
    middle = (low + high) // 2
    space = Space(Rows(Integers()), metric_of(unit))
    amount = Laplace(epsilon=0.2, sensitivity=(high - low) // 2)
    number = Laplace(epsilon=0.1, sensitivity=1)
    centred = [value - middle for value in hours]
    total = sum_rows(space, lower=low - middle, upper=high - middle, grid=1) >> amount
    count = count_rows(space) >> number
    noisy_total, noisy_count = total.release(centred), max(count.release(hours), 1)
    mean = middle + noisy_total / noisy_count
    # Half of the failure to each part; |total| <= 50 n bounds what an error in n can do.
    half = (1 + CONFIDENCE) / 2
    slack = amount.error(confidence=half, kind=int) + abs(mean - middle) * number.error(
        confidence=half, kind=int
    )
    error = slack / max(noisy_count - number.error(confidence=half, kind=int), 1)
    print(f"hours worked a week {mean:.3f} ± {error:.3f} at {CONFIDENCE:.0%}")
    return total.event() + count.event()


def show_histogram(education: list[str], unit: dp.Row) -> dp.events.Event:
    """People by education: every declared key appears, with one price for all cells."""
    mechanism = Laplace(epsilon=0.5, sensitivity=1)
    space = Space(Rows(Nullable(Categories(adult.EDUCATIONS))), metric_of(unit))
    pipeline = histogram(space, adult.EDUCATIONS, metric=L1()) >> mechanism
    counts = pipeline.release(education)
    error = mechanism.error(confidence=CONFIDENCE, size=len(counts), kind=int)
    print(f"\npeople by education, each ± {error:.0f}, all together at {CONFIDENCE:.0%}")
    widest = max(int(counts.max()), 1)
    for key, count in zip(adult.EDUCATIONS, counts, strict=True):
        bar = "█" * round(BAR * max(int(count), 0) / widest)
        print(f"  {key:<14}{count:>7}  {bar}")
    return pipeline.event()


if __name__ == "__main__":
    main()
