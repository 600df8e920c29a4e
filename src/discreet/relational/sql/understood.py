"""The last line of defence of reading SQL: what nobody thought of is a refusal, too.

Source: contract, "What may be seen" (before data is opened a refusal is free and explains itself).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.sql.relation import unsupported


@contextmanager
def understood() -> Iterator[None]:
    """Refuse for nothing where the translation goes astray.

    Nothing of the data is open here, so that the cause may be seen.
    """
    try:
        yield
    except DiscreetError:
        raise
    except RecursionError:
        pass
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as fault:
        raise InvalidParameter(
            code="sql_not_understood",
            expectation="SQL that the curator understands",
            received=type(fault).__name__,
            remedy="Nothing was charged. Write the question another way, and report this text.",
        ) from fault
    else:
        return
    raise unsupported(construct="a question nested so deep", remedy="Ask something shorter.")
