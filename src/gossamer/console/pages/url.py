"""The page of a URL: its life story with reasons, why it is found or not, and what an operator may do about it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from urllib.parse import quote

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gossamer.console import words
from gossamer.console.context import Asked, Console, Done
from gossamer.console.url_data import LONG_PATIENCE, PATIENCE, Life, life, matches, ranked
from gossamer.errors import UsageError
from gossamer.frontier.steering.operate import recrawl_url
from gossamer.frontier.steering.removals import words_of
from gossamer.model.counts import counted
from gossamer.operate.canonical import canonical_or_error
from gossamer.operate.takedown import covering, restore, take_down_within

_WAIT = 10.0
"""Seconds for which an operator waits for a removal; what is left then leaves in the background."""
_LONGEST = 300
"""Characters of a reason."""


class UrlPages:
    """The page, its start page, and its forms."""

    def __init__(self, console: Console) -> None:
        self._console, self._crawl = console, console.crawl

    def show(self, asked: Asked) -> Response:
        """A URL's life, or what could be meant by a part of one."""
        url, text = asked.query.get("url", "").strip(), asked.query.get("q", "").strip()
        if url:
            return self._show_url(asked, url)
        if not text:
            return self._console.page(asked, "url_start.html", text="", found=None)
        found = matches(self._crawl, text)
        if found.exact:
            return RedirectResponse(self._console.links.to("/console/url", url=found.exact), 303)
        return self._console.page(asked, "url_start.html", text=text, found=found)

    def _show_url(self, asked: Asked, url: str) -> Response:
        patience = LONG_PATIENCE if asked.query.get("visits") == "all" else PATIENCE
        story = life(self._crawl, url, patience)
        query = asked.query.get("query", "").strip()
        place = ranked(self._crawl, story.answer.url, query, story.story) if query else None
        return self._console.page(
            asked, "url.html", life=story, url=story.answer.url, query=query, ranked=place, words=words,
            now=self._crawl.clock.now(), chapters=_chapters(story), covers=words_of,
            inject=shlex.join(["gossamer", "inject", story.answer.url, "--data", str(self._crawl.folder.root)]),
        )  # fmt: skip

    def recrawl(self, asked: Asked) -> Done:
        """Fetch it again as soon as its turn comes."""
        url = self._url(asked.form)
        queued = self._crawl.change(lambda db: recrawl_url(db, url, self._crawl.clock.now()))
        sentence = "The crawl will fetch it again." if queued else "It is already in the queue."
        return Done("recrawl", url, sentence, page_of(url))

    def remove(self, asked: Asked) -> Done:
        """Take this page down, and no other."""
        url, reason = self._url(asked.form), _reason(asked.form)
        return self._take_down(url, f"={url}", "remove", reason)

    def block(self, asked: Asked) -> Done:
        """Take down all that begins so, and keep it out."""
        url = self._url(asked.form)
        prefix = asked.form.get("prefix", "").strip()
        if not prefix:
            raise UsageError("enter a prefix of the URLs. Nothing was blocked")
        reason = " ".join(asked.form.get("reason", "").split())[:_LONGEST]
        what = covering(prefix, self._crawl.settings())
        return self._take_down(url, what, "block", f"blocked: {reason}" if reason else "blocked")

    def _take_down(self, url: str, what: str, action: str, reason: str) -> Done:
        crawl = self._crawl
        done = take_down_within(crawl.folder, crawl.settings(), what, reason, crawl.clock.now(), _WAIT)
        known = counted(done.urls, "known URL")
        sentence = f"Taken down: {words_of(what)} ({known}). Searches stop finding it within seconds."
        if not done.is_done:
            sentence = f"Taking down: {words_of(what)}; {known} so far, the rest follows in the background."
        return Done(action, what, sentence, page_of(url), f"{reason} ({known})")

    def restore(self, asked: Asked) -> Done:
        """Let in again what a removal keeps out."""
        url, what, crawl = self._url(asked.form), asked.form.get("what", ""), self._crawl
        urls = crawl.change(lambda db: restore(crawl.folder, db, crawl.settings(), what, crawl.clock.now()))
        queued = counted(urls, "URL")
        return Done("restore", what, f"Restored: the crawl will fetch {queued} again.", page_of(url))

    def _url(self, form: Mapping[str, str]) -> str:
        return canonical_or_error(form.get("url", ""), self._crawl.settings())


def page_of(url: str) -> str:
    """The path of a URL's page."""
    return f"/console/url?url={quote(url, safe='')}"


def _reason(form: Mapping[str, str]) -> str:
    reason = " ".join(form.get("reason", "").split())[:_LONGEST]
    if not reason:
        raise UsageError("enter a reason, so that others know later. Nothing was removed")
    return reason


def _chapters(story: Life) -> list[tuple[str, str]]:
    """The parts of the page that there are, for its table of contents."""
    parts = [("found", "Found"), ("filters", "Filters and robots.txt"), ("queue", "Priority and queue")]
    parts += [("fetches", "Fetches"), ("extracted", "Extracted"), ("copies", "Copies"), ("index", "Index")]
    return parts if story.record is not None else [("filters", "Filters and robots.txt"), ("index", "Index")]


def routes(console: Console) -> list[Route]:
    """The page and its forms."""
    pages = UrlPages(console)
    return [
        console.shows("/url", pages.show),
        console.does("/url/recrawl", pages.recrawl),
        console.does("/url/remove", pages.remove),
        console.does("/url/block", pages.block),
        console.does("/url/restore", pages.restore),
    ]
