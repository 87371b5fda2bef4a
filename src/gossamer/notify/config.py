"""Settings of what is told, to whom, and when something is wrong."""

from __future__ import annotations

from typing import Literal

import msgspec


class AlertConfig(msgspec.Struct, frozen=True):
    """How Gossamer sends mail and webhooks, and when it raises an alarm."""

    smtp_host: str = ""
    """Mail server; empty: send no mail."""
    smtp_port: int = 587
    """Port of the mail server."""
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    """How to encrypt the connection to the mail server."""
    smtp_user: str = ""
    """User name at the mail server; empty: no login."""
    smtp_password: str = ""
    """Password at the mail server."""
    sender: str = ""
    """Sender address of mail; empty: crawl.contact, if that is a mail address."""
    operators: tuple[str, ...] = ()
    """Whom to notify of alarms: mail addresses and webhooks (`https://…`)."""
    secret: str = ""
    """Key that signs webhooks (HMAC-SHA256); required if you use webhooks."""
    allow_networks: tuple[str, ...] = ()
    """Private networks (CIDR) that webhooks may be in."""
    stalled_after: float = 900.0
    """Alarm if the crawl stored no page for this many seconds although it could fetch URLs."""
    disk_low: int = 2048
    """Alarm if fewer mebibytes than this are free on the disk. The crawl stops at crawl.min_free_disk."""
    extraction_drop: float = 0.5
    """Alarm if the share of a site's pages without text is higher by this much than on the days before."""
    extraction_pages: int = 20
    """That alarm needs at least this many pages of the site on a day."""
    feed_silent: float = 4.0
    """Alarm if a feed had no news for this many times its usual longest pause."""
    slo_p95: float = 900.0
    """Service level: 95 % of the announced documents should be searchable within this many seconds of publication."""
