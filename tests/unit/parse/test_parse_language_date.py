"""Language and date: an answer only where there is reason for one."""

from datetime import date

import pytest
from parse_kit import parse

from gossamer.parse.date import read_date
from gossamer.parse.language import detect_language

TEXTS = {
    "en": "The crawler keeps a clock for each site and never asks more often than the site can bear. ",
    "ru": "Робот хранит часы для каждого сайта и никогда не спрашивает чаще, чем сайт может вынести. ",
    "zh": "爬虫为每个网站保留一个时钟，从不以网站无法承受的频率发出请求，并且保存所有下载的页面。",
    "de": "Der Crawler führt für jede Website eine Uhr und fragt niemals öfter, als die Website verträgt. ",
    "ja": "クローラーはサイトごとに時計を持ち、サイトが耐えられる以上の頻度で要求することはありません。",
}


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_the_language_of_a_paragraph(code, text):
    assert detect_language(text * 3) == code


def test_traditional_chinese_is_chinese():
    assert detect_language("網路爬蟲為每個網站保留一個時鐘，從不以網站無法承受的頻率發出請求。" * 3) == "zh"


def test_chinese_among_commands_and_product_names_is_chinese():
    text = (
        "我们将在 CentOS 服务器上安装 Apache Hadoop 软件库，"
        "然后用 systemctl 启动 nginx 服务，并检查它的运行状态和日志。"
    )
    assert detect_language(text * 3) == "zh"


@pytest.mark.parametrize("text", ["", "ok", "123 456 789 " * 30, "\U0010ffff" * 100, "x\ufffd" * 50])
def test_short_or_doubtful_texts_have_no_language(text):
    assert detect_language(text) == ""


def test_half_and_half_has_no_language():
    assert detect_language((TEXTS["en"] + TEXTS["de"]) * 5) == ""


LATEST = date(2025, 6, 16)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-05-03", "2024-05-03"),
        ("2024-05-03T10:20:30Z", "2024-05-03T10:20:30+00:00"),
        ("2024-05-03T10:20:30+0300", "2024-05-03T10:20:30+03:00"),
        ("2024-05-03 10:20:30", "2024-05-03T10:20:30"),
        ("2024/5/3", "2024-05-03"),
        ("Fri, 03 May 2024 10:20:30 GMT", "2024-05-03T10:20:30"),
        ("20240503", "2024-05-03"),
        ("03.05.2024", ""),
        ("2024-13-01", ""),
        ("1989-12-31", ""),
        ("2025-06-17", ""),
        ("yesterday", ""),
        ("٢٠٢٤-٠٥-٠٣", ""),
        ("", ""),
    ],
)
def test_dates_are_read_strictly_and_only_where_plausible(text, expected):
    assert read_date(text, LATEST) == expected


@pytest.mark.parametrize(
    ("html", "source"),
    [
        (
            '<script type="application/ld+json">{"@type":"Article","datePublished" : "2024-05-03"}</script>',
            "json-ld",
        ),
        ('<time itemprop="datePublished" datetime="2024-05-03">May</time>', "microdata"),
        ('<meta property="article:published_time" content="2024-05-03">', "meta article:published_time"),
        ('<meta name="DC.date.issued" content="2024-05-03">', "meta dc.date.issued"),
        ('<time pubdate datetime="2024-05-03">May</time>', "time"),
    ],
)
def test_each_structured_source_is_found(html, source):
    page = parse(f"<p>Text</p>{html}")
    assert (page.date, page.date_source) == ("2024-05-03", source)


def test_an_implausible_source_gives_way_to_the_next():
    page = parse('<script>{"datePublished":"2099-01-01"}</script><meta name=date content="2024-05-03">')
    assert (page.date, page.date_source) == ("2024-05-03", "meta date")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("2024/05/03/story", "2024-05-03"),
        ("news/2024-5-3-story", "2024-05-03"),
        ("2024/05/", ""),
        ("2024/13/03/", ""),
        ("x12024/05/03/", ""),
        ("?d=/2024/05/03/", ""),
    ],
)
def test_a_date_in_the_path_is_the_last_resort(path, expected):
    page = parse("<p>x", url=f"https://site.example/{path}")
    assert (page.date, page.date_source) == (expected, "url" if expected else "")


def test_a_plain_time_element_is_not_a_publication_date():
    assert parse('<time datetime="2024-05-03">event</time>').date == ""
