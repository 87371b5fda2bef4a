"""Whether two sites are one and the same, which of them is the main one, and where a URL leads then.

Sites that serve the same pages under two names cost twice the requests and bring nothing new. But a site that is
taken for a mirror and is none is not crawled any more, so the evidence must be plain: many pages with the same text
at the same path, and hardly any path where the texts differ. Sites of one publisher share legal notes, error pages and
logins; parked domains share their only page; sites made with one tool share its manual: all of those share little
of what they have. Two versions of a manual have everything in common and yet differ on every other page.

Who becomes main is decided step by step; the first step that tells the two apart gives the reason. What the site
itself says comes first. What the operator named as a seed comes before anything that a stranger could arrange for
a copy of the site: a secure connection, more pages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

MIRROR_RULE = "mirror"
"""The rule by which URLs of mirrors are refused."""
MIN_SAME = 20
"""Equal pages, each with a text of its own, from which on two sites may be mirrors: what unrelated sites share
(imprint, terms, privacy, help, login, error pages) comes to about a dozen."""
MIN_COMPARED = 10
"""Pages at equal paths that must have been compared side by side."""
MIN_SHARE = 0.9
"""Share of the compared pages that must be equal or nearly so. Of true mirrors a few differ: lists that changed between
the two visits, pages that name their own host."""
MIN_EXACT = 0.5
"""Share of the compared pages that must be equal to the letter: two versions of a manual are nearly equal all over."""
MIN_TURNED = 10
"""Pages of a main site that redirect to its mirror, from which on the mirror is the main site: it has moved there."""


class SiteFacts(msgspec.Struct, frozen=True):
    """One site of a pair, as far as the choice is concerned."""

    name: str
    """Host, with its port where that is not the default one."""
    first_seen: float = 0.0
    """Seconds since 1970."""
    named: int = 0
    """Pages of the other site that name the same path here as canonical."""
    is_seed: bool = False
    """The operator named it."""
    is_secure: bool = False
    """Its pages are read over https."""
    documents: int = 0
    """Documents known."""


class Evidence(msgspec.Struct, frozen=True):
    """What speaks for two sites being one."""

    one: SiteFacts
    other: SiteFacts
    same: int
    """Pages found equal at the same path as the crawl went on, each text once."""
    compared: int
    """Paths read on both sites and compared side by side, each text once; the pages of a sample."""
    equal: int
    """Those of them that have the same text, or nearly so."""
    exact: int
    """Those of them that have the same text to the letter."""


class Declared(msgspec.Struct, frozen=True):
    """A mirror, its main site, and why in a sentence."""

    site: str
    main: str
    reason: str


def declare(evidence: Evidence) -> Declared | None:
    """The mirror of the two, where the evidence is enough."""
    compared = evidence.compared
    if evidence.same < MIN_SAME or compared < MIN_COMPARED:
        return None
    if evidence.equal < MIN_SHARE * compared or evidence.exact < MIN_EXACT * compared:
        return None
    main, why = choose_main(evidence.one, evidence.other)
    mirror = evidence.other if main is evidence.one else evidence.one
    reason = f"{evidence.equal} of {compared} pages compared are the same at the same path; {main.name} {why}"
    return Declared(mirror.name, main.name, reason)


def choose_main(one: SiteFacts, other: SiteFacts) -> tuple[SiteFacts, str]:
    """The one that stands for both, and what makes it so."""
    for worth, why in _STEPS:
        mine, its = worth(one), worth(other)
        if mine != its:
            return (one, why) if mine > its else (other, why)
    return (one if one.name <= other.name else other), "comes first in the alphabet"


_STEPS: tuple[tuple[Callable[[SiteFacts], float], str], ...] = (
    (lambda site: site.named, "is named as canonical by pages of the other"),
    (lambda site: site.is_seed, "is a seed"),
    (lambda site: site.is_secure, "is read over https"),
    (lambda site: site.documents, "has more documents"),
    (lambda site: not site.name.startswith("www."), "has the name without www"),
    (lambda site: -site.first_seen, "was seen first"),
)
"""The larger value wins."""


def resolve(mirrors: Mapping[str, str]) -> dict[str, str]:
    """The last main site of each mirror, where mirrors point at mirrors. Those that point round in a circle are
    left out: each of them stands for itself."""
    found = {}
    for site in mirrors:
        main = follow(mirrors, site)
        if main is not None and main != site:
            found[site] = main
    return found


def follow(mirrors: Mapping[str, str], site: str) -> str | None:
    """Where a site leads in the end, itself where it is no mirror; None where it goes round in a circle."""
    walked = {site}
    while site in mirrors:
        site = mirrors[site]
        if site in walked:
            return None
        walked.add(site)
    return site
