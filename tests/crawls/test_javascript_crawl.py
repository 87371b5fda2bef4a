"""Pages that scripts make: rendered by a real Chromium, with the manners of the crawl in every request."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from crawl_kit import (
    PATIENCE,
    command_of,
    crawl,
    descendants,
    exported,
    kill,
    run,
    settings_of,
    start,
    wait_until,
    write_settings,
)

from gossamer.errors import UsageError
from gossamer.fetch.browser_start import find_chromium
from gossamer.testing import FakeWeb, Log, Reply, violations

try:
    find_chromium()
except UsageError as error:
    pytest.skip(str(error), allow_module_level=True)

HOST = "app.test"
DELAY = 0.1
SHELL = """<!DOCTYPE html><html><head><title>Weavers</title></head><body>
<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>
<script src="/app.js"></script></body></html>"""
APP = """
const page = location.pathname.slice(1) || "start";
fetch(`/api/${page}.json`).then(answer => answer.json()).then(data => {
    document.title = data.title;
    const links = data.links.map(link => `<li><a href="/${link}">${link}</a></li>`).join("");
    document.getElementById("root").innerHTML =
        `<main><h1>${data.title}</h1><p>${data.text}</p></main><ul>${links}</ul>`;
});
"""
TEXTS = {
    "start": "The guild of weavers keeps its looms in a long hall by the river, open to everybody on Sundays.",
    "looms": "A loom holds the warp under tension while the weft is passed through it by hand or by a shuttle.",
    "dyes": "Madder, weld and woad gave red, yellow and blue to cloth for two thousand years before aniline.",
}
JSON = "application/json"
SCRIPT = "text/javascript"


def single_page_app(web: FakeWeb, host: str = HOST) -> Any:
    """A site whose text and links exist only after its script has run."""
    site = web.site(host)
    links = {"start": ["looms"], "looms": ["dyes"], "dyes": []}
    for name, text in TEXTS.items():
        site.page("/" if name == "start" else f"/{name}", SHELL)
        data = {"title": name.title(), "text": text, "links": links[name]}
        site.reply(f"/api/{name}.json", Reply(json.dumps(data), content_type=JSON))
    site.reply("/app.js", Reply(APP, content_type=SCRIPT))
    return site


def pages_of(data: Path) -> dict[str, dict[str, Any]]:
    return {row["url"]: row for row in exported("pages", data)}


def browser(**values: Any) -> dict[str, Any]:
    return {"mode": "auto", "timeout": 60.0, "settle": 0.3, **values}


class Town(NamedTuple):
    """What became of a crawl of all the sites below."""

    web: FakeWeb
    log: Log
    pages: dict[str, dict[str, Any]]
    urls: dict[str, dict[str, Any]]

    def text(self, host: str, path: str = "/") -> str:
        return str(self.pages[self.web.url(host, path)]["text"])

    def asked(self, host: str) -> list[str]:
        return [request.path for request in self.log if request.site.startswith(f"{host}:")]


def shell(script: str) -> str:
    return f"<!DOCTYPE html><title>Empty</title><body><div id=root></div><script>{script}</script>"


def town_of(web: FakeWeb) -> list[str]:
    """Sites of every kind; returns the seeds."""
    single_page_app(web)
    single_page_app(web, "off.test")
    denied = single_page_app(web, "denied.test")
    denied.robots("User-agent: *\nDisallow: /app.js\n")
    shop, cdn = web.site("shop.test"), web.site("cdn.test")
    cdn.robots("User-agent: *\nDisallow: /private/\n")
    cdn.reply("/lib.js", Reply(APP, content_type=SCRIPT, headers=[("Access-Control-Allow-Origin", "*")]))
    cdn.reply("/private/more.js", Reply("document.body.append('forbidden')", content_type=SCRIPT))
    shop.page(
        "/", SHELL.replace("/app.js", cdn.url("/lib.js")) + f'<script src="{cdn.url("/private/more.js")}"></script>'
    )
    goods = {
        "title": "Goods",
        "text": "Bolts of linen and wool, sold by the yard at the gate of the mill.",
        "links": [],
    }
    shop.reply("/api/start.json", Reply(json.dumps(goods), content_type=JSON))
    moved = web.site("moved.test")
    moved.page("/", shell('location.href = ["/n", "ew"].join("") + "?from=script"'))
    moved.page("/new", "The mill has moved to the other bank of the river. It is open again.", title="Moved")
    secret, spy = web.site("secret.test"), web.site("spy.test")
    secret.reply("/diary", Reply("hidden words", headers=[("Access-Control-Allow-Origin", "*")]))
    spy.page("/", shell(
        f"""fetch("{secret.url("/diary")}").then(a => a.text()).then(t => document.body.append(t));
        fetch("/order", {{method: "POST", body: "100 bolts"}}); fetch("/order", {{method: "DELETE"}});
        document.getElementById("root").innerHTML = "<p>{"What a spy shows by itself. " * 5}</p>";"""
    ))  # fmt: skip
    static = web.site("static.test")
    static.page("/", f"<title>Static</title><script src='/count.js'></script><p>{'Plain words in a row. ' * 80}</p>")
    hosts = (HOST, "off.test", "denied.test", "shop.test", "moved.test", "spy.test", "static.test")
    return [web.url(host) for host in hosts]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Town:
    folder = tmp_path_factory.mktemp("town")
    web = FakeWeb("127.0.81", log=folder / "log")
    seeds, data = town_of(web), folder / "data"
    access = {'sites."off.test"': {"javascript": "off"}, 'sites."secret.test"': {"cookies": {"key": "opens"}}}
    with web:
        crawl(
            web, data, seeds, "--workers", "2", politeness={"delay": DELAY}, browser=browser(), urls={}, **access
        )  # fmt: skip
        urls = {row["url"]: row for row in exported("urls", data)}
        return Town(web, web.log(), pages_of(data), urls)


def test_text_and_links_that_scripts_make_are_found(town: Town) -> None:
    for name, text in TEXTS.items():
        assert text in town.text(HOST, "/" if name == "start" else f"/{name}")


def test_a_rendered_page_says_so_and_keeps_its_raw_response(town: Town) -> None:
    page = town.pages[town.web.url(HOST, "/looms")]
    assert page["method"].startswith("rendered ")
    assert (page["title"], page["outcome"], page["size"]) == ("Looms", "document", len(SHELL.encode()))
    assert not town.pages[town.web.url("static.test")]["method"].startswith("rendered")


def test_every_request_of_a_page_has_the_manners_of_the_crawl(town: Town) -> None:
    assert violations(town.log, DELAY, DELAY, robots_first=True) == []
    assert {request.agent.partition("/")[0] for request in town.log} == {"Gossamer"}


def test_a_script_is_loaded_once_for_all_pages(town: Town) -> None:
    assert town.asked(HOST).count("/app.js") == 1


def test_a_site_can_be_left_out(town: Town) -> None:
    assert town.asked("off.test") == ["/robots.txt", "/"]
    assert "enable JavaScript" in town.text("off.test")


def test_pages_that_have_text_are_not_rendered(town: Town) -> None:
    assert town.asked("static.test") == ["/robots.txt", "/"]


def test_a_script_that_robots_txt_denies_is_not_loaded(town: Town) -> None:
    assert town.asked("denied.test") == ["/robots.txt", "/"]
    assert "enable JavaScript" in town.text("denied.test")


def test_scripts_of_other_sites_are_loaded_by_the_rules_of_those(town: Town) -> None:
    assert "Bolts of linen" in town.text("shop.test")
    assert town.asked("cdn.test") == ["/robots.txt", "/lib.js"]
    assert "forbidden" not in town.text("shop.test")


def test_where_a_script_goes_is_a_redirect(town: Town) -> None:
    start, target = town.urls[town.web.url("moved.test")], town.web.url("moved.test", "/new?from=script")
    assert (start["outcome"], start["target"]) == ("redirect", target)
    assert "other bank" in town.text("moved.test", "/new?from=script")


def test_no_page_sees_what_the_operator_has_access_to_on_another_site(town: Town) -> None:
    assert "What a spy shows" in town.text("spy.test")
    assert "hidden" not in town.text("spy.test")
    assert town.asked("secret.test") == []


def test_scripts_change_nothing_at_servers(town: Town) -> None:
    assert {request.method for request in town.log} == {"GET"}
    assert "/order" not in town.asked("spy.test")


def test_in_off_mode_nothing_is_rendered(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site = single_page_app(web)
    with web:
        crawl(web, tmp_path / "data", [site.url()], "--workers", "1")
        assert [request.path for request in web.log()] == ["/robots.txt", "/"]
        assert "enable JavaScript" in pages_of(tmp_path / "data")[site.url()]["text"]


def listed(site: Any, pages: dict[str, str]) -> None:
    """A start page with text of its own that leads to all these."""
    links = "".join(f'<a href="{path}">{path}</a> ' for path in pages)
    site.page("/", f"<title>List</title><p>{'All pages of this site in one list. ' * 40}</p>{links}")
    for path, html in pages.items():
        site.page(path, html)


def test_a_site_is_rendered_within_its_budget(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site = web.site(HOST)
    listed(site, {f"/p{n}": shell(f"fetch('/data{n}')") for n in range(6)})
    site.handler("/data", lambda ask: Reply("x", content_type="text/plain"))
    with web:
        crawl(web, tmp_path / "data", [site.url()], "--workers", "1", browser=browser(pages=2))
        paths = [request.path for request in web.log()]
    assert sorted(path for path in paths if path.startswith("/p")) == [f"/p{n}" for n in range(6)]
    assert len([path for path in paths if path.startswith("/data")]) == 2


def test_a_page_that_is_not_rendered_again_keeps_its_text(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site, data = single_page_app(web), tmp_path / "data"
    with web:
        crawl(web, data, [site.url()], "--workers", "1", browser=browser(pages=3))
        done = run("recrawl", site.url(), data=data)
        assert done.returncode == 0, done.stderr
        crawl(web, data, [], "--workers", "1", browser=browser(pages=3))
        assert [request.path for request in web.log()].count("/") == 2
        assert TEXTS["start"] in pages_of(data)[site.url()]["text"]
        told = {row["url"]: row for row in exported("urls", data)}[site.url()]
    assert told["outcome"] == "document"
    assert "browser.pages" in told["reason"]


def again(web: FakeWeb, data: Path, site: Any, **values: Any) -> dict[str, dict[str, Any]]:
    """Crawl the start page a second time; what is stored of all pages then."""
    done = run("recrawl", site.url(), data=data)
    assert done.returncode == 0, done.stderr
    crawl(web, data, [], "--workers", "1", browser=browser(**values))
    return pages_of(data)


def test_a_page_that_was_not_rendered_is_rendered_later_though_the_server_calls_it_unchanged(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site, data = single_page_app(web), tmp_path / "data"
    with web:
        crawl(web, data, [site.url()], "--workers", "1", browser=browser(pages=0))
        assert TEXTS["start"] not in pages_of(data)[site.url()]["text"]
        assert TEXTS["start"] in again(web, data, site)[site.url()]["text"]


def test_a_page_whose_data_are_not_to_be_had_just_now_keeps_its_text(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site, data = single_page_app(web), tmp_path / "data"
    with web:
        crawl(web, data, [site.url()], "--workers", "1", browser=browser())
        assert TEXTS["start"] in pages_of(data)[site.url()]["text"]
        site.reply("/api/start.json", Reply("too busy", status=503))
        assert TEXTS["start"] in again(web, data, site)[site.url()]["text"]


GOOD = "document.getElementById('root').innerHTML = '<p>' + 'Good pages are rendered all the same. '.repeat(9) + '</p>'"
HOSTILE = {
    "/loop": shell("while (true) {}"),
    "/alerts": shell("while (true) alert('again')"),
    "/timers": shell(
        "setInterval(() => document.title += 'x', 1); setInterval(() => fetch('/data?' + Math.random()), 5)"
    ),
    "/grows": shell(
        "const grow = () => { for (let n = 0; n < 20000; n++) { const p = document.createElement('p');"
        "p.textContent = 'x'.repeat(2000) + n; document.body.append(p) } setTimeout(grow) }; grow()"
    ),
    "/good": shell(GOOD),
}


def test_pages_that_never_end_are_ended_and_the_crawl_goes_on(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site = web.site(HOST)
    listed(site, HOSTILE)
    site.handler("/data", lambda ask: Reply("x", content_type="text/plain"))
    limits = browser(timeout=20.0, requests=10, memory=500)
    with web:
        crawl(web, tmp_path / "data", [site.url()], "--workers", "1", browser=limits)
        outcomes = {row["url"]: row["outcome"] for row in exported("urls", tmp_path / "data")}
        asked = [request.path for request in web.log() if request.path.startswith("/data")]
        pages = pages_of(tmp_path / "data")
    assert set(outcomes) == {site.url(path) for path in ("/", *HOSTILE)}
    assert all(outcome in ("document", "duplicate") for outcome in outcomes.values()), outcomes
    assert "Good pages" in pages[site.url("/good")]["text"]
    assert len(asked) <= 10


def chromiums(pid: int) -> list[int]:
    """The browsers of a crawl."""
    return [child for child in descendants(pid) if "--remote-debugging-pipe" in command_of(child)]


@contextlib.contextmanager
def under_way(site: Any, data: Path) -> Iterator[subprocess.Popen[str]]:
    """A crawl by one worker, with all its processes ended in the end."""
    main = start("crawl", site.url(), "--workers", "1", "--quiet", data=data)
    try:
        yield main
    finally:
        for pid in [*descendants(main.pid), main.pid]:
            kill(pid)
        main.wait()


def slow_app(web: FakeWeb) -> Any:
    """An app whose data take a while to come."""
    site = single_page_app(web)
    late = site.content.replies["/api/start.json"].after(3.0)
    site.reply("/api/start.json", late)
    return site


def test_a_page_whose_browser_is_killed_is_rendered_by_the_next(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site, data = slow_app(web), tmp_path / "data"
    write_settings(data, settings_of(web, browser=browser()))
    with web, under_way(site, data) as main:
        wait_until(lambda: any(request.path == "/api/start.json" for request in web.log()))
        assert [kill(pid) for pid in chromiums(main.pid)] != []
        _, errors = main.communicate(timeout=PATIENCE)
        assert main.returncode == 0, errors
        pages = pages_of(data)
    assert all(text in pages[site.url("/" if name == "start" else f"/{name}")]["text"] for name, text in TEXTS.items())


def test_a_page_that_cannot_be_rendered_is_kept_as_it_came(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site, data = slow_app(web), tmp_path / "data"
    write_settings(data, settings_of(web, browser=browser()))
    with web, under_way(site, data) as main:
        while main.poll() is None:
            if any(request.path == "/app.js" for request in web.log()):
                for pid in chromiums(main.pid):
                    kill(pid)
            time.sleep(0.05)
        assert main.returncode == 1, main.communicate()  # kept, but the verdict says that it is empty
        assert "enable JavaScript" in pages_of(data)[site.url()]["text"]


def test_a_crawl_that_is_stopped_leaves_no_browser_and_loses_no_page(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82", log=tmp_path / "log")
    site, data = web.site(HOST), tmp_path / "data"
    site.page("/", shell(f"fetch('/data').then(() => {{ {GOOD} }})"))
    site.reply("/data", Reply("x", content_type="text/plain").after(0.5))
    write_settings(data, settings_of(web, browser=browser(settle=15.0)))
    with web, under_way(site, data) as main:
        wait_until(lambda: any(request.path == "/data" for request in web.log()))
        browsers = chromiums(main.pid)
        main.send_signal(signal.SIGINT)
        _, errors = main.communicate(timeout=PATIENCE)
        assert "Traceback" not in errors
        assert browsers
        wait_until(lambda: not any("remote-debugging" in command_of(pid) for pid in browsers))
        crawl(web, data, [], "--workers", "1", browser=browser())
        assert "Good pages" in pages_of(data)[site.url()]["text"]


def test_without_a_chromium_the_crawl_says_what_to_do(tmp_path: Path) -> None:
    web = FakeWeb("127.0.82")
    site = single_page_app(web)
    with web:
        write_settings(tmp_path, settings_of(web, browser=browser(executable="/nowhere/chromium")))
        done = run("crawl", site.url(), "--workers", "1", data=tmp_path)
    assert done.returncode != 0
    assert "browser.executable" in done.stderr and "Traceback" not in done.stderr


def test_pages_that_were_empty_without_scripts_are_fetched_again_when_rendering_is_turned_on(tmp_path: Path) -> None:
    web = FakeWeb("127.0.72")
    site = single_page_app(web)
    with web:
        assert crawl(web, tmp_path, [site.url()])["pages"] == 1
        write_settings(tmp_path, settings_of(web, browser=browser()))
        done = run("crawl", data=tmp_path)
        assert "Rendering is on now: queued 1 page with little text again." in done.stdout, done.stdout
        shown = " ".join(row["text"] for row in pages_of(tmp_path).values())
        assert [text for text in TEXTS.values() if text not in shown] == []
