"""An hour at full load with kills: memory, file handles and disk must stay flat, and nothing may be lost.

A web of generated sites on loopback is crawled by the command line with `--watch`. When all pages are known, more of
them are due again than can be visited, and a page of each site changes now and then; a server answers searches beside
it. In the first half a process is killed every so often: a worker, a parser, the indexer, the server, or the crawl with
everything below it. In the second half all of them live, for a process that is killed every minute shows no leak. In
the end every page must be there once, and the web's own log must show no rude request.

    make soak                                   an hour; writes docs/soak.md and its plot
    python tests/soak/run.py --for 5m --out /tmp/soak
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import GOSSAMER, descendants, exported, kill, settings_of, write_settings
from measuring import Sample, look, role_of
from soak_report import Ending, write

from gossamer.cli.common import seconds
from gossamer.testing import FakeWeb, violations
from gossamer.testing.web import Site

DELAY = 0.02
HOSTS = 60
PAGES = 1_000
NEWS = "/now.html"
CHANGES = 6
"""Sites with news at each look."""
KEEP = 120.0
"""Seconds for which superseded visits are kept: else the archive of all visits would grow, as it is meant to."""
LOOK = 10.0
"""Seconds between two samples."""
KILLING = 0.5
"""The share of the time in which processes are killed: after it they grow old, and what leaks shows."""
WEIGHTS = {"worker": 6, "parser": 4, "indexer": 3, "server": 1, "crawl": 1}
"""How often each role is killed."""


class Soak:
    """The web, the crawl and the server, and what was seen of them."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._chance = random.Random(seed)
        self._folder, self.data = folder, folder / "data"
        self.web = FakeWeb(process=True, log=folder / "requests.jsonl")
        for number in range(HOSTS):
            self._publish(self.web.site(f"h{number}.test", pages=PAGES, links=12, seed=number))
        self.web.start()
        self._seeds = [self.web.url(host, path) for host in self.web.sites for path in ("/", NEWS)]
        # Two thousand visits a second are due: more than two cores can make.
        revisit = {"every": 20.0, "floor": 10.0, "ceiling": 30.0}
        write_settings(
            self.data,
            settings_of(
                self.web, politeness={"delay": DELAY, "backoff_first": 0.2}, revisit=revisit,
                crawl={"watch": True, "index": True}, budget={"lease": 20.0}, storage={"keep_old": KEEP},
                serve={"port": 8123, "rate": 0},
            ),
        )  # fmt: skip
        self.address = "http://127.0.0.1:8123"
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.samples: list[Sample] = []
        self.kills = 0

    def run(self, lasting: float, kill_every: float) -> None:
        """Until the time is over; processes that were killed at the top are started again."""
        began = time.monotonic()
        next_look, next_kill = began, began + kill_every
        while (now := time.monotonic()) < began + lasting:
            self._keep_up()
            if now >= next_look:
                self._look(now - began)
                for site in self._chance.sample(list(self.web.sites.values()), CHANGES):
                    self._publish(site)
                next_look += LOOK
            if next_kill <= now < began + KILLING * lasting:
                self._kill_one()
                next_kill = now + self._chance.uniform(0.5, 1.5) * kill_every
            time.sleep(0.2)
        self._look(time.monotonic() - began)

    def _publish(self, site: Site) -> None:
        words = " ".join(f"word{self._chance.randrange(10_000)}" for _ in range(150))
        site.page(NEWS, f"News of {site.host}. {words}", title=f"News of {site.host}")

    def _look(self, at: float) -> None:
        before = self.samples[-1] if self.samples else None
        pids = [process.pid for process in self._processes.values() if process.poll() is None]
        self.samples.append(look(at, pids, self.data, self.address, self.kills, before))

    def _keep_up(self) -> None:
        commands = {"crawl": ["crawl", *self._seeds, "--quiet"]}
        if (self.data / "frontier.db").exists():
            commands["serve"] = ["serve"]
        for name, arguments in commands.items():
            process = self._processes.get(name)
            if process is None or process.poll() is not None:
                with (self._folder / f"{name}.said").open("ab") as said:
                    self._processes[name] = subprocess.Popen(
                        [*GOSSAMER, *arguments, "--data", str(self.data)],
                        stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
                    )  # fmt: skip

    def _kill_one(self) -> None:
        role = self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if role == "crawl" or role == "server":
            name = {"crawl": "crawl", "server": "serve"}[role]
            process = self._processes.get(name)
            victims = [process.pid, *descendants(process.pid)] if process is not None else []
        else:
            below = [pid for process in self._processes.values() for pid in descendants(process.pid)]
            found = [pid for pid in below if role_of(pid) == role]
            victims = [self._chance.choice(found)] if found else []
        killed = [kill(pid) for pid in victims]
        self.kills += any(killed)

    def end(self) -> Ending:
        """Stop in good order, then count: pages that are missing, and rude requests."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            process.wait(120)
        pages = exported("pages", self.data)
        urls = [page["url"] for page in pages]
        empty = sum(len(page["text"] or "") < 200 for page in pages)
        expected = {url for site in self.web.sites.values() for url in (*site.generated, site.url(NEWS))}
        rude = violations(self.web.log(), DELAY, DELAY)
        known = self.samples[-1].pages
        return Ending(
            self.kills, len(expected), len(expected - set(urls)), empty, len(urls) - len(set(urls)), len(rude), known,
            [str(one) for one in rude[:5]],
        )  # fmt: skip

    def close(self) -> None:
        """Nothing is left running."""
        for process in self._processes.values():
            if process.poll() is None:
                for pid in [process.pid, *descendants(process.pid)]:
                    kill(pid)
                process.wait()
        self.web.close()


def main() -> int:
    """Run it; exit code 1 where something was lost, rude, or grew."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--for", dest="lasting", default="1h", help="how long, such as 5m or 1h")
    parser.add_argument("--out", type=Path, default=Path("docs"), help="folder of soak.md and soak.svg")
    parser.add_argument("--kill-every", type=float, default=20.0, help="seconds between two kills, on average")
    parser.add_argument("--json", type=Path, metavar="FILE", help="all samples, for programs")
    parser.add_argument("--seed", type=int, default=8)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that nothing is left running
    with tempfile.TemporaryDirectory(prefix="gossamer-soak-", ignore_cleanup_errors=True) as folder:
        soak = Soak(Path(folder), options.seed)
        try:
            soak.run(seconds(options.lasting), options.kill_every)
            ending = soak.end()
        finally:
            soak.close()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.json:
        options.json.write_bytes(msgspec.json.encode(soak.samples))
    problems = write(options.out, soak.samples, ending, " ".join(sys.argv[1:]))
    print("\n".join(problems) or "nothing lost, nobody disturbed, nothing grew")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
