"""The console's page of alerts: what it shows, what it does, and the feeds that need no login."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from console_kit import ConsoleUnderTest

from gossamer.alerts.gathering import encoded
from gossamer.notify.message import Message
from gossamer.tables import alarms, alerts, audit, outbox
from gossamer.tables.alarms import Sign
from gossamer.tables.alerts import Alert, AlertHit

ATOM = "{http://www.w3.org/2005/Atom}"
NASTY = '<script>alert("x")</script>'


def saved(console: ConsoleUnderTest, name: str, query: str = "meadow", **fields: str) -> Alert:
    page = console.send("/console/alerts/add", {"name": name, "query": query, **fields})
    assert page.status_code == 200 and "Saved: " in page.text, page.text
    return found(console, name)


def found(console: ConsoleUnderTest, name: str) -> Alert:
    db = console.folder.open_database()
    try:
        return alerts.named(db, name)
    finally:
        db.close()


def note_hit(console: ConsoleUnderTest, alert: Alert, url: str, title: str, key: int = 1) -> None:
    db = console.folder.open_database()
    try:
        with db.transaction():
            alerts.note_hits(
                db, [AlertHit(alert.id, key, 1_700_000_000.0 + key % 1000, url, title, "An & excerpt", "2024-05-01")]
            )
    finally:
        db.close()


def put_failed(console: ConsoleUnderTest, channel: str = "me@a.test") -> str:
    """A message that failed once."""
    db = console.folder.open_database()
    try:
        with db.transaction():
            id = outbox.put(db, channel, "", encoded(Message("alarm", f"Title {NASTY}", "x")), 1.0, 1.0)
        (claimed,) = (one for one in outbox.claim(db, 1_000_000.0, 100) if one.id == id)
        outbox.failed(db, claimed, "mailbox full", 2.0)
        return id
    finally:
        db.close()


def test_an_operator_saves_pauses_resumes_and_removes_a_query(console: ConsoleUnderTest) -> None:
    alert = saved(console, "life of an alert", 'meadow "orb weaver"', site="alpha.test")
    page = console.operator.get("/console/alerts").text
    assert "life of an alert" in page and "site alpha.test" in page
    assert "Pause" in page
    for verb, paused in (("pause", True), ("resume", False)):
        assert console.send(f"/console/alerts/{verb}", {"id": alert.id}).status_code == 200
        assert found(console, alert.name).paused is paused
    assert "Removed: " in console.send("/console/alerts/remove", {"id": alert.id}).text
    assert "This alert no longer exists" in console.send("/console/alerts/remove", {"id": alert.id}).text
    db = console.folder.open_database()
    lines = [line for line in audit.entries(db) if line.subject == alert.name]
    db.close()
    assert [line.action for line in reversed(lines)] == ["add alert", "pause alert", "resume alert", "remove alert"]
    assert {line.who for line in lines} == {"operator"}


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"name": "x", "query": " "}, "query is empty"),
        ({"name": "", "query": "x"}, "needs a name"),
        ({"name": "x", "query": "x", "mail": "me@a.test"}, "alerts.smtp_host"),
        ({"name": "x", "query": "x", "webhook": "https://a.test/"}, "alerts.secret"),
        ({"name": "x", "query": "x", "webhook": "javascript://alert(1)"}, "not a webhook URL"),
    ],
)
def test_what_cannot_be_saved_is_answered_with_what_to_do(
    console: ConsoleUnderTest, fields: dict[str, str], sentence: str
) -> None:
    page = console.send("/console/alerts/add", fields)
    assert page.status_code == 400 and sentence in page.text


def test_readers_see_alerts_and_change_nothing(console: ConsoleUnderTest) -> None:
    alert = saved(console, "for readers")
    page = console.reader.get("/console/alerts").text
    assert "for readers" in page and "/console/alerts/add" not in page and "/console/alerts/remove" not in page
    refused = console.send("/console/alerts/remove", {"id": alert.id}, console.reader)
    assert refused.status_code == 403
    assert found(console, "for readers")


def test_nobody_sees_the_page_without_a_login(console: ConsoleUnderTest) -> None:
    answer = console.anybody.get("/console/alerts", follow_redirects=False)
    assert answer.status_code == 303 and "login" in answer.headers["location"]


def test_hits_are_shown_with_everything_escaped(console: ConsoleUnderTest) -> None:
    alert = saved(console, f"nasty {NASTY}")
    note_hit(console, alert, "https://a.test/?a=1&b=2", f"Title {NASTY}")
    note_hit(console, alert, "javascript:alert(1)", "No link", key=2)
    page = console.operator.get("/console/alerts", params={"alert": alert.id}).text
    assert NASTY not in page and "Title &lt;script&gt;" in page
    assert 'href="javascript:' not in page and "No link" in page
    assert 'href="https://a.test/?a=1&amp;b=2"' in page


@pytest.mark.parametrize("kind", ["atom", "rss"])
def test_the_feed_of_an_alert_needs_no_login_and_is_valid(console: ConsoleUnderTest, kind: str) -> None:
    alert = saved(console, f"feed {kind}")
    empty = console.anybody.get(f"/alerts/{alert.id}.{kind}")
    assert empty.status_code == 200 and ET.fromstring(empty.content) is not None
    note_hit(console, alert, "https://a.test/1", f"One {NASTY}\x0b")
    note_hit(console, alert, "javascript:alert(1)", "Bad", key=3)
    note_hit(console, alert, "https://a.test/2", "Two", key=2)
    answer = console.anybody.get(f"/alerts/{alert.id}.{kind}")
    assert answer.headers["content-type"].startswith(f"application/{kind}+xml")
    assert "noindex" in answer.headers["x-robots-tag"]
    root = ET.fromstring(answer.content)
    if kind == "atom":
        assert [entry.findtext(f"{ATOM}id") for entry in root.iter(f"{ATOM}entry")] == [
            "https://a.test/2",
            "https://a.test/1",
        ]
        assert root.findtext(f"{ATOM}id") == f"{console.address}/alerts/{alert.id}.atom"
    else:
        assert [item.findtext("link") for item in root.iter("item")] == ["https://a.test/2", "https://a.test/1"]
    page = console.operator.get("/console/alerts").text
    assert f"/alerts/{alert.id}.{kind}" in page


def test_a_feed_that_does_not_exist_and_a_removed_one_are_not_there(console: ConsoleUnderTest) -> None:
    alert = saved(console, "short-lived")
    console.send("/console/alerts/remove", {"id": alert.id})
    for path in (
        f"/alerts/{alert.id}.atom",
        "/alerts/x.atom",
        f"/alerts/{alert.id}.html",
        "/alerts/",
        "/alerts/a/b.rss",
    ):
        assert console.anybody.get(path).status_code == 404, path


def test_a_removed_page_is_not_in_the_feed_any_more(console: ConsoleUnderTest) -> None:
    db = console.folder.open_database()
    ((url, key),) = db.execute("SELECT url, key FROM urls WHERE outcome = 'document' ORDER BY url LIMIT 1")
    db.close()
    alert = saved(console, "with a removed page")
    note_hit(console, alert, url, "Soon gone", key)
    assert "Soon gone" in console.anybody.get(f"/alerts/{alert.id}.rss").text
    db = console.folder.open_database()
    with db.transaction():
        db.execute("UPDATE urls SET state = 4 WHERE key = ?", (key,))
    db.close()
    assert "Soon gone" not in console.anybody.get(f"/alerts/{alert.id}.rss").text


def test_the_outbox_shows_problems_and_tries_again(console: ConsoleUnderTest) -> None:
    id = put_failed(console)
    page = console.operator.get("/console/alerts").text
    assert "mailbox full" in page and NASTY not in page and "me@a.test" in page
    assert "me@a.test" not in console.reader.get("/console/alerts").text
    assert "sends the message again" in console.send("/console/alerts/retry", {"id": id}).text
    db = console.folder.open_database()
    due_at = next(one.due_at for one in outbox.list_messages(db) if one.id == id)
    db.close()
    assert due_at is not None and due_at > 1_000_000.0, "it is due now"
    assert "Message discarded" in console.send("/console/alerts/discard", {"id": id}).text
    assert console.send("/console/alerts/discard", {"id": id}).status_code == 400


def test_alarms_are_shown_here_and_on_every_page(console: ConsoleUnderTest) -> None:
    db = console.folder.open_database()
    with db.transaction():
        alarms.settle(db, 1_700_000_000.0, ["disk low"], [Sign("disk low", "", f"12 MiB are free {NASTY}")])
    db.close()
    for path in ("/console/alerts", "/console/audit"):
        page = console.operator.get(path).text
        assert "12 MiB are free" in page and NASTY not in page
    db = console.folder.open_database()
    with db.transaction():
        alarms.settle(db, 1_700_100_000.0, ["disk low"], [])
    db.close()
    page = console.operator.get("/console/alerts").text
    assert re.search(r"Earlier alarms.*12 MiB are free", page, re.DOTALL) and "no alarms" in page
