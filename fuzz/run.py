"""Coverage-guided fuzzing of one target, or all, for a bounded time (atheris, libFuzzer).

Exit code 0: nothing was found. Inputs that crash or take too long are kept in `fuzz/crashes`. Fuzzing begins with the
inputs in `fuzz/corpora`; `--keep` packs what it has found by now there.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import corpora

HERE = Path(__file__).parent
SEEDS = {
    "pages": [
        b"\x10<!doctype html><html lang=ru><head><title>T</title><meta property=og:type content=article>"
        b'<script type=application/ld+json>{"@graph":[{"@type":"NewsArticle","articleBody":"x"}]}</script>'
        b"<body><nav class=menu><a href=/a>a</a></nav><main><h1>T</h1><p>words and words, more of them.</p></main>",
        b"\x00<table><tr><td>a<td>b</table><script>location.href='/next'</script><time pubdate datetime=2024-05-03>",
        b"\x03%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n%%EOF",
    ],
    "dates": [
        b"3 May 2024",
        "3 мая 2024".encode(),
        "2024年5月3日".encode(),
        b"2024-05-03T10:00:00+02:00",
        b"03.05.2024",
    ],
    "rules": [
        b"[[rule]]\ndomain = 'site.example'\nurls = ['/{year}/{id}', '^/news/\\d+$']\ntext = ['article']\n"
        b"date = ['time@datetime']\ndate_format = '%d.%m.%Y'\nremove = ['.share']\ncategory = 'news'\n",
    ],
    "fingerprints": [b"the quick brown fox " * 10, "汉字没有空格".encode() * 10],
    "feeds": [
        b'\x00<?xml version="1.0"?><rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>T</title>'
        b'<atom:link rel="hub" href="https://hub.example/"/><ttl>60</ttl><item><title>A &amp; B</title><link>/a</link>'
        b"<guid isPermaLink='false'>1</guid><pubDate>Fri, 03 May 2024 10:00:00 GMT</pubDate></item></channel></rss>",
        b'\x01<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/b/"><entry><id>x</id><link href="a"/>'
        b"<updated>2024-05-03T10:00:00Z</updated></entry></feed>",
        b'\x02{"version": "https://jsonfeed.org/version/1.1", "hubs": [{"type": "WebSub", "url": "https://hub.example/"}],'
        b' "items": [{"id": "1", "url": "/a", "date_published": "2024-05-03T10:00:00Z"}]}',
        b'\x03<rdf:RDF xmlns="http://purl.org/rss/1.0/"><item rdf:about="/a"><dc:date>2024</dc:date></item>',
    ],
    "push": [
        b"sha256=00ff",
        b"hub.mode=subscribe&hub.topic=https%3A%2F%2Fsite.example%2Ffeed.xml%3Fa%3D1&hub.challenge=c&hub.lease_seconds=900",
        b"hub.mode=denied&hub.topic=x&hub.reason=because",
        b'<https://hub.example/>; rel="hub", </feed.xml>; rel=self; type="application/rss+xml"',
    ],
    "urls": [
        b"https://user:pass@WWW.Site.Example:443/a/../b;jsessionid=1?utm_source=x&b=%7e#top\n//other.example/x\n?q=1",
        "http://münchen.example/ü?ü\nhttp://0x7f.1/\nhttp://[::ffff:127.0.0.1]/\nhttp://a..b./".encode(),
    ],
    "sitemaps": [
        b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>/a</loc>'
        b"<lastmod>2024-05-03</lastmod><changefreq>daily</changefreq><priority>0.8</priority></url></urlset>",
        b"<sitemapindex><sitemap><loc>https://site.example/s.xml.gz</loc></sitemap></sitemapindex>",
        b"https://site.example/a\nhttps://site.example/b\n",
    ],
    "robots": [
        b"/a/b\nUser-agent: *\nDisallow: /a*/b$\nAllow: /a/%7Eb\nCrawl-delay: 2\nSitemap: https://site.example/s.xml\n",
        b"/x\n\xef\xbb\xbfuser-agent: gossamer\nuser-agent: other\ndisallow:\n\ndisallow: /\n"
        b"Content-Signal: ai-train=no\n",
    ],
    "queries": [
        b'"solar sail" -boat moon OR mars site:example.org/news intitle:x lang:ru filetype:pdf '
        b"after:2024 before:2025-02",
        '«новости дня» sort:date category:"a b" -(x) −y 新闻'.encode(),
    ],
    "settings": [
        b'[crawl]\ncontact = "a@example.org"\nworkers = 2\n[scope]\nmode = "list"\nhosts = ["*.example.org"]\n'
        b'filters = [{allow = true, prefix = "https://a.example/"}]\n',
        b'[schedules.nightly]\nrun = "rank"\nat = "sun 03:30"\n[sites."a.example"]\ncookies = {a = "b"}\n'
        b'javascript = "auto"\n',
        b'[alerts]\nsmtp_host = "mail.example"\noperators = ["a@example.org"]\n[network]\nallow = ["10.0.0.0/8"]\n',
    ],
    "responses": [
        b"\x01HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
        b"\x40HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"5\r\nhello\r\n0\r\n\r\n",
        b"\x10HTTP/1.0 301 Moved\r\nLocation: /b\r\nSet-Cookie: a=b; Path=/\r\n\r\n",
    ],
    "addresses": [
        b"https://www.site.example:8080/2024/05/03/a-page-of-news.html?id=7&utm_source=x",
        b"news/12/index.php?a=1&b=2;c\n//a//b/../%2e%2e/\nhttp://[::1]/?=&=",
        "статьи/новости-дня\n新闻/第一".encode(),
    ],
}


def fuzz_one(name: str, seconds: int, inputs: list[str]) -> int:
    """Runs in a process of its own: libFuzzer ends the process it runs in."""
    import atheris

    with atheris.instrument_imports(include=["gossamer"]):
        import targets
    target = targets.TARGETS[name]
    corpus = HERE / "corpus" / name
    corpora.unpack(name, corpus)
    for number, seed in enumerate(SEEDS[name]):
        (corpus / f"seed-{number}").write_bytes(seed)
    crashes = HERE / "crashes" / name
    crashes.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        "-timeout=10",
        "-rss_limit_mb=4096",
        "-max_len=65536",
        "-print_final_stats=1",
    ]
    options.append(f"-artifact_prefix={crashes}/")
    atheris.Setup([sys.argv[0], *options, *(inputs or [str(corpus)])], lambda data: targets.run(target, data))
    atheris.Fuzz()
    return 0


def main() -> int:
    """All targets one after the other, or one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", choices=[*SEEDS, "all"], default="all")
    parser.add_argument("inputs", nargs="*", help="files to run again instead of fuzzing")
    parser.add_argument("--seconds", type=int, default=60, help="time for each target")
    parser.add_argument("--keep", action="store_true", help="pack what was found worth keeping, and fuzz nothing")
    options = parser.parse_args()
    if options.keep:
        for name in SEEDS if options.target == "all" else [options.target]:
            corpora.pack(name, HERE / "corpus" / name)
        return 0
    if options.target != "all":
        return fuzz_one(options.target, options.seconds, options.inputs)
    failed = []
    for name in SEEDS:
        print(f"== {name}: {options.seconds} s", flush=True)
        command = [sys.executable, str(HERE / "run.py"), name, "--seconds", str(options.seconds)]
        if subprocess.run(command, env={**os.environ, "PYTHONPATH": str(HERE)}, check=False).returncode:
            failed.append(name)
    print(f"failed: {', '.join(failed)}: see fuzz/crashes" if failed else "nothing found")
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
