"""What became of a seed: pure classification of what the table knows, with the command that a person should type."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.frontier.views.seed_view import SeedView, SiteState, UrlState
from gossamer.model.outcome import Count, Outcome
from gossamer.operate.next_command import Commands
from gossamer.operate.verdict import Judge, SeedVerdict, Verdict
from gossamer.robots.verdict import Kind, RobotsConfig, RobotsState, after_fetch
from gossamer.settings import BrowserConfig, CrawlSettings, Settings

URL = "http://a.test/"
NOW = 1_800_000_000.0
SETTINGS = Settings(crawl=CrawlSettings(contact="me@example.org"))


def judge(view: SeedView, settings: Settings = SETTINGS, commands: Commands | None = None) -> SeedVerdict:
    return Judge(settings, commands or Commands())(view)


def seed(outcome: Outcome | None, url: str = URL, site: SiteState | None = None, **row: Any) -> SeedView:
    state = {None: "waiting"}.get(outcome, "done")
    row = {"state": state, "outcome": outcome.value if outcome else "", **row}
    return SeedView(url, (UrlState(url, **row),), site or SiteState())


def unreachable(outcome: Outcome, detail: str, status: int = 0) -> bytes:
    return msgspec.msgpack.encode(after_fetch(None, status, outcome, b"", NOW, None, RobotsConfig(), detail))


@pytest.mark.parametrize(
    ("outcome", "row", "why", "command"),
    [
        (Outcome.FORBIDDEN, {"status": 403}, "forbidden", f"gossamer crawl {URL}"),
        (Outcome.UNAVAILABLE, {"status": 503, "state": "scheduled"}, "unavailable", f"gossamer crawl {URL}"),
        (Outcome.ROBOTS_DENIED, {"state": "refused"}, "robots", f"gossamer crawl {URL}"),
        (Outcome.NOINDEX, {"checked_at": NOW}, "noindex", f"gossamer crawl {URL}"),
        (Outcome.DNS_FAILED, {}, "name", f"gossamer crawl {URL}"),
        (Outcome.CONNECT_FAILED, {}, "connection", f"gossamer crawl {URL}"),
        (Outcome.BAD_REDIRECT, {}, "redirect", f"gossamer explain {URL}"),
        (Outcome.REFUSED, {"state": "refused", "rule": "filter"}, "refused", f"gossamer explain {URL}"),
        (None, {"state": "refused", "reason": "deny suffix '.png' matches"}, "refused", f"gossamer explain {URL}"),
        (Outcome.PARSE_FAILED, {}, "unread", f"gossamer crawl {URL}"),
        (Outcome.PARSE_FAILED, {"reason": "not well-formed XML"}, "unread", f"gossamer explain {URL}"),
        (Outcome.TOO_LARGE, {}, "large", f"gossamer crawl {URL}"),
        (Outcome.GONE, {"status": 404}, "gone", f"gossamer crawl {URL}"),
        (
            Outcome.CONNECT_FAILED,
            {"reason": "the server closed the connection without an answer"},
            "connection",
            f"gossamer crawl {URL.replace('http:', 'https:')}",
        ),
        (
            Outcome.ADDRESS_REFUSED,
            {"reason": "a.test: 10.1.2.3 is private: allow its network to crawl it"},
            "address",
            f"gossamer crawl {URL} --allow-network 10.0.0.0/8",
        ),
        (
            Outcome.UNSUPPORTED_TYPE,
            {"reason": "application/pdf is not read: install gossamer[pdf]"},
            "extra",
            f"pip install 'gossamer[pdf]' && gossamer crawl {URL}",
        ),
        (
            Outcome.RESOURCE,
            {"reason": "it names 3 URLs, none of which may be fetched, such as http://b.test/x: no"},
            "list",
            f"gossamer crawl {URL} --scope list --host b.test",
        ),
        (
            Outcome.DOCUMENT,
            {"reason": "empty without JavaScript: 0 characters of text", "checked_at": NOW},
            "scripts",
            f"gossamer crawl {URL} --javascript auto",
        ),
    ],
    ids=lambda value: value.value if isinstance(value, Outcome) else "",
)
def test_each_failure_has_a_cause_and_a_command(
    outcome: Outcome | None, row: dict[str, Any], why: str, command: str
) -> None:  # fmt: skip
    found = judge(seed(outcome, **row))
    assert (found.state, found.why, found.command) == ("failed", why, command)
    assert found.cause and found.advice


def test_a_folder_that_is_being_crawled_gets_commands_that_work_there() -> None:
    """A second crawl is refused; what needs another option can only be said as before."""
    running = Commands(Path("my crawl"), {"crawl": {"contact": "me@example.org"}}, running=True)
    assert running.crawl("http://a.test/") == "gossamer inject http://a.test/ --data 'my crawl'"
    assert running.crawl() == "gossamer status --data 'my crawl'"
    assert running.crawl("http://a.test/", browser={"mode": "auto"}).startswith("gossamer crawl http://a.test/ ")


def test_a_crawl_that_watches_goes_on_watching() -> None:
    assert Commands(options={"crawl": {"watch": True}}).crawl() == "gossamer crawl --watch"


@pytest.mark.parametrize("outcome", [one for one in Outcome if one.meaning.error])
def test_no_error_is_without_advice(outcome: Outcome) -> None:
    found = judge(seed(outcome))
    assert found.state == "failed" and found.cause and found.command.startswith("gossamer ")


def test_https_on_a_plain_port_a_certificate_and_http_on_a_secure_port_are_told_apart() -> None:
    url = "https://a.test:8080/"
    plain = judge(seed(Outcome.TLS_FAILED, url, reason="the TLS handshake failed: WRONG_VERSION_NUMBER"))
    assert (plain.why, plain.command) == ("tls", "gossamer crawl http://a.test:8080/")
    silent = judge(seed(Outcome.TIMEOUT, url, reason="no connection within 10 s"))
    assert silent.command == "gossamer crawl http://a.test:8080/"
    signed = judge(seed(Outcome.TLS_FAILED, url, reason="the certificate is not valid: self-signed certificate"))
    assert (signed.why, signed.command) == ("certificate", f"gossamer crawl {url} --ca-file CA.pem")
    secure = judge(seed(Outcome.CLIENT_ERROR, "http://a.test:8443/", status=400))
    assert secure.command == "gossamer crawl https://a.test:8443/"
    lost = judge(seed(Outcome.GONE, "http://a.test/old/page.html", status=404))
    assert lost.command == "gossamer crawl http://a.test/"


def test_a_seed_that_robots_txt_keeps_from_being_asked_has_the_cause_of_that() -> None:
    view = SeedView(URL, (UrlState(URL),), robots=unreachable(Outcome.CONNECT_FAILED, "no connection: refused"))
    found = judge(view)
    assert (found.state, found.why, found.cause) == ("failed", "connection", "no connection: refused")
    assert found.tries_again_at == NOW + 600
    broken = judge(SeedView(URL, (UrlState(URL),), robots=unreachable(Outcome.UNAVAILABLE, "status 503: busy", 503)))
    assert broken.why == "unavailable"
    assert "robots.txt is unreachable (status 503)" in broken.cause


def test_robots_states_of_earlier_versions_are_read() -> None:
    """They do not say what the request came to."""
    known = {"kind": "unreachable", "reason": "robots.txt is unreachable (status 500)", "fetched_at": 1.0,
             "expires_at": 2.0}  # fmt: skip
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(known), type=RobotsState).kind is Kind.UNREACHABLE
    found = judge(SeedView(URL, (UrlState(URL),), robots=msgspec.msgpack.encode(known)))
    assert found.state == "failed" and "status 500" in found.cause


def test_a_seed_whose_turn_did_not_come_is_pending() -> None:
    assert judge(SeedView(URL)).state == "pending"
    assert judge(seed(None)).state == "pending"
    assert judge(seed(None)).command == "gossamer crawl"
    paused = judge(seed(None, site=SiteState(paused="the owner asked")))
    assert (paused.state, paused.why, paused.command) == ("pending", "paused", "gossamer resume a.test")
    assert judge(seed(None, site=SiteState(at_limit=True))).why == "limit"


def test_a_seed_of_which_other_urls_wait_is_pending_and_not_failed() -> None:
    for outcome in (Outcome.NOINDEX, Outcome.FORBIDDEN, Outcome.RESOURCE):
        assert judge(seed(outcome, site=SiteState(waiting=1))).state == "pending"
    alone = seed(Outcome.NOINDEX, state="waiting", site=SiteState(waiting=1))
    assert judge(alone).state == "failed"  # only its own next visit waits
    shell = seed(Outcome.DOCUMENT, reason="empty without JavaScript: x", site=SiteState(documents=1, waiting=2))
    assert judge(shell).state == "pending"


def test_pages_of_the_whole_crawl_count() -> None:
    """A seed that fails today has not brought nothing where its site's pages were kept."""
    kept = SiteState(documents=40)
    assert judge(seed(Outcome.UNAVAILABLE, site=kept, checked_at=NOW)).state == "kept"
    assert judge(seed(None, site=kept, state="waiting")).state == "kept"
    # Its start page is forbidden, but its sitemap brought pages.
    assert judge(seed(Outcome.FORBIDDEN, site=kept)).state == "kept"


def test_what_another_seed_of_the_site_brought_is_not_due_to_one_that_was_never_read() -> None:
    view = msgspec.structs.replace(seed(Outcome.GONE, site=SiteState(documents=40)), shares_site=True)
    assert judge(view).state == "failed"


def test_a_redirect_counts_what_it_leads_to_and_else_names_where_it_led() -> None:
    first = UrlState(URL, "done", "redirect", target="https://www.a.test/")
    there = UrlState("https://www.a.test/", "done", "document", checked_at=NOW)
    good = judge(SeedView(URL, (first, there), SiteState(documents=7)))
    assert (good.state, good.pages, good.leads_to) == ("kept", 7, "https://www.a.test/")
    outside = msgspec.structs.replace(first, reason="its target is refused: www.a.test is not among the 1 sites")
    lost = judge(SeedView(URL, (outside,)))
    assert (lost.state, lost.why, lost.command) == ("failed", "redirect", "gossamer crawl https://www.a.test/")
    assert lost.leads_to == "https://www.a.test/" and "its target" not in lost.cause
    failing = msgspec.structs.replace(there, outcome="forbidden", status=403, checked_at=None)
    found = judge(SeedView(URL, (first, failing)))
    assert found.why == "forbidden" and found.cause.startswith("it leads to https://www.a.test/: ")


def test_a_removed_seed_and_a_mirror_are_no_failures() -> None:
    assert judge(seed(None, state="removed", reason="the owner asked")).state == "removed"
    assert judge(seed(Outcome.REFUSED, state="refused", rule="mirror", reason="mirror of b.test")).state == "kept"


def test_scripts_that_were_run_in_vain_are_not_advised_again() -> None:
    settings = Settings(browser=BrowserConfig(mode="auto"))
    found = judge(seed(Outcome.DOCUMENT, reason="empty without JavaScript: x"), settings)
    assert found.state == "failed" and "--javascript" not in found.command


def test_a_network_that_needs_a_contact_first_is_said_to() -> None:
    refused = seed(Outcome.ADDRESS_REFUSED, reason="a.test: 93.184.216.34 is not loopback, and nothing else is crawled")
    found = judge(refused, Settings())
    assert (found.why, found.command) == ("contact", f"gossamer crawl {URL} --contact you@example.org")


def test_the_next_command_repeats_the_options_that_were_given() -> None:
    options = {"crawl": {"contact": "me@example.org", "index": False}, "network": {"resolve": {"a.test": "10.1.2.3"}},
               "politeness": {"delay": 0.5}}  # fmt: skip
    commands = Commands(Path("my crawl"), options)
    assert commands.crawl(URL, network={"allow": ["10.0.0.0/8"]}) == (
        f"gossamer crawl {URL} --contact me@example.org --delay 0.5 --allow-network 10.0.0.0/8 "
        "--resolve a.test=10.1.2.3 --no-index --data 'my crawl'"
    )


def test_a_crawl_is_well_where_no_seed_failed_and_something_was_kept_or_may_be() -> None:
    kept, pending = SeedVerdict(URL, "kept", 3), SeedVerdict("http://b.test/", "pending")
    failed = SeedVerdict("http://c.test/", "failed", cause="no", advice="Try", command="gossamer crawl")
    removed = SeedVerdict("http://d.test/", "removed")
    assert Verdict([kept, pending], [failed], 3).ok  # what earlier seeds did is not this command's failure
    assert Verdict([pending]).ok
    assert not Verdict([kept, failed], pages=3).ok
    assert not Verdict([removed]).ok and "removed" in Verdict([removed]).sentence
    assert Verdict([failed]).sentence == "http://c.test/ failed: no. Try: gossamer crawl"
    assert Verdict([kept, failed], pages=3).headline == "1 of 2 seeds failed, such as http://c.test/"
    assert Verdict([kept], pages=3).sentence == Verdict([], pages=0).sentence == ""


def test_every_outcome_is_counted_once() -> None:
    assert {outcome.meaning.count for outcome in Outcome} == set(Count)
    assert all((one.meaning.count is Count.ERRORS) == one.meaning.error for one in Outcome)
