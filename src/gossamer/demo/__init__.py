"""The bundled small web of `gossamer demo`, and the loopback server under it.

Six hosts in English, Russian and Chinese, written for this purpose: articles,
redirects, canonical links, exact and near duplicates, a sitemap, a feed, broken
links, forbidden parts and traps. `DemoWeb.expected` says what a correct crawl keeps.
"""

from __future__ import annotations

from gossamer.demo.expected import Expected
from gossamer.demo.web import DemoWeb

__all__ = ["DemoWeb", "Expected"]
