"""Messages by mail: plain text over SMTP, one connection each.

The head of a mail is made of our words, of titles cut to one line, and of addresses that were checked; the library
refuses a line end in a header on top of that. The mail server is the operator's own choice, so no guard judges its
address. Calls block, up to a deadline: they are made on threads of the process that sends.
"""

from __future__ import annotations

import contextlib
import smtplib
import socket
import ssl
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from gossamer.errors import UsageError
from gossamer.model.counts import counted
from gossamer.notify.channel import NotTakenError, check_channel, is_mail
from gossamer.notify.config import AlertConfig
from gossamer.notify.deadline import Deadline
from gossamer.notify.message import Message, one_line

_SILENCE = 15.0
"""Seconds in which the server must say something."""
_WHOLE = 30.0
"""Seconds for everything: a server that says one letter at a time does not hold the sender up."""


def sender_of(config: AlertConfig, contact: str) -> str:
    """The address that mail comes from; a `UsageError` where the settings have none."""
    sender = config.sender or contact
    if not sender or not is_mail(sender):
        raise UsageError("no sender address for mail: set alerts.sender")
    return check_channel(sender)


def compose(message: Message, sender: str, to: str, delivery: str, at: float) -> EmailMessage:
    """The mail of a message; `delivery` makes its Message-ID, which is the same at each try."""
    mail = EmailMessage(SMTP)
    mail["From"] = check_channel(sender)
    mail["To"] = check_channel(to)
    # The library decodes what looks encoded (`=?utf-8?q?=0A…`) and would let a line end out of it.
    mail["Subject"] = one_line(message.title, 200).replace("=?", "= ?")
    mail["Date"] = format_datetime(datetime.fromtimestamp(at, UTC))
    mail["Message-ID"] = f"<{delivery}@{sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no holiday notice answers it
    mail.set_content(_body(message), charset="utf-8", cte="quoted-printable")
    return mail


def send_mail(config: AlertConfig, mail: EmailMessage) -> None:
    """Hand a mail to the server of the settings; `NotTakenError` where it does not take it."""
    if not config.smtp_host:
        raise NotTakenError("no mail server: set alerts.smtp_host")
    with Deadline(_WHOLE) as deadline:
        try:
            _talk(config, mail, deadline)
        except ssl.SSLCertVerificationError as error:
            raise NotTakenError(f"the mail server's certificate is not valid: {error.verify_message}") from error
        except smtplib.SMTPRecipientsRefused as error:
            code, words = next(iter(error.recipients.values()))
            raise NotTakenError(f"the mail server refused the recipient: {code} {_said(words)}") from error
        except smtplib.SMTPResponseException as error:
            raise NotTakenError(f"the mail server answered {error.smtp_code} {_said(error.smtp_error)}") from error
        except (OSError, smtplib.SMTPException, ValueError) as error:
            why = (
                f"not finished after {_WHOLE:.0f} s"
                if deadline.is_over
                else one_line(str(error)) or type(error).__name__
            )
            raise NotTakenError(f"the mail server {config.smtp_host}:{config.smtp_port}: {why}") from error


def _talk(config: AlertConfig, mail: EmailMessage, deadline: Deadline) -> None:
    server = _Server(config, deadline)
    try:
        if config.smtp_security == "starttls":
            server.starttls(context=ssl.create_default_context())
            deadline.cuts(server.sock)
        if config.smtp_user:
            server.login(config.smtp_user, config.smtp_password)
        server.send_message(mail)
    finally:
        # However it says goodbye: what it has taken, it has, and must not be sent again.
        with contextlib.suppress(OSError, smtplib.SMTPException):
            server.quit()
        server.close()


class _Server(smtplib.SMTP):
    """A mail server whose connection can be cut from its first byte on."""

    def __init__(self, config: AlertConfig, deadline: Deadline) -> None:
        self._deadline, self._secure = deadline, config.smtp_security == "tls"
        super().__init__(config.smtp_host, config.smtp_port, timeout=_SILENCE)

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        """What the library calls to connect."""
        connection = socket.create_connection((host, port), timeout)
        self._deadline.cuts(connection)
        if self._secure:
            connection = ssl.create_default_context().wrap_socket(connection, server_hostname=host)
            self._deadline.cuts(connection)
        return connection


def _body(message: Message) -> str:
    lines = [message.text, ""]
    for item in message.items:
        lines += [item.title, item.url]
        lines += [f"  {text}" for text in (item.published, item.excerpt) if text]
        lines.append("")
    if message.more:
        lines.append(f"and {counted(message.more, 'more page')}.")
    return "\n".join(lines).rstrip() + "\n"


def _said(words: bytes | str) -> str:
    return one_line(words.decode("utf-8", "replace") if isinstance(words, bytes) else words)
