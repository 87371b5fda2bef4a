"""What a correct crawl of the bundled web ends with, read off how it is written.

Names of outcomes are those of `gossamer.model.outcome`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import msgspec

from gossamer.demo import traps
from gossamer.demo.content import Host, Page
from gossamer.model.outcome import Outcome

TRAP_HOST = "trap.test"


class Expected(msgspec.Struct, frozen=True):
    """Facts about a complete crawl from all seeds, each host in scope."""

    documents: int
    """Distinct documents: no redirect, alias, duplicate in a domain or noindex page among them."""
    kept: frozenset[str]
    """Canonical URLs that are documents."""
    one_of: tuple[str, ...]
    """Patterns: exactly one of the URLs that match is a document, the others are its duplicates."""
    others: dict[str, Outcome]
    """URLs that are known in the end without being documents, and as what."""
    near: tuple[frozenset[str], ...]
    """Documents that differ in a few words."""
    outside: frozenset[str]
    """Linked URLs that must not be requested."""
    languages: dict[str, int]
    """Documents by language."""

    def problems(self, stored: Iterable[str]) -> list[str]:
        """What is wrong with a set of stored documents, one sentence each; empty means correct."""
        stored = set(stored)
        found = [f"{url} is missing" for url in sorted(self.kept - stored)]
        rest = stored - self.kept
        for pattern in self.one_of:
            matching = {url for url in rest if re.fullmatch(pattern, url)}
            rest -= matching
            if len(matching) != 1:
                found.append(f"one of {pattern} should be stored, but {len(matching)} are: {sorted(matching)[:5]}")
        for url in sorted(rest):
            reason = self.others.get(url)
            found.append(f"{url} should not be stored" + (f": it is {reason.value}" if reason else ""))
        return found


def expected(hosts: Mapping[str, Host], port: int) -> Expected:
    """The facts, with the port that the web is served on."""
    facts = _Facts(port)
    for host in hosts.values():
        facts.take(host)
    trap = f"http://{TRAP_HOST}:{port}"
    facts.one_of += [(re.escape(trap) + pattern, "en") for pattern in traps.PATTERNS]
    kept, one_of = facts.kept, tuple(pattern for pattern, _ in facts.one_of)
    languages: dict[str, int] = {}
    for language in [*kept.values(), *(language for _, language in facts.one_of)]:
        languages[language] = languages.get(language, 0) + 1
    orb = f"http://weaver.test:{port}"
    near = (frozenset({f"{orb}/spiders/orb.html", f"{orb}/spiders/orb-weaver.html"}),)
    outside = frozenset(facts.outside)
    return Expected(len(kept) + len(one_of), frozenset(kept), one_of, facts.others, near, outside, languages)


class _Facts:
    def __init__(self, port: int) -> None:
        self._port = port
        self.kept: dict[str, str] = {}
        self.one_of: list[tuple[str, str]] = []
        self.others: dict[str, Outcome] = {}
        self.outside: set[str] = set()

    def take(self, host: Host) -> None:
        """Adds the facts of a host."""
        base, language = f"http://{host.name}:{self._port}", host.get("lang")
        self.others |= {base + path: Outcome.GONE for path in host.listed("broken")}
        self.outside |= set(host.listed("outside"))
        twins: dict[str, list[str]] = {}
        for page in host.pages.values():
            if page.get("same"):
                twins.setdefault(page.get("same"), [page.get("same")]).append(page.path)
        repeated = {path for group in twins.values() for path in group}
        for page in host.pages.values():
            outcome = _outcome(page)
            if outcome is Outcome.DOCUMENT and page.path not in repeated:
                self.kept[base + page.path] = language
            elif outcome not in (None, Outcome.DOCUMENT):
                self.others[base + page.path] = outcome
        for group in twins.values():
            paths = "|".join(re.escape(path) for path in group)
            self.one_of.append((f"{re.escape(base)}(?:{paths})", language))


_KINDS = {
    "sitemap": Outcome.RESOURCE,
    "rss": Outcome.RESOURCE,
    "application/pdf": Outcome.UNSUPPORTED_TYPE,
}


def _outcome(page: Page) -> Outcome | None:
    """What becomes of a page; `None` for robots.txt, which is not a URL of the frontier."""
    if page.path == "/robots.txt":
        return None
    if page.get("robots-txt") == "denied":
        return Outcome.ROBOTS_DENIED
    if page.get("type"):
        return _KINDS[page.get("type")]
    if page.get("status"):
        return Outcome.REDIRECT if page.get("location") else Outcome.GONE
    if page.get("refresh"):
        return Outcome.REDIRECT
    if page.get("canonical"):
        return Outcome.ALIAS
    return Outcome.NOINDEX if "noindex" in page.get("robots") else Outcome.DOCUMENT
