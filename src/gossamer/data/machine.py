"""Names of the machines that share a crawl."""

from __future__ import annotations

import os
import secrets
import socket

from gossamer.data.folder import DataFolder

THINNER = "thin"
"""Writes segments anew without superseded visits: part of their names, and the name of its lock."""
MERGER = "merge"
"""Merges segments, likewise."""
REREADER = "reread"
"""Stores pages that were judged again, likewise."""


def machine_name(folder: DataFolder) -> str:
    """A name for this folder on this machine, the same as long as the folder exists; a copy of the folder on another
    machine has another one. Empty if the crawl has one machine."""
    if not folder.is_shared:
        return ""
    folder.create_run()
    path, token = folder.run / "machine", secrets.token_hex(4)
    if not path.exists():
        made = path.with_name(f"machine.{token}")
        made.write_text(token)
        try:
            os.link(made, path)
        except FileExistsError:
            pass
        except OSError:  # a file system without hard links
            made.replace(path)
        made.unlink(missing_ok=True)
    return f"{socket.gethostname()}-{path.read_text()}"


def helper_name(folder: DataFolder, role: str) -> str:
    """A name for the writer of segments in a role (`THINNER`, `MERGER`, `REREADER`); different on each machine."""
    token = machine_name(folder).rpartition("-")[2]
    return f"{role}-{token}" if token else role
