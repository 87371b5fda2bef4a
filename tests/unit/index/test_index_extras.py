"""Analysers that are installed or not: an index goes on with those it was built with, and says what is missing."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gossamer.index import commits, extras
from gossamer.index.analysis import Languages, query_stems, stems
from gossamer.index.document import IndexPage, build
from gossamer.index.folder import IndexFolder
from gossamer.index.writer import IndexWriter
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

UKRAINIAN = IndexPage(url="http://a.example/uk", text="Минуло кілька днів, і люди розійшлися.", lang="uk")
CHINESE = IndexPage(url="http://a.example/zh", text="臺灣的圖書館在週末開放。", lang="zh")
KOREAN = IndexPage(url="http://a.example/ko", text="서울에서 한국어를 배웁니다.", lang="ko")
JAPANESE = IndexPage(url="http://a.example/ja", text="昨日は東京タワーへ行きました。", lang="ja")
PAGES = (UKRAINIAN, CHINESE, KOREAN, JAPANESE)


def index_of(root: Path, *pages: IndexPage) -> IndexFolder:
    folder = IndexFolder(root)
    generation = folder.create()
    folder.switch(generation)
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    writer.apply({page.key: build(page, writer.extras) for page in pages}, (), 1, 1.0)
    writer.close()
    return folder


def found(folder: IndexFolder, query: str) -> list[str]:
    return [hit.url for hit in Searcher(folder).search(Request(query=query)).hits]


def install(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(extras, "installed", lambda: names)


def test_an_index_notes_its_analysers_and_keeps_them_with_every_commit(tmp_path, monkeypatch):
    install(monkeypatch, "korean", "lemmas")
    folder = IndexFolder(tmp_path)
    generation = folder.create()
    assert commits.read(folder.tantivy(generation)).payload.extras == ("korean", "lemmas")
    install(monkeypatch, "japanese", "korean")
    writer = IndexWriter(folder.tantivy(generation), folder.scratch(generation))
    assert writer.extras == ("korean",)
    writer.apply({}, (), 1, 1.0)
    writer.close()
    assert commits.read(folder.tantivy(generation)).payload.extras == ("korean", "lemmas")


def test_an_index_whose_analysers_are_missing_is_searched_and_says_so(tmp_path, monkeypatch, caplog):
    install(monkeypatch)
    folder = index_of(tmp_path, *PAGES)
    path = folder.require()
    old = commits.read(path)
    payload = commits.Payload(position=1, committed_at=1.0, extras=("japanese", "korean"))
    commits.write(path, commits.Commit(old.segments, old.opstamp, payload, old.settings, old.fields))
    with caplog.at_level(logging.WARNING):
        assert found(folder, "한국어") == [KOREAN.url]
        assert found(folder, "東京タワー") == [JAPANESE.url]
    assert "gossamer[japanese,korean]" in caplog.text


def test_without_extras_the_spellings_of_chinese_are_two_words():
    assert set(query_stems("臺灣", Languages(("zh",)))).isdisjoint(query_stems("台湾", Languages(("zh",))))


def test_forms_that_no_ending_tells_meet_by_their_lemma(tmp_path, monkeypatch):
    pytest.importorskip("simplemma")
    install(monkeypatch, "lemmas")
    assert stems("днів", "uk", ("lemmas",)) == stems("день", "uk", ("lemmas",))
    assert stems("людей", "uk", ("lemmas",)) == stems("люди", "uk", ("lemmas",))
    assert found(index_of(tmp_path, *PAGES), "день") == [UKRAINIAN.url]


def test_a_german_compound_is_found_by_its_parts_and_finds_them_last(tmp_path, monkeypatch):
    pytest.importorskip("simplemma")
    install(monkeypatch, "lemmas")
    whole, parts = (
        IndexPage(url=f"http://a.example/{name}", text=text, lang="de")
        for name, text in (
            ("whole", "Die Universitätsbibliothek ist offen."),
            ("parts", "Eine Bibliothek im Ort."),
        )
    )
    folder = index_of(tmp_path, whole, parts)
    assert set(found(folder, "Bibliothek")) == {whole.url, parts.url}
    assert found(folder, "Universitätsbibliotheken") == [whole.url]
    assert stems("Gesellschaft", "de", ("lemmas",)) == stems("Gesellschaft", "de")


def test_traditional_and_simplified_chinese_find_each_other(tmp_path, monkeypatch):
    pytest.importorskip("opencc")
    install(monkeypatch, "chinese")
    folder = index_of(tmp_path, *PAGES)
    assert found(folder, "台湾图书馆") == [CHINESE.url]
    assert found(folder, "臺灣圖書館") == [CHINESE.url]


def test_inflected_japanese_is_found_by_the_word(tmp_path, monkeypatch):
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    install(monkeypatch, "japanese")
    folder = index_of(tmp_path, *PAGES)
    assert found(folder, "東京タワー 行く") == [JAPANESE.url]
    assert found(folder, "行った") == [JAPANESE.url]


def test_threads_cut_japanese_at_the_same_time():
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    texts = ["昨日は東京タワーへ行きました。" * 50] * 40
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda text: stems(text, "ja", ("japanese",)), texts))
    assert all(one == found[0] for one in found)


def test_inflected_korean_is_found_by_the_word(tmp_path, monkeypatch):
    pytest.importorskip("kiwipiepy")
    install(monkeypatch, "korean")
    folder = index_of(tmp_path, *PAGES)
    assert found(folder, "한국어 배우다") == [KOREAN.url]
    assert found(folder, "배웠어요") == [KOREAN.url]
