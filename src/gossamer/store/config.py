"""Where the state of a crawl is if not in the data folder: settings that all machines share."""

from __future__ import annotations

import msgspec

from gossamer.errors import UsageError

_DATABASES = ("postgresql://", "postgres://")


class StorageConfig(msgspec.Struct, frozen=True):
    """Where Gossamer stores database and segments; on many machines, the same for all of them."""

    database: str = ""
    """The frontier database: `postgresql://user@host/name`; empty: frontier.db in the data folder."""
    segments: str = ""
    """A folder that all machines see, or `s3://bucket/prefix`; empty: segments/ in the data folder."""
    cache: int = 4096
    """Mebibytes of remote files to cache on this machine."""
    keep_old: float = 0.0
    """Seconds to keep text, links and raw response of a visit after a newer visit superseded it; 0: for ever. Gossamer
    always keeps the version that is in the index."""

    def check(self) -> None:
        """Raise a `UsageError` for an invalid address."""
        if self.keep_old < 0:
            raise UsageError("storage.keep_old is negative: set seconds, or 0 to keep old visits for ever")
        if self.database and not self.database.startswith(_DATABASES):
            raise UsageError("storage.database must be empty or postgresql://user@host/name")
        scheme, separator, rest = self.segments.partition("://")
        if separator and (scheme not in ("s3", "file") or not rest.strip("/")):
            raise UsageError(f"storage.segments is {self.segments!r}: it must be a folder or s3://bucket/prefix")
