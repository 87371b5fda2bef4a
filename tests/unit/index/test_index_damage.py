"""A damaged index, one of another version, none at all: an error for a person that names the way out, never a crash."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import tantivy
from indexing_kit import contents, documents, filled_index, open_writer, page

from gossamer.errors import CorruptError, GossamerError
from gossamer.index import commits, schema
from gossamer.index.commits import IndexVersionError
from gossamer.index.folder import IndexFolder, IndexMissingError
from gossamer.search.results import Request
from gossamer.search.searcher import Searcher

KINDS = (".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term")


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    """An index of three segments, one of them with a deletion."""
    root = tmp_path_factory.mktemp("sound")
    writer = open_writer(filled_index(root))
    writer.apply({}, {page(3).key}, 9, 1.0)
    writer.close()
    (root / "current").write_text("g000001\n")
    return root


@pytest.fixture
def folder(sound, tmp_path) -> Path:
    shutil.copytree(sound, tmp_path / "index")
    return tmp_path / "index" / "g000001" / "tantivy"


def search(folder: Path) -> int:
    """A search as a person makes it; returns how many pages it found."""
    return Searcher.open(folder.parents[1]).search(Request(query="version page")).total


def write(folder: Path) -> None:
    """An update that touches every segment."""
    writer = open_writer(folder)
    try:
        writer.apply(documents([page(n, 2) for n in (1, 15, 25)]), (), 10, 1.0)
    finally:
        writer.close()


def assert_one_line(error: pytest.ExceptionInfo[GossamerError], *words: str) -> None:
    message = str(error.value)
    assert "\n" not in message
    for word in words:
        assert word in message


# -- meta.json ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"", b"{", b"\0" * 500, b"\xff\xfe\x00", b"null", b"[]", b"7", b'"text"', b"{}", b'{"segments": []}',
        b"[" * 100_000,
        b'{"index_settings": {}, "segments": [], "schema": [], "opstamp": "x"}',
        b'{"index_settings": {}, "segments": [{"max_doc": 3}], "schema": [], "opstamp": 1}',
        b'{"index_settings": {}, "schema": [], "opstamp": 1,'
        b' "segments": [{"segment_id": "a", "max_doc": 3, "deletes": {}}]}',
        b'{"index_settings": {}, "segments": [], "schema": [], "opstamp": 1, "payload": 5}',
        b'{"index_settings": {}, "segments": [], "schema": [], "opstamp": 1, "payload": "{"}',
        b'{"index_settings": {}, "segments": [], "schema": [], "opstamp": 1, "payload": "[1]"}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("use", [commits.read, search, write], ids=["read", "search", "write"])
def test_a_commit_that_cannot_be_read_is_damage(folder, use, data):
    (folder / commits.META).write_bytes(data)
    with pytest.raises(CorruptError) as error:
        use(folder)
    assert_one_line(error, "meta.json", "gossamer index --rebuild", str(folder.parent))


def test_a_commit_cut_anywhere_is_damage(folder):
    data = (folder / commits.META).read_bytes()
    for end in range(0, len(data), 7):
        (folder / commits.META).write_bytes(data[:end])
        with pytest.raises(CorruptError):
            commits.read(folder)


@pytest.mark.parametrize("use", [commits.read, search, write], ids=["read", "search", "write"])
def test_a_missing_commit_is_damage(folder, use):
    (folder / commits.META).unlink()
    with pytest.raises(CorruptError) as error:
        use(folder)
    assert_one_line(error, "meta.json", "gossamer index --rebuild")


@pytest.mark.parametrize("version", [0, 99, -1])
@pytest.mark.parametrize("use", [commits.read, search, write], ids=["read", "search", "write"])
def test_an_index_of_another_version_is_never_read(folder, use, version):
    meta = json.loads((folder / commits.META).read_text())
    meta["payload"] = json.dumps(json.loads(meta["payload"]) | {"version": version})
    (folder / commits.META).write_text(json.dumps(meta))
    with pytest.raises(IndexVersionError) as error:
        use(folder)
    assert_one_line(error, f"format {version}", "`gossamer index`")


def test_what_the_library_wrote_we_write_the_same(tmp_path):
    """Fails when a new version of the library says more in a commit than we know of."""
    (tmp_path / "theirs").mkdir()
    index = schema.prepare(tantivy.Index(schema.build(), str(tmp_path / "theirs")))
    writer = index.writer(15_000_000, 1)
    for number, document in enumerate(documents(page(n) for n in range(4)).values()):
        writer.add_document(document)
        if number % 2:
            writer.commit()
    writer.delete_documents_by_term(schema.KEY, page(0).key)
    writer.commit()
    writer.wait_merging_threads()
    meta = tmp_path / "theirs" / commits.META
    theirs = json.loads(meta.read_text())
    assert any(segment["deletes"] for segment in theirs["segments"])
    commits.write(tmp_path / "theirs", commits.read(tmp_path / "theirs"))
    ours = json.loads(meta.read_text())
    assert without_payload(ours) == without_payload(theirs)
    assert contents(tmp_path / "theirs") == [(page(n).url, page(n).text) for n in (1, 2, 3)]


def without_payload(meta: dict[str, object]) -> dict[str, object]:
    """A commit without the payload, which is ours."""
    return {name: value for name, value in meta.items() if name != "payload"}


# -- segments -------------------------------------------------------------------------------------------


def _missing(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _without_end(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def _zeros(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spoil", [_missing, _empty, _half, _without_end, _zeros])
def test_a_spoilt_file_of_a_segment_is_damage_for_whoever_opens_it(folder, kind, spoil: Callable[[Path], None]):
    stem = commits.read(folder).segments[1].segment_id.replace("-", "")
    spoil(folder / f"{stem}{kind}")
    for use in (search, write):
        with pytest.raises(CorruptError) as error:
            use(folder)
        assert_one_line(error, "gossamer index --rebuild", str(folder.parent))


def test_missing_deletions_are_damage(folder):
    (deletions,) = folder.glob("*.del")
    deletions.unlink()
    with pytest.raises(CorruptError):
        search(folder)


def test_a_flipped_bit_is_found_or_goes_unnoticed_and_nothing_else_happens(folder):
    """The library's files have no check that is made at every start; what it stumbles over is an error, not a crash."""
    dice = Random(11)
    # In the order of the segments: their names differ from run to run, and the bits that are flipped should not.
    files = [path for segment in commits.read(folder).segments for path in sorted(segment.files(folder), key=_suffix)]
    assert len(files) == 3 * len(KINDS) + 1
    outcomes = {"found": 0, "unnoticed": 0}
    for _ in range(400):
        path = dice.choice(files)
        data = path.read_bytes()
        at = dice.randrange(len(data))
        path.unlink()  # a file that is mapped is not written to
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :])
        try:
            _read_everything(folder)
            outcomes["unnoticed"] += 1
        except CorruptError:
            outcomes["found"] += 1
        path.unlink()
        path.write_bytes(data)
    assert min(outcomes.values()) > 50, outcomes
    _read_everything(folder)


def _suffix(path: Path) -> str:
    return path.suffix


def _read_everything(folder: Path) -> None:
    with commits.checking(folder):
        index = schema.prepare(tantivy.Index.open(str(folder)))
        searcher = index.searcher()
        for field in (schema.BODY, schema.BODY_STEMS, schema.TITLE):
            for _, address in searcher.search(tantivy.Query.term_query(index.schema, field, "page"), 50).hits:
                schema.decode(searcher.doc(address))
                searcher.fast_field_values(schema.FETCHED, [address])
        words = tantivy.Query.phrase_query(index.schema, schema.BODY, ["of", "page"])
        searcher.search(words, 50)
        searcher.aggregate(words, {"sites": {"terms": {"field": schema.SITE, "size": 3}}})


def test_what_is_no_damage_goes_through(tmp_path):
    for error in (KeyboardInterrupt, SystemExit, KeyError, ZeroDivisionError):
        with pytest.raises(error), commits.checking(tmp_path):
            raise error


# -- folders --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "current",
    [None, b"", b"g000009\n", b"nonsense", b"../elsewhere", b"/", b"\xff\xfe", b"g000001\0", b".", b"g" + b"9" * 5000],
)
def test_no_index_and_a_pointer_to_nowhere_are_told_apart_from_damage(tmp_path, current):
    root = tmp_path / "index"
    root.mkdir()
    (root / "tantivy").mkdir()
    if current is not None:
        (root / "current").write_bytes(current)
    assert IndexFolder(root).current() is None
    for use in (lambda: IndexFolder(root).require(), lambda: Searcher.open(root)):
        with pytest.raises(IndexMissingError) as error:
            use()
        assert_one_line(error, str(root), "gossamer index")


def test_a_folder_that_is_not_there_has_no_index(tmp_path):
    with pytest.raises(IndexMissingError):
        Searcher.open(tmp_path / "missing")


def test_an_empty_generation_is_damage(tmp_path):
    (tmp_path / "g000001" / "tantivy").mkdir(parents=True)
    (tmp_path / "current").write_text("g000001")
    with pytest.raises(CorruptError) as error:
        Searcher.open(tmp_path)
    assert_one_line(error, "gossamer index --rebuild")


def test_damage_that_comes_while_it_is_searched_is_an_error_at_the_next_commit(folder):
    searcher = Searcher.open(folder.parents[1])
    assert searcher.search(Request(query="version page")).total == 29
    (folder / commits.META).write_bytes(b"{")
    with pytest.raises(CorruptError):
        searcher.search(Request(query="version page"))


@pytest.mark.parametrize("give", [lambda document: None, lambda document: document.add_text(schema.PAGE, "page")])
def test_a_document_whose_page_is_missing_or_of_another_type_is_damage(folder, give):
    document = tantivy.Document()
    give(document)
    with pytest.raises(CorruptError) as error, commits.checking(folder):
        schema.decode(document)
    assert_one_line(error, "without its page", "gossamer index --rebuild")
