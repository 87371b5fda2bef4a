"""Style, script and icon: read once, named by their content, so that a browser asks for each version once."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from gossamer.web.links import Links

FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOREVER = "public, max-age=31536000, immutable"
_ASK_AGAIN = "public, max-age=3600"


class Asset(msgspec.Struct, frozen=True):
    """One static file."""

    body: bytes
    packed: bytes
    type: str
    version: str


class Assets:
    """The static files of our folder and of others, in memory."""

    def __init__(self, links: Links, others: Iterable[Path] = ()) -> None:
        """A name that is in several folders belongs to the first, ours."""
        self._links = links
        folders = [FOLDER, *others]
        paths = [path for folder in reversed(folders) for path in sorted(folder.iterdir()) if path.suffix in _TYPES]
        self._files = {path.name: _load(path) for path in paths}

    def url(self, name: str) -> str:
        """The address of the present version of a file."""
        return self._links.to(f"/static/{name}", v=self._files[name].version)

    def respond(self, request: Request, name: str) -> Response | None:
        """The file; none where there is no such file."""
        file = self._files.get(name)
        if file is None:
            return None
        etag = f'W/"{file.version}"'
        headers = {
            "etag": etag,
            "cache-control": _FOREVER if request.query_params.get("v") == file.version else _ASK_AGAIN,
            "vary": "accept-encoding",
        }
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(file.packed, media_type=file.type, headers=headers)
        return Response(file.body, media_type=file.type, headers=headers)


def _load(path: Path) -> Asset:
    body = path.read_bytes()
    version = hashlib.sha256(body).hexdigest()[:12]
    return Asset(body, gzip.compress(body, 9, mtime=0), _TYPES[path.suffix], version)
