"""Where a message goes: a mail address or a webhook, written as people write them.

Both are checked when they are given, by whoever takes them from a person: nothing that could end a line of a mail's
head or of a request ever reaches the outbox.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from gossamer.errors import OperationError, UsageError

_MAIL = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@([A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?)")
_PRINTABLE = re.compile(r"[\x21-\x7e]{1,2000}")


class NotTakenError(OperationError):
    """A channel did not take a message; the sentence says why, and it is tried again."""


class Target(NamedTuple):
    """The parts of a webhook's address."""

    secure: bool
    host: str
    """Without the brackets of IPv6."""
    port: int
    site: str
    """Host and port as they were written: the Host header."""
    path: str
    """Path and query."""


def is_mail(channel: str) -> bool:
    """Whether a channel is a mail address."""
    return "://" not in channel


def shown(channel: str) -> str:
    """A channel as others may see it: the path of a webhook is often its password."""
    return channel if is_mail(channel) else f"{'/'.join(channel.split('/')[:3])}/…"


def check_channel(channel: str) -> str:
    """A channel as it is kept; a `UsageError` where it is neither a mail address nor a webhook."""
    channel = channel.strip()
    if not is_mail(channel):
        target_of(channel)
    elif not _MAIL.fullmatch(channel) or ".." in channel:
        raise UsageError(f"{channel[:100]!r} is not a mail address: write name@example.org, or https://… for a webhook")
    return channel


def check_mail(channel: str) -> str:
    """A mail address as it is kept; a `UsageError` where it is something else."""
    if not is_mail(channel):
        raise UsageError(f"{channel[:100]!r} is not a mail address: for a webhook, write --webhook {channel[:100]}")
    return check_channel(channel)


def check_webhook(channel: str) -> str:
    """The address of a webhook as it is kept; a `UsageError` where it is something else."""
    target_of(channel.strip())
    return channel.strip()


def target_of(url: str) -> Target:
    """Where a webhook's request goes; a `UsageError` where its address cannot be one."""
    advice = "write https://host/path, in ASCII and without a user name"
    if not _PRINTABLE.fullmatch(url) or "\\" in url:
        raise UsageError(f"{url[:100]!r} is not a webhook URL: {advice}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or port == 0:
        raise UsageError(f"{url[:100]!r} is not a webhook URL: {advice}")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    secure = parts.scheme == "https"
    return Target(secure, host, port or (443 if secure else 80), parts.netloc.lower(), path)
