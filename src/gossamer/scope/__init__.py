"""What belongs to the crawl, and what is a trap: pure rules in one ordered chain.

A URL is judged when it enters the frontier and again when it is taken from it, because the rules may have changed in
between.
"""

from gossamer.scope.chain import Chain, Rule, ScopeConfig, build_chain
from gossamer.scope.filters import DEFAULT_DENY_SUFFIXES, FilterRule, Filters
from gossamer.scope.hosts import HostScope, Mode
from gossamer.scope.shape import path_shape
from gossamer.scope.traps import TrapGuard, TrapLimits

__all__ = [
    "DEFAULT_DENY_SUFFIXES",
    "Chain",
    "FilterRule",
    "Filters",
    "HostScope",
    "Mode",
    "Rule",
    "ScopeConfig",
    "TrapGuard",
    "TrapLimits",
    "build_chain",
    "path_shape",
]
