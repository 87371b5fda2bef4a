"""A page seen by somebody who knows its site: what is left out of its text, and what never is."""

from __future__ import annotations

import msgspec
import numpy as np

from gossamer.site.facts import learn
from gossamer.site.judgement import Judgement, KnownSite
from gossamer.site.sketch import Seen, sketch_of
from gossamer.site.view import PageView, Shown

MAIN, HEADING, ASIDE, NOTE, TEASERS = 11, 22, 33, 44, 55
Block = tuple[str, int]
SEEN = Seen("https://a.org/")

MENU: list[Block] = [("Home", ASIDE), ("News", ASIDE), ("About us", ASIDE), ("Contact", ASIDE)]


def looked_at(
    view: PageView, blocks: list[Block], unlikely: tuple[str, ...] = (), certain: tuple[str, ...] = ()
) -> list[str]:
    """What is no text among the blocks of a page; in `TEASERS` all look like teasers."""
    texts, looks = [text for text, _ in blocks], np.array([look for _, look in blocks], np.uint64)
    chances = [0.1 if text in unlikely else 0.9 if text in certain else 0.5 for text in texts]
    shown = Shown(
        texts, looks, words=np.array([len(text.split()) for text in texts], np.float32), headings=looks == HEADING,
        short=np.array([len(text.split()) < 5 for text in texts]), teasers=looks == TEASERS,
        probabilities=np.array(chances, np.float32),
    )  # fmt: skip
    return [text for text, out in zip(texts, view.furniture(shown).tolist(), strict=True) if out]


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
    assert looked_at(PageView(), [*MENU, own(1)]) == []
    assert looked_at(PageView(KnownSite(learn([]))), [*MENU, own(1)]) == []


def test_a_page_that_is_all_furniture_keeps_its_text() -> None:
    """Better a menu than nothing: a page is never lost to the index."""
    assert looked_at(PageView(known()), MENU) == []
    assert looked_at(PageView(known()), [*MENU, own(1)], unlikely=(own(1)[0],)) == []


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
        assert (line[0] in found) == goes
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


def teaser(number: int, of: int) -> Block:
    return f"Teaser {number} of another page, beside the text of page {of}", TEASERS


def site_with_teasers(*lists: list[Block]) -> KnownSite:
    """A site each of whose pages has a text and three teasers; and pages with these blocks."""
    pages = [[*MENU, *map(own, range(n, n + 3)), *(teaser(t, n) for t in range(3))] for n in range(0, 60, 3)]
    sketches = []
    for blocks in (*pages, *lists):
        view = PageView()
        looked_at(view, blocks)
        sketches.append(view.sketch(SEEN))
    return KnownSite(learn([sketch for sketch in sketches if sketch is not None]))


def test_teasers_of_other_pages_are_no_text_although_none_of_them_repeats() -> None:
    new = [teaser(number, 99) for number in range(3)]
    found = looked_at(PageView(site_with_teasers()), [*MENU, own(90), own(91), own(92), *new])
    assert found == [text for text, _ in (*MENU, *new)]
    certain = tuple(text for text, _ in new)
    assert set(looked_at(PageView(site_with_teasers()), [own(90), *new, own(91), own(92)], certain=certain)) == {
        *certain
    }


def test_a_list_of_teasers_keeps_them() -> None:
    """They are all it has to say, whatever title stands above them."""
    new = [teaser(number, 99) for number in range(30)]
    assert looked_at(PageView(site_with_teasers()), [*MENU, *new]) == [text for text, _ in MENU]
    assert looked_at(PageView(site_with_teasers()), [*MENU, own(1), *new]) == [text for text, _ in MENU]


def test_a_page_is_judged_the_same_by_what_is_stored_of_it() -> None:
    blocks = [*MENU, own(90), own(91), own(92), *(teaser(number, 99) for number in range(3))]
    nothing, site = KnownSite(learn([])), site_with_teasers()
    for first, then, same in (
        (nothing, site, False),
        (site, site, True),
        (site, nothing, False),
        (site, known(), False),
    ):
        view = PageView(first)
        looked_at(view, blocks)
        stored = msgspec.msgpack.decode(msgspec.msgpack.encode(view.judgement), type=Judgement)
        assert stored.is_still_right(first) and stored.is_still_right(then) == same
