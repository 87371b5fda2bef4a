"""Extension points (S0.13): one signature and one sentence each.

A package adds its own by an entry
point in the group `gossamer.<point>`, for example in its `pyproject.toml`:

    [project.entry-points."gossamer.parsers"]
    "application/x-recipe" = "my_package:parse_recipe"

Names are looked up when the settings ask for them; a wrong name is an error that
lists the right ones. Names that begin with `@` are of plug-ins that the program which runs the crawl gave to it
(`gossamer.crawl(…, filters=[…])`): the processes of the crawl find them in the file that `GOSSAMER_PLUGINS` names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gossamer.errors import UsageError
from gossamer.model.records import Parsed, ParseJob
from gossamer.parse.document_types import TYPES, DocumentType
from gossamer.scope.chain import Rule

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from gossamer.parse.limits import ParseLimits
    from gossamer.priority.strategy import Context, LinkStrategy, Strategy

T = TypeVar("T")

CARRIED = "GOSSAMER_PLUGINS"
"""Environment variable: the file with the plug-ins of the program that runs the crawl (`api.carrying`)."""
OF_PROGRAM = "@"
"""How their names begin."""


class Point(Generic[T]):
    """A place where something of one type can be plugged in by name."""

    def __init__(
        self, name: str, sentence: str, load: Callable[[], dict[str, T]] = dict, replaceable: bool = False
    ) -> None:
        """`load`: the built-ins by name; called when the first is asked for. `replaceable`: a package's own comes
        before the built-in of the same name."""
        self.name = name
        self._replaceable = replaceable
        self.sentence = sentence
        self.one = f"{name[:-3]}y" if name.endswith("ies") else name[:-1]
        self._load = load

    @cached_property
    def _built_in(self) -> dict[str, T]:
        return self._load()

    def register(self, name: str, value: T) -> None:
        """Add a built-in."""
        self._built_in[name] = value

    def names(self) -> list[str]:
        """Everything that can be asked for."""
        return sorted({*self._built_in, *_entries(self.name), *self._carried()})

    def get(self, name: str) -> T:
        """The thing with this name; `UsageError` where there is none or it cannot be loaded."""
        if name.startswith(OF_PROGRAM) and name in self._built_in:  # this is the program
            return self._built_in[name]
        if name in (carried := self._carried()):
            return carried[name]
        if name.startswith(OF_PROGRAM):
            raise UsageError(f"the {self.one} {name[1:]!r} is a part of the program that crawled, and not known here")
        entries = _entries(self.name)
        if name in self._built_in and not (self._replaceable and name in entries):
            return self._built_in[name]
        if name not in entries:
            raise UsageError(f"there is no {self.one} called {name!r}: known are {', '.join(self.names()) or 'none'}")
        try:
            loaded: T = entries[name].load()
        except Exception as error:
            raise UsageError(f"the {self.one} {name!r} cannot be loaded: {error}") from error
        return loaded

    def _carried(self) -> dict[str, T]:
        path = os.environ.get(CARRIED, "")
        return {name: value for (point, name), value in _plugins_in(path).items() if point == self.name} if path else {}


@cache
def _plugins_in(path: str) -> dict[tuple[str, str], Any]:
    import runpy  # only crawls of programs that have plug-ins of their own

    return dict(runpy.run_path(path)["PLUGINS"])


@cache
def _entries(point: str) -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # 8 ms: processes that name no plug-in go without

    return {entry.name: entry for entry in entry_points(group=f"gossamer.{point}")}


def _strategies() -> dict[str, Callable[[Context], Strategy | LinkStrategy]]:
    from gossamer.priority.built_in import STRATEGIES  # NumPy: parsers, and all who only read the settings, go without

    return dict(STRATEGIES)


class BuiltInParser:
    """A parser of this package; its module is loaded with the first document: that of PDF takes 80 ms."""

    def __init__(self, kind: DocumentType) -> None:
        self._kind = kind

    def __call__(self, job: ParseJob, limits: ParseLimits | None = None) -> Parsed:
        """Read a document."""
        if self._kind.converter:
            from gossamer.parse.documents.reading import read_document  # as above

            return read_document(job, limits, self._kind)
        module, _, name = self._kind.reader.partition(":")
        parsed: Parsed = getattr(import_module(module), name)(job, limits)
        return parsed


def _parsers() -> dict[str, Callable[[ParseJob], Parsed]]:
    return {media: BuiltInParser(one) for one in TYPES if one.is_own and is_readable(one) for media in one.media}


def is_readable(one: DocumentType) -> bool:
    """Whether what the parser of a type needs is installed."""
    return not one.needs or find_spec(one.needs) is not None


MISSING = {media: one.way_out for one in TYPES if not is_readable(one) for media in one.media}
"""Media types whose parser is an extra that is not installed, with what to do about it."""

STRATEGIES: Point[Callable[[Context], Strategy | LinkStrategy]] = Point(
    "strategies", "Says how good a URL is, and so what is fetched first; named by `crawl.strategy`.", _strategies
)
RULES: Point[Callable[[], Rule]] = Point(
    "rules", "Refuses URLs, after the filters and trap guards; named by `scope.rules`."
)
PARSERS: Point[Callable[[ParseJob], Parsed]] = Point(
    "parsers",
    "Reads documents of a media type, also in place of a built-in parser; named by the media type.",
    _parsers,
    replaceable=True,
)
HOOKS: Point[Callable[[ParseJob, Parsed], None]] = Point(
    "hooks", "Changes what was read of a page before it is kept; named by `parse.hooks`."
)


def own_parser(media: str, limits: ParseLimits) -> Callable[[ParseJob], Parsed]:
    """The parser of a media type; what is built in keeps to these limits."""
    parser = PARSERS.get(media)
    return partial(parser, limits=limits) if isinstance(parser, BuiltInParser) else parser


def wanted_types(accepted: Sequence[str], skipped: Sequence[str]) -> tuple[str, ...]:
    """Beginnings of the media types to fetch: those of the settings, and those of parsers; none: all."""
    return (*accepted, *readable_types(skipped)) if accepted else ()


def readable_types(skipped: Sequence[str] = ()) -> list[str]:
    """The media types that parsers of their own read, without those of types that the settings leave out."""
    left_out = {media for one in TYPES if one.name in skipped for media in one.media}
    return [media for media in PARSERS.names() if media not in left_out]
