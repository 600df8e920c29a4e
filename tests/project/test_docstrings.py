"""Public things say what they are; an override that adds nothing to its base stays silent.

Ruff asks for docstrings of modules, classes and functions (D100, D101, D103, D104). Its rule for
methods (D102) knows no inheritance and drew "As below." from overrides, so this is the rule here:
a public method has a docstring, unless a base class, or a protocol that its class satisfies,
declares a method of that name with one.
"""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"
PROGRAMS = [
    path
    for folder in ("examples", "benchmarks", "proofs")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
FILES = sorted(SOURCE.rglob("*.py"))
SHORTEST = 3
EMPTY = {"As it is.", "As is.", "As below.", "As above.", "As the base.", "As before."}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Method:
    """A public method, where it stands, and its docstring."""

    owner: tuple[str, ...]
    name: str
    text: str | None


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@cache
def module(path: Path) -> ModuleType | None:
    """Import a module; None where it needs a package that is not installed."""
    try:
        return import_module(module_name(path))
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("discreet"):
            raise
        return None


def public(name: str) -> bool:
    return not name.startswith("_")


def methods(tree: ast.Module) -> Iterator[Method]:
    """List the public methods of public classes; setters and the like share their getter's text."""

    def visit(body: list[ast.stmt], owner: tuple[str, ...]) -> Iterator[Method]:
        for node in body:
            if isinstance(node, ast.ClassDef) and public(node.name):
                yield from visit(node.body, (*owner, node.name))
            elif isinstance(node, Function) and owner and public(node.name) and not variant(node):
                yield Method(owner, node.name, ast.get_docstring(node))

    return visit(tree.body, ())


def variant(node: Function) -> bool:
    marks = {
        mark.attr if isinstance(mark, ast.Attribute) else getattr(mark, "id", "")
        for mark in node.decorator_list
    }
    return bool(marks & {"overload", "setter", "deleter"})


def documented(owner: type, name: str) -> bool:
    return bool(inspect.getdoc(vars(owner)[name])) if name in vars(owner) else False


def is_protocol(owner: type) -> bool:
    return bool(vars(owner).get("_is_protocol", False))


def declared(owner: type) -> set[str]:
    """List the members that a class or its bases declare, as methods or as fields."""
    fields = {name for base in owner.__mro__ for name in vars(base).get("__annotations__", {})}
    return {name for base in owner.__mro__ if base is not object for name in vars(base)} | fields


def asked(protocol: type) -> set[str]:
    """List what a class must have in order to satisfy a protocol."""
    bases = [base for base in protocol.__mro__ if is_protocol(base) and base.__module__ != "typing"]
    named = {name for base in bases for name in {**vars(base), **base.__annotations__}}
    return {name for name in named if public(name)}


@cache
def protocols() -> list[type]:
    return [
        value
        for path in FILES
        for value in vars(module(path) or object).values()
        if inspect.isclass(value) and value.__module__ == module_name(path) and is_protocol(value)
    ]


def explained_above(owner: type, name: str, known: list[type]) -> bool:
    """Say whether a base, or a protocol that the class satisfies, documents a method."""
    if any(documented(base, name) for base in owner.__mro__[1:]):
        return True
    if is_protocol(owner):
        return False
    own = declared(owner)
    return any(documented(other, name) and asked(other) <= own for other in known)


def fault(method: Method, owner: type | None, known: list[type]) -> str | None:
    """Say what is wrong with a method's docstring, if anything is."""
    place = ".".join((*method.owner, method.name))
    if method.text in EMPTY:
        return f"{place}: {method.text!r} says nothing"
    if method.text is not None and len(method.text.split()) >= SHORTEST:
        return None
    if owner is not None and explained_above(owner, method.name, known):
        return None
    return f"{place}: {method.text!r}, and no base explains it"


def faults(tree: ast.Module, space: ModuleType | None, known: list[type]) -> list[str]:
    found = []
    for method in methods(tree):
        owner: object = space
        for part in method.owner:
            owner = getattr(owner, part, None)
        found.append(fault(method, owner if inspect.isclass(owner) else None, known))
    return [text for text in found if text is not None]


def brief(tree: ast.Module) -> list[str]:
    """The public functions and classes, and the module, that say too little."""
    return [
        getattr(node, "name", "module")
        for node in (tree, *tree.body)
        if isinstance(node, ast.Module | ast.ClassDef | Function)
        and public(getattr(node, "name", "module"))
        and not (isinstance(node, Function) and variant(node))
        and ((text := ast.get_docstring(node)) in EMPTY or len((text or "").split()) < SHORTEST)
    ]


def parsed(paths: list[Path]) -> Iterator[tuple[Path, ast.Module]]:
    """Each file with its tree."""
    for path in paths:
        yield path, ast.parse(path.read_text(encoding="utf-8"))


def test_methods_are_explained_here_or_above() -> None:
    """Where a package that a module needs is not installed, methods are left to who has it."""
    known = protocols()
    found = [
        f"{module_name(path)}: {text}"
        for path, tree in parsed(FILES)
        if (space := module(path)) is not None
        for text in faults(tree, space, known)
    ]
    assert found == []


def test_methods_of_programs_are_explained() -> None:
    silent = [
        (path.name, method)
        for path, tree in parsed(PROGRAMS)
        for method in methods(tree)
        if method.text is None
    ]
    assert silent == []


def test_modules_classes_and_functions_say_something() -> None:
    short = {module_name(path): brief(tree) for path, tree in parsed(FILES)}
    assert {name: names for name, names in short.items() if names} == {}


PLANTED = '''
from typing import Protocol

class Sized(Protocol):
    def size(self) -> int:
        """The number of rows."""

class Sized2(Protocol):
    def size(self) -> int: ...

class Base:
    def known(self) -> int:
        """One of two numbers."""

    def silent(self) -> int: ...

class Child(Base):
    def known(self) -> int: ...

    def silent(self) -> int: ...

    def size(self) -> int: ...

    def new(self) -> int: ...

    def brief(self) -> int:
        """One."""

class Echo(Base):
    def known(self) -> int:
        """As below."""

class _Hidden:
    def free(self) -> int: ...
'''


def test_the_rule_catches_what_it_should() -> None:
    assert brief(ast.parse('"""One."""')) == ["module"]
    assert brief(ast.parse('"""One two three."""\n\ndef do(): ...')) == ["do"]
    space = ModuleType("planted")
    exec(PLANTED, vars(space))
    found = faults(ast.parse(PLANTED), space, [vars(space)["Sized"]])
    assert [text.partition(":")[0] for text in found] == [
        *("Sized2.size", "Base.silent", "Child.silent", "Child.new", "Child.brief", "Echo.known")
    ]
    assert "Child.size" in " ".join(faults(ast.parse(PLANTED), space, []))
