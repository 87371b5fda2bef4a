"""One table says what a type of document is, and everybody asks it."""

from __future__ import annotations

import pytest

from gossamer import plugins
from gossamer.errors import UsageError
from gossamer.index.document import type_of
from gossamer.index.names import names
from gossamer.model.records import Kind, Parsed, ParseJob
from gossamer.operate.examples import _TYPES as LOCAL
from gossamer.parse.document_types import TYPES, DocumentType, of_ending, of_media, of_url
from gossamer.parse.limits import ParseLimits
from gossamer.parse.sniff import true_type
from gossamer.search.query.operators import OPERATORS

FILE_TYPE = next(one for one in OPERATORS if one.name == "filetype")
OWN = [one for one in TYPES if one.is_own]


def name(one: DocumentType) -> str:
    return one.name


def test_names_media_types_and_endings_mean_one_type_each() -> None:
    for field in ("name", "media", "endings"):
        values = [value for one in TYPES for value in ([one.name] if field == "name" else getattr(one, field))]
        assert len(values) == len(set(values))
        assert all(value == value.lower() for value in values)


@pytest.mark.parametrize("one", TYPES, ids=name)
def test_the_whole_program_knows_a_type(one: DocumentType) -> None:
    for media in one.media:
        assert of_media(media) is one
        assert type_of("http://a.test/download?id=7", f"{media}; charset=utf-8") == one.name
    for ending in one.endings:
        assert of_ending(ending) is of_url(f"http://a.test/b.c/FILE.{ending.upper()}?x.y") is one
        assert FILE_TYPE.read(f".{ending.upper()}") == one.name
        assert LOCAL[f".{ending}"] == one.media[0]
        assert names("", [], f"http://a.test/pear.{ending}")[1] == names("pear", [], "")[0]
    assert not one.is_own or set(one.media) <= {*plugins.PARSERS.names(), *plugins.MISSING}


@pytest.mark.parametrize("one", [one for one in TYPES if one.starts], ids=name)
def test_how_a_file_begins_tells_its_type(one: DocumentType) -> None:
    for start in one.starts:
        for declared in ("text/html", "text/plain", "", "application/octet-stream"):
            assert true_type(declared, b"\r\n" + start) == one.media[0]


def test_an_ending_tells_text_whose_type_says_nothing() -> None:
    assert true_type("text/plain", b"# A", "http://a.test/README.md") == "text/markdown"
    assert true_type("application/octet-stream", b"From: a", "http://a.test/1.eml?x=1") == "message/rfc822"
    assert true_type("text/html", b"# A", "http://a.test/README.md") == "text/html"
    assert true_type("text/plain", b"<!DOCTYPE html><p>", "http://a.test/README.md") == "text/plain"
    assert true_type("text/plain", b"# A", "http://a.test/README.txt") == "text/plain"


def test_types_that_the_settings_leave_out_are_not_wanted() -> None:
    kept = plugins.readable_types(("docx", "md"))
    assert "message/rfc822" in kept
    assert not {media for media in kept if "markdown" in media or "word" in media}
    ParseLimits(skip_types=("docx", "pdf")).check()
    for wrong in ("doc", "html", ".docx"):
        with pytest.raises(UsageError, match=r"parse\.skip_types names .*: choose from md, pdf, docx"):
            ParseLimits(skip_types=(wrong,)).check()


def test_a_package_may_read_a_type_in_place_of_the_built_in_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    media = of_ending("docx").media[0]  # type: ignore[union-attr] # it is there

    class Entry:
        @staticmethod
        def load() -> object:
            return lambda job: Parsed(job.url, title="by the package")

    assert isinstance(plugins.PARSERS.get(media), plugins.BuiltInParser)
    monkeypatch.setattr(plugins, "_entries", lambda point: {media: Entry} if point == "parsers" else {})
    job = ParseJob("http://a.test/", Kind.PAGE, media, b"")
    assert plugins.PARSERS.get(media)(job).title == "by the package"
