"""The real crawler against every hostile behaviour at once: it ends by itself, and each URL's fate makes sense.

The tables below say what is sensible. `KEPT` stands for a document or a duplicate of one: several behaviours
wrap the same good page in bad manners, and the first of them to be read stands for the others.
"""

from __future__ import annotations

import http.client
import json
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import command_of, descendants, exported, start, write_settings
from inside import gossamer

from gossamer.testing import Log, violations
from kit.hostile import BEHAVIOURS, HOST, HostileWeb, Pace, by_name

pytestmark = pytest.mark.timeout(1800)

WORKERS = 2
NETWORK = "127.0.26"
MEMORY = 1 << 30
INTERNAL = [
    "10.0.0.1", "192.168.0.1", "127.0.0.1:9", "localhost:9", "169.254.169.254", "[::ffff:7f00:1]:9", "[::1]:9",
    "0.0.0.0:9",
]  # fmt: skip
"""Where redirects try to lead us. They are in the scope on purpose: only the address guard stands in the way."""

MOST = 80
"""URLs of one shape that a trap may have."""
SETTINGS: dict[str, dict[str, Any]] = {
    "politeness": {"delay": 0.0, "backoff_first": 0.01, "backoff_cap": 0.02, "retry_after_cap": 0.05,
                   "crawl_delay_cap": 0.05},
    "crawl": {"linger": 1.0, "parse_timeout": 60.0, "parsers": 1},
    # Long enough for ten megabytes on a busy machine, and shorter than the server's `Pace.hang`.
    "fetch": {"connect_timeout": 10.0, "idle_timeout": 3.0, "total_timeout": 6.0},
    "budget": {"retries": 2, "patience": 2, "pages_per_site": 3000, "similar_paths": MOST, "refused_per_site": 200_000},
    "scope": {
        "hosts": INTERNAL,
        # Each set of facets is a shape of its own, and each of the 100,000 links is a page of 100,000 links:
        # with all of them the other traps would not get their turn.
        "filters": [{"kind": "regex", "action": "deny", "pattern": "query-permutes.*&.*&|links-100000/"}],
    },
}  # fmt: skip

KEPT = frozenset({"document", "duplicate"})
BROKEN = frozenset({"broken_response"})
UNREAD = frozenset({"unsupported_type"})
BOMB = frozenset({"bomb"})
LARGE = frozenset({"too_large"})
LATE = frozenset({"timeout"})
AWAY = frozenset({"redirect"})
NOWHERE = frozenset({"bad_redirect"})
RESOURCE = frozenset({"resource"})
UNPARSED = frozenset({"parse_failed"})

EXPECTED: dict[str, dict[frozenset[str], str]] = {
    "framing": {
        LATE: "slow-head slow-headers silence length-long-open slow-body",
        LARGE: "endless-body length-huge chunk-trailer-endless",
        BROKEN: "endless-headers endless-interim endless-status-line length-long length-negative length-two "
        "length-garbage chunk-truncated chunk-no-end chunk-bad-size chunk-huge-size chunk-negative reset-in-body "
        "close-in-head garbage ssh-banner http09 header-without-colon header-space-name header-1mb headers-1000 "
        "status-word status-four-digits version-odd switching-101",
        frozenset({"connect_failed"}): "reset-at-once close-without-response",
        KEPT: "length-short length-none chunk-extension chunk-and-length chunk-tiny null-in-header header-folded "
        "header-latin1 newlines-bare early-hints continue-100 close-unannounced response-extra",
        frozenset({"server_error"}): "status-unknown",
        UNREAD: "no-content-204",
        # Not asked for and not whole: whether it is broken or read as it is, is a matter of taste. The 304 is asked
        # for right after `response-extra`, whose second response may arrive in its place: nobody can tell.
        BROKEN | KEPT: "partial-206 not-modified-unasked",
        UNREAD | KEPT: "no-content-with-body",
        frozenset({"forbidden"}): "auth-401",
    },
    "bodies": {
        BOMB: "gzip-bomb zstd-bomb br-bomb deflate-bomb page-10mb",
        BROKEN: "gzip-truncated gzip-lie gzip-bad-crc gzip-layers br-garbage zstd-garbage zstd-window encoding-unknown",
        UNREAD: "gzip-double gzip-unlabelled binary-as-html html-as-image html-as-octets pdf-as-html empty",
        LARGE: "page-3gb",
        KEPT: "gzip-trailing gzip-members deflate-raw encoding-unasked html-as-text no-content-type "
        "bad-content-type wrong-charset unknown-charset meta-charset-lies utf-16 utf-16-bare utf-7 utf-8-broken "
        "null-bytes only-comment nested-divs nested-mixed nested-tables attributes-100000 attribute-10mb "
        "links-100000 entities-flood title-1mb word-5mb select-unclosed",
    },
    "redirects": {
        NOWHERE: "redirect-self redirect-file redirect-javascript redirect-data redirect-gopher redirect-empty "
        "redirect-invalid redirect-bad-port redirect-fragment redirect-missing redirect-300",
        AWAY: "redirect-private redirect-private-192 redirect-loopback redirect-localhost redirect-metadata "
        "redirect-decimal-ip redirect-octal-ip redirect-short-ip redirect-mapped-ip redirect-ipv6-loopback "
        "redirect-zero redirect-unknown-host redirect-closed-port redirect-credentials redirect-up redirect-long "
        "redirect-two-locations redirect-utf8 redirect-big-body redirect-pair redirect-endless redirect-other-host",
        BROKEN: "redirect-304-location",
        KEPT: "refresh-loop refresh-header canonical-self-missing canonical-elsewhere cookie-wall",
        KEPT | {"alias"}: "canonical-loop",
    },
    "waits": {
        frozenset({"rate_limited"}): " ".join(b.name for b in BEHAVIOURS if b.name.startswith("wait-429-")),
        frozenset({"unavailable"}): " ".join(b.name for b in BEHAVIOURS if b.name.startswith("wait-503-")),
        frozenset({"client_error"}): "status-400 status-405 status-418",
        frozenset({"forbidden"}): "status-402 status-403 status-451",
        frozenset({"gone"}): "status-404 status-410",
        frozenset({"server_error"}): "status-500 status-501 status-502 status-504 status-520",
        AWAY: "redirect-with-wait",
    },
    "traps": {KEPT: " ".join(b.name for b in BEHAVIOURS if b.group == "traps")},
    "sitemaps": {
        RESOURCE: "sitemap-remote-dtd sitemap-60000 sitemap-truncated sitemap-foreign sitemap-dates "
        "sitemap-index-self sitemap-index-endless",
        # Entities, which no sitemap needs; elements without end.
        UNPARSED: "sitemap-laughs sitemap-quadratic sitemap-file-entity sitemap-deep feed-laughs",
        UNREAD: "sitemap-html",
        LARGE: "sitemap-endless",
        # 256 MB in a file of 256 KB: unpacked by the sitemap reader, up to its limit.
        UNPARSED | BOMB: "sitemap-bomb",
    },
}

ALLOWED, DENIED, WAITS, GUARDED = "allowed", "denied", "waits", "guarded"
ROBOTS: dict[tuple[str, str], str] = {
    # what becomes of /page and of /private: variants
    (ALLOWED, DENIED): "plain garbage-around bom utf-16 cr large large-edge endless stars delay-huge delay-garbage "
    "redirect-5",
    (DENIED, DENIED): "deny-all redirect-elsewhere",
    # 4xx, too many redirects, and files without a rule for us allow everything
    (ALLOWED, ALLOWED): "empty garbage html html-as-text long-line large-late many-groups 401 403 404 410 redirect-20 "
    "redirect-loop redirect-page",
    # unreachable or deferred: nothing is fetched
    (WAITS, WAITS): "bomb 429 500 502 503 timeout slow disconnect reset truncated",
    # our own guard refuses the address that robots.txt redirects to
    (GUARDED, GUARDED): "redirect-private",
}
FATES = {ALLOWED: ("done", KEPT), DENIED: ("refused", {"robots_denied"}), WAITS: ("waiting", {None}),
         GUARDED: ("done", {"address_refused"})}  # fmt: skip


def outcomes_of(group: str) -> dict[str, frozenset[str]]:
    return {name: outcomes for outcomes, names in EXPECTED[group].items() for name in names.split()}


class Peaks(threading.Thread):
    """Watches the processes below the crawl: their peak memory, and how many of each kind there were."""

    def __init__(self, main: int) -> None:
        super().__init__(daemon=True)
        self._main = main
        self.memory: dict[int, int] = {}
        self.kinds: dict[int, str] = {}

    def run(self) -> None:
        while Path(f"/proc/{self._main}").exists():
            for pid in descendants(self._main):
                self._look(pid)
            time.sleep(0.05)

    def _look(self, pid: int) -> None:
        kind = next((k for k in ("worker_process", "parser_process") if k in command_of(pid)), "")
        try:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        except OSError:
            return
        peak = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
        if kind and peak:
            self.kinds[pid] = kind
            self.memory[pid] = max(peak, self.memory.get(pid, 0))


class Hostile(NamedTuple):
    data: Path
    web: HostileWeb
    log: Log
    rows: dict[str, dict[str, Any]]
    code: int
    err: str
    peaks: Peaks
    status: dict[str, Any]

    def row(self, name: str) -> dict[str, Any]:
        return self.rows[self.web.behaviour_url(name)]


def seeds_of(web: HostileWeb) -> Iterator[str]:
    yield web.url(HOST)
    for behaviour in BEHAVIOURS:
        if behaviour.group == "sitemaps":
            continue
        if behaviour.host == HOST:
            yield web.behaviour_url(behaviour.name)
        else:
            yield from (web.url(behaviour.host, path) for path in ("/page", "/private"))


def warm_up(web: HostileWeb) -> None:
    """Have the large replies built, so that the server is not busy with them while the crawler's time-outs run."""
    for name in ("gzip-bomb", "zstd-bomb", "br-bomb", "deflate-bomb", "page-10mb", "attribute-10mb", "links-100000"):
        connection = http.client.HTTPConnection(web.resolve[HOST], web.port, timeout=240)
        connection.request("GET", f"/{name}", headers={"Host": f"{HOST}:{web.port}", "Accept-Encoding": "gzip"})
        connection.getresponse().read()
        connection.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    folder = tmp_path_factory.mktemp("hostile")
    data, seeds = folder / "data", folder / "seeds.txt"
    pace = Pace(drip=0.1, hang=20.0, endless=3 << 30)
    with HostileWeb(NETWORK, pace=pace, linked=[], process=True) as web:
        warm_up(web)
        network = {"allow": [f"{NETWORK}.0/24"], "resolve": web.resolve}
        write_settings(data, {**SETTINGS, "network": network})
        seeds.write_text("\n".join(seeds_of(web)))
        maps = [web.behaviour_url(b.name) for b in BEHAVIOURS if b.group == "sitemaps"]
        assert gossamer("inject", "--sitemap", *maps, data=data).code == 0
        main = start("crawl", "--seeds", str(seeds), "--workers", str(WORKERS), "--json", data=data)
        peaks = Peaks(main.pid)
        peaks.start()
        try:
            out, err = main.communicate(timeout=1500)
        finally:
            main.kill()
        everything = web.log()
        ours = [request for request in everything if request.agent.startswith("Gossamer")]
        used = {request.connection for request in ours}
        log = Log(ours, [one for one in everything.connections if one.number in used])
        rows = {row["url"]: row for row in exported("urls", data)}
        yield Hostile(data, web, log, rows, main.returncode, err, peaks, json.loads(out or "{}"))


def test_the_tables_speak_of_every_behaviour() -> None:
    for group in EXPECTED:
        names = [name for names in EXPECTED[group].values() for name in names.split()]
        assert sorted(names) == sorted(b.name for b in BEHAVIOURS if b.group == group)
    variants = [f"robots-{name}" for names in ROBOTS.values() for name in names.split()]
    assert sorted(variants) == sorted(b.name for b in BEHAVIOURS if b.group == "robots")


def test_the_crawl_ends_by_itself_in_good_order(hostile: Hostile) -> None:
    """Many of its seeds bring nothing, which is said in one line and by the exit code; nothing else went wrong."""
    assert hostile.code == 1
    assert re.fullmatch(r"gossamer: \d+ of \d+ seeds failed, such as [^\n]+\n", hostile.err), hostile.err
    assert hostile.status["sites_active"] == 0
    # Redirects of seeds belong to the crawl, and three lead to hosts and ports whose robots.txt nobody serves.
    assert hostile.status["urls_due"] == 2 * len(ROBOTS[WAITS, WAITS].split()) + 3


@pytest.mark.parametrize("group", sorted(EXPECTED))
def test_every_url_ends_in_a_sensible_outcome(hostile: Hostile, group: str) -> None:
    wrong = {}
    for name, outcomes in outcomes_of(group).items():
        row = hostile.row(name)
        if row["state"] != "done" or row["outcome"] not in outcomes:
            wrong[name] = (row["state"], row["outcome"], row["reason"][:100], sorted(outcomes))
    assert wrong == {}


def test_every_failure_has_a_reason(hostile: Hostile) -> None:
    for url, row in hostile.rows.items():
        if row["state"] == "refused" or row["outcome"] not in (*KEPT, *RESOURCE, *AWAY, "alias", None):
            assert row["reason"], url


def test_no_redirect_reached_an_internal_address(hostile: Hostile) -> None:
    """The targets are in the scope, so each was tried, and refused at the address."""
    targets = {row["target"] for row in hostile.rows.values() if row["outcome"] == "redirect"}
    internal = [url for url in targets if not url.partition("//")[2].startswith((HOST, "robots-", "nowhere."))]
    assert len(internal) >= 8
    for url in internal:
        assert hostile.rows[url]["outcome"] == "address_refused", hostile.rows[url]


def test_the_robots_table_holds_for_every_variant(hostile: Hostile) -> None:
    wrong = {}
    for fates, names in ROBOTS.items():
        for name in names.split():
            for path, fate in zip(("/page", "/private"), fates, strict=True):
                state, outcomes = FATES[fate]
                row = hostile.rows[hostile.web.url(f"robots-{name}.{HOST}", path)]
                if row["state"] != state or row["outcome"] not in outcomes:
                    wrong[name + path] = (row["state"], row["outcome"], row["reason"], fate)
    assert wrong == {}


def test_no_page_was_requested_where_robots_txt_forbids_or_cannot_be_had(hostile: Hostile) -> None:
    """Seen from the servers' side."""
    asked = {request.url for request in hostile.log}
    for fates, names in ROBOTS.items():
        for name in names.split():
            for path, fate in zip(("/page", "/private"), fates, strict=True):
                url = hostile.web.url(f"robots-{name}.{HOST}", path)
                assert (url in asked) == (fate == ALLOWED), (url, fate)


def test_unreachable_robots_txt_is_explained(hostile: Hostile) -> None:
    for name in ROBOTS[WAITS, WAITS].split():
        url = hostile.web.url(f"robots-{name}.{HOST}", "/page")
        reason = gossamer("explain", url, "--json", data=hostile.data).json["reason"]
        assert "robots.txt is unreachable" in reason or "robots.txt was requested too often" in reason, (name, reason)


def test_traps_are_bounded(hostile: Hostile) -> None:
    """No trap gets more than its share: what it made beyond is refused, with the guard's name."""
    refusing = {row["rule"] for row in hostile.rows.values() if row["state"] == "refused"}
    assert {"trap.calendar", "trap.repeat", "trap.length", "trap.query", "trap.similar_paths"} <= refusing
    paths = [request.path.split("/")[1].partition("?")[0] for request in hostile.log if request.site.startswith(HOST)]
    for name in outcomes_of("traps"):
        assert paths.count(name) <= 3 * MOST, name  # a few shapes each
    assert len(paths) <= SETTINGS["budget"]["pages_per_site"] + 100


def test_no_process_died(hostile: Hostile) -> None:
    """A page that kills its parser would show as a parser more."""
    kinds = list(hostile.peaks.kinds.values())
    assert kinds.count("worker_process") == WORKERS
    assert kinds.count("parser_process") == WORKERS


def test_memory_stays_bounded(hostile: Hostile) -> None:
    assert max(hostile.peaks.memory.values()) < MEMORY


def test_the_hostile_server_was_treated_politely(hostile: Hostile) -> None:
    rules = {f"robots-{name}.{HOST}": "User-agent: *\nDisallow: /private\n" for name in ROBOTS[ALLOWED, DENIED].split()}
    rules[f"robots-deny-all.{HOST}"] = "User-agent: *\nDisallow: /\n"
    exempt = ["/robots.txt", *(f"/robots-hop/{n}" for n in range(1, 6))]
    found = violations(hostile.log, 0.0, 0.0, robots=rules, robots_first=True, exempt=exempt)
    assert [str(one) for one in found] == []


def test_failing_urls_were_tried_as_often_as_the_settings_say(hostile: Hostile) -> None:
    for name in ("silence", "garbage", "status-500", "wait-503-none", "wait-429-huge"):
        asked = [request for request in hostile.log if request.path == by_name(name).path]
        assert len(asked) == 2, name
    for name in ("status-404", "gzip-bomb", "redirect-self", "page-3gb"):
        assert len([request for request in hostile.log if request.path == by_name(name).path]) == 1, name


def test_only_what_was_wanted_of_an_endless_body_was_read(hostile: Hostile) -> None:
    for name in ("page-3gb", "endless-body", "sitemap-endless", "chunk-trailer-endless"):
        for request in hostile.log:
            if request.path == by_name(name).path:
                assert request.sent < 64 << 20, name
