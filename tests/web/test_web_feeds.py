"""Feeds and descriptions for programs: well-formed, complete by their specifications, the same tomorrow."""

from __future__ import annotations

import datetime
import email.utils
from xml.etree import ElementTree as ET

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web_kit import MemoryService, client

from gossamer.search.results import Hit, Marked, Request, Results
from gossamer.web.feeds import atom, rss

A = "{http://www.w3.org/2005/Atom}"
O = "{http://a9.com/-/spec/opensearch/1.1/}"  # noqa: E741 - OpenSearch, as A is Atom


def tree(site: httpx.Client, path: str, kind: str) -> ET.Element:
    response = site.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"] == kind
    return ET.fromstring(response.content)


def text(element: ET.Element, name: str) -> str:
    found = element.find(name)
    assert found is not None and found.text, name
    return found.text


def moment(value: str) -> datetime.datetime:
    at = datetime.datetime.fromisoformat(value)
    assert at.tzinfo is not None
    return at


def test_an_atom_feed_has_the_required_elements(site: httpx.Client) -> None:
    feed = tree(site, "/feed.atom?q=rocket", "application/atom+xml")
    assert feed.tag == f"{A}feed"
    assert text(feed, f"{A}title") == "rocket – Gossamer"
    assert text(feed, f"{A}author/{A}name") == "Gossamer"
    base = str(site.base_url).rstrip("/")
    assert text(feed, f"{A}id") == f"{base}/feed.atom?q=rocket"
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{A}link")}
    assert links == {"self": f"{base}/feed.atom?q=rocket", "alternate": f"{base}/search?q=rocket&sort=date"}
    entries = feed.findall(f"{A}entry")
    assert len(entries) == 6
    for entry in entries:
        assert text(entry, f"{A}title")
        assert text(entry, f"{A}id") == entry.find(f"{A}link[@rel='alternate']").get("href")
        moment(text(entry, f"{A}updated"))
    assert moment(text(feed, f"{A}updated")) == max(moment(text(e, f"{A}updated")) for e in entries)


def test_the_newest_come_first_in_both_feeds(site: httpx.Client) -> None:
    entries = tree(site, "/feed.atom?q=orbit", "application/atom+xml").findall(f"{A}entry")
    times = [moment(text(entry, f"{A}updated")) for entry in entries]
    assert times == sorted(times, reverse=True) and len(times) == 30
    items = tree(site, "/feed.rss?q=orbit", "application/rss+xml").findall("channel/item")
    assert [text(item, "link") for item in items] == [text(entry, f"{A}id") for entry in entries]


def test_an_rss_feed_has_the_required_elements(site: httpx.Client) -> None:
    feed = tree(site, "/feed.rss?q=rocket&lang=en", "application/rss+xml")
    assert (feed.tag, feed.get("version")) == ("rss", "2.0")
    channel = feed.find("channel")
    assert channel is not None
    base = str(site.base_url).rstrip("/")
    assert text(channel, "title") and text(channel, "description")
    assert text(channel, "link") == f"{base}/search?q=rocket&sort=date&lang=en"
    assert channel.find(f"{A}link").get("href") == f"{base}/feed.rss?q=rocket&lang=en"
    for item in channel.findall("item"):
        assert text(item, "guid") == text(item, "link")
        assert email.utils.parsedate_to_datetime(text(item, "pubDate")).tzinfo


def test_ids_stay_the_same_whatever_is_written_around_the_query(site: httpx.Client) -> None:
    plain = tree(site, "/feed.atom?q=rocket", "application/atom+xml")
    padded = tree(site, "/feed.atom?page=7&q=rocket&sort=date&size=3&since=", "application/atom+xml")
    assert text(plain, f"{A}id") == text(padded, f"{A}id")
    assert len(padded.findall(f"{A}entry")) == len(plain.findall(f"{A}entry"))


@pytest.mark.parametrize("kind", ["atom", "rss"])
def test_hostile_pages_cannot_break_a_feed(site: httpx.Client, kind: str) -> None:
    feed = tree(site, f"/feed.{kind}?q=silk", f"application/{kind}+xml")
    found = [element.text or "" for element in feed.iter() if element.tag in ("title", f"{A}title")]
    title = "<script>document.title='owned'</script> silk"
    # Readers of RSS take titles for HTML, those of Atom are told that it is text.
    assert (title if kind == "atom" else title.replace("<", "&lt;")) in found
    assert any("bell" in title for title in found)
    links = [e.text if e.tag == "link" else e.get("href") for e in feed.iter() if e.tag in ("link", f"{A}link")]
    assert all(link and link.startswith(("http://", "https://")) for link in links)


def test_a_feed_without_results_dates_from_the_index(site: httpx.Client) -> None:
    feed = tree(site, "/feed.atom?q=nothingatall", "application/atom+xml")
    assert text(feed, f"{A}updated") == "2026-09-21T14:13:20Z"
    assert not feed.findall(f"{A}entry")


anything = st.text(st.characters(), max_size=30)


@given(anything, anything, anything, st.one_of(st.none(), anything, st.dates().map(str), st.datetimes().map(str)))
def test_feeds_are_well_formed_whatever_pages_hold(query: str, title: str, body: str, date: str | None) -> None:
    hit = Hit(url="https://a.test/", title=Marked(title), excerpt=Marked(body), score=1.0, site="a.test", date=date)
    results = Results(request=Request(query=query), total=1, hits=(hit,), pages=1)
    for make in (atom, rss):
        root = ET.fromstring(make(results, "T", "https://s.test/", "https://s.test/feed", 0.0))
        assert len([e for e in root.iter() if e.tag in ("item", f"{A}entry")]) == 1


def test_the_opensearch_description_is_complete(site: httpx.Client) -> None:
    root = tree(site, "/opensearch.xml", "application/opensearchdescription+xml")
    assert root.tag == f"{O}OpenSearchDescription"
    assert len(text(root, f"{O}ShortName")) <= 16 and len(text(root, f"{O}LongName")) <= 48
    assert text(root, f"{O}Description")
    urls = {url.get("type"): str(url.get("template")) for url in root.findall(f"{O}Url")}
    base = str(site.base_url).rstrip("/")
    assert urls["text/html"].startswith(f"{base}/search?q={{searchTerms}}")
    for template in urls.values():
        path = template.replace("{searchTerms}", "rocket").replace("{startPage?}", "")
        assert site.get(path).status_code == 200


def test_a_long_or_odd_title_still_makes_a_valid_description() -> None:
    with client(MemoryService(), title="A <very> & long name of a \x07 search engine " * 3) as http:
        root = tree(http, "/opensearch.xml", "application/opensearchdescription+xml")
        assert len(text(root, f"{O}ShortName")) <= 16
        assert "<very>" not in http.get("/").text


def test_crawlers_are_kept_out_of_endless_pages(site: httpx.Client) -> None:
    lines = site.get("/robots.txt").text.splitlines()
    assert lines[0] == "User-agent: *"
    assert {"Disallow: /search", "Disallow: /cached", "Disallow: /api/"} <= set(lines)
    assert "noindex" not in site.get("/").text
