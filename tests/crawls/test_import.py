"""`gossamer import`: pages of archives that other programs wrote are read, judged and found like crawled ones."""

from __future__ import annotations

import functools
import gzip
import http.server
import io
import json
import random
import shutil
import subprocess
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from crawl_kit import crawl, exported, kill, run, settings_of, start, write_settings
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from gossamer.testing import FakeWeb
from gossamer.testing.web import wrap

pytestmark = pytest.mark.long

DAY = "2024-03-01T12:00:00Z"


class Archive:
    """An archive by warcio."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("wb")
        self._writer = WARCWriter(self._file, gzip=path.suffix == ".gz")

    def add(
        self, url: str, body: str | bytes, status: str = "200 OK", date: str = DAY,
        headers: Mapping[str, str] | None = None, **fields: str,
    ) -> None:  # fmt: skip
        data = body.encode() if isinstance(body, str) else body
        told = {"Content-Type": "text/html; charset=utf-8", **(headers or {})}
        record = self._writer.create_warc_record(
            url, "response", io.BytesIO(data),
            http_headers=StatusAndHeaders(status, list(told.items()), protocol="HTTP/1.1"),
            warc_headers_dict={"WARC-Date": date, **fields},
        )  # fmt: skip
        self._writer.write_record(record)

    def close(self) -> Path:
        self._file.close()
        return self.path


def story(name: str, links: tuple[str, ...] = ()) -> str:
    """A page of a few hundred words that no other name has."""
    chance = random.Random(name)
    words = [f"{chance.choice('bdfgklmnprst')}{chance.choice('aeiou')}{chance.choice('bdfgklmnprst')}a{number % 7}"
             for number in range(150)]  # fmt: skip
    return wrap(f"The story of {name}", f"{name} {' '.join(words)}.", links)


def imported(data: Path, *paths: Path, code: int = 0) -> dict[str, Any]:
    done = run("import", *map(str, paths), "--json", data=data)
    assert done.returncode == code, done.stderr
    return dict(json.loads(done.stdout)["imported"])


def found(data: Path, query: str) -> list[str]:
    done = run("search", query, "--json", data=data)
    return [hit["url"] for hit in json.loads(done.stdout)["hits"]]


def table(data: Path) -> dict[str, tuple[Any, ...]]:
    """What is known of each URL, but for when it was found."""
    return {
        row["url"]: tuple(row[name] for name in ("state", "outcome", "status", "fetched_at", "target", "depth", "via"))
        for row in exported("urls", data)
    }


def pages(data: Path) -> dict[str, tuple[Any, ...]]:
    return {row["url"]: (row["title"], row["text"], row["fetched_at"], row["lang"]) for row in exported("pages", data)}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path / "a.warc.gz")


def test_pages_are_read_and_found_with_their_time(data: Path, archive: Archive) -> None:
    archive.add("http://a.example/whale", story("whale"))
    archive.add("http://B.example:80/ant#top", story("ant"), date="2023-01-01T00:00:00Z")
    done = imported(data, archive.close())
    assert (done["pages"], done["outcomes"]) == (2, {"document": 2})
    assert found(data, "whale") == ["http://a.example/whale"]
    assert found(data, "ant") == ["http://b.example/ant"]
    times = {row["url"]: row["fetched_at"] for row in exported("pages", data)}
    assert times == {"http://a.example/whale": "2024-03-01T12:00:00Z", "http://b.example/ant": "2023-01-01T00:00:00Z"}


def test_what_is_no_page_is_judged_as_in_a_crawl(data: Path, archive: Archive) -> None:
    archive.add("http://a.example/a", story("a"))
    archive.add("http://a.example/copy", story("a"))
    archive.add("http://a.example/gone", "no", "404 Not Found")
    archive.add("http://a.example/moved", "", "301 Moved", headers={"Location": "/a"})
    archive.add(
        "http://a.example/hidden", story("b").replace("<title>", '<meta name="robots" content="noindex"><title>')
    )
    archive.add("http://a.example/header", story("c"), headers={"X-Robots-Tag": "noindex"})
    archive.add("http://a.example/picture", b"\x89PNG\r\n", headers={"Content-Type": "image/png"})
    archive.add("http://a.example/robots.txt", "User-agent: *\nDisallow: /", headers={"Content-Type": "text/plain"})
    archive.add("http://a.example/cyrillic", "<title>Кит</title><p>" + "синий кит плывет " * 40, headers={})
    cp1251 = "<html><head><meta charset=windows-1251><title>Слон</title></head><body><p>" + "серый слон идет " * 40
    archive.add("http://a.example/old", cp1251.encode("cp1251"), headers={"Content-Type": "text/html"})
    archive.add("ftp://a.example/file", "x")
    archive.add("http://a.example/later", story("z"), date="2999-01-01T00:00:00Z")
    done = imported(data, archive.close(), code=1)
    outcomes = {url: (row[1], row[4]) for url, row in table(data).items()}
    assert outcomes["http://a.example/a"] == ("document", None)
    assert outcomes["http://a.example/copy"] == ("duplicate", "http://a.example/a")
    assert outcomes["http://a.example/gone"][0] == "gone"
    assert outcomes["http://a.example/moved"] == ("redirect", "http://a.example/a")
    assert outcomes["http://a.example/hidden"][0] == outcomes["http://a.example/header"][0] == "noindex"
    assert outcomes["http://a.example/picture"][0] == "unsupported_type"
    assert "http://a.example/robots.txt" not in outcomes
    assert sorted(pages(data)) == [f"http://a.example/{name}" for name in ("a", "cyrillic", "old")]
    assert found(data, "слон") == ["http://a.example/old"]
    assert done["others"] == 2
    assert done["damages"] == [
        f"{archive.path}: the record at byte {_last(archive.path)}: its WARC-Date is in the future"
    ]


def _last(path: Path) -> int:
    with path.open("rb") as file:
        iterator = ArchiveIterator(file)
        return [iterator.get_record_offset() for _ in iterator][-1]


def test_encoded_cut_and_chunked_bodies_are_read(data: Path, archive: Archive) -> None:
    packed = gzip.compress(story("packed").encode())
    archive.add("http://a.example/packed", packed, headers={"Content-Encoding": "gzip"})
    archive.add("http://a.example/claims", story("claims"), headers={"Content-Encoding": "gzip"})
    text = story("chunked").encode()
    framed = b"".join(b"%x\r\n%b\r\n" % (len(text[at : at + 99]), text[at : at + 99]) for at in range(0, len(text), 99))
    archive.add("http://a.example/chunked", framed + b"0\r\n\r\n", headers={"Transfer-Encoding": "chunked"})
    archive.add("http://a.example/cut", story("beginning")[:900], **{"WARC-Truncated": "length"})
    bomb = gzip.compress(b"\0" * 50_000_000)
    archive.add("http://a.example/bomb", bomb, headers={"Content-Encoding": "gzip"})
    done = imported(data, archive.close())
    assert done["outcomes"] == {"document": 4, "bomb": 1}
    for name in ("packed", "claims", "chunked", "beginning"):
        assert len(found(data, name)) == 1
    rows = {row["url"]: row for row in exported("urls", data)}
    assert "only the beginning" in rows["http://a.example/cut"]["reason"]


def test_the_newest_capture_counts_whatever_its_place(data: Path, archive: Archive, tmp_path: Path) -> None:
    archive.add("http://a.example/", story("middle"), date="2022-01-01T00:00:00Z")
    archive.add("http://a.example/", story("newest"), date="2024-01-01T00:00:00Z")
    archive.add("http://a.example/", story("oldest"), date="2020-01-01T00:00:00Z")
    done = imported(data, archive.close())
    assert (done["pages"], done["known"]) == (2, 1)
    assert [row[0] for row in pages(data).values()] == ["The story of newest"]
    again = imported(data, archive.path)
    assert (again["pages"], again["known"]) == (0, 3)
    later = Archive(tmp_path / "later.warc")
    later.add("http://a.example/", "gone", "410 Gone", date="2025-01-01T00:00:00Z")
    assert imported(data, later.close())["outcomes"] == {"gone": 1}
    assert pages(data) == {}
    assert found(data, "newest") == []


def test_bad_records_are_named_and_nothing_else_is_lost(data: Path, archive: Archive) -> None:
    for number in range(40):
        archive.add(f"http://a.example/{number}", story(f"number{number}"))
    raw = bytearray(archive.close().read_bytes())
    with archive.path.open("rb") as file:
        iterator = ArchiveIterator(file)
        places = [iterator.get_record_offset() for _ in iterator]
    for place in (places[7], places[20]):
        raw[place + 150] ^= 0xFF
    archive.path.write_bytes(bytes(raw))
    done = run("import", str(archive.path), data=data)
    assert done.returncode == 1
    assert f"cannot read 2 records; everything else was imported: {archive.path}: the record at byte {places[7]}" in (
        " ".join(done.stderr.split())
    )
    assert len(pages(data)) == 38


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("missing.warc", None, "is not there"),
        ("a.txt", b"hello", "neither WARC"),
        ("a.arc", b"filedesc://a.arc 0.0.0.0 2000 text/plain 76\n", "ARC file"),
        ("a.wacz", b"PK\x05\x06" + b"\0" * 18, "holds no WARC files"),
        ("b.wacz", b"PK\x03\x04broken", "not a whole ZIP file"),
    ],
)
def test_a_file_that_is_no_archive_is_an_error_before_anything_is_done(
    data: Path, tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    good = Archive(tmp_path / "good.warc.gz")
    good.add("http://a.example/", story("good"))
    done = run("import", str(good.close()), str(path), data=data)
    assert done.returncode in (1, 2)
    assert words in " ".join(done.stderr.split())
    assert not (data / "frontier.db").exists()


def test_an_import_that_is_killed_anywhere_ends_like_one_that_is_not(tmp_path: Path) -> None:
    archive = Archive(tmp_path / "a.warc.gz")
    for number in range(1_500):
        site = f"http://s{number % 7}.example"
        body = story(f"page{number // 3 if number % 5 == 0 else number}", (f"{site}/next{number}",))
        date = f"2024-03-01T{number // 60 % 24:02}:{number % 60:02}:00Z"
        if number % 9 == 0:
            archive.add(f"{site}/{number}", "", "302 Found", date, {"Location": f"/{number + 7}"})
        else:
            archive.add(f"{site}/{number - 7 if number % 11 == 0 else number}", body, date=date)
    path, whole, killed = archive.close(), tmp_path / "whole", tmp_path / "killed"
    assert imported(whole, path)["pages"] > 1_000
    chance, kills = random.Random(7), 0
    while True:
        process = start("import", str(path), "--json", data=killed)
        try:
            process.communicate(timeout=chance.uniform(1.0, 6.0) if kills < 12 else None)
        except subprocess.TimeoutExpired:
            kill(process.pid)
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0
        break
    assert kills
    assert table(killed) == table(whole)
    assert pages(killed) == pages(whole)
    for number in (1, 500, 1_201):
        assert found(killed, f"page{number}") == found(whole, f"page{number}")
    checked = run("doctor", "--json", data=killed)
    assert "orphan" not in checked.stdout


def test_a_later_crawl_goes_on_from_there(data: Path, tmp_path: Path) -> None:
    web = FakeWeb()
    site = web.site("a.test", pages=30)
    with web:
        urls = site.generated
        archive = Archive(tmp_path / "part.warc.gz")
        for url in urls[:20]:
            archive.add(url, site.content.graph.html(urls.index(url)), date="2026-01-01T00:00:00Z")
        write_settings(data, settings_of(web, revisit={"policy": "none"}))
        assert run("inject", web.url("a.test"), data=data).returncode == 0
        assert imported(data, archive.close())["outcomes"] == {"document": 20}
        crawl(web, data, [], revisit={"policy": "none"})
        asked = [request.path for request in web.log()]
    assert len(pages(data)) == 30
    known = {url.partition(".test")[2].partition("/")[2] for url in urls[1:20]}  # the start page is polled
    assert not {f"/{path}" for path in known} & set(asked)


def test_filters_and_removals_hold_for_archives(data: Path, archive: Archive) -> None:
    write_settings(data, {"scope": {"filters": [{"kind": "prefix", "action": "deny", "pattern": "/private/"}]}})
    archive.add("http://a.example/public", story("public"))
    archive.add("http://a.example/private/x", story("private"))
    archive.add("http://a.example/taken", story("taken"))
    path = archive.close()
    first = Archive(path.with_name("first.warc"))
    first.add("http://a.example/public", story("public"), date="2020-01-01T00:00:00Z")
    imported(data, first.close())
    assert run("remove", "http://a.example/taken", "--reason", "asked", data=data).returncode == 0
    done = imported(data, path)
    assert done["refused"] == 2
    assert sorted(pages(data)) == ["http://a.example/public"]


# -- archives of other programs ---------------------------------------------------------------------


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    """A small site of files on a server of Python's library."""
    root = tmp_path / "site"
    root.mkdir()
    links = "".join(f'<a href="page{number}.html">{number}</a>' for number in range(12))
    (root / "index.html").write_text(
        wrap("Start", "The start of the old archive. " * 30).replace("</main>", links + "</main>")
    )
    for number in range(12):
        (root / f"page{number}.html").write_text(story(f"wgetpage{number}"))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(root))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(not shutil.which("wget"), reason="wget is not installed")
@pytest.mark.parametrize("packed", [True, False])
def test_an_archive_by_wget_is_imported(data: Path, tmp_path: Path, served: str, packed: bool) -> None:
    options = [] if packed else ["--no-warc-compression"]
    command = ["wget", "-q", "-r", "-l", "2", "--warc-file=site", *options, "-P", "out", served]
    subprocess.run(command, cwd=tmp_path, check=False, timeout=120)
    [path] = tmp_path.glob("site.warc*")
    done = imported(data, path)
    assert done["outcomes"]["document"] == 13
    assert found(data, "wgetpage7") == [f"{served}page7.html"]


def test_our_own_export_comes_back(data: Path, tmp_path: Path) -> None:
    web = FakeWeb()
    site = web.site("a.test", pages=25)
    with web:
        site.redirect("/old", site.generated[3])
        crawl(web, data, [web.url("a.test"), site.url("/old")])
    file, other = tmp_path / "all.warc.gz", tmp_path / "other"
    assert run("export", "warc", "-o", str(file), data=data).returncode == 0
    imported(other, file)
    before, after = pages(data), pages(other)
    assert {url: row[:2] for url, row in before.items()} == {url: row[:2] for url, row in after.items()}


def test_a_wacz_is_imported(data: Path, tmp_path: Path) -> None:
    archive = Archive(tmp_path / "data.warc.gz")
    archive.add("http://a.example/1", story("zipped"))
    other = Archive(tmp_path / "more.warc")
    other.add("http://a.example/2", story("deflated"))
    path = tmp_path / "a.wacz"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.write(archive.close(), "archive/data.warc.gz")
        bundle.write(other.close(), "archive/more.warc", zipfile.ZIP_DEFLATED)
        bundle.writestr("datapackage.json", "{}")
    assert imported(data, path)["outcomes"] == {"document": 2}
    assert found(data, "zipped") == ["http://a.example/1"]
    assert found(data, "deflated") == ["http://a.example/2"]


def test_an_import_stops_in_good_order_and_refuses_company(data: Path, archive: Archive) -> None:
    for number in range(3_000):
        archive.add(f"http://a.example/{number}", story(f"number{number}"))
    path = archive.close()
    process = start("import", str(path), "--json", data=data)
    until = time.time() + 60
    while time.time() < until and not list((data / "segments").glob("*/pages.parquet")):
        time.sleep(0.05)
    beside = run("import", str(path), data=data)
    assert beside.returncode == 1
    assert "another `gossamer" in beside.stderr
    process.terminate()
    told, _ = process.communicate(timeout=120)
    report = json.loads(told)
    assert process.returncode == 0
    assert report["complete"] is False
    assert 0 < report["imported"]["pages"] < 3_000
    assert len(pages(data)) == report["imported"]["outcomes"]["document"]
