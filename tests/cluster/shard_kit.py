"""A divided index on loopback: index nodes, shard servers and a front end, each a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import tantivy

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import PATIENCE, run, start, write_settings

from gossamer.demo.web import DemoWeb
from gossamer.index import schema
from gossamer.index.folder import IndexFolder

SHARDS = 3
_AT = re.compile(r" at (http://127\.0\.0\.1:\d+) ")


class Server:
    """A `gossamer serve` under way."""

    def __init__(self, *options: str, data: Path) -> None:
        self.process = start("serve", "--port", "0", *options, data=data)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = _AT.search(line)
        if found is None:
            self.process.kill()
            raise AssertionError(line + self.process.communicate()[1])
        self.address = found[1]

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def serving(*options: str, data: Path) -> Iterator[Server]:
    server = Server(*options, data=data)
    try:
        yield server
    finally:
        server.kill()


def index_folder(data: Path, shard: int) -> Path:
    return data.parent / f"index-{shard}-of-{SHARDS}"


def follow(data: Path, shard: int) -> subprocess.Popen[str]:
    """An index node under way."""
    place = str(index_folder(data, shard))
    return start("index", "--shard", f"{shard}/{SHARDS}", "--index", place, "--follow", data=data)


def crawl_with_nodes(web: DemoWeb, data: Path) -> None:
    """Crawl the demo web while one indexer takes in everything and three take in a shard each."""
    settings: dict[str, dict[str, Any]] = {
        "network": {"allow": [web.network], "resolve": web.resolve},
        "politeness": {"delay": 0.0},
        "crawl": {"linger": 5.0},
        "serve": {"rate": 0},
    }
    write_settings(data, settings)
    done = run("inject", *web.seeds, data=data)
    assert done.returncode == 0, done.stderr
    nodes = [follow(data, shard) for shard in range(1, SHARDS + 1)]
    done = run("crawl", "--quiet", data=data)
    assert done.returncode == 0, done.stderr
    for node in nodes:
        node.terminate()
    for node in nodes:
        _, said = node.communicate(timeout=PATIENCE)
        assert node.returncode == 0, said


def rebuild(data: Path) -> None:
    """Build all indexes anew."""
    for shard in range(SHARDS + 1):
        part = ["--shard", f"{shard}/{SHARDS}", "--index", str(index_folder(data, shard))] if shard else []
        done = run("index", "--rebuild", *part, data=data)
        assert done.returncode == 0, done.stderr


def contents(folder: IndexFolder) -> list[str]:
    """The URLs in an index."""
    searcher = schema.prepare(tantivy.Index.open(str(folder.require()))).searcher()
    hits = searcher.search(tantivy.Query.all_query(), max(1, searcher.num_docs)).hits
    return [schema.decode(searcher.doc(address)).url for _, address in hits]


def front_folder(root: Path, **sections: dict[str, Any]) -> Path:
    """A folder with settings for a front end: it has no crawl."""
    root.mkdir(exist_ok=True)
    write_settings(root, {"serve": {"rate": 0}} | sections)
    return root


def listed(shards: Iterable[Sequence[Server]]) -> str:
    """Servers as `--shards` takes them."""
    return ";".join(",".join(one.address for one in replicas) for replicas in shards)


def asked(server: Server, path: str, **parameters: str) -> Any:
    """What the JSON API answers."""
    answer = httpx.get(f"{server.address}/api/v1/{path}", params=parameters, timeout=PATIENCE, trust_env=False)
    assert answer.status_code == 200, answer.text
    return answer.json()


def shown(server: Server, path: str, **parameters: str) -> httpx.Response:
    """A page."""
    return httpx.get(f"{server.address}{path}", params=parameters, timeout=PATIENCE, trust_env=False)
