"""What is computed from noisy values that were paid for costs nothing, however it is asked."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import discreet as dp
from discreet.relational.identity.identity import canonical_text, private_part
from tests.curator.test_same_question import curator

SPEND = dp.PureDP(epsilon=1)
ASKED = "SELECT ward, COUNT(*) AS n, SUM(cost) AS s FROM visits WHERE age < 60 GROUP BY ward"
FREE = {
    "another name": ASKED.replace("AS n", "AS people"),
    "fewer columns": ASKED.replace(
        "COUNT(*) AS n, SUM(cost) AS s", "COUNT(*) + 0 * SUM(cost) AS n"
    ),
    "a ratio, aggregates in another order": ASKED.replace(
        "COUNT(*) AS n, SUM(cost) AS s", "SUM(cost) / COUNT(*) AS mean"
    ),
    "HAVING": f"{ASKED} HAVING COUNT(*) > 350",
    "ORDER BY": f"{ASKED} ORDER BY SUM(cost) DESC",
    "LIMIT": f"{ASKED} ORDER BY n LIMIT 1",
    "OFFSET": f"{ASKED} ORDER BY n LIMIT 1 OFFSET 1",
    "another query around it": f"SELECT ward, n * 2 AS n2 FROM ({ASKED}) AS t WHERE s > 0",
}
PAID = {
    "another condition": ASKED.replace("60", "61"),
    "another key": ASKED.replace("ward", "age"),
    "another aggregate": ASKED.replace("SUM", "AVG"),
    "one aggregate less": ASKED.replace(", SUM(cost) AS s", ""),
    "one aggregate more": f"{ASKED} HAVING MAX(age) > 3",
    "another level": ASKED.replace("SUM(cost)", "QUANTILE(age, 0.9)"),
    "a clamp": ASKED.replace("SUM(cost)", "SUM(least(cost, 100))"),
}


@pytest.fixture
def source() -> dp.Curator:
    return curator(dp.ledger.Memory())


def charged(source: dp.Curator, ask: Callable[[], object]) -> bool:
    before = source.spent
    ask()
    return source.spent != before


@pytest.mark.parametrize("change", FREE)
def test_the_same_measures_are_read_again_for_nothing(source: dp.Curator, change: str) -> None:
    source.sql(ASKED, spend=SPEND)
    assert not charged(source, lambda: source.sql(FREE[change], spend=SPEND))


@pytest.mark.parametrize("change", FREE)
def test_in_whichever_form_they_were_bought_first(source: dp.Curator, change: str) -> None:
    source.sql(FREE[change], spend=SPEND)
    assert not charged(source, lambda: source.sql(ASKED, spend=SPEND))


@pytest.mark.parametrize("analyst", ["ann", "bob"])
def test_a_query_around_one_with_more_columns_is_read_from_those_that_were_paid_for(
    source: dp.Curator, analyst: str
) -> None:
    source.sql(ASKED, spend=SPEND, analyst="ann")
    fewer = f"SELECT ward, n FROM ({ASKED}) AS t"
    paid = charged(source, lambda: source.sql(fewer, spend=SPEND, analyst=analyst))
    assert paid == (analyst != "ann")


@pytest.mark.parametrize("change", PAID)
def test_other_measures_are_paid_for(source: dp.Curator, change: str) -> None:
    source.sql(ASKED, spend=SPEND)
    assert charged(source, lambda: source.sql(PAID[change], spend=SPEND))


@pytest.mark.parametrize("change", PAID)
def test_other_measures_are_another_private_part(source: dp.Curator, change: str) -> None:
    """Whatever the split: it tells measures apart as well, and neither relies on the other."""
    context = source.context
    median = ASKED.replace("SUM(cost)", "QUANTILE(age, 0.5)")
    known = {canonical_text(private_part(context.query(text))) for text in (ASKED, median)}
    assert canonical_text(private_part(context.query(PAID[change]))) not in known


def test_formulas_of_the_same_measures_are_read_from_the_same_values(source: dp.Curator) -> None:
    first = source.sql("SELECT VAR_POP(age) AS v FROM visits", spend=SPEND)
    other = "SELECT STDDEV_POP(age) AS s, VAR_SAMP(age) AS v FROM visits"
    assert charged(source, lambda: source.sql(other, spend=SPEND))  # more weight on each measure
    root = source.sql("SELECT STDDEV_POP(age) AS s FROM visits", spend=SPEND)
    assert float(root) ** 2 == pytest.approx(float(first))
    assert root.id == first.id


def test_another_spend_analyst_or_version_of_the_data_is_paid_for(source: dp.Curator) -> None:
    source.sql(ASKED, spend=SPEND)
    variant = FREE["HAVING"]
    assert charged(source, lambda: source.sql(variant, spend=dp.PureDP(epsilon=2)))
    assert charged(source, lambda: source.sql(variant, spend=SPEND, analyst="bob"))
    later = curator(source.ledger, snapshot="two")
    assert charged(later, lambda: later.sql(variant, spend=SPEND))


def test_the_numbers_are_those_that_were_released(source: dp.Curator) -> None:
    first = source.sql(ASKED, spend=SPEND)
    swapped = source.sql(FREE["a ratio, aggregates in another order"], spend=SPEND)
    for row in range(len(first)):
        n, s = first["n"].values[row], first["s"].values[row]
        assert n is not None
        assert s is not None
        assert swapped["mean"].values[row] == pytest.approx(s / n)
    assert swapped.id == first.id
    assert swapped.query == FREE["a ratio, aggregates in another order"]


def test_a_draw_keeps_its_name_so_that_differences_across_forms_have_no_noise(
    source: dp.Curator,
) -> None:
    first = source.sql(ASKED, spend=SPEND)
    other = source.sql(
        ASKED.replace("COUNT(*) AS n, SUM(cost) AS s", "SUM(cost) AS s, COUNT(*) AS n"), spend=SPEND
    )
    for name in ("n", "s"):
        apart = first.cell(name, ward="A") - other.cell(name, ward="A")
        assert apart.value == 0
        assert apart.interval() == (0, 0)


def test_the_same_question_comes_back_byte_for_byte_among_its_variants(source: dp.Curator) -> None:
    first = source.sql(ASKED, spend=SPEND)
    source.sql(FREE["LIMIT"], spend=SPEND)
    assert source.sql(ASKED, spend=SPEND).to_json() == first.to_json()
    again = curator(source.ledger)
    variant = again.sql(FREE["LIMIT"], spend=SPEND)
    assert variant.to_json() == source.sql(FREE["LIMIT"], spend=SPEND).to_json()


def test_a_ranking_chooses_as_many_keys_as_its_limit_says_and_is_paid_for() -> None:
    source = curator(dp.ledger.Memory(), unit=dp.Person("id", max_rows=50))
    text = "SELECT age FROM visits GROUP BY age ORDER BY COUNT(DISTINCT id) DESC LIMIT {}"
    assert charged(source, lambda: source.sql(text.format(3), spend=SPEND))
    assert charged(source, lambda: source.sql(text.format(4), spend=SPEND))
