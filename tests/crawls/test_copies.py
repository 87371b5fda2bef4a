"""Promise 3: what is one page and what is two, by a crawl of pairs; each pair says why.

`ONE`: one of the two is a document, and the other leads to it. `NEAR`: two documents that a search shows as one result.
`TWO`: two documents, two results.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from crawl_kit import crawl
from inside import gossamer

from gossamer.database.database import open_database
from gossamer.store.orphans import survey
from gossamer.store.segment_folder import LocalSegments
from gossamer.store.segments import iter_pages
from gossamer.testing import FakeWeb, Reply

ONE, NEAR, TWO = "one", "near", "two"
HOST, OTHER, FOREIGN = "www.copies.test", "old.copies.test", "www.elsewhere.test"


class Pair(NamedTuple):
    """Two pages, what they are, and why. `other`: the host of the second one; `paths`: their paths."""

    name: str
    first: str | bytes
    second: str | bytes
    expected: str
    why: str
    other: str = HOST
    paths: tuple[str, str] = ("", "")
    media: str = "text/html; charset=utf-8"


def prose(topic: str, sentences: int = 8) -> str:
    """A text of its own for each topic."""
    kinds = "colour weight history price taste maker origin future"
    return " ".join(
        f"The {kind} of {topic} is what {topic} people ask for first." for kind in kinds.split()[:sentences]
    )


def html(title: str, body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def article(title: str, *paragraphs: str, head: str = "") -> str:
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return html(title, f"<article><h1>{title}</h1>{text}</article>", head)


def frames(*sources: str, title: str = "Manual") -> str:
    inside = "".join(f'<frame src="{source}">' for source in sources)
    return f"<html><head><title>{title}</title></head><frameset cols='20%,80%'>{inside}</frameset></html>"


def shell(title: str = "Shop") -> str:
    return html(title, '<div id="root"></div><script src="/app.js"></script>')


def pdf(text: str) -> bytes:
    """A PDF of one page and one line."""
    stream = f"BT /F1 12 Tf 20 100 Td ({text}) Tj ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"%PDF-1.4\n" + b"".join(b"%d 0 obj%s endobj\n" % (n, one) for n, one in enumerate(objects, 1))
    return body + b"trailer<</Root 1 0 R>>\n"


def linked(title: str, target: str) -> str:
    """A post that is one link, with buttons and a note on its author that are longer than all posts."""
    share = "Share it on network {} (opens in a new window)"
    buttons = "".join(f'<li><a href="/share/{n}">{share.format(n)}</a></li>' for n in range(14))
    author = (
        "She owns a typewriter and collects old records. She writes about everything that people made by hand, and "
        "creates at least one new thing every day. In short, she teaches, and learns a lot. Her three children like it."
    )
    link = f'<a href="{target}">{title}</a>'
    return article(title, "By Ann Miller, 15 September 2015", link, f"<ul>{buttons}</ul>", author)


def changed(text: str, words: int) -> str:
    """The text with so many of its words replaced, all at its end."""
    kept = text.split()
    return " ".join([*kept[:-words], *(f"other{n}" for n in range(words))])


FERRY = (
    "The ferry to the island left an hour late today, because nobody had told the captain that the clocks had changed. "
    "The passengers took it with humour and sang on the quay."
)
ROSE = "The old rose behind the church flowers again, after a gardener from the next village cut it back in March."
DISHES = "The kitchen is open until late. Children eat half of what their parents eat, so ask for the dish of the day."
YO = "Ёж всё ещё идёт по зелёной траве, и её край тёмен, а счётчик ведёт отсчёт. "
NEWS = prose("kite", 8)
LONG = " ".join(prose(f"harbour {n}") for n in range(8))
PAIRS = [
    # Empty and short pages.
    Pair("empty", html("", ""), html("", ""), ONE, "equal bytes say all that the page says"),
    Pair("empty-titles", html("Spring", ""), html("Autumn", ""), TWO, "a title is all that a reader would find it by"),
    Pair("short", html("Closed", "<p>Back soon.</p>"), html("Closed", "<p>Back soon.</p>"), ONE,
         "equal bytes, however few words"),
    Pair("short-words", html("Shop", "<p>Closed today.</p>"), html("Shop", "<p>Open today.</p>"), TWO,
         "the few words differ"),
    Pair("short-titles", html("Room 1", "<p>Free.</p>"), html("Room 2", "<p>Free.</p>"), TWO, "the titles differ"),
    Pair("short-links", html("Go", '<p><a href="/l/red">Next</a></p>'), html("Go", '<p><a href="/l/blue">Next</a></p>'),
         TWO, "a short page is there for its links"),
    Pair("short-looks", html("Menu", '<p class="a">To be written.</p>'), html("Menu", "<div>To be  written.</div>"),
         ONE,
         "classes, tags and white space are nothing that a reader sees"),
    Pair("short-hosts", html("Stub", "<p>Stub.</p>"), html("Stub", "<p>Stub.</p>"), TWO,
         "two hosts of a domain may have the same stub", other=OTHER),
    Pair("not-found", html("Not found", "<p>No such page.</p>"), html("Not found", "<p>No such page.</p>"), ONE,
         "an error page that claims to be one is stored once"),
    # Pages without a text of their own.
    Pair("framesets", frames("menu.html", "main.html"), frames("menu.html", "main.html"), ONE,
         "equal framesets; the frames are pages of their own"),
    Pair("framesets-other", frames("menu.html", "one.html", title="Guide"), frames("menu.html", "two.html",
         title="Guide"),
         TWO, "they show different frames"),
    Pair("images", html("Photo", '<img src="/i/1.jpg">'), html("Photo", '<img src="/i/1.jpg">'), ONE,
         "the same picture"),
    Pair("images-other", html("Gallery", '<img src="/i/2.jpg">'), html("Gallery", '<img src="/i/3.jpg">'), TWO,
         "two pictures of a gallery"),
    Pair("images-alt", html("Map", '<img src="/i/4.jpg" alt="North">'), html("Map", '<img src="/i/4.jpg" alt="South">'),
         TWO, "their descriptions differ"),
    Pair("refresh", '<meta http-equiv="refresh" content="0; url=/refresh/b">', article("Refreshed",
         prose("refresh")), ONE,
         "a page that only sends on is a redirect"),
    Pair("shells", shell(), shell(), TWO, "empty only without JavaScript: each has a text that was not read"),
    Pair("shells-notice", html("Bank", '<div id="app"></div><noscript>' + "You need to enable JavaScript to use this "
         "site, which is for the customers of the bank.</noscript><script src='/b.js'></script>"),
         html("Bank", '<div id="app"></div><noscript>' + "You need to enable JavaScript to use this site, which is for "
         "the customers of the bank.</noscript><script src='/b.js'></script>"), TWO,
         "the notice is the text of the shell, not of the page"),
    Pair("counting-script", html("Note", "<p>Moved.</p><script>hit()</script>"),
         html("Note", "<p>Moved.</p><script>hit()</script>"), ONE, "a script that counts visitors makes no shell"),
    Pair("login", html("Log in", '<form action="/login"><input type="hidden" name="next" value="/a"><input name="user">'
         "</form>"), html("Log in", '<form action="/login"><input type="hidden" name="next" value="/b">'
         '<input name="user"></form>'), ONE, "a login wall is the same wherever it leads"),
    # What changes by itself.
    Pair("comments", html("Draft", "<p>Draft.</p><!-- built 10:01 on node 1 -->"),
         html("Draft", "<!-- node 2 --><p>Draft.</p>"), ONE, "nobody reads an HTML comment"),
    Pair("generated", article("Iron", prose("iron"), "Page generated in 0.031 seconds"),
         article("Iron", prose("iron"), "Page generated in 0.27 seconds"), ONE, "the time it took to make the page"),
    Pair("counter", article("Tin", prose("tin"), "Visitors: 12,345"), article("Tin", prose("tin"),
         "Visitors: 12,346"), ONE,
         "a counter of visitors"),
    Pair("counter-short", html("Home", "<p>Soon.</p><p>Visitors: <b>99</b></p>"),
         html("Home", "<p>Soon.</p><p>Visitors: <b>100</b></p>"), ONE, "a counter on a stub"),
    Pair("clock", article("Zinc", prose("zinc"), "It is currently Tue Nov 18, 2025 2:30 pm"),
         article("Zinc", prose("zinc"), "It is currently Wed Nov 19, 2025 9:04 am"), ONE, "a clock"),
    Pair("clock-russian", article("Медь", YO * 3 + "О меди.", "Сегодня 18 ноября 2025"),
         article("Медь", YO * 3 + "О меди.", "Сегодня 19 ноября 2025"), ONE, "a clock in another language"),
    Pair("numbers", article("Lead", prose("lead"), "We sold 12 tons in May"), article("Lead", prose("lead"),
         "We sold 31 tons in May"), TWO, "a number in a sentence is content"),
    Pair("session", article("Cart", prose("cart")), article("Cart", prose("cart")), ONE,
         "a session id is no part of the URL", paths=("/session/cart?PHPSESSID=abc123",
         "/session/cart?PHPSESSID=def456")),
    # Texts.
    Pair("same-text", article("Oak", prose("oak")), article("Oak", prose("oak")), ONE, "the same text"),
    Pair("other-title", html("Elm", f"<p>{prose('elm')}</p>"), html("The elm", f"<p>{prose('elm')}</p>"), ONE,
         "a text that long is the page, whatever its title"),
    Pair("same-title", article("Weather", prose("rain")), article("Weather", prose("sunshine")), TWO,
         "one title, two texts"),
    Pair("case", article("Ash", prose("ash")), article("Ash", prose("ash").upper()), ONE, "letter case is no content"),
    Pair("yo", article("Ёж", YO * 4), article("Еж", YO.replace("ё", "е").replace("Ё", "Е") * 4), ONE,
         "ё may be written as е"),
    Pair("half", article("Fir", LONG), article("Fir", LONG[: len(LONG) // 2]), TWO, "half of a text is another text"),
    Pair("near", article("Kite", LONG + NEWS), article("Kite", LONG + changed(NEWS, 3)), NEAR,
         "more than nine tenths of the runs of four words are the same"),
    Pair("near-short", article("Post", prose("post"), "18 November 2025"), article("Post", prose("post"),
         "2 May 2024"), NEAR,
         "the short post again, under another date"),
    Pair("post-word", article("The ferry is late", FERRY), article("The ferry is late", FERRY.replace("humour",
         "patience")), NEAR, "a short post with one other word"),
    Pair("post-line", article("The ferry is back", FERRY.replace("late", "early")), article("The ferry is back",
         FERRY.replace("late", "early"), "Tell your friends about it."), NEAR, "a short post with another line"),
    Pair("post-byline", article("A rose", "By Ann Miller, 15 September 2015", ROSE), article("A rose",
         "Posted by Carl on March 3, 2016 at 14:30", ROSE), NEAR, "a short post under another name and date"),
    Pair("post-themes", html("A rose again", f"<main><h1>A rose again</h1><p>{ROSE.lower()} So they say.</p></main>"),
         html("A rose again", f"<div><h1>A rose again</h1><p>{ROSE.lower()} So they say.</p><p>Share this</p></div>"),
         NEAR, "a short post and the rest of another theme"),
    Pair("post-template", article("Video: Storm", "Video: Storm", DISHES), article("Video: Harvest", "Video: Harvest",
         DISHES), TWO, "two short posts of one template; the titles differ"),
    Pair("post-numbers", article("The weather", DISHES.replace("dish", "soup"), "Five o'clock: 12 degrees"),
         article("The weather", DISHES.replace("dish", "soup"), "Five o'clock: 9 degrees"), TWO,
         "two reports of one template; the numbers differ"),
    Pair("post-versions", article("Download", DISHES.replace("dish", "cake"), "For version 3.0.1 only"),
         article("Download", DISHES.replace("dish", "cake"), "For version 3.1.1 only"), TWO,
         "each has a number that the other lacks"),
    Pair("post-half", article("A walk", FERRY.replace("ferry", "walk")), article("A walk", FERRY.replace("ferry",
         "walk")[:100]), TWO, "half of a short post"),
    Pair("post-few-words", article("The shop", "The shop in the old town is closed today, we are sorry to say."),
         article("The shop", "The shop in the old town is open today, we are happy to say."), TWO,
         "in few words, two others are another post"),
    Pair("link-only", linked("Found: a fast bicycle", "/out/1"), linked("A garden for bees", "/out/2"), TWO,
         "posts of one link each; the sidebar is that of the site"),
    Pair("translation", article("Bridge", prose("bridge")), article("Brücke", "Die Brücke über den Fluss ist alt, und "
         "niemand weiß, wer sie gebaut hat. Im Sommer kommen viele Leute zu ihr und sehen den Booten zu."), TWO,
         "a translation has its own readers"),
    Pair("print", article("Pine", prose("pine")), html("Print: Pine", "<h1>Pine</h1><p>" + prose("pine")), ONE,
         "a print view is the text without the rest"),
    Pair("slash", article("Yew", prose("yew")), article("Yew", prose("yew")), ONE,
         "a slash at the end makes another URL, not another text", paths=("/slash/yew", "/slash/yew/")),
    Pair("canonical", article("Alder", prose("alder"), head='<link rel="canonical" href="/canonical/b">'),
         article("Alder", prose("alder tree")), ONE, "the site says which of the two it is"),
    Pair("hosts", article("Birch", prose("birch")), article("Birch", prose("birch")), ONE,
         "a text counts once in a domain", other=OTHER),
    Pair("domains", article("Beech", prose("beech")), article("Beech", prose("beech")), NEAR,
         "two publishers have the same text: both are kept, and shown as one", other=FOREIGN),
    Pair("plain", f"Notes\n\n{prose('notes')}", f"Notes\n\n{prose('notes')}", ONE, "plain text",
         media="text/plain; charset=utf-8"),
    Pair("pdf", pdf(prose("paper", 2)), pdf(prose("paper", 2)), ONE, "a PDF is a text like any other",
         media="application/pdf"),
]  # fmt: skip


def paths_of(pair: Pair) -> tuple[str, str]:
    return pair.paths if pair.paths[0] else (f"/{pair.name}/a", f"/{pair.name}/b")


class Crawled(NamedTuple):
    data: Path
    urls: dict[str, tuple[str, str]]


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawled]:
    data = tmp_path_factory.mktemp("copies") / "data"
    web = FakeWeb("127.0.61")
    sites = {name: web.site(name) for name in (HOST, OTHER, FOREIGN)}
    with web:
        links: dict[str, list[str]] = {name: [] for name in sites}
        urls = {}
        for pair in PAIRS:
            places = list(zip((HOST, pair.other), paths_of(pair), (pair.first, pair.second), strict=True))
            for host, path, body in places:
                sites[host].reply(path.partition("?")[0], Reply(body, content_type=pair.media))
                links[host].append(path)
            first, second = (sites[host].url(path.partition("?")[0]) for host, path, _ in places)
            urls[pair.name] = (first, second)
        for name, site in sites.items():
            site.page("/", prose(f"start page {name}"), links=links[name])
        crawl(web, data, [site.url("/") for site in sites.values()], "--workers", "1")
        yield Crawled(data, urls)


class Row(NamedTuple):
    outcome: str
    target: str
    cluster: int | None


def rows_of(crawled: Crawled, pair: Pair) -> list[Row]:
    db = open_database(crawled.data / "frontier.db")
    try:
        rows = []
        for url in crawled.urls[pair.name]:
            found = db.execute("SELECT outcome, target, cluster FROM urls WHERE url = ?", (url,))
            assert found, f"{url} is not in the table"
            rows.append(Row(found[0][0], found[0][1] or "", found[0][2]))
        return rows
    finally:
        db.close()


@pytest.mark.long
@pytest.mark.parametrize("pair", PAIRS, ids=[pair.name for pair in PAIRS])
def test_of_two_pages_as_many_are_kept_as_readers_would_count(crawled: Crawled, pair: Pair) -> None:
    first, second = rows_of(crawled, pair)
    documents = [row for row in (first, second) if row.outcome == "document"]
    if len(documents) < 2 or len(set(crawled.urls[pair.name])) < 2:
        kept = ONE
    elif first.cluster is not None and first.cluster == second.cluster:
        kept = NEAR
    else:
        kept = TWO
    assert kept == pair.expected, f"{pair.why}: {first}, {second}"
    assert documents, "one of the two is always kept"
    for row in (first, second):
        assert row.outcome == "document" or row.target in crawled.urls[pair.name], "the other leads to it"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("same-text", "same text as another page of the domain"),
        ("framesets", "hardly any text, but the same title, links and content as another page of the site"),
        ("canonical", "its canonical link names another URL"),
        ("shells", "empty without JavaScript"),
    ],
)
def test_explain_says_in_one_line_why_a_page_is_one_or_two(crawled: Crawled, name: str, words: str) -> None:
    answers = [gossamer("explain", url, "--json", data=crawled.data).json for url in crawled.urls[name]]
    assert any(words in answer["reason"] for answer in answers), answers


@pytest.mark.long
def test_raw_responses_of_copies_are_not_stored(crawled: Crawled) -> None:
    segments = LocalSegments(crawled.data / "segments")
    ids, _ = survey(segments)
    stored: dict[str, set[bool]] = {}
    for batch in iter_pages(segments, ids, ["outcome", "warc_offset"]):
        for row in batch.to_pylist():
            stored.setdefault(row["outcome"], set()).add(row["warc_offset"] is not None)
    assert (stored["alias"], stored["duplicate"], stored["document"]) == ({False}, {False}, {True})
