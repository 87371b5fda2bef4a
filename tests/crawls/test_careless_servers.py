"""What servers answer by mistake or on purpose, in one crawl: `explain` and `feeds` say what happened to each URL."""

from __future__ import annotations

from pathlib import Path

import pytest
from crawl_kit import run, settings_of, write_settings
from inside import gossamer

from gossamer.demo.message import Reply
from gossamer.testing import FakeWeb

BROKEN_INDEX = (
    "<sitemapindex><sitemap><loc>/b.xml</loc></sitemap><sitemap><loc>/c.xml</sitemap></sitemapindex>"  # no </loc>
)
EMPTY_INDEX = "<sitemapindex><sitemap>/b.xml</sitemap></sitemapindex>"


class Careless:
    """The crawl and how to ask about it."""

    def __init__(self, data: Path, root: str) -> None:
        self.data, self._root = data, root

    def explained(self, path: str) -> str:
        return gossamer("explain", self.url(path), data=self.data).out

    def url(self, path: str) -> str:
        return self._root + path


@pytest.fixture(scope="module")
def careless(tmp_path_factory: pytest.TempPathFactory) -> Careless:
    data = tmp_path_factory.mktemp("careless") / "data"
    web = FakeWeb()
    site = web.site("a.test")
    site.robots("User-agent: *<BR>\nDisallow: /private<BR>\n")
    for status in (206, 300, 305, 600, 999):
        site.reply(f"/{status}", Reply("<p>some text", status, [("Location", "/elsewhere")]))
    site.redirect("/one", "/other")
    site.redirect("/other", "/one")
    site.page("/three-slashes", "<title>Slashes</title><p>Three of them.</p>")
    for path, body in (("/broken.xml", BROKEN_INDEX), ("/empty.xml", EMPTY_INDEX)):
        site.reply(path, Reply(body, content_type="text/xml"))
    with web:
        links = ("/206", "/300", "/305", "/600", "/999", "/one", "/private/1", f"///a.test:{web.port}/three-slashes")
        seed = site.page("/", "<title>Start</title>" + "".join(f'<a href="{link}">{link}</a>' for link in links))
        patient = settings_of(web, politeness={"backoff_cap": 0.2}, crawl={"linger": 120.0}, budget={"retries": 1})
        write_settings(data, patient)
        injected = run("inject", "--sitemap", site.url("/broken.xml"), site.url("/empty.xml"), data=data)
        assert injected.returncode == 0, injected.stderr
        done = run("crawl", seed, "--quiet", data=data)
        assert "Traceback" not in done.stderr, done.stderr
        return Careless(data, seed.removesuffix("/"))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/206", "status 206: a part of the page, but the request was for all of it"),
        ("/300", "status 300 is not a redirect that Gossamer follows"),
        ("/305", "status 305 is not a redirect that Gossamer follows"),
        ("/600", "status 600 does not exist in HTTP"),
        ("/999", "status 999 does not exist in HTTP"),
        ("/private/1", "robots.txt forbids /private/1 (Disallow: /private)"),
        ("/three-slashes", "document: fetched and kept"),
        ("/elsewhere", "points to it"),
        ("/broken.xml", "only partly read: not well-formed XML"),
        ("/empty.xml", "it names no URL"),
    ],
)
def test_each_answer_is_named(careless: Careless, path: str, said: str) -> None:
    assert said in careless.explained(path)


@pytest.mark.parametrize("path", ["/one", "/other"])
def test_redirects_that_lead_back_are_named_a_loop_at_both_ends(careless: Careless, path: str) -> None:
    shown = careless.explained(path)
    assert "redirects in a loop" in shown
    assert careless.url("/one") in shown and careless.url("/other") in shown


def test_the_list_of_feeds_says_which_could_not_be_read_and_how_many(careless: Careless) -> None:
    shown = gossamer("feeds", data=careless.data).out
    lines = {line.split()[1]: line for line in shown.splitlines() if line.startswith("sitemap")}
    assert "only partly read: not well-formed XML" in lines[careless.url("/broken.xml")]
    assert "it names no URL" in lines[careless.url("/empty.xml")]
    assert "could not read 2 of 3, or not to the end." in shown
