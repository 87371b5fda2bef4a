"""Plug-ins of a program: filters, strategies, hooks and readers, each a function under a decorator.

What a decorator makes can be given to `gossamer.crawl`, named by an entry point of a package (`docs/extend.md`), and
called as the function that it is, in a test for example. The processes of the crawl get it by `api.carrying`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gossamer.api.pages import Page
from gossamer.api.reading import page_of
from gossamer.errors import UsageError
from gossamer.model.decision import Decision, refuse
from gossamer.model.meant import hint
from gossamer.model.records import Discovered, Link, Parsed, ParseJob
from gossamer.model.url import Canonicalizer
from gossamer.parse.sniff import media_type
from gossamer.plugins import OF_PROGRAM

if TYPE_CHECKING:
    from gossamer.priority.strategy import Context, Floats

_FIELDS = {
    "title": "title",
    "text": "text",
    "description": "description",
    "language": "language",
    "date": "date",
    "updated": "updated",
    "author": "author",
    "category": "category",
    "type": "page_type",
    "image": "image",
}
"""What a hook may change, by its name in `Page`, with its name in the crawl."""
_READ = ("title", "text", "description", "language", "date", "updated", "author", "headings", "links")
"""What a reader may return."""


class Plugin:
    """A function that takes part in a crawl."""

    point: ClassVar[str]
    """The extension point of `gossamer.plugins`."""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise UsageError(f"{function!r} is no function: write the decorator above one")
        self.function = function
        self.__doc__, self.__module__ = function.__doc__, function.__module__
        self.__name__ = self.name = getattr(function, "__name__", type(function).__name__)
        self.__qualname__ = getattr(function, "__qualname__", "")

    def __repr__(self) -> str:
        return f"<{type(self).__name__.lower()} {self.name}>"

    @property
    def carried_name(self) -> str:
        """Its name in the settings of a crawl that a program gave it to."""
        return f"{OF_PROGRAM}{self.name}"


class Filter(Plugin):
    """A filter: called with a URL, it says why the URL is not fetched, or nothing. Made by `gossamer.filter`."""

    point = "rules"

    def __call__(self, *url: str) -> Any:
        """Of a URL, what the function says; without one, the rule for the crawl."""
        return self.function(*url) if url else self

    def decide(self, url: str, now: float) -> Decision | None:
        """A refusal, or no opinion."""
        said = self.function(url)
        if not said:
            return None
        return refuse(self.name, said if isinstance(said, str) else f"the filter {self.name} refuses it")


class Strategy(Plugin):
    """A strategy: called with a URL, it says how good the URL is. Made by `gossamer.strategy`."""

    point = "strategies"

    def __call__(self, asked: str | Context) -> Any:
        """Of a URL, its score; of the context of a crawl, the strategy."""
        if isinstance(asked, str):
            return self.function(asked)
        return self.function(asked) if isinstance(self.function, type) else self

    def scores(self, found: Sequence[Discovered]) -> Floats:
        """The score of each URL."""
        import numpy as np  # a program that only names its strategy goes without

        return np.array([float(self.function(one.url)) for one in found])


class Hook(Plugin):
    """A hook: called with a page, it says what to change. Made by `gossamer.hook`."""

    point = "hooks"

    def __call__(self, *asked: Any) -> Any:
        """Of a page, what the function says; of a body and what was read of it, the changes are made."""
        if len(asked) == 1:
            return self.function(*asked)
        job, parsed = asked
        return self._change(job, parsed)

    def _change(self, job: ParseJob, parsed: Parsed) -> None:
        said: Mapping[str, str] | None = self.function(page_of(parsed, job, Canonicalizer()))
        for name, value in (said or {}).items():
            if name not in _FIELDS:
                raise UsageError(f"the hook {self.name} changes {name!r}: {hint(name, tuple(_FIELDS))}")
            setattr(parsed, _FIELDS[name], str(value))
            if name in ("date", "updated", "category"):
                setattr(parsed, f"{name}_source", "hook")
            if name in ("date", "updated"):
                setattr(parsed, f"{name}_confidence", 1.0)


class Reader(Plugin):
    """A reader of documents of one type: called with a body and its URL. Made by `gossamer.reader`."""

    point = "parsers"

    def __init__(self, function: Callable[..., Any], media: str) -> None:
        super().__init__(function)
        self.media = media

    @property
    def carried_name(self) -> str:
        """Readers go by what they read."""
        return self.media

    def __call__(self, *asked: Any) -> Any:
        """Of a body and its URL, what the function says; of a job of the crawl, what was read."""
        return self._read(asked[0]) if isinstance(asked[0], ParseJob) else self.function(*asked)

    def _read(self, job: ParseJob) -> Parsed:
        said: Mapping[str, Any] = self.function(job.body, job.url)
        for name in said:
            if name not in _READ:
                raise UsageError(f"the reader {self.name} returns {name!r}: {hint(name, _READ)}")
        parsed = Parsed(job.url, media_type=media_type(job.content_type), method=f"reader {self.name}")
        for name in ("title", "text", "description", "author"):
            setattr(parsed, name, str(said.get(name) or ""))
        parsed.claimed_language = str(said.get("language") or "")
        parsed.headings = [str(heading) for heading in said.get("headings", ())]
        for name in ("date", "updated"):
            if said.get(name):
                setattr(parsed, name, str(said[name]))
                setattr(parsed, f"{name}_source", "reader")
                setattr(parsed, f"{name}_confidence", 1.0)
        parsed.links = [_link(link) for link in said.get("links", ())]
        return parsed


def _link(link: str | Iterable[str]) -> Link:
    return Link(link) if isinstance(link, str) else Link(*link)


def filter(function: Callable[[str], bool | str | None]) -> Filter:
    """Make a filter of a function: given a URL, it returns why the URL is not fetched (or True), or None (or False).

        @gossamer.filter
        def no_forums(url):
            return "/forum/" in url and "forums are left out"

    A filter that fails refuses the URL. Give it to `gossamer.crawl(…, filters=[no_forums])`.
    """
    return Filter(function)


def strategy(function: Callable[[str], float] | type) -> Strategy:
    """Make a strategy of a function: given a URL, it returns a score above 0 and up to 1; 1 is fetched first.

        @gossamer.strategy
        def short_paths(url):
            return 1 / url.count("/")

    Give it to `gossamer.crawl(…, strategy=["fit", short_paths])`: scores multiply. A class with `__init__(context)` and
    `scores(found)` gets whole batches and knows more of each URL (docs/extend.md).
    """
    return Strategy(function)


def hook(function: Callable[[Page], Mapping[str, str] | None]) -> Hook:
    """Make a hook of a function: given each page that was read, before it is kept, it returns what to change.

        @gossamer.hook
        def press(page):
            return {"category": "press"} if "/press/" in page.url else None

    It may change title, text, description, language, date, updated, author, category, type and image. A page whose hook
    fails is not kept, and `explain` says why. Give it to `gossamer.crawl(…, hooks=[press])`.
    """
    return Hook(function)


def reader(media: str) -> Callable[[Callable[[bytes, str], Mapping[str, Any]]], Reader]:
    """Make a reader for documents of a media type of a function: given a body and its URL, it returns what it reads.

        @gossamer.reader("text/x-recipe")
        def read_recipe(body, url):
            title, _, text = body.decode().partition("\\n")
            return {"title": title, "text": text, "links": ["/recipes/"]}

    It may return title, text, description, author, language, date, updated, headings and links (URLs, or pairs of URL
    and text). Give it to `gossamer.crawl(…, readers=[read_recipe])`.
    """
    if not isinstance(media, str) or "/" not in media:
        raise UsageError('name the media type: @gossamer.reader("text/x-recipe")')
    return lambda function: Reader(function, media.lower())
