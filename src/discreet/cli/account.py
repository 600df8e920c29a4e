"""``discreet account``: what releases cost together, and what may be done for a given price."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import display
from discreet.core.errors import InvalidParameter
from discreet.core.unit import Relation

if TYPE_CHECKING:
    from discreet.core import plotting
    from discreet.core.events.event import Event

app = typer.Typer(
    help="What releases cost together, and what may be done for a given price.",
    no_args_is_help=True,
)

Noise = Annotated[
    float,
    typer.Option(
        "--noise-multiplier",
        help="Standard deviation of the noise over the sensitivity of one step.",
    ),
]
Steps = Annotated[int, typer.Option("--steps", help="Number of steps, each on a fresh sample.")]
Rate = Annotated[
    float | None,
    typer.Option(
        "--rate",
        help="Each person joins a step independently with this probability (Poisson). "
        "Neighbours: one person added or removed.",
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        "--batch-size",
        help="Each step takes exactly this many people at random, with --people. "
        "Neighbours: one person replaced by another.",
    ),
]
People = Annotated[
    int | None, typer.Option("--people", help="Public number of people to take batches from.")
]
Delta = Annotated[float, typer.Option("--delta", help="Well below one over the number of people.")]
Target = Annotated[float, typer.Option("--epsilon", help="What may be spent.")]
Machine = Annotated[bool, typer.Option("--json", help="One line of JSON, numbers in full.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", help="Draw a picture: name.html, .svg, .png or .json.")
]

_ERRORS = (0.001, 0.01, 0.05, 0.1, 0.25, 0.5)


@app.command()
def training(
    *,
    noise_multiplier: Noise,
    steps: Steps,
    delta: Delta,
    rate: Rate = None,
    batch_size: BatchSize = None,
    people: People = None,
    plot: Plot = None,
    machine: Machine = False,
) -> None:
    """Price a training run: Gaussian noise on a fresh random sample at every step.

    discreet account training --noise-multiplier 1 --rate 0.01 --steps 10000 --delta 1e-5
    """
    with display.readable_errors(machine=machine):
        step = sampled(noise_multiplier, rate=rate, batch_size=batch_size, people=people)
        answer(step * steps, delta=delta, machine=machine)
        draw_steps(step, steps, delta=delta, plot=plot)


@app.command()
def noise(
    *,
    epsilon: Target,
    delta: Delta,
    steps: Steps,
    rate: Rate = None,
    batch_size: BatchSize = None,
    people: People = None,
    plot: Plot = None,
    machine: Machine = False,
) -> None:
    """Find the least noise multiplier with which a training run costs no more than a target.

    discreet account noise --epsilon 2 --delta 1e-5 --rate 0.01 --steps 10000
    """
    with display.readable_errors(machine=machine):
        from discreet.accounting import calibrate

        def step(multiplier: float) -> Event:
            return sampled(multiplier, rate=rate, batch_size=batch_size, people=people)

        def run(multiplier: float) -> Event:
            return step(multiplier) * steps

        found = calibrate(run, epsilon=epsilon, delta=delta)
        headline = f"noise multiplier {display.upward(found)}"
        solved = {"noise_multiplier": found}
        answer(run(found), delta=delta, machine=machine, solved=solved, headline=headline)
        draw_steps(step(found), steps, delta=delta, plot=plot)


@app.command()
def steps(
    *,
    epsilon: Target,
    delta: Delta,
    noise_multiplier: Noise,
    rate: Rate = None,
    batch_size: BatchSize = None,
    people: People = None,
    plot: Plot = None,
    machine: Machine = False,
) -> None:
    """Find the largest number of training steps that costs no more than a target.

    discreet account steps --epsilon 2 --delta 1e-5 --rate 0.01 --noise-multiplier 1
    """
    with display.readable_errors(machine=machine):
        from discreet.accounting import calibrate_count

        step = sampled(noise_multiplier, rate=rate, batch_size=batch_size, people=people)
        found = calibrate_count(lambda number: step * number, epsilon=epsilon, delta=delta)
        headline, solved = f"{found} steps", {"steps": found}
        answer(step * found, delta=delta, machine=machine, solved=solved, headline=headline)
        draw_steps(step, found, delta=delta, plot=plot)


@app.command()
def price(
    event: Annotated[str, typer.Argument(metavar="EVENT", help="Events joined by + and *.")],
    *,
    delta: Delta,
    plot: Plot = None,
    machine: Machine = False,
) -> None:
    """Price any sum of releases, fixed in advance.

    discreet account price 'Laplace(epsilon=0.1) * 1000 + Gaussian(noise_multiplier=5)' --delta 1e-6
    """
    with display.readable_errors(machine=machine):
        from discreet.accounting import plots
        from discreet.cli import expression

        told = expression.parse(event)
        answer(told, delta=delta, machine=machine)
        if plot is not None:
            deltas = [10.0**-power for power in range(12, 1, -1)]
            save(plots.accountants_side_by_side(told, deltas), plot)


@app.command()
def tradeoff(
    event: Annotated[
        list[str], typer.Argument(metavar="EVENT...", help="One or more, each in quotes.")
    ],
    *,
    plot: Plot = None,
    machine: Machine = False,
) -> None:
    """Show how well any test can tell whether one person is in the data.

    discreet account tradeoff 'Laplace(epsilon=1)' 'Gaussian(noise_multiplier=1)'
    """
    with display.readable_errors(machine=machine):
        from discreet.accounting import plots
        from discreet.cli import expression

        told = {text: expression.parse(text) for text in event}
        curves = {text: each.tradeoff()(_ERRORS).tolist() for text, each in told.items()}
        if machine:
            display.as_json({"false_alarms": _ERRORS, "misses": curves})
        else:
            display.show_curves(_ERRORS, curves)
        if plot is not None:
            save(plots.tradeoff_curves(told), plot)


def sampled(
    noise_multiplier: float, *, rate: float | None, batch_size: int | None, people: int | None
) -> Event:
    """One step of training on a random sample."""
    from discreet.core.events.mechanisms import Gaussian

    event = Gaussian(noise_multiplier=noise_multiplier)
    if rate is not None and batch_size is None and people is None:
        return event.subsample(rate=rate)
    if rate is None and batch_size is not None and people is not None:
        return event.subsample(size=batch_size, of=people)
    raise InvalidParameter(
        code="sampler_unclear",
        expectation="either --rate, or --batch-size and --people",
        remedy="Use --rate where each person joins by chance (rate 1: everybody, always), "
        "--batch-size and --people where every batch has the same size.",
    )


def answer(
    event: Event,
    *,
    delta: float,
    machine: bool,
    solved: Mapping[str, float] | None = None,
    headline: str = "",
) -> None:
    """Say what the event costs, under every accountant."""
    from discreet.accounting import compare

    quotes = compare.quotes(event, delta=delta)
    lower, upper = event.epsilon_bounds(delta=delta)
    relation = event.relation()
    if machine:
        values = {
            **(solved or {}),
            "epsilon": upper,
            "epsilon_lower": lower,
            "delta": delta,
            "neighbours": None if relation is None else relation.value,
            "accountants": [display.quoted(quote) for quote in quotes],
            "event": event.to_json(),
        }
        display.as_json(values)
        return
    cost = f"epsilon {display.upward(upper)} at delta {delta:g}"
    known = ""
    if 0 < lower < math.inf:
        known = (
            f"Lower value {display.downward(lower)}: at most the difference is lost to numerics."
        )
    title = f"{headline}: {cost}" if headline else cost
    display.show(title, quotes, [note for note in (known, *_NOTES[relation]) if note])


_NOTES = {
    None: ["Holds for whatever neighbours the events were calibrated for."],
    Relation.ADD_REMOVE: [
        "Each person joins a sample independently. Neighbours: one person added or removed."
    ],
    Relation.REPLACE: [
        "Samples have a fixed size. Neighbours: one person replaced by another.",
        "Replacing a value clipped at C moves a sum by 2 C: noise multiplier = sigma / (2 C).",
    ],
}


def draw_steps(step: Event, steps: int, *, delta: float, plot: Path | None) -> None:
    """Draw epsilon against the number of steps up to ``steps``, if a plot is wanted."""
    if plot is None:
        return
    from discreet.accounting import plots

    few = {1, *(math.ceil(steps * share / 20) for share in range(1, 21))}
    chart = plots.epsilon_against_steps(lambda number: step * number, sorted(few), delta=delta)
    save(chart, plot)


def save(chart: plotting.TopLevel, plot: Path) -> None:
    """Write the picture and say where it is."""
    from discreet.core import plotting

    plotting.save(chart, plot)
    display.saved(plot)
