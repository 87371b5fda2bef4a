"""The Scrapy side of the benchmark: follows every link of the given sites; keeps nothing, or text as JSON lines.

Run by Scrapy's interpreter: `_scrapy_spider.py '{"seeds": [...], "resolve": {"host": "ip"}}'`, with
`"keep": true` for address, title and text of each page in `documents.jsonl`, and `"durable": true`
for a job folder from which it can go on. As favourable to Scrapy as its documentation allows:
16 connections a site, no delay, no log, off-site links dropped by the extractor before a request is built.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache

from _plain_text import document

SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "Scrapy",
}
KEEP = {"FEEDS": {"documents.jsonl": {"format": "jsonlines", "encoding": "utf8", "overwrite": False}}}
DURABLE = {"JOBDIR": "job"}


class Links(scrapy.Spider):
    name = "links"

    def __init__(self, seeds: list[str], keep: bool, durable: bool) -> None:
        super().__init__()
        self.seeds = seeds
        self.keep = keep
        self.durable = durable
        self.extractor = LinkExtractor(allow_domains=[urlsplit(seed).netloc for seed in seeds])

    async def start(self) -> AsyncIterator[scrapy.Request]:
        for seed in self.seeds:
            # As Scrapy's own start does, so that a job that lost its queue has somewhere to begin.
            yield scrapy.Request(seed, dont_filter=self.durable)

    def parse(self, response: Response) -> Iterator[scrapy.Request | dict[str, str]]:
        if isinstance(response, HtmlResponse):
            if self.keep:
                yield document(response.url, response.selector)
            for link in self.extractor.extract_links(response):
                yield scrapy.Request(link.url)


def main() -> None:
    task = json.loads(sys.argv[1])
    for host, address in task["resolve"].items():
        dnscache[host] = address
    keep, durable = task.get("keep", False), task.get("durable", False)
    process = CrawlerProcess(SETTINGS | (KEEP if keep else {}) | (DURABLE if durable else {}))
    process.crawl(Links, seeds=task["seeds"], keep=keep, durable=durable)
    process.start()


if __name__ == "__main__":
    main()
