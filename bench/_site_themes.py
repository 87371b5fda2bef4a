"""One blog, served twice: its articles in two themes on two domains, and how many of the pairs are found.

The themes have nothing in common but the article: other menus, other class names, the sidebar after the text or before
it. One marks its parts as HTML5 has it, the other uses nothing but `div`. Whoever compares the pages must compare the
articles, and not what is around them. What repeats from page to page can be learnt line by line; a harder variant also
has teasers of other articles below the text, other ones on each page, which only their place gives away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from html import escape
from itertools import combinations
from pathlib import Path

import msgspec

from _extraction_data import word_scores
from _site_pages import Stored
from _site_truth import Article, spaced

HOSTS = ("river-blog.test", "card-blog.test")
PER_LIST = 20
SAME = 0.8
"""Word F1 from which on two articles of the blog are the same one, posted twice."""

_RIVER = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title} | River of Thoughts</title></head>
<body class="single"><header class="masthead"><p class="brand">River of Thoughts</p><nav class="primary"><ul>
<li><a href="/">Front page</a></li><li><a href="/list-1.html">All entries</a></li><li>Portfolio</li><li>Workshops</li>
<li>Write to me</li></ul></nav></header>
<main><article class="entry"><h1 class="entry-name">{title}</h1><p class="stamp">Filed by the editor · four minutes</p>
{body}
<p class="links"><a href="{before}">Previous entry</a> <a href="{after}">Next entry</a></p></article></main>
<aside class="rail"><h3>Recent entries</h3><ul>{recent}</ul><h3>Archive</h3><ul>{months}</ul>
<h3>Find an entry</h3><p>Type a word and press enter to look through eleven years of notes.</p></aside>
<footer><p>River of Thoughts is set in Garamond and runs on a small machine in a cupboard.</p>
<p>Quote freely, name the source.</p></footer></body></html>"""

_CARD = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Card Box: {title}</title></head><body>
<div id="wrap"><div id="bar"><a href="/">Start</a> <a href="/list-1.html">Box</a> Speaking Books Press Imprint</div>
<div id="cols"><div id="left"><div class="wg"><div class="wt">Who writes here</div><div>A former teacher who now builds
tools for schools, reads too much at night and walks the dog before dawn. Views are mine and not those of anybody who
pays me.</div></div><div class="wg"><div class="wt">Newsletter</div><div>One letter each Sunday, no advertising, leave
whenever you like. Four thousand colleagues read it with their coffee.</div></div>
<div class="wg"><div class="wt">Most read</div>{popular}</div><div class="wg"><div class="wt">Topics</div>{topics}</div>
</div><div id="right"><div class="ttl">{title}</div><div class="by">by C. Ardbox</div><div class="cnt">{body}</div>
<div class="shr">Tell a friend Print Save for later</div>{teasers}<div class="rsp"><div class="wt">Leave a remark
</div>Your address will not be shown. Marked fields must be filled in.</div></div></div>
<div id="btm">Card Box is kept by one person in spare hours. Some rights reserved. Cookies are used to count
visits and for nothing else; go on reading if that is fine with you. Terms Privacy Accessibility Sitemap</div></div>
</body></html>"""

_LIST = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Page {number}</title></head><body>
<ul>{entries}</ul><p><a href="/list-{next}.html">Older</a></p></body></html>"""

_MONTHS = [
    f"{month} {year}"
    for year in range(2016, 2006, -1)
    for month in ("October", "September", "June", "May", "March", "January")
]
_TOPICS = "assessment authenticity blogging classroom collaboration feedback homework leadership literacy mentoring "
_TOPICS += "networks phones reflection research schedules standards storytelling voice wikis writing"


class Pairs(msgspec.Struct, frozen=True):
    """What near-duplicate detection made of the two sites."""

    articles: int
    stored: int
    """Articles of which both pages are documents."""
    found: float
    """Share of the articles whose two pages are in one cluster."""
    wrong: int
    """Clusters with pages of different articles."""


def write_sites(articles: Sequence[Article], folder: Path, has_teasers: bool) -> list[Path]:
    """Writes the articles as two sites, and returns their folders in the order of `HOSTS`."""
    roots = [folder / host for host in HOSTS]
    for root, page in zip(roots, (_river, partial(_card, has_teasers)), strict=True):
        root.mkdir(parents=True)
        for number in range(len(articles)):
            (root / place(number).lstrip("/")).write_text(page(articles, number))
        _write_lists(articles, root)
    return roots


def place(number: int) -> str:
    """The path of an article, the same on both sites."""
    return f"/a{number}.html"


def judge_pairs(articles: Sequence[Article], pages: Sequence[Stored]) -> Pairs:
    """Compares the clusters of stored pages with the articles they have."""
    numbers = {place(number): number for number in range(len(articles))}
    clusters: dict[int | None, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    hosts: dict[int, set[str]] = defaultdict(set)
    for page in pages:
        number = numbers.get(page.path)
        if number is not None:
            hosts[number].add(page.host)
            clusters[page.cluster][number].add(page.host)
    clusters.pop(None, None)
    found = {number for members in clusters.values() for number, of in members.items() if len(of) == len(HOSTS)}
    wrong = sum(_differ([articles[number].text for number in members]) for members in clusters.values())
    both = sum(len(of) == len(HOSTS) for of in hosts.values())
    return Pairs(len(articles), both, len(found) / max(len(articles), 1), wrong)


def _differ(texts: Sequence[str]) -> bool:
    return any(word_scores(spaced(one), spaced(other))[2] < SAME for one, other in combinations(texts, 2))


def _river(articles: Sequence[Article], number: int) -> str:
    return _RIVER.format(
        title=escape(articles[number].title),
        body=articles[number].html,
        before=place((number - 1) % len(articles)),
        after=place((number + 1) % len(articles)),
        recent="".join(f"<li>{_link(articles, other)}</li>" for other in range(min(10, len(articles)))),
        months="".join(f"<li>{month}</li>" for month in _MONTHS),
    )


def _card(has_teasers: bool, articles: Sequence[Article], number: int) -> str:
    count = len(articles)
    return _CARD.format(
        title=escape(articles[number].title),
        body=articles[number].html,
        popular="".join(f"<div>{_link(articles, other)}</div>" for other in range(count - min(8, count), count)),
        topics=" ".join(f"<span>{topic}</span>" for topic in _TOPICS.split()),
        teasers=_teasers(articles, number) if has_teasers else "",
    )


def _teasers(articles: Sequence[Article], number: int) -> str:
    others = [(number * 7 + step) % len(articles) for step in (3, 11, 19)]
    teasers = "".join(f"<div>{_link(articles, n)} {escape(articles[n].text[:160])} …</div>" for n in others)
    return f'<div class="rel"><div class="wt">You may also like</div>{teasers}</div>'


def _write_lists(articles: Sequence[Article], root: Path) -> None:
    starts = range(0, len(articles), PER_LIST)
    for page, start in enumerate(starts, start=1):
        numbers = range(start, min(start + PER_LIST, len(articles)))
        entries = "".join(f"<li>{_link(articles, number)}</li>" for number in numbers)
        text = _LIST.format(number=page, entries=entries, next=page % len(starts) + 1)
        (root / f"list-{page}.html").write_text(text)
    (root / "index.html").write_text((root / "list-1.html").read_text())


def _link(articles: Sequence[Article], number: int) -> str:
    return f'<a href="{place(number)}">{escape(articles[number].title)}</a>'
