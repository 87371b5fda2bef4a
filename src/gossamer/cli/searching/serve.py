"""`gossamer serve`: the search page and the API."""

from __future__ import annotations

import os
import signal
import sys
import webbrowser
from pathlib import Path
from threading import Thread
from typing import Annotated, Any

from cyclopts import Parameter

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Database, Debug, Segments, err, out
from gossamer.compose.console import Login
from gossamer.compose.serve import OpenServer, open_server
from gossamer.console.app import ROOT
from gossamer.data.storage import remember_storage
from gossamer.errors import UsageError
from gossamer.tables.accounts import FIRST


def command(
    *,
    data: Data = DEFAULT_DATA,
    host: str | None = None,
    port: int | None = None,
    shard: str | None = None,
    shards: Annotated[list[str] | None, Parameter(negative="")] = None,
    index: Path | None = None,
    database: Database = None,
    segments: Segments = None,
    open_browser: Annotated[bool, Parameter(name="--open", negative="")] = False,
    until_stdin_ends: Annotated[bool, Parameter(negative="", show=False)] = False,
    debug: Debug = False,
) -> None:
    """Serve the search page, the JSON API, feeds of queries and the console until Ctrl-C.

    Parameters
    ----------
    host
        Address to listen on; 0.0.0.0: reachable from other machines.
    port
        Port to listen on; 0: any free port.
    shard
        Serve one shard of a divided index, such as 2/4, to front ends. Default: the setting shards.shard.
    shards
        Be the front end of a divided index: addresses of shard servers, `;` between shards, `,` between replicas of
        one shard. Default: the setting shards.nodes.
    index
        Folder of the index; default: the setting shards.index, or `index` in the data folder.
    open_browser
        Open the page in a browser.
    until_stdin_ends
        Stop when standard input ends: for whoever starts a server beside itself.
    """
    if until_stdin_ends:
        Thread(target=_stop_with_stdin, daemon=True).start()
    changes = {"serve": _given(host=host, port=port), "shards": _shards(shard, shards, index)}
    remember_storage(data, database, segments)
    settings = settings_file.load(data, changes)
    run_server(open_server(data, settings, sys.stdout.isatty(), warn), data, open_browser)


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _shards(shard: str | None, nodes: list[str] | None, index: Path | None) -> dict[str, Any]:
    """An option for one role of a divided index switches off the other role in the settings."""
    if shard and nodes:
        raise UsageError("a server is one shard (--shard) or the front end of all shards (--shards), not both")
    shard, nodes = "" if nodes else shard, [] if shard else nodes
    return _given(shard=shard, nodes=nodes, index=str(index) if index is not None else None)


def _stop_with_stdin() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def warn(sentence: str) -> None:
    """Something that the operator should know before the server answers."""
    err.print(sentence, style="yellow", markup=False)


def run_server(server: OpenServer, data: Path, open_browser: bool = False) -> None:
    """Serve until a signal; print the address as soon as requests are answered."""

    def ready(address: str) -> None:
        if server.shard:
            out.print(f"Shard {server.shard} at {address} (press Ctrl-C to stop)", markup=False)
            return
        shown = server.settings.base_url or address
        out.print(f"Search at {shown} (press Ctrl-C to stop)", markup=False)
        if server.login is not None:
            out.print(_greeting(server.login, f"{shown.rstrip('/')}{ROOT}", data), markup=False)
        if open_browser:
            webbrowser.open(shown)

    server.run(ready)


def _greeting(login: Login, address: str, data: Path) -> str:
    if login.password:
        words = f"log in as {FIRST} with the password {login.password}"
        return f"Console at {address}: {words}\nGossamer shows this password only once. Change it on the console."
    if login.has_account:
        return f"Console at {address}"
    make = f"gossamer accounts add NAME --role operator --data {data}"
    return f"Console at {address} has no account yet: add one with `{make}`"
