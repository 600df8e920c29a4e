"""Draw the figures of the documentation into ``docs/figures``.

Every number comes from the library: its errors, its certified laws, its audit. Run it with the
extra ``plots``: ``pip install -e '.[plots]'``, then ``python docs/figures.py``. A folder and
names after it draw some of them elsewhere.
"""

from __future__ import annotations

import math
import sys
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

import altair as alt
import numpy as np
from scipy.integrate import quad

import discreet as dp
from discreet import events
from discreet.accounting import compare, plots
from discreet.audit.testers import epsilon_lower_bound
from discreet.core.plotting import styled
from discreet.mechanisms import DiscreteLaplace, Exponential, Gaussian, Laplace, PermuteAndFlip
from discreet.mechanisms.distributions import distribution as noise_laws
from discreet.mechanisms.key_selection import GaussianThreshold, OptimalSelection
from discreet.noise import Noiseless, Seeded, gaussian, laplace
from discreet.noise.randomness import Source
from discreet.noise.table import OutcomeDistribution
from discreet.release import LinearFormula, NoisyMeasure, ReleasedColumn
from discreet.streams.live.plot import released_by_tick
from discreet.streams.live.tick import Tick

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart

FOLDER = Path(__file__).parent / "figures"
CONFIDENCE = 0.95
DELTA = 1e-6
CANDIDATES = 10

# Okabe and Ito's colours, which survive every common kind of colour blindness; lines differ in
# their dashes and bars in their lightness as well.
BLUE, ORANGE, GREEN, BLACK = "#0072B2", "#E69F00", "#009E73", "#222222"


def two_worlds() -> Chart:
    """What a released count may be with a person in the table, and without."""
    present, absent = "your row is in: 42", "your row is out: 41"
    points = [
        {"released": value + truth, "probability": mass, "world": world, "panel": f"epsilon = {e}"}
        for e in (0.5, 2)
        for world, truth in ((present, 42), (absent, 41))
        for value, mass in probabilities(laplace.BinnedRoundedLaplace(1 / Fraction(e), 0)).items()
        if 34 <= value + truth <= 49
    ]
    return panels(
        alt.Chart(alt.Data(values=points))
        .mark_bar()
        .encode(
            x=alt.X("released:O", title="released count", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("world:N", sort=[absent, present]),
            y=alt.Y("probability:Q", title="probability"),
            color=colour("world", {absent: BLUE, present: ORANGE}),
        )
        .properties(width=300, height=170)
    )


def errors() -> Chart:
    """The largest error of many counts against epsilon, where a person is in one or in all."""
    names = ("Laplace", "discrete Laplace", "Gaussian, delta = 1e-6")
    points = []
    for reach in ("one person in one count", "one person in every count"):
        for size in (10, 1000):
            for epsilon in np.geomspace(0.05, 5, 61).tolist():
                most = 1 if reach.endswith("one count") else size
                pure = {"epsilon": epsilon, "sensitivity": most}
                mechanisms = (
                    Laplace(**pure),
                    DiscreteLaplace(**pure),
                    Gaussian(epsilon=epsilon, delta=DELTA, sensitivity=math.sqrt(most)),
                )
                points += [
                    {
                        "epsilon": epsilon,
                        "error": mechanism.error(confidence=CONFIDENCE, size=size, kind=int),
                        "noise": name,
                        "counts": f"{size} counts",
                        "reach": reach,
                    }
                    for name, mechanism in zip(names, mechanisms, strict=True)
                ]
    lines = (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "epsilon:Q",
                title="epsilon",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=[0.05, 0.1, 0.2, 0.5, 1, 2, 5], format="~g"),
            ),
            y=alt.Y(
                "error:Q",
                title="largest error, in people",
                scale=alt.Scale(type="log"),
                axis=alt.Axis(values=[10**k for k in range(7)], format="~s"),
            ),
            color=colour("noise", dict(zip(names, (BLUE, ORANGE, BLACK), strict=True))),
            strokeDash=dashes("noise", dict(zip(names, ([], [4, 4], [1, 2]), strict=True))),
        )
        .properties(width=280, height=180)
    )
    column = alt.Column("counts:N", title=None, sort=["10 counts", "1000 counts"])
    row = alt.Row("reach:N", title=None, sort="descending", header=alt.Header(labelOrient="left"))
    return lines.facet(row=row, column=column)


def selection() -> Chart:
    """Chance of a wrong choice among ten candidates, by how far the best one leads."""
    exponential = Exponential(epsilon=1, sensitivity=1)
    permuted = PermuteAndFlip(epsilon=1, sensitivity=1)
    names = ("noisy max", "exponential", "permute-and-flip")
    laws = (noisy_max_wrong, exponential_wrong, permute_and_flip_wrong)
    rates = (float(exponential.rate()), float(exponential.rate()), float(permuted.rate()))
    points = [
        {"lead": lead, "wrong": law(rate * lead), "mechanism": name}
        for name, law, rate in zip(names, laws, rates, strict=True)
        for lead in np.linspace(0, 20, 61).tolist()
    ]
    return (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X("lead:Q", title="lead of the best score, in sensitivities / epsilon"),
            y=alt.Y(
                "wrong:Q",
                title="probability of a wrong choice",
                scale=alt.Scale(type="log", domain=[1e-4, 1]),
                axis=alt.Axis(values=[1, 0.1, 0.01, 0.001, 0.0001], format="~g"),
            ),
            color=colour("mechanism", dict(zip(names, (BLACK, BLUE, ORANGE), strict=True))),
            strokeDash=dashes("mechanism", dict(zip(names, ([1, 2], [], [6, 3]), strict=True))),
        )
        .properties(width=420, height=220)
    )


def exponential_wrong(lead: float) -> float:
    """The rest of the weight, where one candidate leads the others by ``lead`` log-odds."""
    others = (CANDIDATES - 1) * math.exp(-lead)
    return others / (1 + others)


def permute_and_flip_wrong(lead: float) -> float:
    """One less the mean of 1 / (1 + number of others that show heads)."""
    heads = math.exp(-lead)
    return 1 - (1 - (1 - heads) ** CANDIDATES) / (CANDIDATES * heads)


def noisy_max_wrong(lead: float) -> float:
    """One less the chance that the leader's Laplace noise plus lead exceeds all others."""

    def below(x: float) -> float:
        return 0.5 * math.exp(x) if x < 0 else 1 - 0.5 * math.exp(-x)

    def loses(x: float) -> float:
        return 0.5 * math.exp(-abs(x)) * (1 - below(x + lead) ** (CANDIDATES - 1))

    edges = sorted({-40.0, -lead, 0.0, 40.0})
    return math.fsum(quad(loses, *pair)[0] for pair in pairwise(edges))


def discrete_and_rounded() -> Chart:
    """Probabilities of whole-number noise: the discrete law beside the rounded one."""
    scale, sigma = Fraction(1), Fraction(1, 2)
    laws: dict[str, dict[str, OutcomeDistribution]] = {
        "Laplace, scale 1": {
            "rounded": laplace.BinnedRoundedLaplace(scale, 0),
            "discrete": laplace.BinnedDiscreteLaplace(scale, 0),
        },
        "Gaussian, sigma 1/2": {
            "rounded": gaussian.RoundedCells(sigma),
            "discrete": gaussian.BinnedDiscreteGaussian(sigma, 0),
        },
    }
    points = [
        {"noise": value, "probability": mass, "law": name, "panel": panel}
        for panel, pair in laws.items()
        for name, law in pair.items()
        for value, mass in probabilities(law).items()
        if abs(value) <= 4
    ]
    return panels(
        alt.Chart(alt.Data(values=points))
        .mark_bar()
        .encode(
            x=alt.X("noise:O", title="noise", axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("law:N", sort=["rounded", "discrete"]),
            y=alt.Y("probability:Q", title="probability"),
            color=colour("law", {"rounded": BLUE, "discrete": ORANGE}),
        )
        .properties(width=300, height=170),
        order=list(laws),
    )


def probabilities(law: OutcomeDistribution) -> dict[int, float]:
    """The outcomes of a law with the probabilities its sampler is built on."""
    weights = law.weights(64)
    values = law.values(len(weights.low)).tolist()
    total = sum(weights.low)
    return {value: low / total for value, low in zip(values, weights.low, strict=True)}


def audit() -> Chart:
    """What a black-box audit can show, on average, of a true claim and of a false one."""
    claim = 1.0
    names = {"as claimed: epsilon 1": 1.0, "broken twin: noise for epsilon 2": 2.0}
    points = []
    for name, actual in names.items():
        # The event "at least the larger value", the best one against Laplace noise.
        upper, lower = 0.5, 0.5 * math.exp(-actual)
        for trials in (round(number) for number in np.geomspace(30, 100_000, 60).tolist()):
            bound = epsilon_lower_bound(
                round(upper * trials), round(lower * trials), trials, delta=0, confidence=0.99
            )
            points.append({"trials": trials, "bound": bound, "mechanism": name})
    lines = (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2)
        .encode(
            x=alt.X(
                "trials:Q",
                title="releases on each of the two inputs",
                scale=alt.Scale(type="log", nice=False),
                axis=alt.Axis(values=[100, 1000, 10_000, 100_000], format="~s"),
            ),
            y=alt.Y("bound:Q", title="epsilon shown to be at least"),
            color=colour("mechanism", dict(zip(names, (BLUE, ORANGE), strict=True))),
            strokeDash=dashes("mechanism", dict(zip(names, ([], [6, 3]), strict=True))),
        )
        .properties(width=420, height=200)
    )
    rule = alt.Chart(alt.Data(values=[{"claim": claim}]))
    limit = rule.mark_rule(color=BLACK, strokeDash=[2, 2]).encode(y="claim:Q")
    label = rule.mark_text(align="left", dx=4, dy=-7, color=BLACK, text="the claim").encode(
        x=alt.value(0), y="claim:Q"
    )
    return lines + limit + label


def epsilon_steps() -> Chart:
    """What many releases cost: simple noise, and the steps of a training run on samples."""
    noise = events.Laplace(epsilon=0.1)
    step = events.Gaussian(noise_multiplier=1.0).subsample(rate=0.01)
    among = {name: each for name, each in compare.accountants().items() if name != "approximate"}
    numbers = [1, *range(25, 1001, 25)]
    left = plots.epsilon_against_steps(lambda k: noise * k, numbers, delta=DELTA, among=among)
    numbers = [1, 10, 50, 100, 200, 350, *range(500, 10_001, 500)]
    right = plots.epsilon_against_steps(lambda k: step * k, numbers, delta=DELTA, among=among)
    y = alt.Y("epsilon:Q", title="epsilon at delta = 1e-6")
    return alt.hconcat(
        left.encode(
            x=alt.X("steps:Q", title="releases of Laplace(epsilon=0.1)"),
            y=y.scale(domain=[0, 40]),
        ).properties(width=300, height=220),
        right.encode(
            x=alt.X("steps:Q", title="training steps, multiplier 1, rate 0.01").axis(
                format=",d", tickCount=5
            ),
            y=y,
            color=left.encoding.color,
            strokeDash=left.encoding.strokeDash,
        ).properties(width=300, height=220),
    ).resolve_scale(color="shared", strokeDash="shared")


def tradeoff() -> Chart:
    """How well any test can tell whether one person is in the data, after more and more."""
    noise = events.Laplace(epsilon=0.1)
    return plots.tradeoff_curves(
        {"1 release": noise, "30 releases": noise * 30, "1000 releases": noise * 1000}
    )


def accountants() -> Chart:
    """One hundred releases under every accountant, against delta."""
    deltas = np.geomspace(1e-12, 1e-2, 41).tolist()
    among = {name: each for name, each in compare.accountants().items() if name != "approximate"}
    return plots.accountants_side_by_side(events.Laplace(epsilon=0.1) * 100, deltas, among=among)


def release() -> Chart:
    """The mean ages of the release that the page about releases makes by hand."""
    n = NoisyMeasure(
        "r1", "n", noise_laws.DiscreteLaplaceDistribution(scale=2, step=1), (623, 1077, 114)
    )
    total = noise_laws.RoundedLaplace(scale=300, step=2**-20)
    s = NoisyMeasure("r1", "s", total, (-2250.5, 3310.25, -480.125))
    age = ReleasedColumn.quotient(
        "age",
        LinearFormula(((1, s),)),
        LinearFormula(((1, n),), within=(0, math.inf)),
        offset=60.0,
        within=(0.0, 120.0),
        confidence=CONFIDENCE,
    )
    return dp.Release(
        id="r1",
        query="",
        keys={"ward": ("A", "B", "C")},
        answers=(age,),
        confidence=CONFIDENCE,
        guarantee=dp.PureDP(epsilon=0.5, unit=dp.Row()),
        event=events.DiscreteLaplace(epsilon=0.5, steps=1),
        statement={},
    ).plot()


def visits() -> Chart:
    """What the tutorial draws: visits by month and ward, with intervals."""
    return (
        hospital(max_rows=5, randomness=Seeded(1))
        .sql(
            "SELECT month(day) AS month, ward, COUNT(*) AS n FROM visits GROUP BY month, ward",
            spend=dp.PureDP(epsilon=0.5),
        )
        .plot()
    )


def bounding() -> Chart:
    """Rows that a bound drops, and the noise that it needs, for the tutorial's table."""
    sql = "SELECT COUNT(*) AS n FROM visits"
    dropped = "visits dropped"
    noise = {epsilon: f"noise at epsilon {epsilon}" for epsilon in (0.1, 1)}
    rows = len(hospital_rows()["patient"])
    points = []
    for most in range(1, 21):
        curator = hospital(max_rows=most, randomness=Noiseless())
        for epsilon, name in noise.items():
            answer = curator.sql(sql, spend=dp.PureDP(epsilon=epsilon))
            width = answer.cell("n").half_width(confidence=CONFIDENCE)
            points.append({"most": most, "error": width, "what": name})
        points.append({"most": most, "error": rows - int(answer), "what": dropped})
    names = [dropped, *noise.values()]
    return (
        alt.Chart(alt.Data(values=points))
        .mark_line(strokeWidth=2, point=True)
        .encode(
            x=alt.X("most:Q", title="max_rows", axis=alt.Axis(values=[1, 5, 10, 15, 20])),
            y=alt.Y(
                "error:Q",
                title="error of a count of 19 983 visits",
                scale=alt.Scale(type="symlog", constant=10),
                axis=alt.Axis(values=[0, 10, 100, 1000, 10_000], format=",d"),
            ),
            color=colour("what", dict(zip(names, (BLACK, BLUE, ORANGE), strict=True))),
            strokeDash=dashes("what", dict(zip(names, ([], [6, 3], [1, 2]), strict=True))),
        )
        .properties(width=420, height=220)
    )


def hospital(*, max_rows: int, randomness: Source) -> dp.Curator:
    """The tutorial's table behind a curator in test mode, so that figures can be drawn again."""
    return dp.Curator(
        visits=dp.table(
            hospital_rows(),
            unit=dp.Person("patient", max_rows=max_rows),
            columns={
                "ward": dp.Category(["surgery", "medicine", "maternity"]),
                "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
            },
        ),
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
        randomness=randomness,
    )


def hospital_rows() -> dict[str, Any]:
    """The table of the tutorial, column by column, as far as the figures need it."""
    rng = np.random.default_rng(7)
    each = rng.geometric(0.4, 8_000)
    rows = int(each.sum())
    rng.integers(0, 100, 8_000)  # ages
    wards = rng.choice(["surgery", "medicine", "maternity"], rows, p=[0.3, 0.5, 0.2])
    rng.gamma(2, 400, rows)  # costs
    days = np.datetime64("2024-01-01", "us") + rng.integers(0, 366, rows) * np.timedelta64(1, "D")
    return {"patient": np.repeat(np.arange(8_000), each), "ward": wards, "day": days}


def keys() -> Chart:
    """How often a key is named, by how many people have it, for three rules of the same price."""
    lines = {"optimal rule": BLUE, "Laplace noise": ORANGE, "Gaussian noise": GREEN}
    points = []
    for groups in (1, 5):
        scale = groups / 1.0
        share = -math.expm1(math.log1p(-1e-5) / groups)
        threshold = 1 - scale * math.log(2 * share)
        optimal = OptimalSelection(epsilon=1, delta=1e-5, groups=groups)
        gaussian_rule = GaussianThreshold(epsilon=1, delta=1e-5, groups=groups)
        for people in range(1, 31 if groups == 1 else 101):
            over = threshold - people
            tail = 0.5 * math.exp(-abs(over) / scale)
            chances = (
                optimal.keep_probability(people),
                tail if over > 0 else 1 - tail,
                gaussian_rule.keep_probability(people),
            )
            points += [
                {"people": people, "named": chance, "rule": rule, "panel": _in_keys(groups)}
                for rule, chance in zip(lines, chances, strict=True)
            ]
    return panels(
        alt.Chart(alt.Data(values=points))
        .mark_line()
        .encode(
            x=alt.X("people:Q", title="people who have the key"),
            y=alt.Y("named:Q", title="probability that it is named"),
            color=colour("rule", lines),
            strokeDash=dashes("rule", dict(zip(lines, ([], [6, 3], [2, 2]), strict=True))),
        )
        .properties(width=270, height=200),
        order=[_in_keys(1), _in_keys(5)],
    ).resolve_scale(x="independent")


def synopsis() -> Chart:
    """Counts by two attributes, exact and from one synopsis."""
    numbers = np.random.default_rng(0)
    people = 2_000
    age = numbers.triangular(17, 35, 70, people).astype(np.int64)
    work = np.where(numbers.random(people) < age / 100, "office", "field")
    records = []
    for panel, randomness in (("exact", Noiseless()), ("synopsis, epsilon = 0.2", Seeded(1))):
        curator = dp.Curator(
            adult=dp.table(
                {"age": age, "work": work, "sex": numbers.choice(["f", "m"], people)},
                unit=dp.Row(),
                columns={
                    "age": dp.Number(17, 69),
                    "work": dp.Category(["office", "field"]),
                    "sex": dp.Category(["f", "m"]),
                },
            ),
            budget=dp.PureDP(epsilon=1),
            ledger=dp.ledger.Memory(),
            randomness=randomness,
        )
        universe = curator.universe("adult", "work", "sex", age="FLOOR(age / 10) * 10")
        released = curator.synopsis(
            dp.queries.Workload.marginals(universe, 2),
            mechanism=dp.queries.MatrixMechanism,
            spend=dp.PureDP(epsilon=0.2),
        )
        records += [{**row, "panel": panel} for row in released.table("age", "work")]
    return panels(
        alt.Chart(alt.Data(values=records))
        .mark_rect()
        .encode(
            x=alt.X("age:O", title="age, from"),
            y=alt.Y("work:N", title=None),
            color=alt.Color("n:Q", title="people", scale=alt.Scale(scheme="blues")),
        )
        .properties(width=200, height=90),
    )


def trees() -> Chart:
    """The leaves that PrivTree grows where people are."""
    numbers = np.random.default_rng(1)
    side = 1 << 20
    town = numbers.normal((300_000, 700_000), 40_000, (20_000, 2))
    country = numbers.uniform(0, side, (2_000, 2))
    positions = np.vstack([town, country]).astype(int).clip(0, side - 1)
    wide = dp.queries.Universe.of(east=range(side), north=range(side))
    tree = dp.queries.PrivTree(
        dp.queries.Workload.of(wide, {}),
        dp.PureDP(epsilon=1),
        dp.queries.NoisyRecordCount(),
        randomness=Seeded(1),
    )
    leaves = tree.release(dp.queries.Points(positions))
    boxes = [
        {"left": int(low[0]), "bottom": int(low[1]), "right": int(high[0]), "top": int(high[1])}
        for low, high in zip(leaves.lows, leaves.highs, strict=True)
    ]
    kilometres = "datum.value / 1000"
    return (
        alt.Chart(alt.Data(values=boxes))
        .mark_rect(fill=None, stroke="#4c78a8", strokeWidth=0.7)
        .encode(
            x=alt.X("left:Q", title="east, km", axis=alt.Axis(labelExpr=kilometres)),
            x2="right:Q",
            y=alt.Y("bottom:Q", title="north, km", axis=alt.Axis(labelExpr=kilometres)),
            y2="top:Q",
        )
        .properties(width=320, height=320)
    )


def topdown() -> Chart:
    """The error of each level of a hierarchy: alone, by least squares, and in whole counts."""
    from discreet.synthetic import Hierarchy, Level, TopDown

    numbers = np.random.default_rng(3)
    towns = dp.queries.Universe.of(town=range(400), age=range(12))
    sizes = 400 * numbers.pareto(1.2, 400)
    counts = numbers.poisson(np.outer(sizes, numbers.dirichlet(np.ones(12))) / 10)
    hierarchy = Hierarchy(
        (
            Level("nation"),
            Level("region", by="town", groups={town: town // 40 for town in range(400)}),
            Level("district", by="town", groups={town: town // 8 for town in range(400)}),
            Level("town", by="town"),
        )
    )
    made = TopDown(
        dp.queries.Workload.marginal(towns, ["age"]),
        dp.PureDP(epsilon=1),
        dp.queries.NoisyRecordCount(),
        hierarchy,
        randomness=Seeded(2),
    )
    runs = [made.release(counts).marginal(towns.names) - counts for _ in range(20)]
    spans = (400, 40, 8, 1)
    points = []
    for told, span in zip(made.errors, spans, strict=True):
        off = [run.reshape(400 // span, span, 12).sum(axis=1) for run in runs]
        measured = float(np.sqrt(np.mean(np.square(off))))
        named = {"alone": told.alone, "least squares": told.cell, "whole counts": measured}
        points += [
            {"level": f"{told.level} ({told.nodes})", "error": error, "way": way}
            for way, error in named.items()
        ]
    ways = {"alone": BLACK, "least squares": ORANGE, "whole counts": BLUE}
    levels = list(dict.fromkeys(point["level"] for point in points))
    return (
        alt.Chart(alt.Data(values=points))
        .mark_bar()
        .encode(
            x=alt.X("level:N", title="level (nodes)", sort=levels, axis=alt.Axis(labelAngle=0)),
            xOffset=alt.XOffset("way:N", sort=list(ways)),
            y=alt.Y("error:Q", title="root mean squared error of a cell"),
            color=colour("way", ways),
        )
        .properties(width=420, height=220)
    )


def streams() -> Chart:
    """Errors of counters against time, stated and measured, above what none can beat."""
    horizon, runs = 4096, 400
    given = {"horizon": horizon, "spend": dp.ZCDP(rho=0.5), "unit": dp.streams.EventLevel()}
    kinds = {
        "noise per tick": dp.streams.NoisePerTick,
        "tree": dp.streams.BinaryTree,
        "reduced tree": dp.streams.ReducedTree,
        "square root": dp.streams.ToeplitzCounter,
    }
    counters = {name: kind(**given) for name, kind in kinds.items()}
    nothing = np.zeros((horizon, runs), dtype=np.int64)
    measured = {
        name: np.sqrt(np.mean(kind(**given, keys=runs).open().run(nothing) ** 2.0, axis=1)).tolist()
        for name, kind in kinds.items()
    }
    return dp.streams.error_by_tick(counters, measured).properties(width=420, height=300)


def _in_keys(groups: int) -> str:
    return f"each person in at most {groups} key{'s' if groups > 1 else ''}"


def panels(chart: alt.Chart, order: list[str] | None = None) -> alt.FacetChart:
    """One panel beside the other, by the field ``panel``."""
    column = alt.Column("panel:N", title=None, sort=order or "ascending")
    return chart.facet(column=column)


def colour(field: str, colours: dict[str, str]) -> alt.Color:
    """The legend of a field, in the order given."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", title=None, scale=scale)


def dashes(field: str, patterns: dict[str, list[int]]) -> alt.StrokeDash:
    """The dashes that go with the colours of a field."""
    scale = alt.Scale(domain=list(patterns), range=[list(p) or [1, 0] for p in patterns.values()])
    return alt.StrokeDash(f"{field}:N", title=None, scale=scale)


def live_stream() -> Chart:
    """What a stream tells of three wards over a day, at epsilon 1 for everybody's two visits."""
    start, length = datetime(2027, 1, 1, tzinfo=UTC), timedelta(minutes=15)
    tree = dp.streams.BinaryTree(
        horizon=96,
        spend=dp.PureDP(epsilon=1),
        unit=dp.streams.UserLevel("patient", max_events=2),
        keys=3,
        randomness=Seeded(3),
    )
    day = np.arange(96)[:, None]
    came = np.outer(np.exp(-(((day - 48) / 20) ** 2)), [60, 35, 15]).astype(np.int64)
    ticks = [
        Tick(
            number,
            start + number * length,
            start + (number + 1) * length,
            dict(zip("ABC", map(float, told), strict=True)),
            tree.error(number + 1, confidence=CONFIDENCE),
            CONFIDENCE,
        )
        for number, told in enumerate(tree.open().run(came))
    ]
    return released_by_tick(ticks)


FIGURES = {
    "two-worlds": two_worlds,
    "errors": errors,
    "selection": selection,
    "discrete-and-rounded": discrete_and_rounded,
    "audit": audit,
    "epsilon-steps": epsilon_steps,
    "tradeoff": tradeoff,
    "accountants": accountants,
    "release": release,
    "visits": visits,
    "bounding": bounding,
    "keys": keys,
    "synopsis": synopsis,
    "topdown": topdown,
    "trees": trees,
    "live-stream": live_stream,
    "streams": streams,
}


def main(folder: Path, names: list[str]) -> None:
    """Draw the named figures, or all."""
    folder.mkdir(exist_ok=True)
    for name in names or FIGURES:
        styled(FIGURES[name]()).save(folder / f"{name}.svg")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, sys.argv[2:])
