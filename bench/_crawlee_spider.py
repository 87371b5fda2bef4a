"""The Crawlee side of the comparison: follows every link of the sites, keeps address, title and text of each page.

Run by Crawlee's interpreter: `_crawlee_spider.py '{"seeds": [...], "durable": true}'`, in an empty folder.
As favourable to Crawlee as its documentation allows: its autoscaling can take none of the 64 tasks
away, no log, no sessions, no check for bans, no retries. What is durable lies in its file-system storage, its
default; else queue and texts are in memory until the texts are written at the end. It sends no
telemetry of its own accord: its tracing is an extra that is not installed.
"""

import asyncio
import json
import logging
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.http_clients import ImpitHttpClient
from crawlee.storage_clients import FileSystemStorageClient, MemoryStorageClient

from _plain_text import document

TASKS = 64


async def crawl(seeds: list[str], durable: bool, insecure: bool) -> None:
    crawler = ParselCrawler(
        http_client=ImpitHttpClient(verify=not insecure),
        storage_client=FileSystemStorageClient() if durable else MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=TASKS, max_concurrency=TASKS, desired_concurrency=TASKS
        ),
        respect_robots_txt_file=True,
        max_request_retries=0,
        retry_on_blocked=False,
        use_session_pool=False,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def keep(context: ParselCrawlingContext) -> None:
        await context.enqueue_links(strategy="same-hostname")
        await context.push_data(document(context.request.loaded_url or context.request.url, context.selector))

    await crawler.run(seeds)
    if not durable:
        await crawler.export_data("documents.json")


def main() -> None:
    logging.disable(logging.CRITICAL)
    task = json.loads(sys.argv[1])
    asyncio.run(crawl(task["seeds"], task["durable"], task["insecure"]))


if __name__ == "__main__":
    main()
