"""A CSV file, made ready for DuckDB: its header, its lines, and how it is read.

The file is looked through once, when it is attached. If all its lines are plain, DuckDB reads it as
it is; otherwise a private copy, in which each odd line is fixed for itself. Nothing is refused for
what a line holds: a refusal at opening would tell whether such a line is there.

Numerics: without quotes DuckDB may read parts of a file in parallel; with quotes it would have to
guess whether a part begins inside of one, so it reads from the beginning.

Source: contract, "Columns", "What may be seen".
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from discreet.core.errors import InvalidParameter
from discreet.relational.compile.dialect import Dialect
from discreet.relational.engines.duckdb.csv_lines import LONGEST_LINE, Lines, blocks
from discreet.relational.schema.sources import CSVFile

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Header:
    """The first line of a file, which is public: no other line is looked at for it.

    ``text`` is None where there is no header, and names come from the owner.
    """

    names: tuple[str, ...]
    lines: Lines
    text: bytes | None


@dataclass(frozen=True)
class TextFile:
    """A file whose lines are all plain; ``quoted`` if there are quotes in it."""

    path: Path
    header: Header
    quoted: bool

    def select(self, dialect: Dialect) -> str:
        """All fields of all records, as text: no type depends on a value."""
        text = dialect.literal
        types = ", ".join(f"{text(name)}: 'VARCHAR'" for name in self.header.names)
        quote, parallel = ('"', "false") if self.quoted else ("", "true")
        ending = "\\r\\n" if self.header.lines.ending == b"\r\n" else "\\n"
        header = "false" if self.header.text is None else "true"
        return (
            f"SELECT * FROM read_csv({text(str(self.path))}, auto_detect = false, "
            f"header = {header}, "
            f"delim = {text(self.header.lines.separator.decode())}, quote = {text(quote)}, "
            f"escape = {text(quote)}, new_line = {text(ending)}, columns = {{{types}}}, "
            f"compression = {text('gzip' if is_compressed(self.path) else 'none')}, "
            f"parallel = {parallel}, ignore_errors = true, null_padding = true, "
            "strict_mode = false)"
        )


def text_file(source: CSVFile, place: Callable[[], Path]) -> TextFile:
    """The file with plain lines only: itself, or a copy of it at a ``place`` that is asked for."""
    path = source.path
    with readable(path) as file:
        header = _header(source, file)
        quoted, plain = b'"' in (header.text or b""), True
        for block in blocks(file):
            quoted = quoted or b'"' in block
            plain = header.lines.plain(block) or not len(header.lines.odd(block))
            if not plain:
                break
    if plain:
        return TextFile(path, header, quoted)
    copy = place()
    with readable(path) as file, copy.open("xb") as written:
        header = _header(source, file)
        quoted = _copied(header, file, written)
    lines = replace(header.lines, ending=b"\n")
    return TextFile(copy, replace(header, lines=lines), quoted)


def is_compressed(path: Path) -> bool:
    """Whether the name of a file says that it is compressed."""
    return path.suffix.lower() == ".gz"


@contextmanager
def readable(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file; one that is broken is refused."""
    opened = gzip.open if is_compressed(path) else open
    try:
        with opened(path, "rb") as file:
            yield file  # type: ignore[misc]
    except (OSError, EOFError, zlib.error):
        raise InvalidParameter(
            code="source_unreadable",
            expectation="a text file that can be read to its end, and room for a copy of it",
            received=path.name,
            remedy="Check that the file is whole and of the kind its name says.",
        ) from None


def _header(source: CSVFile, file: BinaryIO) -> Header:
    """What the first line says, or the owner: then the name of the file tells the separator."""
    if not source.names:
        return header_of(source.path, file)
    suffixes = [suffix.lower() for suffix in source.path.suffixes]
    separator = b"\t" if ".tsv" in suffixes else b","
    return Header(source.names, Lines(separator, len(source.names), b"\n"), None)


def header_of(path: Path, file: BinaryIO) -> Header:
    """The separator, and the names in the first line, with which ``file`` goes on.

    The separator is the one that makes the most names; spaces around a name are no part of it,
    and a column without a name is called after its place.
    """
    line = file.readline(LONGEST_LINE + 1)
    text = line.removeprefix(_MARK).removesuffix(b"\n").removesuffix(b"\r")
    try:
        names = text.decode()
    except UnicodeDecodeError:
        names = "\0"
    if "\0" in names:
        raise InvalidParameter(
            code="csv_not_utf8",
            expectation="a CSV file in UTF-8",
            received=path.name,
            remedy="Save it as UTF-8, for instance: iconv -f latin1 -t utf-8 old.csv > new.csv.",
        )
    suffixes = [suffix.lower() for suffix in path.suffixes]
    found = {
        separator: next(csv.reader([names], delimiter=separator), [])
        for separator in ("\t" if ".tsv" in suffixes else ",", ",", ";", "\t", "|")
        if "\r" not in names
    }
    separator = max(found, key=lambda each: len(found[each]), default=",")
    given = found.get(separator, [])
    named = tuple(name.strip() or f"column{place}" for place, name in enumerate(given, start=1))
    ending = b"\r\n" if line.endswith(b"\r\n") else b"\n"
    lines = Lines(separator.encode(), max(1, len(named)), ending)
    if (
        not any(given)
        or len(set(named)) != len(named)
        or any("\n" in name for name in named)
        or not lines.plain(text + ending)
    ):
        raise InvalidParameter(
            code="csv_without_header",
            expectation=f"a first line of at most {LONGEST_LINE} bytes that names each column once",
            received=path.name,
            remedy="Add a header line, or pass a frame.",
        )
    return Header(named, lines, text)


def _copied(header: Header, file: BinaryIO, written: BinaryIO) -> bool:
    """Write plain lines only, each ended alike; whether there are quotes among them."""
    lines, quoted = header.lines, b'"' in (header.text or b"")
    if header.text is not None:
        written.write(header.text + b"\n")
    for block in blocks(file):
        text = block
        if not lines.plain(block):
            found = block.removesuffix(b"\n").split(b"\n")
            for place in lines.odd(block):
                fixed = lines.fixed(found[place])
                found[place] = b"" if fixed is None else fixed
            text = b"".join(line.removesuffix(b"\r") + b"\n" for line in found if line)
        elif lines.ending != b"\n":
            text = block.replace(lines.ending, b"\n")
        quoted = quoted or b'"' in text
        written.write(text)
    return quoted
