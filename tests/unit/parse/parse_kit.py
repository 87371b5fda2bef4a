"""A context and a one-line parse for the tests of this folder."""

from gossamer.model.decision import refuse
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.model.url import Canonicalizer
from gossamer.parse.document import ParseContext, parse_document
from gossamer.parse.limits import ParseLimits

NOW = 1_750_000_000.0  # June 2025
URL = "https://site.example/dir/page.html"


def decide(urls, now):
    allowed = [u for u in urls if u.startswith("https://site.example/") and "/trap/" not in u]
    refused = [
        (u, refuse("trap.depth", "too deep") if "/trap/" in u else refuse("scope.host", "elsewhere"))
        for u in urls
        if u not in allowed
    ]
    return allowed, refused


def context(**changes) -> ParseContext:
    return ParseContext(Canonicalizer(), decide, NOW, **changes)


def parse(
    html: str | bytes,
    *,
    url: str = URL,
    content_type: str = "text/html",
    kind: Kind = Kind.PAGE,
    robots: tuple[str, ...] = (),
    link: tuple[str, ...] = (),
    **changes,
) -> Parsed:
    body = html if isinstance(html, bytes) else html.encode()
    return parse_document(ParseJob(url, kind, content_type, body, list(robots), list(link)), context(**changes))


__all__ = ["NOW", "URL", "ParseLimits", "context", "parse"]
