"""The compiled search for a query's words in a text, and its twin in Python, find the same places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import compiled
from gossamer.index.analysis import Languages
from gossamer.search import excerpt, matching
from gossamer.search.excerpt import Highlighter
from gossamer.search.query.words import units
from gossamer.search.results import Marked

pytestmark = pytest.mark.skipif(bool(compiled.refused()), reason="the compiled modules are not built, or switched off")

LANGUAGES = Languages(("en", "ru", "de", "fr", "ar", "hi", "zh", "th", "ko"))
WEIGHTS = {"title": 1.0, "body": 1.0, "body_stems": 1.0}
QUERIES = (
    "rocket", "a", "the of a to", "runs city", "Ракета летит", "été naïve", "कमल हिन्दी", "والبيت", "火箭 github",
    "ß strasse", "x_y snake_case", "i", "a b c d e f g h", "ไทย", "e\u0301te",
)  # fmt: skip
WORDS = (
    *"rocket rockets Rocket's rock.et _rocket rocket_ rocketry a an the to of i run running city cities".split(),
    *"ракета ракеты РАКЕТА летит été ete É naïve naive हिन्दी हिंदी कमल कमल\u0902 والبيت بيت البيت".split(),
    *"火箭的历史 GitHub平台 ß STRASSE straße snake_case x_y e\u0301te ไทยแลนด์ a\u0300 İstanbul \ud800 🙂".split(),
    "x" * 70, "rocket" + "x" * 70, " ", "\n", ". ", "-", "…", "\u200d",
)  # fmt: skip
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=8), max_size=120).flatmap(
    lambda parts: st.sampled_from(("", " ", "\n")).map(lambda between: between.join(parts))
)


def both(action: Callable[[], Any]) -> tuple[Any, Any]:
    """What an action gives with the compiled module, and with the twin."""
    first = action()
    with pytest.MonkeyPatch.context() as patch:
        for module in (matching, excerpt):
            patch.setattr(module, "_COMPILED", None)
        return first, action()


@given(query=st.sampled_from(QUERIES), text=texts)
def test_excerpts_and_titles_are_equal(query: str, text: str) -> None:
    def shown() -> tuple[Marked, Marked]:
        found = [unit.needle for word in query.split() for unit in units(word, LANGUAGES, WEIGHTS)]
        highlighter = Highlighter(found)
        return highlighter.excerpt(text), highlighter.mark(text[:200])

    compiled_, python = both(shown)
    assert compiled_ == python


def test_every_character_is_made_comparable_alike() -> None:
    everything = "".join(map(chr, range(0x110000)))
    for text in (*everything, "ΣΑΣ", "İ\u0307I", f"{'é' * 3000}أ", f"{'é' * 3000}ł", "é“ł”"):
        compiled_, python = both(lambda text=text: (matching.Folded(text).lower, matching.Folded(text).plain))
        assert compiled_ == python, hex(ord(text[0]))


def test_the_compiled_module_is_the_one_that_runs() -> None:
    assert matching._COMPILED is not None
    assert "excerpts" in compiled.running()
