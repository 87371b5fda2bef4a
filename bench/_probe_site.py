"""A site of a few pages that shows what a crawler does unasked, and what was seen there.

- robots.txt forbids `/private/`, to which every page links, and asks for a second between requests;
- two pages have the same text;
- one page is named by the sitemap only, one by the feed only;
- every page has a menu and a footer around its text.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec

from _cut import Cut
from _nginx import Hit
from _sites import NETWORK, Served, Source
from _stored import Document

ADDRESS = f"{NETWORK}.200"
CRAWL_DELAY = 1.0
FURNITURE = "Subscribe to our newsletter"
QUERY = "harbour"
COPIES = ("/copy-one.html", "/copy-two.html")

_TEXTS = {
    "/index.html": "The harbour of the small town has two stone piers. Fishermen built the first of them when "
    "the river began to carry sand into the bay and the boats could no longer lie at the old steps.",
    "/bread.html": "A dough of rye wants patience. Mix flour, water and sourdough in the evening, let them stand "
    "overnight in a warm kitchen, and bake the loaf when its surface begins to crack.",
    "/bridges.html": "The first iron bridge of the valley was cast in pieces and put together without a single "
    "screw. Carpenters had drawn it, so its joints are those of a roof made of oak.",
    "/clouds.html": "Clouds like wool in the morning mean thunder before night. The air near the ground is warm "
    "and wet, and by noon it rises high enough to build towers that end in ice.",
    COPIES[0]: "A clock without a pendulum was of no use on land, and a clock with one was of no use at sea. "
    "It took a joiner forty years to build a watch that told sailors how far they had come.",
    "/only-in-sitemap.html": "Nobody links to this account of the old lighthouse. Its keeper wrote down every "
    "ship that passed in a book, which the museum keeps in a drawer without a label.",
    "/only-in-feed.html": "News of today: the ferry will run every hour from Monday on, since the new engine has "
    "passed its trials and the second crew has come back from the mainland.",
}
_PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<link rel="alternate" type="application/rss+xml" href="/feed.xml"></head><body>
<nav><ul>{menu}</ul></nav><main><article><h1>{title}</h1><p>{text}</p><p>{more}</p></article></main>
<footer><ul><li>Imprint</li><li>{furniture}</li><li>All rights reserved</li></ul></footer></body></html>"""
_MENU = ("/index.html", "/bread.html", "/bridges.html", "/clouds.html", *COPIES, "/private/secret.html")


class Seen(msgspec.Struct, frozen=True):
    """What a crawler did on the site."""

    robots: bool
    """It asked for robots.txt first and fetched nothing that is forbidden."""
    shortest_gap: float
    """Seconds between two requests; 0.0 where there were not two."""
    copies: int
    """How many of the two pages with the same text it stored."""
    main_text: bool
    """It stored texts, and none has the footer in it."""
    sitemap: bool
    feed: bool
    index: bool
    """A search in what it stored finds a page."""
    cpu: float
    """CPU seconds of the crawl: for a handful of pages that is what starting and ending cost."""


def make_probe(folder: Path, port: int) -> Served:
    """Writes the site and tells how to serve it."""
    folder.mkdir(parents=True)
    base = f"http://{ADDRESS}:{port}"
    for path, text in (_TEXTS | {COPIES[1]: _TEXTS[COPIES[0]], "/private/secret.html": "Not for crawlers."}).items():
        _write(folder, path, text)
    robots = ["User-agent: *", "Disallow: /private/", f"Crawl-delay: {CRAWL_DELAY:g}", f"Sitemap: {base}/sitemap.xml"]
    (folder / "robots.txt").write_text("\n".join(robots) + "\n")
    (folder / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        f"<url><loc>{base}/only-in-sitemap.html</loc></url></urlset>\n"
    )
    (folder / "feed.xml").write_text(
        f'<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"><channel><title>News</title><link>{base}/</link>'
        "<description>News</description><item><title>The ferry</title>"
        f"<link>{base}/only-in-feed.html</link></item></channel></rss>\n"
    )
    cut = Cut(str(folder), "/index.html", [*_TEXTS, COPIES[1]], 0.0, float(len(_MENU)))
    return Served(Source("probe", "made up", "/index.html"), cut, ADDRESS, port)


def _write(folder: Path, path: str, text: str) -> None:
    file = folder / path.lstrip("/")
    file.parent.mkdir(exist_ok=True)
    menu = "".join(f'<li><a href="{link}">{Path(link).stem}</a></li>' for link in _MENU)
    # The copies must not differ in their title either: they are one text at two addresses.
    title = text.split(".")[0]
    more = f"Whoever wants to know more about it may ask at the library; the shelf is marked: {title.lower()}."
    file.write_text(_PAGE.format(title=title, menu=menu, text=text, more=more, furniture=FURNITURE))


def look(hits: list[Hit], documents: list[Document], raw: bool, searchable: bool, cpu: float) -> Seen:
    """What the server's log and the stored documents tell; `raw`: they are whole files, not texts."""
    paths = [h.path for h in hits]
    gaps = [b.at - a.at for a, b in pairwise(sorted(hits, key=lambda h: h.at))]
    stored = {document.place[1]: document.text for document in documents if not document.recorded}
    return Seen(
        robots=paths[:1] == ["/robots.txt"] and not any(path.startswith("/private/") for path in paths),
        shortest_gap=min(gaps, default=0.0),
        copies=sum(path in stored for path in COPIES),
        main_text=bool(stored) and not raw and not any(FURNITURE in text for text in stored.values()),
        sitemap="/only-in-sitemap.html" in paths,
        feed="/only-in-feed.html" in paths,
        index=searchable,
        cpu=cpu,
    )
