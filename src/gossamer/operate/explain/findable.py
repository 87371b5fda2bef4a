"""Can a page be found, and if not, why not: one sentence, from everything that `explain` has gathered.

The index has the last word: what it holds is found, whatever the table says. Where it does not hold the page, the
reason is the first of these that is true: taken down, refused, not fetched yet, failed, joined to another page, asked
not to be indexed, no document; and at last that the index does not follow.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.frontier.views.inspect import UrlRecord
from gossamer.model.counts import counted
from gossamer.model.outcome import Outcome
from gossamer.operate.explain.explanation import Explanation
from gossamer.scope.automatic import RULE as AUTOMATIC

_UNNAMED = "no seed, link, sitemap or feed points to it"


class Indexed(msgspec.Struct, frozen=True):
    """What the index says of a page."""

    holds: bool = False
    problem: str = ""
    """Why it cannot be asked."""
    behind: int = 0
    """Changes of the crawl that it does not have yet."""
    target_holds: bool = False
    """Whether it holds the page that stands for this one."""


class Findable(msgspec.Struct, frozen=True):
    """Whether a page can be found."""

    found: bool
    sentence: str


def findable(answer: Explanation, index: Indexed) -> Findable:
    """Whether the page can be found, and if not, why not."""
    if index.holds:
        return Findable(True, _found(answer))
    why = _why_not(answer, index)
    if why == _UNNAMED:
        return Findable(False, f"Not in this crawl: {why}.")
    return Findable(False, f"This page is not found, because {why}.")


def _found(answer: Explanation) -> str:
    if answer.removal:
        return "This page can still be found for a moment: it was taken down, and the index is about to let it go."
    if answer.collapsed_under:
        return (
            f"This page can be found, but where both answer a query, results show {answer.collapsed_under} in its "
            "place: it has nearly the same text."
        )
    return "This page can be found."


def _why_not(answer: Explanation, index: Indexed) -> str:
    record = answer.record
    if answer.removal:
        return f"it was taken down: {answer.removal}"
    if record is None:
        return _unknown(answer)
    if record.outcome == Outcome.DOCUMENT.value and record.state != "refused":
        return _not_indexed(index)
    if record.state == "refused":
        return _refused(answer, record)
    if record.state in ("waiting", "scheduled"):
        waits = "it was not fetched yet" if record.fetched_at is None else "it has to be fetched again first"
        return f"{waits}, and {answer.rests}" if answer.rests else f"{waits}: {answer.reason}"
    meaning = Outcome(record.outcome or Outcome.REFUSED).meaning
    if meaning.joined:
        found = "that page can be found" if index.target_holds else "that page cannot be found, either"
        why = f": {answer.target_problem}" if answer.target_problem and not index.target_holds else ""
        return f"{meaning.absent.format(record.target or 'another page')}; {found}{why}"
    return meaning.absent or f"its last visit failed: {answer.reason}"


def _unknown(answer: Explanation) -> str:
    if answer.maps_to:
        return f"its site is a mirror, and {answer.maps_to} stands for it"
    refusal = next((one for one in answer.rules if not one.allowed), None)
    if refusal is not None:
        return f"nothing in this crawl points to it, and {refusal.rule} would refuse it: {refusal.reason}"
    if answer.nofollow_on:
        return f"only links that are not followed (nofollow) lead to it, such as one on {answer.nofollow_on[0]}"
    return _UNNAMED


def _refused(answer: Explanation, record: UrlRecord) -> str:
    if record.rule == Outcome.ROBOTS_DENIED.value or record.outcome == Outcome.ROBOTS_DENIED.value:
        verdict, _, detail = answer.robots.partition(": ")
        if verdict == "deny":
            return f"{record.site} does not want it fetched: {detail}"
        return f"robots.txt of {record.site} forbade it when its turn came; by the stored copy it would not do so now"
    refusal = next((one for one in answer.rules if not one.allowed), None)
    said = _said(record)
    if refusal is None:
        return f"{said}; no rule refuses it any more, so it comes in with the next link to it, or by a recrawl"
    return said


def _said(record: UrlRecord) -> str:
    """Who refused a page, and why, without the names by which only the program knows its rules."""
    rule, reason = record.rule or "", record.reason or ""
    if rule.startswith(f"{AUTOMATIC}."):
        return reason
    own = re.match(r"filter \d+, (.*), matches$", reason)
    if rule.startswith("filter.") and own:
        return f"the filter “{rule.removeprefix('filter.')}” of the settings refused it ({own[1]})"
    return f"{rule} refused it: {reason}"


def _not_indexed(index: Indexed) -> str:
    if index.problem:
        return f"it is stored, but the index cannot be searched: {index.problem}"
    if index.behind:
        changes = counted(index.behind, "change")
        return f"it is stored, but the index is {changes} behind the crawl: `gossamer index` brings it up to date"
    return "it is stored, but the index has lost it: `gossamer index --rebuild` builds it anew"
