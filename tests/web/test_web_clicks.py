"""Clicks on results: counted only where the operator asked for it, once per reader, and without a trace of them."""

from __future__ import annotations

import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from clicks_kit import PAGE, Library
from hypothesis import given
from hypothesis import strategies as st
from web_kit import PATIENCE, MemoryService, client

from gossamer.cli.searching import serve as verb
from gossamer.compose import serve as servers
from gossamer.serving.clicks import StoredClicks
from gossamer.settings import ServeSettings, Settings
from gossamer.web.clicks import telling as handler
from gossamer.web.clicks.telling import Readers

OTHER = "https://www.example.org/rockets/fuel"
OURS = {"content-type": "text/uri-list", "sec-fetch-site": "same-origin"}
WITHOUT_FETCH_METADATA = {"content-type": "text/uri-list"}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


@pytest.fixture
def http(library: Library) -> Iterator[httpx.Client]:
    """A reader of a server that counts clicks and believes who its proxy says they are."""
    with library.serving(proxies=("127.0.0.1",)) as address, opened(address) as http:
        yield http


def opened(address: str) -> httpx.Client:
    return httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False)


def click(http: httpx.Client, url: str = PAGE, reader: str = "198.51.100.1", **headers: str) -> httpx.Response:
    sent = {**OURS, "x-forwarded-for": reader, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return http.post("/click", content=url, headers=sent)


# -- opt-in ---------------------------------------------------------------------------------------


def test_by_default_nothing_is_counted_and_nothing_asks_for_it() -> None:
    assert not ServeSettings().clicks
    with client() as http:
        assert http.get("/click").status_code == 404
        assert click(http).status_code == 405
        assert "data-clicks" not in http.get("/search?q=rocket").text


def test_links_lead_straight_to_the_pages_either_way(http: httpx.Client) -> None:
    text = http.get("/search?q=rocket").text
    assert 'data-clicks="/click"' in text
    with client() as plain:
        bare = text.replace(' data-clicks="/click"', "").replace(' ping="/click"', "")
        assert bare == plain.get("/search?q=rocket").text
    assert f'<a href="{PAGE}" rel="noopener noreferrer" ping="/click">' in text


def test_behind_a_path_the_page_names_the_path(library: Library) -> None:
    with library.serving(base_url="https://example.org/find") as address, opened(address) as http:
        assert 'data-clicks="/find/click"' in http.get("/search?q=rocket").text


@pytest.mark.parametrize("asked", [True, False])
def test_the_setting_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: bool) -> None:
    def open_service(data: Path, settings: Settings, desk: object = None) -> MemoryService:
        return MemoryService()

    wired: dict[str, object] = {}
    monkeypatch.setattr(servers, "open_service", open_service)
    monkeypatch.setattr(servers, "create_app", lambda *parts, **services: wired.update(services))
    monkeypatch.setattr(servers, "run", lambda *parts: None)
    (tmp_path / "gossamer.toml").write_text(f"[serve]\nclicks = {str(asked).lower()}\n")
    verb.command(data=tmp_path)
    assert isinstance(wired["clicks"], StoredClicks) == asked


# -- counting -------------------------------------------------------------------------------------


def test_a_click_counts_once_per_reader_and_hour(library: Library, http: httpx.Client) -> None:
    for _ in range(3):
        assert click(http).status_code == 204
    assert library.counted() == 1
    click(http, reader="198.51.100.2")
    click(http, OTHER)
    assert (library.counted(), library.counted(OTHER)) == (2, 1)
    library.clock.advance(3599)
    click(http)
    assert library.counted() == 2
    library.clock.advance(1)
    click(http)
    assert library.counted() == 3


def test_one_household_is_one_reader(library: Library, http: httpx.Client) -> None:
    for number in range(5):
        click(http, reader=f"2001:db8:1:2::{number}")
    assert library.counted() == 1


def test_clicks_bring_the_next_visit_forward(library: Library, http: httpx.Client) -> None:
    before = library.record().due_at
    for number in range(20):
        click(http, reader=f"198.51.100.{number}")
    assert library.counted() == 20
    after = library.record().due_at
    assert before is not None and after is not None and after < before


def test_what_is_not_known_is_ignored(library: Library, http: httpx.Client) -> None:
    urls = (
        "https://www.example.org/unknown", "https://nowhere.example/", "javascript:alert(1)", "", "//", "https://",
        f"{PAGE}\r\n{OTHER}", "\ufffd", "https://[::1",
    )  # fmt: skip
    assert {click(http, url).status_code for url in urls} == {204}
    assert http.post("/click", content=b"\xff\x00https://", headers=OURS).status_code == 204
    library.clicks.write()
    assert library.counted() == library.counted(OTHER) == 0


def test_what_was_counted_is_written_at_the_end(library: Library) -> None:
    with library.serving() as address, opened(address) as http:
        click(http)
        assert library.record().clicks == 0
    assert library.record().clicks == 1
    library.clicks.count(PAGE)
    assert library.counted() == 1


def test_what_was_counted_is_written_every_few_seconds(tmp_path: Path) -> None:
    library = Library(tmp_path, pause=0.05)
    with library.serving() as address, opened(address) as http:
        for url in (PAGE, OTHER):
            click(http, url)
            until = time.monotonic() + PATIENCE
            while not library.record(url).clicks and time.monotonic() < until:
                time.sleep(0.02)
            assert library.record(url).clicks == 1


def test_a_locked_database_delays_the_count_and_nothing_else(
    library: Library, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.serving.tally._WAIT", 0.05)
    other = sqlite3.connect(library.folder.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert click(http).status_code == 204
    assert library.counted() == 0
    click(http, reader="198.51.100.2")
    other.execute("ROLLBACK")
    other.close()
    assert library.counted() == 2


def test_without_a_crawl_nothing_is_made(tmp_path: Path, library: Library) -> None:
    (tmp_path / "frontier.db").unlink()
    library.clicks.count(PAGE)
    assert library.clicks.write() == 0
    assert not (tmp_path / "frontier.db").exists()


def test_the_server_remembers_a_bounded_number_of_clicks(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.serving.tally.MOST", 3)
    for url in ("https://a.test/1", "https://a.test/2", PAGE, OTHER, PAGE):
        library.clicks.count(url)
    assert (library.counted(), library.counted(OTHER)) == (2, 0)


# -- who may not ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"},
        {"sec-fetch-site": "cross-site", "origin": "http://127.0.0.1"}, {"content-type": "text/plain;charset=UTF-8"},
        {"content-type": "application/x-www-form-urlencoded"}, {"content-type": ""},
    ],
)  # fmt: skip
def test_a_foreign_page_cannot_count(library: Library, http: httpx.Client, headers: dict[str, str]) -> None:
    assert http.post("/click", content=PAGE, headers={**OURS, **headers}).status_code == 204
    assert library.counted() == 0


@pytest.mark.parametrize("origin", ["null", "", "https://evil.test", "http://127.0.0.1.evil.test", "http://localhost"])
def test_a_foreign_origin_cannot_count(library: Library, http: httpx.Client, origin: str) -> None:
    headers = {**WITHOUT_FETCH_METADATA, "origin": origin}
    assert http.post("/click", content=PAGE, headers=headers).status_code == 204
    assert http.post("/click", content=PAGE, headers=WITHOUT_FETCH_METADATA).status_code == 204
    assert library.counted() == 0


def test_our_own_origin_counts_by_whatever_name_readers_know_it(library: Library) -> None:
    with library.serving(base_url="https://search.example.org") as address, opened(address) as http:
        for url, origin in ((PAGE, address), (OTHER, "https://search.example.org")):
            http.post("/click", content=url, headers={**WITHOUT_FETCH_METADATA, "origin": origin})
    assert (library.counted(), library.counted(OTHER)) == (1, 1)


def test_a_foreign_page_that_asks_first_is_refused(http: httpx.Client) -> None:
    asking = {"origin": "https://evil.test", "access-control-request-method": "POST"}
    answer = http.options("/click", headers=asking)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("wish", ["dnt", "sec-gpc"])
def test_who_does_not_want_to_be_followed_is_not(library: Library, http: httpx.Client, wish: str) -> None:
    assert click(http, **{wish: "1"}).status_code == 204
    assert library.counted() == 0


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"])
def test_another_method_is_not_possible(library: Library, http: httpx.Client, method: str) -> None:
    answer = http.request(method, "/click", headers=OURS)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_elsewhere_nothing_is_posted_still(http: httpx.Client) -> None:
    for path in ("/", "/search?q=a", "/click/", "/clicks"):
        assert http.post(path, content=PAGE, headers=OURS).status_code == 405


def test_a_body_that_is_too_long_is_not_read(library: Library, http: httpx.Client) -> None:
    long = PAGE + " " * handler.MAX_BODY
    assert click(http, long).status_code == 204
    pieces = http.post("/click", content=iter([PAGE.encode(), b" " * handler.MAX_BODY]), headers=OURS)
    assert (pieces.status_code, pieces.headers["connection"]) == (204, "close")
    assert library.counted() == 0


def test_a_body_that_never_ends_is_given_up(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "BODY_SECONDS", 0.2)
    with socket.create_connection((http.base_url.host, http.base_url.port or 80), timeout=PATIENCE) as sock:
        sock.sendall(b"POST /click HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhttp")
        assert sock.recv(1000).startswith(b"HTTP/1.1 204")


def test_the_pace_and_the_names_of_the_server_hold(library: Library) -> None:
    with library.serving(rate=1, burst=1) as address, opened(address) as http:
        assert http.post("/click", content=PAGE, headers={**OURS, "host": "evil.test"}).status_code == 421
        codes = [click(http, f"https://www.example.org/{number}").status_code for number in range(7)]
    assert codes == [204] * 5 + [429] * 2


# -- no trace -------------------------------------------------------------------------------------


def test_nothing_about_the_reader_is_kept(
    library: Library, http: httpx.Client, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    before = tables(library)
    telling = {
        "user-agent": "telltale-browser", "cookie": "id=telltale", "accept-language": "telltale",
        "referer": "http://127.0.0.1/search?q=telltale",
    }  # fmt: skip
    answer = click(http, reader="203.0.113.77", **telling)
    assert "set-cookie" not in answer.headers
    assert "set-cookie" not in http.get("/search?q=rocket").headers
    assert library.counted() == 1
    after = tables(library)
    assert {name for name in after if after[name] != before[name]} <= {"urls", "revisits", "parts"}
    changed = [
        column
        for old, new in zip(before["urls"], after["urls"], strict=True)
        for column in new
        if old[column] != new[column]
    ]
    assert sorted(changed) in (["clicks"], ["clicks", "due_at"])
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"telltale" not in path.read_bytes() and b"203.0.113.77" not in path.read_bytes(), path
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("gossamer")]
    assert not any("telltale" in line or "203.0.113.77" in line for line in ours)


def tables(library: Library) -> dict[str, list[dict[str, object]]]:
    """Every row of every table."""
    with sqlite3.connect(library.folder.database) as db:
        db.row_factory = sqlite3.Row
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        found = {name: [dict(row) for row in db.execute(f"SELECT * FROM {name}")] for name in names}
    db.close()
    return found


def test_what_is_remembered_for_an_hour_names_nobody_and_differs_between_servers() -> None:
    one, other = Readers(), Readers()
    for readers in (one, other):
        assert readers.counts("203.0.113.77", PAGE, 0.0)
    [(first, _)], [(second, _)] = one._seen.items(), other._seen.items()
    assert first != second
    assert b"203.0.113.77" not in first and len(first) == 16


QUARTERS = st.integers(0, 8000).map(lambda number: number / 4)
"""Pauses of up to 2000 s whose sums and differences are exact."""


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), QUARTERS), max_size=60))
def test_an_address_counts_for_a_page_once_an_hour_at_most(visits: list[tuple[int, int, float]]) -> None:
    readers, now, last = Readers(), 0.0, dict[tuple[int, int], float]()
    for reader, page, pause in visits:
        now += pause
        expected = now - last.get((reader, page), -1e9) >= handler.HOUR
        assert readers.counts(str(reader), str(page), now) == expected
        if expected:
            last[reader, page] = now


@given(st.lists(st.integers(0, 1000), max_size=200))
def test_a_bounded_number_of_readers_is_remembered(readers: list[int]) -> None:
    seen = Readers(most=16)
    for reader in readers:
        seen.counts(str(reader), PAGE, 0.0)
    assert len(seen) <= 16
