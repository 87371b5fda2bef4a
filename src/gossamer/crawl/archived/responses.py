"""From a capture of an archive to the response that a request would have brought.

The same rules judge it: status, type, sizes, content encoding. Two things are special. An archive may hold only the
beginning of a body; that is read as far as it goes. And many programs store a body unpacked but keep its
Content-Encoding: if it is not encoded so, the header is renamed, and the body is taken as it is.
"""

from __future__ import annotations

from gossamer.fetch.decode import decode
from gossamer.fetch.limits import FetchConfig, Trouble
from gossamer.fetch.reply import Reply
from gossamer.fetch.request import Request
from gossamer.fetch.response import judge, settle
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response
from gossamer.store.foreign.warc import Capture

_ENCODING = "content-encoding"


def response_of(capture: Capture, url: str, config: FetchConfig) -> Response:
    """The response for a canonical URL; `config`: the limits and types of the crawl."""
    is_cut = bool(capture.truncated)
    request = Request(url, truncate=is_cut)
    headers = _true_headers(capture, config, is_cut)
    reply = Reply(lambda reply: judge(config, request, reply))
    reply.status, reply.version, reply.headers, reply.answered_at = capture.status, capture.version, headers, capture.at
    for name, value in headers:
        reply.fields.setdefault(name.lower(), value)
    response = Response(
        url, Outcome.DOCUMENT, capture.at, capture.at, capture.at, capture.status, headers=headers,
        address=capture.address, http_version=capture.version,
    )  # fmt: skip
    reply.judge(reply)
    if reply.keep:
        reply.add(capture.body[: reply.limit])
        reply.cut = is_cut or not capture.is_whole or len(capture.body) > reply.limit
    try:
        settle(config, request, reply, response, capture.at)
    except Trouble as trouble:
        response.outcome, response.reason = trouble.outcome, trouble.reason
        response.wire_body = reply.body()
    if is_cut and response.outcome is Outcome.DOCUMENT:
        response.reason = f"the archive holds only the beginning of the body ({capture.truncated[:40]})"
    return response


def _true_headers(capture: Capture, config: FetchConfig, is_cut: bool) -> list[tuple[str, str]]:
    encodings = [value for name, value in capture.headers if name.lower() == _ENCODING]
    if not encodings or not capture.body:
        return capture.headers
    try:
        decode(capture.body, encodings, config.max_decoded, partial=is_cut or not capture.is_whole)
    except Trouble as trouble:
        if trouble.outcome is Outcome.BROKEN_RESPONSE and _is_text(capture.body):
            return [
                (f"X-Crawler-{name}" if name.lower() == _ENCODING else name, value) for name, value in capture.headers
            ]
    return capture.headers


def _is_text(body: bytes) -> bool:
    """Whether it can be what a packed body holds, but not a packed body."""
    head = body[:512].lstrip(b"\xef\xbb\xbf \t\r\n")
    return not any(byte < 32 and byte not in b"\t\r\n\f" for byte in head)
