"""What reading a page costs a parser: the greater part of what a page costs whatever the size of the URL table."""

from __future__ import annotations

import statistics
import time
from random import Random

from gossamer.crawl.parser_config import ParserConfig
from gossamer.crawl.reading import PageParser
from gossamer.model.records import Kind, ParseJob
from gossamer.model.url import CanonicalRules
from gossamer.parse.limits import ParseLimits
from gossamer.scope.chain import ScopeConfig
from studies.duplicates.page_texts import made_up_texts
from studies.growth.frontier_load import LINKS
from studies.growth.made_up_frontier import Site

_WARM_UP = 20
_PARAGRAPH = 60
"""Words in a paragraph."""


def reading_cost(pages: int, seed: int) -> float:
    """Median microseconds of processor time to read a made-up page of 250 to 1,200 words with 80 links."""
    site = Site("www.site.example", 100_000)
    settings = ParserConfig(CanonicalRules(), ScopeConfig(hosts=(site.name,)), (), ParseLimits())
    reader, dice, times = PageParser(settings), Random(seed), list[float]()
    for number, text in enumerate(made_up_texts(_WARM_UP + pages, seed)):
        job = ParseJob(site.url(number), Kind.PAGE, "text/html; charset=utf-8", _page(site, text, dice).encode())
        started = time.process_time()
        parsed = reader.read(job)
        times.append(1e6 * (time.process_time() - started))
        assert parsed.ok
    return statistics.median(times[_WARM_UP:])


def _page(site: Site, text: str, dice: Random) -> str:
    words = text.split()
    title = " ".join(words[:6])
    paragraphs = "".join(
        f"<p>{' '.join(words[start : start + _PARAGRAPH])}.</p>" for start in range(0, len(words), _PARAGRAPH)
    )
    links = "".join(f'<li><a href="{site.url(dice.randrange(site.size))}">{word}</a></li>' for word in words[:LINKS])
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title></head><body><nav><ul>{links}</ul></nav>"
        f"<main><h1>{title}</h1>{paragraphs}</main></body></html>"
    )
