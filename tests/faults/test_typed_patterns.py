"""Patterns and selectors that were made to take for ever: a crawl with them ends, and the server goes on answering.

Each froze a server or a crawl before: patterns ran in an engine that goes back and tries again, and selectors of
readers of the console in the server's own process.
"""

from __future__ import annotations

import html
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

sys.path += [str(Path(__file__).parent.parent / name) for name in ("crawls", "web")]
from console_kit import client_of, log_in, make_accounts, serving_console
from crawl_kit import crawl, run
from web_kit import PATIENCE, without_haste

from gossamer.data.folder import DataFolder
from gossamer.parse.rules import DocumentRule
from gossamer.tables.rulebook import save_rules
from gossamer.testing import FakeWeb

FREEZING = "^/" + "[^-]*[^-][^-]*-" * 30 + "$"
SLOW = "p:nth-of-type(2n) ~ p:nth-of-type(3n)"
LONG_PATH = "/" + "a" * 1500
CROWD = "<title>A crowd</title><h1>A crowd</h1>" + "<p>x</p>" * 250_000
SLOWER = ", ".join(f"p:nth-of-type({n}n) ~ p:nth-of-type({n + 1}n)" for n in range(2, 10))
"""Takes minutes on that page, many times what a page has."""
TOO_LONG = 10
"""Seconds of processor time for a page: a fraction of what that takes, and many times what any other takes."""
RULES = (
    DocumentRule("alpha.test", (FREEZING,), "freezing", title=("h1",)),
    DocumentRule("alpha.test", ("/slow.html",), "slow", text=(SLOWER,)),
    DocumentRule("alpha.test", ("^/(?!tag)[a-z]+$",), "older"),  # a version that knew look-ahead could have saved it
)


class Attacked(NamedTuple):
    data: Path
    root: str


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attacked:
    """A finished crawl of pages that were made for the attack, under rules that were."""
    data = tmp_path_factory.mktemp("attacked") / "data"
    web = FakeWeb()
    site = web.site("alpha.test")
    links = "".join(f'<a href="{LONG_PATH}{n}">{n}</a>' for n in range(20))
    seed = site.page(
        "/", f'<title>Spiders</title><p>Spiders weave.</p>{links}<a href="/c.html"></a><a href="/slow.html">'
    )
    for n in range(20):
        site.page(f"{LONG_PATH}{n}", f"<title>Page {n}</title><p>Spiders weave {n} webs.</p>")
    site.page("/c.html", CROWD)
    site.page("/slow.html", CROWD.replace("crowd", "slow crowd"))
    db = DataFolder(data).open_database()
    save_rules(db, RULES, 1_700_000_000.0)
    db.close()
    with web:
        crawl(web, data, [seed], "--for", "10m", crawl={"index": True, "parse_timeout": float(TOO_LONG)})
    make_accounts(data)
    return Attacked(data, seed)


def test_a_crawl_under_patterns_made_to_freeze_it_ends_and_a_slow_selector_costs_one_page(attacked: Attacked) -> None:
    shown = run("explain", f"{attacked.root}slow.html", data=attacked.data).stdout
    assert f"parsing took longer than {TOO_LONG} s" in shown
    assert "document" in run("explain", f"{attacked.root}{LONG_PATH[1:]}7", data=attacked.data).stdout


def test_a_stored_rule_that_this_version_cannot_use_is_named_and_kept(attacked: Attacked) -> None:
    shown = " ".join(run("doctor", data=attacked.data).stdout.split())
    assert "alpha.test older" in shown
    assert "look-ahead" in shown
    assert "older" in run("rules", "list", data=attacked.data).stdout


@pytest.fixture(scope="module")
def address(attacked: Attacked) -> Iterator[str]:
    with without_haste(), serving_console(attacked.data) as served:
        yield served


def rule(**keys: str) -> str:
    lines = {"domain": "'alpha.test'", "name": "'typed'", "urls": "'/{any}'", **keys}
    return "[[rule]]\n" + "\n".join(f"{key} = {value}" for key, value in lines.items())


def sentences(response: httpx.Response) -> str:
    assert response.status_code == 200
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", response.text)))


ATTACKS = {
    "freezing pattern": ({"urls": f"'{FREEZING}'"}, "", "Pages that fit: 0"),
    "many patterns": ({"urls": str([FREEZING] * 10)}, "", "Pages that fit: 0"),
    "escaped :has": ({"text": r"':h\61s(:h\61s(:h\61s(q)))'"}, "", ":has() may stand in a selector once"),
    "slow selector": ({"text": f"'{SLOW}'"}, "c.html", "seconds of computing"),
    "slow :has": ({"text": "':has(> q) p ~ p'"}, "c.html", "seconds of computing"),
}


def test_searches_are_answered_while_a_reader_of_the_console_tries_to_freeze_the_server(
    address: str, attacked: Attacked
) -> None:
    """The promise: an answer comes while the attack is under way. How quickly is printed."""
    answers: dict[str, str] = {}
    took: list[float] = []
    with client_of(address) as reader, client_of(address) as visitor:
        log_in(reader, "reader")

        def attack() -> None:
            for name, (keys, page, _) in ATTACKS.items():
                found = reader.get("/console/rules", params={"rule": rule(**keys), "page": attacked.root + page})
                answers[name] = sentences(found)

        attacker = threading.Thread(target=attack, daemon=True)
        attacker.start()
        while attacker.is_alive():
            began = time.monotonic()
            assert visitor.get("/api/v1/search", params={"q": "spiders"}).json()["total"] > 0
            assert visitor.get("/healthz").status_code == 200
            if attacker.is_alive():
                took.append(time.monotonic() - began)
        attacker.join(PATIENCE)
    for name, (_, _, says) in ATTACKS.items():
        assert says in answers[name], f"{name}: {answers[name]}"
    assert len(took) > 10, "no search was answered while the attack was under way"
    took.sort()
    print(f"{len(took)} searches and signs of health during the attack; p99 {took[int(len(took) * 0.99)]:.3f} s")


def test_while_one_rule_is_tried_another_reader_is_told_so_and_does_not_wait(address: str, attacked: Attacked) -> None:
    with client_of(address) as one, client_of(address) as other:
        log_in(one, "reader")
        log_in(other, "operator")
        slow = {"rule": rule(text=f"'{SLOW}'"), "page": f"{attacked.root}c.html"}
        answers: list[str] = []
        first = threading.Thread(
            target=lambda: answers.append(sentences(one.get("/console/rules", params=slow))), daemon=True
        )
        first.start()
        while first.is_alive():  # whoever comes second is told; which of the two that is, nobody can say
            answers.append(sentences(other.get("/console/rules", params={"rule": rule()})))
        first.join(PATIENCE)
    assert any("Another trial is running" in answer for answer in answers)
