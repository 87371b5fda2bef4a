"""RFC 9309, as data: what lines mean, what answers mean, and what real files do.

The rows in data/robots.toml are also what the choice of our own reader over Protego 0.7 rests on:
`python tests/spec/test_robots_rfc9309.py` prints the rows Protego gets wrong, and the speed of both
on the real files.
"""

from __future__ import annotations

import os
import tarfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from gossamer.model.outcome import Outcome, of_status
from gossamer.robots.rules import MAX_BYTES, MAX_LINE, Robots
from gossamer.robots.verdict import Answer, Kind, RobotsConfig, after_fetch, verdict

HERE = Path(__file__).resolve()
ROWS: list[dict[str, Any]] = tomllib.loads((HERE.parent / "data" / "robots.toml").read_text("utf-8"))["row"]
SHARED = Path(os.environ.get("GOSSAMER_SHARED") or HERE.parents[3] / "shared")
ARCHIVE = SHARED / "data" / "robots" / "real-robots-txt.tar.zst"
REAL_FILES = 2_818
HOST = "https://a.example"
NOW = 1_800_000_000.0


def of(robots: str | bytes, agent: str = "Gossamer") -> Robots:
    return Robots(robots.encode() if isinstance(robots, str) else robots, agent)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_row(row: dict[str, Any]) -> None:
    robots = of(row["robots"], row.get("agent", "Gossamer"))
    expected = dict.fromkeys(row.get("allowed", []), True) | dict.fromkeys(row.get("refused", []), False)
    assert expected, "a row must say something"
    assert {path: robots.decide(HOST + path).allowed for path in expected} == expected


def test_row_names_are_unique() -> None:
    assert len({row["name"] for row in ROWS}) == len(ROWS) > 75


# --- bytes that TOML cannot show -------------------------------------------------------------------


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_all_line_ends_are_understood(end: str, last: bool) -> None:
    body = end.join(["User-agent: Other", "Allow: /x", "User-agent: Gossamer", "", "", "Disallow: /a"])
    robots = of(body + end * last)
    assert not robots.decide(HOST + "/a").allowed
    assert robots.decide(HOST + "/b").allowed


@pytest.mark.parametrize("character", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_other_separators_do_not_end_a_line(character: str) -> None:
    robots = of(f"User-agent: Gossamer\nAllow: /x{character}Disallow: /a\n")
    assert robots.decide(HOST + "/a").allowed


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_a_byte_order_mark_or_a_part_of_it_is_skipped_at_the_start(mark: bytes) -> None:
    assert not of(mark + b"User-agent: Gossamer\nDisallow: /a\n").decide(HOST + "/a").allowed


def test_a_broken_mark_spoils_its_line_only() -> None:
    robots = of(b"\xef\x11\xbfUser-agent: Gossamer\nDisallow: /a\nUser-agent: *\nDisallow: /b\n")
    assert robots.decide(HOST + "/a").allowed
    assert not robots.decide(HOST + "/b").allowed


def test_a_mark_in_the_middle_spoils_its_line_only() -> None:
    robots = of(b"User-agent: Gossamer\n\xef\xbb\xbfDisallow: /a\nDisallow: /b\n")
    assert robots.decide(HOST + "/a").allowed
    assert not robots.decide(HOST + "/b").allowed


def test_bytes_that_are_not_utf8_are_compared_as_bytes() -> None:
    robots = of("User-agent: Gossamer\nDisallow: /café\n".encode("latin-1"))
    assert not robots.decide(HOST + "/caf%E9").allowed
    assert robots.decide(HOST + "/caf%C3%A9").allowed


def test_of_a_long_line_the_beginning_counts() -> None:
    path = "/" + "a" * (MAX_LINE - len("Disallow: /"))
    robots = of(f"User-agent: Gossamer\nDisallow: {path}/cut-off\n")
    assert not robots.decide(f"{HOST}{path}/other").allowed
    assert robots.decide(f"{HOST}{path[:-1]}").allowed


def test_exactly_500_kib_are_read_and_a_cut_line_is_dropped() -> None:
    head, line = b"User-agent: Gossamer\n", b"Disallow: /a"
    filler = MAX_BYTES - len(head) - len(line)
    fits = head + b"#" * (filler - 1) + b"\n" + line
    assert len(fits) == MAX_BYTES == 500 * 1024
    assert not of(fits).decide(HOST + "/a").allowed
    assert not of(fits + b"\nAllow: /a").decide(HOST + "/a").allowed, "what lies behind the limit is not read"
    assert of(fits + b"bc").decide(HOST + "/abc").allowed, "a cut line would mean something else"
    assert of(fits + b"bc").decide(HOST + "/a").allowed


def test_a_sitemap_line_may_stand_anywhere() -> None:
    for robots in ("Sitemap: S\nUser-agent: x\nDisallow: /\n", "User-agent: x\nDisallow: /\n\nsite-map: S"):
        assert of(robots).sitemaps == ["S"]


# --- the status matrix -------------------------------------------------------------------------------

ALLOW, DENY, WAIT, RULES = Answer.ALLOW, Answer.DENY, Answer.WAIT, Answer.ASK_RULES
MATRIX = {
    **dict.fromkeys((200, 201, 203, 204, 206, 299), (RULES, RULES)),
    **dict.fromkeys((301, 302, 303, 307, 308), (ALLOW, ALLOW)),  # after the last hop that was followed
    304: (DENY, RULES),
    **dict.fromkeys((400, 401, 402, 403, 404, 405, 406, 408, 410, 418, 421, 451, 499), (ALLOW, ALLOW)),
    429: (WAIT, WAIT),
    **dict.fromkeys((500, 501, 502, 503, 504, 507, 511, 520, 599), (DENY, RULES)),
    **dict.fromkeys((0, 100, 300, 600, 999), (DENY, RULES)),
}
FAILURES = (
    Outcome.TIMEOUT, Outcome.CONNECT_FAILED, Outcome.DNS_FAILED, Outcome.TLS_FAILED, Outcome.BROKEN_RESPONSE,
)  # fmt: skip


@pytest.mark.parametrize("status", MATRIX)
@pytest.mark.parametrize("known", [False, True], ids=["first time", "with a good copy"])
def test_status_matrix(status: int, known: bool) -> None:
    """What each status allows, without and with a good copy of a day ago."""
    config = RobotsConfig()
    copy = after_fetch(None, 200, Outcome.DOCUMENT, b"rules", NOW - 86_400, None, config) if known else None
    state = after_fetch(copy, status, of_status(status), b"", NOW, None, config)
    assert verdict(state, NOW, config).answer is MATRIX[status][known]


@pytest.mark.parametrize("outcome", FAILURES)
@pytest.mark.parametrize("status", [0, 200, 500])
def test_no_answer_or_half_an_answer_denies(outcome: Outcome, status: int) -> None:
    config = RobotsConfig()
    state = after_fetch(None, status, outcome, b"User-agent: *\nAllow: /", NOW, None, config)
    assert (state.kind, verdict(state, NOW, config).answer) == (Kind.UNREACHABLE, DENY)


# --- real files --------------------------------------------------------------------------------------


def real_files() -> Iterator[tuple[str, bytes]]:
    with (
        ARCHIVE.open("rb") as packed,
        zstandard.ZstdDecompressor().stream_reader(packed) as unpacked,
        tarfile.open(fileobj=unpacked, mode="r|") as archive,
    ):
        for member in archive:
            if member.isfile() and (stream := archive.extractfile(member)) is not None:
                yield Path(member.name).name, stream.read()


PATHS = (
    "/", "/robots.txt", "/index.html", "/search?q=a&page=2", "/2024/05/03/a-long-title.html",
    "/tag/%D0%BC%D0%B8%D1%80/", "/go?u=https%3A%2F%2Fb.c", "/wp-admin/admin.php", "/a/b/c/d.pdf",
)  # fmt: skip


@pytest.mark.skipif(not ARCHIVE.exists(), reason=f"no {ARCHIVE.name}; set GOSSAMER_SHARED to its shared folder")
def test_real_files_are_read() -> None:
    """Every file is read and decides; that most have rules shows that they were understood."""
    count = with_rules = with_sitemaps = refused = 0
    for host, body in real_files():
        robots = Robots(body, "Gossamer")
        decisions = [robots.decide(f"https://{host}{path}") for path in PATHS]
        assert decisions[1].allowed, host
        assert all(decision.rule == "robots" and decision.reason.isprintable() for decision in decisions), host
        assert robots.crawl_delay is None or 0 <= robots.crawl_delay < float("inf"), host
        count += 1
        with_rules += robots.has_rules
        with_sitemaps += bool(robots.sitemaps)
        refused += sum(not decision.allowed for decision in decisions)
    assert count == REAL_FILES
    assert with_rules > 2_400
    assert with_sitemaps > 1_000
    assert refused > 900


def compare_with_protego() -> None:
    """Prints what Protego answers otherwise, and how fast both are."""
    import time

    from protego import Protego

    for row in ROWS:
        other = Protego.parse(row["robots"])
        agent = row.get("agent", "Gossamer")
        wrong = [p for p in row.get("allowed", []) if not other.can_fetch(HOST + p, agent)]
        wrong += [p for p in row.get("refused", []) if other.can_fetch(HOST + p, agent)]
        if wrong:
            print(f"Protego differs: {row['name']}: {wrong}")
    if not ARCHIVE.exists():
        return
    files = list(real_files())
    started = time.perf_counter()
    ours = [Robots(body, "Gossamer") for _, body in files]
    parsed = time.perf_counter()
    others = [Protego.parse(body[:MAX_BYTES].decode("utf-8-sig", "replace")) for _, body in files]
    spent = time.perf_counter() - parsed
    print(f"parse {len(files)} files: ours {parsed - started:.2f} s, Protego {spent:.2f} s")
    urls = [HOST + path for path in PATHS]
    count = len(files) * len(urls)
    for _ in range(2):  # the first round fills Protego's caches
        started = time.perf_counter()
        for robots in ours:
            for url in urls:
                robots.decide(url)
        middle = time.perf_counter()
        for other in others:
            for url in urls:
                other.can_fetch(url, "Gossamer")
        ended = time.perf_counter()
    ours_us, theirs_us = (middle - started) / count * 1e6, (ended - middle) / count * 1e6
    print(f"a URL: ours {ours_us:.1f} µs, Protego {theirs_us:.1f} µs")


if __name__ == "__main__":
    compare_with_protego()
