"""nginx on loopback addresses, and what its log says about each crawl.

One nginx with a configuration, folder and log of its own; nothing of the machine's
nginx is touched. The log lies in memory (`/dev/shm`) and is the benchmark's only
witness: pages are counted and crawling is timed from it, alike for every crawler.
Where nginx is not installed, `_plain_server.py` takes its place.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import unquote

import msgspec

from _figures import leave_out
from _plain_server import Place, Settings
from _sites import Served

_MAIN = """{user}daemon off; master_process on; worker_processes 2;
pid {folder}/pid; error_log {folder}/error.log;
events {{ worker_connections 2048; }}
http {{
  types {{ text/html html htm; text/plain txt; application/xml xml; }}
  default_type text/html; charset off;
  sendfile on; tcp_nopush on; tcp_nodelay on; gzip off; autoindex off; etag on;
  keepalive_timeout {keep_alive}; {tls} keepalive_requests 1000000; absolute_redirect off; open_file_cache max=50000;
  log_format bench '$msec\\t$server_addr\\t$host\\t$status\\t$request_method'
    '\\t$sent_http_content_type\\t$request_uri';
  access_log {log} bench;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
{servers}}}
"""
_SERVER = "  server {{ listen {address}:{port}{tls}; server_name {host}; root {root}; index index.html; }}\n"


class Tls(msgspec.Struct, frozen=True):
    """A certificate for all sites."""

    certificate: Path
    key: Path


class Hit(msgspec.Struct, frozen=True):
    """One request."""

    at: float
    """When its response had been sent, Unix time."""
    address: str
    host: str
    status: int
    method: str
    kind: str
    path: str
    """Percent-decoded."""

    @property
    def is_page(self) -> bool:
        """Whether it brought an HTML page."""
        return self.status == 200 and self.method == "GET" and self.kind.startswith("text/html")


class Nginx:
    """The server of a run; use it with `with`."""

    def __init__(self, sites: list[Served], tls: Tls | None = None, keep_alive: bool = True) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="gossamer-nginx-", dir=memory_folder())
        self._folder = Path(self._temporary.name)
        self._log = self._folder / "access.log"
        self._sites = sites
        self._tls = tls
        self._keep_alive = keep_alive
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._check_free()
        self._process = subprocess.Popen(self._command(), start_new_session=True)
        self._wait_until_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process:
            self._process.terminate()
            self._process.wait(10)
        self._temporary.cleanup()

    def _command(self) -> list[str]:
        program = nginx_program()
        if program:
            config = self._folder / "nginx.conf"
            config.write_text(self._config())
            return [program, "-e", str(self._folder / "error.log"), "-p", str(self._folder), "-c", str(config)]
        leave_out("nginx", "a server in Python serves instead and bounds the speed; apt-get install nginx-light")
        settings = self._folder / "settings.json"
        places = [Place(s.address, s.port, s.cut.folder) for s in self._sites]
        files = (str(self._tls.certificate), str(self._tls.key)) if self._tls else ("", "")
        settings.write_bytes(msgspec.json.encode(Settings(places, str(self._log), *files, self._keep_alive)))
        return [sys.executable, str(Path(__file__).with_name("_plain_server.py")), str(settings)]

    def _config(self) -> str:
        ssl, tls = ("", "")
        if self._tls:
            ssl, tls = " ssl", f"ssl_certificate {self._tls.certificate}; ssl_certificate_key {self._tls.key};"
        servers = "".join(
            _SERVER.format(address=s.address, port=s.port, tls=ssl, host=s.host, root=s.cut.folder) for s in self._sites
        )
        # As root, nginx would drop to a user who may not read the cache folder.
        user = "user root;\n" if os.geteuid() == 0 else ""
        keep_alive = "60s" if self._keep_alive else "0"
        return _MAIN.format(
            user=user, folder=self._folder, log=self._log, servers=servers, keep_alive=keep_alive, tls=tls
        )

    def _check_free(self) -> None:
        # nginx tries to bind for a while; meanwhile another run's server would answer in its place.
        for site in self._sites:
            with socket.socket() as probe:
                if probe.connect_ex((site.address, site.port)) == 0:
                    taken = f"{site.address}:{site.port}"
                    raise SystemExit(f"something serves {taken} already, maybe another run: use --port")

    def _wait_until_ready(self) -> None:
        assert self._process
        for _ in range(100):
            if self._process.poll() is not None:
                raise SystemExit(f"nginx did not start: {(self._folder / 'error.log').read_text().strip()}")
            try:
                for site in self._sites:
                    socket.create_connection((site.address, site.port), 1).close()
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit("nginx did not answer within 5 s")

    def cpu(self) -> float:
        """CPU seconds of its processes so far."""
        assert self._process
        master = self._process.pid
        children = Path(f"/proc/{master}/task/{master}/children").read_text().split()
        return sum(map(_cpu, [str(master), *children]))

    def answered(self) -> int:
        """How many requests it has answered since the log was taken."""
        return self._log.read_bytes().count(b"\n")

    def take_log(self) -> list[Hit]:
        """The requests since the last call."""
        lines = self._log.read_text(errors="replace").splitlines()
        # nginx appends, so that truncating under it leaves no hole.
        os.truncate(self._log, 0)
        return [_hit(line) for line in lines]


def nginx_program() -> str:
    """Its path; empty where it is not installed."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin") or ""


def memory_folder() -> str:
    """A folder in memory where there is one, else the usual temporary folder."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else tempfile.gettempdir()


def _hit(line: str) -> Hit:
    at, address, host, status, method, kind, path = line.split("\t")
    path = re.sub(r"^https?://[^/]+", "", path)
    return Hit(float(at), address, host, int(status), method, kind, unquote(path))


def _cpu(pid: str) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
