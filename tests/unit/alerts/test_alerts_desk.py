"""Saved queries obey the search desk, as searches do."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import msgspec
import pytest

from gossamer.alerts.alerting import Alerting
from gossamer.alerts.saved_queries import save_query
from gossamer.data.folder import DataFolder
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.model.fields import CustomField, FieldValue
from gossamer.notify.config import AlertConfig
from gossamer.search.ranking import RankingConfig
from gossamer.search.results import Request
from gossamer.tables import alerts
from gossamer.tables import desk as table
from gossamer.testing import FakeClock

NOW = 1_750_000_000.0
FILLING = [IndexPage(url=f"http://site.test/old/{n}", text=f"something{n} else{n}", lang="en") for n in range(40)]


class Crawl:
    """An index, its database and one saved query after the other."""

    def __init__(self, root: Path) -> None:
        self.db = DataFolder(root).open_database()
        folder = IndexFolder(root / "index")
        generation = folder.create()
        folder.switch(generation)
        self._writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
        self._alerting = Alerting(self.db, folder.tantivy(generation), "", FakeClock(NOW), RankingConfig())
        self._change = 0

    def publish(self, rules: str) -> None:
        with self.db.transaction():
            table.add(self.db, "ann", NOW, "", rules)

    def save(self, query: str, **more: str) -> str:
        request, fields = Request(query=query, **more), self._writer.fields
        alert, _ = save_query(self.db, AlertConfig(), query, request, [], "ann", NOW, fields=fields)
        return alert.id

    def name_fields(self, *fields: CustomField) -> None:
        assert self._writer.has_fields(fields)

    def bring(self, *pages: IndexPage) -> None:
        """Index new pages, and tell the saved queries of them first."""
        self._change += 1
        found = {page.key: build(page, (), self._writer.fields) for page in pages}
        match = partial(self._alerting.match, brought_by=dict.fromkeys(found, self._change), until=self._change)
        self._writer.apply(found, (), self._change, NOW, lambda index: match(index))

    def told(self, alert: str) -> set[str]:
        return {hit.url.removeprefix("http://site.test") for hit in alerts.hits(self.db, alert, 100)}


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    crawl = Crawl(tmp_path)
    crawl.bring(*FILLING)
    return crawl


def page(path: str, text: str) -> IndexPage:
    return IndexPage(url=f"http://site.test{path}", text=text, lang="en")


BIKES = page("/bicycle", "A bicycle for two"), page("/bike", "A bike for one"), page("/bike/old", "An old bike")


def test_synonyms_find_and_hidden_pages_are_not_told(crawl: Crawl) -> None:
    crawl.publish('[[synonym]]\nwords = ["bike", "bicycle"]\n[[hidden]]\nurl = "http://site.test/bike/old"\n')
    alert = crawl.save("bike")
    crawl.bring(*BIKES)
    assert crawl.told(alert) == {"/bicycle", "/bike"}


def test_stop_words_are_left_out(crawl: Crawl) -> None:
    crawl.publish('stop_words = ["please"]\n')
    alert = crawl.save("please bicycle")
    crawl.bring(*BIKES)
    assert crawl.told(alert) == {"/bicycle"}


def test_rules_count_from_the_step_after_they_are_published(crawl: Crawl) -> None:
    alert = crawl.save("bike")
    crawl.bring(BIKES[0])
    assert crawl.told(alert) == set()
    crawl.publish('[[synonym]]\nwords = ["bike", "bicycle"]\n')
    crawl.bring(page("/bicycle/2", "Another bicycle"))
    assert crawl.told(alert) == {"/bicycle/2"}
    with crawl.db.transaction():
        table.let_count(crawl.db, 0)
    crawl.bring(page("/bicycle/3", "A third bicycle"))
    assert crawl.told(alert) == {"/bicycle/2"}


def test_a_best_bet_is_no_new_page_about_the_query(crawl: Crawl) -> None:
    crawl.publish(
        '[[best_bet]]\nqueries = ["bike"]\nurl = "http://site.test/boat"\n[[boost]]\nsite = "site.test"\ntimes = 2\n'
    )
    alert = crawl.save("bike")
    crawl.bring(page("/boat", "A boat"), BIKES[1])
    assert crawl.told(alert) == {"/bike"}


def test_a_query_of_a_collection_is_told_of_its_pages_only(crawl: Crawl) -> None:
    crawl.publish('[[collection]]\nname = "old"\ntitle = "Old"\nsites = ["site.test/bike/old"]\n')
    alert = crawl.save("bike", collection="old")
    crawl.bring(*BIKES)
    assert crawl.told(alert) == {"/bike/old"}


def test_rules_that_nobody_understands_change_nothing_and_keep_no_page_back(crawl: Crawl) -> None:
    crawl.publish('[[synonym]]\nwords = ["bike", "bicycle"]\n')
    alert = crawl.save("bike")
    crawl.bring(BIKES[0])
    crawl.publish("[[synonym\n")
    crawl.bring(page("/bicycle/2", "Another bicycle"))
    assert crawl.told(alert) == {"/bicycle", "/bicycle/2"}


def test_a_query_for_pages_like_another_is_told_of_those(crawl: Crawl) -> None:
    words = "nozzle oxidiser propellant combustion chamber thrust payload stage".split()
    texts = [" ".join(word for at, word in enumerate(words) if (at + n) % 4) for n in range(4)]
    crawl.bring(*(page(f"/rocket/{n}", texts[n]) for n in range(3)))
    alert = crawl.save("like:http://site.test/rocket/0")
    crawl.bring(page("/rocket/3", texts[3]), BIKES[0])
    assert crawl.told(alert) == {"/rocket/3"}


def test_a_query_may_name_fields_of_ones_own(crawl: Crawl) -> None:
    crawl.name_fields(CustomField("price", "number"), CustomField("room"))
    alert = crawl.save('bike room:"living room" price:..20')

    def priced(path: str, price: str, room: str) -> IndexPage:
        values = [FieldValue("price", "number", price), FieldValue("room", "text", room)]
        return msgspec.structs.replace(page(path, "A bike"), fields=values)

    crawl.bring(priced("/a", "15", "Living room"), priced("/b", "25", "Living room"), priced("/c", "15", "Cellar"))
    assert crawl.told(alert) == {"/a"}
