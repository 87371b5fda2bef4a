"""The configuration of a parser, and the full scope: apart from parsing, which only parsers load.

Messages to a parser are frames of 4 bytes length, one byte type and a msgpack payload.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gossamer.model.url import CanonicalRules
from gossamer.parse.fields.config import FieldConfig
from gossamer.parse.limits import ParseLimits
from gossamer.parse.rules import DocumentRule
from gossamer.plugins import RULES
from gossamer.scope.automatic import Fits
from gossamer.scope.chain import Chain, ScopeConfig, build_chain

CONFIG, JOB, KNOW = b"C", b"J", b"K"
"""Types of messages."""


class ParserConfig(msgspec.Struct, frozen=True):
    """The configuration of a parser."""

    urls: CanonicalRules
    scope: ScopeConfig
    rules: tuple[str, ...]
    """Names of the plug-ins' rules."""
    limits: ParseLimits
    memory: int = 0
    """Mebibytes of address space; 0: no limit."""
    near: str = "minhash"
    """Method that finds near-duplicates, or `none`."""
    documents: tuple[DocumentRule, ...] = ()
    """Document rules."""
    categories: bytes = b""
    """The stored classifier of categories; empty if there is none."""
    mirrors: dict[str, str] = {}
    """Sites and the origins that represent them."""
    learn: bool = True
    """Whether pages tell what they show of their sites."""
    fields: dict[str, FieldConfig] = {}
    """The operator's own fields."""


class SiteKnown(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a site, for a parser."""

    site: str
    version: int
    """0: forget it."""
    facts: bytes
    """Encoded `site.facts.Facts`."""


def full_chain(config: ScopeConfig, rules: Sequence[str], fits: Fits) -> Chain:
    """The chain of the settings, with the plug-ins' rules at its end; `fits`: whether a URL fits a document rule."""
    chain = build_chain(config, fits)
    if not rules:
        return chain
    # Nothing is cached: a plug-in's rule may depend on more than the URL and the day.
    return Chain([*chain.rules, *(RULES.get(name)() for name in rules)])


def frame(kind: bytes, payload: bytes) -> bytes:
    """A message of the worker."""
    return len(payload).to_bytes(4, "little") + kind + payload
