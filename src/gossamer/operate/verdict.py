"""The result of each seed: how many pages it yielded, or why none, and the command to type next.

`judge` is pure: it takes what the table knows of a seed and returns a verdict. A seed whose URL was not fetched yet,
because the crawl was stopped or is paused, is *pending*, not failed. Neither did a seed fail if pages of its site were
ever kept: the figures are those of the whole crawl. A seed *failed* if it was tried and nothing of its site was kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import Literal

import msgspec

from gossamer.crawl.render.choice import Modes
from gossamer.database.database import Database
from gossamer.dedup.mirrors import MIRROR_RULE
from gossamer.fetch.guard import AddressPolicy, network_of
from gossamer.frontier.politeness import LONGEST_PACE
from gossamer.frontier.views.seed_view import (
    SeedView,
    UrlState,
    documents,
    documents_by_domain,
    documents_of_sites,
    seed_urls,
    seed_views,
)
from gossamer.model.outcome import Outcome
from gossamer.model.reasons import NEEDS_SCRIPTS, NO_TEXT, PARTLY, SHORT_TEXT
from gossamer.model.site import host_of, origin_of, registrable_domain, site_of
from gossamer.operate.next_command import Commands
from gossamer.robots.verdict import Kind, RobotsState
from gossamer.settings import Settings

State = Literal["kept", "pending", "failed", "removed"]

_ADDRESS = re.compile(r"[0-9A-Fa-f:.]{2,}[0-9A-Fa-f]")
_CERTIFICATE = "the certificate is not valid"


class SeedVerdict(msgspec.Struct, frozen=True):
    """The result of a seed."""

    url: str
    state: State
    pages: int = 0
    """Pages kept of its site, and of the sites it leads to."""
    leads_to: str = ""
    """The other URL to which redirects and canonical links lead, if any."""
    why: str = ""
    """The cause in one word, for programs; empty if the seed yielded pages."""
    cause: str = ""
    """The cause in a sentence without its full stop."""
    advice: str = ""
    """What to do before the next command, if anything."""
    command: str = ""
    """What to type next."""
    tries_again_at: float | None = None
    """When the crawl will try again by itself."""


class Verdict(msgspec.Struct, frozen=True):
    """The result of a crawl: of the seeds that it is judged by, and of the others."""

    seeds: list[SeedVerdict]
    """In the order of the command."""
    others: list[SeedVerdict] = []
    """Failed seeds of earlier commands; they do not count if this command named seeds."""
    pages: int = 0
    """Pages kept in all."""

    @property
    def failed(self) -> list[SeedVerdict]:
        """Seeds that yielded nothing."""
        return [seed for seed in self.seeds if seed.state == "failed"]

    @property
    def ok(self) -> bool:
        """Whether every seed yielded pages, or still may."""
        brought = self.pages > 0 or any(seed.state == "pending" for seed in self.seeds)
        return not self.seeds or (brought and not self.failed)

    @property
    def headline(self) -> str:
        """What is wrong, without the causes; empty if nothing is."""
        failed = self.failed
        if not failed:
            return self.sentence
        if len(self.seeds) == 1:
            return f"{failed[0].url} failed"
        return f"{len(failed)} of {len(self.seeds)} seeds failed, such as {failed[0].url}"

    @property
    def sentence(self) -> str:
        """What is wrong in a line, with the first cause and what to do; empty if nothing is."""
        if self.ok:
            return ""
        failed = self.failed
        if not failed:
            return "no page was kept, because every seed was removed. Add another: gossamer crawl URL"
        first = failed[0]
        return f"{self.headline}: {first.cause}. {next_step(first)}"


def next_step(seed: SeedVerdict) -> str:
    """What to do, and what to type."""
    return f"{seed.advice}: {seed.command}" if seed.advice else f"Next: {seed.command}"


def verdict_of(
    db: Database, settings: Settings, commands: Commands, pages: int, named: Iterable[str] = ()
) -> Verdict:  # fmt: skip
    """The verdict on the named seeds; on all seeds of the crawl if none were named."""
    judged = {seed.url: seed for seed in judge_all(seed_views(db, seed_urls(db)), settings, commands, db)}
    chosen = [judged.get(url, SeedVerdict(url, "pending")) for url in dict.fromkeys(named)]
    if not chosen:
        return Verdict(list(judged.values()), pages=pages)
    names = {seed.url for seed in chosen}
    others = [seed for seed in judged.values() if seed.state == "failed" and seed.url not in names]
    return Verdict(chosen, others, pages)


def judge_all(
    views: Sequence[SeedView], settings: Settings, commands: Commands, db: Database
) -> list[SeedVerdict]:  # fmt: skip
    """Judge each seed. Pages kept elsewhere count for a seed that was read: for a feed or sitemap that names pages of
    the crawl, any page; in a wider scope, those on sites that no seed leads to, in its domain or, if hosts are listed,
    on any host."""
    judge = Judge(settings, commands)
    verdicts = [judge(view) for view in views]
    read = [view for view, one in zip(views, verdicts, strict=True) if _was_read(view, one)]
    kept = _kept_elsewhere(views, read, settings.scope.mode, db) if read else {}
    return [
        SeedVerdict(one.url, "kept", count, one.leads_to) if (count := kept.get(one.url, 0)) > 0 else one
        for one in verdicts
    ]  # fmt: skip


def _kept_elsewhere(
    views: Sequence[SeedView], read: Sequence[SeedView], mode: str, db: Database
) -> dict[str, int]:  # fmt: skip
    """Pages that count for seeds that were read, but of which no page was kept."""
    total = documents(db)
    found = {view.url: total for view in read if _names_pages(view)}
    if mode == "host":
        return found
    seeded = documents_of_sites(db, {site_of(one.url) for view in views for one in view.chain})
    if mode == "list":
        return dict.fromkeys((view.url for view in read), total - sum(seeded.values())) | found
    whole = documents_by_domain(db, {_domain(view.url) for view in read})
    return {view.url: whole.get(name := _domain(view.url), 0) - seeded.get(name, 0) for view in read} | found


def _counts(end: UrlState, outcome: Outcome) -> bool:
    """Whether a URL that was read may have led to the pages of its site; not a list that names none of them."""
    listless = outcome is Outcome.RESOURCE and end.reason and not end.reason.startswith(PARTLY)
    return end.checked_at is not None and not listless


def _names_pages(view: SeedView) -> bool:
    """Whether a seed is a feed or sitemap that names pages of the crawl, as far as it could be read."""
    end = view.end
    return end is not None and end.outcome == Outcome.RESOURCE.value and (
        not end.reason or end.reason.startswith(PARTLY)
    )  # fmt: skip


def _domain(url: str) -> str:
    return registrable_domain(host_of(site_of(url)))


def _was_read(view: SeedView, verdict: SeedVerdict) -> bool:
    end = view.end
    return verdict.state == "failed" and end is not None and (end.checked_at is not None or _names_pages(view))


class Judge:
    """Judges seeds by the settings of a crawl."""

    def __init__(self, settings: Settings, commands: Commands) -> None:
        self._settings, self._commands = settings, commands
        self._goes_on = commands.crawl()
        self._modes = Modes(settings)
        self._policy = AddressPolicy(settings.network.allow, settings.crawl.contact)

    def __call__(self, view: SeedView) -> SeedVerdict:
        """Judge a seed."""
        end = view.end
        if end is None:
            return SeedVerdict(view.url, "pending", cause="not fetched yet")
        leads_to = end.url if end.url != view.url else ""
        found = self._judge(view, end)
        return msgspec.structs.replace(found, pages=view.site.documents, leads_to=leads_to or found.leads_to)

    def _judge(self, view: SeedView, end: UrlState) -> SeedVerdict:
        url, first = view.url, view.chain[0]
        if end.state == "removed":
            return SeedVerdict(url, "removed", why="removed", cause=f"removed: {end.reason}")
        if end.rule == MIRROR_RULE:
            return SeedVerdict(url, "kept", why="mirror", cause=end.reason)
        outcome = Outcome(end.outcome) if end.outcome else None
        if outcome is None and end.state == "refused" and not (view.site.documents and end is not first):
            outcome = Outcome.REFUSED
            led = "" if end is first else f"it leads to {end.url}: "
            why, advice, command = self._cures(end, outcome, end.reason)
            return SeedVerdict(url, "failed", why=why, cause=led + _failure(end, outcome), advice=advice,
                               command=command)  # fmt: skip
        if outcome is None:
            return self._unasked(view, end)
        if outcome is Outcome.DOCUMENT:
            return self._read(view, end)
        if outcome.meaning.joined:
            # The URL it points to is not in the table, or points back.
            return self._lost(view, end) if not view.site.documents else SeedVerdict(url, "kept")
        if view.site.documents and (_counts(end, outcome) or not view.shares_site):
            return SeedVerdict(url, "kept", cause=_failure(end, outcome) if outcome.meaning.error else "")
        others = view.site.waiting - (end.state == "waiting")
        if others > 0 and not view.site.documents:
            return self._pending(view)
        why, advice, command = self._cures(end, outcome, end.reason)
        led = "" if end is first else f"it leads to {end.url}: "
        again = end.due_at if end.state == "scheduled" else None
        return SeedVerdict(
            url, "failed", why=why, cause=led + _failure(end, outcome), advice=advice, command=command,
            tries_again_at=again,
        )  # fmt: skip

    def _read(self, view: SeedView, end: UrlState) -> SeedVerdict:
        """A seed whose page was kept, but may be empty."""
        if view.site.documents > 1 or not end.reason.startswith((NEEDS_SCRIPTS, NO_TEXT, SHORT_TEXT)):
            return SeedVerdict(view.url, "kept")
        led = "" if end is view.chain[0] else f"it leads to {end.url}: "
        if view.site.waiting > (end.state == "waiting"):
            return SeedVerdict(view.url, "pending", why="waiting", cause="not all of its URLs were fetched yet",
                               command=self._goes_on)  # fmt: skip
        if not end.reason.startswith(NEEDS_SCRIPTS):
            return SeedVerdict(
                view.url, "failed", why="empty", cause=led + end.reason,
                advice="See what Gossamer read", command=self._commands.verb("explain", end.url),
            )  # fmt: skip
        if self._modes.of(site_of(end.url)) != "off":
            return SeedVerdict(
                view.url, "failed", why="scripts",
                cause=f"{led}the page is {end.reason}; running its scripts added no text",
                advice="See what Gossamer read", command=self._commands.verb("explain", end.url),
            )  # fmt: skip
        return SeedVerdict(
            view.url, "failed", why="scripts", cause=f"{led}the page is {end.reason}",
            advice="Run its scripts in a browser",
            command=self._commands.crawl(view.url, browser={"mode": "auto"}),
        )  # fmt: skip

    def _unasked(self, view: SeedView, end: UrlState) -> SeedVerdict:
        """A URL without an outcome: it was not fetched yet, or robots.txt prevents it."""
        state = msgspec.msgpack.decode(view.robots, type=RobotsState) if view.robots is not None else None
        failing = state is not None and state.kind in (Kind.UNREACHABLE, Kind.DEFERRED) and not state.good_at
        if state is None or not failing or not _was_asked(state) or view.site.documents:
            return self._pending(view)
        outcome = Outcome(state.outcome) if state.outcome else Outcome.UNAVAILABLE
        # If no answer came, or one that leads nowhere, the detail says more than the sentence about robots.txt.
        told = state.detail if outcome.meaning.unreached or outcome is Outcome.BAD_REDIRECT else ""
        cause = told or state.reason + ", and Gossamer fetches no page without it"
        why, advice, command = self._cures(end, outcome, state.detail)
        led = "" if end is view.chain[0] else f"it leads to {end.url}: "
        return SeedVerdict(
            view.url,
            "failed",
            why=why,
            cause=led + cause,
            advice=advice,
            command=command,
            tries_again_at=state.retry_at,
        )

    def _pending(self, view: SeedView) -> SeedVerdict:
        site = site_of(view.chain[-1].url)
        if view.site.paused:
            return SeedVerdict(view.url, "pending", why="paused", cause=f"{site} is paused: {view.site.paused}",
                               command=self._commands.verb("resume", site))  # fmt: skip
        if view.site.at_limit:
            return SeedVerdict(view.url, "pending", why="limit", cause=f"{site} is at the limit that you set",
                               command=self._commands.verb("limit", site))  # fmt: skip
        if view.site.documents:
            return SeedVerdict(view.url, "kept")
        if view.site.delay > LONGEST_PACE:
            return SeedVerdict(
                view.url, "failed", why="delay", cause=f"{site} wants {view.site.delay:g} s between two requests",
                advice="Only a crawl with --watch waits that long", command=self._commands.crawl(crawl={"watch": True}),
            )  # fmt: skip
        return SeedVerdict(view.url, "pending", why="waiting", cause="not all of its URLs were fetched yet",
                           command=self._goes_on)  # fmt: skip

    def _lost(self, view: SeedView, end: UrlState) -> SeedVerdict:
        target = end.target or end.url
        said = end.reason.removeprefix("its target is refused: ")
        return SeedVerdict(
            view.url, "failed", leads_to=target, why="redirect",
            cause=f"it leads to {target}" + (f", and {said}" if said else ", which is not part of the crawl"),
            advice="Start there", command=self._commands.crawl(target),
        )  # fmt: skip

    def _cures(self, end: UrlState, outcome: Outcome, reason: str) -> tuple[str, str, str]:
        """A word for the cause, what to do, and what to type."""
        if outcome is Outcome.ADDRESS_REFUSED:
            return self._of_address(end, reason)
        if outcome is Outcome.TLS_FAILED or (outcome is Outcome.TIMEOUT and end.url.startswith("https://")):
            return self._of_tls(end, outcome, reason)
        if outcome is Outcome.UNSUPPORTED_TYPE and "gossamer[" in reason:
            extra = reason[reason.index("gossamer[") :].split()[0]
            again = self._commands.crawl(end.url)
            return "extra", "Install its parser and try again", f"pip install '{extra}' && {again}"
        if outcome is Outcome.RESOURCE and (host := _host_in(reason)):
            wider = self._commands.crawl(end.url, scope={"mode": "list", "hosts": [host]})
            return "list", "Add the hosts it names to the crawl", wider
        why, advice, command = _CURES.get(outcome, _SEE)
        if outcome is Outcome.PARSE_FAILED and reason and not any(word in reason for word in _LIMITS):
            advice, command = "See what Gossamer knows about it", _explain
        if end.status in (401, 407):
            advice = "Put the login into gossamer.toml (docs/operate.md, Private networks) and try again"
        hung_up = outcome is Outcome.CONNECT_FAILED and "without an answer" in reason
        if end.url.startswith("http://") and (end.status == 400 or hung_up):
            return (
                why,
                "If the port speaks https, use https",
                self._commands.crawl(end.url.replace("http:", "https:", 1)),
            )
        if command is _start and end.url == f"{origin_of(end.url)}/":
            advice, command = "Check the address, then", _again
        return why, advice, command(self._commands, end.url)

    def _of_address(self, end: UrlState, reason: str) -> tuple[str, str, str]:
        address = _address_in(reason)
        refusal = self._policy.check(address) if address else None
        if refusal is not None and refusal.rule == "address.contact":
            contact = {"contact": "you@example.org"}
            return "contact", "Tell webmasters how to reach you", self._commands.crawl(end.url, crawl=contact)
        if refusal is None or refusal.allowed:
            return "address", "Try again", self._commands.crawl(end.url)
        allowed = {"allow": [network_of(address)]}
        return "address", "If that network is yours, allow it", self._commands.crawl(end.url, network=allowed)

    def _of_tls(self, end: UrlState, outcome: Outcome, reason: str) -> tuple[str, str, str]:
        plain = self._commands.crawl(end.url.replace("https:", "http:", 1))
        if _CERTIFICATE in reason:
            trusted = self._commands.crawl(end.url, fetch={"ca_file": "CA.pem"})
            return "certificate", "If you trust the authority that signed it, name its certificate file", trusted
        if outcome is Outcome.TIMEOUT and ":" not in site_of(end.url):
            return "timeout", "Check that this machine can reach it, then try again", self._commands.crawl(end.url)
        return "tls", "If the port speaks plain http, use http", plain


_LIMITS = ("took longer", "crashed", "memory")
"""Words in the reason of a page that exceeded its parser's limits."""

Next = Callable[[Commands, str], str]
_again: Next = lambda commands, url: commands.crawl(url)  # noqa: E731 - a row of the table below
_explain: Next = lambda commands, url: commands.verb("explain", url)  # noqa: E731 - the same
_start: Next = lambda commands, url: commands.crawl(f"{origin_of(url)}/")  # noqa: E731 - the same

_SEE: tuple[str, str, Next] = ("failed", "See what Gossamer knows about it", _explain)
_CURES: dict[Outcome, tuple[str, str, Next]] = {
    Outcome.DNS_FAILED: ("name", "Check the spelling of the name, then", _again),
    Outcome.CONNECT_FAILED: ("connection", "Check host and port, and whether the server is up, then", _again),
    Outcome.TIMEOUT: ("timeout", "Check that this machine can reach it, then", _again),
    Outcome.FORBIDDEN: ("forbidden", "Ask the site's owner to let Gossamer in, then", _again),
    Outcome.GONE: ("gone", "Start at the site's home page", _start),
    Outcome.CLIENT_ERROR: ("rejected", "See what Gossamer knows about it", _explain),
    Outcome.RATE_LIMITED: ("unavailable", "Give the server some time, then", _again),
    Outcome.UNAVAILABLE: ("unavailable", "Give the server some time, then", _again),
    Outcome.SERVER_ERROR: ("unavailable", "Give the server some time, then", _again),
    Outcome.BROKEN_RESPONSE: ("broken", "The server's answer is broken: tell its owner, then", _again),
    Outcome.TOO_LARGE: ("large", "Allow larger answers (fetch.max_bytes, fetch.max_decoded), then", _again),
    Outcome.BOMB: ("large", "Allow larger answers (fetch.max_bytes, fetch.max_decoded), then", _again),
    Outcome.ROBOTS_DENIED: ("robots", "Ask the site's owner to allow Gossamer there, then", _again),
    Outcome.NOINDEX: ("noindex", "Ask the site's owner to allow indexing, then", _again),
    Outcome.BAD_REDIRECT: ("redirect", "See what Gossamer knows about it", _explain),
    Outcome.REFUSED: ("refused", "See which rule refuses it", _explain),
    Outcome.RESOURCE: ("list", "See what Gossamer knows about it", _explain),
    Outcome.PARSE_FAILED: (
        "unread",
        "Allow pages more time or memory (crawl.parse_timeout, crawl.parse_memory), then",
        _again,
    ),
    Outcome.UNSUPPORTED_TYPE: ("type", "Start at the site's home page", _start),
}


def _was_asked(state: RobotsState) -> bool:
    """Whether robots.txt was requested since a person last named a URL of the site (`robots.verdict`)."""
    return state.retry_at > 0 or not state.outcome


def _failure(end: UrlState, outcome: Outcome) -> str:
    said = end.reason or outcome.meaning.sentence
    if outcome is Outcome.NOINDEX:
        said = "every page that Gossamer read asks not to be indexed (noindex)"
    elif outcome is Outcome.RESOURCE:
        said = f"it is a feed or sitemap; {end.reason or 'it names no page, or none that was kept'}"
    if end.state == "scheduled" and end.attempts > 1:
        said += f" ({end.attempts} tries)"
    return said.rstrip(".")


def _address_in(reason: str) -> str:
    for word in _ADDRESS.findall(reason):
        try:
            return str(ip_address(word))
        except ValueError:
            continue
    return ""


def _host_in(reason: str) -> str:
    found = re.search(r"https?://[^\s/]+/", reason)
    return host_of(site_of(found[0])) if found else ""
