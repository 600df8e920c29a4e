"""Packages whose public names load on first use, so that importing them loads nothing else.

Source: PEP 562.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module


def loader(
    package: str, names: Mapping[str, Sequence[str]], modules: Sequence[str] = ()
) -> Callable[[str], object]:
    """The ``__getattr__`` of a package: ``names`` by the module they live in, and whole modules.

    Modules are named from the package on. What was loaded is kept.
    """
    homes = {name: module for module, inside in names.items() for name in inside}

    def load(name: str) -> object:
        """Load a public name on first use, and keep it."""
        if name in modules:
            value: object = import_module(f"{package}.{name}")
        elif name in homes:
            value = getattr(import_module(f"{package}.{homes[name]}"), name)
        else:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        setattr(sys.modules[package], name, value)
        return value

    return load
