"""`gossamer serve` tells where it is, warns where it must, and fails in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from web_kit import SETTINGS, MemoryService, serving

from gossamer.cli.searching import serve as verb
from gossamer.compose import serve as servers
from gossamer.errors import OperationError, UsageError
from gossamer.settings import ServeSettings, Settings
from gossamer.web.service import Services

ADDRESS = "http://127.0.0.1:8017"


def serve(settings: ServeSettings, open_browser: bool = False) -> None:
    """A server without a crawl, as the verb starts it."""
    server = servers.search_server(Services(MemoryService()), settings, verb.warn)
    verb.run_server(server, Path("no-data"), open_browser)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ServeSettings]:
    """The settings of servers that would have been started; nothing listens."""
    seen: list[ServeSettings] = []

    def run(app: object, settings: ServeSettings, ready: Callable[[str], None]) -> None:
        seen.append(settings)
        ready(ADDRESS)

    monkeypatch.setattr(servers, "run", run)
    return seen


def test_the_address_is_printed(started: list[ServeSettings], capsys: pytest.CaptureFixture[str]) -> None:
    serve(SETTINGS)
    printed = capsys.readouterr()
    assert ADDRESS in printed.out and printed.err == ""


def test_listening_beyond_loopback_warns(started: list[ServeSettings], capsys: pytest.CaptureFixture[str]) -> None:
    serve(msgspec.structs.replace(SETTINGS, host="0.0.0.0", base_url="https://s.example.org"))
    printed = capsys.readouterr()
    assert "Other machines can reach this server" in printed.err
    assert "https://s.example.org" in printed.out


def test_a_browser_opens_on_request_only(started: list[ServeSettings], monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(verb.webbrowser, "open", opened.append)
    serve(SETTINGS)
    assert opened == []
    serve(SETTINGS, open_browser=True)
    assert opened == [ADDRESS]


def test_options_win_over_the_settings(
    started: list[ServeSettings], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def service(data: Path, settings: Settings, desk: object = None) -> MemoryService:
        return MemoryService()

    monkeypatch.setattr(servers, "open_service", service)
    (tmp_path / "gossamer.toml").write_text('[serve]\nport = 9000\ntitle = "Ours"\n')
    verb.command(data=tmp_path)
    verb.command(data=tmp_path, host="127.0.0.2", port=0)
    assert [(s.host, s.port, s.title) for s in started] == [("127.0.0.1", 9000, "Ours"), ("127.0.0.2", 0, "Ours")]


def test_a_port_in_use_is_one_sentence() -> None:
    with serving() as address:
        taken = msgspec.structs.replace(SETTINGS, port=int(address.rpartition(":")[2]))
        with pytest.raises(OperationError, match="choose another --port"):
            serve(taken)


def test_a_wrong_setting_is_named_before_anything_listens(started: list[ServeSettings]) -> None:
    with pytest.raises(UsageError, match=r"serve\.proxies"):
        serve(msgspec.structs.replace(SETTINGS, proxies=("everybody",)))
    assert started == []
