"""Which hosts belong to the crawl?

Three modes:

- `host`: only the sites named, port included. `www.a.org` is not `a.org`: they are
  different sites until a redirect or a canonical link says otherwise.
- `domain`: every host with the registrable domain of one that was named.
- `list`: the hosts named and no others. `*.a.org` stands for all hosts below `a.org`,
  not for `a.org` itself; `*` for all hosts. An entry with a port means that port,
  one without means any.

A site that a seed redirects to is covered in the modes `host` and `domain`, it alone: a list is taken at its word.

A scope never changes; seeds that come later make a new one with `with_hosts`. What
it said about a site is remembered, so a URL costs one dictionary look-up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, get_args

from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.model.decision import Decision, allow, refuse
from gossamer.model.site import host_of, registrable_domain, site_of
from gossamer.model.url import Canonicalizer

Mode = Literal["host", "domain", "list"]

REMEMBERED_SITES = 65_536
"""Verdicts kept per process; at about 300 bytes each this is 20 MB at the very most."""

_CANONICAL = Canonicalizer()


class HostScope:
    """The rule `scope.<mode>`: is the URL's host part of this crawl?"""

    def __init__(self, mode: Mode, hosts: Iterable[str], redirected: Iterable[tuple[str, str]] = ()) -> None:
        """Hosts are names, `host:port`, or URLs of seeds; a `UsageError` for others. `redirected`: further sites, each
        with the seed that redirects there."""
        if mode not in get_args(Mode):
            raise UsageError(f"scope {mode!r} is unknown: use host, domain or list")
        self.mode: Mode = mode
        self.name = f"scope.{mode}"
        self.entries = frozenset(_entry(mode, host) for host in hosts)
        self._redirected = dict(redirected)
        self._seen: dict[str, Decision] = {}

    def with_hosts(self, hosts: Iterable[str]) -> HostScope:
        """A scope that also covers these hosts; itself if it names them all already."""
        added = {_entry(self.mode, host) for host in hosts}
        if added <= self.entries:
            return self
        wider = HostScope(self.mode, (), self._redirected.items())
        wider.entries = self.entries | added
        return wider

    def decide(self, url: str, now: float) -> Decision:
        """Whether the site of a canonical URL is inside."""
        start = 8 if url[4] == "s" else 7
        verdict = self._seen.get(url[start : url.find("/", start)])
        return verdict if verdict is not None else self._judge(site_of(url))

    def _judge(self, site: str) -> Decision:
        if len(self._seen) >= REMEMBERED_SITES:
            self._seen.clear()
        verdict = self._seen[site] = self._verdict(site)
        return verdict

    def _verdict(self, site: str) -> Decision:
        found = self._match(site)
        if found:
            return allow(self.name, f"{found} covers {site}")
        if seed := self._redirected.get(site):
            return allow(self.name, f"{site} is in scope because the seed {seed} redirects there")
        kind = {"host": "site", "domain": "domain", "list": "listed host"}[self.mode]
        if len(self.entries) == 1:
            return refuse(self.name, f"{site} is not the {kind} of this crawl, {min(self.entries)}")
        return refuse(self.name, f"{site} is not among the {counted(self.entries, kind)} of this crawl")

    def _match(self, site: str) -> str:
        """The entry that covers a site, or `""`."""
        if self.mode == "host":
            return site if site in self.entries else ""
        host = host_of(site)
        if self.mode == "domain":
            return self._match_domain(host)
        port = site[len(host) :]
        for name in (host, *("*." + parent for parent in _parents(host)), "*"):
            for entry in (name, name + port):
                if entry in self.entries:
                    return entry
        return ""

    def _match_domain(self, host: str) -> str:
        # A registrable domain is the host or one of its parents. This check spares
        # the public suffix list for the many hosts that have nothing to do with the crawl.
        if host not in self.entries and self.entries.isdisjoint(_parents(host)):
            return ""
        domain = registrable_domain(host)
        return domain if domain in self.entries else ""


def _parents(host: str) -> Iterator[str]:
    if host.startswith("["):
        return
    dot = host.find(".")
    while dot >= 0:
        yield host[dot + 1 :]
        dot = host.find(".", dot + 1)


def _entry(mode: Mode, text: str) -> str:
    """One host, site or pattern in the form in which it is compared."""
    if mode != "list" or not text.startswith("*"):
        site = _site(text)
        return registrable_domain(host_of(site)) if mode == "domain" else site
    return text if text == "*" else "*." + _site(text.removeprefix("*."))


def _site(text: str) -> str:
    canonical = _CANONICAL.parse(text if "://" in text else f"http://{text}/")
    if isinstance(canonical, Decision):
        raise UsageError(f"{text!r} is not a host: {canonical.reason}")
    site = site_of(canonical)
    if "*" in site:
        raise UsageError(f"{text!r} is not a host: wildcards such as *.example.org work only in the scope mode list")
    return site
