"""The meaning of an object store's refusal for the person who runs the crawl.

The library passes the store's answer on as text: the HTTP status, and the code of the error in XML.
"""

from __future__ import annotations

import re

NO_BUCKET = "<Code>NoSuchBucket</Code>"

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_CREDENTIAL_SOURCES = ("169.254.", "/latest/api/token", "/latest/meta-data", "AssumeRoleWithWebIdentity")

_BY_CODE = {
    "NoSuchBucket": "there is no such bucket; create it, or correct the address",
    "RequestTimeTooSkewed": "this machine's clock is wrong, so the store refuses its signature; set the clock",
    "InvalidAccessKeyId": "the store does not know the access key; check AWS_ACCESS_KEY_ID",
    "SignatureDoesNotMatch": "the secret key is wrong; check AWS_SECRET_ACCESS_KEY",
    "ExpiredToken": "the credentials have expired; get new ones",
    "AuthorizationHeaderMalformed": "the bucket is in another region; set AWS_REGION",
    "PermanentRedirect": "the bucket is in another region; set AWS_REGION and AWS_ENDPOINT_URL",
    "NotImplemented": "the store does not know this request; use one that has conditional writes (If-None-Match)",
}
_BY_STATUS = {
    "301": "the bucket is in another region; set AWS_REGION",
    "401": "the store wants credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "403": "permission denied; let these credentials read, write, list and delete there",
    "501": _BY_CODE["NotImplemented"],
    "507": "the store is full; free some space and start again",
}
_SAFE = "(nothing committed is lost)"


def is_past_the_end(text: str) -> bool:
    """Whether the requested range begins after the last byte."""
    return _status(text) == "416"


def told(text: str, where: str, endpoint: str) -> str:
    """One line for a person: the refusal, and what to do."""
    code, status = _CODE.search(text), _status(text)
    if code and code[1] in _BY_CODE:
        return f"{where}: {_BY_CODE[code[1]]} {_SAFE}"
    if any(source in text for source in _CREDENTIAL_SOURCES):
        return f"{where}: there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY {_SAFE}"
    if status in _BY_STATUS:
        return f"{where}: {_BY_STATUS[status]} {_SAFE}"
    if status.startswith("5") or status == "429":
        return f"{where}: the store answered {status} to every try; start again when it works {_SAFE}"
    if not status and "HTTP error" in text:
        return f"{where}: cannot reach {endpoint or 'the store'}; check AWS_ENDPOINT_URL and the network {_SAFE}"
    first = " ".join(text.partition("Debug source")[0].split())[:300]
    return f"{where}: {first} {_SAFE}"


def _status(text: str) -> str:
    found = _STATUS.search(text)
    return found[1] if found else ""
