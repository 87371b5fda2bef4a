"""`gossamer mcp`: the crawl as tools of a language model, over the Model Context Protocol."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import msgspec

from gossamer import settings as settings_file
from gossamer.cli.common import DEFAULT_DATA, Data, Debug, err
from gossamer.cli.searching.serve import warn
from gossamer.compose.serve import crawl_services
from gossamer.errors import UsageError
from gossamer.web.server import beyond_loopback, run

PORT = 8018
TOKEN_FILE = "mcp-token"


def command(
    *,
    data: Data = DEFAULT_DATA,
    http: bool = False,
    host: str = "127.0.0.1",
    port: int = PORT,
    token_file: Path | None = None,
    debug: Debug = False,
) -> None:
    """Serve the crawl to a language model: search, pages, history, explanations, sites. Nothing can be changed.

    Without options a client such as a desktop assistant starts this command itself and speaks with it over standard
    input and output. docs/mcp.md shows what to write into its settings.

    Parameters
    ----------
    http
        Listen for HTTP at /mcp instead, for clients that know the token.
    host
        Address to listen on; 0.0.0.0: reachable from other machines.
    port
        Port to listen on; 0: any free port.
    token_file
        File with the token that clients send; it is made if it is not there. Default: mcp-token in the data folder.
    """
    from gossamer.web.doors.mcp_server import PATH, mcp_app, mcp_server

    settings = settings_file.load(data, {})
    services = crawl_services(data, settings)
    if not http:
        mcp_server(services).run("stdio")
        return
    file = token_file if token_file is not None else data / TOKEN_FILE
    if beyond_loopback(host):
        warn(f"Other machines can reach this server: it listens on {host} without encryption. Put a proxy before it.")
    app = mcp_app(services, token_of(file), host)

    def ready(address: str) -> None:
        err.print(f"MCP at {address}{PATH}, with the token in {file} (press Ctrl-C to stop)", markup=False)

    run(app, msgspec.structs.replace(settings.serve, host=host, port=port), ready)


def token_of(file: Path) -> str:
    """The token in a file that nobody else may read; a new one if there is no such file."""
    try:
        text = file.read_text().strip()
    except FileNotFoundError:
        text = secrets.token_urlsafe(32)
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise UsageError(f"--token-file: {file} cannot be written: {error.strerror}") from error
        os.write(descriptor, f"{text}\n".encode())
        os.close(descriptor)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file: {file} cannot be read: {error}") from error
    if len(text) < 16 or not text.isascii() or any(character.isspace() for character in text):
        raise UsageError(f"--token-file: {file} must hold one word of at least 16 ASCII characters")
    return text
