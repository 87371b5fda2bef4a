"""Settings of what is told, to whom, and when something is wrong."""

from __future__ import annotations

from typing import Literal

import msgspec


class AlertConfig(msgspec.Struct, frozen=True):
    """Mail, webhooks and operator alarms: how they are sent, and when something counts as wrong."""

    smtp_host: str = ""
    """Mail server; without one no mail is sent."""
    smtp_port: int = 587
    """Its port."""
    smtp_security: Literal["starttls", "tls", "none"] = "starttls"
    """How the connection to the mail server is encrypted."""
    smtp_user: str = ""
    """User name at the mail server; empty: no login."""
    smtp_password: str = ""
    """Password at the mail server."""
    sender: str = ""
    """Address that mail comes from; empty: crawl.contact, where that is a mail address."""
    operators: tuple[str, ...] = ()
    """Who is told of alarms: mail addresses, and webhooks (`https://…`)."""
    secret: str = ""
    """Key by which webhooks are signed (HMAC-SHA256); needed where a webhook is used."""
    allow_networks: tuple[str, ...] = ()
    """Private networks (CIDR) in which webhooks may lie."""
    stalled_after: float = 900.0
    """Seconds without a page, while URLs are due at sites that do not rest, after which a crawl counts as stalled."""
    disk_low: int = 2048
    """Mebibytes of free disk below which an alarm is raised; the crawl stops at crawl.min_free_disk."""
    extraction_drop: float = 0.5
    """Alarm where the share of a site's pages without text rose by this much over its days before."""
    extraction_pages: int = 20
    """Pages of a day before the share of a site counts."""
    feed_silent: float = 4.0
    """Alarm where a feed was silent for so many times its usual longest pause."""
    slo_p95: float = 900.0
    """Seconds from publication to the search page that 95 of 100 announced documents should need at most."""
