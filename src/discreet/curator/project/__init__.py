"""The project file: tables, units, columns, budget and ledger, written down once.

Reading and drafting such files, and opening what they name. The commands are in
:mod:`discreet.cli`.
"""

from discreet.curator.project.ledger import ProjectLedger
from discreet.curator.project.preview import Look
from discreet.curator.project.project import Project

__all__ = ["Look", "Project", "ProjectLedger"]
