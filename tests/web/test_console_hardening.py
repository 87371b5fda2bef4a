"""Every page and form of the console, taken from the server's own list: headers, cookies, and who is refused.

A page that is added later is asked the same questions without a line here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from console_kit import PASSWORDS, client_of, csrf, log_in, make_accounts
from whole_server_kit import WholeServer, whole_server

from gossamer.data.folder import DataFolder
from gossamer.frontier.views.inspect import all_urls
from gossamer.model.site import site_of
from gossamer.web.gate.guard import MAX_FORM, SECURITY_HEADERS

LOGIN, LOGOUT, OWN = "/console/login", "/console/logout", "/console/accounts/own"
FORM = "application/x-www-form-urlencoded"
MOVING = {"logins", "login_failures", "samples", "asked"}
"""Tables that change by looking."""


class Asking:
    """A server with a data folder of its own, and what its pages need."""

    def __init__(self, server: WholeServer, data: Path) -> None:
        self.server, self.data = server, data
        db = DataFolder(data).read()
        try:
            self.url = next(one.url for one in all_urls(db) if one.url.endswith("/start.html"))
        finally:
            db.close()
        self.site = site_of(self.url)

    @property
    def gets(self) -> list[str]:
        """The pages of the console."""
        return [path for path in self.server.gets if path.startswith("/console")]

    @property
    def posts(self) -> list[str]:
        """The forms of the console."""
        return [path for path in self.server.posts if path.startswith("/console")]

    def query(self, path: str) -> dict[str, str]:
        """What a page wants to be asked."""
        asked = {
            "/console/site": {"name": self.site}, "/console/site.json": {"name": self.site},
            "/console/site/extraction.json": {"name": self.site}, "/console/url": {"url": self.url},
            "/console/overview/chart.json": {"name": "speed"}, "/console/searches/why": {"q": "silk"},
        }  # fmt: skip
        return asked.get(path, {})

    def fields(self) -> dict[str, str]:
        """Fields with which most forms would do something."""
        return {
            "name": self.site, "url": self.url, "reason": "why not", "prefix": self.url, "what": f"={self.url}",
            "least_delay": "3", "most_pages": "7", "query": "silk", "role": "reader", "old": PASSWORDS["operator"],
            "new": "another-password-1", "again": "another-password-1", "kind": "prefix", "pattern": "/tag/",
            "site": self.site, "rule": '[[rule]]\ndomain = "a.test"\nname = "a"\nurls = "/a/{id}"\n', "id": "",
        }  # fmt: skip

    def contents(self) -> dict[str, list[Any]]:
        """All that the database holds, but for what changes by looking."""
        db = DataFolder(self.data).read()
        try:
            names = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            tables = [name for name in names if name not in MOVING and not name.startswith("sqlite_")]
            return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}"))) for name in tables}
        finally:
            db.close()


@pytest.fixture(scope="module")
def asking(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    data = tmp_path_factory.mktemp("hardening") / "data"
    shutil.copytree(crawled, data)
    make_accounts(data)
    with whole_server(data) as server:
        yield Asking(server, data)


@pytest.fixture(scope="module")
def clients(asking: Asking) -> Iterator[dict[str, httpx.Client]]:
    with client_of(asking.server.address) as operator, client_of(asking.server.address) as reader:
        for name, client in (("operator", operator), ("reader", reader)):
            client.follow_redirects = False
            assert log_in(client, name).status_code == 303
        yield {"operator": operator, "reader": reader}


@pytest.fixture
def anybody(asking: Asking) -> Iterator[httpx.Client]:
    with client_of(asking.server.address) as client:
        client.follow_redirects = False
        yield client


def token_of(client: httpx.Client) -> str:
    return csrf(client.get("/console/audit"))


def is_guarded(answer: httpx.Response) -> None:
    """The headers that everything below /console carries."""
    about = f"{answer.request.method} {answer.url} {answer.status_code}"
    headers = answer.headers
    assert headers["content-security-policy"] == SECURITY_HEADERS["content-security-policy"], about
    assert "frame-ancestors 'none'" in headers["content-security-policy"], about
    assert headers["cache-control"] == "no-store", about
    assert headers["x-content-type-options"] == "nosniff", about
    assert headers["referrer-policy"] in ("no-referrer", "same-origin"), about
    assert headers["cross-origin-opener-policy"] == "same-origin", about
    assert headers["cross-origin-resource-policy"] == "same-origin", about
    assert "access-control-allow-origin" not in headers, about
    assert "server" not in headers, about
    if answer.content:
        assert headers["content-type"].split(";")[0] in ("text/html", "application/json"), about


def test_the_list_of_pages_is_that_of_the_server(asking: Asking) -> None:
    assert {"/console", LOGIN, "/console/sites", "/console/url", "/console/audit"} <= set(asking.gets)
    assert {LOGIN, LOGOUT, "/console/url/remove", "/console/site/pause"} <= set(asking.posts)
    assert [path for path in asking.server.posts if not path.startswith("/console")] == ["/click"]


@pytest.mark.parametrize("who", ["operator", "reader"])
def test_every_page_is_guarded_and_sets_no_cookie(asking: Asking, clients: dict[str, httpx.Client], who: str) -> None:
    for path in asking.gets:
        answer = clients[who].get(path, params=asking.query(path))
        assert answer.status_code == (303 if path == LOGIN else 200), (path, answer.text)
        is_guarded(answer)
        assert "set-cookie" not in answer.headers, path


def test_without_a_login_no_page_but_the_login_is_shown(asking: Asking, anybody: httpx.Client) -> None:
    for path in asking.gets:
        answer = anybody.get(path, params=asking.query(path))
        is_guarded(answer)
        assert answer.status_code == (200 if path == LOGIN else 303), path
        if path != LOGIN:
            assert answer.headers["location"].startswith(LOGIN), path
            assert not answer.text, path
        script = anybody.get(path, params=asking.query(path), headers={"sec-fetch-dest": "empty"})
        is_guarded(script)
        assert script.status_code == (200 if path == LOGIN else 401), path
        assert asking.site not in script.text, path


def test_what_goes_wrong_is_guarded_as_well(asking: Asking, clients: dict[str, httpx.Client]) -> None:
    operator = clients["operator"]
    wrong = [
        (operator.get("/console/nothing-here"), 404), (operator.get("/console/site", params={"name": "no.test"}), 404),
        (operator.get("/console/url", params={"url": "mailto:x"}), 404),
        (operator.get("/console/" + "x" * 20_000), 414), (operator.get("/console", headers={"host": "evil.test"}), 421),
        (operator.get("/console/overview/chart.json", params={"name": "<script>"}), 404),
        (operator.post("/console/pause", content=b"x" * (MAX_FORM + 1), headers={"content-type": FORM}), 413),
    ]  # fmt: skip
    for answer, status in wrong:
        assert answer.status_code == status, answer.url
        is_guarded(answer)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_no_page_takes_any_other_method(asking: Asking, clients: dict[str, httpx.Client], method: str) -> None:
    for path in {*asking.gets, *asking.posts}:
        answer = clients["operator"].request(method, path)
        assert answer.status_code == 405, path
        is_guarded(answer)


def test_no_form_is_sent_by_following_a_link(asking: Asking, clients: dict[str, httpx.Client]) -> None:
    before = asking.contents()
    for path in asking.posts:
        if path not in asking.gets:
            answer = clients["operator"].get(path, params=asking.fields() | {"csrf": token_of(clients["operator"])})
            assert answer.status_code == 405, path
    assert asking.contents() == before


def refusals(asking: Asking, clients: dict[str, httpx.Client], anybody: httpx.Client) -> dict[str, Any]:
    """Ways to send a form that is not to be taken, by what is wrong with them."""
    operator, reader = clients["operator"], clients["reader"]
    good, theirs, fields = token_of(operator), token_of(reader), asking.fields()

    def sender(client: httpx.Client, token: str | None, **headers: str) -> Any:
        form = fields if token is None else fields | {"csrf": token}
        return lambda path: client.post(path, data=form, headers=headers)

    return {
        "nobody is logged in": sender(anybody, good),
        "no token": sender(operator, None),
        "an empty token": sender(operator, ""),
        "the token of another login": sender(operator, theirs),
        "a token that is not ASCII": sender(operator, "ß" + good),
        "a foreign page, by its origin": sender(operator, good, origin="https://evil.test"),
        "a page without an origin": sender(operator, good, origin="null"),
        "a foreign page, by the browser's word": sender(operator, good, **{"sec-fetch-site": "cross-site"}),
        "a page beside ours, by the browser's word": sender(operator, good, **{"sec-fetch-site": "same-site"}),
        "a page on another port": sender(operator, good, origin="http://127.0.0.1:1"),
        "no form but JSON": lambda path: operator.post(path, json=fields | {"csrf": good}),
        "no form but text": lambda path: operator.post(
            path, content=f"csrf={good}&x=y", headers={"content-type": "text/plain"}
        ),
        "no form but parts": lambda path: operator.post(path, files={"csrf": (None, good), "x": ("x", b"y")}),
    }


REFUSALS = [
    "nobody is logged in", "no token", "an empty token", "the token of another login", "a token that is not ASCII",
    "a foreign page, by its origin", "a page without an origin", "a foreign page, by the browser's word",
    "a page beside ours, by the browser's word", "a page on another port", "no form but JSON", "no form but text",
    "no form but parts",
]  # fmt: skip


@pytest.mark.parametrize("wrong", REFUSALS)
def test_no_form_is_taken_when_something_is_wrong_with_it(
    asking: Asking, clients: dict[str, httpx.Client], anybody: httpx.Client, wrong: str
) -> None:
    before = asking.contents()
    send = refusals(asking, clients, anybody)[wrong]
    for path in asking.posts:
        if path in (LOGIN, LOGOUT):
            continue
        answer = send(path)
        is_guarded(answer)
        assert "set-cookie" not in answer.headers, path
        if wrong == "nobody is logged in":
            assert (answer.status_code, answer.headers["location"]) == (303, LOGIN), path
        else:
            assert answer.status_code == (400 if wrong.startswith("no form") else 403), (path, answer.text)
    assert asking.contents() == before


def test_readers_can_send_no_form_but_that_for_their_own_password(
    asking: Asking, clients: dict[str, httpx.Client]
) -> None:
    before, reader = asking.contents(), clients["reader"]
    fields = asking.fields() | {"csrf": token_of(reader), "old": "not-the-password"}
    for path in asking.posts:
        if path in (LOGIN, LOGOUT):
            continue
        answer = reader.post(path, data=fields)
        is_guarded(answer)
        assert answer.status_code == (400 if path == OWN else 403), path
        assert ("Only operators can make changes" in answer.text) == (path != OWN), path
    assert asking.contents() == before


def test_a_foreign_page_can_log_nobody_in_or_out(asking: Asking, clients: dict[str, httpx.Client]) -> None:
    for headers in ({"origin": "https://evil.test"}, {"sec-fetch-site": "cross-site"}):
        with client_of(asking.server.address) as client:
            form = {"name": "reader", "password": PASSWORDS["reader"]}
            refused = client.post(LOGIN, data=form, headers=headers, follow_redirects=False)
            assert refused.status_code == 403 and "set-cookie" not in refused.headers
            is_guarded(refused)
        kept = clients["reader"].post(LOGOUT, headers=headers)
        assert kept.status_code == 403 and "set-cookie" not in kept.headers
        is_guarded(kept)
        assert clients["reader"].get("/console/audit").status_code == 200


def test_an_operators_form_from_our_own_page_is_taken(asking: Asking, clients: dict[str, httpx.Client]) -> None:
    operator = clients["operator"]
    here = asking.server.address
    for headers in ({}, {"origin": here}, {"origin": here, "sec-fetch-site": "same-origin"}):
        form = {"csrf": token_of(operator), "name": asking.site, "least_delay": "3", "most_pages": "7"}
        taken = operator.post("/console/site/limit", data=form, headers=headers)
        assert (taken.status_code, taken.headers["location"]) == (303, f"/console/site?name={asking.site}")
        is_guarded(taken)


@pytest.mark.parametrize("base_url", ["", "https://example.org/find"])
def test_the_cookie_is_out_of_reach(asking: Asking, base_url: str) -> None:
    with whole_server(asking.data, base_url=base_url) as server, client_of(server.address) as client:
        answer = log_in(client, "reader")
        is_guarded(answer)
        [cookie] = answer.headers.get_list("set-cookie")
        name, *flags = [part.strip() for part in cookie.split(";")]
        kept = {flag.lower() for flag in flags}
        assert {"httponly", "samesite=strict"} <= kept
        assert ("secure" in kept) == bool(base_url) == name.startswith("__Secure-")
        assert f"path={'/find' if base_url else ''}/console" in kept
        assert not [flag for flag in kept if flag.startswith("domain=")]
