"""Webhooks: signed, judged by the guard of the crawler, and never led astray or held up."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.fetch.guard import AddressPolicy
from gossamer.notify.channel import NotTakenError, check_channel, shown
from gossamer.notify.message import Message, item
from gossamer.notify.webhook import Webhooks, signature
from kit.receiver import Receiver, ReceiverManners

SECRET = "a long random text"
NOW = 1_700_000_000.0
MESSAGE = Message("hits", "t", "x", (item("https://a.test/", "Title", "…", "", NOW),), alert="spiders")

LOOPBACK = AddressPolicy(("127.0.0.0/8",), "operator")
STRICT = AddressPolicy((), "operator")


def test_a_receiver_can_verify_what_came() -> None:
    with Receiver() as receiver:
        Webhooks(SECRET, LOOPBACK).post(receiver.url, MESSAGE, "d1", NOW)
    (post,) = receiver.posts
    assert post.headers["x-gossamer-delivery"] == "d1"
    assert post.headers["x-gossamer-timestamp"] == "1700000000"
    expected = signature(SECRET, post.headers["x-gossamer-timestamp"], post.body)
    assert post.headers["x-gossamer-signature"] == f"sha256={expected}"
    told = json.loads(post.body)
    assert told["id"] == "d1" and told["kind"] == "hits" and told["alert"] == "spiders"
    assert told["items"][0]["url"] == "https://a.test/"


def test_another_key_another_time_or_another_body_has_another_signature() -> None:
    first = signature(SECRET, "1", b"{}")
    assert (
        len({first, signature("other", "1", b"{}"), signature(SECRET, "2", b"{}"), signature(SECRET, "1", b"[]")}) == 4
    )


def test_the_example_of_the_documentation_accepts_what_is_sent_and_nothing_else() -> None:
    text = (Path(__file__).parents[3] / "docs" / "alerts.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    assert found, "docs/alerts.md has no example"
    names: dict[str, object] = {}
    exec(found[1], names)
    verify = names["is_from_gossamer"]
    assert callable(verify)
    with Receiver() as receiver:
        Webhooks(SECRET, LOOPBACK).post(receiver.url, MESSAGE, "d1", NOW)
    (post,) = receiver.posts
    assert verify(SECRET, post.headers, post.body, now=NOW + 10)
    assert not verify(SECRET, post.headers, post.body + b" ", now=NOW + 10)
    assert not verify("another", post.headers, post.body, now=NOW + 10)
    assert not verify(SECRET, post.headers, post.body, now=NOW + 3600), "an old request played again"
    assert not verify(SECRET, {}, post.body, now=NOW)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.1:1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::1]/",
        "http://[::ffff:169.254.169.254]/",
        "http://10.0.0.7/",
        "http://localhost/",
        "http://0.0.0.0/",
    ],
)
def test_private_and_metadata_addresses_are_refused_however_they_are_written(url: str) -> None:
    with pytest.raises(NotTakenError, match=r"is not allowed|cannot be resolved"):
        Webhooks(SECRET, STRICT).post(url, MESSAGE, "d", NOW)


def test_a_public_name_that_resolves_to_loopback_is_refused_and_nothing_is_sent() -> None:
    with Receiver() as receiver:
        hooks = Webhooks(SECRET, STRICT, lambda host: ["127.0.0.1"])
        with pytest.raises(NotTakenError, match="this machine"):
            hooks.post(f"http://rebound.test:{receiver.port}/hook", MESSAGE, "d", NOW)
    assert not receiver.posts


def test_the_connection_goes_to_the_address_that_was_judged() -> None:
    """A name whose answer changes between the question and the connection is asked once only."""
    answers = iter([["127.0.0.1"], ["127.0.0.2"]])
    with Receiver() as receiver:
        Webhooks(SECRET, LOOPBACK, lambda host: next(answers)).post(
            f"http://flip.test:{receiver.port}/hook", MESSAGE, "d", NOW
        )
    assert receiver.posts[0].headers["host"] == f"flip.test:{receiver.port}"
    assert next(answers) == ["127.0.0.2"]


def test_a_redirect_is_told_and_not_followed() -> None:
    with Receiver() as elsewhere, Receiver() as receiver:
        receiver.manners = ReceiverManners(status=307, location=elsewhere.url)
        with pytest.raises(NotTakenError, match=r"307.*Gossamer follows no redirects"):
            Webhooks(SECRET, LOOPBACK).post(receiver.url, MESSAGE, "d", NOW)
        assert not elsewhere.posts and not elsewhere.gets
    assert len(receiver.posts) == 1


@pytest.mark.parametrize("manners", [ReceiverManners(silent=True), ReceiverManners(endless=True)])
def test_a_receiver_without_an_end_is_given_up(manners: ReceiverManners) -> None:
    with Receiver() as receiver:
        receiver.manners = manners
        with pytest.raises(NotTakenError):
            Webhooks(SECRET, LOOPBACK, whole=0.5).post(receiver.url, MESSAGE, "d", NOW)


def test_a_head_that_comes_letter_by_letter_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        # Nobody accepts: the request goes into the system's buffer, and no answer ever comes.
        with pytest.raises(NotTakenError, match="no answer within"):
            Webhooks(SECRET, LOOPBACK, whole=0.4).post(f"http://127.0.0.1:{port}/", MESSAGE, "d", NOW)


def test_errors_of_the_receiver_are_told() -> None:
    with Receiver() as receiver:
        receiver.manners = ReceiverManners(status=503)
        with pytest.raises(NotTakenError, match="answered 503"):
            Webhooks(SECRET, LOOPBACK).post(receiver.url, MESSAGE, "d", NOW)


def test_nothing_is_sent_without_a_key() -> None:
    with Receiver() as receiver, pytest.raises(NotTakenError, match=r"alerts\.secret"):
        Webhooks("", LOOPBACK).post(receiver.url, MESSAGE, "d", NOW)
    assert not receiver.posts


@pytest.mark.parametrize(
    "url",
    [
        "https://a.test/x\r\nHost: b.test",
        "https://user:password@a.test/",
        "ftp://a.test/",
        "file:///etc/passwd",
        "https:///path",
        "https://a.test:0/",
        "https://a.test:99999/",
        "https://a.test\\@b.test/",
        "https://ä.test/",
        "gopher://127.0.0.1:25/",
    ],
)
def test_what_cannot_be_a_webhook_is_refused_when_it_is_given(url: str) -> None:
    with pytest.raises(UsageError):
        check_channel(url)


def test_the_secret_part_of_a_webhook_is_not_shown_to_others() -> None:
    assert shown("https://hooks.test/T0/B1/secret?key=2") == "https://hooks.test/…"
    assert shown("me@a.test") == "me@a.test"
