"""``[service]`` and ``[record]`` as text, with a comment at everything to decide."""

from __future__ import annotations

from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.curator.project import Project

_DRAFT = """
[service]  # `discreet serve` lets analysts in
quantum = 1.0  # seconds after which answers leave; choose eight times what a usual one takes
# overruns = 20  # answers of one analyst in a day that may leave later than that
# workers = 8  # how many people may have budgets; each has a process of their own
# address = "https://data.example.org"  # where people reach it, for links
# behind_proxy = true  # if a proxy in front ends TLS; or [service.tls] with certificate and key

# [service.approval]  # questions above this price wait for the owner or a steward
# epsilon = 0.5
# delta = 1e-7

# [service.wire]  # psql, psycopg, pandas and SQLAlchemy ask here
# port = 5433

[record]  # nothing is released while one of these is empty; a sentence each
decision_makers = ""  # who decides about the data and its protection
data_users = ""  # who uses the answers
data_subjects = ""  # who the data are about
impacted = ""  # who is affected by what is decided with the answers
purpose = ""  # what the answers are for
unit = ""  # whose privacy is protected, in words
privacy_boundary = ""  # who is trusted with the raw data, and where trust ends
data_window = ""  # from when to when the data are, and how they grow
attack_model = ""  # what an adversary is taken to know and to want
environment = ""  # where it runs, and who has access to the machine
accuracy = ""  # how accurate answers must be to be of use
epsilon_set_by = ""  # who chose the budget
epsilon_reason = ""  # why it is this one
maintained_by = ""  # who looks after all this
# review_date = 2027-01-31  # when it is looked at again
failure_plan = ""  # what is done if something went wrong
residual_harms = ""  # what differential privacy does not prevent here
told_to_people = ""  # what the people in the data were told; may stay empty
information_flow = ""  # who sends what to whom, under which rule; may stay empty
"""


def add_service(place: Path) -> None:
    """Write both parts at the end of a project file that has neither."""
    project = Project.read(place)
    if project.service is not None or project.record is not None:
        raise InvalidParameter(
            code="service_exists",
            expectation="a project file without [service] and [record]",
            received=str(place),
            remedy="Edit the parts that are there.",
        )
    text = place.read_text(encoding="utf-8-sig")
    place.write_text(text.rstrip("\n") + "\n" + _DRAFT, encoding="utf-8")
