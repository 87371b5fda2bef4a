"""Wrong usage, told: what was wrong, what was probably meant, and which help says more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from importlib import import_module
from typing import Any, Literal, get_args, get_origin

from cyclopts import App, CoercionError, CycloptsError, MissingArgumentError, UnknownOptionError
from cyclopts.argument import Argument
from cyclopts.exceptions import UnknownCommandError, UnusedCliTokensError

from gossamer.cli.verbs import module_of
from gossamer.model.meant import closest

_OTHER_WORDS = {
    "--max-depth": "--depth", "--level": "--depth", "--max-pages": "--pages", "--limit": "--pages", "--max": "--pages",
    "--time": "--for", "--duration": "--for", "--timeout": "--for", "--wait": "--delay", "--rate": "--delay",
    "--threads": "--workers", "--processes": "--workers", "--jobs": "--workers", "--email": "--contact",
    "--mail": "--contact", "--network": "--allow-network", "--domain": "--scope", "--output": "--data",
    "--dir": "--data", "--folder": "--data", "--follow": "--watch", "--verbose": "--debug",
}  # fmt: skip
"""What other programs call an option of ours."""
_OTHER_VERBS = {
    "start": "crawl", "fetch": "crawl", "spider": "crawl", "continue": "crawl", "find": "search", "query": "search",
    "server": "serve", "web": "serve", "console": "serve", "add": "inject", "seed": "inject", "why": "explain",
    "delete": "remove", "rm": "remove", "check": "doctor", "stop": "pause", "refresh": "recrawl", "watch": "run",
    "settings": "config", "users": "accounts", "reindex": "index", "new": "init", "state": "status", "info": "status",
}  # fmt: skip
_NUMBERS = {int: "a whole number", float: "a number"}


def sentence_of(error: CycloptsError) -> str:
    """One sentence on what is wrong with a command line."""
    chain = list(error.command_chain or ())
    if isinstance(error, UnknownCommandError):
        return _no_command(error, chain)
    if isinstance(error, UnknownOptionError):
        names = [name for one in error.argument_collection if one.parse for name in one.names]
        return no_option(error.token.keyword or error.token.value, chain, names)
    if isinstance(error, MissingArgumentError) and error.argument is not None:
        what = f"{error.keyword} needs a value" if error.keyword else f"{_name(error.argument)} is missing"
        return f"{what}: {_see(chain)}"
    if isinstance(error, UnusedCliTokensError):
        return f"too many arguments: {' '.join(error.unused_tokens or ())}: {_see(chain)}"
    if isinstance(error, CoercionError) and error.token is not None and error.msg is None:
        name = error.token.keyword or (_name(error.argument) if error.argument is not None else "the value")
        return f"{name}: {_wrong_value(error.token.value, error.target_type)}: {_see(chain)}"
    return f"{str(error).rstrip('.')}: {_see(chain)}"


def no_option(option: str, chain: Sequence[str], known: Iterable[str] = ()) -> str:
    """The sentence about an option that a command does not have."""
    option, names = option.split("=", 1)[0], sorted(known or options_of(chain))
    other = _OTHER_WORDS.get(option, "")
    meant = other if other in names else closest(option, [name for name in names if name.startswith("-")])
    return f"there is no option {option}{_meant(meant)}: {_see(chain)}"


def options_of(chain: Sequence[str]) -> list[str]:
    """The options of a verb, or of one of its sub-commands."""
    app = App(name="gossamer")
    verb, *further = chain
    app.command(import_module(module_of(verb)).command, name=verb)
    for name in (verb, *further):
        app = app[name]
    return [name for one in app.assemble_argument_collection() if one.parse for name in one.names]


def _no_command(error: UnknownCommandError, chain: list[str]) -> str:
    word = (error.unused_tokens or [""])[0]
    if word.startswith("-"):
        return f"there is no option {word} before a command: {_see(chain)}"
    known = [name for name in (error.app or ()) if not name.startswith("-")]
    other = _OTHER_VERBS.get(word, "")
    meant = other if other in known else closest(word, known)
    if meant or not chain:
        return f"there is no command {word}{_meant(meant)}: {_see(chain)}"
    return f"`gossamer {' '.join(chain)}` has no command {word}, only {_listed(known)}: {_see(chain)}"


def _wrong_value(value: str, wanted: Any) -> str:
    choices = _choices(wanted)
    if choices:
        return f"{value!r} is not {_listed([one for one in choices if one], 'or')}{_meant(closest(value, choices))}"
    return f"{value!r} is not {_NUMBERS.get(wanted, 'a valid value')}"


def _choices(wanted: Any) -> list[str]:
    if get_origin(wanted) is Literal:
        return [str(choice) for choice in get_args(wanted)]
    if isinstance(wanted, type) and issubclass(wanted, Enum):
        return [name.lower() for name in wanted.__members__]
    return []


def _name(argument: Argument) -> str:
    """An option as it is typed, an argument that is told by its place in capitals."""
    return argument.name.lstrip("-").upper() if argument.field_info.is_positional else argument.name


def _meant(name: str) -> str:
    return f" (did you mean {name}?)" if name else ""


def _see(chain: Sequence[str]) -> str:
    return f"see `{' '.join(['gossamer', *chain, '--help'])}`"


def _listed(words: Sequence[str], last: str = "and") -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"
