"""How often a site may be asked: pure, `(state, event, now) → state`.

Nothing here sleeps or reads a clock. The state is a row in the database, so it
survives restarts and goes with the site from worker to worker.

- The gap between requests is the site's delay: the operator's, or robots.txt's
  Crawl-delay where that is longer. It counts from the moment the response's
  head arrived, because the server has seen the request by then: the gap *the
  server* sees can only be longer.
- An operator can ask for a longer gap for one site. It counts for the site as
  a Crawl-delay does: the longest of all counts, so it only ever slows.
- Trouble (429, 503, 5xx, time-outs, refused connections) makes the whole site
  wait: doubling from `backoff_first` up to `backoff_cap`, with jitter so that
  sites do not come back in step. A Retry-After that asks for more wins.
- A person who names a site again asks for one more try: our own caution is forgotten, a wait that the server
  asked for (Retry-After, 429) holds.
- Each good answer forgives one step. While there is trouble left the gap is
  doubled for each step, so a recovering site is asked gently.
- A site taken over from a dead worker counts as asked just now: its last
  request may not have been recorded.
"""

from __future__ import annotations

import msgspec

from gossamer.partition.config import part_gap

DAY = 86_400.0
RETRY_AFTER = "Retry-After"
PACE = "between two requests"
"""End of a wait's reason if the site only keeps its ordinary pace."""
LONGEST_PACE = 3600.0
"""Seconds between two requests up to which a crawl waits for a site: at a slower pace it would hardly ever end."""
_WISHES = (RETRY_AFTER, "status 429")
"""Part of a wait's reason if the server itself asked for it."""


class PolitenessConfig(msgspec.Struct, frozen=True):
    """How slowly the crawl sends requests to a site."""

    delay: float = 1.0
    """Seconds between two requests to a site."""
    ip_delay: float | None = None
    """Seconds between two requests to an IP address; not set: the same as `delay`."""
    backoff_first: float = 5.0
    """Seconds that the crawl leaves a site alone after a first error of its server."""
    backoff_cap: float = 3600.0
    """Most seconds that the crawl leaves a site alone because of errors."""
    retry_after_cap: float = DAY
    """Most seconds of a Retry-After that the crawl obeys."""
    crawl_delay_cap: float = DAY
    """Most seconds of a Crawl-delay that the crawl obeys."""
    parts: int = 1
    """Into how many parts the site is split that are asked at the same time."""
    site_rate: float = 0.0
    """Times the ordinary rate that they may reach together; 0: as many times as there are parts."""

    @property
    def address_delay(self) -> float:
        """The delay for an IP address."""
        return part_gap(self.parts, self.delay if self.ip_delay is None else self.ip_delay, 0.0, self.site_rate)


class SiteClock(msgspec.Struct, frozen=True):
    """A site's politeness state."""

    crawl_delay: float = 0.0
    """What robots.txt asks for, seconds."""
    trouble: int = 0
    """Unforgiven troubles in a row."""
    not_before: float = 0.0
    """The next request may start at this time."""
    reason: str = ""
    """Why the site waits longer than its delay; `""` if it does not."""
    least_delay: float = 0.0
    """What an operator asks for, seconds."""


def for_part(config: PolitenessConfig, parts: int) -> PolitenessConfig:
    """The rules for one of so many parts of a split site."""
    return config if parts <= 1 else msgspec.structs.replace(config, parts=parts)


def gap(clock: SiteClock, config: PolitenessConfig) -> float:
    """Seconds between two requests in the present state."""
    asked = max(min(clock.crawl_delay, config.crawl_delay_cap), clock.least_delay)
    calm = part_gap(config.parts, config.delay, asked, config.site_rate)
    return min(calm * 2.0 ** min(clock.trouble, 5), max(calm, config.backoff_cap))


def pace(clock: SiteClock, config: PolitenessConfig) -> str:
    """Why a site that is in no trouble waits."""
    if clock.crawl_delay > max(config.delay, clock.least_delay):
        return f"robots.txt asks for {clock.crawl_delay:g} s {PACE}"
    return f"{gap(clock, config):g} s {PACE}"


def answered(clock: SiteClock, at: float, config: PolitenessConfig) -> SiteClock:
    """The site answered in good order; the head of its response arrived at `at`."""
    calmer = msgspec.structs.replace(clock, trouble=max(0, clock.trouble - 1), reason="")
    return msgspec.structs.replace(calmer, not_before=max(clock.not_before, at + gap(calmer, config)))


def troubled(
    clock: SiteClock,
    at: float,
    reason: str,
    config: PolitenessConfig,
    retry_after: float | None = None,
    jitter: float = 0.0,
) -> SiteClock:
    """The site is in trouble, or told us to wait; `jitter` is a random number of 0…1."""
    trouble = clock.trouble + 1
    wait = min(config.backoff_cap, config.backoff_first * 2 ** min(trouble - 1, 30))
    wait *= 1 + 0.25 * jitter
    if retry_after:
        wait = max(wait, min(retry_after, config.retry_after_cap))
        reason = f"{reason}; {RETRY_AFTER}: {retry_after:.0f} s"
    wait = max(wait, gap(clock, config))
    return msgspec.structs.replace(
        clock, trouble=trouble, not_before=max(clock.not_before, at + wait), reason=reason
    )  # fmt: skip


def robots_changed(clock: SiteClock, crawl_delay: float | None, at: float, config: PolitenessConfig) -> SiteClock:
    """The robots.txt that was fetched at `at` is in force, for the request after it, too."""
    changed = msgspec.structs.replace(clock, crawl_delay=max(0.0, crawl_delay or 0.0))
    return msgspec.structs.replace(changed, not_before=max(clock.not_before, at + gap(changed, config)))


def limited(clock: SiteClock, least_delay: float, now: float, config: PolitenessConfig) -> SiteClock:
    """An operator sets this delay: if it is longer than before, the site counts as asked just now."""
    changed = msgspec.structs.replace(clock, least_delay=least_delay)
    if least_delay <= clock.least_delay:
        return changed
    return msgspec.structs.replace(changed, not_before=max(clock.not_before, now + gap(changed, config)))


def taken_over(clock: SiteClock, now: float, config: PolitenessConfig) -> SiteClock:
    """The site's last owner died: count its last request as made now."""
    return msgspec.structs.replace(clock, not_before=max(clock.not_before, now + gap(clock, config)))


def is_servers_wish(reason: str) -> bool:
    """Whether the server asked for a wait with this reason, and not our own caution."""
    return any(mark in reason for mark in _WISHES)


def asked_again(clock: SiteClock, now: float, config: PolitenessConfig) -> SiteClock:
    """A person names the site again: try it once more, no sooner than its ordinary gap allows."""
    if is_servers_wish(clock.reason):
        return clock
    calm = msgspec.structs.replace(clock, trouble=0, reason="")
    return msgspec.structs.replace(calm, not_before=min(clock.not_before, now + gap(calm, config)))


def believable(clock: SiteClock, now: float, config: PolitenessConfig) -> SiteClock:
    """A clock that waits longer than any rule could ask for was set while the system clock was wrong: start the wait
    again from now."""
    longest = max(config.backoff_cap * 1.25, config.retry_after_cap, gap(clock, config))
    if clock.not_before <= now + longest:
        return clock
    return msgspec.structs.replace(clock, not_before=now + gap(clock, config))
