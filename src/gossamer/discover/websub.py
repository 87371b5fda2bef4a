"""WebSub (W3C recommendation, 2018) as a subscriber sees it: what is sent, what is believed, and when.

A feed that names a hub need not be asked for news: the hub sends them. Three messages matter, and each can
be forged by whoever knows or guesses the address it goes to:

- we ask a hub for a subscription (`subscribe_form`);
- somebody asks us whether we did (`check_verification`): only what we wait for is confirmed, and never
  the end of a subscription, because we never ask for one: an address that answers "gone" ends it as well;
- somebody sends content (`check_signature`): it counts only if it was signed with the secret we gave.

A hub decides how long a subscription lives. It is renewed when a third of that time is left, and asked more
and more rarely where it does not answer. Feeds are polled all the while, so that a hub which dies or lies
costs time, not pages.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urljoin, urlsplit

import msgspec

from gossamer.errors import UsageError
from gossamer.model.url import Canonicalizer, CanonicalRules

PATH = "/push/"
"""Where our server receives, below its public address; the subscription's id follows."""
DAY = 86_400.0
"""Seconds after which a hub that we gave up is asked once more."""
SHORTEST_LEASE = 300.0
"""Seconds; a shorter subscription would be renewed without end and is not confirmed."""
LONGEST_LEASE = 30 * DAY
"""Seconds after which we ask again, whatever the hub promised: none may last for ever."""
MOST_HUBS = 8
"""Hubs read from the headers of one feed."""

_METHODS = {"sha1": hashlib.sha1, "sha256": hashlib.sha256, "sha384": hashlib.sha384, "sha512": hashlib.sha512}
_CHALLENGE = 4096
_LONGEST_TOPIC = 2048
"""Bytes: it is looked up in an index, whose rows are short."""
_PLAIN = re.compile(r"[!-~]+")
_HEADER_CHARS = 20_000
_LINK = re.compile(r'<([^<>]*)>((?:[^",]|"(?:[^"\\]|\\.)*")*)')
_PARAMETER = re.compile(r';\s*([^\s=;,"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))')
_VERBATIM = Canonicalizer(CanonicalRules((), ()))
"""URLs in one spelling, with all their parameters."""


class PushConfig(msgspec.Struct, frozen=True):
    """Push: hubs send the news of feeds to the server (WebSub)."""

    callback: str = ""
    """URL by which hubs reach this server, such as `https://search.example.org`; empty: do not subscribe."""
    lease: float = 864_000.0
    """Seconds that a subscription should last; the hub decides. The crawl renews it when a third is left."""
    attempts: int = 6
    """After this many failed requests the crawl asks a hub only once a day, and polls its feeds."""
    retry: float = 60.0
    """Seconds before the second attempt; each further wait is twice as long."""

    def check(self) -> None:
        """Raise a `UsageError` for what cannot be meant."""
        try:
            parts = urlsplit(self.callback)
            usable = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment
        except ValueError:
            usable = False
        if self.callback and (not usable or not _PLAIN.fullmatch(self.callback)):
            raise UsageError(f"push.callback: {self.callback!r} is not an address: write https://search.example.org")
        if not SHORTEST_LEASE <= self.lease <= LONGEST_LEASE:
            raise UsageError(
                f"push.lease is {self.lease:g}: from {SHORTEST_LEASE:g} to {LONGEST_LEASE:g} s are possible"
            )
        if self.attempts < 1 or not self.retry > 0:
            raise UsageError("push.attempts and push.retry must be greater than 0")


class Verified(msgspec.Struct, frozen=True):
    """We did ask for it: the challenge goes back to the hub."""

    challenge: str
    expires_at: float


class Denied(msgspec.Struct, frozen=True):
    """The hub does not want to, or not any more."""

    reason: str


class Refused(msgspec.Struct, frozen=True):
    """Nothing that we asked for."""

    reason: str


def callback_url(config: PushConfig, subscription: str) -> str:
    """Where a hub sends the news of one subscription."""
    return f"{config.callback.rstrip('/')}{PATH}{subscription}"


def subscribe_form(config: PushConfig, subscription: str, topic: str, secret: str) -> tuple[tuple[str, str], ...]:
    """The fields to post to a hub; `hub.verify` is for hubs of the years before the recommendation."""
    return (
        ("hub.callback", callback_url(config, subscription)),
        ("hub.mode", "subscribe"),
        ("hub.topic", topic),
        ("hub.lease_seconds", str(int(config.lease))),
        ("hub.secret", secret),
        ("hub.verify", "async"),
    )


def check_verification(
    query: Mapping[str, str], topic: str, awaited: bool, now: float, lease: float
) -> Verified | Denied | Refused:
    """What a request to the address of a subscription means.

    `awaited`: we asked the hub, or the subscription is running, so that the hub may make sure. `lease` counts where
    the hub names none, as hubs did before the recommendation.
    """
    mode = query.get("hub.mode", "")
    if not _same_topic(query.get("hub.topic", ""), topic):
        return Refused(f"nobody asked for the topic {query.get('hub.topic', '')[:200]!r} here")
    if mode == "denied":
        return Denied(one_line(query.get("hub.reason", "")) or "the hub gave no reason")
    if mode != "subscribe":
        return Refused(f"nobody asked to {mode[:40]!r}")
    if not awaited:
        return Refused("nobody asked for a subscription now")
    challenge = query.get("hub.challenge", "")
    if not challenge or len(challenge) > _CHALLENGE:
        return Refused("the challenge is missing or too long")
    granted = _seconds(query.get("hub.lease_seconds", str(int(lease))))
    if granted < SHORTEST_LEASE:
        return Refused(f"a lease of {query.get('hub.lease_seconds', '')[:20]!r} seconds is none")
    return Verified(challenge, now + min(granted, LONGEST_LEASE))


def check_signature(header: str, body: bytes, secret: str) -> str:
    """What is wrong with a delivery's X-Hub-Signature; `""` where nothing is."""
    method, found, signature = header.strip().partition("=")
    if not found:
        return "the delivery is not signed"
    digest = _METHODS.get(method.strip().lower())
    if digest is None:
        return f"no method {method[:20]!r} is known"
    expected = hmac.new(secret.encode(), body, digest).hexdigest()
    given = signature.strip().lower().encode("utf-8", "replace")
    return "" if hmac.compare_digest(expected.encode(), given) else "the signature is wrong"


def hubs_of_headers(values: Iterable[str], base: str = "") -> tuple[list[str], str]:
    """The hubs and the topic (`rel=self`) that the values of Link headers name, relative ones joined to `base`.

    Where the headers name a hub, they come before what the feed says inside.
    """
    hubs: dict[str, None] = {}
    topic = ""
    for value in values:
        for match in _LINK.finditer(value[:_HEADER_CHARS]):
            words, target = _relations(match[2]), _joined(base, match[1].strip())
            if not target:
                continue
            if "hub" in words and len(hubs) < MOST_HUBS:
                hubs[target] = None
            if "self" in words and not topic:
                topic = target
    return list(hubs), topic


def hub_and_topic(url: str, headers: Iterable[str], hubs: Sequence[str], self_url: str) -> tuple[str, str]:
    """The hub to ask and the topic to ask it for, from the Link headers of a feed at `url`, else from what the feed
    says inside; two empty strings where no hub is named or the topic is no address."""
    named, topic = hubs_of_headers(headers, url)
    hub = choose_hub(named or [_joined(url, hub) for hub in hubs])
    topic = topic or _joined(url, self_url.strip()) or url
    usable = (
        len(topic.encode("utf-8", "replace")) <= _LONGEST_TOPIC
        and topic.isprintable()
        and isinstance(_VERBATIM.parse(topic), str)
    )
    return (hub, topic) if hub and usable else ("", "")


def choose_hub(hubs: Sequence[str]) -> str:
    """The hub to ask, in the spelling that requests have: the first with encryption, else the first; `""`: none."""
    found = [url for url in map(_VERBATIM.parse, hubs[:MOST_HUBS]) if isinstance(url, str)]
    return next((url for url in found if url.startswith("https:")), found[0] if found else "")


def next_hub(hub: str, location: str) -> str:
    """Where a hub sends us on to; `""` where that is no address, or one that would show the secret to the network."""
    url = _VERBATIM.parse(_joined(hub, location))
    if not isinstance(url, str) or (hub.startswith("https:") and not url.startswith("https:")):
        return ""
    return url


def one_line(text: str) -> str:
    """The beginning of what a stranger says, fit for a log."""
    return "".join(letter for letter in " ".join(text[:1000].split()) if letter.isprintable())[:200]


def due_at(asked_at: float, attempts: int, expires_at: float | None, config: PushConfig) -> float:
    """When a hub is to be asked next.

    `attempts` without success so far; `expires_at` of a running subscription. A renewal that the hub does not confirm
    is asked again when a third of what is left of the lease is left, so that the pauses become shorter near its end.
    """
    if expires_at is not None:
        return max(expires_at - (expires_at - asked_at) / 3, asked_at + config.retry)
    if attempts == 0:
        return asked_at
    if attempts >= config.attempts:
        return asked_at + DAY
    return asked_at + min(DAY, config.retry * 2.0 ** (attempts - 1))


def _same_topic(given: str, topic: str) -> bool:
    """Hubs may have decoded characters that need no escape."""
    if given == topic:
        return True
    one, other = _VERBATIM.parse(given[:4096]), _VERBATIM.parse(topic)
    return isinstance(one, str) and one == other


def _seconds(text: str) -> float:
    text = text.strip()
    return float(text[:12]) if text.isascii() and text.isdecimal() else 0.0


def _relations(parameters: str) -> list[str]:
    """The words of a link's `rel`; none where the link is about something else than the feed (`anchor`)."""
    found: dict[str, str] = {}
    for name, quoted, plain in _PARAMETER.findall(parameters):
        found.setdefault(name.lower(), quoted or plain)
    return [] if "anchor" in found else found.get("rel", "").lower().split()


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference) if base and reference else reference
    except ValueError:
        return ""
