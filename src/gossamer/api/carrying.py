"""Carries the plug-ins of a program to the processes of its crawl, which import nothing of the program.

They get a Python file, in the folder `run` of the data folder: it imports the plug-ins that stand in a module. Those of
a script or a notebook have no module that could be imported without running the whole script once more; so their source
is written out, with what it names: imports, functions and classes of the script, and constants. Nothing else of the
script runs in the crawl. A plug-in that names something else (an open file, a model) is an error that says so.

The file counts only for the processes of this crawl, by an environment variable: a data folder from elsewhere runs no
code.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import os
import re
import symtable
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from gossamer.api.plugging import Plugin, Reader
from gossamer.data.folder import DataFolder
from gossamer.errors import StorageError, UsageError
from gossamer.plugins import CARRIED, HOOKS, PARSERS, RULES, STRATEGIES

_POINTS: dict[str, Any] = {point.name: point for point in (RULES, STRATEGIES, PARSERS, HOOKS)}
_count = itertools.count(1)
_CONSTANTS = (str, bytes, int, float, complex, bool, type(None), type(...))
_HEAD = '''"""The plug-ins of the program that runs this crawl: Gossamer wrote them out for its processes."""

from __future__ import annotations

import sys

import gossamer.api.plugging as _plugging

sys.path += [place for place in {path!r} if place not in sys.path]


def _plugin(value, kind, *more):
    return value if isinstance(value, _plugging.Plugin) else getattr(_plugging, kind)(value, *more)

'''


def carry(plugins: Sequence[Plugin], folder: DataFolder) -> None:
    """Make plug-ins known here and in the processes that are started from now on."""
    if not plugins:
        return
    if folder.is_shared:
        raise UsageError(
            "the crawl is shared with other machines, which do not have the plug-ins of this program: put them into a "
            "package with entry points, and install it everywhere (docs/extend.md)"
        )
    for plugin in plugins:
        if not isinstance(plugin, Plugin):
            raise UsageError(f"{plugin!r} is no plug-in: decorate it with gossamer.filter, strategy, hook or reader")
    source = source_of(plugins)
    folder.create_run()
    # A name of its own for each crawl: processes read a file once.
    path = folder.run / f"plugins-{os.getpid()}-{next(_count)}.py"
    try:
        path.write_text(source, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}: check its folder") from error
    for plugin in plugins:
        _POINTS[plugin.point].register(plugin.carried_name, plugin)
    os.environ[CARRIED] = str(path.absolute())


def source_of(plugins: Sequence[Plugin]) -> str:
    """A Python file that makes these plug-ins once more."""
    written = _Writer()
    for plugin in plugins:
        if plugin.name in written.taken:
            raise UsageError(f"two plug-ins of this crawl are called {plugin.name}: rename one")
        written.need(plugin, plugin.name, "the program")
    rows = "".join(f"    ({one.point!r}, {one.carried_name!r}): {_made(one, written)},\n" for one in plugins)
    path = [str(Path(place).absolute()) for place in sys.path]
    return f"{_HEAD.format(path=path)}{''.join(written.parts)}\n\nPLUGINS = {{\n{rows}}}\n"


def _made(plugin: Plugin, written: _Writer) -> str:
    """The expression that is the plug-in: its function may stand in the file without the decorator."""
    more = f", {plugin.media!r}" if isinstance(plugin, Reader) else ""
    return f"_plugin({written.names[id(plugin)]}, {type(plugin).__name__!r}{more})"


class _Writer:
    """Collects the source of plug-ins, and of what they name."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.names: dict[int, str] = {}
        """By identity, under which name something is in the file already."""
        self.taken: set[str] = set()
        """Names that mean something in the file."""

    def need(self, value: Any, name: str, by: str) -> None:
        """Have `name` mean `value` in the file."""
        if name in self.taken:
            return
        self.taken.add(name)
        self.names[id(value)] = name
        made = value.function if isinstance(value, Plugin) else value
        module, qualified = getattr(made, "__module__", None), getattr(made, "__qualname__", "")
        if isinstance(value, ModuleType):
            self.parts.append(f"\nimport {value.__name__} as {name}\n")
        elif _is_constant(value):
            self.parts.append(f"\n{name} = {value!r}\n")
        elif isinstance(value, re.Pattern):
            self.parts.append(f"\nimport re\n{name} = re.compile({value.pattern!r}, {value.flags})\n")
        elif module not in (None, "__main__") and qualified.isidentifier():
            self.parts.append(f"\nfrom {module} import {qualified} as {name}\n")
        elif isinstance(made, (FunctionType, type)):
            self._write_out(made, name, by)
        else:
            raise UsageError(
                f"{by} uses {name}, a {type(value).__name__}, which the processes of the crawl cannot get: "
                "make it where it is used, or put the plug-in into a module (docs/python.md)"
            )

    def _write_out(self, made: FunctionType | type, name: str, by: str) -> None:
        tree = _definition(made)
        if tree is None:
            raise UsageError(
                f"{by} uses {name}, whose source is not to be found: put it into a module (docs/python.md)"
            )
        world = _world_of(made)
        code = made.__code__ if isinstance(made, FunctionType) else None
        for other in _names_in(tree):
            if code is not None and other in code.co_freevars:
                raise UsageError(
                    f"{name} uses {other} of the function around it: define it at the top of the script, or in a module"
                )
            if other in world and other != name:
                self.need(world[other], other, name)
        self.parts.append(f"\n\n{ast.unparse(tree)}\n")


def _is_constant(value: Any) -> bool:
    if isinstance(value, (tuple, list, set, frozenset)):
        return all(_is_constant(one) for one in value)
    if isinstance(value, dict):
        return all(_is_constant(one) for pair in value.items() for one in pair)
    return type(value) in _CONSTANTS


def _world_of(made: FunctionType | type) -> dict[str, Any]:
    """The names of the script or module in which something is defined."""
    return sys.modules[made.__module__].__dict__ if isinstance(made, type) else made.__globals__


def _definition(made: FunctionType | type) -> ast.stmt | None:
    """The statement of a script or of a notebook's cell that defines a function or class."""
    code = _code_of(made)
    if code is None:
        return None
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename, _world_of(made))))
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or node.name != made.__name__:
            continue
        first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
        if first <= code.co_firstlineno <= (node.end_lineno or first):
            return node
    return None


def _code_of(made: FunctionType | type) -> CodeType | None:
    """Where a function begins, or the first method of a class."""
    if isinstance(made, type):
        return next((one.__code__ for one in vars(made).values() if isinstance(one, FunctionType)), None)
    return made.__code__


def _names_in(tree: ast.stmt) -> list[str]:
    """The names of its surroundings that a definition uses, its decorators among them."""
    table = symtable.symtable(f"from __future__ import annotations\n{ast.unparse(tree)}", "", "exec")
    return list(dict.fromkeys(_outer_names(table)))


def _outer_names(table: symtable.SymbolTable) -> Iterator[str]:
    is_top = table.get_type() == "module"
    yield from (one.get_name() for one in table.get_symbols() if one.is_global() or (is_top and one.is_referenced()))
    for inner in table.get_children():
        yield from _outer_names(inner)
