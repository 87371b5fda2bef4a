"""WebSub as the recommendation has it: what is asked for, what is believed, and when a hub is asked again."""

from __future__ import annotations

import hashlib
import hmac
from itertools import pairwise
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.discover.websub import (
    DAY,
    LONGEST_LEASE,
    SHORTEST_LEASE,
    Denied,
    PushConfig,
    Refused,
    Verified,
    check_signature,
    check_verification,
    choose_hub,
    due_at,
    hub_and_topic,
    hubs_of_headers,
    next_hub,
    subscribe_form,
)
from gossamer.errors import UsageError

TOPIC = "https://news.example.org/feed?format=atom&lang=de"
CONFIG = PushConfig(callback="https://search.example.org", lease=864_000.0, attempts=4, retry=60.0)
NOW = 1_000_000.0


def ask(**changes: str) -> dict[str, str]:
    """A hub's question as it should be, with changes; an empty value leaves a parameter out."""
    query = {"mode": "subscribe", "topic": TOPIC, "challenge": "c0ffee", "lease_seconds": "86400"} | changes
    return {f"hub.{name}": value for name, value in query.items() if value}


def verdict(query: dict[str, str], awaited: bool = True) -> Verified | Denied | Refused:
    return check_verification(query, TOPIC, awaited, NOW, CONFIG.lease)


def signed(body: bytes, secret: str, method: str) -> str:
    return f"{method}={hmac.new(secret.encode(), body, method).hexdigest()}"


# Asking.


def test_the_form_has_all_that_a_hub_needs_and_survives_its_encoding() -> None:
    form = subscribe_form(CONFIG, "abc123", TOPIC, "s" * 64)
    sent = dict(parse_qsl(urlencode(form)))
    assert sent["hub.mode"] == "subscribe" and sent["hub.topic"] == TOPIC and sent["hub.lease_seconds"] == "864000"
    assert sent["hub.callback"] == "https://search.example.org/push/abc123"
    assert sent["hub.secret"] == "s" * 64 and len(sent["hub.secret"].encode()) < 200


@pytest.mark.parametrize(
    "changes", [{"callback": "search.example.org"}, {"callback": "ftp://a.org"}, {"callback": "https://a.org/?x=1"},
                {"callback": "https://a b.org"}, {"lease": 1.0}, {"lease": 1e9}, {"attempts": 0}, {"retry": 0.0}]
)  # fmt: skip
def test_settings_that_cannot_work_are_named(changes: dict[str, object]) -> None:
    with pytest.raises(UsageError, match="push"):
        PushConfig(**changes).check()
    PushConfig().check()
    CONFIG.check()


# Verification of intent.


def test_what_we_asked_for_is_confirmed_with_the_challenge_until_the_lease_ends() -> None:
    assert verdict(ask()) == Verified("c0ffee", NOW + 86_400)


def test_what_nobody_asked_for_is_refused() -> None:
    assert isinstance(verdict(ask(), awaited=False), Refused)
    assert isinstance(verdict(ask(topic="https://other.example.org/feed")), Refused)
    assert isinstance(verdict(ask(topic="")), Refused)
    assert isinstance(verdict(ask(mode="unsubscribe")), Refused)
    assert isinstance(verdict(ask(mode="")), Refused)
    assert isinstance(verdict({}), Refused)


def test_a_question_without_a_challenge_or_with_a_giant_one_is_refused() -> None:
    assert isinstance(verdict(ask(challenge="")), Refused)
    assert isinstance(verdict(ask(challenge="x" * 10_000)), Refused)


@pytest.mark.parametrize("lease", ["0", "-1", "12", "soon", "1e9", "٣٠٠٠٠", "86400.5"])
def test_a_lease_that_is_none_is_not_confirmed(lease: str) -> None:
    assert isinstance(verdict(ask(lease_seconds=lease)), Refused)


def test_no_lease_lasts_for_ever() -> None:
    assert verdict(ask(lease_seconds="9" * 400)) == Verified("c0ffee", NOW + LONGEST_LEASE)


def test_an_old_hub_that_names_no_lease_gets_the_one_we_asked_for() -> None:
    assert verdict(ask(lease_seconds="")) == Verified("c0ffee", NOW + CONFIG.lease)


def test_a_hub_may_deny_what_it_was_asked_for_and_only_that() -> None:
    assert verdict(ask(mode="denied", reason="go\r\n\x1b[31maway")) == Denied("go [31maway")
    assert isinstance(verdict(ask(mode="denied"), awaited=False), Denied)
    assert isinstance(verdict(ask(mode="denied", topic="https://other.example.org/")), Refused)


def test_a_topic_is_the_same_however_its_harmless_characters_are_escaped() -> None:
    query = ask(topic="https://news.example.org/%66eed?format=atom&lang=de")
    assert isinstance(verdict(query), Verified)


# Signatures.


@pytest.mark.parametrize("method", ["sha1", "sha256", "sha384", "sha512"])
@given(body=st.binary(max_size=200), secret=st.text("abcdef0123456789", min_size=1, max_size=64), flip=st.data())
def test_a_body_counts_only_with_its_own_signature(method: str, body: bytes, secret: str, flip: st.DataObject) -> None:
    header = signed(body, secret, method)
    assert check_signature(header, body, secret) == ""
    assert check_signature(header.upper().replace(method.upper(), method), body, secret) == ""
    assert check_signature(header, body + b"!", secret)
    assert check_signature(header, body, secret + "0")
    at = flip.draw(st.integers(len(method) + 1, len(header) - 1))
    other = "0" if header[at] != "0" else "1"
    assert check_signature(header[:at] + other + header[at + 1 :], body, secret)


@pytest.mark.parametrize(
    "header", ["", "sha256", "sha256=", "=", "md5=" + hashlib.md5(b"x").hexdigest(), "sha256=\u00e9\u4e16",
               "sha3_256=00", hashlib.sha256(b"x").hexdigest()]
)  # fmt: skip
def test_a_missing_or_strange_signature_is_a_problem_not_an_accident(header: str) -> None:
    assert check_signature(header, b"x", "secret")


# Discovery.


def test_hubs_and_topic_are_read_from_link_headers() -> None:
    assert hubs_of_headers(['<https://hub.example.com/>; rel="hub"', '<http://example.com/feed>; rel="self"']) == (
        ["https://hub.example.com/"],
        "http://example.com/feed",
    )
    value = '<https://a.org/hub>; title="a, b; rel=self"; rel=hub, </feed.json>; REL="alternate self", <x>; rel=next'
    assert hubs_of_headers([value], "https://b.org/feed") == (["https://a.org/hub"], "https://b.org/feed.json")


def test_links_about_something_else_and_later_selves_do_not_count() -> None:
    values = [
        '<https://a.org/>; rel=hub; anchor="https://b.org/"',
        "<https://c.org/1>; rel=self, <https://c.org/2>; rel=self",
    ]
    assert hubs_of_headers(values) == ([], "https://c.org/1")
    assert hubs_of_headers(["", "<>; rel=hub", "rel=hub", '<https://a.org/>; rel="hub']) == ([], "")


@given(st.lists(st.text('<>;,=" \\ahubrelselfx/:', max_size=60)))
def test_no_header_is_an_accident(values: list[str]) -> None:
    hubs, topic = hubs_of_headers(values, "https://a.org/")
    assert isinstance(topic, str) and all(hubs)
    assert isinstance(choose_hub(hubs), str)


def test_a_hub_with_encryption_is_preferred() -> None:
    assert choose_hub(["ftp://x.org/", "http://a.org/hub?b=1", "https://c.org"]) == "https://c.org/"
    assert choose_hub(["javascript:1", "http://a.org/hub?utm_source=b"]) == "http://a.org/hub?utm_source=b"
    assert choose_hub([]) == choose_hub(["nonsense"]) == ""


def test_headers_come_before_what_the_feed_says_and_the_feed_before_its_own_address() -> None:
    url, hubs = "https://a.org/blog/feed.xml", ["//hub.org/", "https://other.org/"]
    assert hub_and_topic(url, [], [], "") == ("", "")
    assert hub_and_topic(url, [], hubs, "") == ("https://hub.org/", url)
    assert hub_and_topic(url, [], hubs, " ../feed?a=1#x ") == ("https://hub.org/", "https://a.org/feed?a=1#x")
    headers = ["<https://first.org/>; rel=hub, </named>; rel=self"]
    assert hub_and_topic(url, headers, hubs, "/feed") == ("https://first.org/", "https://a.org/named")
    assert hub_and_topic(url, headers[:0], hubs, "tag:a.org,2026:feed") == ("", "")
    assert hub_and_topic(url, ["<javascript:x>; rel=hub"], [], "") == ("", "")
    assert hub_and_topic(url, headers[:0], hubs, "https://a.org/\u202efeed") == ("", "")


def test_a_hub_may_send_us_on_but_not_out_of_encryption() -> None:
    assert next_hub("https://a.org/x/hub", "other") == "https://a.org/x/other"
    assert next_hub("http://a.org/", "https://b.org/hub") == "https://b.org/hub"
    assert next_hub("https://a.org/", "http://a.org/hub") == ""
    assert next_hub("https://a.org/", "gopher://b.org/") == next_hub("https://a.org/", "http://[") == ""


# When.


def test_a_new_subscription_is_due_at_once_and_failures_wait_twice_as_long_each() -> None:
    assert due_at(NOW, 0, None, CONFIG) == NOW
    assert [due_at(NOW, tries, None, CONFIG) - NOW for tries in (1, 2, 3)] == [60, 120, 240]
    assert [due_at(NOW, tries, None, CONFIG) - NOW for tries in (4, 5, 5_000)] == [DAY] * 3


@given(lease=st.floats(SHORTEST_LEASE, LONGEST_LEASE))
def test_a_lease_is_renewed_when_a_third_is_left(lease: float) -> None:
    assert due_at(NOW, 0, NOW + lease, CONFIG) == pytest.approx(NOW + lease * 2 / 3)


@given(lease=st.floats(SHORTEST_LEASE, LONGEST_LEASE))
def test_a_renewal_that_fails_is_tried_several_times_before_the_lease_ends_but_not_without_pause(lease: float) -> None:
    times, at = [], NOW
    while (at := due_at(at, len(times), NOW + lease, CONFIG)) < NOW + lease:
        times.append(at)
    assert 2 <= len(times) <= 12
    assert all(later - earlier >= CONFIG.retry * 0.999 for earlier, later in pairwise(times))
