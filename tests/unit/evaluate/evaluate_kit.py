"""A ranker that is obvious, and collections of a few documents."""

from __future__ import annotations

from collections.abc import Sequence

from gossamer.evaluate.collections import Collection, Doc


class SharedWords:
    """Ranks by the number of words shared with the query, then in the order given; nothing shared, nothing found."""

    def __init__(self, documents: Sequence[Doc], titles: bool = True) -> None:
        self._words = {d.id: set(f"{d.title if titles else ''} {d.text}".lower().split()) for d in documents}

    def rank(self, query: str, limit: int) -> list[str]:
        asked = set(query.lower().split())
        shared = {ident: len(asked & words) for ident, words in self._words.items()}
        return sorted((i for i in shared if shared[i]), key=lambda ident: -shared[ident])[:limit]


ANIMALS = Collection(
    name="animals",
    documents=[
        Doc("a", "the fox", "red and quick", "en"),
        Doc("b", "the dog", "lazy and brown", "en"),
        Doc("c", "the cat", "quick and lazy", "en"),
    ],
    queries={"1": "quick fox", "2": "lazy cat", "3": "dog", "4": "horse"},
    judgements={"1": {"a": 2, "c": 1}, "2": {"b": 0, "c": 1}, "3": {"b": 1}, "4": {"a": 0}},
)
