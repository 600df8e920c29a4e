"""The moduli of hash functions: primes of at most 31 bits."""

from __future__ import annotations

from math import isqrt


def prime_from(least: int) -> int:
    """The least prime that is not below ``least``.

    >>> prime_from(1024)
    1031
    """
    number = max(2, least)
    while not _is_prime(number):
        number += 1
    return number


def _is_prime(number: int) -> bool:
    if number % 2 == 0:
        return number == 2
    return all(number % odd for odd in range(3, isqrt(number) + 1, 2))
