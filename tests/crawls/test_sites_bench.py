"""`bench/sites.py --quick` from archives to tables, on two small sites made here in the templates of the real ones."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import tarfile
from pathlib import Path

import zstandard

SCRIPT = Path(__file__).parents[2] / "bench" / "sites.py"
ARTICLES, TAGS = 24, 4
_NOUNS = "bridge carpenter garden harbour journal keeper lantern market orchard painter railway sailor tower valley"
_VERBS = "builds carries describes explains finishes guards joins measures names observes repairs visits"

_ITW66 = """<html lang="en"><head><title>{title} | It Works</title></head><body><div id="sidebar"><a href="/">Home</a>
{tags}</div><div id="core-wrapper"><div class="post"><h1>{title}</h1><div class="post-content">{text}</div></div></div>
<div id="panel-wrapper">Read these first<ul class="post-content"><li>Old towers</li></ul></div></body></html>"""
_MIRCSGO = """<html lang="en"><head><title>{title} - EX</title></head><body><nav><a href="http://mircsgo.ru/">Home</a>
{tags}</nav><main><article><h1 class="entry-title">{title}</h1><div class="entry-content">{text}
<div class="ads-block-inside">Other people read about hats</div></div></article></main></body></html>"""
_LIST = "<html lang='en'><head><title>{title}</title></head><body><h1>{title}</h1><ul>{entries}</ul></body></html>"


def prose(chance: random.Random) -> str:
    def sentence() -> str:
        words = [chance.choice((_NOUNS, _VERBS)[n % 2].split()) for n in range(9)]
        return f"The {' the '.join(words)} before the winter."

    return "".join(f"<p>{' '.join(sentence() for _ in range(5))}</p>" for _ in range(4))


def pages(template: str, article: str, tag: str, own: str) -> dict[str, str]:
    """File → HTML of a site: articles, tag pages that list them, and a start page that lists both."""
    chance = random.Random(article)
    titles = [f"{chance.choice(_NOUNS.split())} {chance.choice(_VERBS.split())} {n}" for n in range(ARTICLES)]
    links = [f'<li><a href="{own}/{article.format(n)}">{title}</a></li>' for n, title in enumerate(titles)]
    tags = "".join(f'<a href="{own}/{tag.format(n)}">tag {n}</a> ' for n in range(TAGS))
    made = {
        _file(article.format(n)): template.format(title=title, text=prose(chance), tags=tags)
        for n, title in enumerate(titles)
    }
    for n in range(TAGS):
        made[_file(tag.format(n))] = _LIST.format(title=f"tag {n}", entries="".join(links[n::TAGS]))
    made["index.html"] = _LIST.format(title="Start", entries="".join(links) + tags)
    return made


def _file(path: str) -> str:
    return f"{path}index.html" if path.endswith("/") else path


def write_archive(target: Path, files: dict[str, str]) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    target.write_bytes(zstandard.compress(packed.getvalue()))


def test_the_benchmark_of_sites_runs_from_archives_to_tables(tmp_path: Path) -> None:
    write_archive(tmp_path / "itw66.tar.zst", pages(_ITW66, "blog/space/{}.html", "tags/t{}/", ""))
    write_archive(tmp_path / "ex-animo.tar.zst", pages(_MIRCSGO, "story-{}/", "category/c{}/", "http://mircsgo.ru"))
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(SCRIPT), "--quick", "--archives", str(tmp_path), "--cache", str(tmp_path / "cache")]
    done = subprocess.run([*command, "--json", str(figures)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    found = json.loads(figures.read_bytes())
    assert {result["site"] for result in found["sites"]} == {"itw66", "mircsgo"}
    assert found["sites"][0]["level"] == "page level"
    for result in found["sites"]:
        assert result["pages"] == ARTICLES + TAGS + 1
        assert result["articles"]["pages"] == ARTICLES
        assert result["closeness"]["pages"] + result["kept_back"]["pages"] == ARTICLES
        assert result["closeness"]["recall"] > 0.9
        assert result["lists"]["queries"] == ARTICLES
        assert result["lists"]["found"] > 0.5
    for result in found["themes"]:
        assert result["pairs"]["stored"] == result["pairs"]["articles"] == ARTICLES
        assert 0 <= result["pairs"]["found"] <= 1
    assert "| mircsgo | page level |" in done.stdout
    assert f"| pairs stored of {ARTICLES} | {ARTICLES} |" in done.stdout
