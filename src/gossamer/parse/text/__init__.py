"""The main text: what remains of a page when its furniture is left out.

Methods, by name:

- `model`: a small trained model chooses among the blocks of the page (`model.py`);
- `furniture`: elements that are furniture by name, class or id are taken out (`furniture.py`);
- `token-range`: the stretch with many words and few tags (`token_range.py`).

The model has learnt from pages of the web as it is; about a page of a few lines it knows nothing, and
there the rules decide. Where a method finds nothing, the whole body is the text (`body`), and a page without any
text is `empty`: a page is never lost to the index because its shape was unusual.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from gossamer.parse.clean import clean_text
from gossamer.parse.html import Tree, rendered
from gossamer.parse.text.furniture import text_without_furniture
from gossamer.parse.text.measures import Measures
from gossamer.parse.text.model import PageFacts, text_model
from gossamer.parse.text.page_type import PAGE_TYPES
from gossamer.parse.text.token_range import densest_text
from gossamer.site.view import PageView

__all__ = ["METHODS", "PAGE_TYPES", "MainText", "main_text", "page_facts"]

METHODS = ("model", "furniture", "token-range")
_FEW_LETTERS = 600
"""As `Measures.total` counts them: a Chinese character stands for several."""
_FEW_BLOCKS = 6


class MainText(msgspec.Struct, frozen=True):
    """The text of a page, how it was found, and what type of page it is."""

    text: str
    """A line per block."""
    method: str
    page_type: str = ""
    """One of `PAGE_TYPES`; empty where the method does not tell."""
    type_confidence: float = 0.0


def main_text(
    tree: Tree, url: str, max_chars: int, schema_types: Collection[str] = (), method: str = "model", stated: str = "",
    view: PageView | None = None,
) -> MainText:  # fmt: skip
    """The main text by one of `METHODS`; consumes the tree. `stated`: what the page's JSON-LD gives as its text;
    `view`: by whoever knows the site; the model asks it."""
    if method == "model":
        found = _by_model(tree, page_facts(tree, url, schema_types, stated), max_chars, view)
    elif method == "token-range":
        found = MainText(clean_text(densest_text(tree.body_markup())[:max_chars]), method)
    elif method == "furniture":
        found = MainText(clean_text(text_without_furniture(tree)[:max_chars]), method)
    else:
        raise ValueError(f"no method {method!r}: {', '.join(METHODS)}")
    return found if found.text else _whole_body(tree, max_chars, found)


def page_facts(tree: Tree, url: str, schema_types: Collection[str], stated: str = "") -> PageFacts:
    """What the model is told about a page beside its body."""
    title, body = tree.first("title"), tree.body
    claim, generator = tree.first('meta[property="og:type"]'), tree.first('meta[name="generator"]')
    names = [
        (element and element.attr(name)) or ""
        for element, name in ((body, "class"), (body, "id"), (generator, "content"))
    ]
    said = (claim and claim.attr("content")) or ""
    return PageFacts(url, title.text if title else "", said, " ".join(names), schema_types, stated)


def _by_model(tree: Tree, facts: PageFacts, max_chars: int, view: PageView | None) -> MainText:
    model = text_model()
    body = tree.lean_body()
    if body is None:
        return MainText("", "empty")
    page = model.read(body)
    measures = Measures(page) if len(page.texts) >= _FEW_BLOCKS else None
    if measures is None or measures.total < _FEW_LETTERS:
        return MainText(clean_text(text_without_furniture(tree)[:max_chars]), "furniture")
    verdict = model.judge(measures, facts, view)
    return MainText(verdict.text[:max_chars].rstrip(), "model", verdict.page_type, verdict.type_confidence)


def _whole_body(tree: Tree, max_chars: int, found: MainText) -> MainText:
    body = tree.body
    text = clean_text(rendered(body)[:max_chars]) if body is not None else ""
    return MainText(text, "body" if text else "empty", found.page_type, found.type_confidence)
