"""Bad input and a bad world: one clear line that says what to do, the right exit code, nothing lost, no traceback.

Some of the world's faults need root here, because permissions do not bind it: a full disk and a read-only folder
are small tmpfs mounts. Elsewhere the first is tried with RLIMIT_FSIZE, and the second with permissions.

What servers do to us (3 GB, redirect loops, garbage as robots.txt …) is in `tests/crawls/test_hostile_crawl.py`; two
crawls on one folder in `test_verbs.py`.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import GOSSAMER, PATIENCE, crawl, exported, run, settings_of, unmerged, write_settings
from inside import Done, fails, gossamer

from gossamer.data import folder as folder_module
from gossamer.database.database import open_database
from gossamer.testing import FakeWeb

ROOT = os.geteuid() == 0
LOCAL = "http://127.0.0.1:9/"
PAGES = 60


# -- wrong words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["crawl", "inject", "explain", "history", "recrawl", "remove"])
@pytest.mark.parametrize("text", ["http://", "http://[::1/", "ftp://a.test/", "javascript:alert(1)", "a b c"])
def test_a_wrong_url_is_named(tmp_path: Path, verb: str, text: str) -> None:
    data = tmp_path / "data"
    if verb not in ("crawl", "inject"):
        open_database(data / "frontier.db").close()
    fails(gossamer(verb, text, data=data), 2, text)
    assert data.exists() == (verb not in ("crawl", "inject"))


@pytest.mark.parametrize(
    ("toml", "phrases"),
    [
        ("[politeness]\ndeley = 2.0\n", ["unknown setting deley in [politeness]", "did you mean delay?"]),
        ("[crawl]\nzzz = 1\n", ["unknown setting zzz", "known are contact, workers"]),
        ("[politness]\ndelay = 2.0\n", ["unknown section [politness]", "did you mean [politeness]?"]),
        ("[fetch]\nuser_agent = 'x'\n", ["unknown setting user_agent"]),
        ("[politeness]\ndelay = 'long'\n", ["politeness.delay", "`float`", "`str`"]),
        ("[crawl]\nworkers = 1.5\n", ["crawl.workers", "`int`"]),
        ("[scope]\nmode = 'planet'\n", ["scope.mode", "planet"]),
        ("crawl = 3\n", ["crawl"]),
        ("[scope]\nfilters = [{kind = 'prefix', action = 'deny', pattern = '/x', nmae = 'y'}]\n", ["nmae", "name?"]),
        ("[scope]\nfilters = [{kind = 'regex', action = 'deny', pattern = '('}]\n", ["regex '('"]),
        ("[scope]\nfilters = [{kind = 'prefix', action = 'deny'}]\n", ["pattern"]),
        ("[scope]\nrules = ['nosuch']\n", ["nosuch", "known are"]),
        ("[crawl]\nstrategy = 'nosuch'\n", ["nosuch", "breadth"]),
        ("[crawl]\ncontact = 'me'\n", ["'me'", "mail address"]),
        ("[politeness]\ndelay = -1.0\n", ["politeness.delay is -1.0", "at least 0"]),
        ("[politeness]\ndelay = nan\n", ["politeness.delay is nan"]),
        ("[crawl]\nparsers = 0\n", ["crawl.parsers is 0", "at least 1"]),
        ("[network]\nallow = ['10.0.0.0/99']\n", ["10.0.0.0/99"]),
        ("[network]\nresolve = {\"a.test\" = 'here'}\n", ["a.test", "not an IP address"]),
        ("[sites.\"a.test\"]\ncookie = {a = 'b'}\n", ["unknown setting cookie", "cookies?"]),
        ("[sites.\"a.test\"]\nheaders = {Host = 'b'}\n", ["Host", "you cannot replace it"]),
        ("[fetch]\nproxy = 'socks://x'\n", ["fetch.proxy", "http://host:port"]),
        ("[fetch]\nca_file = '/no/such/file.pem'\n", ["/no/such/file.pem"]),
        ("[crawl\nworkers = 1\n", ["not valid TOML", "line 1"]),
        (b"[crawl]\ncontact = '\xff'\n", ["not valid TOML"]),
    ],
    ids=lambda value: str(value)[:30].replace("\n", " ") if not isinstance(value, list) else "",
)  # fmt: skip
def test_a_wrong_setting_is_named_with_its_place_and_the_way_out(
    tmp_path: Path, toml: str | bytes, phrases: list[str]
) -> None:
    file = tmp_path / "gossamer.toml"
    file.write_bytes(toml if isinstance(toml, bytes) else toml.encode())
    for verb in ("crawl", "inject"):
        fails(gossamer(verb, LOCAL, data=tmp_path), 2, *phrases)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gossamer.toml"]


def test_settings_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").mkdir()
    fails(gossamer("crawl", LOCAL, data=tmp_path), 2, "cannot read", "gossamer.toml")


@pytest.mark.parametrize("verb", ["crawl", "inject"])
def test_a_seed_file_that_cannot_be_read_is_named(tmp_path: Path, verb: str) -> None:
    data, binary = tmp_path / "data", tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00\x01")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("http://good.test/\n\nhttp://[bad\n")
    for file, phrase in ((tmp_path / "none.txt", "No such file"), (tmp_path, "directory"), (binary, "UTF-8")):
        fails(gossamer(verb, "--seeds", str(file), data=data), 2, str(file), phrase)
    fails(gossamer(verb, "--seeds", str(wrong), data=data), 2, "wrong.txt line 3", "http://[bad")
    fails(gossamer(verb, "none.txt", data=data), 2, "no such file")
    fails(gossamer(verb, "-", data=data, stdin="http://[bad\n"), 2, "standard input line 1")
    assert not data.exists()


# -- where we may not go --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "phrases"),
    [
        (["https://example.org/"], ["other machines", "--contact"]),
        (["http://10.0.0.1/"], ["10.0.0.1", "--contact"]),
        ([LOCAL], ["127.0.0.1", "this machine", "--allow-network"]),
        (["http://localhost:9/"], ["--allow-network"]),
        (["http://10.0.0.1/", "--contact", "me@example.org"], ["10.0.0.1 is private", "--allow-network 10.0.0.1/32"]),
        (["http://[::1]:9/", "--contact", "me@example.org"], ["::1 is this machine", "--allow-network"]),
        (["http://a.test/", "--contact", "me@b.test", "--resolve", "a.test=192.168.0.9"], ["192.168.0.9 is private"]),
        (["http://2130706433/", "--contact", "me@example.org"], ["127.0.0.1 is this machine"]),
        (["http://169.254.169.254/", "--contact", "https://example.org/"], ["metadata"]),
        (["https://example.org/", "--contact", "nobody"], ["nobody", "mail address"]),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)  # fmt: skip
def test_an_address_that_may_not_be_crawled_is_refused_before_anything_happens(
    tmp_path: Path, arguments: list[str], phrases: list[str]
) -> None:
    data = tmp_path / "data"
    fails(gossamer("crawl", *arguments, data=data), 2, *phrases)
    assert not data.exists()


@pytest.mark.parametrize("url", [LOCAL, "http://10.0.0.1/", "http://[::1]:9/"])
def test_a_seed_that_would_end_the_next_crawl_is_not_injected(tmp_path: Path, url: str) -> None:
    """A contact is no matter of `inject`: the command of the crawl names it."""
    data = tmp_path / "data"
    fails(gossamer("inject", url, data=data), 2, url, "write allow = [", str(data / "gossamer.toml"))
    assert not data.exists()
    assert gossamer("inject", "https://example.org/", data=data).code == 0


# -- one small crawl that the rest of the file damages copies of ---------------------------------------


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    fake = FakeWeb("127.0.27")
    fake.site("good.test", pages=PAGES, links=6, size=30)
    fake.hosts.add("closed.test", "127.0.27.250")
    with fake:
        yield fake


@pytest.fixture(scope="module")
def original(web: FakeWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl of one good host and one where nobody listens, in several segments."""
    data = tmp_path_factory.mktemp("bad") / "data"
    seeds = [web.url("good.test"), "http://closed.test:1/"]
    commits = {"commit_pages": 10, "linger": 0.5, "workers": 1}
    with unmerged(data):
        status = crawl(web, data, seeds, budget={"per_site": 10}, crawl=commits, politeness={"delay": 0.01})
    assert status["pages"] == PAGES and status["segments"] > 1
    return data


@pytest.fixture
def data(original: Path, tmp_path: Path) -> Path:
    """A copy of it, without the seed that failed: all that is not well here is what a test does to it."""
    copy = Path(shutil.copytree(original, tmp_path / "data"))
    change(copy, "DELETE FROM seeds WHERE url = 'http://closed.test:1/'")
    return copy


def change(data: Path, sql: str, *values: Any) -> None:
    with contextlib.closing(sqlite3.connect(data / "frontier.db", isolation_level=None)) as connection:
        connection.execute(sql, values)


def test_an_unreachable_host_does_not_hold_up_the_crawl_and_is_explained(original: Path) -> None:
    answer = gossamer("explain", "http://closed.test:1/", "--json", data=original).json
    assert answer["state"] in ("waiting", "scheduled", "failed")
    assert "robots.txt is unreachable (no connection to the server)" in answer["reason"]
    assert "closed.test:1" in gossamer("status", data=original).out


@pytest.mark.skipif(not ROOT, reason="a network namespace of its own needs root")
def test_a_name_without_an_address_ends_the_crawl_with_the_reason(tmp_path: Path) -> None:
    """In a network namespace without a network, so that no name server is asked."""
    write_settings(tmp_path, {"crawl": {"linger": 0.5, "contact": "me@example.org", "workers": 1}})
    command = ["unshare", "-n", *GOSSAMER, "crawl", "http://nowhere.invalid/", "--json", "--data", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 1 and "nowhere.invalid/ failed" in done.stderr, done.stderr
    answer = gossamer("explain", "http://nowhere.invalid/", "--json", data=tmp_path).json
    assert answer["state"] in ("waiting", "scheduled", "failed")
    assert "the host name has no address" in answer["reason"]


# -- the disk -------------------------------------------------------------------------------------


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Callable[[str], int]]:
    """A tmpfs of a given size; yields a function that mounts it anew with other options."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)], check=True)
    try:
        yield lambda options: subprocess.check_call(["mount", "-o", f"remount,{options}", str(folder)])
    finally:
        # Lazily: what ran inside this process may still have files open.
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill_disk(web: FakeWeb, data: Path, before: Callable[[], None] | None = None) -> Done:
    done = subprocess.run([*GOSSAMER, "crawl", web.url("good.test"), "--quiet", "--data", str(data)],
                          capture_output=True, text=True, preexec_fn=before, timeout=PATIENCE, check=False)  # fmt: skip
    return Done(done.returncode, done.stdout, done.stderr)


def tight_settings(web: FakeWeb, data: Path) -> None:
    crawl_settings = {"commit_pages": 5, "min_free_disk": 0, "workers": 2}
    write_settings(data, settings_of(web, crawl=crawl_settings, budget={"per_site": 5}, alerts={"disk_low": 0}))


@pytest.mark.skipif(not ROOT, reason="a small disk needs root; see the next test")
def test_a_full_disk_ends_the_crawl_and_loses_nothing(web: FakeWeb, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "700k") as remount:
        data = tmp_path / "disk" / "data"
        tight_settings(web, data)
        fails(fill_disk(web, data), 1, "full", "free some space and start again")
        assert gossamer("status", "--check", "--json", data=data).code == 0
        kept = {page["url"] for page in exported("pages", data)}
        assert len(kept) < PAGES
        remount("size=64m")
        again = run("crawl", "--quiet", data=data)
        assert again.returncode == 0, again.stderr
        urls = [page["url"] for page in exported("pages", data)]
        assert kept < set(urls) and len(urls) == len(set(urls)) == PAGES
        assert gossamer("status", "--check", "--json", data=data).json["pages"] == PAGES


def test_a_file_size_limit_ends_the_crawl_and_loses_nothing(web: FakeWeb, tmp_path: Path) -> None:
    """What a user without root has of a full disk: RLIMIT_FSIZE, below the size of the database."""
    tight_settings(web, tmp_path)
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    fails(fill_disk(web, tmp_path, limit), 1, str(tmp_path), "start again")
    again = run("crawl", web.url("good.test"), "--quiet", data=tmp_path)
    assert again.returncode == 0, again.stderr
    assert len({page["url"] for page in exported("pages", tmp_path)}) == PAGES


def test_too_little_free_space_is_told_before_the_crawl_starts(web: FakeWeb, data: Path) -> None:
    write_settings(data, settings_of(web, crawl={"min_free_disk": 1 << 40}))
    before = len(web.log())
    fails(gossamer("crawl", data=data), 1, "MiB are free", "crawl.min_free_disk", "free some space")
    assert len(web.log()) == before


@pytest.fixture
def read_only(original: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the crawl, with an index, that cannot be written."""
    assert gossamer("index", data=original).code == 0
    disk = tmp_path / "disk"
    if ROOT:
        with small_disk(disk, "64m") as remount:
            copy = Path(shutil.copytree(original, disk / "data", ignore=shutil.ignore_patterns("*-wal", "*-shm")))
            remount("ro")
            yield copy
    else:
        copy = Path(shutil.copytree(original, disk / "data"))
        for path in [*copy.rglob("*"), copy]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        yield copy
        for path in [copy, *copy.rglob("*")]:
            path.chmod(0o755)


def test_a_read_only_folder_is_told_by_every_verb_that_writes(web: FakeWeb, read_only: Path) -> None:
    url = web.url("good.test")
    for arguments in (["crawl"], ["crawl", url], ["inject", url + "new"], ["recrawl", url], ["remove", url]):
        fails(gossamer(*arguments, data=read_only), 1, str(read_only))
    fails(gossamer("init", str(read_only), "--force"), 1, str(read_only))
    fails(
        gossamer("crawl", LOCAL, "--allow-network", "127.0.0.0/8", data=read_only / "new"), 1, "choose another --data"
    )


def test_a_read_only_folder_can_be_read(web: FakeWeb, read_only: Path) -> None:
    """A crawl on a DVD or in a snapshot is still a crawl."""
    assert gossamer("status", "--json", data=read_only).json["pages"] == PAGES
    assert gossamer("explain", web.url("good.test"), "--json", data=read_only).json["state"] == "fetched"
    assert gossamer("export", "pages", data=read_only).out.count("\n") == PAGES


def test_a_read_only_folder_is_searched_and_served(read_only: Path) -> None:
    done = gossamer("search", "site:good.test", "--json", data=read_only)
    assert done.code == 0 and done.json["total"] > 0, done
    command = [*GOSSAMER, "serve", "--port", "0", "--until-stdin-ends", "--data", str(read_only)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None and server.stdout is not None
        address = server.stdout.readline().split()[2]
        with urlopen(f"{address}/api/v1/search?q=site:good.test", timeout=120) as answer:
            assert json.load(answer)["total"] == done.json["total"]
        server.stdin.close()
    assert server.returncode == 0


def test_an_export_that_cannot_be_written_is_told(data: Path, tmp_path: Path) -> None:
    fails(gossamer("export", "pages", "-o", str(tmp_path / "no" / "x.jsonl"), data=data), 1, "x.jsonl", "No such file")
    fails(gossamer("export", "pages", "-o", str(tmp_path), data=data), 1, "directory")


# -- the database ---------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["crawl", "inject", "recrawl", "remove"])
def test_a_locked_database_is_told_after_the_wait(
    web: FakeWeb, data: Path, verb: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process writes for longer than we wait (30 s; half a second here). Reading goes on meanwhile."""
    monkeypatch.setattr(folder_module, "open_database", functools.partial(open_database, wait=0.5))
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE')\n"
    code += "print('locked', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code, str(data / "frontier.db")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        assert holder.stdout is not None and holder.stdout.readline() == "locked\n"
        fails(gossamer(verb, web.url("good.test"), data=data), 1, "another program has locked", "try again")
        assert gossamer("status", "--json", data=data).json["pages"] == PAGES
    finally:
        holder.communicate("")
    assert gossamer("recrawl", web.url("good.test"), "--json", data=data).json == {"queued": PAGES}


def garbage_at_start(file: Path) -> None:
    with file.open("r+b") as database:
        database.write(b"this is not the database you are looking for")


def garbage_in_tables(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as database:
        database.seek(4096)
        database.write(b"\xff" * (size - 4096))


def other_database(file: Path) -> None:
    file.unlink()
    with contextlib.closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (text)")
        connection.commit()


@pytest.mark.parametrize("damage", [garbage_at_start, garbage_in_tables, other_database])
@pytest.mark.parametrize("verb", ["crawl", "status", "explain", "export"])
def test_a_corrupt_database_is_named_and_left_alone(
    web: FakeWeb, data: Path, verb: str, damage: Callable[[Path], None]
) -> None:
    file = data / "frontier.db"
    damage(file)
    before, segments = file.read_bytes(), sorted(path.name for path in (data / "segments").iterdir())
    arguments = {"explain": [web.url("good.test")], "export": ["urls"]}.get(verb, [])
    fails(gossamer(verb, *arguments, data=data), 1, "frontier.db")
    # Bytes 18 and 19 say how it is journalled; opening another program's database for writing changes them.
    assert file.read_bytes()[100:] == before[100:]
    assert sorted(path.name for path in (data / "segments").iterdir()) == segments


def test_a_database_of_another_version_is_told(data: Path) -> None:
    change(data, "UPDATE meta SET value = '999' WHERE key = 'schema'")
    for verb in ("crawl", "status"):
        fails(gossamer(verb, data=data), 1, "schema 999", "use the version that wrote it")


# -- segments -------------------------------------------------------------------------------------


def damage_middle(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as stream:
        stream.seek(size // 3)
        piece = stream.read(40)
        stream.seek(size // 3)
        stream.write(bytes(byte ^ 0x5A for byte in piece))


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


@pytest.mark.parametrize("damage", [damage_middle, truncate, Path.unlink])
@pytest.mark.parametrize(("name", "what"), [("pages.parquet", "pages"), ("links.parquet", "links")])
def test_corrupt_parquet_is_named_by_whoever_reads_it(
    web: FakeWeb, data: Path, tmp_path: Path, name: str, what: str, damage: Callable[[Path], None]
) -> None:
    older = tmp_path / "older.jsonl"
    older.write_text("an older export\n")
    file = sorted(data.glob(f"segments/2*/{name}"))[0]
    damage(file)
    commands = [["export", what, "-o", str(older)], ["status", "--check"]]
    commands += [["history", web.url("good.test")]] if what == "pages" else []
    for command in commands:
        fails(gossamer(*command, data=data), 1, str(file), "gossamer recrawl --segment")
    assert older.read_text() == "an older export\n"
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("damage", [damage_middle, truncate])
def test_a_corrupt_warc_is_named_by_the_check(data: Path, damage: Callable[[Path], None]) -> None:
    assert gossamer("status", "--check", data=data).code == 0
    file = sorted(data.glob("segments/2*/responses.warc.gz"))[0]
    damage(file)
    fails(gossamer("status", "--check", data=data), 1, str(file), "gossamer recrawl --segment")
    assert gossamer("export", "pages", data=data).out.count("\n") == PAGES


@pytest.mark.parametrize("merges", [0, 2])
def test_a_damaged_segment_can_be_withdrawn_and_its_pages_come_back(web: FakeWeb, data: Path, merges: int) -> None:
    """Also one that was merged from others, which were merged before."""
    folder = sorted((data / "segments").glob("2*"))[0]
    for number in range(merges):
        merged = f"{folder.name[:-6]}{900_000 + number}"
        change(data, "INSERT INTO segments (id, worker, created_at, pages, bytes) VALUES (?, 'x', 1, 10, 5000)", merged)
        change(data, "UPDATE segments SET merged_into = ? WHERE id = ?", merged, folder.name)
        folder = folder.rename(folder.with_name(merged))
    assert len(exported("pages", data)) == PAGES
    file = folder / "pages.parquet"
    truncate(file)
    fails(gossamer("recrawl", "--segment", "nosuch", data=data), 2, "no segment nosuch")
    queued = gossamer("recrawl", "--segment", file.parent.name, "--json", data=data).json["queued"]
    assert 0 < queued <= PAGES and not file.parent.exists()
    again = run("crawl", "--quiet", data=data)
    assert again.returncode == 0, again.stderr
    pages = exported("pages", data)
    assert {page["url"] for page in pages} == set(web.sites["good.test"].generated)
    assert gossamer("status", "--check", data=data).code == 0


def test_a_damaged_segment_does_not_keep_a_crawl_from_going_on(web: FakeWeb, data: Path) -> None:
    """Merging skips it: twelve small segments are due to be merged, one is damaged."""
    segments = sorted((data / "segments").glob("2*"))
    for number in range(12):
        copy = f"{segments[0].name[:-6]}{900_000 + number}"
        shutil.copytree(segments[0], data / "segments" / copy)
        change(data, "INSERT INTO segments (id, worker, created_at, pages, bytes) VALUES (?, 'x', 1, 10, 5000)", copy)
    truncate(data / "segments" / f"{segments[0].name[:-6]}900003" / "pages.parquet")
    done = run("crawl", "--quiet", data=data)
    assert done.returncode == 0, done.stderr
    assert "900003" in done.stderr and "Traceback" not in done.stderr
    assert len(exported("pages", data)) == PAGES


# -- the clock ------------------------------------------------------------------------------------


def test_a_clock_that_was_set_back_is_told_and_can_be_accepted(web: FakeWeb, data: Path) -> None:
    """A day of wrong time: what was to wait by the wrong clock must not wait a day by the right one."""
    day = 86_400.0
    assert gossamer("recrawl", web.url("good.test"), data=data).code == 0
    change(data, "UPDATE meta SET value = ? WHERE key = 'last_seen'", repr(time.time() + day))
    for table, column in (("sites", "not_before"), ("parts", "ready_at"), ("addresses", "not_before")):
        change(data, f"UPDATE {table} SET {column} = {column} + ? WHERE {column} > 0", day)
    before = len(web.log())
    fails(gossamer("crawl", data=data), 1, "behind the last crawl", "--accept-clock")
    assert len(web.log()) == before
    done = run("crawl", "--accept-clock", "--json", data=data)
    assert done.returncode == 0, done.stderr
    assert len(web.log()) >= before + PAGES
    assert json.loads(done.stdout)["pages"] == PAGES
    assert gossamer("crawl", "--help").code == 0


# -- permissions that a crawl began with --------------------------------------------------------------


def test_a_crawl_does_not_go_on_with_fewer_permissions(tmp_path: Path) -> None:
    """Without the contact it began with, every page would be refused for good."""
    data = tmp_path / "data"
    write_settings(data, {"crawl": {"contact": "me@example.org"}})
    assert gossamer("inject", "https://example.org/", data=data).code == 0
    (data / "gossamer.toml").unlink()
    fails(gossamer("crawl", data=data), 2, "https://example.org/", "--contact")
    assert gossamer("explain", "https://example.org/", "--json", data=data).json["state"] == "waiting"


def test_other_verbs_know_the_options_of_the_crawl(web: FakeWeb, tmp_path: Path) -> None:
    """Scope, network and contact may have come from the command line of `crawl`."""
    options = [option for host, ip in web.resolve.items() for option in ("--resolve", f"{host}={ip}")]
    done = run("crawl", web.url("good.test"), "--pages", "1", "--allow-network", "127.0.0.0/8", "--scope", "domain",
               "--delay", "0", "--workers", "1", "--quiet", *options, data=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = gossamer("explain", "http://other.good.test/x", "--json", data=tmp_path).json
    assert answer["state"] == "unknown"
    assert answer["factors"]["rules"][0]["rule"] == "scope.domain"
