"""A searcher in memory for tests of the server: real answers over some fifty documents in three languages.

It matches words, marks them, filters, pages, collapses copies and counts facets, so that a test of the page can tell
right from wrong. It is no model of ranking.
"""

from __future__ import annotations

import contextlib
import datetime
import difflib
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterator

import httpx
import msgspec
import pytest

from gossamer.clock import Clock
from gossamer.data.connection import SharedConnection
from gossamer.errors import GossamerError
from gossamer.frontier.views.stories import Cluster, Story, StoryPage
from gossamer.model.records import PageRow
from gossamer.search.overview import Outline, overview, phrases
from gossamer.search.results import (
    Alternate,
    Count,
    Facets,
    Factor,
    Hit,
    IndexState,
    Marked,
    Overview,
    Request,
    Results,
    ScoreExplanation,
    StoredPage,
)
from gossamer.settings import ServeSettings
from gossamer.store.visits import History, PageVisit, compare_pages, visit
from gossamer.web.app import create_app
from gossamer.web.server import WebServer
from gossamer.web.service import SearchService, StoryService

PATIENCE = 240.0
"""Seconds that a busy machine gets for whatever is waited for."""
_HASTE = (
    "gossamer.console.forms.FORM_SECONDS", "gossamer.console.pages.url.PATIENCE", "gossamer.data.connection._ANSWER",
    "gossamer.serving.stories._PATIENCE", "gossamer.operate.trial_process.PATIENCE", "gossamer.web.overviews._FIRST",
)  # fmt: skip
"""After so many seconds a server answers with less, or not at all: few, since a reader waits."""
TODAY = "2026-11-15"
DEPTH = 10
"""Pages of results that can be asked for."""
SETTINGS = ServeSettings(host="127.0.0.1", port=0, rate=0, title="Gossamer")


@contextlib.contextmanager
def without_haste() -> Iterator[None]:
    """Servers of this process wait for what a busy machine is slow to do; tests of an impatient one set its limit."""
    with pytest.MonkeyPatch.context() as patch:
        for name in _HASTE:
            patch.setattr(name, PATIENCE)
        patch.setattr(SharedConnection.__init__, "__defaults__", (PATIENCE,))
        yield


class Doc(msgspec.Struct, frozen=True):
    """One document; documents with the same `copy` are near copies."""

    url: str
    title: str
    text: str
    date: str | None = None
    lang: str | None = "en"
    copy: str = ""
    type: str = "html"
    page_type: str = "article"
    category: str = ""
    author: str = ""
    alternates: tuple[Alternate, ...] = ()


HOSTILE = (
    Doc("https://evil.test/script", "<script>document.title='owned'</script> silk",
        "<script>window.owned = 1</script> silk <b onclick=alert(1)>bold</b> &lt;i&gt; text", "2026-05-01"),
    Doc("https://evil.test/img", '"><img src=x onerror="window.owned=1"> silk',
        "silk '\"><svg onload=window.owned=1> --><!-- ]]> text", "2026-05-02",
        alternates=(Alternate("de", "https://evil.test/de"), Alternate('"><script>', "https://evil.test/<b>"),
                    Alternate("fr", "javascript:window.owned=1"))),
    Doc("javascript:window.owned=1//silk", "A link that is a script: silk", "silk runs here", "2026-05-03"),
    Doc("data:text/html,<script>window.owned=1</script>", "A link that is data: silk", "silk lies here", "2026-05-04"),
    Doc("https://evil.test/bidi", "silk \u202egnp.elif\u202c and \x07 bell \x00 nul", "silk \u202e reversed",
        "2026-05-05"),
    Doc("https://evil.test/%3Cscript%3E/?a=<b>&c=\"d\"", "", "silk without a title", "not a date", "<x>"),
    Doc("https://evil.test/long", "silk " + "unbreakable" * 60, "silk " + "x" * 2000, "2026-05-06"),
    Doc("https://evil.test/{{7*7}}", "{{ 7*7 }} {% raw %} silk ${7*7}", "silk {{ config }}", "2026-05-07",
        page_type="<script>window.owned=1</script>", category='"><img src=x onerror=window.owned=1>',
        author="<b onclick=window.owned=1>\u202eeve"),
)  # fmt: skip

DOCUMENTS = (
    Doc("https://www.example.org/rockets/history", "A short history of the rocket",
        "The rocket began as a firework. A rocket carries its own oxidiser, which is why it works in empty space.\n"
        "Long after the first fire arrows, engineers learned to steer it.", "2024-03-02"),
    Doc("https://www.example.org/rockets/engines", "How a rocket engine works",
        "A rocket engine throws mass backwards. The nozzle turns heat into speed.", "2025-07-19T08:30:00+02:00"),
    Doc("https://www.example.org/rockets/fuel", "Choosing rocket fuel",
        "Kerosene, hydrogen and methane: each rocket fuel is a compromise.", "2026-11-14"),
    Doc("https://mirror.example.net/rockets/engines", "How a rocket engine works (mirror)",
        "A rocket engine throws mass backwards. The nozzle turns heat into speed.", "2025-07-20", "en",
        "https://www.example.org/rockets/engines"),
    Doc("https://copies.example.com/r/engines.html", "Rocket engines, how they work",
        "A rocket engine throws mass backwards. The nozzle turns heat into speed!", "2025-08-01", "en",
        "https://www.example.org/rockets/engines"),
    Doc("https://news.example.com/2026/launch", "Rocket launch delayed by weather",
        "The rocket will wait for the wind.", "2026-11-12", category="space flight", author="Ann Lee"),
    Doc("https://blog.example.net/garden", "A garden in November", "Leaves, frost and a rocket salad.", "2023-11-05",
        page_type="forum", category="home"),
    Doc("https://blog.example.net/spiders", "Gossamer in the morning", "Threads of gossamer drift over the meadow."),
    Doc("https://docs.example.org/manual.pdf", "Operator's manual", "How to operate a rocket stand.", "2022", "en",
        "", "pdf", "documentation"),
    Doc("https://xn--e1afmkfd.xn--p1ai/novosti/raketa", "Ракета стартовала с космодрома",
        "Ракета поднялась в 6:30. Космодром работает без перерыва, ракеты стартуют каждую неделю.", "2026-10-30", "ru"),
    Doc("https://ru.example.org/istoriya", "История ракетной техники",
        "Первые ракеты были фейерверками. Ракета несёт окислитель с собой.", "2021-04-12", "ru"),
    Doc("https://ru.example.org/privet", "Привет, мир", "Привет всем, кто ищет.", "2020-01-01", "ru"),
    Doc("https://zh.example.org/huojian/lishi", "火箭的历史",
        "火箭最早是烟花。现代火箭把卫星送入轨道。", "2025-02-03", "zh"),
    Doc("https://zh.example.org/tiyu/nba", "休斯顿火箭队赢得比赛", "火箭队昨晚以十分之差获胜。", "2026-11-09", "zh"),
    Doc("https://zh.example.org/about", "关于我们", "我们收集网页。", None, "zh"),
    *(
        Doc(f"https://archive.example.org/{2010 + n % 16}/bulletin-{n:02}", f"Bulletin {n}: orbit report",
            f"Orbit report number {n}. The satellite passed over the station {n + 3} times, and the orbit is stable.",
            f"{2010 + n % 16}-{1 + n % 12:02}-{1 + n % 28:02}")
        for n in range(36)
    ),
    *HOSTILE,
)  # fmt: skip

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


class MemoryService:
    """A `SearchService`; set `broken` to make every call fail with that error."""

    def __init__(self, documents: tuple[Doc, ...] = DOCUMENTS) -> None:
        self.documents = documents
        self.broken: GossamerError | None = None
        self.requests: list[Request] = []
        self.threads: set[str] = set()
        self.overviews = 0

    def search(self, request: Request) -> Results:
        self._called()
        self.requests.append(request)
        found = self._found(request)
        shown = found if request.similar else [doc for doc in found if not self._collapsed(doc, found)]
        if request.sort == "date":
            shown.sort(key=lambda doc: (doc.date or "")[:10] if (doc.date or "")[:1].isdigit() else "", reverse=True)
        pages = min(-(-len(shown) // request.size), DEPTH)
        start = (request.page - 1) * request.size
        notices = (f"Only the first {DEPTH} pages of results can be shown.",) if request.page > DEPTH else ()
        hits = () if request.page > DEPTH else shown[start : start + request.size]
        return Results(
            request=request, total=len(shown), pages=pages, notices=notices, seconds=0.0042,
            hits=tuple(self._hit(doc, request, found) for doc in hits),
            facets=_facets(shown) if request.facets else Facets(),
            did_you_mean="" if shown else self._closest(request.query),
        )  # fmt: skip

    def similar(self, request: Request, url: str) -> tuple[Hit, ...]:
        self._called()
        found = self._found(request)
        return tuple(self._hit(doc, request, found) for doc in found if doc.copy == url)

    def suggest(self, prefix: str, limit: int = 8, collection: str = "") -> list[str]:
        self._called()
        start = prefix.casefold()
        titles = (doc.title for doc in self.documents if doc.title and doc not in HOSTILE)
        words = sorted({word for title in titles for word in re.findall(r"\w{3,}", title.casefold())})
        return [word for word in words if word.startswith(start)][:limit]

    def page(self, url: str) -> StoredPage | None:
        self._called()
        doc = next((doc for doc in self.documents if doc.url == url), None)
        if doc is None:
            return None
        return StoredPage(
            url=url, title=doc.title, text=doc.text, fetched_at=1_790_000_000.5, date=doc.date, lang=doc.lang
        )

    def explain(self, request: Request, url: str) -> ScoreExplanation:
        self._called()
        doc = next((doc for doc in self._found(request) if doc.url == url), None)
        if doc is None:
            return ScoreExplanation(url, False, 0.0, (), "none of the words is on it")
        factors = (Factor('title: "rocket"', 2.5, "1 time in 6 words"), Factor("prior: url depth", 0.25, "2 levels"))
        return ScoreExplanation(url, True, 2.75, factors)

    def state(self) -> IndexState:
        self._called()
        return IndexState(
            documents=len(self.documents), segments=3, position=77, committed_at=1_790_000_000.0, generation="g1"
        )

    def overview(self) -> Overview:
        self._called()
        self.overviews += 1
        return overview([self._outline()], lambda query: bool(self._found(Request(query=query))))

    def _outline(self) -> Outline:
        """What an index of the documents would tell of itself."""
        sites = Counter(_site(doc) for doc in self.documents if _site(doc))
        by_site = {site: [(doc.title, doc.text) for doc in self.documents if _site(doc) == site] for site in sites}
        titles = {site: phrases(pages) for site, pages in by_site.items()}
        return Outline(dict(sites), fetched_at=1_790_000_000.0, phrases=titles)

    def _called(self) -> None:
        self.threads.add(threading.current_thread().name)
        if self.broken is not None:
            raise self.broken

    def _found(self, request: Request) -> list[Doc]:
        dates = dict(re.findall(r"(after|before):(\S+)", request.query))
        words = _words(request.query)
        if not words:
            return []
        found = [doc for doc in self.documents if all(w in _fold(f"{doc.title} {doc.text}") for w in words)]
        if dates:
            found = [doc for doc in found if dates.get("after", "") <= (doc.date or "") < dates.get("before", "9")]
        if request.site:
            found = [doc for doc in found if (_site(doc) + "/").endswith(request.site + "/")]
        if request.lang:
            found = [doc for doc in found if doc.lang == request.lang]
        if request.page_type:
            found = [doc for doc in found if doc.page_type == request.page_type]
        if request.category:
            found = [doc for doc in found if doc.category == request.category]
        if request.since:
            found = [doc for doc in found if _age(doc) <= _DAYS[request.since]]
        return found

    @staticmethod
    def _collapsed(doc: Doc, found: list[Doc]) -> bool:
        return any(other.url == doc.copy for other in found)

    @staticmethod
    def _hit(doc: Doc, request: Request, found: list[Doc]) -> Hit:
        copies = 0 if request.similar else sum(other.copy == doc.url for other in found)
        return Hit(
            url=doc.url, title=_mark(doc.title, request.query), excerpt=_mark(doc.text[:2100], request.query),
            score=1.5, site=_site(doc), date=doc.date, lang=doc.lang, fetched_at=1_790_000_000.0, type=doc.type,
            page_type=doc.page_type, category=doc.category, author=doc.author, similar=copies,
            alternates=doc.alternates,
        )  # fmt: skip

    def _closest(self, query: str) -> str:
        words = {word for doc in self.documents for word in re.findall(r"\w{4,}", doc.title.casefold())}
        return next(iter(difflib.get_close_matches(query.casefold(), sorted(words), 1, 0.75)), "")


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold()


def _words(query: str) -> list[str]:
    return re.findall(r"\w+", _fold(re.sub(r"(after|before):\S+", "", query)))[:50]


def _mark(text: str, query: str) -> Marked:
    words = _words(query)
    if not words:
        return Marked(text)
    return Marked(text, tuple(m.span() for m in re.finditer("|".join(map(re.escape, words)), text, re.IGNORECASE)))


def _site(doc: Doc) -> str:
    match = re.match(r"https?://([^/]+)", doc.url)
    return match[1] if match else ""


def _age(doc: Doc) -> int:
    if not doc.date or not re.match(r"\d{4}-\d\d-\d\d", doc.date):
        return 10_000
    return (datetime.date.fromisoformat(TODAY) - datetime.date.fromisoformat(doc.date[:10])).days


def _facets(docs: list[Doc]) -> Facets:
    sites = Counter(_site(doc) for doc in docs if _site(doc))
    langs = Counter(doc.lang for doc in docs if doc.lang)
    years = Counter(doc.date[:4] for doc in docs if doc.date and doc.date[:4].isdigit())
    types = Counter(doc.page_type for doc in docs if doc.page_type)
    categories = Counter(doc.category for doc in docs if doc.category)
    return Facets(
        tuple(Count(*pair) for pair in sites.most_common(10)),
        tuple(Count(*pair) for pair in langs.most_common(10)),
        tuple(Count(*pair) for pair in sorted(years.items())),
        tuple(Count(*pair) for pair in types.most_common(10)),
        tuple(Count(*pair) for pair in categories.most_common(10)),
    )


SEEN = 1_790_000_000.0
OLD_TEXTS = {
    "https://www.example.org/rockets/engines": (
        "How rockets work", "A rocket engine throws mass forwards. The nozzle turns heat into speed."
    ),
    "https://evil.test/script": ("<script>window.owned=1</script>", "<img src=x onerror=window.owned=1> silk <b>"),
}  # fmt: skip
"""Title and text of some documents at an earlier visit."""


class MemoryStories:
    """A `StoryService` over the same documents; set `broken` to make every call fail with that error."""

    def __init__(self, documents: tuple[Doc, ...] = DOCUMENTS) -> None:
        self.documents = {doc.url: doc for doc in documents}
        self.broken: GossamerError | None = None

    def others(self, url: str) -> int:
        self._called()
        return len(self._copies(url)) - 1 if url in self.documents else 0

    def story(self, url: str, limit: int = 100) -> Story | None:
        self._called()
        if url not in self.documents:
            return None
        copies = sorted(self._copies(url), key=lambda doc: doc.date or "9")
        main = self.documents[url].copy or url
        pages = [
            StoryPage(doc.url, doc.date or "", SEEN, doc.url == main) for doc in copies
        ]  # fmt: skip
        return Story(Cluster(7, len(copies), main, "published first"), tuple(pages[:limit]))

    def history(self, url: str, older: str = "", newer: str = "") -> History | None:
        self._called()
        doc = self.documents.get(url)
        if doc is None:
            return None
        now = _row(doc.url, doc.title, doc.text, SEEN, 7)
        visits = [visit(now)]
        if url not in OLD_TEXTS:
            return History(url, tuple(visits), is_complete=False)
        old = _row(doc.url, *OLD_TEXTS[url], SEEN - 86_400, 3)
        gone = PageVisit(fetched_at=SEEN - 3_600, outcome="server_error", status=503, reason="the server <failed>")
        visits += [gone, visit(old)]
        chosen = (visits[2], visits[0], old, now)
        if older == newer != "":
            chosen = (visits[0], visits[0], now, now)
        return History(url, tuple(visits), True, compare_pages(*chosen))

    def markdown(self, url: str) -> str | None:
        self._called()
        doc = self.documents.get(url)
        return f"# {doc.title}\n\n{doc.text}" if doc is not None else None

    def _copies(self, url: str) -> list[Doc]:
        main = self.documents[url].copy or url
        return [doc for doc in self.documents.values() if main in (doc.url, doc.copy)]

    def _called(self) -> None:
        if self.broken is not None:
            raise self.broken


def _row(url: str, title: str, text: str, at: float, cluster: int) -> PageRow:
    return PageRow(url, "", "", at, "document", 200, title=title, text=text, cluster=cluster)


@contextlib.contextmanager
def serving(
    service: SearchService | None = None, settings: ServeSettings = SETTINGS, stories: StoryService | None = None,
    clock: Clock | None = None,
) -> Iterator[str]:  # fmt: skip
    """A real server on loopback, in a thread; yields its address."""
    server = WebServer(create_app(service or MemoryService(), settings, clock, stories), settings)
    ready = threading.Event()
    thread = threading.Thread(target=server.run, args=(lambda address: ready.set(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE), "the server did not start"
        yield server.address
    finally:
        server.stop()
        thread.join(PATIENCE)


@contextlib.contextmanager
def client(
    service: MemoryService | None = None, stories: MemoryStories | None = None, clock: Clock | None = None,
    **changes: object,
) -> Iterator[httpx.Client]:  # fmt: skip
    """A client of a real server; `changes` are settings."""
    settings = msgspec.structs.replace(SETTINGS, **changes)
    with (
        serving(service, settings, stories, clock) as address,
        httpx.Client(base_url=address, timeout=PATIENCE, trust_env=False) as http,
    ):
        yield http
