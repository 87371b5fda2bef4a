"""Small servers that speak the parts of Elasticsearch's and Meilisearch's HTTP interfaces that a sink uses."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Self


class Engines:
    """A server on 127.0.0.1 with one index of each kind; `documents` by id."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.versions: dict[str, int] = {}
        self.tasks: list[dict[str, Any]] = []
        self.mappings: dict[str, Any] | None = None
        self.keys: set[str] = set()
        self.refuse = False
        self.lock = Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.engines = self
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def empty(self) -> None:
        """As if nothing had ever come."""
        with self.lock:
            self.documents, self.versions, self.mappings = {}, {}, None

    def bulk(self, lines: list[bytes]) -> dict[str, Any]:
        """`_bulk` with external versions: a document that is newer already stays."""
        items, rest = [], iter(lines)
        for line in rest:
            ((verb, what),) = json.loads(line).items()
            document = json.loads(next(rest)) if verb == "index" else None
            assert what["version_type"] == "external_gte"
            if self.versions.get(what["_id"], -1) > what["version"]:
                items.append({verb: {"_id": what["_id"], "status": 409, "error": {"type": "version_conflict"}}})
                continue
            self.versions[what["_id"]] = what["version"]
            if document is None:
                status = 200 if self.documents.pop(what["_id"], None) else 404
            else:
                self.documents[what["_id"]], status = document, 201
            items.append({verb: {"_id": what["_id"], "status": status}})
        return {"errors": any(next(iter(one.values()))["status"] >= 400 for one in items), "items": items}

    def add(self, documents: list[dict[str, Any]]) -> dict[str, Any]:
        """A task of Meilisearch that adds or replaces."""
        self.documents |= {one["id"]: one for one in documents}
        return self.task()

    def delete(self, ids: list[str]) -> dict[str, Any]:
        """A task of Meilisearch that deletes."""
        for one in ids:
            self.documents.pop(one, None)
        return self.task()

    def task(self) -> dict[str, Any]:
        """It is done when it is asked about for the second time."""
        self.tasks.append({"status": "enqueued"})
        return {"taskUid": len(self.tasks) - 1}


class _Server(ThreadingHTTPServer):
    engines: Engines
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A sender that was killed."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:  # the sender was killed
            return
        engines = self.server.engines
        engines.keys.add(self.headers.get("Authorization") or "")
        with engines.lock:
            status, answer = (503, {"error": "busy"}) if engines.refuse else self._of(engines, body)
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PUT = _answer  # noqa: N815 - the names of the base class

    def _of(self, engines: Engines, body: bytes) -> tuple[int, Any]:
        match (self.command, self.path.partition("?")[0].strip("/").split("/")):
            case ("GET", ["pages"]):
                return (200, {}) if engines.mappings else (404, {"error": "no such index"})
            case ("PUT", ["pages"]):
                engines.mappings = json.loads(body)["mappings"]
                return 200, {"acknowledged": True}
            case ("GET", ["pages", "_count"]):
                return (200, {"count": len(engines.documents)}) if engines.mappings else (404, {})
            case ("GET", ["indexes", "pages", "stats"]):
                return (200, {"numberOfDocuments": len(engines.documents)}) if engines.tasks else (404, {})
            case ("POST", ["pages", "_bulk"]):
                assert body.endswith(b"\n")
                return 200, engines.bulk(body.splitlines())
            case ("POST", ["indexes", "pages", "documents"]):
                return 202, engines.add(json.loads(body))
            case ("POST", ["indexes", "pages", "documents", "delete-batch"]):
                return 202, engines.delete(json.loads(body))
            case ("GET", ["tasks", number]):
                task = engines.tasks[int(number)]
                now = dict(task)
                task["status"] = "succeeded"
                return 200, now
        return 404, {"message": self.path}

    def log_message(self, format: str, *args: object) -> None:
        pass
