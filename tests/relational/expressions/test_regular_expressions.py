"""Regular expressions: what is understood means what it means to Python, all else is refused."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.regular_expressions import matches, parse_pattern
from discreet.relational.types.data_type import DataType

_ATOMS = st.sampled_from(["a", "b", "é", ".", "[ab]", "[^a]", r"\d", r"\w", r"\S", r"\.", "-", "1"])
_SIGNS = st.sampled_from(["", "", "", "?", "*", "+", "{2}", "{1,}", "{0,2}"])
_REPEATED = st.builds(lambda atom, sign: atom + sign, _ATOMS, _SIGNS)
_SEQUENCES = st.lists(_REPEATED, min_size=1, max_size=4).map("".join)
_GROUPS = st.lists(_SEQUENCES, min_size=1, max_size=2).map(lambda parts: f"({'|'.join(parts)})")
_BRANCHES = st.builds(
    lambda first, parts, last: first + "".join(parts) + last,
    st.sampled_from(["", "^"]),
    st.lists(_SEQUENCES | _GROUPS, min_size=1, max_size=3),
    st.sampled_from(["", "$"]),
)
PATTERNS = st.lists(_BRANCHES, min_size=1, max_size=2).map("|".join)
TEXTS = st.text(alphabet="ab1é.- \n", max_size=8)


@settings(max_examples=600, deadline=None)
@given(PATTERNS, st.lists(TEXTS, min_size=3, max_size=3))
def test_what_never_comes_back_fits_the_same_texts(pattern: str, texts: list[str]) -> None:
    """The marks that save time change nothing: Python's own reading is the reference."""
    try:
        found = matches(pattern)
    except InvalidParameter:
        return
    plain = re.compile(pattern.replace("$", r"\Z"), re.ASCII)
    for text in texts:
        assert found.apply([text], DataType.BOOLEAN) is (plain.search(text) is not None), text


def test_most_drawn_patterns_are_understood_and_some_are_marked() -> None:
    """So the property above says something."""
    assert "a*+b" in parse_pattern("a*b").text("", "", "+")
    assert "a*ab" in parse_pattern("a*ab").text("", "", "+")
    assert r"[0-9]++\." in parse_pattern(r"\d+\.").text("", "", "+")


@pytest.mark.parametrize(
    "pattern",
    [
        *("", "a" * 1001, "(a", "a)", "[a", "a]", "*a", "a**", "a+?", "a*+", "(a)*", "(a|b)+"),
        *("(?=a)", "(?!a)", "(?<=a)", "(?i)a", r"(a)\1", r"\b", r"\p{L}", r"\x41", "a{2,1}"),
        *(
            "a{256}",
            "a{200}b{56}",
            "a{",
            "a{,3}",
            "a^b",
            "a$b",
            "[]",
            "[b-a]",
            r"[\D]",
            "[[:alpha:]]",
            "(|a)",
        ),
        *("a|", "|a", ".*a.*b", "a.*[b-z]*c", "a?a?b?a", "(a|b)" * 8, "(" * 11 + "a" + ")" * 11),
    ],
)
def test_what_could_take_long_or_differ_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        matches(pattern)
    assert refused.value.code == "bad_argument"


@given(st.text(alphabet="ab()[]{}|^$*+?.\\d-,1", max_size=20))
def test_any_pattern_is_understood_or_refused(pattern: str) -> None:
    try:
        found = matches(pattern)
    except InvalidParameter:
        return
    assert found.apply(["ab1"], DataType.BOOLEAN) in (True, False)
