"""Plug-ins of a program: in the program, in its crawl, and in what the crawl leaves behind."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from api_kit import quick, run, write_settings

import gossamer
from gossamer.api.carrying import source_of
from gossamer.api.plugging import Hook
from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.errors import UsageError
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.plugins import HOOKS, PARSERS, RULES
from gossamer.priority.strategy import Context
from gossamer.scope.chain import ScopeConfig
from gossamer.testing import FakeWeb, Reply

FORUM = re.compile(r"/forum/")
PROSE = "".join(f"<p>Sentence {n} tells at some length what happened at the harbour that day.</p>" for n in range(9))


def is_forum(url: str) -> bool:
    return FORUM.search(url) is not None


@gossamer.filter
def no_forums(url: str) -> str | None:
    """Forums are left out."""
    return "forums are left out" if is_forum(url) else None


@gossamer.strategy
def short_paths(url: str) -> float:
    return 1 / max(url.count("/") - 2, 1)


@gossamer.hook
def press(page: gossamer.Page) -> dict[str, str] | None:
    return {"category": "press", "author": page.title.upper()} if "/press/" in page.url else None


@gossamer.reader("text/x-recipe")
def read_recipe(body: bytes, url: str) -> dict[str, object]:
    title, _, text = body.decode().partition("\n")
    return {"title": title, "text": text, "links": ["/soup.html", ("/cake.html", "Cake")]}


def test_a_plug_in_is_still_its_function() -> None:
    assert no_forums("http://a.test/forum/1") == "forums are left out" and no_forums("http://a.test/") is None
    assert short_paths("http://a.test/a/b") == 0.5
    assert press(gossamer.Page("http://a.test/press/1", "a title")) == {"category": "press", "author": "A TITLE"}
    assert read_recipe(b"Soup\nWater.", "http://a.test/")["title"] == "Soup"
    assert (no_forums.__doc__, no_forums.__name__) == ("Forums are left out.", "no_forums")


def test_a_plug_in_is_what_an_entry_point_names() -> None:
    rule = no_forums()
    refusal = rule.decide("http://a.test/forum/1", 0.0)
    assert (refusal.allowed, refusal.rule, refusal.reason) == (False, "no_forums", "forums are left out")
    assert rule.decide("http://a.test/", 0.0) is None
    assert short_paths(Context()).scores([]).dtype == np.float64
    parsed = read_recipe(ParseJob("http://a.test/r", Kind.PAGE, "text/x-recipe", b"Soup\nWater."))
    assert (parsed.title, parsed.text, [link.url for link in parsed.links]) == (
        "Soup", "Water.", ["/soup.html", "/cake.html"],
    )  # fmt: skip


def test_the_source_of_plug_ins_makes_them_once_more(tmp_path: Path) -> None:
    """As of a script: with what they name, and nothing else of the file."""
    script = tmp_path / "script.py"
    script.write_text(
        "import re as expressions\nimport gossamer\nfrom gossamer import filter as rule\nprint('the script runs')\n"
        "WORDS = ('forum', 'shop')\nPATTERN = expressions.compile('/(forum|shop)/')\nbroken = open(__file__)\n"
        "def found(url):\n    return PATTERN.search(url)\n"
        "url = word = broken\n"
        "class Names:\n    def of(self, url):\n        return [word for word in WORDS if word in url]\n"
        "@rule\ndef no_shops(url):\n    broken = found(url) and ', '.join(Names().of(url))\n    return broken or None\n"
        "@gossamer.filter\ndef bad(url):\n    return broken.read()\n"
        "plain = lambda url: None\n"
        "from gossamer.api.carrying import source_of\nfrom gossamer.errors import UsageError\n"
        "open('carried.py', 'w').write(source_of([no_shops]))\n"
        "for wrong in ([bad], [gossamer.filter(plain)], [no_shops, no_shops]):\n"
        "    try:\n        source_of(wrong)\n    except UsageError as error:\n        print(error)\n"
    )
    said = run(script, cwd=tmp_path)
    assert "bad uses broken, a TextIOWrapper, which the processes of the crawl cannot get" in said
    assert "whose source is not to be found" in said and "two plug-ins of this crawl are called no_shops" in said
    carried = (tmp_path / "carried.py").read_text()
    assert "the script runs" not in carried and "TextIOWrapper" not in carried
    code = "import runpy; f = runpy.run_path('carried.py')['PLUGINS']['rules', '@no_shops']; print(f('/forum/shop/'))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "forum, shop\n"


def test_a_plug_in_of_a_module_is_imported() -> None:
    assert f"from {__name__} import no_forums as no_forums" in source_of([no_forums])


def test_wrong_plug_ins_are_errors_that_say_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'@gossamer\.reader\("text/x-recipe"\)'):
        gossamer.reader(read_recipe)  # type: ignore[arg-type]  # the mistake that is made
    with pytest.raises(UsageError, match="there is no rule called 'no-such-rule'"):
        gossamer.crawl("http://127.0.0.1/", folder=tmp_path, filters=["no-such-rule"]).run()
    with pytest.raises(UsageError, match="is no plug-in: decorate it"):
        gossamer.crawl("http://127.0.0.1/", folder=tmp_path, readers=[is_forum]).run()  # type: ignore[list-item]  # so
    with pytest.raises(UsageError, match="a part of the program that crawled"):
        RULES.get("@somebody's")


def test_a_plug_in_that_was_edited_counts_for_the_next_crawl(tmp_path: Path) -> None:
    """As in a notebook: the cell with the function runs again, then the one with the crawl."""
    script = tmp_path / "script.py"
    script.write_text(
        "import pathlib, gossamer\nfrom gossamer.api.carrying import carry\n"
        "from gossamer.data.folder import DataFolder\n"
        "from gossamer.plugins import RULES\nfolder = DataFolder(pathlib.Path('data'))\n"
        "@gossamer.filter\ndef first(url):\n    return 'one'\n"
        "carry([first], folder)\nprint(RULES.get('@first')(''), '@first' in RULES.names())\n"
        "@gossamer.filter\ndef first(url):\n    return 'two'\n"
        "@gossamer.filter\ndef second(url):\n    return 'three'\n"
        "carry([first, second], folder)\nprint(RULES.get('@first')(''), RULES.get('@second')(''))\n"
    )
    assert run(script, cwd=tmp_path) == "one True\ntwo three\n"


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    web = FakeWeb("127.0.134")
    site = web.site("p.test")
    page = '<html lang="en"><title>{0}</title><body><main><h1>{0}</h1>{1}</main>{2}</body></html>'
    links = '<a href="/forum/1">f</a> <a href="/press/1">p</a> <a href="/recipe">r</a> <a href="/forum/2">g</a>'
    site.page("/", page.format("Start", PROSE, links))
    site.page("/press/1", page.format("A message", PROSE.replace("harbour", "castle"), ""))
    site.page("/forum/1", page.format("A forum", PROSE.replace("harbour", "forum"), ""))
    site.page("/soup.html", page.format("Soup", PROSE.replace("harbour", "kitchen"), ""))
    text = "Pancakes\n" + " ".join(f"Step {n}: stir the dough and wait for a while." for n in range(20))
    site.reply("/recipe", Reply(text, content_type="text/x-recipe"))
    with web:
        yield web


@pytest.mark.long
def test_a_crawl_uses_the_plug_ins_of_its_script(web: FakeWeb, tmp_path: Path) -> None:
    """Of a script without a main guard; commands that know nothing of it read the folder all the same."""
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, gossamer\nprint('once')\n"
        "@gossamer.filter\ndef no_forums(url):\n    return '/forum/' in url and 'forums are left out'\n"
        "@gossamer.strategy\ndef short_paths(url):\n    return 1 / url.count('/')\n"
        "@gossamer.hook\ndef press(page):\n    return {'category': 'press'} if '/press/' in page.url else None\n"
        "@gossamer.reader('text/x-recipe')\ndef recipe(body, url):\n"
        "    title, _, text = body.decode().partition('\\n')\n"
        "    return {'title': title, 'text': text, 'links': ['/soup.html']}\n"
        "for page in gossamer.crawl(sys.argv[1], folder='data', filters=[no_forums], hooks=[press],\n"
        "                           readers=[recipe], strategy=['fit', short_paths]):\n"
        "    print(page.url.rpartition('.test')[2].partition('/')[2] or '-', page.category or '-', page.title)\n"
    )
    write_settings(tmp_path / "data", quick(web))
    lines = run(script, web.url("p.test"), cwd=tmp_path).splitlines()
    assert lines[0] == "once"
    assert sorted(lines[1:]) == ["- - Start", "press/1 press A message", "recipe - Pancakes", "soup.html - Soup"]
    folder = gossamer.open(tmp_path / "data")
    left_out = folder.explain(web.url("p.test", "/forum/1"))
    assert left_out.state == "refused" and "forums are left out" in left_out.reason
    assert folder.search("dough")[0].title == "Pancakes"
    assert run_again(tmp_path / "data") == 4


def run_again(data: Path) -> int:
    """A later crawl, by somebody who has none of the plug-ins."""
    done = subprocess.run(
        [sys.executable, "-m", "gossamer.cli", "crawl", "--data", str(data), "--quiet", "--pages", "1"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return sum(1 for page in gossamer.open(data).pages() if "/forum/" not in page.url)


def test_readers_are_known_by_what_they_read() -> None:
    assert read_recipe.carried_name == "text/x-recipe" and "text/x-recipe" not in PARSERS.names()


def parser_with(name: str, hook: Hook) -> PageParser:
    HOOKS.register(name, hook)
    limits = ParseLimits(hooks=(name,))
    return PageParser(ParserConfig(CanonicalRules(), ScopeConfig(hosts=("a.test",)), (), limits))


def test_a_hook_changes_a_page_before_it_is_compared_and_kept() -> None:
    @gossamer.hook
    def shorter(page: gossamer.Page) -> dict[str, str]:
        return {"text": page.text.replace("Sentence", "Line"), "date": "2026-11-20", "type": "article"}

    body = f'<html lang="en"><title>A page</title><main>{PROSE}</main>'.encode()
    job = ParseJob("http://a.test/press/1", Kind.PAGE, "text/html", body)
    plain = PageParser(ParserConfig(CanonicalRules(), ScopeConfig(hosts=("a.test",)), (), ParseLimits())).read(job)
    changed = parser_with("shorter", shorter).read(job)
    assert plain.text.startswith("Sentence 0") and changed.text.startswith("Line 0")
    assert changed.content_hash not in ("", plain.content_hash)
    assert (changed.date, changed.date_source, changed.page_type) == ("2026-11-20", "hook", "article")
    same = parser_with("idle", gossamer.hook(lambda page: None)).read(job)
    assert (same.text, same.content_hash, same.fingerprint) == (plain.text, plain.content_hash, plain.fingerprint)


def test_a_hook_that_names_what_there_is_not_fails_its_page() -> None:
    job = ParseJob("http://a.test/", Kind.PAGE, "text/html", f"<title>A page</title><main>{PROSE}</main>".encode())
    reader = parser_with("wrong", gossamer.hook(lambda page: {"titel": "x"}))
    with pytest.raises(UsageError, match="changes 'titel': did you mean title"):
        reader.read(job)
