"""Which lines of a text file are not read as they stand, and why: for the data owner alone."""

from __future__ import annotations

from pathlib import Path

from discreet.curator.profile.report import FixedLine
from discreet.relational.engines.duckdb.csv_file import header_of, readable
from discreet.relational.engines.duckdb.csv_lines import LONGEST_LINE, Lines, blocks


def odd_lines(path: Path, most: int) -> tuple[int, tuple[FixedLine, ...]]:
    """How many lines are no rows, blank ones left aside; and the first ``most`` odd ones."""
    unread, found, before = 0, list[FixedLine](), 1
    with readable(path) as file:
        lines = header_of(path, file).lines
        for block in blocks(file):
            if not lines.plain(block):
                texts = block.removesuffix(b"\n").split(b"\n")
                for place in map(int, lines.odd(block)):
                    line = texts[place].removesuffix(b"\r")
                    if line.strip() and lines.fixed(line) is None:
                        unread += 1
                    if line.strip() and len(found) < most:
                        found.append(FixedLine(before + place + 1, _reason(lines, line)))
            before += block.count(b"\n")
    return unread, tuple(found)


def _reason(lines: Lines, line: bytes) -> str:
    """The first thing that keeps a line from being plain."""
    if len(line) > LONGEST_LINE:
        return f"longer than {LONGEST_LINE:,} bytes; it is no row"
    if b"\0" in line or b"\r" in line:
        return "a NUL or a carriage return within; that field is missing"
    try:
        line.decode()
    except UnicodeDecodeError:
        return "not UTF-8; that field is missing"
    fixed = lines.fixed(line) or b""
    if fixed.count(b'"') != line.count(b'"'):
        return "a quote that does not begin or end a field; it is part of the text"
    if fixed != line:
        return "fewer or more fields than the header; missing at the end, or left out there"
    return "another end of line than the header"
