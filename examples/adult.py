"""The UCI Adult census data as typed columns.

``adult.parquet`` beside this file holds the training half of the data as published, with names for
its columns and NULL where a value is unknown. Source: B. Becker and R. Kohavi, *Adult*, UCI Machine
Learning Repository, 1996, https://doi.org/10.24432/C5XW20 (CC BY 4.0).
"""

from dataclasses import dataclass
from pathlib import Path

import duckdb

PLACE = Path(__file__).with_name("adult.parquet")

# Values a column may take, from the documentation of the data set: public knowledge.
WORKCLASSES = (
    *("Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov"),
    *("Without-pay", "Never-worked"),
)
EDUCATIONS = (  # in the order of education_years 1, 2, … 16
    *("Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad"),
    *("Some-college", "Assoc-voc", "Assoc-acdm", "Bachelors", "Masters", "Prof-school"),
    "Doctorate",
)
MARITAL_STATUSES = (
    *("Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed"),
    *("Married-spouse-absent", "Married-AF-spouse"),
)
OCCUPATIONS = (
    *("Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial"),
    *("Prof-specialty", "Handlers-cleaners", "Machine-op-inspct", "Adm-clerical"),
    *("Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv"),
    "Armed-Forces",
)
RELATIONSHIPS = (*("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),)
RACES = ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black")
SEXES = ("Female", "Male")
INCOMES = ("<=50K", ">50K")


@dataclass(frozen=True, kw_only=True)
class Adult:
    """One list per column, 32 561 people, one row each; an unknown value is None."""

    age: list[int]
    workclass: list[str | None]
    census_weight: list[int]
    education: list[str]
    education_years: list[int]
    marital_status: list[str]
    occupation: list[str | None]
    relationship: list[str]
    race: list[str]
    sex: list[str]
    capital_gain: list[int]
    capital_loss: list[int]
    hours_per_week: list[int]
    country: list[str | None]
    income: list[str]

    def __len__(self) -> int:
        return len(self.age)


def load() -> Adult:
    """Read the table, one list per column."""
    found = duckdb.read_parquet(str(PLACE))
    columns = zip(*found.fetchall(), strict=True)
    return Adult(**{name: list(cells) for name, cells in zip(found.columns, columns, strict=True)})
