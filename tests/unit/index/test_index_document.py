"""A page as the index takes it: places, dates, kinds, and texts that no page should have."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import tantivy
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from indexing_kit import new_index, open_writer

from gossamer.index import schema
from gossamer.index.document import MAX_STORED, IndexPage, build, depth, place, type_of, within
from gossamer.index.moments import date_seconds
from gossamer.model.site import key64
from gossamer.model.url import Canonicalizer

ANY_TEXT = st.text(st.characters())


# -- site: ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "inside"),
    [
        ("https://example.com/", "example.com com"),
        ("https://www.example.com/", "www.example.com example.com"),
        ("https://en.news.bbc.co.uk/", "en.news.bbc.co.uk news.bbc.co.uk bbc.co.uk co.uk"),
        ("https://example.com:8443/a", "example.com:8443 example.com example.com:8443/a example.com/a"),
        ("https://www.example.com/docs/guide/x.html",
         "www.example.com/docs example.com/docs example.com/docs/guide www.example.com/docs/guide/x.html"),
        ("http://192.0.2.7:8080/a", "192.0.2.7:8080 192.0.2.7 192.0.2.7/a"),
        ("http://[2001:db8::1]:8080/a", "[2001:db8::1]:8080 [2001:db8::1] [2001:db8::1]/a"),
        ("http://localhost/", "localhost"),
        ("https://xn--e1afmkfd.xn--p1ai/", "xn--e1afmkfd.xn--p1ai xn--p1ai"),
        ("https://example.com/a?q=/x/y", "example.com/a"),
    ],
)  # fmt: skip
def test_a_page_lies_within_its_host_the_domains_above_and_the_folders_of_its_path(url, inside):
    assert set(inside.split()) <= set(within(url))


@pytest.mark.parametrize(
    ("url", "outside"),
    [
        ("https://example.com/", "www.example.com ample.com example example.com/ "),
        ("https://a.example.com/docs", "example.com/docs b.example.com"),
        ("https://example.com/docsearch", "example.com/docs"),
        ("http://192.0.2.7/", "0.2.7 2.7 7"),
        ("https://example.com/a?q=/x/y", "example.com/x"),
    ],
)
def test_a_page_does_not_lie_in_places_that_only_look_alike(url, outside):
    assert set(outside.split(" ")).isdisjoint(within(url))


def test_places_are_named_once_and_bounded():
    url = "https://www.example.com/" + "a/" * 500
    places = within(url)
    assert len(places) == len(set(places)) < 40


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("Example.COM", "https://www.example.com/a"),
        ("example.com/docs/", "https://example.com/docs/x"),
        ("example.com/café", "https://example.com/caf%C3%A9/1"),
        ("example.com/caf%C3%A9", "https://example.com/caf%C3%A9/1"),
        ("example.com/a b", "https://example.com/a%20b"),
        ("example.com/docs?x=1", "https://example.com/docs?x=2"),
        ("bbc.co.uk", "https://news.bbc.co.uk/"),
    ],
)
def test_what_a_person_types_names_the_place(typed, url):
    assert place(typed) in within(url)


@given(ANY_TEXT)
def test_no_place_that_is_typed_is_an_error(typed):
    place(typed)


@given(st.text(max_size=60), st.text(max_size=20))
def test_every_canonical_url_can_be_placed(path, query):
    made = Canonicalizer().parse(f"https://www.example.org/{path}?{query}")
    if not isinstance(made, str):
        return
    assert "example.org" in within(made)
    assert depth(made) >= 0
    build(IndexPage(url=made))


# -- numbers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-03", datetime(2024, 3, 1, tzinfo=UTC)),
        ("2024-03-05", datetime(2024, 3, 5, tzinfo=UTC)),
        ("2024-03-05T10:20", datetime(2024, 3, 5, 10, 20, tzinfo=UTC)),
        ("2024-03-05 10:20:30", datetime(2024, 3, 5, 10, 20, 30, tzinfo=UTC)),
        ("2024-03-05T10:20:30Z", datetime(2024, 3, 5, 10, 20, 30, tzinfo=UTC)),
        ("1969-12-31", datetime(1969, 12, 31, tzinfo=UTC)),
        ("0001-01-01", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59", datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_a_date_of_any_precision_begins_somewhere(date, moment):
    assert date_seconds(date) == int(moment.timestamp())


@pytest.mark.parametrize(
    "date",
    [None, "", "yesterday", "05.03.2024", "2024-13-01", "2024-02-30", "2024-03-05T25:00", "0000", "12", "\ud800",
     "-2024", "T10:00"],
)  # fmt: skip
def test_what_is_no_date_is_none(date):
    assert date_seconds(date) is None
    build(IndexPage(url="https://a.example/", date=date))


@given(ANY_TEXT | st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?", fullmatch=True))
def test_no_date_is_an_error_and_each_has_a_year(date):
    seconds = date_seconds(date)
    if seconds is not None:
        assert str(datetime.fromtimestamp(seconds, UTC).year).zfill(4) == f"{int(date[:4]):04}"


@given(st.dates(), st.dates())
def test_dates_are_in_order(one, other):
    assert (date_seconds(one.isoformat()) < date_seconds(other.isoformat())) == (one < other)


@pytest.mark.parametrize(
    ("url", "media_type", "kind"),
    [
        ("https://a.example/x", "text/html", "html"),
        ("https://a.example/x.php", "text/html; charset=utf-8", "html"),
        ("https://a.example/x", "APPLICATION/PDF", "pdf"),
        ("https://a.example/x.PDF", "application/octet-stream", "pdf"),
        ("https://a.example/notes", "text/plain", "txt"),
        ("https://a.example/x.rst", "text/x-rst", "rst"),
        ("https://a.example/archive.tar.gz?x=y.z", "application/x", "gz"),
        ("https://a.example/x.much-too-long", "application/json", "json"),
        ("https://a.example/x", "", "html"),
    ],
)
def test_the_kind_of_a_page_is_its_media_type_or_the_end_of_its_url(url, media_type, kind):
    assert type_of(url, media_type) == kind


@pytest.mark.parametrize(
    ("url", "levels"),
    [("https://a.example/", 0), ("https://a.example/x", 1), ("https://a.example/x/y/", 2),
     ("https://a.example/?q=1", 1), ("https://a.example", 0), ("https://a.example/x//y?z", 3)],
)  # fmt: skip
def test_depth_counts_folders_and_a_query(url, levels):
    assert depth(url) == levels


# -- documents ------------------------------------------------------------------------------------------


@pytest.fixture
def stored(tmp_path):
    """Index a page and read it back as a stranger would: the stored value and the searcher."""

    def store(page: IndexPage) -> tuple[schema.StoredDocument, tantivy.Index, tantivy.DocAddress]:
        folder = new_index(tmp_path)
        writer = open_writer(folder)
        writer.apply({page.key: build(page)}, (), 1, 1.0)
        writer.close()
        index = schema.prepare(tantivy.Index.open(str(folder)))
        searcher = index.searcher()
        found = searcher.search(tantivy.Query.term_query(index.schema, schema.KEY, key64(page.url)), 5).hits
        assert len(found) == 1, "a page is found by its key"
        return schema.decode(searcher.doc(found[0][1])), index, found[0][1]

    return store


def test_everything_a_result_shows_is_stored(stored):
    page = IndexPage(
        url="https://www.a.example:8080/x.pdf", title="A title", text="Some text.", lang="en", date="2024-03-05",
        fetched_at=1_700_000_000.5, media_type="application/pdf",
    )  # fmt: skip
    found, _, _ = stored(page)
    assert found == schema.StoredDocument(
        page.url, "A title", "Some text.", "www.a.example:8080", "en", "2024-03-05", 1_700_000_000.5, "pdf"
    )


def test_a_page_that_was_compared_has_the_number_of_its_cluster(stored):
    _, index, address = stored(IndexPage(url="https://a.example/", text="x", cluster=7, joined=True))
    assert index.searcher().fast_field_values(schema.CLUSTER, [address]) == [7]
    assert index.searcher().fast_field_values(schema.JOINED, [address]) == [1]


def test_a_page_that_was_not_compared_is_a_cluster_of_its_own(stored):
    _, index, address = stored(IndexPage(url="https://b.example/", text="x"))
    assert index.searcher().fast_field_values(schema.CLUSTER, [address]) == [key64("https://b.example/")]
    assert index.searcher().fast_field_values(schema.JOINED, [address]) == [0]


def test_an_empty_page_is_a_document(stored):
    found, _, _ = stored(IndexPage(url="https://a.example/"))
    assert (found.title, found.text, found.lang, found.date) == ("", "", None, None)


@pytest.mark.parametrize("field", ["title", "text", "lang", "date", "author", "category", "page_type", "media_type"])
def test_a_lone_surrogate_costs_a_character_and_not_the_page(stored, field):
    page = IndexPage(url="https://a.example/", headings=["h\ud800"], anchors=["\udfff"], **{field: "left\ud800right"})
    found, _, _ = stored(page)
    if field in ("title", "text", "lang", "date"):
        assert getattr(found, field) == "left\ufffdright"


def test_a_page_whose_url_cannot_be_written_is_still_found_and_removed_by_its_key(tmp_path):
    page = IndexPage(url="https://a.example/\ud800", text="words")
    folder = new_index(tmp_path)
    writer = open_writer(folder)
    writer.apply({page.key: build(page)}, (), 1, 1.0)
    assert [found.text for found in writer.find([page.key])] == ["words"]
    writer.apply({}, {page.key}, 2, 1.0)
    assert writer.searcher().num_docs == 0
    writer.close()


def test_control_characters_cut_words_and_are_kept_as_they_are(stored):
    text = "".join(map(chr, range(32))) + "alpha\0beta\x07gamma\x7f\x85\u2028delta"
    found, index, _ = stored(IndexPage(url="https://a.example/", title="\0\0", text=text))
    assert found.text == text
    searcher = index.searcher()
    for word in ("alpha", "beta", "gamma", "delta"):
        assert searcher.doc_freq(schema.BODY, word) == searcher.doc_freq(schema.BODY_STEMS, word) == 1, word


def test_five_megabytes_of_text_are_indexed_to_the_last_word(stored):
    text = "word слово 汉字 " * 400_000 + "zyzzyva"
    assert len(text.encode()) > 5_000_000
    found, index, _ = stored(IndexPage(url="https://a.example/", text=text))
    assert found.text == text[:MAX_STORED] + "…"
    assert index.searcher().doc_freq(schema.BODY, "zyzzyva") == 1


def test_a_word_of_a_megabyte_does_no_harm(stored):
    found, index, _ = stored(IndexPage(url="https://a.example/" + "z" * 2000, title="x" * 1_000_000, text="short"))
    assert len(found.title) == 1_000_000
    assert index.searcher().doc_freq(schema.BODY, "short") == 1


@settings(max_examples=300)
@given(ANY_TEXT, ANY_TEXT, st.lists(ANY_TEXT, max_size=3), st.none() | ANY_TEXT, st.none() | ANY_TEXT, ANY_TEXT)
def test_no_page_is_an_error(title, text, texts, lang, date, media_type):
    build(
        IndexPage(
            url="https://a.example/x", title=title, text=text, headings=texts, anchors=texts, lang=lang, date=date,
            media_type=media_type, author=title, category=title, page_type=title,
        )
    )  # fmt: skip


def test_a_stored_page_is_packed_and_what_is_damaged_is_an_error() -> None:
    page = schema.StoredDocument("http://site.test/", "Title", "the spider lets the thread drift " * 50, "site.test")
    packed = schema.encode(page)
    assert len(packed) < 200

    def decoded(data: bytes) -> schema.StoredDocument:
        document = tantivy.Document()
        document.add_bytes(schema.PAGE, data)
        return schema.decode(document)

    assert decoded(packed) == page
    for damaged in (packed[:-3], b"no frame", b"", zstandard.compress(b"\xc1"), zstandard.compress(b" " * 17_000_000)):
        with pytest.raises(ValueError):
            decoded(damaged)
