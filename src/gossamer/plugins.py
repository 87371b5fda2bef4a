"""Extension points (S0.13): one signature and one sentence each.

The built-ins register here like everybody else. A package adds its own by an entry
point in the group `gossamer.<point>`, for example in its `pyproject.toml`:

    [project.entry-points."gossamer.readers"]
    "application/x-recipe" = "my_package:read_recipe"

Names are looked up when the settings ask for them; a wrong name is an error that
lists the right ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any, Generic, TypeVar

from gossamer.errors import UsageError
from gossamer.model.records import Parsed, ParseJob
from gossamer.priority.backlinks import Backlinks
from gossamer.priority.breadth import BreadthFirst
from gossamer.priority.chance import RandomOrder
from gossamer.priority.earlier import earlier
from gossamer.priority.fica import Fica
from gossamer.priority.fit import Fit
from gossamer.priority.opic import Opic
from gossamer.priority.strategy import Context, LinkStrategy, Strategy
from gossamer.scope.chain import Rule

T = TypeVar("T")


class Point(Generic[T]):
    """A place where something of one type can be plugged in by name."""

    def __init__(self, name: str, sentence: str) -> None:
        self.name = name
        self.sentence = sentence
        self.one = f"{name[:-3]}y" if name.endswith("ies") else name[:-1]
        self._built_in: dict[str, T] = {}

    def register(self, name: str, value: T) -> None:
        """Add a built-in."""
        self._built_in[name] = value

    def names(self) -> list[str]:
        """Everything that can be asked for."""
        return sorted({*self._built_in, *_entries(self.name)})

    def get(self, name: str) -> T:
        """The thing with this name; `UsageError` where there is none or it cannot be loaded."""
        if name in self._built_in:
            return self._built_in[name]
        entries = _entries(self.name)
        if name not in entries:
            raise UsageError(f"there is no {self.one} called {name!r}: known are {', '.join(self.names()) or 'none'}")
        try:
            loaded: T = entries[name].load()
        except Exception as error:
            raise UsageError(f"the {self.one} {name!r} cannot be loaded: {error}") from error
        return loaded


@cache
def _entries(point: str) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"gossamer.{point}")}


STRATEGIES: Point[Callable[[Context], Strategy | LinkStrategy]] = Point(
    "strategies", "Says how good a URL is, and so what is fetched first; named by `crawl.strategy`."
)
RULES: Point[Callable[[], Rule]] = Point(
    "rules", "Refuses URLs, after the filters and trap guards; named by `scope.rules`."
)
READERS: Point[Callable[[ParseJob], Parsed]] = Point(
    "readers", "Reads documents of a media type that is not built in; named by the media type."
)


def _qrank(context: Context) -> Strategy:
    from gossamer.priority.qrank.strategy import Network  # its word lists are read only where it is used

    return Network(context)


def _qrank_links(context: Context) -> LinkStrategy:
    from gossamer.priority.qrank.strategy import NetworkAndGraph

    return NetworkAndGraph(context)


POINTS: tuple[Point[Any], ...] = (STRATEGIES, RULES, READERS)

STRATEGIES.register("breadth", lambda _context: BreadthFirst())
STRATEGIES.register("random", lambda _context: RandomOrder())
STRATEGIES.register("fit", Fit)
STRATEGIES.register("backlinks", lambda _context: Backlinks())
STRATEGIES.register("opic", Opic)
STRATEGIES.register("fica", lambda _context: Fica())
STRATEGIES.register("earlier", earlier)
STRATEGIES.register("qrank", _qrank)
STRATEGIES.register("qrank-links", _qrank_links)


def _read_pdf(job: ParseJob) -> Parsed:
    from gossamer.parse.pdf import read_pdf  # its library takes 80 ms to load: only who meets a PDF pays for it

    return read_pdf(job)


MISSING: dict[str, str] = {}
"""Media types whose reader is an extra that is not installed, with what to do about it."""

if find_spec("pypdfium2") is None:
    MISSING["application/pdf"] = "install gossamer[pdf]"
else:
    READERS.register("application/pdf", _read_pdf)
