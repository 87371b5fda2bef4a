"""Stored passwords: scrypt, each with its salt and parameters.

`scrypt$14$8$5$SALT$KEY`: the logarithm of N, r and p, then salt and key in base64. Higher parameters of a later version
hold for passwords set from then on; older ones are checked by theirs. A check takes about as long whether there is such
an
account or not.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

from gossamer.errors import UsageError

LEAST = 10
"""Characters of a password."""
MOST = 1000
"""Most bytes of a password: nobody types more."""

COST = (14, 8, 5)
"""16 MiB and about a fifth of a second: what a guess costs. The same work as N = 2^17, p = 1 would be with less memory,
so that a server with little can check one while it answers searches."""
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""No letters that look alike when they are copied by hand."""


def hashed(password: str) -> str:
    """The stored form of a password."""
    salt = secrets.token_bytes(16)
    return "$".join(("scrypt", *map(str, COST), _text(salt), _text(_key(password, salt, *COST))))


def fits(password: str, stored: str) -> bool:
    """Whether it is the password of which `stored` was kept."""
    kind, log_n, r, p, salt, key = stored.split("$")
    if kind != "scrypt":
        return False
    found = _key(password, base64.b64decode(salt), int(log_n), int(r), int(p))
    return hmac.compare_digest(found, base64.b64decode(key))


def fits_nobody(password: str) -> bool:
    """False, after the same work as for an account that exists."""
    _key(password, bytes(16), *COST)
    return False


def generated() -> str:
    """A password of four groups of letters and digits, about 99 bits."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4))


def check(password: str, name: str) -> None:
    """Refuse passwords that are easy to guess."""
    if len(password) < LEAST:
        raise UsageError(f"the password is too short: it needs {LEAST} characters")
    if len(password.encode("utf-8", "replace")) > MOST:
        raise UsageError(f"the password is too long: {MOST} bytes are enough")
    if len(set(password)) < 4 or name.lower() in password.lower():
        raise UsageError("the password is too easy: avoid repetitions and the name of the account")


def _key(password: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    cost = 128 * r * (1 << log_n) + 128 * r * p
    return hashlib.scrypt(
        password.encode("utf-8", "replace")[:MOST], salt=salt, n=1 << log_n, r=r, p=p, maxmem=2 * cost, dklen=32
    )


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode()
