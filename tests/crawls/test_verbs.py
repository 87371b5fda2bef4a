"""The verbs as a person uses them: start, limit, stop, go on, add, remove, export; and their exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow.parquet as pq
import pytest
from crawl_kit import GOSSAMER, PATIENCE, crawl, run, settings_of, start, wait_until, write_settings
from inside import fails, gossamer

from gossamer import settings as settings_file
from gossamer.testing import FakeWeb, Log, violations

STATUS_KEYS = {"pages", "fetched", "urls_known", "urls_due", "duplicates", "errors", "sites"}
PAGE_FIELDS = {"url", "title", "text", "lang", "date", "fetched_at", "content_hash"}
URL_FIELDS = {"url", "state", "reason"}
LINK_FIELDS = {"source", "target", "anchor"}
DELAY = 0.02


def page_requests(log: Log) -> list[str]:
    return [request.url for request in log if request.path != "/robots.txt"]


# -- init -----------------------------------------------------------------------------------------


def test_init_writes_settings_that_load_as_the_defaults(tmp_path: Path) -> None:
    data = tmp_path / "new" / "folder"
    done = gossamer("init", str(data))
    assert done.code == 0 and "gossamer crawl SEED" in done.out
    assert settings_file.load(data) == settings_file.Settings()
    text = (data / "gossamer.toml").read_text()
    for setting in settings_file.describe():
        assert f"\n# {setting.sentence}\n# {setting.name} = " in text


def test_init_does_not_overwrite_unless_forced(tmp_path: Path) -> None:
    gossamer("init", str(tmp_path))
    file = tmp_path / "gossamer.toml"
    file.write_text("[crawl]\nworkers = 3\n")
    fails(gossamer("init", str(tmp_path)), 2, "already exists", "--force")
    assert file.read_text() == "[crawl]\nworkers = 3\n"
    assert gossamer("init", str(tmp_path), "--force").code == 0
    assert "workers = 0" in file.read_text()


# -- a crawl with limits, from seeds of every kind, and its continuation -----------------------------


class Limited(NamedTuple):
    data: Path
    web: FakeWeb
    first: dict[str, Any]
    asked_first: list[str]
    last: dict[str, Any]


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Limited]:
    """60 pages on three hosts: 25 page requests by two workers, then the rest."""
    folder = tmp_path_factory.mktemp("limited")
    web = FakeWeb("127.0.23")
    for number, host in enumerate(("arg.test", "file.test", "stdin.test")):
        site = web.site(host, pages=20, links=6, seed=number)
        site.page("/gone-too", "no", status=404)
    seeds = folder / "seeds.txt"
    seeds.write_text(f"# the second host\n\n{web.url('file.test')}  # its start\n{web.url('file.test', '/gone-too')}\n")
    data = folder / "data"
    with web:
        write_settings(data, settings_of(web, politeness={"delay": DELAY}))
        done = run(
            "crawl", web.url("arg.test"), "-", "--seeds", str(seeds), "--pages", "25", "--workers", "2", "--json",
            data=data, stdin=web.url("stdin.test") + "\n",
        )  # fmt: skip
        assert done.returncode == 1 and "/gone-too: status 404" in done.stderr, done.stderr
        asked = page_requests(web.log())
        more = run("crawl", "--json", data=data)
        assert more.returncode == 1 and "1 of 4 seeds failed" in more.stderr, more.stderr
        yield Limited(data, web, json.loads(done.stdout), asked, json.loads(more.stdout))


def test_pages_limits_the_requests_exactly_over_two_workers(limited: Limited) -> None:
    """Failed pages count, robots.txt does not; seen from the servers' side."""
    assert len(limited.asked_first) == limited.first["fetched"] == 25
    assert limited.first["urls_due"] > 0


def test_seeds_come_from_arguments_files_and_standard_input(limited: Limited) -> None:
    hosts = {url.split("/")[2].partition(":")[0] for url in limited.asked_first}
    assert hosts == {"arg.test", "file.test", "stdin.test"}
    assert limited.web.url("file.test", "/gone-too") in limited.asked_first


def test_crawl_without_seeds_goes_on_and_asks_for_nothing_twice(limited: Limited) -> None:
    asked = page_requests(limited.web.log())
    assert limited.last["urls_due"] == 0
    assert limited.last["pages"] == 60
    assert limited.last["fetched"] == len(asked) == len(set(asked)) == 61


def test_the_limited_crawl_was_polite(limited: Limited) -> None:
    assert violations(limited.web.log(), DELAY, DELAY, robots_first=True) == []


def test_status_has_the_promised_keys_and_true_figures(limited: Limited) -> None:
    status = gossamer("status", "--json", data=limited.data).json
    assert set(status) >= STATUS_KEYS
    assert (status["pages"], status["fetched"], status["sites"], status["errors"]) == (60, 61, 3, 1)
    assert status["errors_by_kind"] == {"gone": 1}
    assert status["workers"] == status["sites_active"] == 0
    text = gossamer("status", data=limited.data).out
    assert "60 kept, 61 fetched" in text and "gone:1" in text


# -- export ---------------------------------------------------------------------------------------


def read_export(what: str, format: str, data: Path, folder: Path) -> list[dict[str, Any]]:
    file = folder / f"{what}.{format}"
    done = gossamer("export", what, "--format", format, "-o", str(file), data=data)
    assert done.code == 0 and done.out == "", done
    if format == "parquet":
        return list(pq.read_table(file).to_pylist())
    text = file.read_text(encoding="utf-8")
    if format == "csv":
        return list(csv.DictReader(io.StringIO(text)))
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("what", "fields", "rows"),
    [("pages", PAGE_FIELDS, 60), ("urls", URL_FIELDS, 61), ("links", LINK_FIELDS, None)],
)
def test_exports_agree_in_every_format(
    limited: Limited, tmp_path: Path, what: str, fields: set[str], rows: int | None
) -> None:
    found = {format: read_export(what, format, limited.data, tmp_path) for format in ("jsonl", "parquet", "csv")}
    key = "target" if what == "links" else "url"
    for table in found.values():
        assert set(table[0]) >= fields
        assert len(table) == (rows or len(found["jsonl"])) > 0
        assert sorted(row[key] for row in table) == sorted(row[key] for row in found["jsonl"])
    assert [list(row) for row in found["csv"][:1]] == [list(row) for row in found["jsonl"][:1]]


def test_exported_pages_are_the_pages_of_the_web(limited: Limited) -> None:
    pages = [json.loads(line) for line in gossamer("export", "pages", data=limited.data).out.splitlines()]
    assert {page["url"] for page in pages} == {url for site in limited.web.sites.values() for url in site.generated}
    for page in pages:
        assert page["title"] and page["text"] and page["content_hash"]
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", page["fetched_at"])


def test_the_format_follows_the_ending_and_duckdb_reads_it(limited: Limited, tmp_path: Path) -> None:
    file = tmp_path / "pages.parquet"
    assert gossamer("export", "pages", "-o", str(file), data=limited.data).code == 0
    found = duckdb.execute(f"SELECT count(*), count(DISTINCT content_hash) FROM '{file}'").fetchall()
    assert found == [(60, 60)]
    fails(gossamer("export", "pages", "--format", "parquet", data=limited.data), 2, "-o")


def test_an_export_that_is_read_only_in_part_ends_quietly(limited: Limited) -> None:
    """`gossamer export links | head -1`."""
    command = subprocess.Popen([*GOSSAMER, "export", "links", "--data", str(limited.data)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert command.stdout is not None
    command.stdout.read(10)
    command.stdout.close()
    assert command.wait(PATIENCE) == 0
    assert command.stderr is not None and command.stderr.read() == b""
    command.stderr.close()


# -- remove ---------------------------------------------------------------------------------------


def test_removed_urls_leave_the_exports_and_stay_out(limited: Limited) -> None:
    """After the exports above, because it changes the crawl."""
    site = limited.web.sites["file.test"]
    before = page_requests(limited.web.log())
    done = gossamer("remove", site.url("/"), "--reason", "the owner asked", "--json", data=limited.data)
    assert done.json == {"removed": 21}
    assert site.url("/") not in gossamer("export", "pages", data=limited.data).out
    assert gossamer("status", "--json", data=limited.data).json["pages"] == 40
    assert gossamer("recrawl", site.url("/"), "--json", data=limited.data).json == {"queued": 0}
    assert gossamer("inject", site.url("/p/1.html"), "--json", data=limited.data).json["new"] == 0
    again = run("crawl", site.url("/"), "--quiet", data=limited.data)
    assert again.returncode == 0, again.stderr
    assert page_requests(limited.web.log()) == before
    answer = gossamer("explain", site.url("/"), "--json", data=limited.data).json
    assert (answer["state"], answer["reason"]) == ("removed", "the owner asked")


def test_remove_and_recrawl_need_to_know_what(limited: Limited) -> None:
    for verb in ("remove", "recrawl"):
        fails(gossamer(verb, data=limited.data), 2, "name a URL")
        fails(gossamer(verb, "what is this", data=limited.data), 2, "what is this")
    fails(gossamer("inject", data=limited.data), 2, "no seeds to inject")


def test_inject_names_the_line_that_allows_a_private_address(tmp_path: Path) -> None:
    refused = gossamer("inject", "http://127.0.0.3:8080/", data=tmp_path)
    line = 'write allow = ["127.0.0.0/8"] under [network] in '
    fails(refused, 2, line, str(tmp_path / "gossamer.toml"))
    assert "--allow-network" not in refused.err
    (tmp_path / "gossamer.toml").write_text('[network]\nallow = ["127.0.0.0/8"]\n')
    assert gossamer("inject", "http://127.0.0.3:8080/", data=tmp_path).code == 0


# -- scope ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--scope", "host", "--no-archive", "--strategy", "random"], {"www.own.test"}),
        (["--scope", "domain"], {"www.own.test", "blog.own.test"}),
        (["--scope", "list", "--host", "*.far.test"], {"www.own.test", "a.far.test"}),
    ],
    ids=["host", "domain", "list"],
)
def test_scope_decides_which_hosts_are_crawled(tmp_path: Path, options: list[str], expected: set[str]) -> None:
    hosts = ["www.own.test", "blog.own.test", "a.far.test", "far.test"]
    web = FakeWeb("127.0.24")
    for host in hosts:
        web.site(host, pages=2, seed=len(host), elsewhere=[other for other in hosts if other != host])
    with web:
        crawl(web, tmp_path, [web.url("www.own.test")], "--workers", "1", *options, crawl={"linger": 0.0})
        assert {request.site.partition(":")[0] for request in web.log()} == expected
    kept = {path.name for path in tmp_path.glob("segments/*/*")}
    assert ("responses.warc.gz" in kept) == ("--no-archive" not in options)


# -- beside a running crawl --------------------------------------------------------------------------


class Beside(NamedTuple):
    data: Path
    web: FakeWeb
    second: Any
    injected: Any
    worker: subprocess.CompletedProcess[str]
    during: dict[str, Any]
    final: dict[str, Any]


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    """A crawl of slow sites, and what other commands do meanwhile."""
    data = tmp_path_factory.mktemp("beside") / "data"
    web = FakeWeb("127.0.25")
    for number, host in enumerate(("slow.test", "slower.test", "third.test")):
        web.site(host, pages=2000, links=5, seed=number)
    web.site("new.test", pages=1)
    with web:
        write_settings(data, settings_of(web, politeness={"delay": 0.15}))
        seeds = [web.url(host) for host in ("slow.test", "slower.test", "third.test")]
        main = start("crawl", *seeds, "--workers", "1", "--json", data=data)
        try:
            wait_until(lambda: len(web.log()) > 3)
            second = gossamer("crawl", web.url("new.test"), data=data)
            injected = gossamer("inject", web.url("new.test"), data=data)
            worker = start("work", "--name", "helper", data=data)
            wait_until(lambda: gossamer("status", "--json", data=data).json["workers"] == 2)
            during = gossamer("status", "--json", data=data).json
            wait_until(lambda: web.url("new.test") in page_requests(web.log()))
            time.sleep(0.5)
            worker.send_signal(signal.SIGINT)
            texts = worker.communicate(timeout=PATIENCE)
            done = subprocess.CompletedProcess(worker.args, worker.returncode, *texts)
            main.send_signal(signal.SIGINT)
            out, err = main.communicate(timeout=PATIENCE)
        finally:
            for process in (main, worker):
                if process.poll() is None:
                    process.kill()
        assert main.returncode == 0, err
        yield Beside(data, web, second, injected, done, during, json.loads(out))


def test_a_crawl_that_is_stopped_tells_how_it_stands(beside: Beside) -> None:
    assert beside.final["urls_due"] > 0
    assert beside.final["fetched"] == len(page_requests(beside.web.log()))
    assert beside.final["workers"] == beside.final["sites_active"] == 0


def test_for_ends_a_crawl_in_time_with_work_left(tmp_path: Path) -> None:
    web = FakeWeb("127.0.25")
    web.site("slow.test", pages=2000, links=5)
    with web:
        began = time.monotonic()
        final = crawl(
            web, tmp_path, [web.url("slow.test")], "--for", "4s", "--workers", "1", politeness={"delay": 0.15}
        )
        assert time.monotonic() - began >= 4
        assert final["urls_due"] > 0
        assert final["fetched"] == len(page_requests(web.log()))
        assert final["workers"] == final["sites_active"] == 0


def test_a_second_crawl_on_the_same_folder_is_refused(beside: Beside) -> None:
    fails(beside.second, 1, "another `gossamer crawl` is running", "gossamer inject", "--data")


def test_inject_reaches_a_running_crawl(beside: Beside) -> None:
    assert beside.injected.code == 0 and "1 new" in beside.injected.out
    assert gossamer("explain", beside.web.url("new.test"), "--json", data=beside.data).json["state"] == "fetched"


def test_work_helps_a_running_crawl_and_leaves_in_good_order(beside: Beside) -> None:
    assert beside.worker.returncode == 0, beside.worker.stderr
    assert beside.worker.stderr == ""
    assert beside.during["workers"] == 2 and beside.during["sites_active"] > 0


def test_workers_side_by_side_are_polite(beside: Beside) -> None:
    assert violations(beside.web.log(), 0.15, 0.15, robots_first=True, once_within=1e9) == []


def test_ctrl_c_stops_in_good_order(tmp_path: Path) -> None:
    web = FakeWeb("127.0.25")
    web.site("slow.test", pages=400, links=5)
    with web:
        write_settings(tmp_path, settings_of(web, politeness={"delay": DELAY}))
        main = start("crawl", web.url("slow.test"), data=tmp_path)
        wait_until(lambda: len(web.log()) > 10)
        main.send_signal(signal.SIGINT)
        out, err = main.communicate(timeout=PATIENCE)
        assert main.returncode == 0, err
        assert "URLs left. Run `gossamer crawl --data" in out and "Traceback" not in err
        status = gossamer("status", "--json", data=tmp_path).json
        assert status["pages"] == len(page_requests(web.log())) > 0
        assert status["workers"] == status["sites_active"] == 0


# -- exit codes, help, tracebacks --------------------------------------------------------------------


def test_help_and_version(tmp_path: Path) -> None:
    text = gossamer("--help").out
    for verb in [
        "init",
        "crawl",
        "search",
        "serve",
        "index",
        "evaluate",
        "lab",
        "work",
        "status",
        "explain",
        "history",
        "inject",
        "recrawl",
        "remove",
        "export",
        "demo",
    ]:
        assert re.search(rf"\b{verb}\b", text)
        assert gossamer(verb, "--help").code == 0
    assert re.match(r"\d+\.\d+\.\d+\n", gossamer("--version").out)


@pytest.mark.parametrize(
    "arguments",
    [
        ["fly"], ["crawl", "--pages", "many"], ["crawl", "--pages", "0", "http://127.0.0.1/"], ["crawl", "--wings"],
        ["crawl", "--scope", "all"], ["crawl", "--for", "soon", "http://127.0.0.1/"], ["export", "dreams"], ["explain"],
        ["crawl", "--resolve", "a.test", "http://a.test/"], ["crawl"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage_is_exit_2_and_makes_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    fails(gossamer(*arguments), 2)
    assert not list(tmp_path.rglob("*.toml"))


def test_debug_shows_the_traceback_and_the_same_exit_code(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "gossamer.cli", "explain", "http://a.test/", "--data", str(tmp_path / "none")]
    plain = subprocess.run(command, capture_output=True, text=True, check=False)
    loud = subprocess.run([*command, "--debug"], capture_output=True, text=True, check=False)
    assert (plain.returncode, loud.returncode) == (2, 2)
    assert "Traceback" not in plain.stderr and "Traceback" in loud.stderr
    assert plain.stderr.splitlines()[-1] == loud.stderr.splitlines()[-1]


def test_a_crawl_without_a_seed_leaves_no_folder_behind(tmp_path: Path) -> None:
    fails(gossamer("crawl", data=tmp_path / "new"), 2, "name a seed", "--contact")
    assert not (tmp_path / "new").exists()


def test_settings_of_a_folder_that_does_not_exist_are_not_right(tmp_path: Path) -> None:
    fails(gossamer("config", "check", data=tmp_path / "universtiy"), 2, "there is no folder", "universtiy")
