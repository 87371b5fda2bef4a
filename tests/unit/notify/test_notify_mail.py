"""Mail: what a stranger's title can do to it (nothing), and what a rude server can (be waited for, not for ever)."""

from __future__ import annotations

import socket

import pytest

from gossamer.errors import UsageError
from gossamer.notify import mail as mail_module
from gossamer.notify.channel import NotTakenError
from gossamer.notify.config import AlertConfig
from gossamer.notify.mail import compose, send_mail, sender_of
from gossamer.notify.message import Message, item, one_line
from kit.mail import MailManners, MailServer

AT = 1_700_000_000.0


def hits(title: str, count: int = 1) -> Message:
    items = tuple(item(f"https://a.test/{n}", title, "An excerpt.", "2023-11-14", AT) for n in range(count))
    return Message("hits", f"spiders: {title}", "The saved query “spiders” found a new page.", items, alert="spiders")


def config_for(server: MailServer, **more: object) -> AlertConfig:
    return AlertConfig(smtp_host="127.0.0.1", smtp_port=server.port, smtp_security="none", **more)


def test_a_mail_arrives_with_its_pages_and_a_message_id_made_of_the_delivery() -> None:
    with MailServer() as server:
        send_mail(config_for(server), compose(hits("Größe zählt 網"), "bot@a.test", "me@b.test", "d1", AT))
    assert len(server.mails) == 1
    taken = server.mails[0]
    assert (taken.sender, taken.recipients) == ("bot@a.test", ("me@b.test",))
    message = taken.message
    assert message["Message-ID"] == "<d1@a.test>"
    assert message["Subject"] == "spiders: Größe zählt 網"
    assert message["Auto-Submitted"] == "auto-generated"
    text = message.get_content()
    assert "https://a.test/0" in text and "Größe zählt 網" in text and "An excerpt." in text


@pytest.mark.parametrize(
    "title",
    [
        "News\r\nBcc: everybody@b.test",
        "News\nBcc: everybody@b.test\n\nAnother body",
        "News\u2028Bcc: everybody@b.test",
        "News\r\n.\r\nMAIL FROM:<x@y.test>",
        "News\x00\x0b\x85Bcc: everybody@b.test",
        "=?utf-8?q?News=0D=0ABcc=3A_everybody=40b=2Etest?=",
        "=\u200b?utf-8?q?News=0D=0ABcc=3A_everybody=40b=2Etest?=",
        "N" * 100_000,
        "\u202egnissor\u2066",
    ],
)
def test_no_title_of_a_page_adds_a_header_a_recipient_or_a_second_mail(title: str) -> None:
    with MailServer() as server:
        send_mail(config_for(server), compose(hits(title, 2), "bot@a.test", "me@b.test", "d2", AT))
    assert len(server.mails) == 1
    taken = server.mails[0]
    assert taken.recipients == ("me@b.test",)
    message = taken.message
    expected = {"from", "to", "subject", "date", "message-id", "auto-submitted", "content-type", "mime-version"}
    assert {name.lower() for name in message.keys()} == expected | {"content-transfer-encoding"}  # noqa: SIM118 - names, not lines
    assert "\u202e" not in message["Subject"]
    assert len(message["Subject"]) <= 210


def test_one_line_keeps_the_words_and_takes_out_what_cannot_be_seen() -> None:
    assert one_line("  a\r\n\tb\u200b\u202ec\ud800 ") == "a bc"
    assert one_line("é" * 400, 10) == "é" * 9 + "…"


@pytest.mark.parametrize(
    "to", ["a@b.test\r\nBcc: c@d.test", "a@b.test, c@d.test", "no address", "a@", "@b", "a b@c.test"]
)
def test_what_is_no_address_is_refused_before_a_mail_is_made(to: str) -> None:
    with pytest.raises(UsageError):
        compose(hits("x"), "bot@a.test", to, "d", AT)


def test_a_refused_recipient_is_told_in_the_server_s_words() -> None:
    with MailServer() as server:
        server.manners = MailManners(refuses="mailbox full")
        with pytest.raises(NotTakenError, match="550 mailbox full"):
            send_mail(config_for(server), compose(hits("x"), "bot@a.test", "me@b.test", "d", AT))
    assert not server.mails


def test_user_and_password_are_used_and_a_wrong_one_is_told() -> None:
    mail = compose(hits("x"), "bot@a.test", "me@b.test", "d", AT)
    with MailServer() as server:
        server.manners = MailManners(login=("bot", "pässword"))
        with pytest.raises(NotTakenError, match="535"):
            send_mail(config_for(server, smtp_user="bot", smtp_password="wrong"), mail)
        server.manners = MailManners(login=("bot", "password"))
        send_mail(config_for(server, smtp_user="bot", smtp_password="password"), mail)
    assert len(server.mails) == 1


def test_a_server_without_starttls_gets_nothing_in_the_clear() -> None:
    with MailServer() as server:
        config = AlertConfig(smtp_host="127.0.0.1", smtp_port=server.port, smtp_security="starttls")
        with pytest.raises(NotTakenError, match="STARTTLS"):
            send_mail(config, compose(hits("x"), "bot@a.test", "me@b.test", "d", AT))
    assert not server.mails


@pytest.mark.parametrize("manners", [MailManners(silent=True), MailManners(drips=True)])
@pytest.mark.parametrize("security", ["none", "tls"])
def test_a_server_that_never_comes_to_the_point_is_given_up(
    manners: MailManners, security: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_module, "_WHOLE", 1.2)
    with MailServer() as server:
        server.manners = manners
        config = AlertConfig(smtp_host="127.0.0.1", smtp_port=server.port, smtp_security=security)
        with pytest.raises(NotTakenError):
            send_mail(config, compose(hits("x"), "bot@a.test", "me@b.test", "d", AT))


def test_nobody_there_and_no_server_at_all_are_sentences() -> None:
    mail = compose(hits("x"), "bot@a.test", "me@b.test", "d", AT)
    with socket.socket() as taken:  # while it has the port, nobody else can listen there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(NotTakenError, match=f"127.0.0.1:{port}"):
            send_mail(AlertConfig(smtp_host="127.0.0.1", smtp_port=port, smtp_security="none"), mail)
    with pytest.raises(NotTakenError, match=r"alerts\.smtp_host"):
        send_mail(AlertConfig(), mail)


def test_the_sender_is_the_contact_where_that_is_a_mail_address() -> None:
    assert sender_of(AlertConfig(sender="s@a.test"), "c@a.test") == "s@a.test"
    assert sender_of(AlertConfig(), "c@a.test") == "c@a.test"
    for contact in ("", "https://a.test/about"):
        with pytest.raises(UsageError, match=r"alerts\.sender"):
            sender_of(AlertConfig(), contact)


@pytest.mark.parametrize("goodbye", ["421 too busy to say goodbye", "250 ok", "what?"])
def test_a_mail_that_was_taken_is_taken_however_the_server_says_goodbye(goodbye: str) -> None:
    with MailServer() as server:
        server.manners = MailManners(goodbye=goodbye)
        send_mail(config_for(server), compose(hits("News"), "bot@a.test", "me@b.test", "d9", AT))
    assert len(server.mails) == 1
