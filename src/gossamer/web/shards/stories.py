"""Stories and histories over the wire: a front end has no crawl, but every shard follows it, so any can be asked."""

from __future__ import annotations

from typing import Any

import msgspec

from gossamer.errors import OperationError
from gossamer.frontier.views.stories import Story
from gossamer.search.shards.rounds import Nodes, Rounds
from gossamer.store.visits import History
from gossamer.web.service import StoryService

_READING = 5.0
"""Seconds that a history, or a page's Markdown, gets beyond the deadline."""


class OthersAsk(msgspec.Struct, frozen=True):
    """How many near copies a page has."""

    url: str


class StoryAsk(msgspec.Struct, frozen=True):
    """The story of a page."""

    url: str
    limit: int


class HistoryAsk(msgspec.Struct, frozen=True):
    """The history of a page."""

    url: str
    older: str
    newer: str


class MarkdownAsk(msgspec.Struct, frozen=True):
    """The text of a page as Markdown."""

    url: str


STORY_OPERATIONS: dict[str, type[msgspec.Struct]] = {
    "others": OthersAsk, "story": StoryAsk, "history": HistoryAsk, "markdown": MarkdownAsk,
}  # fmt: skip
"""What a shard server can be asked beside its index, where it has a crawl."""


def answer_story(stories: StoryService, operation: str, ask: Any) -> Any:
    """What the crawl says."""
    return getattr(stories, operation)(*msgspec.structs.astuple(ask))


class RemoteStories:
    """`web.service.StoryService` of the crawl that the shards follow."""

    def __init__(self, nodes: Nodes, deadline: float) -> None:
        """`deadline`: seconds for an answer; a history is looked for in the segments and gets some more."""
        self._nodes, self._deadline = nodes, deadline

    def others(self, url: str) -> int:
        """How many other pages have nearly the same text."""
        return int(self._ask("others", OthersAsk(url), int, self._deadline))

    def story(self, url: str, limit: int = 100) -> Story | None:
        """The page's near duplicates in order of time; None where it is no document that can be compared."""
        found: Story | None = self._ask("story", StoryAsk(url, limit), Story | None, self._deadline)
        return found

    def history(self, url: str, older: str = "", newer: str = "") -> History | None:
        """The page's stored visits, and what changed between two of them; None where it is no document."""
        ask = HistoryAsk(url, older, newer)
        found: History | None = self._ask("history", ask, History | None, self._deadline + _READING)
        return found

    def markdown(self, url: str) -> str | None:
        """The page's stored text as Markdown; None where it is no document."""
        found: str | None = self._ask("markdown", MarkdownAsk(url), str | None, self._deadline + _READING)
        return found

    def _ask(self, operation: str, ask: msgspec.Struct, answer: Any, deadline: float) -> Any:
        answered, found = Rounds(self._nodes, deadline).ask_any(operation, ask, answer)
        if not answered:
            raise OperationError("no shard server with the crawl answers: try again in a moment")
        return found
