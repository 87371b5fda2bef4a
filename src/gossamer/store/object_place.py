"""Files in an object store that speaks the S3 protocol: `s3://bucket/prefix`.

An object is whole or not there: the store shows neither a part of an upload nor the parts of a large one before the
last request completes it. A writer that dies in a large upload leaves parts that nobody sees; a rule of the bucket
should delete them after some days (`docs/segments.md`).

Credentials, region and endpoint come from the variables that all tools use: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_SESSION_TOKEN, AWS_REGION, AWS_ENDPOINT_URL, or from the machine's role. Plain HTTP is used where the endpoint's
address says so, and never otherwise.

Errors of the store (500, 503, a lost connection, a timeout) are tried again by the library within the limits of
`Patience`; what is left then is a `StorageError` that says what to do.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec
import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError
from obstore.store import S3Store

from gossamer.errors import StorageError, UsageError
from gossamer.store.file_cache import FileCache
from gossamer.store.object_errors import NO_BUCKET, is_past_the_end, told
from gossamer.store.place import PlaceMissing, check_name, is_hidden

if TYPE_CHECKING:
    from obstore import GetOptions, ObjectMeta

PART = 8 << 20
"""Bytes of one request of a large upload or download: small enough for a slow line within the timeout."""
_AT_ONCE = 2
"""Parts of an upload under way at once."""
_GROWTH = 6
"""The library picks each wait at random below so many times the last one; below e times, waits would shrink."""
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_CREATOR = "gossamer-creator"
"""The metadata by which a creator recognises its own object if the answer to its request was lost."""


class Patience(msgspec.Struct, frozen=True):
    """How long one request is retried: for about a minute if the store answers with errors at once."""

    retries: int = 16
    first: float = 0.1
    """Seconds before the first retry; the waits grow by chance, about twofold each."""
    longest: float = 5.0
    """Seconds a wait may grow to."""
    total: float = 180.0
    """Seconds from the first attempt after which there is no further one; signatures are valid for five minutes."""
    timeout: float = 60.0
    """Seconds for one attempt: two parts at once need 280 KB a second."""


class ObjectPlace:
    """`Place` in a bucket; safe to share between threads, opened when it is first used."""

    def __init__(self, url: str, cache: FileCache, patience: Patience | None = None) -> None:
        scheme, _, rest = url.partition("://")
        self._bucket, _, prefix = rest.partition("/")
        if scheme != "s3" or not self._bucket:
            raise UsageError(f"{url}: an object store is named s3://bucket/prefix")
        self._prefix = prefix.strip("/")
        self._patience = patience or Patience()
        self._cache = cache

    @property
    def url(self) -> str:
        """The bucket and what all names begin with."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def probe(self) -> None:
        """Refuse a store on which two writers could both believe to be the first, or that this user may not use."""
        name = f".probe-{secrets.token_hex(8)}"
        refused = StorageError(
            f"{self.url}: the store lets a second writer replace what the first created "
            "(no conditional create, If-None-Match): use one that does"
        )
        try:
            if not self.create(name, b"one"):
                raise refused
            if self.create(name, b"two") or self.get(name) != b"one":
                raise refused
            next(self.names(), None)
        finally:
            with contextlib.suppress(StorageError):
                self.delete([name])

    def put(self, name: str, data: bytes | memoryview) -> None:
        """One request, or several of which the last one counts."""
        with self._asking(name):
            obstore.put(self._store, name, memoryview(data).cast("B"), chunk_size=PART, max_concurrency=_AT_ONCE)

    def create(self, name: str, data: bytes | memoryview) -> bool:
        """One request, which the store refuses if the name is taken."""
        creator = secrets.token_hex(16)
        with self._asking(name):
            try:
                obstore.put(
                    self._store, name, memoryview(data).cast("B"), mode="create", attributes={_CREATOR: creator}
                )
            except AlreadyExistsError:  # perhaps by our own first attempt, of which only the answer was lost
                head = obstore.get(self._store, name, options={"head": True})
                return head.attributes.get(_CREATOR) == creator
        return True

    def upload(self, name: str, source: Path, keep: bool = False) -> None:
        """In parts if it is large; then check the size in the store."""
        size = source.stat().st_size
        with self._asking(name):
            done = obstore.put(self._store, name, source, chunk_size=PART, max_concurrency=_AT_ONCE)
            stored = obstore.head(self._store, name)["size"]
        if stored != size:
            raise StorageError(
                f"{self.url}/{name} has {stored} bytes instead of {size}: check the store and start again"
            )
        if keep and done["e_tag"]:
            self._cache.adopt(self._key(name), done["e_tag"], source)

    def get(self, name: str) -> bytes:
        """A whole object."""
        with self._asking(name):
            return bytes(obstore.get(self._store, name).bytes())

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """One request."""
        if length <= 0:
            return b""
        with self._asking(name):
            try:
                return bytes(obstore.get_range(self._store, name, start=start, length=length))
            except BaseError as error:
                if is_past_the_end(str(error)):
                    return b""
                raise

    def path(self, name: str) -> Path:
        """A copy of the present version, fetched if there is none yet."""
        while True:
            with self._asking(name):
                meta = obstore.head(self._store, name)
            version, size = meta["e_tag"] or str(meta["last_modified"]), meta["size"]
            found = self._cache.find(self._key(name), version)
            if found is not None:
                return found
            with contextlib.suppress(PreconditionError):  # replaced while it was read: take the new one
                return self._cache.add(self._key(name), version, size, partial(self._download, name, meta))

    def size(self, name: str) -> int | None:
        """Bytes of an object."""
        try:
            with self._asking(name):
                return obstore.head(self._store, name)["size"]
        except PlaceMissing:
            return None

    def names(self, prefix: str = "") -> Iterator[str]:
        """Lists the folder of the prefix, a thousand names a request."""
        folder = prefix.rpartition("/")[0]
        found: list[str] = []
        with self._asking(folder or "."):
            for chunk in obstore.list(self._store, folder or None):
                found += [meta["path"] for meta in chunk]
        yield from sorted(name for name in found if name.startswith(prefix) and not is_hidden(name))

    def delete(self, names: Iterable[str]) -> None:
        """A thousand names a request."""
        gone = list(names)
        if gone:
            with self._asking(gone[0]):
                obstore.delete(self._store, gone)

    def _download(self, name: str, meta: ObjectMeta, file: BinaryIO) -> None:
        """In pieces, each with retries of its own: a large file takes longer than one request may."""
        for start in range(0, meta["size"], PART):
            options: GetOptions = {"range": (start, min(start + PART, meta["size"])), "if_match": meta["e_tag"]}
            with self._asking(name):
                file.write(obstore.get(self._store, name, options=options).bytes())

    def _key(self, name: str) -> str:
        """A name in the cache, which several places may share."""
        return f"{hashlib.blake2b(self.url.encode(), digest_size=4).hexdigest()}/{name}"

    @contextlib.contextmanager
    def _asking(self, name: str) -> Iterator[None]:
        """Turn the library's errors into errors with advice."""
        check_name(name)
        try:
            yield
        except PreconditionError:
            raise
        except FileNotFoundError as error:
            if NO_BUCKET in str(error):
                raise StorageError(told(str(error), self.url, _endpoint())) from None
            raise PlaceMissing(f"{self.url}/{name} is missing") from None
        except (BaseError, OSError, ValueError) as error:
            raise StorageError(told(str(error), f"{self.url}/{name}", _endpoint())) from None

    @cached_property
    def _store(self) -> S3Store:
        patience = self._patience
        return S3Store(
            self._bucket,
            prefix=self._prefix or None,
            client_options={
                "allow_http": _endpoint().startswith("http://"),
                "timeout": _seconds(patience.timeout),
            },
            retry_config={
                "max_retries": patience.retries,
                "retry_timeout": _seconds(patience.total),
                "backoff": {
                    "init_backoff": _seconds(patience.first),
                    "max_backoff": _seconds(patience.longest),
                    "base": _GROWTH,
                },
            },
        )


def _endpoint() -> str:
    return next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")


def _seconds(count: float) -> timedelta:
    return timedelta(seconds=count)
