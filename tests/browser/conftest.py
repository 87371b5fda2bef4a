"""A real browser before a real server.

`base_url` is the only place that knows what is served. Every page is watched: a blocked script, an error in the
console, a request to anybody else or a dialog fails the test that caused it.

Chromium runs per module: Playwright's synchronous interface keeps an event loop running, which other tests in the
same process could not bear.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_kit import CHROMIUM, FLAGS, LIMIT, VIOLATIONS, Watch
from playwright.sync_api import Browser, Page, expect, sync_playwright

sys.path.append(str(Path(__file__).parent.parent / "web"))
from web_kit import DOCUMENTS, MemoryService, MemoryStories, serving, without_haste

from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.site import key64
from gossamer.search.searcher import Searcher

OpenPage = Callable[..., Page]

expect.set_options(timeout=LIMIT)


@pytest.fixture(scope="module", autouse=True)
def patient_servers() -> Iterator[None]:
    with without_haste():
        yield


@pytest.fixture(scope="module")
def base_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the pages under test are: the documents of `web_kit`, held in memory, or in a real index for modules
    that set `REAL_INDEX`."""
    real = getattr(request.module, "REAL_INDEX", False)
    service = indexed(tmp_path_factory.mktemp("index")) if real else MemoryService()
    with serving(service, stories=MemoryStories()) as address:
        yield address


def indexed(root: Path) -> Searcher:
    """A searcher of a real index with the documents that a crawl could have found."""
    folder = IndexFolder(root)
    generation = folder.create()
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    pages = [
        IndexPage(
            url=doc.url, title=doc.title, text=doc.text, lang=doc.lang, date=doc.date, fetched_at=1_790_000_000.0,
            media_type="application/pdf" if doc.type == "pdf" else "text/html", cluster=key64(doc.copy or doc.url),
            joined=bool(doc.copy), page_type=doc.page_type, category=doc.category, author=doc.author,
        )
        for doc in DOCUMENTS
        if doc.url.startswith("http")
    ]  # fmt: skip
    writer.apply({page.key: build(page) for page in pages}, (), 1, 1_790_000_000.0)
    writer.close()
    folder.switch(generation)
    return Searcher.open(root)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.fail(f"the browser tests need Chromium at {CHROMIUM}: apt-get install chromium", pytrace=False)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS, timeout=2 * LIMIT)
        yield chromium
        chromium.close()


@pytest.fixture
def watch(base_url: str) -> Iterator[Watch]:
    watching = Watch(base_url)
    yield watching
    assert not watching.problems


@pytest.fixture
def open_page(browser: Browser, base_url: str, watch: Watch) -> Iterator[OpenPage]:
    """Opens a path in a fresh context; options are those of Playwright's contexts."""
    contexts = []

    def open_(path: str = "/", **options: Any) -> Page:
        context = browser.new_context(base_url=base_url, **options)
        context.set_default_timeout(LIMIT)
        contexts.append(context)
        page = context.new_page()
        watch.follow(page)
        if options.get("java_script_enabled", True):
            page.expose_function("report", lambda text: watch.problems.append(text))
            page.add_init_script(VIOLATIONS)
        page.goto(path)
        return page

    yield open_
    for context in contexts:
        context.close()
