"""Gossamer: a polite, crash-safe web crawler with a search engine built in.

The names of the Python API are loaded when they are first used: `import gossamer` costs nothing. `__init__.pyi` has
their types, `docs/python.md` tells what they do.
"""

from importlib import import_module as _import_module

__version__ = "0.1.0"

_MODULES = {
    "Crawl": "crawling",
    "Explanation": "explaining",
    "Folder": "folder",
    "Change": "changes",
    "Link": "pages",
    "Page": "pages",
    "Result": "searching",
    "Results": "searching",
    "filter": "plugging",
    "hook": "plugging",
    "open": "folder",
    "read_page": "reading",
    "reader": "plugging",
    "strategy": "plugging",
}
"""Public name → the module of `gossamer.api` that has it."""
_FOLDERS = ("crawl", "errors")
"""Public names that are modules of their own; the folder `crawl` can be called."""

__all__ = ["__version__", *_FOLDERS, *sorted(_MODULES)]


def __getattr__(name: str) -> object:
    if name in _FOLDERS:
        return _import_module(f"gossamer.{name}")
    if name not in _MODULES:
        raise AttributeError(f"module 'gossamer' has no attribute {name!r}")
    value: object = getattr(_import_module(f"gossamer.api.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
