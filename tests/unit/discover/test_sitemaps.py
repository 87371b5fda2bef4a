"""Sitemaps of all forms, broken ones, and hostile ones."""

from __future__ import annotations

import gzip
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.discover.sitemaps import Sitemap, SitemapEntry, SitemapLimits, epoch, parse_sitemap

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'

LANGS = ("de", "en", "fr")


def urlset(*entries: str, attributes: str = NAMESPACE) -> bytes:
    inner = "".join(f"<url>{entry}</url>" for entry in entries)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {attributes}>{inner}</urlset>'.encode()


def locs(sitemap: Sitemap) -> list[str]:
    return [entry.loc for entry in sitemap.entries]


def numbered(count: int) -> bytes:
    return urlset(*(f"<loc>http://a.example/{i}</loc>" for i in range(count)))


# --- forms -------------------------------------------------------------------------------------------


def test_all_fields_of_a_urlset() -> None:
    sitemap = parse_sitemap(
        urlset(
            "<loc> http://a.example/1?x=1&amp;y=2 </loc><lastmod>2024-02-03T04:05:06Z</lastmod>"
            "<changefreq>Daily</changefreq><priority>0.8</priority>",
            "\n<loc><![CDATA[http://a.example/2]]></loc>\n",
        )
    )
    assert sitemap == Sitemap(
        entries=[
            SitemapEntry("http://a.example/1?x=1&y=2", "2024-02-03T04:05:06Z", 1_706_933_106.0, "daily", 0.8),
            SitemapEntry("http://a.example/2", "", None, "", 0.5),
        ]
    )


def test_an_index_names_sitemaps() -> None:
    body = f"<sitemapindex {NAMESPACE}><sitemap><loc>http://a.example/1.xml</loc><lastmod>2024</lastmod></sitemap>"
    sitemap = parse_sitemap((body + "<sitemap><loc>http://a.example/2.xml.gz</loc></sitemap></sitemapindex>").encode())
    assert sitemap == Sitemap(nested=["http://a.example/1.xml", "http://a.example/2.xml.gz"])


@pytest.mark.parametrize("attributes", ["", 'xmlns="http://www.google.com/schemas/sitemap/0.84"', 'xmlns="nonsense"'])
def test_a_wrong_namespace_does_not_matter(attributes: str) -> None:
    assert locs(parse_sitemap(urlset("<loc>http://a.example/</loc>", attributes=attributes))) == ["http://a.example/"]


def test_prefixed_elements_are_read() -> None:
    body = b'<s:urlset xmlns:s="x"><s:url><s:loc>http://a.example/</s:loc></s:url></s:urlset>'
    assert locs(parse_sitemap(body)) == ["http://a.example/"]


def test_images_alternates_and_news_inside_an_entry_are_not_entries() -> None:
    sitemap = parse_sitemap(
        urlset(
            "<image:image><image:loc>http://a.example/i.png</image:loc></image:image>"
            '<xhtml:link rel="alternate" hreflang="de" href="http://a.example/de"/>'
            "<loc>http://a.example/</loc><news:news><news:publication_date>2024</news:publication_date></news:news>",
            attributes=NAMESPACE + ' xmlns:image="i" xmlns:xhtml="h" xmlns:news="n"',
        )
    )
    assert sitemap == Sitemap(
        entries=[SitemapEntry("http://a.example/", published_at=1_704_067_200.0)],
        translations={"http://a.example/de": 0.5},
    )


def test_the_page_in_other_languages_is_named_once_with_the_highest_priority() -> None:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{lang}" href=" http://a.example/{lang} "/>' for lang in LANGS
    )
    sitemap = parse_sitemap(
        urlset(
            f"<loc>http://a.example/de</loc>{links}<priority>0.3</priority>",
            f"{links}<loc>http://a.example/en</loc><priority>0.9</priority>",
            attributes=NAMESPACE + ' xmlns:xhtml="http://www.w3.org/1999/xhtml"',
        )
    )
    assert locs(sitemap) == ["http://a.example/de", "http://a.example/en"]
    assert sitemap.translations == {f"http://a.example/{lang}": 0.9 for lang in LANGS}


@pytest.mark.parametrize(
    "link",
    [
        '<link rel="alternate" media="only screen" href="http://a.example/m"/>',
        '<link rel="canonical" hreflang="de" href="http://a.example/m"/>',
        '<link rel="alternate" hreflang="de" href=""/>',
        '<link rel="alternate" hreflang="de"/>',
    ],
)
def test_other_links_of_an_entry_name_no_page(link: str) -> None:
    assert parse_sitemap(urlset(f"<loc>http://a.example/</loc>{link}")).translations == {}


def test_translations_are_bounded_like_entries() -> None:
    entries = [
        f'<loc>http://a.example/{n}</loc><link hreflang="x-default" href="http://a.example/t{n}"/>' for n in range(8)
    ]
    assert len(parse_sitemap(urlset(*entries), SitemapLimits(entries=5)).translations) <= 5
    many = "".join(f'<link hreflang="de" href="http://a.example/{n}"/>' for n in range(9))
    assert len(parse_sitemap(urlset(many), SitemapLimits(entries=5)).translations) == 5


def test_an_entry_without_a_location_is_skipped() -> None:
    assert locs(parse_sitemap(urlset("<lastmod>2024</lastmod>", "<loc/>", "<loc>x</loc>"))) == ["x"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_sitemap_has_a_url_on_each_line(end: str) -> None:
    body = "\ufeff" + end.join(["http://a.example/1", "", "  HTTPS://a.example/ж  ", "http://a.example/3"])
    sitemap = parse_sitemap(body.encode())
    assert locs(sitemap) == ["http://a.example/1", "HTTPS://a.example/ж", "http://a.example/3"]
    assert sitemap.problem == ""


def test_a_long_text_sitemap_is_cut_at_no_line() -> None:
    lines = [f"http://a.example/{i}" for i in range(20_000)]
    assert locs(parse_sitemap("\n".join(lines).encode())) == lines


def test_text_that_is_no_sitemap_is_reported() -> None:
    sitemap = parse_sitemap(b"Not found\nhttp://a.example/1\nsorry\n")
    assert (locs(sitemap), sitemap.problem) == (["http://a.example/1"], "2 lines are not http(s) URLs")


def test_rss_items_are_entries() -> None:
    sitemap = parse_sitemap(
        b"<rss><channel><link>http://a.example/</link>"
        b"<item><title>t</title><link>http://a.example/1</link>"
        b"<pubDate>Sat, 03 Feb 2024 04:05:06 GMT</pubDate></item>"
        b"<item><guid>http://a.example/2</guid></item>"
        b'<item><guid isPermaLink="false">urn:3</guid></item>'
        b"</channel></rss>"
    )
    assert sitemap.entries == [
        SitemapEntry("http://a.example/1", "Sat, 03 Feb 2024 04:05:06 GMT", 1_706_933_106.0),
        SitemapEntry("http://a.example/2"),
    ]


def test_atom_entries_are_entries() -> None:
    sitemap = parse_sitemap(
        b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="http://a.example/"/>'
        b'<entry><link rel="self" href="http://a.example/api/1"/><link href="http://a.example/1"/>'
        b"<published>2020-01-01T00:00:00Z</published><updated>2024-02-03T04:05:06Z</updated></entry></feed>"
    )
    assert sitemap.entries == [SitemapEntry("http://a.example/1", "2024-02-03T04:05:06Z", 1_706_933_106.0)]


@pytest.mark.parametrize("body", [numbered(3), b"http://a.example/0\nhttp://a.example/1\nhttp://a.example/2"])
def test_gzip_is_undone_also_in_several_members(body: bytes) -> None:
    expected = [f"http://a.example/{i}" for i in range(3)]
    assert locs(parse_sitemap(gzip.compress(body))) == expected
    halves = gzip.compress(body[:30]) + gzip.compress(body[30:])
    assert locs(parse_sitemap(halves)) == expected


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "windows-1251"])
def test_declared_encodings_are_read(encoding: str) -> None:
    name = encoding.removesuffix("-sig")
    text = f'<?xml version="1.0" encoding="{name}"?><urlset><url><loc>http://a.example/ж</loc></url></urlset>'
    assert locs(parse_sitemap(text.encode(encoding))) == ["http://a.example/ж"]


def test_space_before_the_declaration_is_forgiven() -> None:
    assert locs(parse_sitemap(b"\n \n" + numbered(1))) == ["http://a.example/0"]


# --- fields ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", 1_704_067_200.0),
        ("2024-02", 1_706_745_600.0),
        ("2024-02-03", 1_706_918_400.0),
        ("2024-02-03T04:05Z", 1_706_933_100.0),
        ("2024-02-03T04:05:06+01:00", 1_706_929_506.0),
        ("2024-02-03T04:05:06.5Z", 1_706_933_106.5),
        ("2024-02-03T04:05:06", 1_706_933_106.0),
        ("Sat, 03 Feb 2024 04:05:06 +0000", 1_706_933_106.0),
        ("2024-13-01", None),
        ("2024-02-30", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_dates(text: str, expected: float | None) -> None:
    assert epoch(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0.0), ("1.0", 1.0), ("7", 1.0), ("-1", 0.0), ("nan", 0.5), ("high", 0.5), ("", 0.5)],
)
def test_priority_is_between_0_and_1(text: str, expected: float) -> None:
    sitemap = parse_sitemap(urlset(f"<loc>x</loc><priority>{text}</priority>"))
    assert sitemap.entries[0].priority == expected


def test_an_unknown_frequency_is_dropped() -> None:
    assert parse_sitemap(urlset("<loc>x</loc><changefreq>often</changefreq>")).entries[0].changefreq == ""


# --- broken ------------------------------------------------------------------------------------------


def test_what_was_read_before_an_error_counts() -> None:
    sitemap = parse_sitemap(numbered(3).replace(b"/2</loc>", b"/2</lock>"))
    assert locs(sitemap) == ["http://a.example/0", "http://a.example/1"]
    assert sitemap.problem.startswith("not well-formed XML: ")


def test_a_cut_off_file_gives_its_complete_entries() -> None:
    body = numbered(1_000)
    sitemap = parse_sitemap(body[: len(body) // 2])
    assert 400 < len(sitemap.entries) < 600
    assert sitemap.problem


def test_cut_off_and_damaged_gzip_gives_what_could_be_unpacked() -> None:
    packed = gzip.compress(numbered(20_000))
    cut = parse_sitemap(packed[: len(packed) // 2])
    assert 1_000 < len(cut.entries) < 20_000
    assert cut.problem == "the gzip data is cut off"
    damaged = parse_sitemap(gzip.compress(numbered(3)) + packed[:10] + b"\xff" * 100)
    assert len(damaged.entries) == 3
    assert damaged.problem.startswith("damaged gzip data")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"<!DOCTYPE html><html><body>Not found</body></html>", "neither a sitemap nor a feed, but <html>"),
        (b"<foo><url><loc>http://a.example/</loc></url></foo>", "neither a sitemap nor a feed, but <foo>"),
        (b"\x1f\x8b", "the gzip data is cut off"),
        (b"<", "not well-formed XML: "),
    ],
)
def test_what_is_no_sitemap_has_a_problem_and_no_entries(body: bytes, problem: str) -> None:
    sitemap = parse_sitemap(body)
    assert (sitemap.entries, sitemap.nested) == ([], [])
    assert sitemap.problem.startswith(problem)


def test_markup_inside_a_feed_does_not_make_it_a_page() -> None:
    body = b"<rss><channel><description><![CDATA[<html>]]></description><item><link>x</link></item></channel>"
    assert locs(parse_sitemap(body)) == ["x"]


def test_a_link_given_as_attribute_and_as_text_is_read_once() -> None:
    body = b'<feed><entry><link href="http://a.example/1">http://a.example/1</link></entry></feed>'
    assert locs(parse_sitemap(body)) == ["http://a.example/1"]


def test_an_empty_body_is_an_empty_sitemap() -> None:
    assert parse_sitemap(b"") == Sitemap()


@given(st.binary(max_size=200))
def test_no_bytes_raise(body: bytes) -> None:
    for prefix in (
        b"",
        b"<urlset><url><loc>",
        b"<?xml version='1.0' encoding='",
        b"\x1f\x8b\x08\x00",
        b"<!DOCTYPE ",
    ):
        assert isinstance(parse_sitemap(prefix + body), Sitemap)


# --- limits and attacks ------------------------------------------------------------------------------


def test_entries_over_the_limit_are_left_out() -> None:
    sitemap = parse_sitemap(numbered(11), SitemapLimits(entries=10))
    assert len(sitemap.entries) == 10
    assert sitemap.problem == "more entries than the limit, the rest is left out"
    assert parse_sitemap(numbered(10), SitemapLimits(entries=10)).problem == ""


def test_the_protocols_50_000_entries_are_read() -> None:
    sitemap = parse_sitemap(numbered(50_001))
    assert len(sitemap.entries) == 50_000
    assert sitemap.problem


def test_bytes_over_the_limit_are_left_out() -> None:
    body = numbered(1_000)
    for packed in (body, gzip.compress(body)):
        sitemap = parse_sitemap(packed, SitemapLimits(unpacked_bytes=len(body) // 2))
        assert 400 < len(sitemap.entries) < 600
        assert sitemap.problem == f"longer than {len(body) // 2:,} bytes, the rest is left out"


def peak_of(body: bytes) -> tuple[Sitemap, int]:
    tracemalloc.start()
    try:
        sitemap = parse_sitemap(body)
        return sitemap, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("head", [b"<urlset>", b"http://a.example/"])
def test_a_bomb_is_not_unpacked(head: bytes) -> None:
    """200 MB packed into 1 MB: no more than some pieces of it are ever held."""
    bomb = gzip.compress(head + bytes(200_000_000), 1)
    sitemap, peak = peak_of(bomb)
    assert sitemap.problem
    assert peak < 10_000_000


@pytest.mark.parametrize(
    "declarations",
    [
        '<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY a SYSTEM "file:///etc/passwd">',
        '<!ENTITY % a SYSTEM "http://127.0.0.1:1/x.dtd"> %a;',
        '<!ATTLIST url a CDATA "b">',
    ],
)
def test_own_declarations_are_refused(declarations: str) -> None:
    body = f"<!DOCTYPE urlset [{declarations}]><urlset><url><loc>http://a.example/&a;</loc></url></urlset>"
    for data in (body.encode(), body.encode("utf-16")):
        sitemap = parse_sitemap(data)
        assert sitemap.entries == []
        assert sitemap.problem == "declares entities or attributes, which no sitemap needs"


def test_an_external_dtd_is_not_opened() -> None:
    body = b'<!DOCTYPE urlset SYSTEM "file:///does/not/exist.dtd">' + b"<urlset><url><loc>x</loc></url></urlset>"
    assert parse_sitemap(body) == Sitemap(entries=[SitemapEntry("x")])


@pytest.mark.parametrize(
    ("start", "junk"),
    [
        (b"<urlset>", b"<x/>"),
        (b"<urlset><url>", b"<x/>"),
        (b"<urlset><url><loc>", b"aaaa"),
        (b"<urlset>", b"<!--x-->"),
        (b"<urlset ", b"a='b' "),
        (b"<rss><channel>", b"text"),
        (b"http://a.example/", b"a"),
    ],
)
def test_junk_is_not_read_to_the_end(start: bytes, junk: bytes) -> None:
    sitemap, peak = peak_of(start + junk * (20_000_000 // len(junk)))
    assert sitemap.entries == []
    assert sitemap.problem == "more than 1 MB without an entry, the rest is left out"
    assert peak < 10_000_000


def test_deep_nesting_ends_the_reading() -> None:
    sitemap = parse_sitemap(b"<urlset><url><loc>x</loc></url>" + b"<x>" * 100_000)
    assert (locs(sitemap), sitemap.problem) == (["x"], "elements nested deeper than 64")


def test_empty_entries_count_too() -> None:
    sitemap = parse_sitemap(b"<urlset>" + b"<url/>" * 60_000)
    assert sitemap.problem == "more entries than the limit, the rest is left out"
