"""``[service]`` and ``[record]`` as text, with a comment at everything to decide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.curator.project import Project
from discreet.curator.project.tables import PrivateEntry
from discreet.release.guarantee import protection_text
from discreet.server.record import ASKED

_DRAFT = """
[service]  # `discreet serve` lets analysts in
quantum = 1.0  # seconds after which answers leave; choose eight times what a usual one takes
# overruns = 20  # answers of one analyst in a day that may leave later than that
# workers = 8  # how many people may have budgets; each has a process of their own
# port = 8000  # where it listens on this machine
# address = "https://data.example.org"  # where people reach it, for links
# behind_proxy = true  # if a proxy in front ends TLS; or [service.tls] with certificate and key

# [service.approval]  # questions above this price wait for the owner or a steward
# epsilon = 0.5
# delta = 1e-7

# [service.wire]  # psql, psycopg, pandas and SQLAlchemy ask here
# port = 5433

[record]  # nothing is released while a line is empty or a comment; a sentence each
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
    record = "\n".join(_lines(project))
    place.write_text(f"{text.rstrip()}\n{_DRAFT}{record}\n", encoding="utf-8")


def _lines(project: Project) -> Iterator[str]:
    """The record, with what the project file says already; each gap with what is to be written."""
    known = _derive_known_fields(project)
    for name, asked in ASKED.items():
        if name == "review_date":
            yield f"# review_date = 2027-01-31  # {asked}"
        elif name in known:
            yield f'{name} = "{known[name]}"  # {asked}; correct it'
        else:
            yield f'{name} = ""  # {asked}'


def _derive_known_fields(project: Project) -> dict[str, str]:
    """What follows from the rest of the file, and from differential privacy itself."""
    units = {
        protection_text(each.unit): None
        for each in project.tables.values()
        if isinstance(each, PrivateEntry)
    }
    return {
        "unit": "; ".join(units).replace("\\", "/").replace('"', "'"),
        "attack_model": "somebody who knows all but one of them, and asks whatever is allowed",
        "residual_harms": "what is true of a group is told about each of its members",
    }
