"""Pin proofs to the code they are about, by the hash of its syntax tree.

A proof starts with a block such as

    ---
    pins: discreet.noise.table:GuideTable.draw 1a2b3c4d5e6f7a8b
    ---

A hash ignores comments, docstrings, layout and positions; it changes when the code changes.

    python proofs/pin.py                       check every pin
    python proofs/pin.py --refresh [FILE ...]  write current hashes, after re-reading the proof
    python proofs/pin.py --show NAME ...       print the pins of names, to start a proof
"""

import argparse
import ast
import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROOFS = Path(__file__).resolve().parent
SOURCE = PROOFS.parent / "src"
REMEDY = "re-read the proof against the code, then run `python proofs/pin.py --refresh`"

_PIN = re.compile(r"pins:\s+(?P<name>[\w.]+:[\w.]+)(?:\s+(?P<digest>\S+))?\s*")
_DIGITS = 16


@dataclass(frozen=True)
class Pin:
    """A name, the hash a proof was written for, and the place that says so."""

    name: str
    digest: str
    proof: Path
    line: int


def canonical(node: object) -> str:
    """Write a syntax tree as text that is the same under Python 3.11 to 3.13.

    Fields that are absent or empty are left out, since newer versions add such fields.
    """
    if isinstance(node, ast.Constant):
        return f"{type(node.value).__name__}:{node.value!r}"
    if isinstance(node, ast.AST):
        parts = [
            f"{field}={canonical(value)}"
            for field, value in ast.iter_fields(node)
            if value is not None and value != [] and field != "type_comment"
        ]
        return f"{type(node).__name__}({', '.join(parts)})"
    if isinstance(node, list):
        return f"[{', '.join(map(canonical, node))}]"
    return repr(node)


def digest(nodes: list[ast.stmt]) -> str:
    """Hash definitions without their docstrings; the nodes are changed in place."""
    for outer in nodes:
        for node in ast.walk(outer):
            if (
                isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                and ast.get_docstring(node, clean=False) is not None
            ):
                del node.body[0]
    return hashlib.sha256(canonical(nodes).encode()).hexdigest()[:_DIGITS]


def defines(node: ast.stmt, name: str) -> bool:
    """Say whether a statement binds a name as function, class or variable."""
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return node.name == name
    if isinstance(node, ast.Assign):
        return any(isinstance(target, ast.Name) and target.id == name for target in node.targets)
    return (
        isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == name
    )


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """List the statements of a scope, those inside its conditions and guards included."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from statements(
                [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
            )


def current(name: str, *, source: Path = SOURCE) -> str | None:
    """Return the hash of what `module:qualified.name` is today, or None if there is none.

    All definitions of the name count: overloads, or a property with its setter.
    """
    module, _, qualified = name.partition(":")
    stem = source.joinpath(*module.split("."))
    path = stem.with_suffix(".py") if stem.with_suffix(".py").is_file() else stem / "__init__.py"
    if not path.is_file():
        return None
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found: list[ast.stmt] = []
    for part in qualified.split("."):
        found = [node for node in statements(body) if defines(node, part)]
        body = [inner for node in found for inner in getattr(node, "body", [])]
    return digest(found) if found else None


def pins(proof: Path) -> list[Pin]:
    """Read the pins of a proof; a proof without any is refused."""
    lines = proof.read_text(encoding="utf-8").splitlines()
    if not lines or lines[0] != "---" or "---" not in lines[1:]:
        message = f"{proof.name}: starts with no block of pins between `---` lines"
        raise ValueError(message)
    found = []
    for number, line in enumerate(lines[1 : lines.index("---", 1)], start=2):
        match = _PIN.fullmatch(line)
        if match is None:
            message = f"{proof.name}:{number}: expected `pins: module:name hash`"
            raise ValueError(message)
        found.append(Pin(match["name"], match["digest"] or "", proof, number))
    if not found:
        message = f"{proof.name}: pins nothing"
        raise ValueError(message)
    return found


def proofs(folder: Path = PROOFS) -> list[Path]:
    """List the proofs of a folder."""
    return sorted(path for path in folder.glob("*.md") if path.name != "README.md")


def faults(proof: Path, *, source: Path = SOURCE) -> list[str]:
    """Say what is wrong with the pins of a proof."""
    found = []
    for pin in pins(proof):
        place = f"{proof.name}:{pin.line}"
        actual = current(pin.name, source=source)
        if actual is None:
            found.append(f"{place}: {pin.name} does not exist")
        elif actual != pin.digest:
            found.append(f"{place}: {pin.name} is {actual}, not {pin.digest or 'given'}; {REMEDY}")
    return found


def refresh(proof: Path, *, source: Path = SOURCE) -> int:
    """Write the current hashes into a proof; return how many changed."""
    lines = proof.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = 0
    for pin in pins(proof):
        actual = current(pin.name, source=source)
        if actual is None or actual == pin.digest:
            continue
        lines[pin.line - 1] = f"pins: {pin.name} {actual}\n"
        changed += 1
    proof.write_text("".join(lines), encoding="utf-8")
    return changed


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Pin proofs to the code they are about.")
    parser.add_argument("--refresh", action="store_true", help="write current hashes")
    parser.add_argument("--show", nargs="+", metavar="NAME", default=[], help="print pins")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: all proofs")
    options = parser.parse_args()
    if options.show:
        for name in options.show:
            print(f"pins: {name} {current(name) or '(does not exist)'}")
        return 0
    files = options.files or proofs()
    if options.refresh:
        print(f"{sum(map(refresh, files))} pins changed")
    found = [fault for proof in files for fault in faults(proof)]
    print("\n".join(found) if found else f"{len(files)} proofs hold the code they were written for")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
