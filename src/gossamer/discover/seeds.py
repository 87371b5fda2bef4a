"""Seeds: the URLs that a person names, as arguments, in files, or on standard input.

An argument is `-` (read standard input), a file that exists (read it), or a URL. Files hold one
URL a line; empty lines are skipped, and `#` at the start of a line or after a space begins a comment.

A URL may be written as one types it into a browser, without a scheme, and then gets the one a
browser would choose:
- `example.org`, `example.org/news`: https, or http where https does not answer (`crawl.schemes` finds out);
- `localhost`, an address, a host with a port, or a name without a dot and with a path (`wiki/`): http.
A single word such as `wiki` is refused, since it is more often a mistake than a host.

Everything wrong raises `UsageError` with the place and the way out, before anything is crawled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from gossamer.errors import UsageError
from gossamer.model.url import Canonicalizer

_COMMENT = re.compile(r"(?:^|\s)#.*")
_BARE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s/?#:@\[\]]+)(?P<port>:\d+)?(?P<rest>[/?#].*)?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LOGIN = re.compile(r"(?i)https?:[/\\]*[^/?#\\]*@")
_SHOWN = 100
"""Characters of a wrong input that a message repeats."""


class Seed(msgspec.Struct, frozen=True):
    """A URL to begin with."""

    url: str
    """Canonical."""
    source: str
    """Where it was named: `argument 2`, `seeds.txt line 7`, `standard input line 1`."""
    guessed: bool = False
    """Whether https is only a guess, because no scheme was written."""


def read_seeds(
    arguments: Sequence[str],
    files: Sequence[Path] = (),
    stdin: TextIO | None = None,
    canonicalizer: Canonicalizer | None = None,
) -> list[Seed]:
    """All seeds in the order they are named, each URL once."""
    canonicalizer = canonicalizer or Canonicalizer()
    seeds: dict[str, Seed] = {}
    for text, source in _named(arguments, files, stdin):
        seed = named_seed(text, source, canonicalizer)
        seeds.setdefault(seed.url, seed)
    return list(seeds.values())


def named_seed(text: str, source: str, canonicalizer: Canonicalizer) -> Seed:
    """The seed that a person wrote."""
    url = parse_seed(text, source, canonicalizer)
    return Seed(url, source, guessed=url.startswith("https://") and _SCHEME.match(text) is None)


def parse_seed(text: str, source: str, canonicalizer: Canonicalizer) -> str:
    """The canonical URL of what a person wrote; `source` goes into the error message."""
    if len(text.split()) > 1:
        raise UsageError(f"{source}: {_shown(text)}: a space in a URL; write one URL a line, a space as %20")
    whole = _with_scheme(text, source)
    if _LOGIN.match(whole):
        raise UsageError(
            f"{source}: a login in a URL is never sent: leave it out, and put it into gossamer.toml (docs/operate.md, "
            "Private networks)"
        )
    url = canonicalizer.parse(whole)
    if isinstance(url, str):
        return url
    raise UsageError(f"{source}: {_shown(text)}: {url.reason}")


def _named(arguments: Sequence[str], files: Sequence[Path], stdin: TextIO | None) -> Iterator[tuple[str, str]]:
    for number, argument in enumerate(arguments, 1):
        text = argument.strip()
        if text == "-":
            yield from _from_stdin(stdin)
        elif "://" not in text and _is_file(text):
            yield from _from_file(Path(text))
        else:
            yield text, f"argument {number}"
    for path in files:
        yield from _from_stdin(stdin) if str(path) == "-" else _from_file(path)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long a name, or a NUL in it
        return False


def _from_file(path: Path) -> Iterator[tuple[str, str]]:
    try:
        with path.open(encoding="utf-8") as lines:
            yield from _from_lines(lines, str(path))
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(f"{path}: the seed file cannot be read: {reason}") from error


def _from_stdin(stdin: TextIO | None) -> Iterator[tuple[str, str]]:
    if stdin is None:
        raise UsageError("-: there is no standard input to read seeds from")
    yield from _from_lines(stdin, "standard input")


def _from_lines(lines: Iterable[str], name: str) -> Iterator[tuple[str, str]]:
    try:
        for number, line in enumerate(lines, 1):
            if text := _COMMENT.sub("", line.lstrip("\ufeff")).strip():
                yield text, f"{name} line {number}"
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: not a text file in UTF-8; write one URL a line") from error


def _with_scheme(text: str, source: str) -> str:
    bare = _BARE.fullmatch(text)
    if bare is None and _SCHEME.match(text) is None:
        raise UsageError(f"{source}: {_shown(text)}: not a URL; begin it with http:// or https://")
    if bare is None:
        return text
    host, port, rest = bare.group("host", "port", "rest")
    if host.lower() in ("http", "https") and (rest or "").strip("/"):
        raise UsageError(f"{source}: {_shown(text)}: did you mean {host.lower()}://{(rest or '').lstrip('/')}?")
    if port is None and not rest and host.lower().endswith(".txt"):
        raise UsageError(f"{source}: {_shown(text)}: there is no such file")
    if host.lower() == "localhost" or host.startswith("["):
        return f"http://{text}"
    if "." not in host and port is None and not rest:
        raise UsageError(f"{source}: {_shown(text)}: neither a URL nor a file; write http:// before the name of a host")
    plain = port not in (None, ":443") or "." not in host or host.replace(".", "").isdigit()
    return f"{'http' if plain else 'https'}://{text}"


def _shown(text: str) -> str:
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "…")
