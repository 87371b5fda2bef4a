"""Takes the values of fields out of a page; leaves the tree as it was.

Of several objects of a type the one counts that names this page. If none does, and they disagree, a field of one value
has none: a list of products is no product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any

from gossamer.model.fields import FieldValue, shown
from gossamer.model.site import host_of, site_of
from gossamer.parse.fields.config import FieldConfig, Fields
from gossamer.parse.fields.sources import Source, read_source
from gossamer.parse.fields.values import value_of
from gossamer.parse.html import Element, Tree
from gossamer.parse.json_ld import objects_in
from gossamer.site.patterns import MAX_CHARS, path_and_query

MOST_VALUES = 20
"""Values of one field of a page."""
_LOOKED_AT = 200
"""Elements or objects that are looked at in one place."""
_AHEAD = timedelta(days=3660)
"""How far in the future a date may be: an event is announced before it takes place."""
_ATTRIBUTES = ("content", "datetime", "value", "href", "src")
_ANCESTORS = 100


class Taker:
    """The fields of the settings, ready for pages."""

    def __init__(self, fields: Fields) -> None:
        self._fields = [(name, one, list(map(read_source, one.sources(name)))) for name, one in fields.items()]

    def take(self, tree: Tree | None, url: str, now: float) -> list[FieldValue]:
        """The values of a page; without a tree only what its address says."""
        page = _Page(tree, url)
        latest = (datetime.fromtimestamp(now, UTC) + _AHEAD).date()
        found: list[FieldValue] = []
        for name, field, sources in self._fields:
            if not field.sites or _is_within(url, field.sites):
                found += _values(name, field, sources, page, latest)
        return found


def _is_within(url: str, sites: Sequence[str]) -> bool:
    site = site_of(url)
    host = host_of(site)
    return any(site == one or host == one or host.endswith(f".{one}") for one in sites)


def _values(name: str, field: FieldConfig, sources: Sequence[Source], page: _Page, latest: date) -> list[FieldValue]:
    for source in sources:
        read = [value_of(field.type, text, page.language, latest) for text in page.statements(source, field.several)]
        values = list(islice(dict.fromkeys(filter(None, read)), MOST_VALUES if field.several else 1))
        if values:
            return [FieldValue(name, field.type, value, source.written) for value in values]
    return []


class _Page:
    """A page and what is read of it only once."""

    def __init__(self, tree: Tree | None, url: str) -> None:
        self._tree, self._url = tree, url

    @property
    def language(self) -> str:
        return self._tree.language if self._tree is not None else ""

    @cached_property
    def _objects(self) -> list[dict[str, Any]]:
        return objects_in(self._tree) if self._tree is not None else []

    @cached_property
    def _named(self) -> dict[str, dict[str, Any]]:
        return {node["@id"]: node for node in self._objects if isinstance(node.get("@id"), str) and len(node) > 1}

    @cached_property
    def _metas(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for element in islice(self._tree.all("meta"), 500) if self._tree is not None else ():
            content = element.attr("content")
            name = element.attr("name") or element.attr("property") or element.attr("itemprop") or ""
            if content and name:
                found.setdefault(name.strip().lower(), []).append(content)
        return found

    def statements(self, source: Source, several: bool) -> list[str]:
        """What the page states in a place, as it stands there."""
        if source.capture is not None:
            target = path_and_query(self._url)
            return [source.capture.find(target)] if len(target) <= MAX_CHARS else []
        if self._tree is None:
            return []
        if source.kind == "css":
            elements = islice(self._tree.select(source.selector), _LOOKED_AT)
            return [_of_element(one, source.attribute) for one in elements]
        if source.kind == "meta":
            return self._metas.get(source.name, [])
        if source.kind == "microdata":
            return self._of_items(self._tree, source, several)
        return self._of_objects(source, several)

    def _of_objects(self, source: Source, several: bool) -> list[str]:
        objects = [node for node in self._objects if not source.type or source.type in _types(node)]
        own = [node for node in objects if self._is_about(node)]
        found = [texts for node in own or objects if (texts := list(self._follow(node, source.path)))]
        return _agreed(found, several or bool(own))

    def _is_about(self, node: dict[str, Any]) -> bool:
        page = node.get("mainEntityOfPage")
        if isinstance(page, dict):
            page = page.get("@id") or page.get("url")
        own = _address(self._url)
        return any(isinstance(one, str) and _address(one) == own for one in (node.get("url"), node.get("@id"), page))

    def _follow(self, value: Any, path: Sequence[str]) -> Iterator[str]:
        """The texts at the end of a path, through lists and references."""
        left = _LOOKED_AT

        def walk(value: Any, depth: int) -> Iterator[str]:
            nonlocal left
            left -= 1
            if left < 0:
                return
            if isinstance(value, list):
                for one in value[:_LOOKED_AT]:
                    yield from walk(one, depth)
            elif isinstance(value, dict):
                if len(value) <= 2 and isinstance(value.get("@id"), str):
                    value = {**self._named.get(value["@id"], {}), **value}
                if depth < len(path):
                    yield from walk(value.get(path[depth]), depth + 1)
                else:
                    named = next((value[key] for key in ("@value", "name", "value") if key in value), None)
                    if not isinstance(named, (dict, list)):
                        yield from walk(named, depth)
            elif depth == len(path) and value is not None:
                yield _text(value)

        yield from walk(value, 0)

    def _of_items(self, tree: Tree, source: Source, several: bool) -> list[str]:
        *outer, last = source.path
        items: dict[int, list[str]] = {}
        for element in islice(tree.select(f'[itemprop~="{last}"]'), _LOOKED_AT):
            item = _item_of(element, outer)
            if item is not None and (not source.type or source.type in _short((item.attr("itemtype") or "").split())):
                items.setdefault(id(item), []).append(_of_element(element, "", _ATTRIBUTES))
        return _agreed(list(items.values()), several)


def _agreed(found: Sequence[list[str]], together: bool) -> list[str]:
    """The statements of several objects; none if they must agree and do not."""
    if together or len({texts[0] for texts in found}) <= 1:
        return [text for texts in found for text in texts]
    return []


def _item_of(element: Element, outer: Sequence[str]) -> Element | None:
    """The item that a property belongs to, up a path of properties."""
    item = _around(element)
    for name in reversed(outer):
        if item is None or name not in (item.attr("itemprop") or "").split():
            return None
        item = _around(item)
    return item


def _around(element: Element) -> Element | None:
    parents = islice(element.ancestors, _ANCESTORS)
    return next((one for one in parents if isinstance(one, Element) and one.attr("itemscope") is not None), None)


def _of_element(element: Element, attribute: str, instead: Sequence[str] = ("content", "datetime")) -> str:
    """The attribute that was asked for; else one that states the value for programs, else the text."""
    if attribute:
        return element.attr(attribute) or ""
    stated: Callable[[str], str | None] = element.attr
    return next((text for name in instead if (text := stated(name))), None) or element.text


def _types(node: dict[str, Any]) -> list[str]:
    kind = node.get("@type")
    kinds = kind if isinstance(kind, list) else [kind]
    return _short([one for one in kinds[:10] if isinstance(one, str)])


def _short(kinds: Sequence[str]) -> list[str]:
    return [kind.strip().rpartition("/")[2].rpartition(":")[2].lower() for kind in kinds]


def _address(url: str) -> str:
    return url[:2000].partition("#")[0].partition("://")[2].removeprefix("www.").rstrip("/")


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return shown(value) if abs(value) < 1e18 else ""
    return value[:8000] if isinstance(value, str) else ""
