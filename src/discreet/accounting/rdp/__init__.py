"""The Rényi accountant and its curves, with integer, fractional and fixed-size sampling."""

from discreet.accounting.rdp.accountant import RENYI, RenyiAccountant, rdp
from discreet.accounting.rdp.analytic import (
    large_order_bound,
)
from discreet.accounting.rdp.chain import ChainCurve, replaced, triangle
from discreet.accounting.rdp.convert import moments_epsilon, renyi_delta, renyi_epsilon
from discreet.accounting.rdp.curve import RenyiCurve

__all__ = [
    "RENYI",
    "ChainCurve",
    "RenyiAccountant",
    "RenyiCurve",
    "large_order_bound",
    "moments_epsilon",
    "rdp",
    "renyi_delta",
    "renyi_epsilon",
    "replaced",
    "triangle",
]
