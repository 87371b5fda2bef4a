"""The crawlers as commands, what a run of one costs, and what it stored.

- gossamer: everything on (robots, text, duplicates, database, Parquet, WARC), synced to
  disk; as many workers as cores.
- scrapy: links only, nothing kept, or text as JSON lines; one process, also for many sites: what
  `scrapy crawl` gives.
- crawlee: Crawlee for Python with its parsel crawler; one process.
- wget2: a bare mirror in C; 16 threads; robots.txt obeyed.

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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import msgspec

from _figures import leave_out
from _nginx import memory_folder
from _sites import Served
from _stored import Document, crawlee_items, gossamer_pages, json_lines, mirrored_files
from _tree import kill_tree, tree_memory

REJECTED = r"^[^#?]*\.(css|js|png|jpe?g|gif|svg|ico|woff2?|ttf|eot|json|pdf|zip|gz)(\?.*)?$"
"""What wget2 would fetch besides pages, sitemaps and feeds: a mirror wants images and styles, a comparison does not."""

CONTACT = "bench@example.org"
_REQUIREMENTS = {"scrapy": "scrapy>=2.12", "crawlee": "crawlee[parsel]==1.11.0"}


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
    memory: int = 0
    """The most bytes that its processes held together, where they were watched."""


class Job(msgspec.Struct, frozen=True):
    """A command that crawls, in an empty folder of its own that is deleted after."""

    command: list[str]
    env: dict[str, str] = {}
    after: list[str] = []
    """A command whose JSON tells the crawler's own count."""


def measure(
    job: Job, folder: Path, seconds: float, watch: float = 0.0, stop: Callable[[], bool] = lambda: False
) -> Usage:
    """Runs a command to its end; kills it after `seconds` or when `stop` says so.

    With `watch`, its memory is looked at each so many seconds: a shorter peak may go unseen.
    """
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
        watcher = _Watcher(process.pid, watch)
        try:
            code, cpu = _wait_for_group(process, before + seconds, lambda: watcher.look() or stop())
        except BaseException:
            kill_tree(process.pid)
            raise
        wall = time.monotonic() - before
        said.seek(max(0, said.tell() - 2000))
        text = said.read().decode(errors="replace").strip()
        return Usage(wall, time.time(), cpu, code, text, watcher.peak)


class _Watcher:
    def __init__(self, root: int, interval: float) -> None:
        self._root = root
        self._interval = interval
        self._next = time.monotonic() if interval else float("inf")
        self.peak = 0

    def look(self) -> bool:
        """Looks when it is time to; never a reason to stop."""
        if time.monotonic() >= self._next:
            self.peak = max(self.peak, tree_memory(self._root))
            self._next = time.monotonic() + self._interval
        return False


def _wait_for_group(process: subprocess.Popen[bytes], deadline: float, stop: Callable[[], bool]) -> tuple[int, float]:
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
        elif deadline < float("inf") and (time.monotonic() > deadline or stop()):
            kill_tree(process.pid)
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

    def __init__(
        self,
        program: str,
        workers: int,
        archive: bool = True,
        profile: str = "",
        index: bool = False,
        more: tuple[str, ...] = (),
    ) -> None:
        self._program = program
        self._workers = workers
        self._archive = archive
        self._profile = profile
        self._index = index
        self._more = more

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Crawls to the end of the sites."""
        data = str(folder / "data")
        command = [self._program, "crawl", *(s.seed for s in sites), "--data", data, "--contact", CONTACT]
        command += ["--quiet", "--scope", "host", "--delay", "0", "--workers", str(self._workers)]
        command += ["--allow-network", "127.0.0.0/8", *self._more]
        # The others do not index what they fetch.
        if not self._index:
            command.append("--no-index")
        for site in sites:
            if site.source.host:
                command += ["--resolve", f"{site.host}={site.address}"]
        if not self._archive:
            command.append("--no-archive")
        if self._profile:
            command = [*profiler(self._profile), "--", *command]
        return Job(command, after=[self._program, "status", "--data", data, "--json"])

    def documents(self, sites: list[Served], folder: Path) -> list[Document]:
        """What it stored: copies of a text are not documents."""
        return gossamer_pages(self._program, folder / "data")

    def finds(self, query: str, folder: Path) -> bool:
        """Whether a search in what it stored finds anything."""
        command = [self._program, "search", query, "--data", str(folder / "data"), "--json"]
        return b'"url"' in subprocess.run(command, capture_output=True, check=False).stdout


def installed(names: Iterable[str], cache: Path, quick: bool) -> list[str]:
    """Those of the crawlers that can run; the others are named. A quick run installs nothing."""
    return [name for name in names if _is_there(name.partition("+")[0], cache, quick)]


def _is_there(name: str, cache: Path, quick: bool) -> bool:
    if name == "gossamer":
        return True
    if name == "wget2":
        if not shutil.which(name):
            leave_out(name, "get it with: apt-get install wget2")
        return shutil.which(name) is not None
    if name == "scrapy" and importlib.util.find_spec("scrapy"):
        return True
    if quick and not (cache / f"{name}-venv" / "ready").exists():
        leave_out(name, "not installed; a run without --quick installs it")
        return False
    try:
        _own_python(cache / f"{name}-venv", _REQUIREMENTS[name])
    except subprocess.CalledProcessError as error:
        leave_out(name, f"it could not be installed ({error})")
        return False
    return True


class Scrapy:
    """Scrapy, from this environment or one of its own in the cache folder."""

    name = "scrapy"

    def __init__(self, cache: Path, keep: bool = False, durable: bool = False) -> None:
        here = importlib.util.find_spec("scrapy") is not None
        self._python = sys.executable if here else _own_python(cache / "scrapy-venv", _REQUIREMENTS["scrapy"])
        self._task = {"keep": keep, "durable": durable}

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Follows every link of the sites."""
        task = self._task | {"seeds": [s.seed for s in sites], "resolve": _names(sites)}
        return Job([self._python, _beside("_scrapy_spider.py"), json.dumps(task)])

    def documents(self, sites: list[Served], folder: Path) -> list[Document]:
        """The lines it wrote."""
        return json_lines(folder / "documents.jsonl")


class Crawlee:
    """Crawlee for Python, from an environment of its own in the cache folder."""

    name = "crawlee"

    def __init__(self, cache: Path, durable: bool = False, insecure: bool = False) -> None:
        self._python = _own_python(cache / "crawlee-venv", _REQUIREMENTS["crawlee"])
        self._task = {"durable": durable, "insecure": insecure}

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Follows every link of the sites; where it is durable, the same command goes on."""
        if _names(sites):
            raise SystemExit("crawlee cannot be told a site's address: leave out the sites that are served by name")
        task = self._task | {"seeds": [s.seed for s in sites]}
        env = {"CRAWLEE_STORAGE_DIR": str(folder / "storage"), "CRAWLEE_PURGE_ON_START": "0", "no_proxy": "*"}
        return Job([self._python, _beside("_crawlee_spider.py"), json.dumps(task)], env)

    def documents(self, sites: list[Served], folder: Path) -> list[Document]:
        """The items of its data set."""
        return crawlee_items(folder / "storage" / "datasets" / "default", folder / "documents.json")


class Wget2:
    """GNU Wget2."""

    name = "wget2"

    def __init__(self, threads: int = 16, durable: bool = False) -> None:
        self._threads = threads
        self._durable = durable
        self._program = shutil.which("wget2")
        if not self._program:
            raise SystemExit("wget2 is not installed; get it with: apt-get install wget2, or leave it out with --only")

    def job(self, sites: list[Served], folder: Path) -> Job:
        """Mirrors the sites."""
        assert self._program
        command = [self._program, "--recursive", "--level=0", f"--max-threads={self._threads}", "--robots=on"]
        command += ["--quiet", "--progress=none", "--tries=1", "--no-config", "--no-hsts", "--no-xattr"]
        command += ["--filter-urls", f"--reject-regex={REJECTED}", "--fsync-policy=off"]
        if self._durable:
            # Of its ways to go on the one that spares most: --no-clobber fetches every page again.
            command.append("--timestamping")
        command += ["--directory-prefix=mirror", *(s.seed for s in sites)]
        # It has no option to resolve a name: a site served by name is asked for through
        # its own server as proxy, which changes the request line and nothing else.
        named = [s for s in sites if s.source.host]
        if not named:
            return Job(command, {"no_proxy": "*"})
        direct = ",".join(s.address for s in sites if not s.source.host)
        return Job(command, {"http_proxy": f"http://{named[0].address}:{named[0].port}", "no_proxy": direct})

    def documents(self, sites: list[Served], folder: Path) -> list[Document]:
        """The files of the mirror that are whole."""
        return mirrored_files(sites, folder / "mirror")


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
        "--rate",
        "50",
        "--format",
        kind,
        "-o",
        str(Path(target).resolve()),
    ]


def _own_python(folder: Path, requirement: str) -> str:
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists() or ready.read_text() not in ("", requirement):
        print(f"{requirement}: installing it into an environment of its own", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-qq", requirement], check=True)
        ready.write_text(requirement)
    return str(python)


def _beside(script: str) -> str:
    return str(Path(__file__).with_name(script))


class Crawler(Protocol):
    """What a benchmark can run."""

    name: str

    def job(self, sites: list[Served], folder: Path) -> Job:
        """The command that crawls the sites, or goes on with them."""

    def documents(self, sites: list[Served], folder: Path) -> list[Document]:
        """What it stored in the folder."""
