"""`gossamer serve` and the first account, `gossamer accounts`, `gossamer audit`: real commands in processes."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest
from console_kit import client_of, log_in
from web_kit import PATIENCE, SETTINGS, MemoryService

from gossamer.cli.common import operator_name
from gossamer.cli.searching import serve as verb
from gossamer.compose import serve as servers
from gossamer.data.folder import DataFolder
from gossamer.tables import accounts, audit
from gossamer.web.app import Extension
from gossamer.web.service import Services

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import GOSSAMER, run, start

PASSWORD = "orb-weaver-99"


@pytest.fixture
def data(crawled: Path, tmp_path: Path) -> Path:
    shutil.copytree(crawled, tmp_path / "data")
    return tmp_path / "data"


def roles(data: Path) -> dict[str, str]:
    database = DataFolder(data).read()
    try:
        return {account.name: account.role for account in accounts.accounts(database)}
    finally:
        database.close()


@contextmanager
def served(data: Path, terminal: bool) -> Iterator[tuple[str, list[str]]]:
    """`gossamer serve`, before a terminal or not: its address, and all that it prints."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [*GOSSAMER, "serve", "--port", "0", "--data", str(data)]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    printed: list[str] = []
    with os.fdopen(ours, errors="replace") as output:
        try:
            while not (found := re.search(r"Search at (\S+).*Console at [^\n]*\n", "".join(printed), re.DOTALL)):
                printed.append(output.readline())
                assert printed[-1], "".join(printed)
            yield found[1], printed
        finally:
            server.send_signal(signal.SIGINT)
            with contextlib.suppress(OSError):  # how a terminal says that nobody is there any more
                printed += output.readlines()
            assert server.wait(PATIENCE) == 0


def test_the_first_start_makes_an_account_and_shows_its_password_once(data: Path) -> None:
    with served(data, terminal=True) as (address, printed), client_of(address) as client:
        shown = re.search(r"log in as operator with the password (\S+)", "".join(printed))
        assert shown
        assert log_in(client, "operator", shown[1]).status_code == 303
        assert client.get("/console/accounts").status_code == 200
    assert "".join(printed).count(shown[1]) == 1
    with served(data, terminal=True) as (address, printed):
        pass
    assert "password" not in "".join(printed)
    assert f"Console at {address}/console" in "".join(printed)
    assert all(shown[1].encode() not in path.read_bytes() for path in data.rglob("*") if path.is_file())


def test_what_somebody_collects_never_holds_a_password(data: Path) -> None:
    with served(data, terminal=False) as (_, printed):
        pass
    assert "gossamer accounts add NAME --role operator" in "".join(printed)
    assert roles(data) == {}


def test_without_a_console_there_is_neither_page_nor_account(data: Path) -> None:
    with (data / "gossamer.toml").open("a") as file:
        file.write("\n[console]\nenabled = false\n")
    server = start("serve", "--port", "0", data=data)
    assert server.stdout is not None
    try:
        found = re.search(r"Search at (\S+)", server.stdout.readline())
        assert found
        with client_of(found[1]) as client:
            assert client.get("/console").status_code == 404
            assert client.post("/console/login").status_code == 405
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=PATIENCE)
    assert roles(data) == {}


def test_accounts_are_made_changed_and_removed_and_it_is_written_down(data: Path) -> None:
    assert "no accounts" in run("accounts", "list", data=data).stdout
    assert run("accounts", "add", "Ada", "--role", "operator", data=data, stdin=f"{PASSWORD}\n").returncode == 0
    made = run("accounts", "add", "bob", "--generate", data=data)
    shown = re.search(r"The password is (\S+)", made.stdout)
    assert made.returncode == 0 and shown
    assert run("accounts", "role", "bob", "operator", data=data).returncode == 0
    assert run("accounts", "password", "bob", data=data, stdin="another-one-12\n").returncode == 0
    assert run("accounts", "remove", "ada", data=data).returncode == 0
    listed = json.loads(run("accounts", "list", "--json", data=data).stdout)
    assert [(one["name"], one["role"]) for one in listed] == [("bob", "operator")]
    lines = json.loads(run("audit", "--json", data=data).stdout)
    assert [(line["who"], line["action"], line["subject"]) for line in lines] == [
        (operator_name(), "add account", "ada"), (operator_name(), "add account", "bob"),
        (operator_name(), "change role", "bob"), (operator_name(), "new password", "bob"),
        (operator_name(), "remove account", "ada"),
    ]  # fmt: skip
    assert PASSWORD not in str(lines) and shown[1] not in str(lines)


def test_the_last_operator_stays_and_weak_or_missing_passwords_are_refused_in_one_line(data: Path) -> None:
    run("accounts", "add", "ada", "--role", "operator", data=data, stdin=f"{PASSWORD}\n")
    for arguments, stdin, words in (
        (("remove", "ada"), "", "last operator"),
        (("role", "ada", "reader"), "", "last operator"),
        (("add", "bob"), "short\n", "too short"),
        (("add", "bob"), "", "no password on standard input"),
        (("password", "nobody"), f"{PASSWORD}\n", "no account nobody"),
    ):
        refused = run("accounts", *arguments, data=data, stdin=stdin)
        assert refused.returncode == 2 and words in refused.stderr and refused.stderr.count("\n") == 1
    assert roles(data) == {"ada": "operator"}


def test_passwords_are_not_taken_from_the_command_line(data: Path) -> None:
    assert run("accounts", "add", "ada", PASSWORD, data=data).returncode == 2
    assert run("accounts", "add", "ada", "--password", PASSWORD, data=data).returncode == 2
    assert roles(data) == {}


def test_a_folder_without_a_crawl_gets_no_accounts(tmp_path: Path) -> None:
    refused = run("accounts", "add", "ada", data=tmp_path / "nothing", stdin=f"{PASSWORD}\n")
    assert refused.returncode == 2 and "no crawl" in refused.stderr
    assert not (tmp_path / "nothing").exists()


def test_the_audit_log_is_listed_the_newest_last_and_can_be_narrowed(data: Path) -> None:
    assert "The audit log is empty" in run("audit", data=data).stdout
    database = DataFolder(data).open_database()
    for at, who, action in ((1.0, "ada", "remove"), (2.0, "bob", "remove"), (3.0, "ada", "pause site")):
        audit.note(database, at, who, action, "a.test", "[red]spam[/red]")
    database.close()
    lines = run("audit", data=data).stdout.splitlines()
    assert lines[0] == "1970-01-01T00:00:01Z ada: remove a.test ([red]spam[/red])"
    assert len(lines) == 3
    assert run("audit", "--who", "ada", "--action", "remove", data=data).stdout.splitlines() == lines[:1]
    assert run("audit", "--limit", "1", data=data).stdout.splitlines() == lines[2:]


@pytest.mark.parametrize("private", ["", "/console"])
def test_the_warning_of_an_open_server_says_what_a_login_guards(
    private: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(servers, "run", lambda app, settings, ready: ready("http://127.0.0.1:1"))
    everywhere = msgspec.structs.replace(SETTINGS, host="0.0.0.0")
    server = servers.search_server(Services(MemoryService()), everywhere, verb.warn, [Extension([], private)])
    verb.run_server(server, Path("no-data"))
    warning = capsys.readouterr().err
    assert ("without encryption or a login" in warning) == (not private)
    assert ("can read its passwords" in warning) == bool(private)
