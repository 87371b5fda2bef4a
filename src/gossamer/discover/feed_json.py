"""JSON Feed 1 and 1.1, read leniently: a field of the wrong type is as good as missing.

The values of unused fields are never built, and the number of objects is counted before any is,
so that a hostile body of the full size costs some tens of megabytes, not a gigabyte.
"""

from __future__ import annotations

import msgspec

from gossamer.discover.feed_values import Feed, FeedEntry, plain_title, plausible

_MOST_OBJECTS = 200_000
_NOTHING = msgspec.Raw(b"null")


class _Item(msgspec.Struct, gc=False):
    id: msgspec.Raw = _NOTHING
    url: msgspec.Raw = _NOTHING
    external_url: msgspec.Raw = _NOTHING
    title: msgspec.Raw = _NOTHING
    date_published: msgspec.Raw = _NOTHING
    date_modified: msgspec.Raw = _NOTHING


class _Document(msgspec.Struct):
    version: msgspec.Raw = _NOTHING
    title: msgspec.Raw = _NOTHING
    feed_url: msgspec.Raw = _NOTHING
    hubs: msgspec.Raw = _NOTHING
    items: msgspec.Raw = _NOTHING


class _Hub(msgspec.Struct, gc=False):
    url: str = ""


_document = msgspec.json.Decoder(_Document)
_items = msgspec.json.Decoder(list[_Item | None])
_hubs = msgspec.json.Decoder(list[_Hub])
_text = msgspec.json.Decoder(str | int | float | bool | None)


def read_json(body: bytes, feed: Feed, most_entries: int, most_hubs: int) -> None:
    """Adds what a JSON feed says; it is complete, or it has a problem."""
    if body.count(b"{") > _MOST_OBJECTS:
        feed.problem = f"more than {_MOST_OBJECTS:,} objects, which no feed needs"
        return
    try:
        # A wrong byte costs a character, not the feed.
        document = _document.decode(body.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").encode())
        if "jsonfeed.org" not in _string(document.version) and document.items is _NOTHING:
            feed.problem = "JSON, but no feed"
            return
        feed.kind = "json"
        feed.title = plain_title(_string(document.title))
        feed.self_url = _string(document.feed_url).strip()
        feed.hubs = _hub_urls(document.hubs, most_hubs)
        items = _items.decode(document.items) if document.items is not _NOTHING else []
    except (msgspec.DecodeError, RecursionError) as error:
        feed.problem = f"not the JSON of a feed: {error}"[:200]
        return
    for item in items:
        if item is not None and not _add(item, feed, most_entries):
            feed.problem = "more entries than the limit, the rest is left out"
            return


def _add(item: _Item, feed: Feed, most_entries: int) -> bool:
    """Adds an item unless there is no more room."""
    name = _string(item.id).strip()
    url = _string(item.url).strip() or _string(item.external_url).strip()
    if not url and name.startswith(("http://", "https://")):
        url = name
    if not url:
        return True
    if len(feed.entries) >= most_entries:
        return False
    published, updated = (_string(raw) for raw in (item.date_published, item.date_modified))
    entry = FeedEntry(url, plain_title(_string(item.title)), plausible(published), plausible(updated), name)
    feed.entries.append(entry)
    return True


def _hub_urls(raw: msgspec.Raw, most: int) -> list[str]:
    try:
        return [hub.url.strip() for hub in _hubs.decode(raw)[:most] if hub.url.strip()]
    except (msgspec.DecodeError, RecursionError):
        return []


def _string(raw: msgspec.Raw) -> str:
    """A text, or a number as text; empty for anything else."""
    try:
        value = _text.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return ""
    return "" if value is None or isinstance(value, bool) else str(value)
