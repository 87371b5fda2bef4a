"""The server of the benchmarks, nginx or the one in Python: the same answers and the same log."""

from __future__ import annotations

import http.client
import socket
import ssl
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[3] / "bench"))
import _nginx
from _cut import Cut
from _nginx import Nginx, nginx_program
from _sites import Served, Source
from _today_web import make_certificate

ADDRESS = "127.0.2.240"


@pytest.fixture(params=["nginx", "python"])
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "python":
        monkeypatch.setattr(_nginx, "nginx_program", lambda: "")
    elif not nginx_program():
        pytest.skip("nginx is not installed")
    return str(request.param)


@pytest.fixture
def site(tmp_path: Path) -> Served:
    (tmp_path / "www" / "below").mkdir(parents=True)
    (tmp_path / "www" / "index.html").write_text("<title>Start</title>")
    (tmp_path / "www" / "below" / "index.html").write_text("<title>Below</title>")
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port = int(probe.getsockname()[1])
    return Served(Source("made-up", "", "/"), Cut(str(tmp_path / "www"), "/", ["/"], 0.0, 0.0), ADDRESS, port)


def test_files_folders_and_what_is_not_there(program: str, site: Served) -> None:
    with Nginx([site]) as server:
        server.take_log()
        connection = http.client.HTTPConnection(site.address, site.port, timeout=10)
        answers = []
        for path in ("/", "/below/", "/below", "/none.html", "/../secret"):
            connection.request("GET", path, headers={"Host": site.host})
            answer = connection.getresponse()
            answers.append((answer.status, b"Below" in answer.read()))
        hits = server.take_log()
    assert answers[:4] == [(200, False), (200, True), (301, False), (404, False)]
    assert answers[4][0] in (400, 404)
    assert [(hit.host, hit.path, hit.is_page) for hit in hits[:3]] == [
        (ADDRESS, "/", True), (ADDRESS, "/below/", True), (ADDRESS, "/below", False)
    ]  # fmt: skip


def test_over_tls_with_a_connection_for_each_answer(program: str, site: Served, tmp_path: Path) -> None:
    authority, tls = make_certificate([ADDRESS], tmp_path)
    trusting = ssl.create_default_context(cafile=str(authority))
    with Nginx([site], tls, keep_alive=False):
        for _ in range(2):
            connection = http.client.HTTPSConnection(site.address, site.port, timeout=10, context=trusting)
            connection.request("GET", "/")
            answer = connection.getresponse()
            assert answer.status == 200 and answer.getheader("Connection") == "close"
            assert b"Start" in answer.read()
        stranger = http.client.HTTPSConnection(site.address, site.port, timeout=10)
        with pytest.raises(ssl.SSLCertVerificationError):
            stranger.request("GET", "/")
