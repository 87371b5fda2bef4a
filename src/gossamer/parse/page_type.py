"""Facts about a page as a whole, from which its type is told: address, claims, shape.

A claim (`og:type`, JSON-LD) is a hint and no more: shops call every page a website, and
blogs put an Article on their front pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from urllib.parse import urlsplit

import numpy as np

from gossamer.parse.measures import Measures

PAGE_TYPES = ("article", "collection", "documentation", "forum", "listing", "product", "service")
"""Collection: a category of things to buy; listing: other lists of links; service: what a company offers."""

Facts = list[tuple[str, float]]

_SCHEMA = """
    article newsarticle blogposting techarticle webpage product offer aggregateoffer productgroup aggregaterating
    review itemlist collectionpage breadcrumblist discussionforumposting qapage faqpage question organization
    localbusiness softwareapplication service website recipe howto event jobposting videoobject imageobject person
"""
_OPEN_GRAPH = ("article", "website", "product", "profile")
_URL_WORDS = """
    blog news article post story product products item shop store collection collections category c p
    topic topics forum forums thread threads viewtopic t questions discussion community comments
    docs doc documentation reference api guide guides manual tutorial wiki help support learn
    search list directory best top reviews pricing features solutions services service platform about jobs html php
"""
_NAME_WORDS = """
    single post page product collection category archive home template index forum topic thread viewtopic question
    docs documentation wiki mediawiki sphinx docusaurus discourse xenforo phpbb vbulletin wordpress shopify woocommerce
    blog article shop store search tag list catalog service landing
"""
_HOST_WORDS = ("docs", "forum", "forums", "community", "developer", "blog", "shop", "store", "support", "help")
_COUNTED = """
    p li h1 h2 h3 h4 table tr td form article section main nav aside pre button figure dl details blockquote label
    header
""".split()
_LETTERS = re.compile(r"[^a-z]+")
_YEAR = re.compile(r"/(?:19|20)\d\d[/-]")
_URL_CHARS = 2_000
_PRICE_CHARS = 40
_PLACES = {"p": 1, "li": 2}


def page_claims(url: str, open_graph: str, names: str, schema_types: Collection[str]) -> Facts:
    """What the address and the page's own metadata say; `names` are those of its body and its generator."""
    words = frozenset(_LETTERS.split(names[:_URL_CHARS].lower()))
    named: Facts = [(f"name {word}", word in words) for word in _NAME_WORDS.split()]
    return _address(url) + _claims(open_graph.lower(), schema_types) + named


def page_shape(m: Measures) -> Facts:
    """What the page is made of."""
    names = Counter([tag.name for tag in m.page.tags])
    facts = [(f"n {name}", float(np.log1p(names[name]))) for name in _COUNTED]
    words = max(float(m.words.sum()), 1.0)
    long = m.words > 20
    tags = m.page.tags
    holders = np.array([_PLACES.get(tags[holder].name, 0) for holder in m.page.holders])
    prices = sum(1 for text in m.texts if len(text) < _PRICE_CHARS and ("$" in text or "€" in text or "£" in text))
    return [
        *facts,
        ("n links", float(np.log1p(m.links.sum()))),
        ("n elements", float(np.log1p(len(m.page.tags)))),
        ("n prices", float(np.log1p(prices))),
        ("long share", float(m.words[long].sum() / words)),
        ("long blocks", float(np.log1p(long.sum()))),
        ("longest", float(np.log1p(m.words.max()))),
        ("mean words", float(m.words.mean())),
        ("p chars", float(m.chars[holders == _PLACES["p"]].sum() / m.total)),
        ("li chars", float(m.chars[holders == _PLACES["li"]].sum() / m.total)),
        ("ends share", float(m.ends.sum() / words)),
    ]


def _address(url: str) -> Facts:
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
        ("url depth", len(segments)),
        ("url length", len(path)),
        ("url last", len(last)),
        ("url hyphens", last.count("-") + last.count("_")),
        ("url digits", sum(map(str.isdigit, path))),
        ("url last digits", sum(map(str.isdigit, last))),
        ("url year", _YEAR.search(path) is not None),
        ("url query", query.count("=")),
        *((f"url {word}", word in words) for word in _URL_WORDS.split()),
        *((f"host {word}", word in labels) for word in _HOST_WORDS),
    ]


def _claims(open_graph: str, schema_types: Collection[str]) -> Facts:
    kinds = frozenset(schema_types)
    return [
        *((f"og {name}", name in open_graph) for name in _OPEN_GRAPH),
        ("og none", not open_graph),
        *((f"schema {name}", name in kinds) for name in _SCHEMA.split()),
        ("schemas", len(kinds)),
    ]
