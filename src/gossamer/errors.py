"""Whose fault is it, and does trying again help?

GossamerError
├── UsageError        the person's: a wrong argument, setting, URL or file name. Exit 2.
└── OperationError    the world's: exit 1.
    ├── BusyError         somebody else holds it; try again when they are done
    ├── DatabaseError     the frontier database is locked, unreachable or damaged
    ├── StorageError      the disk is full, read-only, or a file cannot be written
    ├── CorruptError      a file is not what it should be; names the file and the way out
    ├── ClockError        the system clock went backwards
    ├── SemanticError     searching by meaning lacks a library or a model
    └── LeaseLost         another worker owns the site now; drop the batch and ask anew

What can go wrong with a *page* is not an exception but an `Outcome`.
Every message is one line and says what to do.
"""

from __future__ import annotations


class GossamerError(Exception):
    """The root: a message for a person, and an exit code."""

    exit_code = 1


class UsageError(GossamerError):
    """The command, a setting or an input is wrong."""

    exit_code = 2


class OperationError(GossamerError):
    """The command is right, but it cannot be done now."""


class BusyError(OperationError):
    """Somebody else is using the data folder."""


class DatabaseError(OperationError):
    """The frontier database cannot be used."""


class StorageError(OperationError):
    """Files cannot be written."""


class CorruptError(OperationError):
    """A stored file is damaged."""


class ClockError(OperationError):
    """The system clock cannot be right."""


class SemanticError(OperationError):
    """Searching by meaning lacks a library or a model."""


class LeaseLost(OperationError):  # noqa: N818 - it is an event, named as such everywhere
    """The lease ran out and the site has another owner."""
