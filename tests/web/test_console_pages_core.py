"""Audit log, settings, accounts and what frames every page of the console."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, client_of, console_of, csrf, log_in

import gossamer.console
from gossamer.console.app import PAGES
from gossamer.database.database import Database
from gossamer.tables import accounts, audit
from gossamer.tables.alarms import Sign, settle
from gossamer.testing import FakeClock

SECRETS = ("smtp-hush", "sign-hush", "auth-hush", "cookie-hush", "header-hush", "proxy-hush", "hook-hush")
TOML = """
[crawl]
contact = "ada@example.org"
[fetch]
proxy = "http://ada:proxy-hush@127.0.0.1:3128"
[alerts]
smtp_password = "smtp-hush"
secret = "sign-hush"
operators = ["https://hooks.example.org/hook-hush"]
[sites."intranet.test"]
basic_auth = ["ada", "auth-hush"]
cookies = {session = "cookie-hush"}
headers = {"X-Key" = "header-hush"}
"""

FOLDER = Path(gossamer.console.__file__).parent
TEMPLATES = {path.name: path.read_text() for path in (FOLDER / "templates").iterdir()}
SCRIPTS = {path.name: path.read_text() for path in (FOLDER / "static").glob("*.js")}


@pytest.fixture
def own(crawled: Path, tmp_path: Path) -> Iterator[ConsoleUnderTest]:
    """A console of one's own: with secrets in its settings."""
    data = tmp_path / "data"
    shutil.copytree(crawled, data)
    written = (data / "gossamer.toml").read_text()
    for head, lines in re.findall(r"^(\[.*\])\n((?:[^[].*\n)+)", TOML, re.M):
        known = f"{head}\n" in written
        written = written.replace(f"{head}\n", f"{head}\n{lines}") if known else f"{written}{head}\n{lines}"
    (data / "gossamer.toml").write_text(written)
    with console_of(data) as under_test:
        yield under_test


def note(console: ConsoleUnderTest, *lines: tuple[float, str, str, str]) -> None:
    database = console.folder.open_database()
    try:
        for line in lines:
            audit.note(database, *line, "<script>alert(1)</script>")
    finally:
        database.close()


def asked(console: ConsoleUnderTest) -> Database:
    return console.folder.read()


def rows(text: str) -> list[list[str]]:
    """The cells of a page's tables, without markup."""
    found = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    return [
        [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.DOTALL)]
        for row in found
    ]


def test_every_page_is_reached_from_the_navigation_and_knows_its_place(console: ConsoleUnderTest) -> None:
    page = console.operator.get("/console/audit").text
    names = re.findall(r'<li><a href="(/console[^"]*)"(?: aria-current="page")?>([^<]+)</a></li>', page)
    expected = [("/console" if name == "overview" else f"/console/{name}", label) for name, label in PAGES.items()]
    assert list(dict.fromkeys(names)) == expected
    assert re.findall(r'<a href="([^"]*)" aria-current="page">', page) == ["/console/audit"] * 2
    for path, _ in expected:
        assert console.operator.get(path).status_code == 200, path
        assert console.reader.get(path).status_code == 200, path


def test_every_page_says_who_is_logged_in_as_what(console: ConsoleUnderTest) -> None:
    page = console.reader.get("/console/settings").text
    assert re.search(r">reader</a>\s*<span[^>]*>\(reader\)", page)
    assert "/console/logout" in page


def test_alarms_that_are_not_over_stand_on_every_page(console: ConsoleUnderTest) -> None:
    database = console.folder.open_database()
    try:
        past, now = Sign("disk low", "then", "The disk was full."), Sign("disk low", "now", "It is <b>nearly</b> full.")
        settle(database, 1.0, ["disk low"], [past])
        settle(database, 10_000.0, ["disk low"], [now])
        settle(database, 20_000.0, ["disk low"], [now])
        page = console.reader.get("/console/settings").text
        assert "It is &lt;b&gt;nearly&lt;/b&gt; full." in page
        assert "The disk was full." not in page
    finally:
        settle(database, 30_000.0, ["disk low"], [])
        settle(database, 60_000.0, ["disk low"], [])
        database.close()
    assert "nearly" not in console.reader.get("/console/settings").text


def test_what_was_done_is_told_once_and_written_down(console: ConsoleUnderTest) -> None:
    page = console.send("/console/accounts/add", {"name": "carol", "role": "reader"})
    assert "The password of carol is" in page.text
    assert "The password of carol is" not in console.operator.get("/console/accounts").text
    line = audit.entries(asked(console), audit.Filter(subject="carol"))[0]
    assert (line.who, line.action, line.subject, line.detail) == ("operator", "add account", "carol", "reader")


def test_the_audit_log_is_shown_by_pages_and_can_be_narrowed(own: ConsoleUnderTest) -> None:
    note(own, *((float(at), "cli:root", "remove", f"https://a.test/{at}") for at in range(1, 121)))
    first = own.reader.get("/console/audit?action=remove")
    assert "Page 1 of 3" in first.text and "120 lines" in first.text
    assert [row[3] for row in rows(first.text) if row] == [f"https://a.test/{at}" for at in range(120, 70, -1)]
    last = own.reader.get("/console/audit?action=remove&page=3")
    assert [row[3] for row in rows(last.text) if row] == [f"https://a.test/{at}" for at in range(20, 0, -1)]
    assert "/console/audit?action=remove&amp;page=2" in last.text
    one = own.reader.get("/console/audit", params={"subject": "/77", "who": "cli:root"})
    assert [row[3] for row in rows(one.text) if row] == ["https://a.test/77"]
    assert own.reader.get("/console/audit?page=99&action=remove").text.count("Page 3 of 3") == 1
    assert own.reader.get("/console/audit?page=-1").status_code == 200


def test_what_stands_in_the_audit_log_is_text(own: ConsoleUnderTest) -> None:
    note(own, (5.0, "<i>x</i>", "<b>", '"><img src=x onerror=alert(1)>'))
    page = own.operator.get("/console/audit", params={"subject": '"><img'}).text
    assert "<script>alert" not in page and "<img" not in page and "<i>x" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_settings_say_where_each_value_came_from(console: ConsoleUnderTest) -> None:
    found = {row[0]: row for row in rows(console.reader.get("/console/settings?q=politeness").text) if row}
    assert found["delay"][1:3] == ["0.0", "gossamer.toml"]
    found = {row[0]: row for row in rows(console.reader.get("/console/settings").text) if row}
    assert found["max_redirects"][1:3] == ["10", "default"]
    assert found["max_redirects"][3] == "How many redirects in a row to follow."


def test_options_of_the_last_crawl_are_named_as_such(own: ConsoleUnderTest) -> None:
    database = own.folder.open_database()
    with database.transaction():
        sql = "INSERT INTO meta VALUES ('options', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        database.execute(sql, ('{"budget": {"per_site": 77}}',))
    database.close()
    found = {row[0]: row for row in rows(own.reader.get("/console/settings?q=budget.per_site").text) if row}
    assert found["per_site"][1:3] == ["77", "options of the last crawl"]


def test_settings_are_found_by_words_and_those_that_were_changed_alone(console: ConsoleUnderTest) -> None:
    names = [row[0] for row in rows(console.reader.get("/console/settings?q=redirects+row").text) if row]
    assert names == ["max_redirects"]
    changed = [row for row in rows(console.reader.get("/console/settings?changed=1").text) if row]
    assert changed and all(row[2] != "default" for row in changed)
    assert "No matching settings" in console.reader.get("/console/settings?q=zzzz").text


def test_settings_show_no_secret(own: ConsoleUnderTest) -> None:
    page = own.operator.get("/console/settings").text
    for secret in SECRETS:
        assert secret not in page, secret
    found = {row[0]: row[1] for row in rows(page) if row}
    assert found["smtp_password"] == found["basic_auth"] == found["cookies"] == found["headers"] == "••••"
    assert "http://ada:••••@127.0.0.1:3128" in found["proxy"]
    assert "https://hooks.example.org/••••" in found["operators"]


def test_a_new_account_can_log_in_with_the_password_that_was_shown(own: ConsoleUnderTest) -> None:
    page = own.send("/console/accounts/add", {"name": "Dora", "role": "reader"}).text
    shown = re.search(r"password of dora is (\S+)", page)
    assert shown
    with client_of(own.address) as dora:
        assert log_in(dora, "dora", shown[1]).status_code == 303
        assert "New account" not in dora.get("/console/accounts").text
        own.send("/console/accounts/role", {"name": "dora", "role": "operator"})
        assert "New account" in dora.get("/console/accounts").text
        new = own.send("/console/accounts/password", {"name": "dora"}).text
        assert dora.get("/console/accounts", follow_redirects=False).status_code == 303
        again = re.search(r"password of dora is (\S+)", new)
        assert again and log_in(dora, "dora", again[1]).status_code == 303
        own.send("/console/accounts/remove", {"name": "dora"})
        assert dora.get("/console/accounts", follow_redirects=False).status_code == 303
        assert log_in(dora, "dora", again[1]).status_code == 403
    lines = audit.entries(asked(own), audit.Filter(subject="dora", who="operator"))
    assert [line.action for line in lines] == ["remove account", "new password", "change role", "add account"]
    assert shown[1] not in str(lines) and again[1] not in str(lines)


def test_the_last_operator_can_be_neither_demoted_nor_removed(own: ConsoleUnderTest) -> None:
    assert "Make reader" not in own.operator.get("/console/accounts").text
    for path, fields in (("role", {"role": "reader"}), ("remove", {})):
        answer = own.send(f"/console/accounts/{path}", {"name": "operator", **fields})
        assert answer.status_code == 400
    found = {account.name: account.role for account in accounts.accounts(asked(own))}
    assert found == {"operator": "operator", "reader": "reader"}


@pytest.mark.parametrize("fields", [{"name": "reader"}, {"name": ""}, {"name": "a b"}, {"name": "eve", "role": "root"}])
def test_accounts_that_cannot_be_are_refused_in_a_sentence(console: ConsoleUnderTest, fields: dict[str, str]) -> None:
    answer = console.send("/console/accounts/add", fields)
    assert answer.status_code == 400 and "That did not work" in answer.text


def test_everybody_changes_their_own_password_and_logs_in_again(own: ConsoleUnderTest) -> None:
    new = "a-newer-reading-3"
    fields = {"old": PASSWORDS["reader"], "new": new, "again": new}
    for wrong in ({"old": "not-mine-at-all"}, {"again": "another-one-12"}, {"new": "short", "again": "short"}):
        answer = own.send("/console/accounts/own", {**fields, **wrong}, own.reader)
        assert answer.status_code == 400
    answer = own.send("/console/accounts/own", fields, own.reader)
    assert answer.url.path == "/console/login" and "Password changed" in answer.text
    assert log_in(own.reader, "reader").status_code == 403
    assert log_in(own.reader, "reader", new).status_code == 303
    assert audit.entries(asked(own), audit.Filter(action="change password"))[0].who == "reader"


def test_guesses_at_the_old_password_are_limited(crawled: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(crawled, tmp_path / "data"))
    with console_of(data, FakeClock(1_800_000_000.0)) as console:
        token = csrf(console.reader.get("/console/audit"))
        fields = {"csrf": token, "old": "wrong-wrong-1", "new": "another-one-12", "again": "another-one-12"}
        answers = [console.reader.post("/console/accounts/own", data=fields).text for _ in range(11)]
    assert "old password is wrong" in answers[9]
    assert "Too many failed attempts" in answers[10]


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_hold_no_inline_script_or_style_and_escape_always(name: str) -> None:
    template = TEMPLATES[name]
    assert not re.search(r"\sstyle=|\son\w+=|<style|javascript:", template)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", template))
    assert not re.search(r"\|\s*safe\b|autoescape", template)


@pytest.mark.parametrize("name", TEMPLATES)
def test_forms_that_change_things_carry_the_token(name: str) -> None:
    for form in re.findall(r"<form[^>]*method=\"post\".*?</form>", TEMPLATES[name], re.DOTALL):
        assert "csrf_field()" in form or "/console/login" in form


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_write_no_markup(name: str) -> None:
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert word not in SCRIPTS[name], word
