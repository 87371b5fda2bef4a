"""Small sites in the templates of the archived ones, packed as they are: for tests of the benchmarks."""

from __future__ import annotations

import io
import random
import tarfile
from collections.abc import Mapping
from pathlib import Path

import zstandard

_NOUNS = "bridge carpenter garden harbour journal keeper lantern market orchard painter railway sailor tower valley"
_VERBS = "builds carries describes explains finishes guards joins measures names observes repairs visits"

ITW66 = """<html lang="en"><head><title>{title} | It Works</title></head><body><div id="sidebar"><a href="/">Home</a>
{tags}</div><div id="core-wrapper"><div class="post"><h1>{title}</h1><div class="post-content">{text}</div></div></div>
<div id="panel-wrapper">Read these first<ul class="post-content"><li>Old towers</li></ul></div></body></html>"""
MIRCSGO = """<html lang="en"><head><title>{title} - EX</title></head><body><nav><a href="http://mircsgo.ru/">Home</a>
{tags}</nav><main><article><h1 class="entry-title">{title}</h1><div class="entry-content">{text}
<div class="ads-block-inside">Other people read about hats</div></div></article></main></body></html>"""
_LIST = "<html lang='en'><head><title>{title}</title></head><body><h1>{title}</h1><ul>{entries}</ul></body></html>"


def prose(chance: random.Random) -> str:
    """Four paragraphs that are nobody else's."""

    def sentence() -> str:
        words = [chance.choice((_NOUNS, _VERBS)[n % 2].split()) for n in range(9)]
        return f"The {' the '.join(words)} before the winter."

    return "".join(f"<p>{' '.join(sentence() for _ in range(5))}</p>" for _ in range(4))


def pages(template: str, article: str, tag: str, own: str, articles: int, tags: int) -> dict[str, str]:
    """File → HTML of a site: articles, tag pages that list them, and a start page that lists both."""
    chance = random.Random(article)
    titles = [f"{chance.choice(_NOUNS.split())} {chance.choice(_VERBS.split())} {n}" for n in range(articles)]
    links = [f'<li><a href="{own}/{article.format(n)}">{title}</a></li>' for n, title in enumerate(titles)]
    tag_links = "".join(f'<a href="{own}/{tag.format(n)}">tag {n}</a> ' for n in range(tags))
    made = {
        _file(article.format(n)): template.format(title=title, text=prose(chance), tags=tag_links)
        for n, title in enumerate(titles)
    }
    for n in range(tags):
        made[_file(tag.format(n))] = _LIST.format(title=f"tag {n}", entries="".join(links[n::tags]))
    made["index.html"] = _LIST.format(title="Start", entries="".join(links) + tag_links)
    return made


def _file(path: str) -> str:
    return f"{path}index.html" if path.endswith("/") else path


def write_archive(target: Path, files: Mapping[str, str | bytes]) -> None:
    """Packs files as the archives of real sites are packed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files.items():
            body = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(body)
            tar.addfile(member, io.BytesIO(body))
    target.write_bytes(zstandard.compress(packed.getvalue()))
