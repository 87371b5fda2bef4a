"""Made-up data in the forms of the real ones, so small that every benchmark's `--quick` takes seconds."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import zstandard

from kit.made_up_sites import ITW66, MIRCSGO, pages, prose, write_archive

_ARTICLES, _TAGS, _PAGES, _NODES = 60, 4, 60, 400
_PAGE = """<html lang="en"><head><title>{title} - Paper</title>{date}</head><body><nav><a href="/">Home</a>
<a href="/about">About us</a></nav><main><article><h1>{title}</h1>{text}</article></main>
<footer>Imprint</footer></body></html>"""
_MANUAL = """<html lang="en"><head><title>{title}</title></head><body><div role="main"><h1>{title}</h1>{text}
<table><thead><tr><th>name</th><th>value</th></tr></thead><tbody><tr><td>one</td><td>1</td></tr></tbody></table>
<pre>print("{title}")
</pre></div></body></html>"""


def write_shared(folder: Path) -> None:
    """Everything below `data`."""
    data = folder / "data"
    for name in ("sites", "extraction", "graph", "history", "urls", "ir"):
        (data / name).mkdir(parents=True)
    _write_sites(data / "sites")
    _write_wcxb(data / "extraction" / "wcxb-dev.tar.zst")
    _write_news(data / "extraction" / "news-dev.tar.zst")
    _write_graphs(data / "graph")
    _write_questions(data / "ir" / "xquad.en.json.zst")
    _write_history(data / "history" / "openbsd-www-to-2020.tsv.gz")
    urls = [f"https://paper{n % 30}.example/{2015 + n % 9}/{n % 12 + 1:02}/story-{n}.html" for n in range(4_000)]
    _gzip(data / "urls" / "russian-news-urls.txt.gz", urls)


def write_documentation(folder: Path) -> None:
    """What two documentation packages put below `/usr/share`; queries of `known_items.py` name some of the pages."""
    chance = random.Random("documentation")
    for package in ("python3.11-doc", "cmake-doc"):
        html = folder / "doc" / package / "html"
        html.mkdir(parents=True)
        for n in range(6):
            (html / f"page{n}.html").write_text(_MANUAL.format(title=f"Chapter {n}", text=prose(chance)))
    for name in ("configure_file", "execute_process", "include_guard", "add_executable", "find_package", "export"):
        page = folder / "doc" / "cmake-doc" / "html" / "command" / f"{name}.html"
        page.parent.mkdir(exist_ok=True)
        page.write_text(_MANUAL.format(title=name, text=prose(chance)))


def _write_sites(folder: Path) -> None:
    made = {
        "itw66": (ITW66, "blog/space/{}.html", "tags/t{}/", ""),
        "ex-animo": (MIRCSGO, "story-{}/", "category/c{}/", "http://mircsgo.ru"),
        "learningischange": (MIRCSGO, "2015/03/04/post-{}/", "tag/t{}/", "https://learningischange.com"),
        "linuxcn": (ITW66, "article-{}-1.html", "tags/t{}/", ""),
    }
    for name, (template, article, tag, own) in made.items():
        write_archive(folder / f"{name}.tar.zst", pages(template, article, tag, own, _ARTICLES, _TAGS))


def _write_wcxb(target: Path) -> None:
    chance, files = random.Random("wcxb"), {}
    for n in range(_PAGES):
        title, text, day = f"Report number {n}", prose(chance), f"20{10 + n % 9}-0{n % 9 + 1}-11"
        date = f'<meta property="article:published_time" content="{day}T08:00:00Z">' if n % 3 else ""
        said = {"main_content": _plain(text), "title": title, "publish_date": day if date else ""}
        record = {"url": f"https://www.paper{n}.example/report-{n}", "ground_truth": said}
        record["_internal"] = {"page_type": {"primary": "article"}}
        files[f"wcxb/html/{n:04}.html"] = _PAGE.format(title=title, date=date, text=text)
        files[f"wcxb/ground-truth/{n:04}.json"] = json.dumps(record)
    write_archive(target, files)


def _write_news(target: Path) -> None:
    chance, lines = random.Random("news"), []
    files: dict[str, str | bytes] = {}
    for n in range(_PAGES):
        name, title, text = f"us-paper{n}_1.html.gz", f"News number {n}", prose(chance)
        files[f"news/html/{name}"] = gzip.compress(_PAGE.format(title=title, date="", text=text).encode())
        url = f"https://www.news{n}.example/story-{n}"
        lines.append(json.dumps({"file": name, "url": url, "text": _plain(text), "title": title}))
    write_archive(target, {**files, "news/truth.jsonl": "\n".join(lines)})


def _write_graphs(folder: Path) -> None:
    chance = random.Random("graph")
    links = [(node, chance.randrange(_NODES)) for node in range(_NODES) for _ in range(5)]
    text = "".join(f"{source}\t{target}\n" for source, target in sorted(set(links)))
    (folder / "cnr-2000.edges.tsv.zst").write_bytes(zstandard.compress(text.encode()))
    _gzip(
        folder / "itw66.pages.tsv.gz",
        [f"/blog/space/{n}.html\t{n % 7}\t{n % 5}\t{0.2 + n % 7:.5f}" for n in range(300)],
    )
    _gzip(folder / "itw66.external.tsv.gz", [f"https://host{n % 90}.example/page-{n}\t{n % 9}" for n in range(6_000)])


def _write_history(target: Path) -> None:
    chance = random.Random("history")
    start, end = 850_000_000, 1_262_000_000  # 1996 to 2009
    events = [(start + n, "A", f"page{n}.html") for n in range(40)]
    events += [(chance.randrange(start + 100, end), "M", f"page{n % 40}.html") for n in range(2_000)]
    _gzip(target, [f"{when}\t{kind}\t{name}" for when, kind, name in sorted(events)])


def _write_questions(target: Path) -> None:
    """Passages, and questions made of their words."""
    chance, articles = random.Random("questions"), []
    for n in range(12):
        text = _plain(prose(chance))
        words = chance.sample(text.split(), 6)
        questions = [{"id": f"q{n}", "question": f"What is {' '.join(words)}?"}]
        articles.append({"title": f"Article {n}", "paragraphs": [{"context": text, "qas": questions}]})
    target.write_bytes(zstandard.compress(json.dumps({"data": articles}).encode()))


def _plain(html: str) -> str:
    return html.replace("<p>", "").replace("</p>", "\n").strip()


def _gzip(target: Path, lines: list[str]) -> None:
    target.write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
