"""The meaning of a response, by its status and its transport alone.

Which part of a response decides:

- 2xx: the head says whether the body is wanted (type, length); the body must then arrive whole, within its limits and
  properly encoded.
- everything else: the status decides. The body is read for the archive as far as it comes; errors in it do not change
the
  outcome.

Header values are decoded as Latin-1, so that their bytes can be restored; only `location` is read as UTF-8 if it is
valid, as in browsers.
"""

from __future__ import annotations

from gossamer.fetch.conditional import retry_after
from gossamer.fetch.decode import decode
from gossamer.fetch.limits import FetchConfig, Trouble
from gossamer.fetch.reply import Reply
from gossamer.fetch.request import Request
from gossamer.model.outcome import FOLLOWED, Outcome, of_status
from gossamer.model.records import Response
from gossamer.parse.document_types import VAGUE, of_media, of_url


def judge(config: FetchConfig, request: Request, reply: Reply) -> None:
    """Say how much of the body is wanted, now that the head is known."""
    if not 200 <= reply.status < 300:
        reply.limit = config.max_error_bytes
        return
    reply.limit = request.max_bytes or config.max_bytes
    if reply.status == 206:
        reply.keep = False
        reply.trouble = Trouble(
            Outcome.BROKEN_RESPONSE, "status 206: a part of the page, but the request was for all of it"
        )
        return
    wanted = config.accept_types if request.accept_types is None else request.accept_types
    kind = reply.fields.get("content-type", "").partition(";")[0].strip().lower()
    if wanted and kind and not _is_wanted(kind, request.url, wanted):
        reply.keep = False
        known = of_media(kind)
        way_out = f": {known.way_out}" if known is not None and known.extra else ""
        reply.trouble = Trouble(Outcome.UNSUPPORTED_TYPE, f"Gossamer has no parser for {kind[:80]}{way_out}")
        return
    length = reply.fields.get("content-length", "")
    if not request.truncate and _exceeds(length, reply.limit):
        reply.keep = False
        reply.trouble = _too_large(f"{length[:20]} bytes", reply.limit)


def _is_wanted(kind: str, url: str, wanted: tuple[str, ...]) -> bool:
    """Whether a type is one of those, or says so little that the ending of the URL decides."""
    if kind.startswith(wanted):
        return True
    named = of_url(url) if kind in VAGUE else None
    return named is not None and named.is_own and named.media[0].startswith(wanted)


def settle(config: FetchConfig, request: Request, reply: Reply, response: Response, now: float) -> None:
    """Complete a response from what arrived: outcome, reason, bodies, redirect target."""
    if not reply.answered_at:
        raise reply.trouble or Trouble(Outcome.BROKEN_RESPONSE, "the server sent no response")
    if "retry-after" in reply.fields:
        response.retry_after = retry_after(reply.fields["retry-after"], now)
    if 200 <= reply.status < 300:
        _document(config, request, reply, response)
    else:
        _news(config, request, reply, response)


def _document(config: FetchConfig, request: Request, reply: Reply, response: Response) -> None:
    if reply.trouble is not None:
        raise reply.trouble
    if reply.cut and not request.truncate:
        raise _too_large("the body", reply.limit)
    response.wire_body = response.body = reply.body()
    if reply.cut:
        response.reason = f"the body was cut at {reply.limit} bytes"
    if "content-encoding" in reply.fields:
        response.body = b""
        limit = request.max_bytes or config.max_decoded
        response.body = decode(response.wire_body, _encodings(reply), limit, partial=request.truncate and reply.cut)


def _news(config: FetchConfig, request: Request, reply: Reply, response: Response) -> None:
    status = reply.status
    response.outcome, response.reason = _by_status(request, reply, response)
    response.wire_body = response.body = reply.body()
    if "content-encoding" in reply.fields:
        try:
            response.body = decode(response.wire_body, _encodings(reply), config.max_error_bytes, partial=True)
        except Trouble:
            response.body = b""
    if reply.cut or reply.trouble is not None:
        response.reason = f"{response.reason or status}; its body was not read to the end"


def _by_status(request: Request, reply: Reply, response: Response) -> tuple[Outcome, str]:
    status = reply.status
    if status in FOLLOWED:
        response.location = _location(reply.fields.get("location", ""))
        if response.location:
            return Outcome.REDIRECT, f"status {status}"
        return Outcome.BAD_REDIRECT, f"status {status} without a Location header"
    if status == 304 and not (request.etag or request.last_modified):
        return Outcome.BROKEN_RESPONSE, "status 304 (not modified) to a first request"
    outcome = of_status(status)
    if outcome is Outcome.BAD_REDIRECT:
        return outcome, f"status {status} is not a redirect that Gossamer follows"
    if status > 599:
        return outcome, f"status {status} does not exist in HTTP; it counts as a failure of the server"
    return outcome, f"status {status}: {outcome.meaning.sentence}"


def _location(value: str) -> str:
    value = value.strip()
    if value.isascii():
        return value
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return value


def _encodings(reply: Reply) -> list[str]:
    return [value for name, value in reply.headers if name.lower() == "content-encoding"]


def _exceeds(length: str, limit: int) -> bool:
    return length.isdecimal() and (len(length) > 18 or int(length) > limit)


def _too_large(what: str, limit: int) -> Trouble:
    return Trouble(Outcome.TOO_LARGE, f"{what}: the limit is {limit} bytes")
