"""Dates: read in every form people write them, believed as far as they deserve."""

import json
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_kit import NOW, parse

from gossamer.model.months import _MONTHS, MONTHS
from gossamer.parse.date import CONFIDENCE, Dates, confidence_on, find_dates
from gossamer.parse.date.forms import days_in, read_date
from gossamer.parse.html import Tree
from gossamer.parse.structured import read_structured

LATEST = date(2025, 6, 16)
DAY = date(2024, 5, 3)


def _article(**fields: str) -> str:
    return f'<script type="application/ld+json">{json.dumps({"@type": "Article", **fields})}</script>'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-03", "2024-05-03"),
        ("2024-05-03T10:20:30Z", "2024-05-03T10:20:30+00:00"),
        ("2024-05-03T10:20:30.123456789Z", "2024-05-03T10:20:30+00:00"),
        ("2024-05-03T10:20:30+0300", "2024-05-03T10:20:30+03:00"),
        ("2024-05-03 10:20:30", "2024-05-03T10:20:30"),
        ("2024-05-03 10:20:30 +0300", "2024-05-03T10:20:30+03:00"),
        ("2024/5/3", "2024-05-03"),
        ("2024-5-3", "2024-05-03"),
        ("Fri, 03 May 2024 10:20:30 GMT", "2024-05-03T10:20:30+00:00"),
        ("20240503", "2024-05-03"),
        ("May 3, 2024", "2024-05-03"),
        ('"2024-05-03"', "2024-05-03"),
        ("03.05.2024", ""),
        ("2024-13-01", ""),
        ("1989-12-31", ""),
        ("2025-06-17", ""),
        ("yesterday", ""),
        ("٢٠٢٤-٠٥-٠٣", ""),
        ("", ""),
    ],
)
def test_a_date_for_machines_is_read_only_where_plausible(text, expected):
    assert read_date(text, LATEST) == expected


@pytest.mark.parametrize(
    "text",
    [
        "3 May 2024",
        "03 May, 2024",
        "May 3rd, 2024",
        "MAY 3 2024",
        "May 03,2024",
        "3rd of May, 2024",
        "03-May-2024",
        "3. Mai 2024",
        "3 mai 2024",
        "3 de mayo de 2024",
        "3 maggio 2024",
        "3 de maio de 2024",
        "3 мая 2024 г.",
        "3 травня 2024",
        "3 mei 2024",
        "3 maj 2024",
        "3 maja 2024",
        "3. května 2024",
        "3 Mayıs 2024",
        "3 Μαΐου 2024",
        "3 toukokuuta 2024",
        "3 tháng 5, 2024",
        "3 مايو 2024",
        "3 मई 2024",
        "2024年5月3日",
        "2024 年 05 月 03 日",
        "2024년 5월 3일",
        "2024-05-03 12:00",
        "2024/05/03",
        "2024.5.3",
        "Posted on May 3, 2024 by Jane",
        "Veröffentlicht am 3. Mai 2024 um 12 Uhr",
    ],
)
def test_a_day_in_prose_is_read_in_many_languages(text):
    assert [day for _, _, day in days_in(text, LATEST)] == [DAY]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("03.05.2024", "", []),
        ("03.05.2024", "en", []),
        ("03.05.2024", "de", [DAY]),
        ("03.05.2024", "ru-ru", [DAY]),
        ("3/5/2024", "en-gb", [DAY]),
        ("5/3/2024", "en-us", [DAY]),
        ("5/3/2024", "fr", [date(2024, 3, 5)]),
        ("13.05.2024", "", [date(2024, 5, 13)]),
        ("05/13/2024", "", [date(2024, 5, 13)]),
        ("05/13/2024", "de", [date(2024, 5, 13)]),
        ("05.05.2024", "", [date(2024, 5, 5)]),
        ("31/31/2024", "de", []),
    ],
)
def test_day_and_month_are_told_apart_only_where_they_can_be(text, language, expected):
    assert [day for _, _, day in days_in(text, LATEST, language)] == expected


@pytest.mark.parametrize(
    "text",
    [
        "version 1.2.3.2024",
        "call 555-05-03-2024",
        "10:30 May 2024",
        "May 2024",
        "3 apples 2024",
        "in 2024, 3 May be",
        "30 February 2024",
        "3 May 20245",
        "120240503",
        "3 May 1889",
        "3 May 2026",
    ],
)
def test_what_only_looks_like_a_day_is_none(text):
    assert list(days_in(text, LATEST)) == []


def test_no_two_languages_disagree_about_a_month():
    for line in _MONTHS.strip().split("\n"):
        months = line.split(" ")
        assert len(months) == 12
        for number, words in enumerate(months, start=1):
            assert {MONTHS[word] for word in words.split("|")} == {number}


@given(st.dates(date(1990, 1, 1), LATEST), st.sampled_from(sorted(MONTHS)))
def test_every_day_is_found_again_under_every_name_of_its_month(day, name):
    day = day.replace(month=MONTHS[name], day=min(day.day, 28))
    if day <= LATEST:
        assert [found for _, _, found in days_in(f"x {day.day} {name} {day.year} y", LATEST)] == [day]
        assert [found for _, _, found in days_in(f"x {name} {day.day}, {day.year} y", LATEST)] == [day]


@given(st.text(alphabet="0123456789-/.年月日: MayTuZ+,\n", max_size=200))
def test_any_text_is_read_without_failing_and_days_are_plausible(text):
    days = list(days_in(text, LATEST, "de"))
    assert all(date(1990, 1, 1) <= day <= LATEST and 0 <= start < stop <= len(text) for start, stop, day in days)
    found = read_date(text, LATEST)
    assert found == "" or "1990" <= found[:4] <= "2025"


@pytest.mark.parametrize(
    ("html", "source"),
    [
        (_article(datePublished="2024-05-03"), "json-ld"),
        ('<time itemprop="datePublished" datetime="2024-05-03">May</time>', "microdata"),
        ('<meta property="article:published_time" content="2024-05-03">', "meta article:published_time"),
        ('<meta name="DC.date.issued" content="2024-05-03">', "meta dc.date.issued"),
        ('<meta name="x-published-date" content="2024-05-03">', "meta x-published-date"),
        ('<time pubdate datetime="2024-05-03">May</time>', "time"),
        ("<h1>News</h1><p>By Jane Doe</p><p>May 3, 2024</p>", "text"),
        ("<p>3. Mai 2024<h1>News</h1>", "text"),
        ('<span class="post-date">May 3, 2024</span>', "text"),
    ],
)
def test_each_source_is_found(html, source):
    page = parse(f"<title>News</title><p>Text</p>{html}")
    assert (page.date, page.date_source) == ("2024-05-03", source)
    assert 0 < page.date_confidence < 1


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2024/05/03/story", "2024-05-03"),
        ("news/2024-5-3-story", "2024-05-03"),
        ("news/2024-05-03", "2024-05-03"),
        ("news/20240503/story", "2024-05-03"),
        ("2024/05/", ""),
        ("2024/13/03/", ""),
        ("x12024/05/03/", ""),
        ("item/20249903/", ""),
        ("?d=/2024/05/03/", ""),
    ],
)
def test_a_date_in_the_path_is_believed(path, expected):
    page = parse("<p>x", url=f"https://site.example/{path}")
    assert (page.date, page.date_source) == (expected, "url" if expected else "")


def test_an_implausible_source_gives_way_to_the_next():
    page = parse(f'{_article(datePublished="2099-01-01")}<meta name=date content="2024-05-03">')
    assert (page.date, page.date_source) == ("2024-05-03", "meta date")


def test_sources_that_agree_are_believed_more_and_keep_the_time_of_day():
    alone = parse('<meta name=date content="2024-05-03T10:20:30Z"><h1>News</h1>')
    agreed = parse('<meta name=date content="2024-05-03T10:20:30Z"><h1>News</h1><p>May 3, 2024')
    assert alone.date == agreed.date == "2024-05-03T10:20:30+00:00"
    assert agreed.date_confidence > alone.date_confidence


def test_an_earlier_day_that_readers_see_is_the_day_of_publication():
    page = parse('<meta name=date content="2025-01-01"><h1>News</h1><p>May 3, 2024')
    assert (page.date, page.date_source) == ("2024-05-03", "text")


def test_a_later_day_that_readers_see_is_an_update():
    page = parse('<meta name=date content="2024-05-03"><h1>News</h1><p>January 1, 2025')
    assert (page.date, page.date_source) == ("2024-05-03", "meta date")
    assert (page.updated, page.updated_source) == ("2025-01-01", "text")


@pytest.mark.parametrize(
    "label",
    ["Updated", "Last modified:", "Обновлено", "更新于", "Aktualisiert am", "Mis à jour le", "Actualizado el"],
)
def test_a_day_called_an_update_is_the_update(label):
    page = parse(f"<h1>News</h1><p>May 3, 2024</p><p>{label} 5 June 2024</p>")
    assert (page.date, page.updated, page.updated_source) == ("2024-05-03", "2024-06-05", "text")


@pytest.mark.parametrize("label", ["Last post by Jim", "Joined", "© Example", "Copyright"])
def test_a_day_of_something_else_is_passed_over(label):
    assert parse(f"<h1>News</h1><p>{label} May 2, 2023</p><p>Posted May 3, 2024").date == "2024-05-03"


def test_a_day_in_a_sentence_is_no_dateline():
    sentence = "The treaty that ended the long dispute between both cities was signed on May 3, 2024 in the old hall."
    assert parse(f"<h1>News</h1><p>{sentence}").date == ""


@pytest.mark.parametrize(
    ("html", "source"),
    [
        (_article(datePublished="2024-05-01", dateModified="2024-05-03"), "json-ld"),
        ('<meta property="article:modified_time" content="2024-05-03">', "meta article:modified_time"),
        ('<time itemprop="dateModified" datetime="2024-05-03">x</time>', "microdata"),
    ],
)
def test_the_update_has_its_own_sources(html, source):
    page = parse(f"<title>News</title>{html}")
    assert (page.updated, page.updated_source) == ("2024-05-03", source)


def test_an_update_before_the_publication_is_none():
    page = parse(_article(datePublished="2024-05-03", dateModified="2024-05-01"))
    assert (page.date, page.updated, page.updated_confidence) == ("2024-05-03", "", 0.0)


def test_the_heading_that_repeats_the_title_is_the_one():
    page = parse(
        "<title>A new bridge | Gazette</title><h1>Gazette</h1><p>May 1, 2024<p>"
        + "Other news. " * 100
        + "<h2>A new bridge</h2><p>May 3, 2024"
    )
    assert page.date == "2024-05-03"


def test_a_page_without_dates_has_none():
    page = parse("<h1>About us</h1><p>We write since 2003, in 27 countries.")
    assert (page.date, page.date_source, page.date_confidence) == ("", "", 0.0)


_PIECES = """
<h1>|</h1>|<title>News</title>|<p>|News|<time datetime='2024-05-03'>|</time>|May 3, 2024|Updated 2024-06-01
<b class=date>|<span itemprop=datePublished content=2024-05-04>|<meta name=date content=20240505>
2024-02-30|03.05.2024|2024年5月3日
""".replace("\n", "|").split("|")


@given(
    st.lists(st.sampled_from([*_PIECES, _article(datePublished="2024-05-06", dateModified="x")]), max_size=30),
    st.sampled_from(["", "de", "en-us"]),
)
def test_any_page_gives_plausible_dates_or_none(pieces, language):
    tree = Tree("".join(pieces), 10_000)
    found = find_dates(tree, {"date": "2024-05-05"}, read_structured(tree, ""), "", language, NOW, "News")
    latest = (date.fromtimestamp(NOW) + timedelta(days=1)).isoformat()
    assert "1990-01-01" <= found.published[:10] <= latest
    assert found.updated == "" or found.published[:10] <= found.updated[:10] <= latest
    assert found.published_confidence in CONFIDENCE.values()


def test_nothing_is_an_answer():
    tree = Tree("", 10)
    assert find_dates(tree, {}, read_structured(tree, ""), "", "", NOW) == Dates()


def test_a_date_on_a_page_that_surely_is_a_list_is_doubted():
    assert confidence_on("listing", 0.9, 0.98) < 0.2
    assert confidence_on("listing", 0.5, 0.98) == confidence_on("article", 0.9, 0.98) == 0.98
    assert confidence_on("product", 0.9, 0.05) == 0.05
