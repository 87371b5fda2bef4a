"""Every page of the search server and of the console, over data that wants to run in the reader's browser.

The pages are those of the server's own list of routes: one that is added later and not visited here fails the suite.
What must not happen is looked for after each visit: a script that ran, a policy that had to stop one, a dialog, a
request to somebody else, an element or handler that is not ours, a link that is no link, a template that was evaluated,
characters that turn the text around them.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode
from xml.etree import ElementTree

import httpx
import pytest
from browser_kit import LIMIT, VIOLATIONS, Watch
from console_kit import PASSWORDS, client_of, log_in, make_accounts
from hostile_world import ALL, EVALUATED, PAYLOADS, RUN, SHORT, TITLE, Hostile, hostile_world
from playwright.sync_api import Browser, Page, expect
from prometheus_client.parser import text_string_to_metric_families
from whole_server_kit import WholeServer, whole_server

from gossamer.web.rendering import plain

pytestmark = pytest.mark.timeout(1200)  # the first test crawls, and some open a hundred pages

LOOK = """
(evaluated) => {
  const wrong = [];
  const tell = (what, element) => wrong.push(`${what}: ${element.outerHTML.slice(0, 300)}`);
  if (window.__xss !== undefined) wrong.push("a payload ran");
  const foreign = "iframe frame frameset object embed applet base math style template audio video img foreignObject " +
    "animate set portal marquee meta[http-equiv]";
  for (const element of document.querySelectorAll(foreign.trim().split(" ").join(","))) {
    tell("an element that is not ours", element);
  }
  for (const svg of document.querySelectorAll("svg")) {
    if (!svg.matches("svg.logo, svg.web, svg.years, svg.share, form button > svg, .chart svg, .legend svg")) {
      tell("a picture that is not ours", svg);
    }
  }
  for (const script of document.scripts) {
    if (!script.src.startsWith(`${location.origin}/static/`) || script.text.trim()) tell("a script", script);
  }
  const targets = ["href", "src", "action", "formaction", "xlink:href", "data", "poster", "ping", "background"];
  for (const element of document.querySelectorAll("*")) {
    for (const name of element.getAttributeNames()) {
      if (/^on/i.test(name)) tell("a handler", element);
      if (!targets.includes(name.toLowerCase())) continue;
      let url = null;
      try { url = new URL(element.getAttribute(name), document.baseURI); } catch { tell("no address", element); }
      if (url && !["http:", "https:"].includes(url.protocol)) tell("a link that is none", element);
      if (url && url.origin !== location.origin && element.tagName !== "A") tell("a foreign address", element);
      if (url && url.origin !== location.origin && !/noreferrer/.test(element.rel)) tell("a link that tells", element);
    }
  }
  for (const form of document.forms) {
    const to = new URL(form.getAttribute("action") || "", location);  // form.action may be a field of that name
    if (form.method === "post" && !to.href.startsWith(`${location.origin}/console/`)) tell("a form", form);
  }
  const texts = [document.body.innerText, document.title];
  for (const element of document.querySelectorAll("[title], [aria-label], [placeholder], option")) {
    texts.push(element.title, element.getAttribute("aria-label"), element.getAttribute("placeholder"), element.text);
  }
  for (const text of texts.filter((one) => typeof one === "string")) {
    if (text.includes(evaluated)) wrong.push("a template was evaluated");
    const unseen = text.match(/.{0,40}[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069]/);
    if (unseen) wrong.push(`a character that turns or hides text, after: ${unseen[0]}`);
  }
  return wrong;
}
"""
DATA = {
    "/alerts/{id}.{kind}", "/api/v1/explain", "/api/v1/history", "/api/v1/like", "/api/v1/openapi.json",
    "/api/v1/page", "/api/v1/search", "/api/v1/similar", "/api/v1/status", "/api/v1/story", "/api/v1/suggest",
    "/c/{name}/colours.css", "/console/desk/history.json", "/console/desk/standing.json", "/console/desk/try.json",
    "/console/evaluations/chart.json", "/console/overview.json", "/console/overview/chart.json",
    "/console/searches/chart.json", "/console/site.json", "/console/site/extraction.json", "/customsearch/v1",
    "/customsearch/v1/siterestrict", "/embed.js", "/favicon.svg", "/feed.atom", "/feed.rss", "/healthz", "/metrics",
    "/opensearch.xml", "/readyz", "/robots.txt", "/static/{name}", "/suggest",
}  # fmt: skip
"""Routes whose answers are no pages."""
OTHER_SITE = "xn--e1afmkfd.xn--80akhbyknj4f"
RULE = '[[rule]]\ndomain = "evil.test"\nname = "{}"\nurls = ["/page/{{slug}}"]\ntitle = "title"\ntext = "main"\n'


class Visiting:
    """A browser that is logged in, and what went wrong in it."""

    def __init__(self, page: Page, watch: Watch) -> None:
        self.page, self._watch = page, watch

    def go(self, path: str, **query: str) -> Page:
        """Open a page and look at it."""
        self.page.goto(f"{path}?{urlencode(query)}" if query else path)
        self.look()
        return self.page

    def look(self) -> None:
        """Fail for anything that must not be."""
        about = self.page.url[:300]
        wrong = self.page.evaluate(LOOK, EVALUATED)
        problems = [one for one in self._watch.problems if not _is_status(one)]
        self._watch.problems.clear()
        assert not wrong and not problems, f"{about}\n" + "\n".join([*wrong, *problems])


def _is_status(problem: str) -> bool:
    """The browser itself tells of pages that were refused."""
    return problem.startswith("console: Failed to load resource: the server responded with a status of 4")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    made = hostile_world(tmp_path_factory.mktemp("hostile"))
    make_accounts(made.data)
    return made


@pytest.fixture(scope="module")
def server(hostile: Hostile) -> Iterator[WholeServer]:
    with whole_server(hostile.data, title=TITLE) as running:
        yield running


@pytest.fixture(scope="module")
def operator(server: WholeServer) -> Iterator[httpx.Client]:
    """A program that is logged in."""
    with client_of(server.address) as client:
        assert log_in(client, "operator").status_code == 303
        yield client


@pytest.fixture(scope="module")
def visiting(browser: Browser, server: WholeServer) -> Iterator[Visiting]:
    context = browser.new_context(base_url=server.address)
    context.set_default_timeout(LIMIT)
    page, watch = context.new_page(), Watch(server.address)
    watch.follow(page)
    page.expose_function("report", lambda text: watch.problems.append(text))
    page.add_init_script(VIOLATIONS)
    page.goto("/console/login")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password").fill(PASSWORDS["operator"])
    page.keyboard.press("Enter")
    page.wait_for_url("**/console")
    yield Visiting(page, watch)
    context.close()


def _each(name: str, **more: str) -> list[dict[str, str]]:
    return [{name: payload, **more} for payload in PAYLOADS]


VISITS: dict[str, Callable[[Hostile], list[dict[str, str]]]] = {
    "/": lambda h: [{}, {"q": ALL}],
    "/api": lambda h: [{}],
    "/search": lambda h: [
        *_each("q"), {"q": "silk"}, {"q": "gossamer", "sort": "date"}, {"q": f"silk {ALL}"}, {"q": "silk", "page": ALL},
        {"q": "silk", "site": ALL, "lang": ALL, "type": ALL, "category": ALL, "since": ALL, "sort": ALL},
        {"q": "silk", "lang": SHORT}, {"q": "silk", "category": PAYLOADS[0]}, {"q": "site:evil.test"},
    ],
    "/cached": lambda h: [*({"url": url, "q": ALL} for url in h.pages), *_each("url"), {}],
    "/explain": lambda h: [*({"url": url, "q": "silk"} for url in h.pages), {"url": ALL, "q": ALL}, {}],
    "/story": lambda h: [*({"url": url} for url in h.pages), {"url": ALL}, {}],
    "/history": lambda h: [*({"url": url} for url in h.pages), {"url": ALL, "older": ALL, "newer": ALL}, {}],
    "/c/{name}": lambda h: [{}, {"q": ALL}],
    "/c/evil/": lambda h: [{}],
    "/c/evil/search": lambda h: [{}, *_each("q"), {"q": "silk"}],
    "/c/{name}/": lambda h: [{}, {"q": ALL}],
    "/c/{name}/search": lambda h: [{}, {"q": ALL}],
    "/console": lambda h: [{}, {"window": ALL}],
    "/console/accounts": lambda h: [{}],
    "/console/alerts": lambda h: [{}, {"alert": h.alert}, {"alert": ALL}],
    "/console/audit": lambda h: [{}, {"who": ALL, "action": ALL, "subject": ALL, "page": ALL}, *_each("subject")],
    "/console/desk": lambda h: [{}, {"about": ALL}],
    "/console/desk/best-bets": lambda h: [{}, *_each("queries", about=ALL), *_each("q"), *_each("url")],
    "/console/desk/boosts": lambda h: [{}, *_each("site"), *_each("q")],
    "/console/desk/collections": lambda h: [{}, *_each("title"), *_each("q")],
    "/console/desk/file": lambda h: [{}],
    "/console/desk/hidden": lambda h: [{}, *_each("url"), *_each("q")],
    "/console/desk/history": lambda h: [{}],
    "/console/desk/stop-words": lambda h: [{}],
    "/console/desk/synonyms": lambda h: [{}, *_each("words", about=ALL), *_each("q")],
    "/console/desk/try": lambda h: [{}],
    "/console/evaluations": lambda h: [{}, {"set": ALL}, {"set": ALL, "ranking": PAYLOADS[1]}, {"set": SHORT}],
    "/console/filters": lambda h: [
        {}, {"site": ALL, "page": ALL}, {"site": h.site},
        *({"site": h.site, "kind": "prefix", "pattern": f"/{payload}/"} for payload in PAYLOADS),
    ],
    "/console/jobs": lambda h: [{}, *_each("name")],
    "/console/login": lambda h: [],  # below, without a login
    "/console/rules": lambda h: [
        {}, {"q": ALL}, *_each("rule"), {"rule": RULE.format("x"), "page": ALL},
        {"rule": RULE.format("x"), "page": h.pages[1]},
        *({"domain": "evil.test", "name": f"{n} {payload}"} for n, payload in enumerate(PAYLOADS)),
    ],
    "/console/searches": lambda h: [{}, {"days": ALL}],
    "/console/searches/why": lambda h: [{}, *_each("q"), {"q": f"site:evil.test -silk {ALL}"}],
    "/console/settings": lambda h: [{}, {"q": ALL}, {"changed": "1"}],
    "/console/site": lambda h: [
        {"name": h.site}, {"name": h.site.replace("evil.test", OTHER_SITE)}, {"name": ALL}, {"name": SHORT}, {},
    ],
    "/console/freshness": lambda h: [{}, {"page": ALL}],
    "/console/seeds": lambda h: [{}, {"q": ALL, "page": ALL}, *_each("q")],
    "/console/sites": lambda h: [{}, {"q": ALL, "state": ALL, "error": ALL, "sort": ALL}, {"page": SHORT}],
    "/console/url": lambda h: [
        {}, *({"url": url} for url in (*h.pages, *h.others)), *_each("q"), *_each("url"),
        {"url": h.pages[1], "query": ALL}, {"url": h.pages[1], "query": "silk", "visits": ALL}, {"q": "silk"},
    ],
}  # fmt: skip
"""What each page is asked for."""


def test_every_route_of_the_server_is_visited(server: WholeServer) -> None:
    assert {path for path in VISITS if not path.startswith("/c/evil/")} | DATA == set(server.gets)
    assert not set(VISITS) & DATA


@pytest.mark.parametrize("path", [path for path in VISITS if path != "/console/login"])
def test_nothing_runs_on(path: str, visiting: Visiting, hostile: Hostile) -> None:
    visits = VISITS[path](hostile)
    assert visits
    for query in visits:
        visiting.go(path, **query)


def test_nothing_runs_before_the_login(browser: Browser, server: WholeServer) -> None:
    context = browser.new_context(base_url=server.address)
    context.set_default_timeout(LIMIT)
    page, watch = context.new_page(), Watch(server.address)
    watch.follow(page)
    anonymous = Visiting(page, watch)
    for query in [{}, *_each("next"), {"next": f"/console/url?q={ALL}", "changed": ALL}]:
        anonymous.go("/console/login", **query)
    for payload in (ALL, SHORT, PAYLOADS[6]):
        page.get_by_label("Name").fill(payload.replace("\x1b", "").replace("\x07", ""))
        page.get_by_label("Password").fill("not the password")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        anonymous.look()
    anonymous.go(f"/console/{ALL}".replace("?", ""))
    context.close()


SHOWN = {
    "/": lambda h: ({}, TITLE),
    "/search": lambda h: ({"q": "silk"}, PAYLOADS[1]),
    "/cached": lambda h: ({"url": page_with(h, 3)}, PAYLOADS[3]),
    "/console": lambda h: ({}, PAYLOADS[0]),
    "/console/alerts": lambda h: ({"alert": h.alert}, PAYLOADS[5]),
    "/console/audit": lambda h: ({}, PAYLOADS[5]),
    "/c/evil/": lambda h: ({}, '<b onclick=window.__xss=1>{{7919*7919}}"'),
    "/c/evil/search": lambda h: ({"q": "silk"}, '<b onclick=window.__xss=1>{{7919*7919}}"'),
    "/console/desk": lambda h: ({}, PAYLOADS[1]),
    "/console/desk/best-bets": lambda h: ({}, PAYLOADS[5]),
    "/console/desk/collections": lambda h: ({}, '<b onclick=window.__xss=1>{{7919*7919}}"'),
    "/console/desk/file": lambda h: ({}, "<script>window.__xss=1</script>"),
    "/console/desk/history": lambda h: ({}, PAYLOADS[1]),
    "/console/desk/stop-words": lambda h: ({}, PAYLOADS[0]),
    "/console/desk/synonyms": lambda h: ({}, PAYLOADS[0]),
    "/console/desk/try": lambda h: ({}, PAYLOADS[2]),
    "/console/evaluations": lambda h: ({}, PAYLOADS[2]),
    "/console/filters": lambda h: ({"site": h.site, "kind": "prefix", "pattern": f"/{PAYLOADS[4]}/"}, PAYLOADS[4]),
    "/console/jobs": lambda h: ({}, PAYLOADS[4]),
    "/console/rules": lambda h: ({}, PAYLOADS[3]),
    "/console/searches": lambda h: ({}, PAYLOADS[0].lower()),
    "/console/settings": lambda h: ({}, PAYLOADS[0]),
    "/console/site": lambda h: ({"name": h.site}, PAYLOADS[0]),
    "/console/url": lambda h: ({"url": page_with(h, 3)}, PAYLOADS[3]),
}
"""Where which payload can be read."""


def page_with(hostile: Hostile, number: int) -> str:
    """The page of one payload."""
    return next(url for url in hostile.pages if url.endswith(f"/page/{number}.html"))


@pytest.mark.parametrize("path", list(SHOWN))
def test_what_is_hostile_is_shown_as_the_text_that_it_is(path: str, visiting: Visiting, hostile: Hostile) -> None:
    query, payload = SHOWN[path](hostile)
    page = visiting.go(path, **query)
    assert plain(payload).strip() in page.evaluate("document.body.textContent")


def test_what_is_typed_into_forms_is_text_on_the_page_that_follows(visiting: Visiting, hostile: Hostile) -> None:
    page = visiting.go("/console/alerts")
    page.get_by_text("Save a query").click()
    form = page.locator("form[action$='/alerts/add']")
    form.get_by_label("Name").fill(PAYLOADS[1])
    form.get_by_label("Query, as on the search page").fill(PAYLOADS[0])
    form.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text(f"Saved: {PAYLOADS[1]}")
    visiting.look()

    visiting.go("/console/site", name=hostile.site)
    page.get_by_text("Pause…").click()
    page.get_by_label("Reason").first.fill(PAYLOADS[2])
    page.get_by_role("button", name="Pause this site").click()
    expect(page.get_by_role("status")).to_contain_text(f"Paused {hostile.site}")
    visiting.look()
    expect(visiting.go("/console/sites").locator("main")).to_contain_text(f"paused: {PAYLOADS[2]}")

    visiting.go("/console/url", url=page_with(hostile, 4))
    page.get_by_text("Remove…").click()
    page.get_by_label("Reason", exact=True).fill(PAYLOADS[3])
    page.get_by_role("button", name="Remove this page").click()
    expect(page.locator("#verdict")).to_contain_text(PAYLOADS[3])
    visiting.look()

    pattern = f"/{PAYLOADS[5]}/"
    visiting.go("/console/filters", site=hostile.site, kind="prefix", pattern=pattern)
    panel = page.locator("#filter")
    panel.locator("summary", has_text="Switch off").click()
    panel.get_by_role("button", name="Yes: Switch off").click()
    expect(page.get_by_role("status")).to_contain_text(f"prefix {pattern}: switched off")
    visiting.look()

    # What cannot be shown as it is comes back from the form as it was.
    visiting.go("/console/filters", site=hostile.site, kind="prefix", pattern=f"/{PAYLOADS[-1]}/")
    panel.locator("summary", has_text="Switch on").click()
    panel.get_by_role("button", name="Yes: Switch on").click()
    expect(page.get_by_role("status")).to_contain_text("switched on, 0 URLs left the queue")
    visiting.look()

    visiting.go("/console/rules")
    page.get_by_label("Rule (TOML)").fill(PAYLOADS[4])
    page.get_by_role("button", name="Try it on stored pages").click()
    expect(page.get_by_label("Rule (TOML)")).to_have_value(PAYLOADS[4])
    visiting.look()

    visiting.go("/console/accounts")
    form = page.locator("form[action$='/accounts/add']")
    form.get_by_label("Name").fill(PAYLOADS[1])
    form.get_by_role("button", name="Add account").click()
    expect(page.locator("main")).to_contain_text("A name may have letters a to z")
    visiting.look()
    visiting.go("/console/audit")


RAW = [payload for payload in PAYLOADS if "<" in payload and "&lt;" not in payload and "<%" not in payload]


@pytest.mark.parametrize("number", range(len(RAW)))
def test_the_look_finds_what_it_looks_for(visiting: Visiting, number: int) -> None:
    """Pages that do not escape; the policy of our pages does not protect them."""
    page = visiting.page
    body = f'<!doctype html><title>x</title><p>{RAW[number]}</p><input value="{RAW[number]}">'
    page.route("**/unsafe", lambda route: route.fulfill(body=body, content_type="text/html"))
    with pytest.raises(AssertionError):
        visiting.go("/unsafe")
    page.unroute("**/unsafe")


@pytest.mark.parametrize(
    "unsafe", [f"<a href='javascript:{RUN}'>x</a>", f"<p onclick='{RUN}'>x", EVALUATED, "\u202ex", "<svg></svg>"]
)
def test_the_look_finds_the_small_things_as_well(visiting: Visiting, unsafe: str) -> None:
    page = visiting.page
    page.route(
        "**/unsafe", lambda route: route.fulfill(body=f"<!doctype html><title>x</title>{unsafe}",
                                                 content_type="text/html; charset=utf-8")
    )  # fmt: skip
    with pytest.raises(AssertionError):
        visiting.go("/unsafe")
    page.unroute("**/unsafe")


def is_data(answer: httpx.Response, *kinds: str) -> None:
    """An answer that no browser takes for a page."""
    assert answer.headers["content-type"].partition(";")[0] in kinds, answer.url
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in answer.headers["content-security-policy"]


class Tags(HTMLParser):
    """The elements that a reader of feeds would make of a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.append(tag)


def texts_of(tree: ElementTree.Element, kind: str) -> list[str]:
    """Titles and texts as they are read: Atom says that they are text, readers of RSS take them for HTML."""
    texts = []
    for element in tree.iter():
        if element.tag.rpartition("}")[2] not in ("title", "description", "summary", "name"):
            continue
        text = element.text or ""
        if kind == "rss":
            assert not Tags(text).found, text
            text = html.unescape(text)
        assert element.get("type", "text") == "text"
        texts.append(text)
    return texts


@pytest.mark.parametrize("kind", ["atom", "rss"])
def test_feeds_parse_and_hold_what_is_hostile_as_text(operator: httpx.Client, hostile: Hostile, kind: str) -> None:
    found = operator.get(f"/feed.{kind}", params={"q": "silk"})
    saved = operator.get(f"/alerts/{hostile.alert}.{kind}")
    for answer in (found, saved):
        assert answer.status_code == 200
        is_data(answer, f"application/{kind}+xml")
        tree = ElementTree.fromstring(answer.content)
        texts = texts_of(tree, kind)
        assert PAYLOADS[1] in texts
        assert EVALUATED not in "".join(texts)
        links = [element.get("href") or element.text or "" for element in tree.iter() if element.tag.endswith("link")]
        assert len(links) > 2 and all(link.startswith(("http://", "https://")) for link in links), links
    for payload in PAYLOADS:
        texts_of(ElementTree.fromstring(operator.get(f"/feed.{kind}", params={"q": payload}).content), kind)


def test_the_description_of_the_search_parses(operator: httpx.Client) -> None:
    answer = operator.get("/opensearch.xml")
    is_data(answer, "application/opensearchdescription+xml")
    tree = ElementTree.fromstring(answer.content)
    assert TITLE[:16] in "".join(tree.itertext())


def test_json_parses_and_holds_what_is_hostile_as_text(operator: httpx.Client, hostile: Hostile) -> None:
    page = page_with(hostile, 1)
    asked: dict[str, dict[str, str]] = {
        "/api/v1/search": {"q": "silk"}, "/api/v1/page": {"url": page}, "/api/v1/explain": {"url": page, "q": ALL},
        "/api/v1/like": {"url": page}, "/customsearch/v1": {"q": "silk"},
        "/customsearch/v1/siterestrict": {"q": "silk"}, "/api/v1/similar": {"url": page, "q": "silk"},
        "/api/v1/story": {"url": page},
        "/api/v1/history": {"url": page}, "/api/v1/suggest": {"q": "<scr"}, "/api/v1/status": {},
        "/api/v1/openapi.json": {}, "/suggest": {"q": "<scr"}, "/console/evaluations/chart.json": {"set": ALL,
        "ranking": SHORT}, "/console/overview.json": {}, "/console/overview/chart.json": {"name": "speed"},
        "/console/searches/chart.json": {}, "/console/site.json": {"name": hostile.site},
        "/console/site/extraction.json": {"name": hostile.site}, "/healthz": {}, "/readyz": {},
    }  # fmt: skip
    told = {}
    for path, query in asked.items():
        answer = operator.get(path, params=query)
        assert answer.status_code == 200, (path, answer.text)
        is_data(answer, "application/json", "application/x-suggestions+json", "text/plain")
        if "json" in answer.headers["content-type"]:
            told[path] = json.loads(answer.content)
    assert PAYLOADS[1] in json.dumps(told["/api/v1/search"], ensure_ascii=False).replace('\\"', '"')
    assert told["/api/v1/page"]["title"] == PAYLOADS[1]
    assert set(told["/console/evaluations/chart.json"]["series"]) == {payload[:60] for payload in PAYLOADS}


def test_a_program_that_is_refused_gets_data_too(operator: httpx.Client) -> None:
    for path in ("/api/v1/search", "/api/v1/page", "/api/v1/history", "/suggest", "/api/v1/nothing"):
        for payload in PAYLOADS:
            answer = operator.get(path, params={"url": payload, "q": payload, "page": payload, "older": payload})
            is_data(answer, "application/json", "application/x-suggestions+json")
            json.loads(answer.content)


def test_metrics_parse_and_no_name_breaks_out_of_its_label(operator: httpx.Client) -> None:
    answer = operator.get("/metrics")
    is_data(answer, "text/plain", "application/openmetrics-text")
    families: list[Any] = list(text_string_to_metric_families(answer.text))
    assert families and all(family.name.startswith(("gossamer_", "python_", "process_")) for family in families)


def test_files_and_plain_answers_are_what_they_say(operator: httpx.Client) -> None:
    is_data(operator.get("/robots.txt"), "text/plain")
    is_data(operator.get("/favicon.svg"), "image/svg+xml")
    is_data(operator.get("/static/console.css"), "text/css")
    is_data(operator.get("/static/charts.js"), "text/javascript", "application/javascript")
    assert operator.get(f"/static/{PAYLOADS[0]}").status_code == 404
    assert operator.get(f"/alerts/{PAYLOADS[0]}.atom").status_code == 404
