"""Text becomes the event it describes, or is refused with its place; nothing is evaluated."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.cli.expression import DEEPEST, KINDS, LONGEST, parse
from discreet.cli.misread import Misread
from discreet.errors import DiscreetError, InvalidParameter

LAPLACE = events.Laplace(epsilon=0.1)
GAUSSIAN = events.Gaussian(noise_multiplier=5)


@pytest.mark.parametrize(
    ("text", "event"),
    [
        ("Laplace(epsilon=0.1)", LAPLACE),
        ("  Laplace( epsilon = 0.1 )\n", LAPLACE),
        ("Laplace(epsilon=0.1) * 1000", LAPLACE * 1000),
        ("1000 * Laplace(epsilon=0.1)", LAPLACE * 1000),
        ("Laplace(epsilon=0.1) * 1_000", LAPLACE * 1000),
        ("Laplace(epsilon=0.1) * 1e3", LAPLACE * 1000),
        ("Laplace(epsilon=0.1) * 10 * 3", LAPLACE * 10 * 3),
        ("Laplace(epsilon=1/3)", events.Laplace(epsilon=Fraction(1, 3))),
        (
            "Laplace(epsilon=0.1) * 1000\n+ Gaussian(noise_multiplier=5)",
            LAPLACE * 1000 + GAUSSIAN,
        ),
        ("(Laplace(epsilon=0.1) + Gaussian(noise_multiplier=5)) * 2", (LAPLACE + GAUSSIAN) * 2),
        (
            "Laplace(epsilon=0.1) + (Gaussian(noise_multiplier=5) + Nothing())",
            LAPLACE + GAUSSIAN,
        ),
        (
            "Gaussian(noise_multiplier=5).subsample(rate=0.01) * 100",
            GAUSSIAN.subsample(rate=0.01) * 100,
        ),
        (
            "Gaussian(noise_multiplier=5).subsample(size=600, of=60000)",
            GAUSSIAN.subsample(size=600, of=60_000),
        ),
        ("Approximate(epsilon=1, delta=1e-6)", events.Approximate(epsilon=1, delta=1e-6)),
        ("SparseVector(epsilon=1, cutoff=3)", events.SparseVector(epsilon=1, cutoff=3)),
    ],
)
def test_text_becomes_the_event(text: str, event: events.Event) -> None:
    assert parse(text) == event


def test_every_kind_is_read_back_from_how_it_prints() -> None:
    made = (
        LAPLACE,
        GAUSSIAN,
        events.DiscreteLaplace(epsilon=1, steps=2),
        events.DiscreteGaussian(noise_multiplier=2, sigma=4.5),
        events.Exponential(epsilon=1),
        events.PermuteAndFlip(epsilon=1),
        events.NoisyMax(epsilon=1),
        events.RandomizedResponse(epsilon=1, categories=3),
        events.SparseVector(epsilon=1, cutoff=3),
        events.Pure(epsilon=1),
        events.Approximate(epsilon=1, delta=0),
        events.Concentrated(rho=1),
        events.Nothing(),
    )
    assert {event.kind for event in made} == set(KINDS)
    assert tuple(parse(repr(event)) for event in made) == made


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("Laplace(epsilon=0.1) + Gausian(noise_multiplier=5)", "Gausian", "Did you mean Gaussian"),
        ("open('x')", "open", "There are Laplace"),
        ("Laplace(epsilon=0.1) * Laplace(epsilon=0.2)", "Laplace(epsilon=0.2)", "a number"),
        ("Laplace(epsilon=0.1) + 3", "3", "an event"),
        ("Laplace(0.1)", "0.1", "epsilon="),
        ("Laplace(epsilon=True)", "True", "a number"),
        ("Laplace(epsilon='1')", "'1'", "a number"),
        ("Laplace(epsilon=1/0)", "1/0", "a number"),
        ("Laplace(epsilon=2**9)", "2**9", "a number"),
        ("Laplace(epsilon=1, delta=0)", "delta=0", "epsilon="),
        ("Laplace(**x)", "**x", "epsilon="),
        ("Approximate(epsilon=1)", "Approximate(epsilon=1)", "delta"),
        ("Gaussian(noise_multiplier=5).subsample(0.1)", "0.1", "rate="),
        ("Gaussian(noise_multiplier=5).__class__(noise_multiplier=1)", None, "an event"),
        ("Gaussian(noise_multiplier=5).epsilon(delta=1)", None, "an event"),
        ("Laplace(epsilon=0.1) - Laplace(epsilon=0.1)", None, "an event"),
        ("(lambda: Laplace(epsilon=1))()", None, "an event"),
        ("[Laplace(epsilon=1)]", None, "an event"),
        ("Laplace(epsilon=1) # + Laplace(epsilon=9)", "#", "no comments"),
        ("Laplace(epsilon=", None, "never closed"),
        ("Ünï() + Gausian(noise_multiplier=5)", "Ünï", "a kind of event"),
        ("Laplace(epsilon=1e999)", "1e999", "finite"),
    ],
)
def test_what_is_not_in_the_language_is_refused_in_its_place(
    text: str, place: str | None, says: str
) -> None:
    with pytest.raises(Misread) as caught:
        parse(text)
    error = caught.value
    assert says in str(error)
    if place is not None:
        assert text[error.start : error.end] == place
        line, signs = error.pointer().split("\n")
        assert line[signs.index("^") : len(signs)] == place


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("Laplace(epsilon=0) * 3", "not_positive", "Laplace(epsilon=0)"),
        ("Laplace(epsilon=-1)", "not_positive", "Laplace(epsilon=-1)"),
        ("Laplace(epsilon=1) * 2.5", "not_a_count", "2.5"),
        ("Laplace(epsilon=1) * -1", "not_a_count", "-1"),
        ("Laplace(epsilon=1).subsample(rate=2)", "rate_out_of_range", None),
        ("Laplace(epsilon=1).subsample(size=2)", "sampler_unclear", None),
        (
            "Laplace(epsilon=1).subsample(rate=.5) + Laplace(epsilon=1).subsample(size=1, of=2)",
            "relation_mismatch",
            None,
        ),
    ],
)
def test_what_an_event_refuses_keeps_its_code_and_gets_a_place(
    text: str, code: str, place: str | None
) -> None:
    with pytest.raises(Misread) as caught:
        parse(text)
    assert caught.value.code == code
    assert text[caught.value.start : caught.value.end] == (place or text)


def test_a_place_far_to_the_right_is_still_shown() -> None:
    text = "Laplace(epsilon=1) + " * 30 + "Nonsense()"
    with pytest.raises(Misread) as caught:
        parse(text)
    line, signs = caught.value.pointer(width=40).split("\n")
    assert line[signs.index("^") : len(signs)] == "Nonsense"
    assert len(line) <= 40


def test_long_sums_are_read_and_deep_or_endless_texts_refused() -> None:
    assert parse("+".join(["Pure(epsilon=1)"] * 1000)) == events.compose(
        (events.Pure(epsilon=1),) * 1000
    )
    for text in (
        "Pure(epsilon=1)" + "*2" * (DEEPEST + 1),
        "(" * 5000 + "Pure(epsilon=1)" + ")" * 5000,
        "-" * 15_000 + "1",
        "Pure(epsilon=" + "-" * 15_000 + "1)",
        "Pure(epsilon=1" + "/1" * 9_000 + ")",
        "Nothing()" + " " * LONGEST + "+ Nothing()",
        "Pure(epsilon=" + "9" * 5000 + ")",
        "\0",
        "",
    ):
        with pytest.raises(InvalidParameter):
            parse(text)


PIECES = st.sampled_from(
    (
        *KINDS,
        *("(", ")", "epsilon=", "rate=", "1", "0.5", "+", "*", "/", "-", ".subsample", ",", " "),
        *("__class__", ".", "lambda", "import", "'", "#", "\\", "\n", "[", "]", "é", "\x00"),
    )
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_text_is_an_event_or_a_refusal(text: str) -> None:
    try:
        outcome: object = parse(text)
    except DiscreetError as error:
        outcome = error
    assert isinstance(outcome, (events.Event, DiscreetError))
    if isinstance(outcome, Misread):
        assert "^" in outcome.pointer()
