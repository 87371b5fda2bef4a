"""`gossamer export wacz`: hashes, index and pages are right, and what is inside comes back by `gossamer import`."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawl_kit import crawl, exported, run
from warcio.archiveiterator import ArchiveIterator

from gossamer.data.archives import wacz
from gossamer.data.folder import DataFolder
from gossamer.testing import FakeWeb

pytestmark = pytest.mark.long

PAGES = 40


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wacz") / "data"
    web = FakeWeb()
    web.site("a.test", pages=PAGES)
    with web:
        crawl(web, folder, [web.url("a.test")])
    return folder


@pytest.fixture(scope="module")
def file(data: Path) -> Path:
    path = data.with_name("crawl.wacz")
    done = run("export", "wacz", "-o", str(path), data=data)
    assert done.returncode == 0, done.stderr
    return path


def index_of(bundle: zipfile.ZipFile) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The lines of the index, found by its blocks."""
    head, *blocks = bundle.read("indexes/index.idx").decode().splitlines()
    assert json.loads(head.partition("!meta 0 ")[2])["format"] == "cdxj-gzip-1.0"
    packed = bundle.read("indexes/index.cdx.gz")
    for block in blocks:
        key, time, place = block.split(" ", 2)
        told = json.loads(place)
        piece = packed[told["offset"] : told["offset"] + told["length"]]
        assert told["digest"] == f"sha256:{hashlib.sha256(piece).hexdigest()}"
        lines = gzip.decompress(piece).decode().splitlines()
        assert lines[0].startswith(f"{key} {time} ")
        for line in lines:
            found = line.split(" ", 2)
            yield found[0], found[1], json.loads(found[2])


def test_the_package_names_every_file_with_its_hash(file: Path) -> None:
    with zipfile.ZipFile(file) as bundle:
        package = json.loads(bundle.read("datapackage.json"))
        assert (package["profile"], package["wacz_version"]) == ("data-package", "1.1.1")
        told = {one["path"]: one for one in package["resources"]}
        assert set(told) | {"datapackage.json", "datapackage-digest.json"} == set(bundle.namelist())
        for path, one in told.items():
            content = bundle.read(path)
            assert one["bytes"] == len(content)
            assert one["hash"] == f"sha256:{hashlib.sha256(content).hexdigest()}"
        digest = json.loads(bundle.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{hashlib.sha256(bundle.read('datapackage.json')).hexdigest()}"
        stored = [one for one in bundle.infolist() if one.filename.startswith(("archive/", "indexes/"))]
        assert {one.compress_type for one in stored} == {zipfile.ZIP_STORED}


def test_players_find_where_each_file_begins(file: Path) -> None:
    """ReplayWeb.page takes it that a file without an extra field in the directory has none at its head."""
    raw = file.read_bytes()
    with zipfile.ZipFile(file) as bundle:
        for one in bundle.infolist():
            assert not one.extra
            assert int.from_bytes(raw[one.header_offset + 28 : one.header_offset + 30], "little") == 0


@pytest.mark.parametrize(("part", "block"), [(1 << 30, 3_000), (9_000, 7)])
def test_the_index_leads_to_every_response(
    data: Path, tmp_path: Path, part: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if there are many files and blocks."""
    monkeypatch.setattr(wacz, "PART", part)
    monkeypatch.setattr(wacz, "_BLOCK", block)
    path, folder = tmp_path / "a.wacz", DataFolder(data)
    with path.open("wb") as sink:
        wacz.write_wacz(sink, folder, folder.read())
    with zipfile.ZipFile(path) as bundle:
        archives = [name for name in bundle.namelist() if name.startswith("archive/")]
        assert (len(archives) > 1) == (part < 1 << 30)
        lines = list(index_of(bundle))
        assert [line[:2] for line in lines] == sorted(line[:2] for line in lines)
        for _, _, told in lines:
            raw = bundle.read(f"archive/{told['filename']}")
            piece = raw[int(told["offset"]) : int(told["offset"]) + int(told["length"])]
            [record] = ArchiveIterator(io.BytesIO(piece), check_digests="raise")
            assert record.rec_headers.get_header("WARC-Target-URI") == told["url"]
            assert record.rec_headers.get_header("WARC-Payload-Digest") == told["digest"]
        pages = [json.loads(line) for line in bundle.read("pages/pages.jsonl").splitlines()]
    assert pages[0]["format"] == "json-pages-1.0"
    kept = {row["url"]: row["title"] for row in exported("pages", data)}
    assert {page["url"]: page["title"] for page in pages[1:]} == kept
    assert kept.keys() <= {told["url"] for _, _, told in lines}


def test_it_comes_back_by_import(data: Path, file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    done = run("import", str(file), "--json", data=other)
    assert done.returncode == 0, done.stderr
    before, after = ({row["url"]: (row["title"], row["text"]) for row in exported("pages", at)} for at in (data, other))
    assert before == after
    assert len(after) == PAGES


def test_the_tool_of_the_format_calls_it_valid(file: Path) -> None:
    import subprocess

    pytest.importorskip("wacz", reason="the package wacz is not installed")
    command = [sys.executable, "-c", "import sys; from wacz.main import main; sys.exit(main(sys.argv[1:]))"]
    done = subprocess.run(
        [*command, "validate", "-f", str(file)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "invalid" not in done.stdout.lower()


def test_it_needs_a_file(data: Path) -> None:
    done = run("export", "wacz", data=data)
    assert done.returncode == 2
    assert "WACZ needs a file" in done.stderr
