"""The project's record: who decided what, why, and what happens when it goes wrong.

``[record]`` of the project file. Nothing is released while a field of it is empty: a budget that
nobody can give reasons for is not a decision.

Source: 004d:D1 (stakeholders, privacy boundary, failure plan), D14 (reasons, review), M1 (what is
declared beforehand), P1 (harms that remain), P2 (a purpose in words), P5 (what people were told),
P6 (how information flows), P7 (who set epsilon).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date

from discreet.core.errors import InvalidParameter
from discreet.curator.project.fields import Fields, Shape

_FEWEST_WORDS = 3
_WORDS = Shape[str](
    "text in quotes, which may be empty for now", '""', lambda v: isinstance(v, str)
)
_DAY = Shape[date]("a day without quotes", "2027-01-31", lambda v: type(v) is date)
_MAY_BE_EMPTY = ("told_to_people", "information_flow")
ASKED = {
    "decision_makers": "who decides about the data and its protection",
    "data_users": "who uses the answers",
    "data_subjects": "who the data are about",
    "impacted": "who is affected by what is decided with the answers",
    "purpose": "what the answers are for",
    "unit": "whose privacy is protected, in words",
    "privacy_boundary": "who is trusted with the raw data, and where trust ends",
    "data_window": "from when to when the data are, and how they grow",
    "attack_model": "what an adversary is taken to know and to want",
    "environment": "where it runs, and who has access to the machine",
    "accuracy": "how accurate answers must be to be of use",
    "epsilon_set_by": "who chose the budget",
    "epsilon_reason": "why it is this one",
    "maintained_by": "who looks after all this",
    "review_date": "when it is looked at again: a day without quotes, 2027-01-31",
    "failure_plan": "what is done if something went wrong",
    "residual_harms": "what differential privacy does not prevent here",
    "told_to_people": "what the people in the data were told; may stay empty",
    "information_flow": "who sends what to whom, under which rule; may stay empty",
}
"""What each field is to say, for whoever writes it."""


@dataclass(frozen=True, kw_only=True)
class ProjectRecord:
    """What the owner wrote; an empty field is what is not decided yet.

    Attributes:
        decision_makers: Who decides about the data and its protection.
        data_users: Who uses the answers.
        data_subjects: Who the data are about.
        impacted: Who is affected by what is decided with the answers.
        purpose: What the answers are for.
        unit: Whose privacy is protected, in words.
        privacy_boundary: Who is trusted with the raw data, and where trust ends.
        data_window: From when to when the data are, and how they grow.
        attack_model: What an adversary is taken to know and to want.
        environment: Where it runs, and who has access to the machine.
        accuracy: How accurate answers must be to be of use.
        epsilon_set_by: Who chose the budget.
        epsilon_reason: Why it is this one.
        maintained_by: Who looks after all this.
        review_date: When it is looked at again.
        failure_plan: What is done if something went wrong.
        residual_harms: What differential privacy does not prevent here.
        told_to_people: What the people in the data were told, and agreed to; may be empty.
        information_flow: Who sends what to whom, under which rule; may be empty.
    """

    decision_makers: str = ""
    data_users: str = ""
    data_subjects: str = ""
    impacted: str = ""
    purpose: str = ""
    unit: str = ""
    privacy_boundary: str = ""
    data_window: str = ""
    attack_model: str = ""
    environment: str = ""
    accuracy: str = ""
    epsilon_set_by: str = ""
    epsilon_reason: str = ""
    maintained_by: str = ""
    review_date: date | None = None
    failure_plan: str = ""
    residual_harms: str = ""
    told_to_people: str = ""
    information_flow: str = ""

    @classmethod
    def of(cls, part: Fields | None) -> ProjectRecord:
        """The record in a project file; all of it empty where there is none."""
        if part is None:
            return cls()
        day = part.maybe("review_date", _DAY)
        texts = {
            each.name: (part.maybe(each.name, _WORDS) or "").strip()
            for each in fields(cls)
            if each.name != "review_date"
        }
        part.finish()
        return cls(review_date=day, **texts)

    @property
    def missing(self) -> tuple[str, ...]:
        """The fields that say nothing, or no more than a word where reasons are asked for."""
        needed = [each.name for each in fields(self) if each.name not in _MAY_BE_EMPTY]
        empty = [name for name in needed if not getattr(self, name)]
        short = [
            name
            for name in ("purpose", "epsilon_reason", "failure_plan")
            if 0 < len(getattr(self, name).split()) < _FEWEST_WORDS
        ]
        return (*empty, *short)

    def require_complete(self) -> None:
        """Refuse to release anything while the record has gaps."""
        if self.missing:
            raise InvalidParameter(
                code="record_incomplete",
                expectation="a project record without empty fields before anything is released",
                received=", ".join(self.missing),
                remedy="For the data owner: write these fields of [record] in the project file, "
                "and start the service again. A purpose or a reason is a sentence, not a word.",
            )

    def overdue(self, today: date) -> date | None:
        """The day by which all this was to be looked at again, if it has passed."""
        day = self.review_date
        return day if day is not None and today > day else None

    def require_reviewed(self, today: date) -> None:
        """Refuse to publish once the day has passed on which all this was to be looked at again."""
        overdue = self.overdue(today)
        if overdue is not None:
            raise InvalidParameter(
                code="review_overdue",
                expectation="a project record that is looked at again by its review date",
                received=overdue.isoformat(),
                remedy="For the data owner: review the record, write a new review_date into the "
                "project file, and start the service again.",
            )

    def plain(self) -> dict[str, object]:
        """All of it for JSON."""
        day = self.review_date
        return {
            **{each.name: getattr(self, each.name) for each in fields(self)},
            "review_date": None if day is None else day.isoformat(),
            "missing": list(self.missing),
        }
