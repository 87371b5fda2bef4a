"""What browsers send: the fields of a form, and whether a page of ours sent it.

Three things stand between a foreign page and a form of ours: the cookie is `SameSite=Strict`, the browser says where a
request comes from, and every form carries a token that only our pages know (`Visitor.csrf`).
"""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request

from gossamer.errors import UsageError
from gossamer.web.gate.guard import MAX_FORM

MAX_FIELDS = 500
FORM_SECONDS = 15.0
"""Seconds a form may take to arrive."""

_TYPE = "application/x-www-form-urlencoded"


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form, the last where several have one name; a `UsageError` where it cannot be read."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _TYPE:
        raise UsageError("this is not a form of the console: nothing was changed")
    body = bytearray()
    try:
        async with asyncio.timeout(FORM_SECONDS):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_FORM:
                    raise UsageError(f"the form is larger than {MAX_FORM // 1024} KiB: send less at once")
    except (TimeoutError, ClientDisconnect) as error:
        raise UsageError("the form did not arrive in time: send it again") from error
    try:
        text = body.decode("ascii")
        fields = parse_qsl(text, keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="replace")
        return {name: storable(value) for name, value in fields}
    except ValueError as error:
        raise UsageError("the request is not a form: nothing was changed") from error


def storable(text: str) -> str:
    """A text as every database takes it: PostgreSQL knows no NUL."""
    return text.replace("\x00", "\ufffd")


def is_ours(headers: Headers, base_url: str) -> bool:
    """Whether a page of ours sent the request, by what the browser says; programs say nothing and have no cookie that
    somebody else could use."""
    if "sec-fetch-site" in headers:
        return headers["sec-fetch-site"] == "same-origin"
    if "origin" not in headers:
        return True
    host = headers["origin"].lower().partition("//")[2]
    return bool(host) and host in (headers.get("host", "").lower(), urlsplit(base_url).netloc.lower())
