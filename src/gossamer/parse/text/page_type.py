"""Facts about a page as a whole, from which its type is told: address, claims, shape.

A claim (`og:type`, JSON-LD) is a hint and no more: shops call every page a website, and
blogs put an Article on their front pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from math import log1p
from urllib.parse import urlsplit

import numpy as np

from gossamer.parse.text.measures import Measures, total
from gossamer.parse.text.tags import NAME_NUMBERS

PAGE_TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""Collection: a category of things to buy; listing: other lists of links; service: what a company offers."""

_SCHEMA = """
    article newsarticle blogposting techarticle webpage product offer aggregateoffer productgroup aggregaterating
    review itemlist collectionpage breadcrumblist discussionforumposting qapage faqpage question organization
    localbusiness softwareapplication service website recipe howto event jobposting videoobject imageobject person
""".split()
_OPEN_GRAPH = ("article", "website", "product", "profile")
_URL_WORDS = """
    blog news article post story product products item shop store collection collections category c p
    topic topics forum forums thread threads viewtopic t questions discussion community comments
    docs doc documentation reference api guide guides manual tutorial wiki help support learn
    search list directory best top reviews pricing features solutions services service platform about jobs html php
""".split()
_NAME_WORDS = """
    single post page product collection category archive home template index forum topic thread viewtopic question
    docs documentation wiki mediawiki sphinx docusaurus discourse xenforo phpbb vbulletin wordpress shopify woocommerce
    blog article shop store search tag list catalog service landing
""".split()
_HOST_WORDS = ("docs", "forum", "forums", "community", "developer", "blog", "shop", "store", "support", "help")
_COUNTED = """
    p li h1 h2 h3 h4 table tr td form article section main nav aside pre button figure dl details blockquote label
    header
""".split()
_COUNTED_NUMBERS = [NAME_NUMBERS.get(name, 0) for name in _COUNTED]
"""0, which stands for no element here, for what is no block: the models were trained with a place for it."""
_PARAGRAPH, _ITEM = NAME_NUMBERS["p"], NAME_NUMBERS["li"]
SHAPE = len(_COUNTED) + 10
"""How many numbers `page_shape` gives."""
_LETTERS = re.compile(r"[^a-z]+")
_YEAR = re.compile(r"/(?:19|20)\d\d[/-]")
_URL_CHARS = 2_000
_PRICE_CHARS = 40
_LONG = 20
"""Words of a block that is more than a label."""


def page_claims(url: str, open_graph: str, names: str, schema_types: Collection[str]) -> list[float]:
    """What the address and the page's own metadata say; `names` are those of its body and its generator."""
    words = frozenset(_LETTERS.split(names[:_URL_CHARS].lower()))
    kinds = frozenset(schema_types)
    claim = open_graph.lower()
    return [
        *_address(url),
        *[name in claim for name in _OPEN_GRAPH],
        not claim,
        *[name in kinds for name in _SCHEMA],
        len(kinds),
        *[word in words for word in _NAME_WORDS],
    ]


def page_shape(m: Measures) -> list[float]:
    """What the page is made of: numbers of elements, then of other things, then shares."""
    if m.shape is not None:
        counts, links, prices, long_words, long_blocks, most, paragraphs, items = m.shape(
            len(NAME_NUMBERS) + 1, _PARAGRAPH, _ITEM, _PRICE_CHARS, _LONG
        )
    else:
        counts = np.bincount(m.page.tags.names, minlength=len(NAME_NUMBERS) + 1).tolist()
        long = m.words > _LONG
        links, long_words, long_blocks = total(m.links), total(m.words * long), np.count_nonzero(long)
        most, prices = float(m.words.max()), _prices(m.texts) if _has_price(m.joined) else 0
        paragraphs, items = (total(m.chars * (m.holder_names == name)) for name in (_PARAGRAPH, _ITEM))
    said = float(m.running_sums[2, -1])
    words = max(said, 1.0)
    return [
        *[log1p(counts[number]) if number else 0.0 for number in _COUNTED_NUMBERS],
        log1p(links),
        log1p(len(m.page.parents)),
        log1p(prices),
        long_words / words,
        log1p(long_blocks),
        log1p(most),
        said / m.count,
        paragraphs / m.total,
        items / m.total,
        float(m.running_sums[3, -1]) / words,
    ]


def _has_price(text: str) -> bool:
    return "$" in text or "€" in text or "£" in text


def _prices(texts: list[str]) -> int:
    return sum([len(text) < _PRICE_CHARS and _has_price(text) for text in texts])


def _address(url: str) -> list[float]:
    try:
        parts = urlsplit(url[:_URL_CHARS])
        host, path, query = parts.hostname or "", parts.path, parts.query
    except ValueError:
        host, path, query = "", "", ""
    segments = [segment for segment in path.split("/") if segment]
    last = segments[-1] if segments else ""
    words = frozenset(_LETTERS.split(path.lower()))
    labels = frozenset(_LETTERS.split(host.lower()))
    return [
        len(segments),
        len(path),
        len(last),
        last.count("-") + last.count("_"),
        sum(map(str.isdigit, path)),
        sum(map(str.isdigit, last)),
        _YEAR.search(path) is not None,
        query.count("="),
        *[word in words for word in _URL_WORDS],
        *[word in labels for word in _HOST_WORDS],
    ]
