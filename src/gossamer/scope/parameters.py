"""Query parameters that never change the text: session ids, print views, `replytocom`, `utm_…`.

URLs that are equal up to one parameter are a *group*. A parameter is silent if in no group two different texts were
found, in enough groups a page with it turned out to be a copy of another page of the group (duplicate, alias or
redirect), and the URL without it is known in every group: then it may be refused, because its pages are found without
it. One counterexample is enough against it.
"""

from __future__ import annotations

from array import array
from collections import defaultdict

import msgspec
import numpy as np
import numpy.typing as npt

from gossamer.model.site import key64


class Parameter(msgspec.Struct, frozen=True):
    """Counts of a parameter of a site."""

    name: str
    urls: int
    """Visited URLs that have it."""
    groups: int
    """Groups in which it was seen."""
    same: int
    """Of them: a page with it was a copy of another page of the group."""
    differ: int
    """Of them: two pages had different texts."""
    alone: int
    """Of them: the URL without it is not known."""

    def says_nothing(self, groups: int) -> bool:
        """Whether there is enough evidence, and none against."""
        return self.same >= groups and not self.differ and not self.alone


class ParameterColumns:
    """Results of visits to URLs with a query."""

    def __init__(self) -> None:
        self._groups: dict[str, array[int]] = defaultdict(lambda: array("q"))
        self._facts: dict[str, array[int]] = defaultdict(lambda: array("B"))

    def add(self, url: str, document: bool, target: str) -> None:
        """A visited URL: whether it is a document of its own, and which URL it was a copy of or leads to."""
        start = url.find("?")
        if start < 0:
            return
        pairs = url[start + 1 :].split("&")
        for name in {pair.partition("=")[0] for pair in pairs}:
            rest = without(url, name)
            same = bool(target) and without(target, name) == rest
            self._groups[name].append(key64(rest))
            self._facts[name].append(document | same << 1)

    def parameters(self, keys: npt.NDArray[np.int64], documents: npt.NDArray[np.bool_]) -> list[Parameter]:
        """All parameters, given the keys of all URLs of the site and which of them are documents of their own."""
        order = np.argsort(keys)
        return [self._parameter(name, keys[order], documents[order]) for name in sorted(self._groups)]

    def _parameter(self, name: str, keys: npt.NDArray[np.int64], documents: npt.NDArray[np.bool_]) -> Parameter:
        facts = np.array(self._facts[name], np.uint8)
        groups, member = np.unique(np.array(self._groups[name], np.int64), return_inverse=True)
        texts = np.bincount(member, facts & 1, len(groups))
        same = np.bincount(member, facts >> 1, len(groups)) > 0
        place = np.minimum(np.searchsorted(keys, groups), max(len(keys) - 1, 0))
        bare = keys[place] == groups if len(keys) else np.zeros(len(groups), bool)
        texts = texts + (bare & documents[place] if len(keys) else 0)
        return Parameter(
            name, len(facts), len(groups), int((same & (texts == 1)).sum()), int((texts > 1).sum()), int((~bare).sum())
        )


def without(url: str, name: str) -> str:
    """A URL without one of its parameters, all its occurrences."""
    path, _, query = url.partition("?")
    rest = "&".join(pair for pair in query.split("&") if pair.partition("=")[0] != name)
    return f"{path}?{rest}" if rest else path
