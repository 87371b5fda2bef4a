"""What the crawlers without an extractor of their own keep of a page: address, title, all its text.

Scrapy and Crawlee both hand out parsel's selectors, so that the same lines do the same work in both.
"""

from typing import Any

_TEXT = "//body//text()[not(parent::script or parent::style or parent::noscript)]"


def document(url: str, selector: Any) -> dict[str, str]:
    """The record of a page."""
    words = " ".join(selector.xpath(_TEXT).getall()).split()
    return {"url": url, "title": selector.xpath("normalize-space(//title)").get(""), "text": " ".join(words)}
