"""Whether readers can find a page, and if not, why: one sentence, from all that `explain` has gathered.

The index decides: readers find a page it holds, whatever the table says. If it does not hold the page, the reason is
the first of these that is true: taken down, refused, not fetched yet, failed, joined to another page, asks not to be
indexed, no document; and last, that the index is behind.
"""

from __future__ import annotations

import re

import msgspec

from gossamer.frontier.copies.duplicates import SAME_PAGE
from gossamer.frontier.views.inspect import UrlRecord
from gossamer.model.counts import counted
from gossamer.model.outcome import Outcome
from gossamer.operate.explain.explanation import Explanation
from gossamer.scope.automatic import RULE as AUTOMATIC

_UNNAMED = "no seed, link, sitemap or feed points to it"


class Indexed(msgspec.Struct, frozen=True):
    """The state of a page in the index."""

    holds: bool = False
    problem: str = ""
    """Why the index cannot be searched."""
    behind: int = 0
    """Changes of the crawl that it does not have yet."""
    target_holds: bool = False
    """Whether it holds the page that represents this one."""


class Findable(msgspec.Struct, frozen=True):
    """Whether readers can find a page."""

    found: bool
    sentence: str


def findable(answer: Explanation, index: Indexed) -> Findable:
    """Whether readers can find the page, and if not, why."""
    if index.holds:
        return Findable(True, _found(answer))
    why = _why_not(answer, index)
    if why == _UNNAMED:
        return Findable(False, f"Not in this crawl: {why}.")
    return Findable(False, f"Readers cannot find this page: {why}.")


def _found(answer: Explanation) -> str:
    if answer.removal:
        return "This page was taken down. Readers can find it for another moment, until the index has deleted it."
    if answer.collapsed_under:
        return (
            f"Readers can find this page, but if both match a query, results show {answer.collapsed_under} in its "
            "place: it has nearly the same text."
        )
    return "Readers can find this page."


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
        waits = "it has not been fetched yet" if record.fetched_at is None else "it has to be fetched again"
        return f"{waits}, and {answer.rests}" if answer.rests else f"{waits}: {answer.reason}"
    meaning = Outcome(record.outcome or Outcome.REFUSED).meaning
    if meaning.joined:
        found = "readers can find that page" if index.target_holds else "readers cannot find that page, either"
        why = f": {answer.target_problem}" if answer.target_problem and not index.target_holds else ""
        other = record.target or "another page"
        same = f"it has {record.reason} as {other}" if record.reason == SAME_PAGE else meaning.absent.format(other)
        return f"{same}; {found}{why}"
    return meaning.absent or f"its last visit failed: {answer.reason}"


def _unknown(answer: Explanation) -> str:
    if answer.maps_to:
        return f"its site is a mirror, and {answer.maps_to} represents it"
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
            return f"{record.site} forbids it: {detail}"
        return f"robots.txt of {record.site} forbade it when it was about to be fetched; the stored copy allows it now"
    refusal = next((one for one in answer.rules if not one.allowed), None)
    said = _said(record)
    if refusal is None:
        return f"{said}; no rule refuses it any more, so the next link to it, or a recrawl, adds it to the queue"
    return said


def _said(record: UrlRecord) -> str:
    """Who refused a page and why, without internal names of rules."""
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
        return f"it is stored, but the index is {changes} behind the crawl: run `gossamer index` to update it"
    return "it is stored, but the index has lost it: run `gossamer index --rebuild`"
