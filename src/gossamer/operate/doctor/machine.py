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
from importlib import import_module, metadata, util
from pathlib import Path
from urllib.parse import urlsplit

from gossamer import compiled
from gossamer.errors import GossamerError, UsageError
from gossamer.fetch.browser_start import find_chromium
from gossamer.frontier.views.seed_view import seed_urls
from gossamer.operate.doctor.checks import Check, Finding, Patient, bad, ok, warn
from gossamer.parse.document_types import TYPES
from gossamer.plugins import is_readable
from gossamer.settings import FILE_NAME, Settings

_UNSYNCHRONISED = 5
"""The kernel's state of a clock that is not synchronised (TIME_ERROR)."""
_EARLIEST = 1_735_689_600.0
"""The year 2025: a clock before it was never set."""
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[[^]]*\])?")
"""A requirement in the package's own metadata: library and version."""
_SECONDS = 5.0
"""Seconds to wait for another machine."""
_HOSTS = 3
"""Seeds whose servers are tried."""


def libraries(patient: Patient) -> Iterator[Finding]:
    """Whether all libraries are installed in versions that fit."""
    wrong = [problem for text in metadata.requires("gossamer") or () if (problem := _wrong(text))]
    if wrong:
        advice = "reinstall Gossamer, in an environment of its own"
        yield bad("libraries", f"wrong versions: {', '.join(wrong)}", advice)
    else:
        version = metadata.version("gossamer")
        yield ok("libraries", f"Gossamer {version} on Python {platform.python_version()}, with all libraries it needs")


def _wrong(text: str) -> str:
    """What is wrong with the library of a requirement; empty if nothing is."""
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
    """The numbers of a version, comparable."""
    found = [int(part) for part in re.findall(r"[0-9.]*", version)[0].strip(".").split(".") if part]
    while found and not found[-1]:  # 2.0 equals 2
        found.pop()
    return found


def compiled_modules(patient: Patient) -> Iterator[Finding]:
    """Whether pages are read by compiled code."""
    for asks in ("gossamer.parse.text.model", "gossamer.dedup.near.minhash"):
        import_module(asks)
    if not (refused := compiled.refused()):
        yield ok("compiled", f"pages are read by compiled code: {', '.join(compiled.running())}")
    elif os.environ.get(compiled.SWITCH):
        yield ok("compiled", f"pages are read by Python code, since {compiled.SWITCH} is set")
    else:
        reasons = ", ".join(f"{name}: {reason}" for name, reason in sorted(refused.items()))
        yield ok("compiled", f"pages are read by Python code, which takes longer and finds the same ({reasons}); "
                 "with a C compiler `pip install` builds the rest")  # fmt: skip


def extras(patient: Patient) -> Iterator[Finding]:
    """Whether optional libraries that the settings need are installed."""
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
    for one in TYPES:
        if not is_readable(one):
            yield warn("extras", f"{one.noun} are not read", f"pip install 'gossamer[{one.extra}]'")
        elif one.extra:
            yield ok("extras", f"{one.noun} are read")


def browser(patient: Patient) -> Iterator[Finding]:
    """Whether Chromium is there, if pages are to be rendered."""
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
    """Whether the settings can be read and make sense."""
    path = patient.data / FILE_NAME
    if isinstance(patient.loaded, GossamerError):
        yield bad("settings", str(patient.loaded), f"correct {path}; docs/settings.md lists every setting")
    elif path.exists():
        yield ok("settings", f"{path} is valid")
    else:
        yield ok("settings", f"there is no {path}: every setting has its default")


def contact(patient: Patient) -> Iterator[Finding]:
    """Whether webmasters can reach the operator."""
    address = patient.settings.crawl.contact
    if address:
        yield ok("contact", f"every request names {address} as contact")
    else:
        yield warn("contact", "no contact address is set, so Gossamer crawls this machine only",
                   'set crawl.contact = "you@example.org" in gossamer.toml')  # fmt: skip


def data_folder(patient: Patient) -> Iterator[Finding]:
    """Whether the folder can be written and synced."""
    folder = patient.data
    if not folder.is_dir():
        yield warn("folder", f"{folder} does not exist yet", "`gossamer init` or `gossamer crawl` creates it")
        return
    try:
        descriptor, name = tempfile.mkstemp(".doctor", ".gossamer-", folder)
    except OSError as error:
        yield bad("folder", f"{folder} cannot be written: {error.strerror}",
                  "check owner and permissions, and whether the disk is mounted read-only")  # fmt: skip
        return
    try:
        os.write(descriptor, b"gossamer")
        os.fsync(descriptor)
        yield ok("folder", f"{folder} can be written")
    except OSError as error:
        yield bad(
            "folder",
            f"files in {folder} cannot be synced to disk: {error.strerror}",
            "check the disk and its free space",
        )
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):
            Path(name).unlink()


def disk(patient: Patient) -> Iterator[Finding]:
    """Whether there is space, and inodes, for more files."""
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
        yield bad(
            "disk", f"only {found.f_favail} more files fit on the disk (inodes)", "delete files that you do not need"
        )


def _free_mebibytes(patient: Patient, place: Path) -> int:
    try:
        return patient.folder.free_mebibytes()
    except (GossamerError, OSError):
        found = os.statvfs(place)
        return found.f_bavail * found.f_frsize // (1024 * 1024)


def open_files(patient: Patient) -> Iterator[Finding]:
    """Whether a process may open enough files and connections."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    # A download has a connection and sometimes a file; parsers, database and index need a few hundred.
    needed = 2 * patient.settings.crawl.downloads + 256
    if soft != resource.RLIM_INFINITY and soft < needed:
        yield warn("open files", f"a process may open {soft} files, a worker may need {needed}",
                   f"`ulimit -n {max(needed, 4096)}`, or LimitNOFILE= in the systemd unit")  # fmt: skip
    else:
        yield ok("open files", "enough for the downloads of a worker")


def clock(patient: Patient) -> Iterator[Finding]:
    """Whether the system clock is set."""
    now = patient.clock.now()
    if now < _EARLIEST:
        yield bad(
            "clock",
            "the clock of this machine was never set",
            "set it, preferably with NTP (systemd-timesyncd, chrony)",
        )
        return
    if _kernel_clock() == _UNSYNCHRONISED:
        yield warn("clock", "the system clock is not synchronised",
                   "run an NTP service (systemd-timesyncd, chrony); in a container, on its host")  # fmt: skip
    else:
        yield ok("clock", "the clock is set")


def _kernel_clock() -> int:
    """The kernel's state of the clock; -1 if it cannot be read."""
    try:
        return int(ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.create_string_buffer(512)))
    except (OSError, AttributeError):
        return -1


def names_and_servers(patient: Patient) -> Iterator[Finding]:
    """Whether names resolve and servers answer; only with --network."""
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
        yield warn("network", "there are no seeds whose servers to try", "crawl something first")
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
    libraries, compiled_modules, extras, settings_file, contact, data_folder, disk, open_files, clock, browser,
    names_and_servers,
)  # fmt: skip
