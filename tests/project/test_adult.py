"""The example data is what its documentation says."""

import adult


def test_columns_are_typed_and_complete() -> None:
    data = adult.load()
    assert len(data) == 32_561
    assert {len(column) for column in vars(data).values()} == {32_561}
    assert (min(data.age), max(data.age)) == (17, 90)
    assert sum(income == ">50K" for income in data.income) == 7_841


def test_categories_are_those_of_the_documentation() -> None:
    data = adult.load()
    assert set(data.education) == set(adult.EDUCATIONS)
    assert set(zip(data.education_years, data.education, strict=True)) == set(
        enumerate(adult.EDUCATIONS, start=1)
    )
    assert set(data.workclass) - {None} == set(adult.WORKCLASSES)
    assert set(data.marital_status) == set(adult.MARITAL_STATUSES)
    assert set(data.occupation) - {None} == set(adult.OCCUPATIONS)
    assert set(data.relationship) == set(adult.RELATIONSHIPS)
    assert set(data.race) == set(adult.RACES)
    assert set(data.sex) == set(adult.SEXES)
    assert set(data.income) == set(adult.INCOMES)
