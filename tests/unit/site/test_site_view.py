"""A page seen by somebody who knows its site: what is left out of its text, and what never is."""

from __future__ import annotations

import numpy as np

from gossamer.site.facts import learn
from gossamer.site.sketch import Seen, sketch_of
from gossamer.site.view import KnownSite, PageView

MAIN, HEADING, ASIDE, NOTE = 11, 22, 33, 44
Block = tuple[str, int]
SEEN = Seen("https://a.org/")

MENU: list[Block] = [("Home", ASIDE), ("News", ASIDE), ("About us", ASIDE), ("Contact", ASIDE)]


def looked_at(
    view: PageView, blocks: list[Block], unlikely: tuple[str, ...] = (), certain: tuple[str, ...] = ()
) -> list[str] | None:
    """The furniture among the blocks of a page."""
    texts, looks = [text for text, _ in blocks], np.array([look for _, look in blocks], np.uint64)
    headings, short = looks == HEADING, np.array([len(text.split()) < 5 for text in texts])
    likely, sure = (np.array([(text in names) == wanted for text in texts]) for names, wanted in
                    ((unlikely, False), (certain, True)))  # fmt: skip
    found = view.furniture(texts, looks, headings, short, likely, sure)
    return None if found is None else [text for text, out in zip(texts, found.tolist(), strict=True) if out]


def known(*shared: Block, pages: int = 20) -> KnownSite:
    """A site whose pages share a menu, and this many of 20 also these blocks."""
    sketches = []
    for number in range(20):
        view = PageView()
        looked_at(
            view, [*MENU, (f"The text of page {number} and nothing else", MAIN), *(shared if number < pages else ())]
        )
        sketch = view.sketch(Seen("https://a.org/", language="en", page_type="article"))
        assert sketch is not None
        sketches.append(sketch)
    return KnownSite(learn(sketches))


def own(number: int) -> Block:
    return f"Own sentence number {number} of this page", MAIN


def test_what_the_site_repeats_is_no_pages_text() -> None:
    assert looked_at(PageView(known()), [*MENU, own(1), own(2)]) == [text for text, _ in MENU]


def test_without_a_known_site_nothing_is_left_out() -> None:
    assert looked_at(PageView(), [*MENU, own(1)]) is None
    assert looked_at(PageView(KnownSite(learn([]))), [*MENU, own(1)]) is None


def test_a_page_that_is_all_furniture_keeps_its_text() -> None:
    """Better a menu than nothing: a page is never lost to the index."""
    assert looked_at(PageView(known()), MENU) is None
    assert looked_at(PageView(known()), [*MENU, own(1)], unlikely=(own(1)[0],)) is None


def test_a_repeated_line_between_own_lines_stays() -> None:
    site = known(("Do not do this at home, please", NOTE), pages=3)
    blocks = [own(1), ("Do not do this at home, please", NOTE), own(2), *MENU]
    assert looked_at(PageView(site), blocks) == [text for text, _ in MENU]
    at_the_end = [own(1), own(2), ("Do not do this at home, please", NOTE), *MENU]
    assert looked_at(PageView(site), at_the_end) == ["Do not do this at home, please", *(text for text, _ in MENU)]


def test_a_line_of_very_many_pages_goes_even_between_own_lines() -> None:
    site = known(("Advertisement: read on below this line", MAIN), pages=4)
    blocks = [own(1), ("Advertisement: read on below this line", MAIN), own(2)]
    assert looked_at(PageView(site), blocks) == ["Advertisement: read on below this line"]


def test_what_is_certainly_text_on_its_page_goes_only_if_very_many_pages_have_it() -> None:
    """Instructions that every tenth article ends with are text."""
    line = ("Put the file into this folder and start the game", NOTE)
    for pages, goes in ((3, False), (4, True)):
        view = PageView(known(line, pages=pages))
        found = looked_at(view, [own(1), own(2), line, *MENU], certain=(own(1)[0], own(2)[0], line[0]))
        assert found is not None and (line[0] in found) == goes
        assert view.has_cut


def test_a_heading_of_every_page_stays_above_own_text() -> None:
    """A manual's pages all have a chapter "Parameters"."""
    site = known(("Parameters", HEADING))
    assert looked_at(PageView(site), [*MENU, ("Parameters", HEADING), own(1)]) == [text for text, _ in MENU]
    assert looked_at(PageView(site), [own(1), ("Parameters", HEADING), *MENU]) == ["Parameters", *(t for t, _ in MENU)]


def test_a_new_label_in_a_place_of_furniture_is_furniture_and_a_sentence_is_not() -> None:
    blocks = [own(1), *MENU, ("Jobs", ASIDE), ("This box has a whole sentence of news today", ASIDE)]
    assert looked_at(PageView(known()), blocks) == [*(text for text, _ in MENU), "Jobs"]


def test_a_page_shows_its_names_and_lines_in_its_sketch() -> None:
    view = PageView()
    view.name(["thedailyweb", "ownname"])
    looked_at(view, [own(1)])
    sketch = view.sketch(Seen("https://a.org/", language="de", page_type="listing"))
    assert sketch is not None and sketch.names == ("thedailyweb", "ownname")
    assert (sketch.language, sketch.page_type, len(sketch.lines)) == ("de", "listing", 8)
    assert PageView().sketch(Seen("https://a.org/")) is None


def test_a_sketch_does_not_depend_on_what_is_known() -> None:
    views = [PageView(), PageView(known())]
    for view in views:
        looked_at(view, [*MENU, own(1)])
    assert views[0].sketch(SEEN) == views[1].sketch(SEEN) == sketch_of(views[0]._marks, (), SEEN)
