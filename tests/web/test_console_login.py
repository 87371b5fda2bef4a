"""The door of the console: who gets in, how long they stay, and what a foreign page can do (nothing)."""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from console_kit import PASSWORDS, ConsoleUnderTest, client_of, csrf, log_in, make_accounts, serving_console

from gossamer.console.login import local_path
from gossamer.errors import OperationError
from gossamer.settings import ConsoleSettings
from gossamer.testing import FakeClock

COOKIE = "gossamer-0"
"""Of a server that takes any port."""
FORM = {"content-type": "application/x-www-form-urlencoded"}


@pytest.fixture
def data(crawled: Path, tmp_path: Path) -> Path:
    """A data folder of one's own, with both accounts."""
    shutil.copytree(crawled, tmp_path / "data")
    make_accounts(tmp_path / "data")
    return tmp_path / "data"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(1_800_000_000.0)


@pytest.fixture
def door(data: Path, clock: FakeClock) -> Iterator[httpx.Client]:
    """A client before a server whose time we make: sessions of an hour, three tries."""
    settings = ConsoleSettings(session=3600.0, attempts=3)
    with serving_console(data, clock, settings) as address, client_of(address) as client:
        yield client


def test_without_a_login_every_page_leads_to_it(console: ConsoleUnderTest) -> None:
    answer = console.anybody.get("/console/audit?who=ada&page=2", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/console/login?next=/console/audit%3Fwho%3Dada%26page%3D2"
    assert "Log in" in console.anybody.get("/console/audit").text


def test_after_the_login_the_page_that_was_asked_for_is_shown(console: ConsoleUnderTest) -> None:
    with client_of(console.address) as client:
        form = client.get("/console/audit?who=operator").text
        assert 'name="next" value="/console/audit?who=operator"' in form
        answer = log_in(client, "reader", next="/console/audit?who=operator")
        assert answer.headers["location"] == "/console/audit?who=operator"


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.test/", "//evil.test", "/\\evil.test", "/search?q=x", "/consolething", "javascript:alert(1)",
        "/console\r\nSet-Cookie: x=y", "/console/\\\\evil.test", "console", "/console/login", "/console/logout", "",
        "/console/" + "x" * 5000, "\x01/console", "/Console",
    ],
)  # fmt: skip
def test_a_login_leads_nowhere_but_into_the_console(console: ConsoleUnderTest, target: str) -> None:
    assert local_path(target) == "/console"
    with client_of(console.address) as client:
        assert log_in(client, "reader", next=target).headers["location"] == "/console"


def test_the_cookie_is_for_the_console_and_for_no_script_or_foreign_page(console: ConsoleUnderTest) -> None:
    with client_of(console.address) as client:
        cookie = log_in(client, "reader").headers["set-cookie"]
    parts = [part.strip().lower() for part in cookie.split(";")]
    assert {"httponly", "samesite=strict", "path=/console"} <= set(parts)
    assert "secure" not in parts


def test_behind_https_the_cookie_is_secure_and_below_the_prefix(data: Path) -> None:
    with serving_console(data, base_url="https://example.org/find") as address, client_of(address) as client:
        answer = log_in(client, "operator")
        assert answer.headers["location"] == "/find/console"
        parts = {part.strip().lower() for part in answer.headers["set-cookie"].split(";")}
        assert {"httponly", "samesite=strict", "path=/find/console", "secure"} <= parts


def test_name_and_password_are_told_apart_by_nobody(console: ConsoleUnderTest) -> None:
    with client_of(console.address) as client:
        wrong = log_in(client, "operator", "not-the-password")
        unknown = log_in(client, "nobody", "not-the-password")
    assert wrong.status_code == unknown.status_code == 403
    assert wrong.text.replace("operator", "") == unknown.text.replace("nobody", "")
    assert "set-cookie" not in wrong.headers


def test_each_login_has_a_token_of_its_own_and_one_brought_along_is_worth_nothing(console: ConsoleUnderTest) -> None:
    with client_of(console.address) as client:
        client.cookies.set(COOKIE, "chosen-by-somebody-else", path="/console")
        assert client.get("/console/audit", follow_redirects=False).status_code == 303
        log_in(client, "reader")
        tokens = [cookie.value for cookie in client.cookies.jar if cookie.name == COOKIE]
        assert "chosen-by-somebody-else" not in tokens[-1:]
        first = tokens[-1]
        client.cookies.clear()
        log_in(client, "reader")
        assert client.cookies[COOKIE] != first


def test_logging_in_again_ends_the_login_before(console: ConsoleUnderTest) -> None:
    with client_of(console.address) as client, client_of(console.address) as thief:
        log_in(client, "reader")
        thief.cookies.set(COOKIE, client.cookies[COOKIE])
        assert thief.get("/console/audit", follow_redirects=False).status_code == 200
        log_in(client, "reader")
        assert thief.get("/console/audit", follow_redirects=False).status_code == 303


def test_two_servers_on_one_machine_do_not_log_each_other_out(data: Path, clock: FakeClock) -> None:
    with contextlib.ExitStack() as stack:
        addresses = [on_a_port_of_its_own(stack, data, clock) for _ in range(2)]
        client = stack.enter_context(client_of(""))
        for address in addresses:
            client.base_url = httpx.URL(address)
            log_in(client, "reader")
        for address in addresses:
            assert client.get(f"{address}/console/audit", follow_redirects=False).status_code == 200


def on_a_port_of_its_own(stack: contextlib.ExitStack, data: Path, clock: FakeClock) -> str:
    """A server whose settings name its port."""
    while True:
        with contextlib.suppress(OperationError):  # somebody else was faster to take the port
            return stack.enter_context(serving_console(data, clock, port=unused_port()))


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_logging_out_ends_the_login_on_the_server(console: ConsoleUnderTest) -> None:
    with client_of(console.address) as client, client_of(console.address) as thief:
        log_in(client, "reader")
        thief.cookies.set(COOKIE, client.cookies[COOKIE])
        left = client.post("/console/logout", data={"csrf": csrf(client.get("/console/audit"))})
        assert left.url.path == "/console/login"
        assert COOKIE not in client.cookies
        assert thief.get("/console/audit", follow_redirects=False).status_code == 303


def test_a_login_ends_when_nothing_is_done_and_goes_on_with_what_is_done(
    door: httpx.Client, clock: FakeClock
) -> None:  # fmt: skip
    log_in(door, "reader")
    for _ in range(3):
        clock.advance(3000.0)
        assert door.get("/console/audit", follow_redirects=False).status_code == 200
    clock.advance(3601.0)
    assert door.get("/console/audit", follow_redirects=False).status_code == 303


def test_after_wrong_passwords_even_the_right_one_has_to_wait(door: httpx.Client, clock: FakeClock) -> None:
    for _ in range(3):
        assert log_in(door, "operator", "not-the-password").status_code == 403
    refused = log_in(door, "operator")
    assert refused.status_code == 429
    assert refused.headers["retry-after"] == "15"
    assert "Try again in 15 s" in refused.text
    clock.advance(15.0)
    assert log_in(door, "operator").status_code == 303


def test_the_wait_is_the_same_for_an_account_that_does_not_exist(door: httpx.Client) -> None:
    for _ in range(3):
        assert log_in(door, "nobody", "not-the-password").status_code == 403
    assert log_in(door, "nobody", "not-the-password").status_code == 429


def test_a_restart_does_not_forgive(data: Path, clock: FakeClock) -> None:
    settings = ConsoleSettings(attempts=3)
    with serving_console(data, clock, settings) as address, client_of(address) as client:
        for _ in range(3):
            log_in(client, "operator", "not-the-password")
    with serving_console(data, clock, settings) as address, client_of(address) as client:
        assert log_in(client, "operator").status_code == 429


def test_a_login_survives_a_restart(data: Path) -> None:
    with client_of("http://127.0.0.1") as client:
        with serving_console(data) as address:
            client.base_url = address
            log_in(client, "reader")
        with serving_console(data) as address:
            client.base_url = address
            assert client.get("/console/audit", follow_redirects=False).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"sec-fetch-site": "none"},
        {"origin": "https://evil.test"}, {"origin": "null"}, {"origin": ""},
    ],
)  # fmt: skip
def test_a_foreign_page_cannot_send_a_form(console: ConsoleUnderTest, headers: dict[str, str]) -> None:
    fields = {"name": "mallory", "role": "operator"}
    refused = console.send("/console/accounts/add", fields, headers=headers)
    assert refused.status_code == 403
    assert "mallory" not in console.operator.get("/console/accounts").text
    with client_of(console.address) as client:
        form = {"name": "operator", "password": PASSWORDS["operator"]}
        assert client.post("/console/login", data=form, headers=headers).status_code == 403
        assert COOKIE not in client.cookies
    assert console.operator.post("/console/logout", headers=headers).status_code == 403
    assert console.operator.get("/console/accounts", follow_redirects=False).status_code == 200


def test_a_page_of_ours_can(console: ConsoleUnderTest) -> None:
    for number, headers in enumerate(({"sec-fetch-site": "same-origin"}, {"origin": console.address})):
        sent = console.send("/console/accounts/add", {"name": f"friend{number}"}, headers=headers)
        assert sent.status_code == 200 and f"friend{number}" in sent.text


@pytest.mark.parametrize("token", ["", "0" * 48, "é"])
def test_a_form_without_the_token_of_the_login_does_nothing(console: ConsoleUnderTest, token: str) -> None:
    refused = console.operator.post("/console/accounts/add", data={"name": "mallory", "csrf": token})
    assert refused.status_code == 403
    assert "mallory" not in console.operator.get("/console/accounts").text


def test_the_token_of_somebody_else_does_nothing(console: ConsoleUnderTest) -> None:
    other = csrf(console.reader.get("/console/audit"))
    refused = console.operator.post("/console/accounts/add", data={"name": "mallory", "csrf": other})
    assert refused.status_code == 403


def test_readers_see_no_forms_that_change_things_and_cannot_send_them(console: ConsoleUnderTest) -> None:
    assert "/console/accounts/add" not in console.reader.get("/console/accounts").text
    refused = console.send("/console/accounts/add", {"name": "mallory"}, console.reader)
    assert refused.status_code == 403
    assert "Only operators can make changes" in refused.text


def test_forms_without_a_login_lead_to_it(console: ConsoleUnderTest) -> None:
    answer = console.anybody.post("/console/accounts/add", data={"name": "mallory"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/console/login")


@pytest.mark.parametrize("path", ["/console", "/console/login", "/console/audit", "/console/nothing", "/console/x/y"])
def test_nothing_of_the_console_is_stored_by_anybody(console: ConsoleUnderTest, path: str) -> None:
    for client in (console.operator, console.anybody):
        for answer in (client.get(path, follow_redirects=False), client.post(path, follow_redirects=False)):
            assert answer.headers["cache-control"] == "no-store", (path, answer.status_code)


def test_forms_that_are_too_large_are_not_read(console: ConsoleUnderTest) -> None:
    assert console.operator.post("/console/accounts/add", data={"name": "x" * 70_000}).status_code == 413

    def endless() -> Iterator[bytes]:  # without a Content-Length
        for _ in range(80):
            yield b"x" * 1024

    answer = console.operator.post("/console/accounts/add", content=endless(), headers=FORM)
    assert answer.status_code == 400 and "64 KiB" in answer.text


@pytest.mark.parametrize("body", [b"\xff\xfe", b"%", b"&" * 600, b"a=b", "name=é".encode()])
def test_what_is_no_form_changes_nothing(console: ConsoleUnderTest, body: bytes) -> None:
    answer = console.operator.post("/console/accounts/add", content=body, headers=FORM)
    assert answer.status_code in (400, 403)
    answer = console.operator.post("/console/accounts/add", json={"name": "mallory"})
    assert answer.status_code == 400


def test_the_console_takes_forms_and_nothing_else_does(console: ConsoleUnderTest) -> None:
    assert console.anybody.post("/search").status_code == 405
    assert console.anybody.post("/consoles").status_code == 405
    assert console.anybody.put("/console/audit").status_code == 405
    assert console.operator.post("/console/audit", data={"a": "b"}).status_code == 405
    assert console.operator.request("GET", "/console/audit", content=b"a=b").status_code == 413


def test_programs_are_told_that_the_login_has_ended(console: ConsoleUnderTest) -> None:
    answer = console.anybody.get("/console/audit", headers={"accept": "application/json"}, follow_redirects=False)
    assert answer.status_code == 401 and "logged in" in answer.json()["error"]


def test_where_there_is_no_account_the_page_says_how_to_make_one(crawled: Path, tmp_path: Path) -> None:
    shutil.copytree(crawled, tmp_path / "data")
    with serving_console(tmp_path / "data") as address, client_of(address) as client:
        assert "gossamer accounts add NAME" in client.get("/console").text
        assert log_in(client, "operator", "anything-at-all").status_code == 403


def test_many_tries_from_one_address_are_slowed_by_the_rate_limit_too(data: Path, clock: FakeClock) -> None:
    with serving_console(data, clock, rate=1, burst=5) as address, client_of(address) as client:
        answers = [log_in(client, "nobody", "x").status_code for _ in range(8)]
        assert answers[:5] == [403] * 5 and set(answers[5:]) == {429}


def test_what_was_typed_as_a_name_is_not_logged_unless_it_is_one(
    console: ConsoleUnderTest, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    with client_of(console.address) as client:
        log_in(client, "a-password-typed-too-early", "x")
        log_in(client, "Reader ", "x")
    failed = [record for record in caplog.records if record.getMessage() == "a login failed"]
    assert [vars(record)["account"] for record in failed] == ["?", "reader"]
    assert "too-early" not in str([vars(record) for record in caplog.records])


def test_whoever_logged_in_before_gets_in_while_strangers_guess(data: Path, clock: FakeClock) -> None:
    settings = ConsoleSettings(session=3600.0, attempts=3)
    with serving_console(data, clock, settings, proxies=["127.0.0.1"]) as address, client_of(address) as client:

        def tries(password: str, sender: str) -> int:
            client.headers["x-forwarded-for"] = sender
            return log_in(client, "operator", password).status_code

        assert tries(PASSWORDS["operator"], "198.51.100.1") == 303
        assert [tries("guess", f"203.0.113.{n}") for n in range(4)] == [403, 403, 403, 429]
        assert tries(PASSWORDS["operator"], "192.0.2.9") == 429
        assert tries(PASSWORDS["operator"], "198.51.100.1") == 303
