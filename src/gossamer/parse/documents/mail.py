"""Mails (EML, RFC 5322): who wrote to whom, when, what, and with which files.

Of a body in several versions the HTML is read, else the plain text; forwarded mails are read where they stand. Attached
files are named, not read. The standard library takes mails apart; its parsers of headers take long for long headers, so
these are cut, and a mail of very many parts is refused: each line would be compared with all their boundaries.
"""

from __future__ import annotations

import re
from datetime import UTC
from email import message_from_bytes, policy
from email.message import EmailMessage
from email.policy import EmailPolicy
from html import escape

from gossamer.model.records import ParseJob
from gossamer.parse.charset import decode
from gossamer.parse.clean import clean_line
from gossamer.parse.documents.html_part import add_html
from gossamer.parse.documents.limits import Bomb, Budget, Unreadable
from gossamer.parse.documents.writer import Writer
from gossamer.parse.links import written_links

_HEADER_CHARS = 2_000
"""Characters of a header that are read."""
_MOST_PARTS = 500
_MOST_BOUNDARIES = 20_000
_MOST_STEPS = 20_000_000
"""Lines of a mail times its parts."""
_DEEPEST = 20
"""Mails and parts inside each other."""
_MOST_FILES = 100
_MULTIPART = re.compile(rb"(?i)content-type:\s*(?:multipart|message)/")
_HEADER = re.compile(rb"\A(?:From [^\n]*\n)?[!-9;-~]{1,80}:")
_ADDRESSES = ("from", "to", "cc")


class _Brief(EmailPolicy):
    """The usual policy, with long headers cut."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_HEADER_CHARS]


_POLICY = _Brief(utf8=policy.default.utf8, raise_on_defect=False)


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down a mail."""
    body = job.body.lstrip(b"\xef\xbb\xbf\r\n ")
    if not _HEADER.match(body):
        raise Unreadable("no mail: it does not begin with a header")
    parts = len(_MULTIPART.findall(body))
    if parts > _MOST_PARTS or parts * body.count(b"\n") > _MOST_STEPS:
        raise Bomb(f"it has {parts} parts that hold others")
    if parts and body.count(b"\n--") > _MOST_BOUNDARIES:
        raise Bomb(f"it may have more than {_MOST_BOUNDARIES} parts")
    mail = message_from_bytes(body, policy=_POLICY)
    assert isinstance(mail, EmailMessage)
    reader = _Mail(writer)
    reader.read(mail, 0)
    properties = writer.properties
    properties.title = _header(mail, "subject")
    properties.author = ", ".join(_names(mail, "from")[:3])
    properties.published = _moment(mail)
    properties.is_dated = True


class _Mail:
    """Takes down a mail and those within it."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._files: list[str] = []

    def read(self, mail: EmailMessage, depth: int) -> None:
        """One mail."""
        writer = self._writer
        if subject := _header(mail, "subject"):
            writer.run(subject)
            writer.end_heading(1 if not depth else 2)
        for name in _ADDRESSES:
            if people := _names(mail, name):
                writer.run(f"{name.capitalize()}: {', '.join(people)}")
                writer.end_paragraph()
        if written := _header(mail, "date"):
            writer.run(f"Date: {written}")
            writer.end_paragraph()
        outer, self._files = self._files, []
        self._part(mail, depth)
        if self._files:
            writer.run("Attached:")
            writer.end_paragraph()
        for name in self._files:
            writer.run(name)
            writer.end_item(0, is_ordered=False)
        self._files = outer

    def _part(self, part: EmailMessage, depth: int) -> None:
        if depth > _DEEPEST:
            raise Bomb(f"its parts nest deeper than {_DEEPEST}")
        kind = part.get_content_type()
        if kind == "message/rfc822":
            for inner in _inner(part):
                self.read(inner, depth + 1)
        elif kind == "multipart/alternative":
            versions = _inner(part)
            chosen = next((one for one in reversed(versions) if _has_text(one)), None)
            if chosen is not None:
                self._part(chosen, depth + 1)
        elif part.is_multipart():
            for inner in _inner(part):
                self._part(inner, depth + 1)
        elif _is_file(part) or kind not in ("text/plain", "text/html"):
            self._name(part, kind)
        else:
            self._text(part, kind)

    def _name(self, part: EmailMessage, kind: str) -> None:
        name = clean_line(part.get_filename() or "", 200)
        if len(self._files) < _MOST_FILES and (name or _is_file(part)):
            self._files.append(name or kind)

    def _text(self, part: EmailMessage, kind: str) -> None:
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            return
        writer = self._writer
        charset = clean_line(str(part.get_param("charset") or ""), 40)
        text, charset = decode(payload, f"{kind}; charset={charset}" if charset else kind, "")
        writer.charset = writer.charset or charset
        if kind == "text/html":
            add_html(text, writer, writer.limits)
        else:
            paragraphs = escape(text.replace("\r\n", "\n"), quote=False).split("\n\n")
            shown = [part.strip().replace("\n", "<br>") for part in paragraphs if part.strip()]
            writer.links += written_links(text, writer.limits.max_links - len(writer.links))
            writer.add_page("".join(f"<p>{part}</p>\n" for part in shown), text)


def _inner(part: EmailMessage) -> list[EmailMessage]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, EmailMessage)] if isinstance(payload, list) else []


def _has_text(part: EmailMessage) -> bool:
    kind = part.get_content_type()
    return kind in ("text/plain", "text/html") or any(map(_has_text, _inner(part)))


def _is_file(part: EmailMessage) -> bool:
    return part.get_content_disposition() == "attachment"


def _header(mail: EmailMessage, name: str) -> str:
    try:
        return clean_line(str(mail.get(name, "")), 1_000)
    except Exception:  # the library's parsers of headers trip over some; a mail without one is a mail
        return ""


def _names(mail: EmailMessage, header: str) -> list[str]:
    """The people in a header: by their names, or else by their addresses."""
    try:
        found = mail.get(header)
        addresses = getattr(found, "addresses", ())
    except Exception:  # as above
        return []
    return [name for one in addresses[:50] if (name := clean_line(one.display_name or one.addr_spec, 200))]


def _moment(mail: EmailMessage) -> str:
    """When it was sent, as ISO 8601."""
    try:
        found = mail.get("date")
        moment = getattr(found, "datetime", None)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if moment is not None else ""
    except Exception:  # as above
        return ""
