"""The one-container recipe without a container: the steps of the Dockerfile in a fresh Debian folder, then the command
of compose.single.yaml in it, cut off from every network but loopback; a site is added and searched.

The base image is Debian 12 with Python 3.11, which debootstrap makes from the packages of Debian. Whatever pip and apt
of this machine are configured with, they are given in the folder, too.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SUITE = "bookworm"
BASE = "python3,python3-venv,ca-certificates"
"""What the base image `python:3.11-slim-bookworm` has beside Debian."""
LONG = 3000
_PASSED_ON = ("PIP_", "SSL_", "http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
_SITE = r"""
import http.client, http.server, pathlib, threading, subprocess, sys, time, urllib.request
page = b"<html lang=en><title>The container</title><body><p>A weaver in a box spins silk from wall to wall, and the box"
page += b" is moved across the sea without a thread being lost on the way to the harbour.</p></body></html>"

class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        found = self.path == "/"
        self.send_response(200 if found else 404)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(page if found else b"")
    def log_message(self, *words): pass

threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", 8099), Page).serve_forever, daemon=True).start()

def ask(path):
    try:
        with urllib.request.urlopen("http://127.0.0.1:8017" + path, timeout=120) as answer:
            return answer.read().decode()
    except (OSError, http.client.HTTPException):  # not there yet, or it takes long
        return ""

def until(what, path, wanted):
    until = time.monotonic() + 1200
    while time.monotonic() < until:
        if wanted in ask(path): return
        if run.poll() is not None: sys.exit(f"gossamer run ended with {run.returncode}")
        time.sleep(0.5)
    sys.exit(f"{what}: {path} never had {wanted!r}")

# The site is on this machine, which has to be allowed; one on the Internet would only need a contact.
pathlib.Path("/data/gossamer.toml").write_text('[network]\nallow = ["127.0.0.0/8"]\n')
run = subprocess.Popen(["gossamer", *sys.argv[1:]])
until("the server", "/healthz", "ok")
until("the console", "/console/login", "Password")
for words in ("accounts add ada --role operator --generate", "inject http://127.0.0.1:8099/"):
    subprocess.run(["gossamer", *words.split(), "--data", "/data"], check=True)
until("the crawl", "/api/v1/search?q=weaver+silk", "The container")
run.terminate()
print("ended", run.wait(600))
"""


def why_not() -> str:
    """Why it cannot be tried here; empty where it can."""
    if os.geteuid() != 0:
        return "only root can make a Debian folder and change into it"
    missing = [name for name in ("debootstrap", "chroot", "unshare") if not shutil.which(name)]
    if missing:
        return f"{', '.join(missing)} is not installed (apt-get install debootstrap)"
    done = subprocess.run(["unshare", "-n", "-m", "true"], capture_output=True, check=False)
    return "this system allows no namespaces (unshare -nm)" if done.returncode else ""


_WHY_NOT = why_not()
pytestmark = pytest.mark.skipif(bool(_WHY_NOT), reason=_WHY_NOT)


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A fresh Debian in a folder. What is mounted there is mounted for single commands, in namespaces of their own, so
    nothing is left behind, whatever happens."""
    root = tmp_path_factory.mktemp("debian") / "root"
    command = ["debootstrap", "--variant=minbase", f"--include={BASE}", SUITE, str(root), *_mirror()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)
    if done.returncode and "Failed getting release file" in done.stdout + done.stderr:
        pytest.skip("no mirror of Debian can be reached")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    for path in (Path("/etc/resolv.conf"), Path("/etc/pip.conf"), Path("/etc/ssl/certs/ca-certificates.crt")):
        if path.exists():
            shutil.copy(path, root / path.relative_to("/"))
    (root / "usr/bin/python").symlink_to("python3")
    root.chmod(0o755)  # it is the `/` of a user other than root
    yield root
    shutil.rmtree(root, ignore_errors=True)


def _mirror() -> list[str]:
    """Where apt of this machine finds Debian."""
    for path in (Path("/etc/apt/sources.list.d/debian.sources"), Path("/etc/apt/sources.list")):
        text = path.read_text() if path.exists() else ""
        if found := re.search(r"^(?:URIs:|deb)\s+(?:\[.*?\]\s+)?(https?://\S+)", text, re.MULTILINE):
            return [found[1]]
    return []


def local_places() -> list[Path]:
    """Folders of this machine from which pip installs."""
    found = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    named = re.findall(r"(?:file://)?(/[^\s']+)", found.stdout + os.environ.get("PIP_FIND_LINKS", ""))
    tops = {Path(*Path(name).parts[:3]) for name in named}
    return sorted(top for top in tops if top.is_dir() and top.parts[1] in ("opt", "srv", "mnt"))


def inside(root: Path, command: list[str], *, network: bool, user: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command in the folder, with what a container has: /proc, /dev, a user; without a network but loopback."""
    mounts = [f'mount -t proc proc "{root}/proc"', f'mount --rbind /dev "{root}/dev"']
    mounts += [f'mkdir -p "{root}{place}" && mount --bind "{place}" "{root}{place}"' for place in local_places()]
    alone = ["unshare", "-m", "-p", "-f", "--kill-child=SIGKILL", *([] if network else ["-n"])]
    start = ["chroot", *([f"--userspec={user}"] if user else []), str(root), *command]
    up = [] if network else ["ip link set lo up"]
    script = " && ".join([*mounts, *up, 'exec "$0" "$@"'])
    kept = {name: value for name, value in os.environ.items() if name.startswith(_PASSED_ON)}
    environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", **kept}
    process = subprocess.Popen(
        [*alone, "sh", "-ec", script, *start], env=environment, text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    try:
        output, _ = process.communicate(timeout=LONG)
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return subprocess.CompletedProcess(command, process.returncode, output)


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile, line by line."""
    text = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", (DEPLOY / "Dockerfile").read_text(), flags=re.MULTILINE))
    return [(line.partition(" ")[0], line.partition(" ")[2].strip()) for line in text.splitlines() if line.strip()]


def copy_source(to: Path) -> None:
    """What Dockerfile.dockerignore lets into the image."""
    to.mkdir(parents=True)
    for name in re.findall(r"^!(\S+)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, to / name)


@pytest.mark.timeout(5 * LONG)
def test_the_image_is_built_step_by_step_and_its_command_crawls_serves_and_ends(debian: Path) -> None:
    places = {"WORKDIR": "/"}
    entry: list[str] = []
    for word, rest in instructions():
        if word == "WORKDIR":
            places["WORKDIR"] = rest
            (debian / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "COPY" and rest == ". .":
            shutil.rmtree(debian / "src", ignore_errors=True)
            copy_source(debian / "src")
        elif word == "RUN":
            done = inside(debian, ["sh", "-ec", f"cd {places['WORKDIR']} && {rest}"], network=True)
            assert done.returncode == 0, f"{rest}\n{done.stdout[-4000:]}"
        elif word == "ENTRYPOINT":
            entry = json.loads(rest)
        elif word == "FROM":
            places["WORKDIR"] = "/"
            assert rest.startswith("python:3.11-slim-bookworm")  # what the folder stands for
    assert entry == ["tini", "--", "gossamer"]
    single = yaml.safe_load((DEPLOY / "compose.single.yaml").read_text())["services"]["gossamer"]
    (debian / "tmp" / "try.py").write_text(_SITE)
    words = ["env", "PATH=/opt/gossamer/bin:/usr/bin:/bin", "HOME=/data", "tini", "--", "python3", "/tmp/try.py"]
    done = inside(debian, [*words, *single["command"]], network=False, user="10001:10001")
    assert done.returncode == 0, done.stdout[-6000:]
    assert done.stdout.rstrip().endswith("ended 0"), done.stdout[-6000:]
    assert "Nothing to crawl yet: add a site on the console" in done.stdout
