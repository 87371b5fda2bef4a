"""A kill at full speed costs few pages: downloads do not run ahead of parsers and commits."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "crawls"))
from crawl_kit import descendants, exported, kill, run, settings_of, start, wait_until, write_settings

from gossamer.testing import FakeWeb

PAGES = 300
SENTENCES = 400
"""A page takes far longer to parse than to fetch, so downloads that nobody holds up are over in a moment."""


def pages_of(web: FakeWeb) -> Counter[str]:
    return Counter(request.path for request in web.log() if request.path != "/robots.txt")


def test_few_pages_are_fetched_again_after_a_kill(tmp_path: Path) -> None:
    data = tmp_path / "data"
    web = FakeWeb("127.0.52", process=True, log=tmp_path / "log")
    site = web.site("fast.test", pages=PAGES, links=8, size=SENTENCES)
    with web:
        write_settings(data, settings_of(web))
        main = start("crawl", site.url(), "--workers", "1", "--quiet", data=data)
        try:
            wait_until(lambda: len(pages_of(web)) >= PAGES // 2)
        finally:
            for pid in [main.pid, *descendants(main.pid)]:
                kill(pid)
            main.communicate()
        before = pages_of(web)
        done = run("crawl", "--quiet", data=data)
        assert done.returncode == 0, done.stderr
        again = [path for path, times in pages_of(web).items() if path in before and times > before[path]]
    assert len(exported("pages", data)) == PAGES
    assert before.total() < PAGES, "the crawl was over before the kill"
    assert len(again) <= len(before) // 3
