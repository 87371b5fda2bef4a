"""`gossamer mcp`: clients of the official SDK search and read a real crawl, and can change nothing."""

from __future__ import annotations

import asyncio
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gossamer.cli.searching.mcp import token_of
from gossamer.compose.serve import crawl_services
from gossamer.data.crawl_settings import settings_of_crawl
from gossamer.errors import UsageError
from gossamer.web.doors.tools import Tools

GOSSAMER = str(Path(sys.executable).with_name("gossamer"))
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def tools(crawled: Path) -> Tools:
    return Tools(crawl_services(crawled, settings_of_crawl(crawled)))


def test_a_search_gives_urls_and_each_of_them_can_be_read(tools: Tools) -> None:
    found = tools.search("orb weaver", limit=3)
    assert found["total"] >= 1 and 1 <= len(found["hits"]) <= 3
    for hit in found["hits"]:
        page = tools.read_page(hit["url"])
        assert "weaver" in page["text"].lower()
        assert page["characters"] == len(page["text"]) or "next_start" in page


def test_a_long_page_is_read_in_pieces_that_join(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    url = tools.search("orb weaver")["hits"][0]["url"]
    whole = tools.read_page(url)["text"]
    monkeypatch.setattr("gossamer.web.doors.tools.LONGEST", 100)
    pieces, start = "", 0
    while True:
        page = tools.read_page(url, start=start)
        pieces += page["text"]
        if "next_start" not in page:
            break
        start = page["next_start"]
    assert pieces == whole and len(whole) > 100


def test_history_explanation_and_sites(tools: Tools) -> None:
    url = tools.search("orb weaver")["hits"][0]["url"]
    assert tools.page_history(url)["visits"]
    assert tools.explain_rank("orb weaver", url)["matches"] is True
    told = tools.sites()
    assert told["documents"] >= 5 and told["sites"] and told["fetched_at"].endswith("Z")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda tools: tools.search("orb weaver", limit=0), "limit"),
        (lambda tools: tools.search("orb weaver", since="tomorrow"), "since"),
        (lambda tools: tools.search("orb weaver", collection="nothing"), "collection"),
        (lambda tools: tools.read_page("https://elsewhere.example/"), "no page with the URL"),
        (lambda tools: tools.page_history("https://elsewhere.example/"), "no page with the URL"),
    ],
)
def test_wrong_arguments_are_one_sentence(tools: Tools, call: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        call(tools)


def test_the_token_is_kept_where_nobody_else_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "token"
    made = token_of(file)
    assert token_of(file) == made and len(made) >= 32
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_text("two words\n")
    with pytest.raises(UsageError, match="one word"):
        token_of(file)


def test_a_client_starts_the_server_and_asks_over_standard_input(crawled: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    async def talk() -> tuple[list[Any], Any, Any, Any]:
        server = StdioServerParameters(command=GOSSAMER, args=["mcp", "--data", str(crawled)], env=dict(os.environ))
        async with Client(stdio_client(server)) as client:
            listed = (await client.list_tools()).tools
            found = await client.call_tool("search", {"query": "orb weaver"})
            page = await client.call_tool("read_page", {"url": found.structured_content["hits"][0]["url"]})
            wrong = await client.call_tool("read_page", {"url": "https://elsewhere.example/"})
            return listed, found, page, wrong

    listed, found, page, wrong = asyncio.run(talk())
    assert {tool.name for tool in listed} == {"search", "read_page", "page_history", "explain_rank", "sites"}
    assert all(tool.annotations.read_only_hint for tool in listed)
    assert all(
        described.get("description") for tool in listed for described in tool.input_schema["properties"].values()
    )
    assert found.structured_content["total"] >= 1
    assert "weaver" in page.structured_content["text"].lower()
    assert wrong.is_error and "no page with the URL" in wrong.content[0].text


@contextmanager
def http_server(crawled: Path, token: Path) -> Iterator[str]:
    command = [GOSSAMER, "mcp", "--http", "--port", "0", "--data", str(crawled), "--token-file", str(token)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
        assert "MCP at http://" in line, line + process.stderr.read()
        yield line.split()[2].rstrip(",")
    finally:
        process.terminate()
        process.communicate()


def test_over_http_only_those_with_the_token_are_answered(crawled: Path, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    file = tmp_path / "token"
    with http_server(crawled, file) as address:
        assert httpx.post(address, json={}).status_code == 401
        assert httpx.post(address, json={}, headers={"authorization": "Bearer wrong"}).status_code == 401
        key = {"authorization": f"Bearer {token_of(file)}"}
        foreign = httpx.post(address, json={}, headers={**key, "host": "evil.example"})
        assert foreign.status_code in (403, 421)

        async def talk() -> Any:
            http = create_mcp_http_client(headers=key)
            async with Client(streamable_http_client(address, http_client=http)) as client:
                return await client.call_tool("search", {"query": "orb weaver"})

        assert asyncio.run(talk()).structured_content["total"] >= 1
