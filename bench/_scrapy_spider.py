"""The Scrapy side of the benchmark: follows every link of the given sites and keeps nothing.

Run by Scrapy's interpreter: `_scrapy_spider.py '{"seeds": [...], "resolve": {"host": "ip"}}'`.
As favourable to Scrapy as its documentation allows: 16 connections a site, no delay,
no log, no item, off-site links dropped by the extractor before a request is built.
"""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.linkextractors import LinkExtractor
from scrapy.resolver import dnscache

SETTINGS = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 16,
    "DOWNLOAD_DELAY": 0,
    "ROBOTSTXT_OBEY": True,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "USER_AGENT": "Scrapy",
}


class Links(scrapy.Spider):
    name = "links"

    def __init__(self, seeds: list[str]) -> None:
        super().__init__()
        self.seeds = seeds
        self.extractor = LinkExtractor(allow_domains=[urlsplit(seed).netloc for seed in seeds])

    async def start(self) -> AsyncIterator[scrapy.Request]:
        for seed in self.seeds:
            yield scrapy.Request(seed)

    def parse(self, response: Response) -> Iterator[scrapy.Request]:
        if isinstance(response, HtmlResponse):
            for link in self.extractor.extract_links(response):
                yield scrapy.Request(link.url)


def main() -> None:
    task = json.loads(sys.argv[1])
    for host, address in task["resolve"].items():
        dnscache[host] = address
    process = CrawlerProcess(SETTINGS)
    process.crawl(Links, seeds=task["seeds"])
    process.start()


if __name__ == "__main__":
    main()
