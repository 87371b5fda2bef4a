"""PDF documents on a crawl: kept, searched through for links, and obedient to the headers they came with."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawl_kit import crawl, exported

from gossamer.testing import FakeWeb
from gossamer.testing.web import Reply

pytest.importorskip("pypdfium2", reason="needs gossamer[pdf]")

HOST = "papers.test"


def document(words: str, link: str = "") -> bytes:
    drawn = b"BT /F 9 Tf 9 50 Td (%s) Tj ET" % words.encode()
    note = b"<</Type/Annot/Subtype/Link/Rect[0 40 90 60]/A<</S/URI/URI(%s)>>>>" % link.encode() if link else b""
    return (
        b"%%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 900 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>"
        b"/Annots[%s]>>endobj 4 0 obj<</Length %d>>stream\n%s\nendstream endobj "
        b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj "
        b"6 0 obj<</Title(About %s)/Author(A. Weaver)>>endobj trailer<</Root 1 0 R/Info 6 0 R>>"
        % (note, len(drawn), drawn, words.split()[0].encode())
    )


def test_pdf_documents_are_kept_like_pages(tmp_path: Path) -> None:
    web = FakeWeb("127.0.58")
    site = web.site(HOST)
    names = ["/paper.pdf", "/odd", "/scan.pdf", "/secret.pdf", "/broken.pdf"]
    site.page("/", "A list of papers about webs.", title="Papers", links=names)
    site.page("/only-there", "Found on a sheet of paper, by a link that no page has.", title="Hidden")
    pdf = "application/pdf"
    paper = document("Orbs of the garden spider, where they hang, and how they are spun at night", "/only-there")
    site.reply("/paper.pdf", Reply(paper, content_type=pdf))
    site.reply("/odd", Reply(document("Cellar spiders hang upside down in corners all day"), content_type="text/html"))
    site.reply("/scan.pdf", Reply(document("- -"), content_type=pdf))
    site.reply("/broken.pdf", Reply(b"%PDF-1.4 torn", content_type=pdf))
    hidden = document("Traps that nobody shall find in an index of pages")
    site.reply("/secret.pdf", Reply(hidden, headers=[("X-Robots-Tag", "noindex")], content_type=pdf))
    data = tmp_path / "data"
    with web:
        crawl(web, data, [web.url(HOST)])
        pages = {row["url"]: row for row in exported("pages", data)}
        urls = {row["url"]: row for row in exported("urls", data)}
        kept = pages[web.url(HOST, "/paper.pdf")]
        assert (kept["title"], kept["author"], kept["media_type"]) == ("About Orbs", "A. Weaver", pdf)
        assert "spun at night" in kept["text"] and kept["lang"] == "en" and kept["content_hash"]
        assert pages[web.url(HOST, "/odd")]["media_type"] == pdf
        assert web.url(HOST, "/only-there") in pages
        assert urls[web.url(HOST, "/secret.pdf")]["outcome"] == "noindex"
        assert urls[web.url(HOST, "/scan.pdf")]["outcome"] == "unsupported_type"
        assert "without a text layer" in urls[web.url(HOST, "/scan.pdf")]["reason"]
        assert urls[web.url(HOST, "/broken.pdf")]["outcome"] == "unsupported_type"
