"""One page is read without any crawl."""

from __future__ import annotations

import pytest

import gossamer
from gossamer.errors import UsageError

URL = "https://www.example.org/news/rockets.html"
PROSE = "".join(
    f"<p>Sentence {n} tells at some length what the rocket of the town did, and why nobody saw it.</p>"
    for n in range(9)
)
HTML = f"""<!DOCTYPE html><html lang="en"><head><title>Rockets over the town - Example News</title>
<meta property="article:published_time" content="2026-03-04T05:06:07+00:00"><meta name="author" content="Ann Lee">
</head><body><nav><a href="/">Home</a></nav><article><h1>Rockets over the town</h1>{PROSE}
<h2>What comes next</h2><ul><li>A second rocket, larger than the first, is being built.</li></ul>
<p>Read <a href="second.html" rel="nofollow">the second part</a>.</p></article></body></html>"""


def test_a_page_is_read_with_all_that_is_in_it() -> None:
    page = gossamer.read_page(HTML, URL)
    assert page.url == URL
    assert page.title.startswith("Rockets over the town")
    assert "Sentence 3 tells" in page.text and "Home" not in page.text
    assert "## What comes next" in page.markdown and "- A second rocket" in page.markdown
    assert (page.language, page.date[:10], page.author, page.site) == ("en", "2026-03-04", "Ann Lee", "www.example.org")
    second = next(link for link in page.links if link.target.endswith("second.html"))
    assert second == gossamer.Link(URL, "https://www.example.org/news/second.html", "the second part", "nofollow", "a")
    assert page.html == HTML


def test_bytes_are_decoded_as_the_page_or_its_header_says() -> None:
    text = f"<title>Ракета</title><meta charset=windows-1251><article><p>{'Ракета летит над городом. ' * 20}</article>"
    assert gossamer.read_page(text.encode("cp1251"), URL).title == "Ракета"
    assert gossamer.read_page(text.encode("koi8-r"), URL, content_type="text/html; charset=koi8-r").language == "ru"
    assert gossamer.read_page(text, URL).title == "Ракета"  # text is text, whatever it says of itself


def test_plain_text_and_addresses_as_people_type_them() -> None:
    page = gossamer.read_page("Notes\n\nA line of plain text.", "example.org/notes.txt", content_type="text/plain")
    assert (page.url, page.media_type, page.html) == ("https://example.org/notes.txt", "text/plain", None)
    assert "A line of plain text." in page.text and "A line of plain text." in page.markdown


def test_what_cannot_be_read_is_an_error_that_says_why() -> None:
    with pytest.raises(UsageError, match=r"cannot read https://www\.example\.org/.*image/png"):
        gossamer.read_page(b"\x89PNG\r\n\x1a\n", URL, content_type="image/png")
    with pytest.raises(gossamer.errors.UsageError, match="neither a URL"):
        gossamer.read_page("<p>text", "nonsense")


def test_a_page_becomes_a_row_of_a_table() -> None:
    row = gossamer.read_page(HTML, URL).as_dict(markdown=True)
    assert (row["url"], row["headings"][0]) == (URL, "Rockets over the town")
    assert "What comes next" in row["markdown"] and "more" not in row


def test_documents_of_other_types_are_read_as_in_a_crawl() -> None:
    body = (
        b"From: ann@example.org\r\nSubject: A rocket\r\nDate: Thu, 19 Nov 2026 08:30:00 +0000\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n\r\nThe rocket stands at the harbour, and it starts tomorrow.\r\n"
    )
    page = gossamer.read_page(body, "https://www.example.org/letter.eml", content_type="message/rfc822")
    assert (page.title, page.date[:10], page.html) == ("A rocket", "2026-11-19", None)
    assert "stands at the harbour" in page.text and "stands at the harbour" in page.markdown
