"""What it costs to render pages: the same site once as plain HTML, and once made by scripts.

    python bench/rendering.py              60 pages each, one worker: about two minutes
    python bench/rendering.py --quick      12 pages each

Both crawls find the same texts and links. The app's pages are a shell, one script that all share and one
answer with data each. Pages a second, CPU seconds a page and the peak of memory are stated as ratios: rendered ÷
plain. CPU and memory are those of the whole process tree, Chromium's processes with it, looked at five times a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import msgspec

from _crawlers import CONTACT, find_gossamer
from _figures import Figure, add_usual, conclude
from _tree import kill_tree, tree, tree_memory
from gossamer.errors import GossamerError
from gossamer.fetch.browser_start import find_chromium
from gossamer.testing.web import FakeWeb, Reply, Site, wrap

_LOOK = 0.2
_LONGEST = 600.0
_TICKS = os.sysconf("SC_CLK_TCK")
_SHELL = '<!DOCTYPE html><title>App</title><body><div id="root"></div><script src="/app.js"></script>'
_APP = """
fetch("/api" + location.pathname).then(answer => answer.json()).then(data => {
    document.title = data.title;
    const links = data.links.map(link => `<li><a href="${link}">${link}</a></li>`).join("");
    const main = `<main><h1>${data.title}</h1><p>${data.text}</p></main>`;
    document.getElementById("root").innerHTML = `${main}<ul>${links}</ul>`;
});
"""


class Figures(msgspec.Struct, frozen=True):
    """One crawl."""

    kind: str
    pages: int
    """Documents stored, each with a text of its own."""
    seconds: float
    """From the first request to the last response."""
    cpu: float
    memory: int


def main() -> None:
    """Crawls both and prints the table."""
    options = _options()
    rows = [_measured(kind, options) for kind in ("plain", "rendered")]
    plain, rendered = rows
    print(f"{'':10}{'pages':>7}{'seconds':>9}{'pages/s':>9}{'CPU s/page':>12}{'peak MiB':>10}")
    for row in rows:
        speed, cpu = row.pages / row.seconds, row.cpu / max(1, row.pages)
        print(f"{row.kind:10}{row.pages:7}{row.seconds:9.1f}{speed:9.2f}{cpu:12.3f}{row.memory / 2**20:10.0f}")
    slower = (rendered.seconds / max(1, rendered.pages)) / (plain.seconds / max(1, plain.pages))
    dearer = (rendered.cpu / max(1, rendered.pages)) / (plain.cpu / max(1, plain.pages))
    print(f"\nrendered ÷ plain: time {slower:.1f}, CPU {dearer:.1f}, memory {rendered.memory / plain.memory:.1f}")
    ratios = {"time": slower, "CPU": dearer, "memory": rendered.memory / plain.memory}
    figures = [
        Figure(f"{name} of a rendered page ÷ a plain one", ratio, "×", by_clock=name == "time")
        for name, ratio in ratios.items()
    ]
    problems = [f"{row.kind}: {row.pages} of {options.pages} pages" for row in rows if row.pages != options.pages]
    conclude(options, figures, rows, problems)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_usual(parser, "12 pages each")
    parser.add_argument("--pages", type=int, help="(60; 12 with --quick)")
    parser.add_argument("--tabs", type=int, default=1, help="pages rendered at once")
    parser.add_argument("--gossamer", default="", help="the command, if not the one of this environment")
    options = parser.parse_args()
    options.pages = options.pages or (12 if options.quick else 60)
    try:
        find_chromium()
    except GossamerError as error:
        raise SystemExit(str(error)) from None
    return options


def _measured(kind: str, options: argparse.Namespace) -> Figures:
    with tempfile.TemporaryDirectory(prefix="bench-rendering-") as name:
        folder = Path(name)
        web = FakeWeb("127.0.84", process=True, log=folder / "log")
        _fill(web.site("app.test"), options.pages, kind == "rendered")
        with web:
            cpu, memory = _crawled(web, folder / "data", options)
            log = web.log()
        pages = _documents(folder / "data", options)
        return Figures(kind, pages, log[-1].ended - log[0].arrived, cpu, memory)


def _fill(site: Site, pages: int, scripted: bool) -> None:
    """A chain of pages, each of which leads to the next three."""
    site.reply("/app.js", Reply(_APP, content_type="text/javascript"))
    for number in range(pages):
        path = f"/p{number}" if number else "/"
        links = [f"/p{following}" for following in range(number + 1, min(pages, number + 4))]
        title, text = f"Page {number}", " ".join(f"word{number}x{place}" for place in range(80))
        if scripted:
            site.page(path, _SHELL)
            site.reply(f"/api{path}", Reply(json.dumps({"title": title, "text": text, "links": links}),
                                            content_type="application/json"))  # fmt: skip
        else:
            site.page(path, wrap(title, text, links))


def _crawled(web: FakeWeb, data: Path, options: argparse.Namespace) -> tuple[float, int]:
    data.mkdir()
    (data / "gossamer.toml").write_text(f'[browser]\nmode = "auto"\ntabs = {options.tabs}\nsettle = 0.2\n')
    command = [find_gossamer(options.gossamer), "crawl", web.url("app.test"), "--no-index", "--data", str(data)]
    command += ["--contact", CONTACT, "--delay", "0", "--workers", "1", "--allow-network", "127.0.0.0/8", "--quiet"]
    command += ["--resolve", f"app.test={web.resolve['app.test']}"]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    used: dict[int, float] = {}
    peak, deadline = 0, time.monotonic() + _LONGEST
    try:
        while process.poll() is None and time.monotonic() < deadline:
            used.update((pid, _cpu(pid)) for pid in tree(process.pid) if _cpu(pid))
            peak = max(peak, tree_memory(process.pid))
            time.sleep(_LOOK)
    finally:
        if process.poll() is None:
            kill_tree(process.pid)
    return sum(used.values()), peak


def _cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    with suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    return 0.0


def _documents(data: Path, options: argparse.Namespace) -> int:
    command = [find_gossamer(options.gossamer), "export", "pages", "--data", str(data)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    return len({row["text"] for row in rows if row["outcome"] == "document" and "word" in (row["text"] or "")})


if __name__ == "__main__":
    main()
