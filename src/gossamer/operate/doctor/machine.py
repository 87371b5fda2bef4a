"""Checks of the machine and its settings: programs, files, disk, clock, network."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import re
import resource
import socket
import tempfile
from collections.abc import Iterator
from importlib import metadata, util
from pathlib import Path
from urllib.parse import urlsplit

from gossamer.errors import GossamerError, UsageError
from gossamer.fetch.browser_start import find_chromium
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.operate.doctor.checks import Check, Finding, Patient, bad, ok, warn
from gossamer.settings import FILE_NAME, Settings

_UNSYNCHRONISED = 5
"""What the kernel answers where nobody sets its clock right (TIME_ERROR)."""
_EARLIEST = 1_735_689_600.0
"""The year 2025: an earlier clock was never set."""
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?")
"""A library and what of it is wanted, as the package's own data name it."""
_SECONDS = 5.0
"""How long another machine is waited for."""
_HOSTS = 3
"""Seeds whose servers are tried."""


def libraries(patient: Patient) -> Iterator[Finding]:
    """Whether everything is installed that the program needs, in a version that fits."""
    wrong = [problem for text in metadata.requires("gossamer") or () if (problem := _wrong(text))]
    if wrong:
        advice = "install Gossamer anew, in an environment of its own"
        yield bad("libraries", f"they do not fit: {', '.join(wrong)}", advice)
    else:
        version = metadata.version("gossamer")
        yield ok("libraries", f"Gossamer {version} on Python {platform.python_version()}, with all it needs")


def _wrong(text: str) -> str:
    """What is wrong with a library that is asked for like this; empty where nothing is."""
    wanted, _, marker = text.partition(";")
    match = _REQUIREMENT.match(wanted)
    if match is None or "extra" in marker:
        return ""
    name, limits = match[1], re.findall(r"(>=|<)\s*([0-9.]+)", wanted)
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return f"{name} is not installed"
    fits = all((_numbers(found) >= _numbers(limit)) == (sign == ">=") for sign, limit in limits)
    return "" if fits else f"{name} is {found}, not {wanted.removeprefix(match[0]).strip()}"


def _numbers(version: str) -> list[int]:
    """A version that can be compared, without what follows its numbers."""
    found = [int(part) for part in re.findall(r"[0-9.]*", version)[0].strip(".").split(".") if part]
    while found and not found[-1]:  # 2.0 is 2
        found.pop()
    return found


def extras(patient: Patient) -> Iterator[Finding]:
    """Optional parts that the settings ask for."""
    settings = patient.settings
    wanted = {
        "postgres": ("psycopg", bool(settings.storage.database)),
        "s3": ("obstore", settings.storage.segments.startswith("s3:") or settings.engine.work.startswith("s3:")),
        "cluster": ("ray", settings.engine.kind == "ray"),
        "spark": ("pyspark", settings.engine.kind == "spark"),
    }
    for extra, (module, is_wanted) in wanted.items():
        if is_wanted and util.find_spec(module) is None:
            yield bad("extras", f"the settings need the extra {extra}, which is not installed",
                      f"pip install 'gossamer[{extra}]'")  # fmt: skip
    if util.find_spec("pypdfium2") is None:
        yield warn("extras", "PDF files are not read", "pip install 'gossamer[pdf]'")
    else:
        yield ok("extras", "PDF files are read")


def browser(patient: Patient) -> Iterator[Finding]:
    """Chromium, where pages are to be rendered."""
    if not _renders(patient.settings):
        return
    try:
        yield ok("browser", f"pages are rendered with {find_chromium(patient.settings.browser.executable)}")
    except UsageError as error:
        yield bad("browser", str(error), "install it, or set browser.mode to off")


def _renders(settings: Settings) -> bool:
    sites = (getattr(site, "javascript", "") for site in settings.sites.values())
    return settings.browser.mode != "off" or any(mode not in ("", None, False, "off") for mode in sites)


def settings_file(patient: Patient) -> Iterator[Finding]:
    """Whether the settings can be read, and make sense."""
    path = patient.data / FILE_NAME
    if isinstance(patient.loaded, GossamerError):
        yield bad("settings", str(patient.loaded), f"put {path} right; docs/settings.md lists every setting")
    elif path.exists():
        yield ok("settings", f"{path} is in order")
    else:
        yield ok("settings", f"there is no {path}: all settings have their defaults")


def contact(patient: Patient) -> Iterator[Finding]:
    """Whom webmasters can write to."""
    address = patient.settings.crawl.contact
    if address:
        yield ok("contact", f"servers are told to write to {address}")
    else:
        yield warn("contact", "no contact address is set, so only this machine is crawled",
                   'set crawl.contact = "you@example.org" in gossamer.toml')  # fmt: skip


def data_folder(patient: Patient) -> Iterator[Finding]:
    """Whether the folder can be written, and what is written is safe."""
    folder = patient.data
    if not folder.is_dir():
        yield warn("folder", f"{folder} is not there yet", "`gossamer init` or `gossamer crawl` make it")
        return
    try:
        descriptor, name = tempfile.mkstemp(".doctor", ".gossamer-", folder)
    except OSError as error:
        yield bad("folder", f"nothing can be written in {folder}: {error.strerror}",
                  "check owner and permissions, and whether the disk is mounted read-only")  # fmt: skip
        return
    try:
        os.write(descriptor, b"gossamer")
        os.fsync(descriptor)
        yield ok("folder", f"{folder} can be written")
    except OSError as error:
        yield bad(
            "folder", f"what is written in {folder} is not safe: {error.strerror}", "check the disk, and its room"
        )
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            Path(name).unlink()


def disk(patient: Patient) -> Iterator[Finding]:
    """Room for more, and for more files."""
    settings = patient.settings
    place = patient.data if patient.data.is_dir() else Path.cwd()
    free = _free_mebibytes(patient, place)
    least, low = settings.crawl.min_free_disk, settings.alerts.disk_low
    if free < least:
        yield bad("disk", f"{free} MiB are free: below {least} (crawl.min_free_disk) no crawl runs", "free some space")
    elif free < low:
        yield warn("disk", f"{free} MiB are free, less than {low} (alerts.disk_low)", "free some space soon")
    else:
        yield ok("disk", f"{free} MiB are free")
    found = os.statvfs(place)
    if found.f_files and found.f_favail < found.f_files // 50:
        yield bad("disk", f"only {found.f_favail} more files fit on the disk (inodes)", "delete what is not needed")


def _free_mebibytes(patient: Patient, place: Path) -> int:
    try:
        return patient.folder.free_mebibytes()
    except (GossamerError, OSError):
        found = os.statvfs(place)
        return found.f_bavail * found.f_frsize // (1024 * 1024)


def open_files(patient: Patient) -> Iterator[Finding]:
    """How many files and connections a process may have open."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A download has a connection and at times a file; parsers, database and index need some hundred.
    needed = 2 * patient.settings.crawl.downloads + 256
    if soft != resource.RLIM_INFINITY and soft < needed:
        yield warn("open files", f"a process may open {soft} files, a worker may need {needed}",
                   f"`ulimit -n {max(needed, 4096)}`, or LimitNOFILE= in the systemd unit")  # fmt: skip
    else:
        yield ok("open files", "enough for the downloads of a worker")


def clock(patient: Patient) -> Iterator[Finding]:
    """Whether the machine knows the time."""
    now = patient.clock.now()
    if now < _EARLIEST:
        yield bad("clock", "the clock of this machine was never set", "set it, best by NTP (systemd-timesyncd, chrony)")
        return
    if _kernel_clock() == _UNSYNCHRONISED:
        yield warn("clock", "the system clock is not synchronised",
                   "run an NTP service (systemd-timesyncd, chrony); in a container, on its host")  # fmt: skip
    else:
        yield ok("clock", "the clock is set")


def _kernel_clock() -> int:
    """What the kernel says of its clock; -1 where it cannot be asked."""
    try:
        return int(ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(512)))
    except (OSError, AttributeError):
        return -1


def names_and_servers(patient: Patient) -> Iterator[Finding]:
    """Whether names resolve and servers answer; only where the network is to be asked."""
    db = patient.database
    if not patient.network:
        return
    seeds = seed_urls(db)[:50] if db else []
    hosts: dict[tuple[str, int], str] = {}
    for seed in seeds:
        parts = urlsplit(seed)
        if parts.hostname:
            hosts.setdefault((parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)), seed)
    if not hosts:
        yield warn("network", "there are no seeds whose servers could be tried", "crawl something first")
    for host, port in list(hosts)[:_HOSTS]:
        yield _reached(host, port, patient.settings.network.resolve.get(host, host))


def _reached(host: str, port: int, target: str) -> Finding:
    try:
        with socket.create_connection((target, port), _SECONDS):
            return ok("network", f"{host} answers on port {port}")
    except socket.gaierror as error:
        return bad("network", f"{host} has no address: {error.strerror}", "check the DNS of this machine, and the name")
    except OSError as error:
        return bad("network", f"{host} port {port} cannot be reached: {error.strerror or error}",
                   "check firewall and proxy of this machine, and whether the server is up")  # fmt: skip


CHECKS: tuple[Check, ...] = (
    libraries, extras, settings_file, contact, data_folder, disk, open_files, clock, browser, names_and_servers,
)  # fmt: skip
