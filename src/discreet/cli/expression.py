"""Events written as text: ``Laplace(epsilon=0.1) * 1000 + Gaussian(noise_multiplier=5)``.

The text is parsed with Python's grammar and then walked over an allow-list: kinds of events with
named numbers, ``+``, ``* times``, ``.subsample(...)``. Nothing is ever evaluated as Python.
Whatever is refused, by this module or by an event, is refused with its place in the text.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar

from discreet.cli.misread import Misread
from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.core.events import mechanisms as basic
from discreet.core.events.event import Event, Nothing, compose
from discreet.core.parameters import Number, finite

KINDS: dict[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        basic.Laplace,
        basic.DiscreteLaplace,
        basic.Gaussian,
        basic.DiscreteGaussian,
        basic.Exponential,
        basic.PermuteAndFlip,
        basic.NoisyMax,
        basic.RandomizedResponse,
        basic.SparseVector,
        basic.Pure,
        basic.Approximate,
        basic.Concentrated,
        Nothing,
    )
}
LONGEST = 20_000
DEEPEST = 60
_SAMPLER = ("rate", "size", "of")
_REMEDY = "Write for instance: Laplace(epsilon=0.1) * 1000 + Gaussian(noise_multiplier=5)"


Value = TypeVar("Value")


def parse(text: str) -> Event:
    """The event that ``text`` describes.

    >>> parse("Laplace(epsilon=0.1) * 1000 + Gaussian(noise_multiplier=5).subsample(rate=1/100)")
    Composed(parts=(Repeated(event=Laplace(epsilon=0.1), times=1000), \
PoissonSampled(event=Gaussian(noise_multiplier=5), rate=Fraction(1, 100))))
    """
    return _Reader(text).read_event()


class _Reader:
    """One text and the walk over its tree."""

    def __init__(self, text: str) -> None:
        self.text = " ".join(text.splitlines()).strip()

    def read_event(self) -> Event:
        if len(self.text) > LONGEST:
            limit = f"at most {LONGEST} characters"
            raise _refusal(limit, received=len(self.text))
        if "#" in self.text:  # what follows would be dropped, and not paid for
            where = self.text.index("#")
            raise Misread(_refusal("no comments"), self.text, where, where + 1)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(self.text, mode="eval")
        except SyntaxError as error:
            start = min(max((error.offset or 1) - 1, 0), len(self.text))
            said = _refusal(f"an expression (Python says: {error.msg})")
            raise Misread(said, self.text, start, start + 1) from None
        except (ValueError, RecursionError, MemoryError):
            flat = "plain text that is not deeply nested"
            raise _refusal(flat) from None
        return self._event(tree.body, 0)

    def _event(self, node: ast.expr, depth: int) -> Event:
        if depth > DEEPEST:
            raise self._misread(node, f"at most {DEEPEST} operations inside each other")
        match node:
            case ast.BinOp(op=ast.Add()):
                terms = _terms(node)
                found = tuple(self._event(term, depth + 1) for term in terms)
                return self._at(node, lambda: compose(found))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                factor, inner = (left, right) if _is_number(left) else (right, left)
                event = self._event(inner, depth + 1)
                times = self._times(factor)
                return self._at(factor, lambda: event * times)
            case ast.Call(func=ast.Attribute(value=value, attr="subsample")):
                event = self._event(value, depth + 1)
                options = self._keywords(node, _SAMPLER)
                return self._at(node, lambda: event.subsample(**options))  # type: ignore[arg-type]
            case ast.Call(func=ast.Name(id=name)):
                return self._kind(node, name)
        raise self._misread(node, "an event, such as Laplace(epsilon=0.1)")

    def _kind(self, node: ast.Call, name: str) -> Event:
        kind = KINDS.get(name)
        if kind is None:
            near = difflib.get_close_matches(name, KINDS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(KINDS)}."
            raise self._misread(node.func, "a kind of event", remedy=hint)
        needed = tuple(inspect.signature(kind).parameters)
        options = self._keywords(node, needed)
        missing = [each for each in needed if each not in options]
        if missing:
            raise self._misread(node, f"{name} to be told {' and '.join(missing)}")
        return self._at(node, lambda: kind(**options))

    def _keywords(self, call: ast.Call, allowed: tuple[str, ...]) -> dict[str, Number]:
        names = ", ".join(f"{name}=" for name in allowed) or "no numbers"
        for argument in call.args:
            raise self._misread(argument, f"numbers with their names: {names}")
        for keyword in call.keywords:
            if keyword.arg not in allowed:
                raise self._misread(keyword, names)
        return {str(each.arg): self._number(each.value) for each in call.keywords}

    def _times(self, node: ast.expr) -> int:
        number = self._number(node)
        return int(number) if number == number // 1 else number  # type: ignore[return-value]

    def _number(self, node: ast.expr) -> Number:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as number):
                return self._at(node, lambda: finite("the number", number))
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -self._number(inner)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                above, below = Fraction(self._number(left)), Fraction(self._number(right))
                if below:
                    return above / below
        raise self._misread(node, "a number, such as 1000, 0.1 or 1/3")

    def _at(self, node: ast.AST, build: Callable[[], Value]) -> Value:
        """What ``build`` returns; its refusal gets the place of ``node``."""
        try:
            return build()
        except DiscreetError as refusal:
            raise self._placed(refusal, node) from None

    def _misread(self, node: ast.AST, expectation: str, *, remedy: str = _REMEDY) -> Misread:
        source = ast.get_source_segment(self.text, node)
        return self._placed(_refusal(expectation, received=source, remedy=remedy), node)

    def _placed(self, refusal: DiscreetError, node: ast.AST) -> Misread:
        octets = self.text.encode()  # the tree counts those
        start = len(octets[: getattr(node, "col_offset", 0)].decode())
        end = len(octets[: getattr(node, "end_col_offset", 0)].decode())
        return Misread(refusal, self.text, start, end)


def _terms(node: ast.expr) -> list[ast.expr]:
    """The terms of a sum, found without recursion: sums may be long."""
    terms: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms.append(node.right)
        node = node.left
    return [node, *reversed(terms)]


def _is_number(node: ast.expr) -> bool:
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=inner) | ast.BinOp(left=inner, op=ast.Div()):
            return _is_number(inner)
    return False


def _refusal(
    expectation: str, *, received: object = None, remedy: str = _REMEDY
) -> InvalidParameter:
    return InvalidParameter(
        code="expression_misread", expectation=expectation, received=received, remedy=remedy
    )
