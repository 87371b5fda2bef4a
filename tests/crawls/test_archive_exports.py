"""`gossamer export warc` and `cdxj`: other programs read them, and find each response in them."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from crawl_kit import crawl, run
from warcio.archiveiterator import ArchiveIterator

from gossamer.testing import FakeWeb, Reply, Site
from gossamer.testing.web import wrap

pytestmark = pytest.mark.long


def plain(site: Site, path: str, body: str) -> None:
    """A page whose server does not say whether it has changed."""
    reply = Reply(body)
    reply.etag = ""
    site.reply(path, reply)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that fetched all pages twice; one of them had changed."""
    folder = tmp_path_factory.mktemp("archives") / "data"
    web = FakeWeb()
    site = web.site("a.test", pages=12)
    for number in range(5):
        plain(site, f"/{number}", wrap(f"Page {number}", f"The story of the number {number} is a long one. " * 20))
    plain(site, "/news", wrap("News", "The first words of the day. " * 20))
    site.redirect("/old", site.url("/news"))
    with web:
        crawl(web, folder, [web.url("a.test"), *map(site.url, ["/0", "/1", "/2", "/3", "/4", "/news", "/old"])])
        plain(site, "/news", wrap("News", "Quite other words in the evening. " * 20))
        assert run("recrawl", web.url("a.test"), data=folder).returncode == 0
        crawl(web, folder, [])
    return folder


def test_an_exported_warc_holds_each_body_once_and_all_visits(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.warc.gz"
    assert run("export", "warc", "-o", str(file), data=data).returncode == 0
    bodies: dict[tuple[str, str], bytes] = {}
    told: list[str] = []
    with file.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            told.append(record.rec_type)
            headers = record.rec_headers
            place = headers.get_header("WARC-Target-URI"), headers.get_header("WARC-Date")
            if record.rec_type == "response":
                bodies[place] = record.content_stream().read()
            elif record.rec_type == "revisit":
                original = (
                    headers.get_header("WARC-Refers-To-Target-URI"), headers.get_header("WARC-Refers-To-Date")
                )  # fmt: skip
                assert original in bodies
                assert original[0] == place[0]
                assert record.http_headers.get_statuscode() == "200"
    assert told[0] == "warcinfo"
    assert told.count("revisit") >= 5
    news = [body for (url, _), body in bodies.items() if url.endswith("/news")]
    assert len(news) == 2
    assert b"first words" in news[0]
    assert b"other words" in news[1]


def test_each_line_of_the_index_leads_to_its_response(data: Path) -> None:
    done = run("export", "cdxj", data=data)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines == sorted(lines)
    assert len(lines) >= 24
    for line in lines:
        _, time, entry = line.split(" ", 2)
        found = json.loads(entry)
        with (data / "segments" / found["filename"]).open("rb") as file:
            file.seek(int(found["offset"]))
            raw = file.read(int(found["length"]))
        [record] = ArchiveIterator(io.BytesIO(raw))
        assert record.rec_headers.get_header("WARC-Target-URI") == found["url"]
        assert "".join(filter(str.isdigit, record.rec_headers.get_header("WARC-Date")))[:14] == time
        assert record.rec_headers.get_header("WARC-Payload-Digest") == found["digest"]
        assert record.http_headers.get_statuscode() == found["status"]


def entries(lines: list[str]) -> list[tuple[str, ...]]:
    """What an index says, sorted; without 304s, which others list, and lengths, which differ by a byte now and then."""
    found = [(line.split(" ", 2)[:2], json.loads(line.split(" ", 2)[2])) for line in lines]
    return sorted(
        (*key, one["url"], one["status"], one.get("mime", ""), one["digest"].removeprefix("sha1:"), one["offset"],
         one["filename"])
        for key, one in found if one.get("status", "304") != "304"
    )  # fmt: skip


def test_the_index_is_the_one_that_cdxj_indexer_writes(data: Path) -> None:
    indexer = pytest.importorskip("cdxj_indexer.main", reason="cdxj-indexer is not installed")
    theirs = io.StringIO()
    files = sorted(map(str, (data / "segments").glob("*/responses.warc.gz")))
    indexer.CDXJIndexer(output=theirs, inputs=files, sort=True, dir_root=str(data / "segments")).process_all()
    ours = run("export", "cdxj", data=data).stdout.splitlines()
    assert entries(ours) == entries(theirs.getvalue().splitlines())


def test_the_index_is_the_one_that_pywb_writes(data: Path, tmp_path: Path) -> None:
    """It gives redirects without a type the type `-` or `unk`."""
    indexer = pytest.importorskip("pywb.indexer.cdxindexer", reason="pywb is not installed")
    indexer.main(["-j", "-s", "-r", "-o", str(tmp_path / "theirs.cdxj"), str(data / "segments")])
    ours = entries(run("export", "cdxj", data=data).stdout.splitlines())
    theirs = entries((tmp_path / "theirs.cdxj").read_text().splitlines())
    assert [(*one[:4], *one[5:]) for one in ours] == [(*one[:4], *one[5:]) for one in theirs]


def test_an_archive_has_one_format(data: Path) -> None:
    done = run("export", "warc", "--format", "csv", data=data)
    assert done.returncode == 2
    assert "warc is a format" in done.stderr
