"""``discreet init``: a commented project file for a data file, by asking or from options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import display
from discreet.cli.options import ProjectFile

if TYPE_CHECKING:
    from discreet.curator.project import Project
    from discreet.curator.project.draft import Draft

_SCRIPTED = "Then nothing is asked."


def init(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A file: .csv, .tsv, .parquet or .duckdb.")
    ],
    *,
    project: ProjectFile = Path("discreet.toml"),
    table: Annotated[
        str | None, typer.Option("--table", help="The table inside a DuckDB file.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The table's name in SQL; else the file's.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit",
            metavar="row|person",
            help=f"row: every row is another person. person: one may have several. {_SCRIPTED}",
        ),
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="The column that identifies the person."),
    ] = None,
    max_rows: Annotated[
        int | None, typer.Option("--max-rows", help="Rows of one person that count at most.")
    ] = None,
    max_groups: Annotated[
        int | None, typer.Option("--max-groups", help="Groups that one person may be in.")
    ] = None,
    max_rows_per_group: Annotated[
        int | None,
        typer.Option("--max-rows-per-group", help="Rows of one person in one group."),
    ] = None,
    row: Annotated[
        str | None,
        typer.Option(
            "--row", metavar="COLUMN", help="A column that tells the rows of one person apart."
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="NAME=DECLARATION",
            help="age=number:0:120, rooms=integer:0:9, smokes=boolean, ward=category:A,B,C or "
            "day=dates:2024-01-01:2024-12-31; "
            "category+null:A,B,C makes missing values a group of their own; "
            "repeat it for each column. Undeclared columns serve in WHERE only.",
        ),
    ] = None,
    epsilon: Annotated[
        float | None,
        typer.Option("--epsilon", help="What all questions together may cost, for ever."),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option("--delta", help="The chance that the promise fails; 0 for none."),
    ] = None,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="The file that remembers all spending.")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="A TOML file with answers, named like these options."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a project file that is there.")
    ] = False,
) -> None:
    """Write a project file for your data, by asking.

    It reads the names and types of columns only. Bounds, lists and prices are yours to say.

    discreet init visits.csv

    discreet init visits.csv --unit person --id patient --max-rows 20
    --column age=number:0:120 --column ward=category:A,B,C --epsilon 3 --delta 1e-6
    """
    with display.readable_errors(machine=False):
        from discreet.cli import answers as answering
        from discreet.cli.interview import interview
        from discreet.curator.project import Project
        from discreet.curator.project.data_file import schema_of
        from discreet.curator.project.draft import format_project_file

        require_new(project, force=force)
        schema = schema_of(data, table)
        given = answering.Answers(
            name=name,
            unit=unit,
            id=identifier,
            max_rows=max_rows,
            max_groups=max_groups,
            max_rows_per_group=max_rows_per_group,
            row=row,
            columns=answering.from_columns(column or [], schema),
            epsilon=epsilon,
            delta=delta,
            ledger=ledger,
        )
        if answers is not None:
            given = given.before(answering.from_file(answers))
        if (given.unit, given.epsilon, given.delta, given.id, given.columns) == (*[None] * 4, ()):
            given = given.before(interview(schema, data, given))
        draft = answering.draft(
            given,
            schema,
            path=relative(data, project.absolute().parent),
        )
        text = format_project_file(draft)
        made = Project.parse(text, project.absolute().parent)
        made.database().close()  # the declarations suit the columns, or nothing is written
        require_ledger(made)
        save(project, text)
        display.next_steps(project, example(draft), declared=bool(draft.columns))


def example(draft: Draft) -> str:
    """A question about the table: by its first category, if there is one."""
    from discreet.relational.schema.declarations import Category

    table = quoted(draft.name)
    for name, declaration in draft.columns.items():
        if isinstance(declaration, Category):
            key = quoted(name)
            return f"SELECT {key}, COUNT(*) AS n FROM {table} GROUP BY {key}"
    return f"SELECT COUNT(*) AS n FROM {table}"


def quoted(name: str) -> str:
    """A name in SQL, in double quotes if it may need them."""
    from discreet.curator.project.data_file import is_name

    return name if is_name(name) else '"' + name.replace('"', '""') + '"'


def require_new(project: Path, *, force: bool) -> None:
    """Refuse to write over a file."""
    if project.exists() and not force:
        from discreet.core.errors import InvalidParameter

        raise InvalidParameter(
            code="project_exists",
            expectation="no project file yet",
            received=str(project),
            remedy="Edit it, name another with --project, or write over it with --force.",
        )


def require_ledger(made: Project) -> None:
    """Refuse a ledger that is there already, unless it was started on the terms of the file."""
    if not made.ledger.started():
        return
    from discreet.core.errors import DiscreetError, InvalidParameter

    try:
        made.open_ledger().close()
    except DiscreetError as refusal:
        raise InvalidParameter(
            code="ledger_in_the_way",
            expectation="a ledger that is not there yet, or one that was started on these terms",
            received=f"one that is refused with {refusal.code}",
            remedy="Name a new one with --ledger, or state the unit and the budget that the ledger "
            "was started with.",
        ) from None


def relative(data: Path, folder: Path) -> str:
    """The path of the data as seen from the project file, in forward slashes."""
    try:
        return Path(os.path.relpath(data.absolute(), folder)).as_posix()
    except ValueError:  # on another drive
        return data.absolute().as_posix()


def save(project: Path, text: str) -> None:
    """Write the file."""
    try:
        project.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        from discreet.core.errors import InvalidParameter

        raise InvalidParameter(
            code="project_not_written",
            expectation="a place that can be written to",
            received=str(project),
            remedy=f"Choose another with --project: {error.strerror}.",
        ) from None
