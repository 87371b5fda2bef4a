"""Which pages are rendered by themselves, what counts as a gain, and what a rendered page keeps of the first one."""

from __future__ import annotations

import msgspec
import pytest

from gossamer.crawl.reading import PageParser
from gossamer.crawl.render.choice import Modes, has_gained, merged, most_requests, why_render
from gossamer.crawl.scope import ParserConfig
from gossamer.crawl.understand import Rules, of_page
from gossamer.fetch.browser_config import BrowserConfig
from gossamer.frontier.contract import Budgets, Place
from gossamer.model.decision import allow
from gossamer.model.outcome import Outcome
from gossamer.model.records import Kind, Parsed, ParseJob, Response, Task
from gossamer.model.site import key64, packed_keys
from gossamer.model.url import Canonicalizer, CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig
from gossamer.settings import Settings

URL = "http://a.test/"
WORDS = "Warp and weft cross at right angles, and that is all there is to plain cloth. "
READER = PageParser(ParserConfig(CanonicalRules(), ScopeConfig("list", ("a.test",)), (), ParseLimits()))


def parsed(html: str, content_type: str = "text/html") -> Parsed:
    return READER.read(ParseJob(URL, Kind.PAGE, content_type, html.encode()))


def chosen(html: str, mode: str = "auto") -> str:
    return why_render(mode, html.encode(), parsed(html))


EMPTY = {
    "react": '<body><noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div>'
    '<script src="/static/js/main.js"></script>',
    "vue, with a comment": "<body><div id=app><!-- filled later --></div><script type=module src=/app.js></script>",
    "angular": "<body><app-root></app-root><script src=main.js></script>",
    "svelte, with a loading notice": '<body><p>Loading …</p><script type="module">start()</script>',
    "nothing at all but a script": "<script>document.write(page)</script>",
    "a notice and a footer": "<body><noscript><p>Please turn on <b>JavaScript</b>.</p></noscript>"
    f"<script src=a.js></script><footer>{'Imprint, contact, terms of use. ' * 10}</footer>",
}
FULL = {
    "an article with scripts": f"<body><script src=a.js></script><article><h1>Cloth</h1><p>{WORDS * 30}</p></article>",
    "rendered by the server": f'<body><div id="root"><main><p>{WORDS * 30}</p></main></div><script src=a.js></script>',
    "short, without scripts": "<body><h1>Cloth</h1><p>Closed on Mondays.</p>",
    "structured data are no script": '<p>Closed.</p><script type="application/ld+json">{"@type": "Thing"}</script>',
    "a list of links": "<body><script src=a.js></script><ul>"
    + "".join(f"<li><a href=/p{n}>Page {n}</a></li>" for n in range(40)),
    "asks not to be indexed": '<meta name=robots content=noindex><div id="root"></div><script src=a.js></script>',
    "a redirect that can be read": '<script>location.href = "/other"</script>',
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_page_that_scripts_would_fill_is_rendered(name: str) -> None:
    assert chosen(EMPTY[name]) != ""


@pytest.mark.parametrize("name", FULL)
def test_a_page_that_is_complete_is_not(name: str) -> None:
    assert chosen(FULL[name]) == ""


def test_in_mode_on_every_html_page_is_rendered_and_in_mode_off_none() -> None:
    full, empty = FULL["an article with scripts"], EMPTY["react"]
    assert chosen(full, "on") and chosen(FULL["asks not to be indexed"], "on")
    assert chosen(empty, "off") == ""
    assert why_render("on", b"words", parsed("words", "text/plain")) == ""
    assert why_render("on", b"", Parsed(URL, ok=False, problem="broken", media_type="text/html")) == ""


def test_a_site_s_own_mode_wins_whatever_its_port() -> None:
    sites = {"App.test": {"javascript": "on"}, "https://old.test": {"javascript": "off"}, "plain.test": {}}
    modes = Modes(msgspec.convert({"browser": {"mode": "auto"}, "sites": sites}, Settings))
    asked = ("app.test", "app.test:8080", "old.test", "plain.test", "other.test")
    assert [modes.of(site) for site in asked] == ["on", "on", "off", "auto", "auto"]


def test_nothing_is_wanted_of_a_browser_where_all_is_off() -> None:
    assert not Modes(Settings()).any
    assert Modes(msgspec.convert({"sites": {"a.test": {"javascript": "auto"}}}, Settings)).any


@pytest.mark.parametrize(
    ("after", "gain"),
    [
        ({"text": WORDS}, True),
        ({"text": "Loading"}, False),
        ({"text": "Loading …"}, False),
        ({"text": "Loading", "follow": ["http://a.test/more"]}, True),
        ({"text": WORDS, "ok": False}, False),
    ],
)
def test_a_gain_is_more_text_or_another_link(after: dict[str, object], gain: bool) -> None:
    assert has_gained(Parsed(URL, text="Loading"), Parsed(URL, **after)) is gain


def test_another_text_of_the_same_length_is_a_gain() -> None:
    before = "You need to enable JavaScript to run this app, or else you see nothing."
    assert has_gained(Parsed(URL, text=before), Parsed(URL, text=WORDS[: len(before)]))


def test_a_script_cannot_take_back_what_the_page_asked_for() -> None:
    before = Parsed(URL, noindex=True, nofollow=True, noarchive=True, ai_signals=["noai"], charset="latin-1")
    after = Parsed(
        URL, text=WORDS, method="model", follow=["http://a.test/x"], follow_keys=packed_keys([1]), charset="utf-8"
    )
    both = merged(before, after)
    assert (both.noindex, both.nofollow, both.noarchive) == (True, True, True)
    assert (both.follow, both.follow_keys, both.ai_signals) == ([], b"", ["noai"])
    assert (both.method, both.charset, both.text) == ("rendered model", "latin-1", WORDS)


def test_a_rendered_page_is_visited_again_without_conditions() -> None:
    """The shell of an app stays the same while its text changes."""
    rules = Rules(Canonicalizer(), lambda url, now: allow("scope", "fine"), lambda keys, depth: [], Budgets(), 4, "w1")
    task = Task(URL, key64(URL), Kind.PAGE, level=5, seq=1, depth=0, hops=0, attempts=0)
    headers = [("ETag", '"1"'), ("Last-Modified", "Mon, 02 Jan 2023 00:00:00 GMT")]
    response = Response(URL, Outcome.DOCUMENT, 1.0, 2.0, 3.0, 200, headers=headers)
    plain = of_page(Place("a.test"), task, response, Parsed(URL, text=WORDS, method="model"), rules).visit
    rendered = of_page(Place("a.test"), task, response, Parsed(URL, text=WORDS, method="rendered model"), rules).visit
    assert (plain.etag, rendered.etag, rendered.last_modified) == ('"1"', "", "")


def test_the_share_of_a_site_s_requests_goes_by_its_delay() -> None:
    config = BrowserConfig(share=0.2)
    assert most_requests(config, 1.0) == pytest.approx(17_280)
    assert most_requests(config, 10.0) == pytest.approx(1_728)
    assert most_requests(config, 0.0) == float("inf")


REPEATED = ["<div ", "<script ", "<noscript>", "<noscript><", "id=root>", "<app-x ", "<!--", " id="]


@pytest.mark.parametrize("piece", REPEATED)
def test_markup_that_repeats_itself_for_ever_is_judged_all_the_same(piece: str) -> None:
    """An expression that goes back and forth over it would not come to an end."""
    html = ("<script>" + piece * 300_000).encode()
    assert why_render("auto", html, Parsed(URL, media_type="text/html")).startswith("0 characters")
