"""Overview and sites in the console: what they answer, what operators can do there, what readers cannot."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import httpx
import msgspec
import pytest
from console_kit import ConsoleUnderTest, small_console

from gossamer.frontier.steering import controls
from gossamer.frontier.views import site_view
from gossamer.model.site import key64
from gossamer.site.facts import Facts
from gossamer.tables.audit import entries


def site_named(console: ConsoleUnderTest, beginning: str) -> str:
    db = console.folder.read()
    try:
        return str(db.execute("SELECT name FROM sites WHERE name LIKE ?", (f"{beginning}%",))[0][0])
    finally:
        db.close()


@pytest.fixture
def alpha(console: ConsoleUnderTest) -> str:
    return site_named(console, "alpha.test")


def page(console: ConsoleUnderTest, path: str, **parameters: str) -> str:
    response = console.operator.get(path, params=parameters)
    assert response.status_code == 200, response.text
    return response.text


def words_on(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def test_the_overview_says_that_a_finished_crawl_is_finished_and_what_comes_next(console: ConsoleUnderTest) -> None:
    html = page(console, "/console")
    text = words_on(html)
    assert 'class="hero good"' in html
    assert re.search(r"Finished (\w+ )?\d\d:\d\d All known URLs are fetched\. Next visit ", text), text
    assert "gossamer run --data" in text  # nobody is there to make that visit
    assert "the server says there is no such page" in text
    assert "The index is up to date with the crawl" in text


def test_nothing_is_shown_that_has_nothing_to_show(console: ConsoleUnderTest) -> None:
    text = words_on(page(console, "/console"))
    for title in ("Queue by level", "Resting and paused", "Machines", "Last minutes"):
        assert title not in text


def test_freshness_has_a_page_of_its_own(console: ConsoleUnderTest) -> None:
    text = words_on(page(console, "/console/freshness"))
    assert re.search(r"Up to date [\d.> ]+ % of 11 documents", text)
    assert "No feed or news sitemap announced a document" in text


def test_every_kind_of_error_leads_to_the_sites_that_have_it(console: ConsoleUnderTest, alpha: str) -> None:
    kinds = re.findall(r'href="(/console/sites\?error=\w+)"', page(console, "/console"))
    assert kinds
    for path in kinds:
        assert alpha in console.operator.get(path).text


def test_the_figures_of_the_overview_can_be_asked_for_again(console: ConsoleUnderTest) -> None:
    found = console.operator.get("/console/overview.json")
    assert found.headers["cache-control"] == "no-store"
    figures = found.json()["figures"]
    assert found.json()["state"] == "finished"
    shown = page(console, "/console")
    for name in ("pages", "fetched", "errors"):
        assert f'data-figure="{name}">{figures[name]}<' in shown


def test_a_finished_crawl_left_samples_to_draw(console: ConsoleUnderTest) -> None:
    db = console.folder.read()
    try:
        assert db.execute("SELECT COUNT(*) FROM samples")[0][0] >= 1
    finally:
        db.close()
    found = console.operator.get("/console/overview/chart.json", params={"name": "speed", "window": "hour"}).json()
    assert set(found["series"]) == {"fetched", "kept", "errors"}
    assert all(len(values) == len(found["at"]) for values in found["series"].values())


@pytest.mark.parametrize("name", ["speed", "news", "collection", "queue", "sites", "freshness", "disk", "announced"])
@pytest.mark.parametrize("window", ["hour", "day", "week", "year"])
def test_every_chart_of_the_overview_answers(console: ConsoleUnderTest, name: str, window: str) -> None:
    parameters = {"name": name, "window": window}
    assert console.operator.get("/console/overview/chart.json", params=parameters).status_code == 200


def test_a_chart_that_does_not_exist_is_an_answer_not_a_crash(console: ConsoleUnderTest) -> None:
    for parameters in ({"name": "x"}, {"name": "speed", "window": "../.."}, {}):
        assert console.operator.get("/console/overview/chart.json", params=parameters).status_code == 404


def test_the_list_tells_which_site_fails_and_why(console: ConsoleUnderTest, alpha: str) -> None:
    text = words_on(page(console, "/console/sites"))
    assert f"{alpha} idle most failures: the server says there is no such page" in text


def test_the_list_is_filtered_by_name_state_and_error(console: ConsoleUnderTest, alpha: str) -> None:
    beta = site_named(console, "beta.test")
    assert beta not in page(console, "/console/sites", q="alpha")
    assert beta not in page(console, "/console/sites", error="gone")
    assert "No matching sites" in page(console, "/console/sites", state="paused")
    both = page(console, "/console/sites", sort="name", state="idle")
    assert both.index(alpha) < both.index(beta)


def test_a_senseless_address_of_the_list_shows_all_sites(console: ConsoleUnderTest, alpha: str) -> None:
    assert alpha in page(console, "/console/sites", sort="; DROP TABLE sites", state="x", error="<b>")


def test_a_page_that_is_no_number_is_refused_with_a_sentence(console: ConsoleUnderTest) -> None:
    for number in ("0", "-1", "x", "9" * 30, "²"):
        response = console.operator.get("/console/sites", params={"page": number})
        assert response.status_code == 404
        assert "whole number" in response.text


def test_the_page_of_a_site_answers_what_an_operator_asks(console: ConsoleUnderTest, alpha: str) -> None:
    text = words_on(page(console, "/console/site", name=alpha))
    assert "Disallow: /private/" in text
    assert "its rules decide" in text
    assert "the settings (politeness.delay) in effect" in text
    assert "/gone.html" in text
    assert "Spiders of the meadow" in text
    for empty in ("Parts", "Rules and filters", "None"):
        assert empty not in text


def test_the_page_of_a_site_tells_what_was_learned_from_its_pages(crawled: Path) -> None:
    facts = Facts(
        128, bytes(8 * 38), bytes(8 * 5), names=("<b>alphanews",), languages={"en": 120}, page_types={"article": 90}
    )
    with small_console(crawled) as console:
        db = console.folder.open_database()
        place = msgspec.msgpack.encode(facts), key64(site_named(console, "alpha.test"))
        db.execute("UPDATE site_facts SET version = 3, pages = 128, facts = ? WHERE site_id = ?", place)
        db.close()
        html = page(console, "/console/site", name=site_named(console, "alpha.test"))
        text = words_on(html)
        assert "What is known of this site Learned from 128 pages" in text
        assert "Repeated lines, left out of texts 38" in text
        assert "Left out of titles <b>alphanews" in text and "<b>alphanews" not in html


def test_an_unknown_site_is_said_to_be_unknown(console: ConsoleUnderTest) -> None:
    for path in ("/console/site", "/console/site.json"):
        response = console.operator.get(path, params={"name": "<script>alert(1)</script>"})
        assert response.status_code == 404
        assert "<script>alert" not in response.text
    assert console.operator.get("/console/site").status_code == 404


def test_readers_see_everything_and_no_form(console: ConsoleUnderTest, alpha: str) -> None:
    for path in ("/console", f"/console/site?name={alpha}"):
        response = console.reader.get(path)
        assert response.status_code == 200
        assert set(re.findall(r'method="post" action="([^"]+)"', response.text)) == {"/console/logout"}


def test_readers_can_do_nothing_and_nobody_sees_anything_without_a_login(console: ConsoleUnderTest, alpha: str) -> None:
    for action in ("pause", "resume", "limit", "recrawl", "remove"):
        fields = {"name": alpha, "reason": "x"}
        assert console.send(f"/console/site/{action}", fields, console.reader).status_code == 403
    assert console.send("/console/pause", {"reason": "x"}, console.reader).status_code == 403
    assert told(console.folder, alpha) == controls.Controls()
    for path in ("/console", "/console/overview.json", "/console/sites", f"/console/site?name={alpha}"):
        response = console.anybody.get(path, follow_redirects=False)
        assert response.status_code in (303, 401)
        assert alpha not in response.text


def told(folder: object, site: str) -> controls.Controls:
    db = folder.read()
    try:
        return controls.controls_of(db, site)
    finally:
        db.close()


def flash(response: httpx.Response) -> str:
    assert response.status_code == 200, response.text
    found = re.search(r'class="flash"[^>]*>([^<]*)', response.text)
    assert found, response.text
    return unescape(found[1])


def last_line(console: ConsoleUnderTest) -> tuple[str, str, str, str]:
    db = console.folder.read()
    try:
        line = entries(db, limit=1)[0]
    finally:
        db.close()
    return line.who, line.action, line.subject, line.detail


def test_an_operator_pauses_a_site_with_a_reason_that_everybody_reads(console: ConsoleUnderTest, alpha: str) -> None:
    reason = "they asked <b>us</b> & we said yes"
    shown = console.send("/console/site/pause", {"name": alpha, "reason": reason})
    assert flash(shown) == f"Paused {alpha}. Its queue stays as it is."
    assert "&lt;b&gt;us&lt;/b&gt; &amp; we" in shown.text
    assert told(console.folder, alpha).paused == reason
    assert last_line(console) == ("operator", "pause site", alpha, reason)
    assert alpha in page(console, "/console/sites", state="paused")
    assert reason in unescape(page(console, "/console"))
    assert flash(console.send("/console/site/resume", {"name": alpha})) == f"Resumed {alpha}."
    assert told(console.folder, alpha).paused == ""


def test_an_operator_limits_a_site_and_the_page_tells_what_counts(console: ConsoleUnderTest, alpha: str) -> None:
    shown = console.send("/console/site/limit", {"name": alpha, "least_delay": "2.5", "most_pages": "1000"})
    assert flash(shown) == f"New limits of {alpha}: at least 2.5 s between requests and at most 1,000 requests."
    assert "2.5 s: an operator's limit in effect" in words_on(shown.text)
    assert told(console.folder, alpha) == controls.Controls("", 2.5, 1000)
    shown = console.send("/console/site/limit", {"name": alpha, "least_delay": "", "most_pages": ""})
    assert flash(shown) == f"New limits of {alpha}: none."


@pytest.mark.parametrize(
    "fields",
    [
        {"least_delay": "soon"},
        {"least_delay": "-1"},
        {"least_delay": "nan"},
        {"most_pages": "1.5"},
        {"most_pages": "-2"},
    ],
)
def test_a_limit_that_makes_no_sense_changes_nothing(
    console: ConsoleUnderTest, alpha: str, fields: dict[str, str]
) -> None:
    before = told(console.folder, alpha)
    response = console.send("/console/site/limit", {"name": alpha, **fields})
    assert response.status_code == 400
    assert told(console.folder, alpha) == before


def test_an_operator_has_what_failed_fetched_again(console: ConsoleUnderTest, alpha: str) -> None:
    shown = console.send("/console/site/recrawl", {"name": alpha})
    assert flash(shown) == f"Queued again: 1 failed URL of {alpha}."
    db = console.folder.read()
    try:
        found = site_view.find_site(db, alpha)
        queued = db.execute("SELECT COUNT(*) FROM queue WHERE site_id = ?", (key64(alpha),))[0][0]
    finally:
        db.close()
    assert found is not None and queued == 1


def test_an_operator_pauses_and_resumes_the_whole_crawl(console: ConsoleUnderTest) -> None:
    shown = console.send("/console/pause", {"reason": "moving house"})
    assert "sends no requests" in flash(shown)
    assert 'class="hero warn"' in shown.text and "Paused No requests are sent. Reason: moving house." in words_on(
        shown.text
    )
    assert last_line(console) == ("operator", "pause crawl", "", "moving house")
    assert flash(console.send("/console/resume")) == "The crawl continues."


def test_a_removed_site_is_gone_from_list_and_search_and_says_why(crawled: object) -> None:
    with small_console(crawled) as console:
        beta = site_named(console, "beta.test")
        refused = console.send("/console/site/remove", {"name": beta, "reason": " "})
        assert refused.status_code == 400 and "enter a reason" in refused.text.lower()
        assert beta in page(console, "/console/sites")
        shown = console.send("/console/site/remove", {"name": beta, "reason": "they <i>asked</i>"})
        assert f"Removed {beta} with 4 URLs" in flash(shown)
        assert last_line(console) == ("operator", "remove site", beta, "they <i>asked</i>")
        after = console.operator.get("/console/site", params={"name": beta})
        assert "they &lt;i&gt;asked&lt;/i&gt;" in after.text
        found = console.anybody.get("/api/v1/search", params={"q": f"site:{beta.partition(':')[0]}"})
        assert found.json()["total"] == 0
