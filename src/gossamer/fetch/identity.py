"""The user agent.

A webmaster who finds us in a log must be able to reach a person. The user agent therefore always names the project and
the operator's contact, and a contact that is neither a mail address nor a URL is refused before the first request.
"""

from __future__ import annotations

import re

from gossamer.errors import UsageError

AGENT = "Gossamer"
"""The name by which robots.txt addresses us."""
_MAIL = re.compile(r"(?:mailto:)?[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_URL = re.compile(r"https?://[A-Za-z0-9\[][^\s()<>\"\\\x00-\x20\x7f-\U0010ffff]*")
_LONGEST = 200


def check_contact(text: str) -> str:
    """The contact without surrounding blanks; a `UsageError` if nobody could be reached by it."""
    contact = text.strip()
    if len(contact) <= _LONGEST and (_MAIL.fullmatch(contact) or _URL.fullmatch(contact)):
        return contact
    raise UsageError(
        f"contact {contact[:80]!r} is neither a mail address nor a URL: "
        "give one such as crawl@example.org or https://example.org/crawler"
    )


def user_agent(version: str, contact: str) -> str:
    """`Gossamer/0.1 (+crawl@example.org)`; without a contact, when only loopback is crawled, the name."""
    name = f"{AGENT}/{'.'.join(version.split('.')[:2])}"
    return f"{name} (+{check_contact(contact)})" if contact.strip() else name
