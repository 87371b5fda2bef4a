"""The test kit: virtual time, real sockets, and a witness of rudeness.

It ships with the package, for the tests of plug-ins and of crawls of one's own.
Nothing else in the package imports it.
"""

from __future__ import annotations

from gossamer.demo.message import Ask, Reply
from gossamer.testing.clock import FakeClock
from gossamer.testing.log import Connection, Log, Request, read_log
from gossamer.testing.observer import Violation, violations
from gossamer.testing.web import FakeWeb, LoopbackWeb, Site

__all__ = [
    "Ask",
    "Connection",
    "FakeClock",
    "FakeWeb",
    "Log",
    "LoopbackWeb",
    "Reply",
    "Request",
    "Site",
    "Violation",
    "read_log",
    "violations",
]
