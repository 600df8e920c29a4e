"""What a question may cost, or how accurate it must be, from the options of the command line."""

from __future__ import annotations

import sys
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.curator.accuracy import Within
from discreet.curator.paid_before import PaidBefore, PayAgain, Reuse
from discreet.relational.plan.left_out import LeftOut


def spend_of(epsilon: float | None, delta: float | None, rho: float | None) -> Guarantee | None:
    """The spend that the numbers state; None without any.

    >>> spend_of(0.5, None, None)
    PureDP(unit=None, epsilon=0.5)
    """
    if epsilon is not None and rho is None:
        return ApproxDP(epsilon=epsilon, delta=delta) if delta else PureDP(epsilon=epsilon)
    if rho is not None and epsilon is None and delta is None:
        return ZCDP(rho=rho)
    if epsilon is None and delta is None and rho is None:
        return None
    raise InvalidParameter(
        code="spend_unclear",
        expectation="--epsilon, --epsilon and --delta, or --rho",
        received=" ".join(
            f"--{name}"
            for name, value in (("epsilon", epsilon), ("delta", delta), ("rho", rho))
            if value is not None
        ),
        remedy="Write for instance --epsilon 0.5.",
    )


def required_spend(epsilon: float | None, delta: float | None, rho: float | None) -> Guarantee:
    """The same where nothing but a price will do."""
    spend = spend_of(epsilon, delta, rho)
    if spend is None:
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="a price; there is no default",
            remedy="Add --epsilon 1, or --rho 0.1.",
        )
    return spend


def accuracy_of(within: list[str], confidence: float) -> dict[str, Within] | Within | None:
    """The wanted accuracy; a number alone is for a question with one column."""
    if not within:
        return None
    found: dict[str, Within] = {}
    for text in within:
        name, _, error = text.rpartition("=")
        try:
            wanted = Within(error if error.endswith("%") else float(error), confidence)
        except ValueError as error:
            if isinstance(error, InvalidParameter):
                raise
            raise InvalidParameter(
                code="accuracy_misread",
                expectation="--within COLUMN=ERROR",
                received=text,
                remedy="Write for instance --within n=5, or --within n=5% --rows-at-least 1000.",
            ) from None
        if not name and len(within) == 1:
            return wanted
        found[name] = wanted
    return found


def limit_of(at_most: str | None) -> Guarantee | None:
    """The most that an accuracy may cost: an epsilon, or ``rho=`` with a number.

    >>> limit_of("rho=0.1")
    ZCDP(unit=None, rho=0.1)
    """
    if at_most is None:
        return None
    name, _, number = at_most.rpartition("=")
    try:
        amount = float(number)
    except ValueError:
        name, amount = "?", 0.0
    if name == "rho":
        return ZCDP(rho=amount)
    if name in ("", "epsilon"):
        return PureDP(epsilon=amount)
    raise InvalidParameter(
        code="at_most_misread",
        expectation="--at-most EPSILON, or --at-most rho=RHO",
        received=at_most,
        remedy="Write for instance --at-most 2.",
    )


def paid_before_of(*, reuse: bool, pay_again: bool) -> PaidBefore | None:
    """What to do about an answer on another snapshot; None where nothing was said.

    >>> paid_before_of(reuse=True, pay_again=False)
    Reuse()
    """
    if reuse and pay_again:
        raise InvalidParameter(
            code="paid_before_unclear",
            expectation="--reuse or --pay-again",
            received="both",
            remedy="Pass --reuse for the stored answer, or --pay-again for a new one.",
        )
    if reuse:
        return Reuse()
    return PayAgain() if pay_again else None


def left_out_of(share: float | None, rows: int | None) -> LeftOut | None:
    """The wish for a report of what limits left out; None where nothing was said.

    >>> left_out_of(0.1, 100)
    LeftOut(share=0.1, rows_at_most=100, groups_at_most=None)
    """
    if share is None and rows is not None:
        raise InvalidParameter(
            code="left_out_misread",
            expectation="--left-out-rows beside --left-out",
            received=rows,
            remedy="Pass --left-out 0.1 too, the share of the price that pays for it.",
        )
    return None if share is None else LeftOut(share=share, rows_at_most=rows)


def require_price(sql: str, spend: Guarantee | None, accuracy: object) -> None:
    """Refuse a question without a price, or with two; its own text may state one."""
    stated = spend is None and accuracy is None and "differential_privacy" in sql.lower()
    if spend is not None and accuracy is not None:
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="a price or an accuracy: one of them, not both",
            received="a price and --within",
            remedy="Leave --within out, or --epsilon, --delta and --rho.",
        )
    if spend is None and accuracy is None and not stated:
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="either a price or an accuracy; there is no default",
            remedy="Add --epsilon 0.5, or --within n=5 to pay what that accuracy costs.",
        )


def checkpoint_of(argument: str) -> str:
    """A checkpoint as it stands, from a file after ``@``, or as a line that a command printed."""
    return _text_of(argument, "a file with a checkpoint").strip().removeprefix("checkpoint:")


def sql_of(argument: str) -> str:
    """The question: as it stands, from a file after ``@``, or from standard input for ``-``."""
    return _text_of(argument, "a file with one question in SQL")


def _text_of(argument: str, expectation: str) -> str:
    if argument == "-":
        return sys.stdin.read()
    if not argument.startswith("@"):
        return argument
    try:
        return Path(argument[1:]).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidParameter(
            code="question_unreadable",
            expectation=expectation,
            received=argument[1:],
            remedy=f"Check the path: {getattr(error, 'strerror', None) or 'it is not UTF-8'}.",
        ) from None
