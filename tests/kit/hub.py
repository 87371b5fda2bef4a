"""Hub: a small WebSub hub on loopback, well-behaved until it is told otherwise.

    with Hub() as hub:
        ...                                   # a subscriber posts to hub.url
        hub.settle()                          # what was asked for has been verified
        hub.publish(topic, feed)              # signed, to every subscriber
        hub.manners = Manners(signature="wrong")
        hub.publish(topic, feed)              # and now a forgery

It answers a subscription with 202 and verifies the intent afterwards, on a thread of its own, as the recommendation
asks. All that it sent and what came back is in `sent`.
"""

from __future__ import annotations

import hmac
import http.client
import secrets
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Event, Thread
from types import TracebackType
from typing import Literal, Self
from urllib.parse import parse_qs, urlencode, urlsplit

import msgspec

_TIMEOUT = 20.0


class Manners(msgspec.Struct, frozen=True, kw_only=True):
    """How the hub behaves."""

    status: int = 202
    """What a request for a subscription is answered with; one that is not 202 has no effect."""
    location: str = ""
    """Where such an answer sends the subscriber on to."""
    delay: float = 0.0
    """Seconds before it answers."""
    verifies: bool = True
    """Whether it asks the subscriber at all."""
    lease: str | None = None
    """The lease it claims, as text; None: what was asked for."""
    denies: str = ""
    """A reason to deny every subscription."""
    signature: Literal["right", "wrong", "none"] = "right"
    method: str = "sha256"
    """What deliveries are signed with."""
    keeps_leases: bool = True
    """Whether it stops sending when a lease ends."""


class Subscriber(msgspec.Struct):
    """A verified subscription."""

    callback: str
    topic: str
    secret: str
    expires_at: float


class Sent(msgspec.Struct, frozen=True):
    """A request that the hub made, and the answer."""

    method: str
    url: str
    status: int
    """0 where nobody answered."""
    body: bytes
    """Of the answer."""


class Hub:
    """A hub on 127.0.0.1; start it, or use `with`."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self.manners = Manners()
        self.subscribers: dict[tuple[str, str], Subscriber] = {}
        """By callback and topic."""
        self.asked: list[dict[str, str]] = []
        """The forms that were posted."""
        self.sent: list[Sent] = []
        self._now = now
        self._work: Queue[dict[str, str] | None] = Queue()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.hub = self
        self._threads = [Thread(target=self._server.serve_forever, daemon=True), Thread(target=self._run, daemon=True)]

    @property
    def url(self) -> str:
        """Where subscriptions are asked for."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/hub"

    def start(self) -> Self:
        """Listen."""
        for thread in self._threads:
            thread.start()
        return self

    def stop(self) -> None:
        """Stop listening: from then on nobody answers at `url`."""
        self._work.put(None)
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def settle(self) -> None:
        """Wait until everything that was asked for is verified or denied."""
        self._work.join()

    def take(self, form: dict[str, str]) -> None:
        """Note a request for a subscription; it is verified later."""
        self.asked.append(form)
        if self.manners.status == 202:
            self._work.put(form)

    def publish(self, topic: str, body: bytes, content_type: str = "application/atom+xml") -> list[int]:
        """Send content to every subscriber of a topic; the statuses of their answers."""
        found = [one for one in self.subscribers.values() if one.topic == topic]
        if self.manners.keeps_leases:
            found = [one for one in found if one.expires_at > self._now()]
        return [self.deliver(one, body, content_type).status for one in found]

    def deliver(self, to: Subscriber, body: bytes, content_type: str = "application/atom+xml") -> Sent:
        """Send content to one subscriber, whether it is entitled to it or not."""
        headers = {"Content-Type": content_type, "Link": f'<{self.url}>; rel="hub", <{to.topic}>; rel="self"'}
        if to.secret and self.manners.signature != "none":
            key = to.secret if self.manners.signature == "right" else f"{to.secret}?"
            headers["X-Hub-Signature"] = f"{self.manners.method}={_sign(key, body, self.manners.method)}"
        return self._request("POST", to.callback, body, headers)

    def verify(self, callback: str, topic: str, mode: str = "subscribe", **more: str) -> Sent:
        """Ask a subscriber whether it wants this, although nobody asked the hub."""
        fields = {"hub.mode": mode, "hub.topic": topic} | {f"hub.{name}": value for name, value in more.items()}
        mark = "&" if "?" in callback else "?"
        return self._request("GET", f"{callback}{mark}{urlencode(fields)}", b"", {})

    def _run(self) -> None:
        while (form := self._work.get()) is not None:
            try:
                self._settle_one(form)
            finally:
                self._work.task_done()
        self._work.task_done()

    def _settle_one(self, form: dict[str, str]) -> None:
        manners, callback, topic = self.manners, form["hub.callback"], form["hub.topic"]
        if manners.denies:
            self.verify(callback, topic, "denied", reason=manners.denies)
            return
        if not manners.verifies:
            return
        challenge = secrets.token_hex(16)
        lease = manners.lease if manners.lease is not None else form.get("hub.lease_seconds", "864000")
        answer = self.verify(callback, topic, form["hub.mode"], challenge=challenge, lease_seconds=lease)
        if not 200 <= answer.status < 300 or answer.body != challenge.encode():
            return
        key = (callback, topic)
        if form["hub.mode"] == "unsubscribe":
            self.subscribers.pop(key, None)
        else:
            seconds = float(lease) if lease.isdecimal() else 0.0
            self.subscribers[key] = Subscriber(callback, topic, form.get("hub.secret", ""), self._now() + seconds)

    def _request(self, method: str, url: str, body: bytes, headers: dict[str, str]) -> Sent:
        parts = urlsplit(url)
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_TIMEOUT)
        try:
            connection.request(method, target, body or None, headers)
            answer = connection.getresponse()
            sent = Sent(method, url, answer.status, answer.read())
        except OSError:
            sent = Sent(method, url, 0, b"")
        finally:
            connection.close()
        self.sent.append(sent)
        return sent


def _sign(secret: str, body: bytes, method: str) -> str:
    return hmac.new(secret.encode(), body, method).hexdigest()


class _Server(ThreadingHTTPServer):
    hub: Hub
    daemon_threads = True


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        hub = self.server.hub
        manners = hub.manners
        length = int(self.headers.get("Content-Length") or 0)
        form = {name: values[-1] for name, values in parse_qs(self.rfile.read(length).decode()).items()}
        if manners.delay:
            Event().wait(manners.delay)
        status = manners.status
        if not {"hub.callback", "hub.mode", "hub.topic"} <= form.keys():
            status = 400
        else:
            hub.take(form)
        words = b"" if status == 202 else b"the hub does not want to"
        try:
            self.send_response(status)
            if manners.location:
                self.send_header("Location", manners.location)
            self.send_header("Content-Length", str(len(words)))
            self.end_headers()
            self.wfile.write(words)
        except OSError:
            pass  # the subscriber would not wait

    def log_message(self, format: str, *args: object) -> None:
        pass
