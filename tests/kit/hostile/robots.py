"""robots.txt in every condition, each on a host of its own: `<name>.hostile.test`.

On such a host `/` and `/page` are ordinary pages and `/private` is one that the
file, where it can be read, forbids.
"""

from __future__ import annotations

from gossamer.demo.message import Ask, Reply
from kit.hostile.bodies import gzip_bomb
from kit.hostile.registry import (
    HOST,
    PROSE,
    Answer,
    Pace,
    add,
    always,
    dripping,
    flood,
    page,
    raw,
    response,
)

_G = "robots"
_RULES = b"User-agent: *\nDisallow: /private\n"
_FILLER = b"# silk and thread\n"
LIMIT = 500 * 1024
"""RFC 9309, 2.5: at least this much of the file must be read."""


def _add(name: str, sentence: str, answer: Answer) -> None:
    add(_G, f"robots-{name}", sentence, answer, f"robots-{name}.{HOST}")


def _text(data: bytes, status: int = 200, content_type: str = "text/plain") -> Answer:
    return always(Reply(data, status, content_type=content_type, compress=False))


def _padded(size: int) -> bytes:
    """Comment lines, `size` bytes of them."""
    return (_FILLER * (size // len(_FILLER) + 1))[: size - 1] + b"\n"


def _hops(count: int) -> Answer:
    """Redirects `count` times before the rules come."""

    def answer(ask: Ask, pace: Pace) -> Reply:
        last = ask.path.rpartition("/")[2]
        done = int(last) if last.isdecimal() else 0
        if done == count:
            return Reply(_RULES, content_type="text/plain")
        return Reply(b"", 301, [("Location", f"/robots-hop/{done + 1}")])

    return answer


def _elsewhere(ask: Ask, pace: Pace) -> Reply:
    port = ask.site.partition(":")[2] or "80"
    return Reply(b"", 302, [("Location", f"http://robots-deny-all.{HOST}:{port}/robots.txt")])


def _bomb(ask: Ask, pace: Pace) -> Reply:
    headers = [("Content-Encoding", "gzip"), ("Content-Type", "text/plain")]
    return Reply(gzip_bomb(), 200, headers, compress=False)


_add("plain", "A good file, to compare with.", _text(_RULES))
_add("deny-all", "Everything is forbidden.", _text(b"User-agent: *\nDisallow: /\n"))
_add("empty", "An empty file.", _text(b""))
_add("garbage", "Random-looking bytes.", _text(bytes(range(256)) * 64))
_add(
    "garbage-around",
    "Good rules between garbage lines.",
    _text(b"\xff\xfe\n:::\n" + _RULES + b"\0\0\nDisallow\n"),
)
_add("html", "A page labelled as one instead of rules.", always(page("Welcome", PROSE)))
_add("html-as-text", "A page labelled text/plain.", _text(b"<!DOCTYPE html><html><body>" + PROSE.encode()))
_add("bom", "A byte order mark stands before the first line.", _text(b"\xef\xbb\xbf" + _RULES))
_add("utf-16", "The file is UTF-16.", _text(_RULES.decode().encode("utf-16")))
_add("cr", "Lines end with CR alone.", _text(_RULES.replace(b"\n", b"\r")))
_add(
    "long-line",
    "One line of 1 MB before the rules.",
    _text(b"Disallow: /" + b"x" * (1 << 20) + b"\n" + _RULES),
)
_add("large", "More than 500 KiB, with the rules at the start.", _text(_RULES + _padded(2 * LIMIT)))
_add("large-late", "More than 500 KiB, with the rules only after that.", _text(_padded(2 * LIMIT) + _RULES))
_add(
    "large-edge",
    "The rules end exactly at 500 KiB.",
    _text(_padded(LIMIT - len(_RULES)) + _RULES + _padded(LIMIT)),
)
_add(
    "endless",
    "The file never ends.",
    flood(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n" + _RULES, _FILLER * 500),
)
_add("bomb", "A gzip bomb.", _bomb)
_add(
    "many-groups",
    "20,000 groups.",
    _text(b"".join(b"User-agent: bot%d\nDisallow: /\n" % n for n in range(20_000))),
)
_add(
    "stars",
    "Patterns that make a backtracking matcher slow.",
    _text(b"User-agent: *\nDisallow: /" + b"*a" * 500 + b"$\nDisallow: /private\n"),
)
_add(
    "delay-huge",
    "Crawl-delay of a year.",
    _text(b"User-agent: *\nCrawl-delay: 31536000\nDisallow: /private\n"),
)
_add(
    "delay-garbage",
    "Crawl-delay that is not a number.",
    _text(b"User-agent: *\nCrawl-delay: soon\nCrawl-delay: -1\nCrawl-delay: nan\nDisallow: /private\n"),
)
for _status in (401, 403, 404, 410, 429, 500, 502, 503):
    _add(str(_status), f"Always {_status}.", _text(b"", _status))
_add("timeout", "The request is never answered.", raw(status=0, then="hang"))
_add("slow", "One byte at a time.", dripping(response(_RULES, ("Content-Type", "text/plain"))))
_add("disconnect", "The connection closes without an answer.", raw(status=0))
_add(
    "reset",
    "The connection is reset in the middle.",
    raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + _RULES, then="reset"),
)
_add(
    "truncated",
    "The file ends before its Content-Length.",
    raw(b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n" + _RULES),
)
_add("redirect-5", "Five redirects lead to the rules, which must be followed.", _hops(5))
_add("redirect-20", "Twenty redirects.", _hops(20))
_add("redirect-loop", "A redirect to itself.", always(Reply(b"", 302, [("Location", "/robots.txt")])))
_add("redirect-elsewhere", "A redirect to the file of a host that forbids everything.", _elsewhere)
_add("redirect-page", "A redirect to the start page.", always(Reply(b"", 302, [("Location", "/")])))
_add(
    "redirect-private",
    "A redirect to a metadata address.",
    always(Reply(b"", 302, [("Location", "http://169.254.169.254/robots.txt")])),
)
