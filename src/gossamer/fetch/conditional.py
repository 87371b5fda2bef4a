"""Headers about time and versions: validators that we send back, and dates in responses.

Validators come from a server; they are sent only if they are valid header values, so that no stored value can smuggle
in
a second header.
"""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime

_SAFE = re.compile(r"[\x21-\x7e\x80-\xff](?:[\x20-\x7e\x80-\xff]{0,1022}[\x21-\x7e\x80-\xff])?")
_SECONDS = re.compile(r"([0-9]+)(?:\.[0-9]*)?")
_DATE_CHARS = 64
_LONGEST = 366 * 86_400.0
"""Seconds; a server that asks for more means "go away", which a year says as well."""


def validators(etag: str, last_modified: str) -> list[tuple[str, str]]:
    """The headers that ask for a page only if it changed since that version."""
    headers = []
    if etag and _SAFE.fullmatch(etag):
        headers.append(("If-None-Match", etag))
    if last_modified and _SAFE.fullmatch(last_modified):
        headers.append(("If-Modified-Since", last_modified))
    return headers


def http_date(text: str) -> float | None:
    """Seconds since 1970 of an HTTP date in any of its forms; None for garbage."""
    if len(text) > _DATE_CHARS:
        return None
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def retry_after(value: str, now: float) -> float | None:
    """Seconds a Retry-After header asks to wait: 0 for a past date, None for none or garbage. A date is compared with
    our clock: the server's may be wrong, but it is ours that waits."""
    value = value.strip()
    seconds = _SECONDS.fullmatch(value)
    if seconds:
        digits = seconds[1].lstrip("0")
        return min(float(digits or 0), _LONGEST) if len(digits) < 12 else _LONGEST
    date = http_date(value) if value and value[0].isalpha() else None
    return None if date is None else min(max(date - now, 0.0), _LONGEST)
