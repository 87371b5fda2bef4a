"""A browser that cannot be started is a sentence, whatever the machine lacks."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from gossamer.errors import OperationError
from gossamer.fetch.browser import Renderer
from gossamer.fetch.browser_config import BrowserConfig
from gossamer.model.outcome import Outcome
from gossamer.model.records import Response


async def test_a_browser_without_room_for_its_files_is_told_and_nothing_else_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("playwright")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    page = Response("https://a.test/", Outcome.DOCUMENT, 1.0, 1.0, 1.0, 200, body=b"<p>A page.")

    async def nothing(_request: object) -> Response:
        raise AssertionError("nothing is loaded")

    async with Renderer(BrowserConfig(executable=sys.executable), "agent") as renderer:
        with pytest.raises(OperationError, match="cannot start Chromium"):
            await renderer.render("https://a.test/", page, nothing)
