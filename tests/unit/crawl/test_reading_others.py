"""What parsers of other types return is completed like a page: links, scope, wishes, fingerprints, category."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest

from gossamer import plugins
from gossamer.categories.examples import Example
from gossamer.categories.training import train
from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.dedup.near.registry import DEFAULT, near_method
from gossamer.model.records import Kind, Link, Parsed, ParseJob
from gossamer.model.site import key64, unpacked_keys
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule
from gossamer.scope.chain import ScopeConfig

RECIPE = "application/x-recipe"
SOUP = "Fry the onions in butter, add salt and boil the soup for an hour in a large pot. " * 3
MATCH = "The striker scored a goal and the goalkeeper saved the match before the cup final. " * 3


def read_recipe(job: ParseJob) -> Parsed:
    """A reader as a plug-in would write it: links as they are written, nothing worked out."""
    links = [Link("/pot.html", "the pot"), Link("HTTP://A.test:80/salt", "salt"), Link("http://b.test/", "elsewhere"),
             Link("mailto:cook@a.test", "write")]  # fmt: skip
    return Parsed(job.url, media_type=RECIPE, title="A page", text=job.body.decode(), links=links, date="2099-01-01")


@pytest.fixture(autouse=True)
def recipes() -> Iterator[None]:
    plugins.PARSERS.register(RECIPE, read_recipe)
    yield
    del plugins.PARSERS._built_in[RECIPE]


@pytest.fixture(scope="module")
def model() -> bytes:
    words = "one two three four five six seven eight nine ten eleven twelve".split()
    pages = [Example(name, "", f"{text} {word}") for name, text in (("food", SOUP), ("sport", MATCH)) for word in words]
    return train(pages).to_bytes()


def read(
    body: str | bytes = SOUP, content_type: str = RECIPE, robots: tuple[str, ...] = (), **config: object
) -> Parsed:
    settings = ParserConfig(CanonicalRules(), ScopeConfig(hosts=("a.test",)), (), ParseLimits())
    reader = PageParser(msgspec.structs.replace(settings, **config))
    data = body if isinstance(body, bytes) else body.encode()
    return reader.read(ParseJob("http://a.test/page", Kind.PAGE, content_type, data, list(robots)))


def test_links_are_canonical_and_asked_of_the_scope() -> None:
    page = read()
    assert [link.url for link in page.links] == ["http://a.test/pot.html", "http://a.test/salt", "http://b.test/"]
    assert page.follow == ["http://a.test/pot.html", "http://a.test/salt"]
    assert list(unpacked_keys(page.follow_keys)) == list(map(key64, page.follow))


def test_language_and_fingerprints_are_those_of_a_page_with_the_same_text() -> None:
    recipe, plain = read(), read(content_type="text/plain")
    assert recipe.language == plain.language == "en"
    assert recipe.content_hash == plain.content_hash != ""
    long = near_method(DEFAULT).long_part
    assert long(recipe.fingerprint) == long(plain.fingerprint) != b""
    assert recipe.fingerprint != plain.fingerprint, "a post is compared by its title, too"


def test_what_the_headers_ask_for_holds() -> None:
    page = read(robots=("noindex, nofollow",))
    assert page.noindex and page.nofollow and page.follow == []


def test_a_date_of_the_future_is_not_believed() -> None:
    assert read().date == ""


def test_the_limits_of_the_settings_hold() -> None:
    page = read(limits=ParseLimits(max_text_chars=50, max_links=1))
    assert len(page.text) <= 50 and len(page.links) == 1


@pytest.mark.parametrize("content_type", [RECIPE, "text/html", "text/plain"])
def test_the_classifier_gives_a_category(model: bytes, content_type: str) -> None:
    page = read(f"<p>{MATCH}" if content_type == "text/html" else MATCH, content_type, categories=model)
    assert (page.category, page.category_source) == ("sport", "bayes")


def test_without_a_classifier_or_without_a_clue_there_is_no_category(model: bytes) -> None:
    assert (read().category, read().category_source) == ("", "")
    page = read("Quarterly figures of the ministry were published yesterday by its press office.", categories=model)
    assert (page.category, page.category_source) == ("", "")


@pytest.mark.parametrize("content_type", [RECIPE, "text/html", "text/plain"])
def test_a_rule_knows_better_than_the_classifier(model: bytes, content_type: str) -> None:
    rule = DocumentRule("a.test", ("/page",), category="kitchen")
    page = read(MATCH, content_type, categories=model, documents=(rule,))
    assert (page.category, page.category_source) == ("kitchen", "rule")


@pytest.mark.parametrize("content_type", ["application/pdf", "text/html", "application/octet-stream", "text/plain", ""])
def test_a_pdf_is_read_whatever_it_is_called(content_type: str) -> None:
    pytest.importorskip("pypdfium2", reason="needs gossamer[pdf]")
    body = (
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj "
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj "
        b"4 0 obj<</Length 32>>stream\nBT /F 9 Tf 9 9 Td (A leaf) Tj ET\nendstream endobj "
        b"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj trailer<</Root 1 0 R>>"
    )
    page = read(body, content_type)
    assert (page.ok, page.text, page.media_type) == (True, "A leaf", "application/pdf"), page.problem


def test_without_the_extra_a_pdf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins.PARSERS, "_built_in", {})
    monkeypatch.setitem(plugins.MISSING, "application/pdf", "install gossamer[pdf]")
    for content_type in ("application/pdf", "text/html", ""):
        page = read(b"%PDF-1.4 ...", content_type)
        assert (page.ok, page.unsupported) == (False, True)
        assert page.problem == "no parser for application/pdf: install gossamer[pdf]"


@pytest.mark.parametrize(
    ("text", "url", "title"),
    [
        ("Notes on webs\n\nfirst line", "http://a.test/x.txt", "Notes on webs"),
        ("\n\n   # A heading #\ntext", "http://a.test/x.md", "A heading"),
        ("=====\nRelease 7\n=====\ntext", "http://a.test/x.rst", "Release 7"),
        ("x" * 200, "http://a.test/dir/read%20me.txt", "read me.txt"),
        ("1234\n5678", "http://a.test/numbers.txt", "numbers.txt"),
        ("", "http://a.test/", "a.test"),
    ],
)
def test_a_plain_text_has_a_title(text: str, url: str, title: str) -> None:
    settings = ParserConfig(CanonicalRules(), ScopeConfig(hosts=("a.test",)), (), ParseLimits())
    assert PageParser(settings).read(ParseJob(url, Kind.PAGE, "text/plain", text.encode())).title == title
