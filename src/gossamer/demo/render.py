"""From written pages to replies: one template, a sitemap and a feed."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from email.utils import format_datetime
from html import escape

from gossamer.demo.content import Host, Page
from gossamer.demo.message import Reply

_LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")

Locate = Callable[[str], str]
"""Puts the real port into the URLs of our hosts."""

_TEMPLATE = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="{charset}">
<title>{title}</title>
{head}
</head>
<body>
<header><p>{site}</p><nav>{nav}</nav></header>
<main><article>
<h1>{title}</h1>
{body}
</article></main>
<footer><p>{site}</p></footer>
</body>
</html>
"""


def reply(host: Host, page: Page, locate: Locate) -> Reply:
    """What the server answers for a page."""
    kind = page.get("type")
    if page.get("status"):
        target = page.get("location")
        return Reply(b"", int(page.get("status")), [("Location", locate(target))] if target else [])
    if kind == "sitemap":
        return Reply(locate(_sitemap(host, page)), content_type="application/xml")
    if kind == "rss":
        return Reply(locate(_rss(host)), content_type="application/rss+xml")
    if kind:
        return Reply(locate(page.text) + "\n", content_type=kind)
    charset = page.get("charset") or "utf-8"
    declared = "text/html; charset=utf-8" if charset == "utf-8" else "text/html"
    return Reply(locate(html(host, page)).encode(charset), content_type=declared)


def html(host: Host, page: Page) -> str:
    """The page in the template of its host."""
    return _TEMPLATE.format(
        lang=host.get("lang"),
        charset=page.get("charset") or "utf-8",
        title=escape(page.get("title") or page.path),
        head="\n".join(_head(host, page)),
        site=escape(host.get("name")),
        nav=" ".join(_anchor(*item.partition("=")[::2]) for item in host.listed("nav")),
        body="\n".join(_block(block) for block in page.text.split("\n\n")),
    )


def _head(host: Host, page: Page) -> list[str]:
    meta = {"description": page.get("description"), "robots": page.get("robots")}
    lines = [f'<meta name="{name}" content="{escape(value)}">' for name, value in meta.items() if value]
    if page.get("date"):
        lines.append(f'<meta property="article:published_time" content="{page.get("date")}">')
    if page.get("canonical"):
        lines.append(f'<link rel="canonical" href="{escape(page.get("canonical"))}">')
    if page.get("refresh"):
        lines.append(f'<meta http-equiv="refresh" content="0; url={escape(page.get("refresh"))}">')
    if host.get("feed"):
        lines.append(f'<link rel="alternate" type="application/rss+xml" href="{host.get("feed")}">')
    return lines


def _block(text: str) -> str:
    lines = text.split("\n")
    if all(line.startswith("- ") for line in lines):
        return "<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>"
    return f"<p>{_inline(text)}</p>"


def _inline(text: str) -> str:
    return _LINK.sub(r'<a href="\2">\1</a>', escape(text, quote=False))


def _anchor(target: str, label: str) -> str:
    return f'<a href="{escape(target)}">{escape(label)}</a>'


def _sitemap(host: Host, page: Page) -> str:
    rows = []
    for path in (entry.strip() for entry in page.get("entries").split(",")):
        date = host.pages[path].get("date")
        lastmod = f"<lastmod>{date}</lastmod>" if date else ""
        rows.append(f"<url><loc>http://{host.name}{escape(path)}</loc>{lastmod}</url>")
    start = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    return "\n".join([start, *rows, "</urlset>", ""])


def _rss(host: Host) -> str:
    """The dated pages below a year, newest first."""
    pages = [p for p in host.pages.values() if p.path.startswith("/20") and not p.get("canonical")]
    pages.sort(key=lambda p: p.get("date"), reverse=True)
    name = escape(host.get("name"))
    start = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel>'
        f"<title>{name}</title><link>http://{host.name}/</link><description>{name}</description>"
    )
    return "\n".join([start, *(_item(host, page) for page in pages), "</channel></rss>", ""])


def _item(host: Host, page: Page) -> str:
    date = datetime.datetime.fromisoformat(page.get("date")).replace(tzinfo=datetime.UTC)
    return (
        f"<item><title>{escape(page.get('title'))}</title><link>http://{host.name}{page.path}</link>"
        f"<pubDate>{format_datetime(date, usegmt=True)}</pubDate></item>"
    )
