"""Texts of the pages of real sites, as the live parser reads them; read once and kept in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.dedup.exact import content_hash
from gossamer.dedup.short import is_page_hash
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig
from studies.duplicates.page_texts import made_up_texts
from studies.study import Options
from studies.webs.catalogue import SITES, SiteSource, folder_of

_READING = 1
"""Part of a file's name in the cache: raise it when pages are read in another way."""
MADE_UP = "made-up"


class SiteText(msgspec.Struct, frozen=True, array_like=True):
    """A page with enough text to be compared, that may be indexed."""

    url: str
    title: str
    text: str
    lang: str
    content_hash: str


def site_texts(options: Options, names: Sequence[str], most: int) -> dict[str, list[SiteText]]:
    """Site → the texts of its pages, copies included, of as many sites as are here; `most` files of each, spread over
    the site. Without any site there is one that is made up."""
    known = {source.name: source for source in SITES}
    found = {name: _texts(known[name], options, most) for name in names}
    here = {name: texts for name, texts in found.items() if texts}
    return here or {MADE_UP: _made_up(most, options.seed)}


def _texts(source: SiteSource, options: Options, most: int) -> list[SiteText]:
    kept = options.cache / f"{source.name}-{most}-v{_READING}.texts"
    if kept.exists():
        return msgspec.msgpack.decode(kept.read_bytes(), type=list[SiteText])
    folder = folder_of(source, options)
    if folder is None:
        return []
    options.tell(f"{source.name}: reading texts")
    texts = read_texts(folder, source.address, most)
    options.cache.mkdir(parents=True, exist_ok=True)
    scratch = kept.with_name(kept.name + ".part")
    scratch.write_bytes(msgspec.msgpack.encode(texts))
    scratch.replace(kept)
    return texts


def read_texts(folder: Path, origin: str, most: int) -> list[SiteText]:
    """The texts of the HTML files of a folder."""
    reader = PageParser(ParserConfig(CanonicalRules(), ScopeConfig(), (), ParseLimits(), near="none"))
    paths = sorted(folder.rglob("*.html"))
    texts = []
    for path in paths[:: max(1, len(paths) // most)][:most]:
        place = str(path.relative_to(folder)).removesuffix("index.html")
        parsed = reader.read(ParseJob(f"{origin}/{place}", Kind.PAGE, "text/html", path.read_bytes()))
        if parsed.ok and not parsed.noindex and parsed.content_hash and not is_page_hash(parsed.content_hash):
            texts.append(SiteText(parsed.url, parsed.title, parsed.text, parsed.language, parsed.content_hash))
    return texts


def _made_up(number: int, seed: int) -> list[SiteText]:
    return [
        SiteText(f"https://www.made-up.example/{place}.html", f"Page {place}", text, "", content_hash(text))
        for place, text in enumerate(made_up_texts(number, seed))
    ]
