"""Messages to programs: one signed POST each.

    X-Gossamer-Delivery: the message's id, the same at each try: whoever has seen it answers 2xx and does nothing
    X-Gossamer-Timestamp: seconds since 1970 at this try
    X-Gossamer-Signature: sha256=HMAC-SHA256(alerts.secret, timestamp + "." + body), in hexadecimal

The address of a webhook is typed by somebody who may not be allowed to ask the machines next door, so it is judged
by the guard that judges the crawler's own connections: after the name was resolved, and the connection goes to the
very address that was judged. No redirect is followed, little of the answer is read, and everything has an end. The
proxy of the settings is not used.
"""

from __future__ import annotations

import hmac
import http.client
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from gossamer import __version__
from gossamer.notify.channel import NotTakenError, Target, target_of
from gossamer.notify.deadline import Deadline
from gossamer.notify.message import Message, one_line

_CONNECT = 10.0
"""Seconds for the connection."""
_WHOLE = 30.0
"""Seconds from the connection to the end of the answer."""
_ANSWER = 2_000
"""Bytes of an answer that are read: the beginning of what went wrong."""


class Verdict(Protocol):
    """What a guard says of an address."""

    @property
    def allowed(self) -> bool:
        """Whether it may be connected to."""
        ...

    @property
    def reason(self) -> str:
        """Why, or why not."""
        ...


class Guard(Protocol):
    """Judges addresses; `fetch.AddressPolicy` is one."""

    def check(self, address: str) -> Verdict:
        """May this address be connected to?"""
        ...


Resolve = Callable[[str], Sequence[str]]
"""The addresses of a host; an `OSError` where there are none."""


class Webhooks:
    """Posts messages by one set of rules."""

    def __init__(self, secret: str, guard: Guard, resolve: Resolve | None = None, whole: float = _WHOLE) -> None:
        """`whole`: seconds for a request, from the connection to the end of the answer."""
        self._secret, self._guard = secret, guard
        self._resolve = resolve or system_addresses
        self._whole = whole

    def post(self, url: str, message: Message, delivery: str, now: float) -> None:
        """Deliver a message; `NotTakenError` where the receiver did not answer with 2xx."""
        self.post_body(url, payload(message, delivery), delivery, now)

    def post_body(self, url: str, body: bytes, delivery: str, now: float) -> None:
        """The same with any JSON."""
        if not self._secret:
            raise NotTakenError("no key to sign webhooks: set alerts.secret")
        target = target_of(url)
        address = self._judged(target)
        with Deadline(self._whole) as deadline:
            try:
                status, words = _exchange(target, address, body, self._headers(body, delivery, now), deadline)
            except ssl.SSLCertVerificationError as error:
                raise NotTakenError(f"the certificate is not valid: {error.verify_message}") from error
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = f"no answer within {self._whole:.0f} s" if deadline.is_over else one_line(str(error))
                raise NotTakenError(f"no answer: {why or type(error).__name__}") from error
        if 300 <= status < 400:
            raise NotTakenError(f"the receiver answered {status}: Gossamer follows no redirects, use the final URL")
        if not 200 <= status < 300:
            raise NotTakenError(f"the receiver answered {status} {words}".rstrip())

    def _headers(self, body: bytes, delivery: str, now: float) -> dict[str, str]:
        timestamp = str(int(now))
        return {
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "User-Agent": f"Gossamer/{__version__} (webhook)",
            "X-Gossamer-Delivery": delivery,
            "X-Gossamer-Timestamp": timestamp,
            "X-Gossamer-Signature": f"sha256={signature(self._secret, timestamp, body)}",
            "Connection": "close",
        }

    def _judged(self, target: Target) -> str:
        """The address to connect to: the first that the guard allows."""
        try:
            found = self._resolve(target.host)
        except (OSError, UnicodeError) as error:
            raise NotTakenError(f"{target.host} cannot be resolved: {one_line(str(error))}") from error
        verdicts = [(address, self._guard.check(address)) for address in found]
        for address, verdict in verdicts:
            if verdict.allowed:
                return address
        why = verdicts[0][1].reason if verdicts else "the host has no address"
        raise NotTakenError(f"{target.host} is not allowed: {why} (alerts.allow_networks)")


def payload(message: Message, delivery: str) -> bytes:
    """The body of a request: the message as JSON, with its id."""
    return msgspec.json.encode({"id": delivery} | msgspec.to_builtins(message))


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """What the receiver works out, too, with the key that both know."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, "sha256").hexdigest()


def system_addresses(host: str) -> list[str]:
    """What the system's resolver says, IPv4 first."""
    infos = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    found = [(info[0], str(info[4][0])) for info in infos if info[0] in (socket.AF_INET, socket.AF_INET6)]
    return list(dict.fromkeys(address for _, address in sorted(found, key=lambda one: one[0] != socket.AF_INET)))


def _exchange(
    target: Target, address: str, body: bytes, headers: dict[str, str], deadline: Deadline
) -> tuple[int, str]:
    """The status of the answer, and the beginning of its words."""
    connection = socket.create_connection((address, target.port), _CONNECT)
    try:
        deadline.cuts(connection)
        connection.settimeout(_WHOLE)  # a receiver may think until the deadline
        if target.secure:
            connection = ssl.create_default_context().wrap_socket(connection, server_hostname=target.host)
            deadline.cuts(connection)
        lines = [f"POST {target.path} HTTP/1.1", f"Host: {target.site}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        connection.sendall("\r\n".join([*lines, "", ""]).encode("ascii") + body)
        answer = http.client.HTTPResponse(connection, method="POST")
        answer.begin()
        words = answer.read(_ANSWER) if answer.status >= 300 else b""
        return answer.status, one_line(words.decode("utf-8", "replace"), 200)
    finally:
        deadline.cuts(None)
        connection.close()
