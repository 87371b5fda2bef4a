"""Pages of many hosts of today as a few sites over TLS: the folders, the certificate, the addresses.

Most hosts of WCXB have one page. As sites of their own they would measure robots.txt and politeness, not pages. So they
are dealt to a few sites of about as many bytes each: a page of host H is at `/H/NAME.html`, and a start page links to
all pages of a site. As in other cuts (`_cut.py`), references that stay on the site but lead to no page of it point to a
host that does not exist; all others stay as they are. Pages that refresh themselves are left out.
"""

from __future__ import annotations

import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

from _cut import Cut, make_cut
from _extraction_data import Sample
from _nginx import Tls
from _sites import Served, Source

NETWORK = "127.0.6"
_START = "/index.html"
_LIST = '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Site {name}</title><ul>\n{links}'
_LINK = '<li><a href="{path}">{path}</a></li>\n'


def make_sites(samples: Iterable[Sample], count: int, port: int, scratch: Path) -> list[Served]:
    """The pages as so many sites, the large hosts first, each to the site that has the fewest bytes."""
    hosts: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        hosts[urlsplit(sample.url).hostname or f"{sample.name}.test"].append(sample)
    sites: list[list[tuple[str, Sample]]] = [[] for _ in range(min(count, len(hosts)))]
    sizes = [0] * len(sites)
    for host, pages in sorted(hosts.items(), key=lambda item: (-_size(item[1]), item[0])):
        place = sizes.index(min(sizes))
        sizes[place] += _size(pages)
        sites[place] += [(host, page) for page in pages]
    return [_site(number, pages, port, scratch) for number, pages in enumerate(sites, 1)]


def make_start(port: int, scratch: Path) -> Served:
    """A site of one page: a crawl of it is start and end alone."""
    folder = scratch / "start"
    folder.mkdir()
    (folder / "index.html").write_text("<!DOCTYPE html><title>Start</title><p>The only page of this site has a text.")
    return _served("start", 250, Cut(str(folder), _START, [_START], 0.0, 0.0), port)


def file_of(site: Served, path: str) -> Path:
    """The file behind a path: pages link to the start of their site as `/`, too."""
    return Path(f"{site.cut.folder}{path}{'index.html' if path.endswith('/') else ''}")


def _size(pages: Sequence[Sample]) -> int:
    return sum(len(page.html) for page in pages)


def _site(number: int, pages: Sequence[tuple[str, Sample]], port: int, scratch: Path) -> Served:
    source = scratch / f"source-{number}"
    paths = []
    for host, page in pages:
        file = source / host / f"{Path(page.name).name}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page.html)
        paths.append(f"/{host}/{file.name}")
    links = "".join(_LINK.format(path=escape(path)) for path in sorted(paths))
    (source / "index.html").write_text(_LIST.format(name=number, links=links))
    # The pages' own links lead elsewhere, so all that is reached is what the list names.
    cut = make_cut(source, _START, len(paths) + 1, (), "", scratch / f"site-{number}")
    shutil.rmtree(source)
    return _served(f"site {number}", number, cut, port)


def _served(name: str, number: int, cut: Cut, port: int) -> Served:
    return Served(Source(name, "pages of many hosts", _START), cut, f"{NETWORK}.{number}", port)


def make_certificate(addresses: Iterable[str], folder: Path) -> tuple[Path, Tls]:
    """A test authority, and a certificate of it for the addresses (ECDSA, P-256, as most sites have)."""
    authority, key = folder / "ca.pem", folder / "ca-key.pem"
    certificate, own_key, request = folder / "cert.pem", folder / "key.pem", folder / "request.pem"
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    names = folder / "names"
    names.write_text("subjectAltName=" + ",".join(f"IP:{address}" for address in addresses) + "\n")
    usage = ["-addext", "keyUsage=critical,keyCertSign"]
    _openssl("req", "-x509", *curve, "-days", "2", "-subj", "/CN=Benchmark CA", *usage, "-keyout", key,
             "-out", authority)  # fmt: skip
    _openssl("req", *curve, "-subj", "/CN=benchmark", "-keyout", own_key, "-out", request)
    _openssl("x509", "-req", "-in", request, "-CA", authority, "-CAkey", key, "-days", "2", "-extfile", names,
             "-out", certificate)  # fmt: skip
    return authority, Tls(certificate, own_key)


def _openssl(*words: str | Path) -> None:
    if not shutil.which("openssl"):
        raise SystemExit("openssl is not installed; get it with: apt-get install openssl")
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
