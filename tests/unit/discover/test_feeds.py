"""Feeds of all forms as real sites write them, broken ones, and hostile ones."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.discover.dates import epoch
from gossamer.discover.feeds import Feed, FeedEntry, FeedLimits, looks_like_feed, parse_feed

FEB_3 = 1_706_933_106.0
"""2024-02-03T04:05:06Z"""


def rss(*items: str, head: str = "", attributes: str = ' version="2.0"') -> bytes:
    inner = "".join(f"<item>{item}</item>" for item in items)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<rss{attributes}><channel>{head}{inner}</channel></rss>'.encode()


def atom(*entries: str, head: str = "", attributes: str = "") -> bytes:
    inner = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom"{attributes}>{head}{inner}</feed>'.encode()


def urls(feed: Feed) -> list[str]:
    return [entry.url for entry in feed.entries]


def numbered(count: int) -> bytes:
    return rss(*(f"<link>http://a.example/{i}</link>" for i in range(count)))


# --- forms -------------------------------------------------------------------------------------------


def test_everything_an_rss_feed_says() -> None:
    feed = parse_feed(
        rss(
            "<title>One &amp; two</title><link> http://a.example/1?x=1&amp;y=2 </link><guid>http://a.example/?p=1</guid>"
            "<pubDate>Sat, 03 Feb 2024 07:05:06 +0300</pubDate><description><![CDATA[<p>text]]></description>",
            "<title><![CDATA[<b>Bold</b> &#8212; x]]></title><link><![CDATA[http://a.example/2?a=1&b=2]]></link>",
            head='<title>News</title><link>http://a.example/</link><atom:link rel="self" href="http://a.example/rss"/>'
            '<atom:link rel="hub" href="https://hub.example/"/><ttl>30</ttl><image><title>Logo</title></image>',
            attributes=' version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"',
        )
    )
    assert feed == Feed(
        kind="rss",
        title="News",
        entries=[
            FeedEntry("http://a.example/1?x=1&y=2", "One & two", FEB_3, None, "http://a.example/?p=1"),
            FeedEntry("http://a.example/2?a=1&b=2", "Bold — x"),
        ],
        hubs=["https://hub.example/"],
        self_url="http://a.example/rss",
        ttl=1800.0,
    )


def test_russian_rss_in_windows_1251() -> None:
    text = (
        '<?xml version="1.0" encoding="windows-1251"?><rss version="2.0"><channel><title>Новости «Урала»</title>'
        "<item><title>Снег в мае</title><link>http://a.example/новости/1</link>"
        "<pubDate>Сб, 03 фев 2024 07:05:06 MSK</pubDate></item></channel></rss>"
    )
    feed = parse_feed(text.encode("windows-1251"))
    assert (feed.title, feed.problem) == ("Новости «Урала»", "")
    assert feed.entries == [FeedEntry("http://a.example/новости/1", "Снег в мае", FEB_3)]


def test_atom_with_relative_urls_notes_the_base() -> None:
    feed = parse_feed(
        atom(
            '<title type="html">A &amp;lt;b&amp;gt;tag&amp;lt;/b&amp;gt;</title><id>urn:1</id>'
            '<link rel="self" href="/api/1"/><link href="../1"/>'
            "<published>2024-02-03T04:05:06Z</published><updated>2024-02-03T04:05:07Z</updated>",
            '<title type="xhtml"><div>In <i>two</i> parts</div></title>'
            '<link rel="alternate" type="application/pdf" href="2.pdf"/>'
            '<link rel="alternate" type="text/html" href="2" xml:base="deep/"/>',
            head='<title>News</title><link href="/"/><link rel="hub" href="//h.example/"/>'
            '<link rel="self" href="atom"/>',
            attributes=' xml:base="http://a.example/blog/x/"',
        )
    )
    assert feed.entries == [
        FeedEntry("../1", "A tag", FEB_3, FEB_3 + 1, "urn:1", "http://a.example/blog/x/"),
        FeedEntry("2", "In two parts", base="http://a.example/blog/x/deep/"),
    ]
    assert (feed.kind, feed.title, feed.hubs, feed.self_url) == ("atom", "News", ["//h.example/"], "atom")


def test_rdf_items_stand_beside_the_channel() -> None:
    feed = parse_feed(
        b'<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/" xmlns:dc="d" xmlns:sy="s">'
        b'<channel rdf:about="http://a.example/"><title>Sci</title><sy:updatePeriod> hourly </sy:updatePeriod>'
        b"<sy:updateFrequency>2</sy:updateFrequency><items><rdf:Seq><rdf:li resource='x'/></rdf:Seq></items></channel>"
        b"<image><title>Logo</title></image>"
        b'<item rdf:about="http://a.example/1"><title>T</title><link>http://a.example/1</link>'
        b"<dc:date>2024-02-03T05:05:06+01:00</dc:date></item>"
        b'<item rdf:about="http://a.example/2"><title>U</title></item></rdf:RDF>'
    )
    assert (feed.kind, feed.title, feed.ttl) == ("rss", "Sci", 1800.0)
    assert feed.entries == [
        FeedEntry("http://a.example/1", "T", FEB_3, None, "http://a.example/1"),
        FeedEntry("http://a.example/2", "U", None, None, "http://a.example/2"),
    ]


def test_a_json_feed() -> None:
    feed = parse_feed(
        b'\xef\xbb\xbf{"version": "https://jsonfeed.org/version/1.1", "title": "J", "feed_url": "http://a.example/j",'
        b'"hubs": [{"type": "WebSub", "url": "https://hub.example/"}], "authors": [{"name": "N"}], "items": ['
        b'{"id": 7, "url": "/1", "title": "T", "date_published": "2024-02-03T04:05:06Z", "content_html": "<p>"},'
        b'{"id": "http://a.example/2", "url": null, "title": 5, "date_modified": "2024-02-03T04:05:06Z"},'
        b'null, {"id": "x"}, {"external_url": "http://b.example/", "date_published": [1]}]}'
    )
    assert feed == Feed(
        "json",
        "J",
        [
            FeedEntry("/1", "T", FEB_3, None, "7"),
            FeedEntry("http://a.example/2", "5", None, FEB_3, "http://a.example/2"),
            FeedEntry("http://b.example/"),
        ],
        ["https://hub.example/"],
        "http://a.example/j",
    )


@pytest.mark.parametrize("hubs", ['"x"', "[1]", '[{"url": 1}]', "{}"])
def test_wrong_types_in_json_are_as_good_as_missing(hubs: str) -> None:
    feed = parse_feed(f'{{"version": 1, "title": {{}}, "hubs": {hubs}, "items": [{{"url": "x"}}]}}'.encode())
    assert feed == Feed("json", entries=[FeedEntry("x")])


@pytest.mark.parametrize("body", [numbered(3), atom('<link href="x"/>'), b'{"items": [{"url": "x"}]}'])
def test_each_form_may_be_packed(body: bytes) -> None:
    assert parse_feed(gzip.compress(body)) == parse_feed(body)
    assert parse_feed(body).entries


# --- which URL, which date ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("<guid>http://a.example/1</guid>", ["http://a.example/1"]),
        ('<guid isPermaLink="true">http://a.example/1</guid>', ["http://a.example/1"]),
        ('<guid isPermaLink="false">http://a.example/1</guid>', []),
        ("<guid>12345</guid>", []),
        ("<guid>http://a.example/guid</guid><link>http://a.example/link</link>", ["http://a.example/link"]),
        ("<a:link href='http://a.example/x' rel='edit'/><link>http://a.example/1</link>", ["http://a.example/1"]),
        ("<link/><guid>http://a.example/1</guid>", ["http://a.example/1"]),
        ("<link>http://p.example/~r/1</link><f:origLink>http://a.example/1</f:origLink>", ["http://a.example/1"]),
        ("<m:group><m:link>http://no.example/</m:link></m:group><link>/1</link>", ["/1"]),
        ("<title>nothing to read</title>", []),
    ],
)
def test_the_page_of_an_entry(item: str, expected: list[str]) -> None:
    feed = parse_feed(rss(item))
    assert (urls(feed), feed.problem) == (expected, "")


def test_an_extension_does_not_hide_the_entrys_own_fields() -> None:
    items = "<itunes:title>Episode</itunes:title><link>x</link><title>Own</title><media:title>M</media:title>"
    assert parse_feed(rss(items)).entries[0].title == "Own"


def test_dates_that_no_page_has_are_none() -> None:
    feed = parse_feed(
        rss(
            "<link>1</link><pubDate>Mon, 01 Jan 0001 00:00:00 +0000</pubDate>",
            "<link>2</link><pubDate>soon</pubDate><dc:date>2024-02-03T04:05:06Z</dc:date>",
            "<link>3</link><pubDate/>",
        )
    )
    assert [entry.published_at for entry in feed.entries] == [None, FEB_3, None]


def test_what_an_entry_is_dated_by() -> None:
    assert FeedEntry("x", published_at=1.0, updated_at=2.0).dated == 1.0
    assert FeedEntry("x", updated_at=2.0).dated == 2.0
    assert FeedEntry("x").dated is None


@pytest.mark.parametrize(
    "text",
    [
        "Sat, 03 Feb 2024 04:05:06 GMT", "Sat, 03 Feb 2024 04:05:06 +0000", "Sat, 3 Feb 2024 04:05:06 Z",
        "03 Feb 2024 04:05:06", "Sat,03 Feb 2024 04:05:06 UT", "Saturday, 03-Feb-24 04:05:06 UTC",
        "Sat, 03 Feb 24 07:05:06 MSK", "Sat, 03 Feb 2024 05:05:06 CET", "Sat, 03 February 2024 06:05:06 EET",
        "Fri, 02 Feb 2024 23:05:06 EST", "Fri, 02 Feb 2024 20:05:06 PST", "Fri, 2 Feb 2024 20:05:06 -08:00",
        "Sat, 03 Feb 2024 07:05:06 GMT+0300", "Sat, 03 Feb 2024 07:05:06 GMT+3",
        "Sat, 03 Feb 2024 04:05:06 +0000 (UTC)", "Sat Feb  3 04:05:06 2024", "Sat Feb 03 05:05:06 CET 2024",
        "February 3, 2024 4:05:06 AM", "Feb 03 2024 04:05:06", "Sat, Feb 03 2024 04:05:06 AM",
        "Сб, 03 фев 2024 07:05:06 +0300", "3 февраля 2024 04:05:06", "03.02.2024 04:05:06",
        "Sa, 03 Feb 2024 04:05:06 GMT", "2024-02-03T04:05:06Z", "2024-02-03 04:05:06", "2024-02-03T04:05:06.000Z",
        "2024-02-03 07:05:06 +0300", "2024-02-03T07:05:06 +03:00", "2024-02-03T4:05:06Z", "2024/02/03 04:05:06",
        "2024-2-3 04:05:06 UTC", "1706933106", "20240203T040506Z", "2024-02-03T04:05:06 Europe/Nowhere",
    ],
)  # fmt: skip
def test_moments_as_feeds_write_them(text: str) -> None:
    assert epoch(text) == FEB_3


@pytest.mark.parametrize(
    "text",
    [
        "03/02/2024 04:05:06", "Sat, 45 Feb 2024 04:05:06 GMT", "Sat, 03 Foo 2024 04:05:06 GMT", "04:05:06", "now",
        "2024-02-03T99:05:06Z", "Feb 2024", "-", "9" * 400, "Feb 3", "Mon, 4:05", "1 2 3 4",
    ],
)  # fmt: skip
def test_what_is_no_moment(text: str) -> None:
    assert epoch(text) is None


@pytest.mark.parametrize(
    ("text", "later"), [("03 Feb 2024 24:00:00 GMT", 71_694.0), ("03 Feb 2024 04:05:60 GMT", 53.0)]
)
def test_the_last_moment_of_a_day_and_leap_seconds(text: str, later: float) -> None:
    assert epoch(text) == FEB_3 + later


@given(st.text(max_size=60))
def test_no_text_raises_as_a_date(text: str) -> None:
    for whole in (text, "2024-02-03T" + text, "3 Feb 2024 " + text):
        moment = epoch(whole)
        assert moment is None or abs(moment) < 1e12


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("<ttl>60</ttl>", 3600.0),
        ("<ttl>0</ttl>", None),
        ("<ttl>-5</ttl>", None),
        ("<ttl>soon</ttl>", None),
        ("<ttl>nan</ttl>", None),
        ("<ttl>99999999</ttl>", 31_536_000.0),
        ("<sy:updatePeriod>daily</sy:updatePeriod>", 86_400.0),
        ("<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>", None),
        ("<sy:updatePeriod>often</sy:updatePeriod>", None),
        ("<sy:updatePeriod>hourly</sy:updatePeriod><ttl>5</ttl>", 300.0),
        ("<image><ttl>5</ttl></image>", None),
    ],
)
def test_how_long_a_feed_says_it_stays_the_same(head: str, expected: float | None) -> None:
    assert parse_feed(rss(head=head)).ttl == expected


# --- broken ------------------------------------------------------------------------------------------


def test_entities_of_html_are_known() -> None:
    feed = parse_feed(rss("<title>A&nbsp;B &laquo;C&raquo; &mdash; &nonsense;D</title><link>x</link>"))
    assert (feed.entries[0].title, feed.problem) == ("A B «C» — D", "")


def test_stray_ampersands_are_meant_as_such() -> None:
    feed = parse_feed(
        rss(
            "<title>Q & A</title><link>http://a.example/?a=1&b=2&copy=3</link>",
            "<title><![CDATA[R & D]]></title><link><![CDATA[http://a.example/?a=1&b=2]]></link>",
        )
    )
    assert feed.entries == [
        FeedEntry("http://a.example/?a=1&b=2&copy=3", "Q & A"),
        FeedEntry("http://a.example/?a=1&b=2", "R & D"),
    ]
    assert feed.problem == ""


def test_characters_that_xml_forbids_are_left_out() -> None:
    feed = parse_feed(rss("<title>a\x0bb\x00c&#x1f;d&#0;</title><link>x</link>"))
    assert feed.entries == [FeedEntry("x", "abcd")]


def test_a_wrong_encoding_is_guessed() -> None:
    text = rss("<title>Снег выпал в мае, и никто его не ждал</title><link>x</link>").decode()
    feed = parse_feed(text.encode("windows-1251"))
    assert feed.entries == [FeedEntry("x", "Снег выпал в мае, и никто его не ждал")]


@pytest.mark.parametrize("name", ["gbk", "shift_jis", "big5", "utf-16", "koi8-r", "x-unknown"])
def test_any_encoding_is_read(name: str) -> None:
    encoding = "utf-8" if name == "x-unknown" else name
    word = {"shift_jis": "日本", "gbk": "中国", "big5": "中國", "koi8-r": "мир"}.get(name, "Привет")
    body = rss(f"<title>{word}</title><link>x</link>").decode().replace("UTF-8", name).encode(encoding)
    assert parse_feed(body) == Feed("rss", entries=[FeedEntry("x", word)])


def test_one_broken_entry_costs_no_other() -> None:
    feed = parse_feed(
        rss(
            "<link>1</link>",
            "<title>T</title><link>2</link><description><p>open<br></description>"
            "<pubDate>Sat, 03 Feb 2024 04:05:06 GMT</pubDate>",
            "<link>3</link>",
            "<description><p>open</description><link>http://a.example/?4&amp;5</link>",
            "<link>5</link>",
            head="<title>News</title>",
        )
    )
    assert feed.entries == [
        FeedEntry("1"),
        FeedEntry("2", "T", FEB_3),
        FeedEntry("3"),
        FeedEntry("http://a.example/?4&5"),
        FeedEntry("5"),
    ]
    assert (feed.title, feed.kind) == ("News", "rss")
    assert feed.problem.startswith("not well-formed XML: ")


def test_a_broken_entry_whose_link_is_only_a_space_has_none() -> None:
    assert parse_feed(b"<rss><item>]]><link>&nbsp;").entries == []


def test_a_broken_atom_entry_gives_its_link() -> None:
    feed = parse_feed(
        atom(
            '<summary><p>x</summary><link rel="edit" href="no"/><link rel="alternate" href="1"/>',
            '<link href="2"/>',
            attributes=' xml:base="http://a.example/"',
        )
    )
    assert urls(feed) == ["1", "2"]
    assert {entry.base for entry in feed.entries} == {"http://a.example/"}
    assert feed.kind == "atom"


@pytest.mark.parametrize(
    "junk", [b"<br />\n<b>Warning</b>: include() in x.php\n", b"\xef\xbb\xbf\xef\xbb\xbf", b"\n\n "]
)
def test_junk_before_the_feed_is_skipped(junk: bytes) -> None:
    assert len(parse_feed(junk + numbered(3)).entries) == 3


def test_junk_after_the_feed_does_not_matter() -> None:
    assert len(parse_feed(numbered(3) + b"<script>track()</script>").entries) == 3


def test_a_cut_off_feed_gives_its_complete_entries() -> None:
    body = numbered(1_000)
    for cut in (body[: len(body) // 2], gzip.compress(body)[:-200]):
        feed = parse_feed(cut)
        assert 300 < len(feed.entries) < 1_000
        assert feed.problem


def test_old_feeds_with_declarations_are_read_without_them() -> None:
    body = (
        b'<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape//DTD RSS 0.91//EN" "http://x.example/rss.dtd" '
        b'[<!ENTITY % latin SYSTEM "http://x.example/latin.ent"> %latin;]>'
        b'<rss version="0.91"><channel><item><title>caf&eacute;</title><link>x</link></item></channel></rss>'
    )
    assert parse_feed(body).entries == [FeedEntry("x", "café")]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "not a feed, but <html>"),
        (b"<urlset><url><loc>x</loc></url></urlset>", "not a feed, but <urlset>"),
        (b"Not found", "not well-formed XML: "),
        (b'{"error": 404}', "JSON, but no feed"),
        (b'{"items": [', "not the JSON of a feed: "),
        (b'{"items": 5}', "not the JSON of a feed: "),
        (b"\x1f\x8b", "the gzip data is cut off"),
        (b"\x1f\x8b\x08\x00" + b"\xff" * 100, "damaged gzip data: "),
    ],
)
def test_what_is_no_feed_has_a_problem_and_no_entries(body: bytes, problem: str) -> None:
    feed = parse_feed(body)
    assert feed.entries == []
    assert feed.problem.startswith(problem)


# --- telling feeds from pages ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (numbered(1), "text/html"),
        (gzip.compress(numbered(1)), ""),
        (numbered(1).decode().encode("utf-16"), ""),
        (b"\n<!-- by hand --><?xml-stylesheet href='s.xsl'?>" + numbered(1).partition(b"\n")[2], ""),
        (b'<!DOCTYPE rss PUBLIC "x" "y"><rss version="0.91">', ""),
        (atom(), ""),
        (b'<a:feed xmlns:a="http://www.w3.org/2005/Atom">', ""),
        (b'<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/">', ""),
        (b"<b>Warning</b>: x.php " + numbered(1), "application/rss+xml"),
        (b'{"version":"https://jsonfeed.org/version/1"}', "application/json"),
        (b'{"items": []}', "application/feed+json"),
    ],
)
def test_feeds_are_known_by_their_start(body: bytes, content_type: str) -> None:
    assert looks_like_feed(body, content_type)


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"", "application/rss+xml"),
        (b"<!DOCTYPE html><html><body>all about &lt;rss> and <rss></body></html>", "application/rss+xml"),
        (b"<html><pre><feed xmlns='http://www.w3.org/2005/Atom'></pre></html>", "text/html"),
        (b"<p>How to write <rss version='2.0'></p>", "text/html"),
        (b"<urlset><url><loc>x</loc></url></urlset>", "application/xml"),
        (b'<rdf:RDF xmlns:rdf="r" xmlns:foaf="http://f.example/"><foaf:Person/></rdf:RDF>', "application/rdf+xml"),
        (b'<feed xmlns="http://shop.example/products"><product/></feed>', "application/xml"),
        (b'{"name": "x"}', "application/json"),
        (b"\x1f\x8b\x08\x00garbage", "application/rss+xml"),
        (bytes(5_000), ""),
    ],
)  # fmt: skip
def test_pages_and_other_xml_are_no_feeds(body: bytes, content_type: str) -> None:
    assert not looks_like_feed(body, content_type)


# --- limits and attacks ------------------------------------------------------------------------------


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    for prefix in (
        b"",
        b"<rss><channel><item><link>",
        b"<feed><entry><link href='x'/><title>&",
        b"<?xml version='1.0' encoding='",
        b"\x1f\x8b\x08\x00",
        b"<!DOCTYPE rss [",
        b'{"items": [{"url": ',
    ):
        assert isinstance(parse_feed(prefix + body), Feed)
        assert isinstance(looks_like_feed(prefix + body, "application/rss+xml"), bool)


def test_entries_over_the_limit_are_left_out() -> None:
    as_json = b'{"items": [' + b",".join(b'{"url": "x"}' for _ in range(11)) + b"]}"
    for body in (numbered(11), as_json):
        feed = parse_feed(body, FeedLimits(entries=10))
        assert len(feed.entries) == 10
        assert feed.problem == "more entries than the limit, the rest is left out"


def test_bytes_over_the_limit_are_left_out() -> None:
    body = numbered(1_000)
    for packed in (body, gzip.compress(body)):
        feed = parse_feed(packed, FeedLimits(unpacked_bytes=len(body) // 2))
        assert 400 < len(feed.entries) < 600
        assert feed.problem == f"longer than {len(body) // 2:,} bytes, the rest is left out"


def peak_of(body: bytes) -> tuple[Feed, int]:
    tracemalloc.start()
    try:
        feed = parse_feed(body)
        return feed, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("head", [b"<rss><channel>", b"<rss><channel><item><title>", b'{"items": ['])
def test_a_bomb_is_not_unpacked(head: bytes) -> None:
    """200 MB packed into 1 MB: no more than what is read a second time is ever held."""
    feed, peak = peak_of(gzip.compress(head + b" " * 200_000_000, 1))
    assert feed.problem
    assert peak < 80_000_000


def test_nested_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    text = (
        f'<!DOCTYPE rss [<!ENTITY l0 "lol">{laughs}]><rss><channel><item><title>&l9;</title><link>x</link></item>'
        "</channel></rss>"
    )
    feed, peak = peak_of(text.encode())
    assert feed.entries == [FeedEntry("x")]
    assert peak < 1_000_000


def test_no_file_is_opened_for_an_entity() -> None:
    body = b'<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss><item><title>&f;</title><link>x</link></item>'
    assert parse_feed(body).entries == [FeedEntry("x")]


@pytest.mark.parametrize(
    ("start", "junk"),
    [
        (b"<rss><channel>", b"<x/>"),
        (b"<rss><channel><item>", b"<x/>"),
        (b"<rss><channel><item><title>", b"aaaa"),
        (b"<rss><channel><item><title>", b"&lt;"),
        (b"<rss><channel><item><title>", b"&nbsp;"),
        (b"<rss><channel>", b"<!--x-->"),
        (b"<rss ", b"a='b' "),
    ],
)
def test_junk_is_not_read_to_the_end(start: bytes, junk: bytes) -> None:
    feed, peak = peak_of(start + junk * (20_000_000 // len(junk)))
    assert feed.entries == []
    assert feed.problem == "more than 1 MB without an entry, the rest is left out"
    assert peak < 30_000_000


@pytest.mark.parametrize(
    "junk", [b"<item><p>", b"<item>&", b"<![CDATA[", b"<a ", b"&", b"\x00", b"</item>", b"<link href='"]
)
def test_broken_junk_is_left_within_bounds(junk: bytes) -> None:
    feed, peak = peak_of(b"<rss><channel>" + junk * (4_000_000 // len(junk)))
    assert feed.entries == []
    assert feed.problem
    assert peak < 200_000_000


def test_json_of_a_million_objects_is_refused() -> None:
    feed, peak = peak_of(b'{"items": [' + b"{}," * 1_000_000 + b"{}]}")
    assert feed.problem == "more than 200,000 objects, which no feed needs"
    assert peak < 30_000_000


@pytest.mark.parametrize("body", [b'{"items": ' + b"[" * 100_000, b'{"items": [{"url": ' + b'{"a":' * 10_000])
def test_deep_json_ends_the_reading(body: bytes) -> None:
    assert parse_feed(body).problem.startswith("not the JSON of a feed")


def test_deep_nesting_ends_the_reading() -> None:
    feed = parse_feed(b"<rss><channel><item><link>x</link></item>" + b"<x>" * 100_000)
    assert (urls(feed), feed.problem) == (["x"], "elements nested deeper than 64")
