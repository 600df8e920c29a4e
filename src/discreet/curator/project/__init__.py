"""The project file: tables, units, columns, budget and ledger, written down once."""

from discreet.curator.project.ledger import ProjectLedger
from discreet.curator.project.preview import Look
from discreet.curator.project.project import Project

__all__ = ["Look", "Project", "ProjectLedger"]
