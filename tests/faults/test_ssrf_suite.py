"""No site leads the crawler inside: seen by those who are inside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

_ALONE = ["unshare", "-r", "-n", "-m", "-p", "-f", "--kill-child=SIGKILL", "--mount-proc"]


def attacked(mode: str) -> dict[str, Any]:
    """What the crawl of the attacker's site came to."""
    if subprocess.run([*_ALONE, "ip", "link", "set", "lo", "up"], capture_output=True, check=False).returncode:
        pytest.skip("this system allows no namespaces (unshare -rnm)")
    with tempfile.TemporaryDirectory(prefix="gossamer-ssrf-", ignore_cleanup_errors=True) as folder:
        done = subprocess.run(
            [
                *_ALONE, "sh", "-c", 'ip link set lo up && "$0" "$@"; exit $?', sys.executable,
                str(Path(__file__).with_name("ssrf_attack.py")), folder, mode,
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=1700, check=False,
            env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


def leads_inside(url: str) -> bool:
    """`both.example` has an address outside, too: that one is asked, and answers. So does the attacker, for whatever
    path a lure leads to that is read as a relative link."""
    return "/secret" in url and urlsplit(url).hostname not in ("both.example", "attacker.example")


@pytest.mark.timeout(1800)
def test_nobody_inside_is_ever_connected_to() -> None:
    seen = attacked("guarded")
    assert seen["code"] == 0, seen["words"]
    assert any(url.startswith("http://attacker.example/") for url in seen["kept"]), "the attacker was crawled"
    assert any("rebound.example/later" in url for url in seen["kept"]), "and the name that leads inside later"
    assert seen["connected"] == []
    inside = [url for url in seen["urls"] if leads_inside(url)]
    assert len(inside) > 15, "the lures were taken for URLs, and refused later"
    assert set(inside) & set(seen["kept"]) == set()


@pytest.mark.timeout(1800)
def test_the_same_lures_work_where_the_operator_allows_everything() -> None:
    """Else the test above could not fail."""
    seen = attacked("open")
    assert len(seen["connected"]) >= 5
    assert "rebound.example" in seen["meant"], "the name was followed when it led inside"
    assert [url for url in seen["kept"] if leads_inside(url)], "what is inside was kept"
