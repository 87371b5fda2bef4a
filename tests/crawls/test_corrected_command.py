"""The corrected command works: what is named again is asked again now, in the same folder, whatever was planned."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from crawl_kit import run, settings_of, write_settings

from gossamer.testing import FakeWeb, Reply

TEXT = "A page with a text of its own about looms, threads and the weavers of the valley. "


def prepared(web: FakeWeb, data: Path, **sections: dict[str, Any]) -> None:
    """Settings under which a crawl does not wait for retries: the next command is what makes up for a failure."""
    write_settings(data, settings_of(web, **{"crawl": {"linger": 1.0, "workers": 1}, **sections}))


def crawled(data: Path, *arguments: str) -> dict[str, Any]:
    """`gossamer crawl`, whatever its exit code: its final status."""
    done = run("crawl", *arguments, "--json", data=data)
    assert done.stdout, done.stderr
    return dict(json.loads(done.stdout))


def explained(data: Path, url: str) -> dict[str, Any]:
    done = run("explain", url, "--json", data=data)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_seeds_that_ended_badly_are_asked_again_when_they_are_named_again(tmp_path: Path) -> None:
    hosts = ("gone.test", "forbidden.test", "broken.test", "denied.test", "noindex.test")
    web = FakeWeb("127.0.61")
    sites = {host: web.site(host, pages=0) for host in hosts}
    with web:
        sites["gone.test"].page("/", "no", status=404)
        sites["forbidden.test"].page("/", "no", status=403)
        sites["broken.test"].reply("/", Reply(b"later", 503))
        sites["broken.test"].robots("busy", status=503)
        sites["denied.test"].page("/", TEXT)
        sites["denied.test"].robots("User-agent: *\nDisallow: /\n")
        sites["noindex.test"].page("/", f"<meta name=robots content=noindex>{TEXT}")
        seeds = [web.url(host) for host in hosts]
        prepared(web, tmp_path)
        assert crawled(tmp_path, *seeds)["pages"] == 0
        for host in hosts:
            sites[host].page("/", f"<p>{TEXT} This is {host}.</p>")
            sites[host].robots("User-agent: *\nAllow: /\n")
        web.changed()
        assert crawled(tmp_path)["pages"] == 0, "without seeds the crawl keeps to its plan"
        assert crawled(tmp_path, *seeds)["pages"] == len(hosts)
        assert {explained(tmp_path, url)["state"] for url in seeds} == {"fetched"}


def test_a_seed_that_was_reached_is_asked_again_before_its_next_visit_is_due(tmp_path: Path) -> None:
    web = FakeWeb("127.0.62")
    site = web.site("news.test", pages=0)
    with web:
        site.page("/", f"<p>{TEXT}</p>")
        prepared(web, tmp_path)
        assert crawled(tmp_path, site.url())["pages"] == 1
        site.page("/", f'<p>{TEXT}</p><a href="/new">new</a>')
        site.page("/new", f"<p>{TEXT} It is new.</p>")
        web.changed()
        done = run("inject", site.url(), data=tmp_path)
        assert "1 already known" in done.stdout and "fetches 1 of the known ones again now" in done.stdout
        assert crawled(tmp_path)["pages"] == 2


def test_the_wrong_scheme_of_a_port_does_not_keep_the_right_one_waiting(tmp_path: Path) -> None:
    web = FakeWeb("127.0.63")
    site = web.site("plain.test", pages=3)
    with web:
        prepared(web, tmp_path)
        wrong = site.url().replace("http://", "https://")
        assert crawled(tmp_path, wrong)["pages"] == 0
        assert crawled(tmp_path, site.url())["pages"] == 3
        answer = explained(tmp_path, wrong)
        assert answer["state"] == "scheduled" and "robots.txt is unreachable" in answer["reason"], answer["reason"]


def test_a_wait_that_the_server_asked_for_holds_also_for_a_person(tmp_path: Path) -> None:
    web = FakeWeb("127.0.64")
    site = web.site("busy.test", pages=0)
    with web:
        site.robots("User-agent: *\nAllow: /\n")
        site.reply("/", Reply(b"later", 503, headers=[("Retry-After", "3600")]))
        prepared(web, tmp_path)
        crawled(tmp_path, site.url())
        asked = [request.path for request in web.log()].count("/")
        crawled(tmp_path, site.url())
        assert [request.path for request in web.log()].count("/") == asked == 1
        assert "Retry-After: 3600 s" in explained(tmp_path, site.url())["reason"]


def test_the_host_that_a_seed_redirects_to_belongs_to_the_crawl(tmp_path: Path) -> None:
    web = FakeWeb("127.0.65")
    bare, www = web.site("uni.test", pages=0), web.site("www.uni.test", pages=4)
    other, trap = web.site("other.test", pages=0), web.site("ads.test", pages=2)
    bare.redirect("/", "/home")
    bare.page("/home", f'<meta http-equiv="refresh" content="0; url={www.url()}">')
    other.page("/", f'<p>{TEXT}</p><a href="/out">out</a>')
    other.redirect("/out", trap.url())
    with web:
        prepared(web, tmp_path, crawl={"linger": 1.0, "workers": 2})
        assert crawled(tmp_path, bare.url(), other.url())["pages"] == 5
        answer = explained(tmp_path, www.url("/"))
        assert answer["state"] == "fetched"
        [rule] = [rule["reason"] for rule in answer["factors"]["rules"] if rule["rule"] == "scope.host"]
        assert rule == f"www.uni.test:{web.port} is in scope because the seed {bare.url()} redirects there"
        refused = explained(tmp_path, other.url("/out"))
        assert "its target is refused" in refused["reason"], "only a seed's own redirect widens the crawl"
        assert not [request for request in web.log() if trap.url() in request.url]
        www.page("/later", f"<p>{TEXT} It came later.</p>")
        assert crawled(tmp_path, www.url("/later"))["pages"] == 6


def test_where_a_seed_redirects_to_is_asked_again_with_it_robots_txt_and_all(tmp_path: Path) -> None:
    web = FakeWeb("127.0.98")
    portal, login = web.site("portal.test", pages=0), web.site("login.test", pages=0)
    portal.redirect("/", login.url("/welcome"))
    login.page("/welcome", f"<p>{TEXT}</p>")
    login.robots("the server has a bad day", status=503)
    with web:
        prepared(web, tmp_path, crawl={"linger": 1.0})
        assert run("crawl", portal.url(), data=tmp_path).returncode == 1
        login.robots("User-agent: *\nAllow: /\n")
        assert crawled(tmp_path, portal.url())["pages"] == 1


def test_a_list_of_hosts_is_taken_at_its_word(tmp_path: Path) -> None:
    web = FakeWeb("127.0.66")
    bare, www = web.site("uni.test", pages=0), web.site("www.uni.test", pages=3)
    bare.redirect("/", www.url())
    with web:
        prepared(web, tmp_path)
        assert crawled(tmp_path, bare.url(), "--scope", "list")["pages"] == 0
        assert not [request for request in web.log() if "www." in request.url]
        assert crawled(tmp_path, bare.url(), "--scope", "list", "--host", "www.uni.test")["pages"] == 3


def test_a_start_page_that_calls_itself_index_html_is_polled(tmp_path: Path) -> None:
    web = FakeWeb("127.0.67")
    site = web.site("home.test", pages=0)
    body = f'<link rel=canonical href="/index.html"><p>{TEXT}</p><a href="/index.html">Home</a>'
    site.page("/", body)
    site.page("/index.html", body)
    with web:
        prepared(web, tmp_path)
        assert crawled(tmp_path, site.url())["pages"] == 1
        done = run("feeds", "--json", data=tmp_path)
        assert sorted(source["url"] for source in json.loads(done.stdout)) == [site.url(), site.url("/index.html")]
        for path in ("/", "/index.html"):
            record = explained(tmp_path, site.url(path))["factors"]["record"]
            assert record["depth"] == 0 and record["due_at"] - record["fetched_at"] < 3600


def test_settings_that_changed_judge_anew_what_the_old_ones_had_refused(tmp_path: Path) -> None:
    web = FakeWeb("127.0.68")
    site, other = web.site("uni.test", pages=0), web.site("lab.uni.test", pages=0)
    third, hidden = web.site("far.test", pages=0), web.site("hidden.test", pages=0, ip="127.0.69.1")
    links = ["/private/one", "/moved", other.url("/deep"), hidden.url("/page")]
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    site.page("/", f'<p>{TEXT} The start.</p>{anchors}<a rel=nofollow href="{other.url("/no")}">x</a>')
    site.page("/private/one", f"<p>{TEXT} One behind a filter.</p>")
    site.redirect("/moved", third.url("/here"))
    site.robots(f"Sitemap: {site.url('/sitemap.xml')}\n")
    site.sitemap([other.url("/listed")])
    for path in ("/deep", "/listed", "/no"):
        other.page(path, f"<p>{TEXT} On the other host: {path}.</p>")
    third.page("/here", f"<p>{TEXT} It has moved here.</p>")
    hidden.page("/page", f"<p>{TEXT} In another network.</p>")
    closed = {"filters": [{"kind": "prefix", "action": "deny", "pattern": "/private/"}]}
    lists = {"mode": "list", "hosts": ["hidden.test"]}
    network = {"allow": ["127.0.68.0/24"]}

    def urls() -> set[str]:
        rows = [json.loads(line) for line in run("export", "urls", data=tmp_path).stdout.splitlines()]
        return {row["url"] for row in rows if row["outcome"] == "document"}

    with web:
        prepared(web, tmp_path, scope={**closed, **lists}, network=network)
        crawled(tmp_path, site.url())
        assert urls() == {site.url()}
        assert explained(tmp_path, hidden.url("/page"))["state"] == "failed"
        prepared(web, tmp_path, scope=lists)
        done = run("crawl", data=tmp_path)
        assert "The scope changed: queued 1 URL that the old scope refused." in done.stdout, done.stdout
        assert "The allowed networks changed: queued 1 URL again." in done.stdout, done.stdout
        assert urls() == {site.url(), site.url("/private/one"), hidden.url("/page")}
        prepared(web, tmp_path, scope={"mode": "list", "hosts": ["hidden.test", "*.uni.test", "far.test"]})
        crawled(tmp_path)
        more = {other.url("/deep"), other.url("/listed"), third.url("/here")}
        assert urls() == {site.url(), site.url("/private/one"), hidden.url("/page"), *more}
        said = run("crawl", data=tmp_path).stdout
        assert "The scope changed" not in said and "The allowed networks changed" not in said, said


def test_new_intervals_act_on_plans_that_were_made_by_old_ones(tmp_path: Path) -> None:
    web = FakeWeb("127.0.70")
    site = web.site("slow.test", pages=0)
    site.page("/", f'<p>{TEXT}</p><a href="/page">page</a><a href="/gone">gone</a>')
    site.page("/page", f"<p>{TEXT} It says more.</p>")

    def planned(path: str) -> float | None:
        record = explained(tmp_path, site.url(path))["factors"]["record"]
        return None if record["due_at"] is None else float(record["due_at"] - record["fetched_at"])

    with web:
        prepared(web, tmp_path)
        crawled(tmp_path, site.url())
        before = planned("/page"), planned("/gone")
        assert before[0] is not None and before[0] > 3600 and before[1] == pytest.approx(90 * 86_400, abs=60)
        prepared(web, tmp_path, revisit={"floor": 120, "every": 240, "ceiling": 300})
        done = run("crawl", data=tmp_path)
        assert "The intervals changed: " in done.stdout, done.stdout
        for path in ("/page", "/gone"):
            assert 119 <= (planned(path) or 0.0) <= 301
        prepared(web, tmp_path, revisit={"policy": "none"})
        crawled(tmp_path)
        assert planned("/page") is None and planned("/gone") is None
        prepared(web, tmp_path)
        crawled(tmp_path)
        assert (planned("/page") or 0.0) >= 3600
