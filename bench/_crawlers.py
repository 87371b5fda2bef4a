"""The three crawlers as commands, and what a run of one costs.

- gossamer: everything on (robots, text, duplicates, database, Parquet, WARC), synced to
  disk; as many workers as cores.
- scrapy: links only, nothing kept; one process, also for many sites: what `scrapy crawl` gives.
- wget2: a bare mirror in C, files in memory; 16 threads; robots.txt obeyed.

CPU seconds are those of the whole process tree: a command runs in a process group of
its own, and the group is waited for until it is empty, so that no child goes uncounted.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from _nginx import memory_folder
from _sites import Served

REJECTED = r"^[^#?]*\.(css|js|png|jpe?g|gif|svg|ico|woff2?|ttf|eot|xml|rss|json|pdf|zip|gz)(\?.*)?$"
"""What wget2 would fetch besides pages: a mirror wants images and styles, a comparison does not."""

CONTACT = "bench@example.org"


class Usage(msgspec.Struct, frozen=True):
    """What a command cost."""

    wall: float
    """Seconds from start to end."""
    ended: float
    """Unix time of its end."""
    cpu: float
    code: int
    said: str
    """The end of what it wrote."""


class Job(msgspec.Struct, frozen=True):
    """A command that crawls, in an empty folder of its own that is deleted after."""

    command: list[str]
    env: dict[str, str] = {}
    after: list[str] = []
    """A command whose JSON tells the crawler's own count."""


def measure(job: Job, folder: Path, seconds: float) -> Usage:
    """Runs a command to its end; one that takes longer than `seconds` is stopped."""
    with (folder / "said").open("w+b") as said:
        before = time.monotonic()
        process = subprocess.Popen(
            job.command,
            cwd=folder,
            env=os.environ | job.env,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        try:
            code, cpu = _wait_for_group(process, before + seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        wall = time.monotonic() - before
        said.seek(max(0, said.tell() - 2000))
        return Usage(wall, time.time(), cpu, code, said.read().decode(errors="replace").strip())


def _wait_for_group(process: subprocess.Popen[bytes], deadline: float) -> tuple[int, float]:
    """Exit code of the leader and CPU seconds of all."""
    code, cpu = 0, 0.0
    while True:
        try:
            pid, status, used = os.wait4(-process.pid, os.WNOHANG)
        except ChildProcessError:
            break
        if pid:
            cpu += used.ru_utime + used.ru_stime
            if pid == process.pid:
                code = process.returncode = os.waitstatus_to_exitcode(status)
        elif time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)
            deadline = float("inf")
        else:
            time.sleep(0.005)
    return code, cpu


def become_reaper() -> None:
    """Makes orphans of a crawler children of this process, so that their CPU time is counted."""
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)


def end_cleanly_when_told() -> None:
    """Makes SIGTERM end the script as an error does, so that the server and the crawler end too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))


class Gossamer:
    """Our crawler, from the environment this script runs in."""

    name = "gossamer"

    def __init__(self, program: str, workers: int, archive: bool = True, profile: str = "") -> None:
        self._program = program
        self._workers = workers
        self._archive = archive
        self._profile = profile

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Crawls to the end of the sites."""
        data = str(folder / "data")
        command = [self._program, "crawl", *(s.seed for s in sites), "--data", data, "--contact", CONTACT]
        # The others do not index what they fetch.
        command += ["--quiet", "--no-index", "--scope", "host", "--delay", "0", "--workers", str(self._workers)]
        command += ["--allow-network", "127.0.0.0/8"]
        for site in sites:
            if site.source.host:
                command += ["--resolve", f"{site.host}={site.address}"]
        if not self._archive:
            command.append("--no-archive")
        if self._profile:
            command = [*profiler(self._profile), "--", *command]
        return Job(command, after=[self._program, "status", "--data", data, "--json"])


class Scrapy:
    """Scrapy, from this environment or one of its own in the cache folder."""

    name = "scrapy"

    def __init__(self, cache: Path) -> None:
        self._python = _scrapy_python(cache)

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Follows every link of the sites."""
        task = {"seeds": [s.seed for s in sites], "resolve": _names(sites)}
        script = str(Path(__file__).with_name("_scrapy_spider.py"))
        return Job([self._python, script, json.dumps(task)])


class Wget2:
    """GNU Wget2."""

    name = "wget2"

    def __init__(self, threads: int = 16) -> None:
        self._threads = threads
        self._program = shutil.which("wget2")
        if not self._program:
            raise SystemExit("wget2 is not installed; get it with: apt-get install wget2, or leave it out with --only")

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Mirrors the sites into memory."""
        assert self._program
        command = [self._program, "--recursive", "--level=0", f"--max-threads={self._threads}", "--robots=on"]
        command += ["--quiet", "--progress=none", "--tries=1", "--no-config", "--no-hsts", "--no-xattr"]
        command += ["--filter-urls", f"--reject-regex={REJECTED}", "--fsync-policy=off"]
        command += ["--directory-prefix=mirror", *(s.seed for s in sites)]
        # It has no option to resolve a name: a site served by name is asked for through
        # its own server as proxy, which changes the request line and nothing else.
        named = [s for s in sites if s.source.host]
        if not named:
            return Job(command, {"no_proxy": "*"})
        direct = ",".join(s.address for s in sites if not s.source.host)
        return Job(command, {"http_proxy": f"http://{named[0].address}:{named[0].port}", "no_proxy": direct})


def _names(sites: list[Served]) -> dict[str, str]:
    return {s.host: s.address for s in sites if s.source.host}


def folder_for(crawler: str) -> tempfile.TemporaryDirectory[str]:
    """An empty folder: on disk for what must be durable, in memory for the others."""
    parent = None if crawler == "gossamer" else memory_folder()
    return tempfile.TemporaryDirectory(prefix=f"bench-{crawler}-", dir=parent, ignore_cleanup_errors=True)


def find_gossamer(given: str) -> str:
    """The command of this environment, or of the path."""
    beside = Path(sys.executable).with_name("gossamer")
    found = given or (str(beside) if beside.exists() else shutil.which("gossamer"))
    if not found:
        raise SystemExit("gossamer is not installed in this environment; install it, or leave it out with --only")
    return found


def profiler(target: str) -> list[str]:
    """py-spy over the whole process tree; the file's suffix chooses its format."""
    formats: dict[str, str] = {".svg": "flamegraph", ".json": "speedscope"}
    beside = Path(sys.executable).with_name("py-spy")
    program = str(beside) if beside.exists() else "py-spy"
    kind = formats.get(Path(target).suffix, "raw")
    return [
        program,
        "record",
        "--subprocesses",
        "--native",
        "--rate",
        "200",
        "--format",
        kind,
        "-o",
        str(Path(target).resolve()),
    ]


def _scrapy_python(cache: Path) -> str:
    if importlib.util.find_spec("scrapy"):
        return sys.executable
    folder = cache / "scrapy-venv"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        print("scrapy: installing it into an environment of its own", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", "scrapy>=2.12"], check=True)
        (folder / "ready").touch()
    return str(python)


Crawler = Gossamer | Scrapy | Wget2
MakeCrawler = Callable[[], Crawler]
