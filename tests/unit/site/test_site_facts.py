"""What a sample of a site's pages says: furniture and names that they share, and nothing that is a page's own."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from gossamer.site.facts import FEWEST, Facts, difference, learn, unpacked
from gossamer.site.sketch import MOST_LINES, MOST_NAMES, Marks, Seen, Sketch, lines_of, marks_of, sketch_of

MAIN, ASIDE, FOOT = 11, 22, 33
"""Looks of three places."""
ARTICLE = Seen("https://a.org/", language="en", page_type="article")


def marks(*blocks: tuple[str, int]) -> Marks:
    return marks_of([text for text, _ in blocks], np.array([look for _, look in blocks], np.uint64))


def page(number: int, *more: tuple[str, int], name: str = "") -> Sketch:
    """A page with a text of its own, a menu and a footer."""
    blocks = [(f"Own text {number}", MAIN), ("Home", ASIDE), ("About us", ASIDE), ("Imprint", FOOT), *more]
    return sketch_of(marks(*blocks), [name or f"title{number}", "thedailyweb"], ARTICLE)


def furniture(facts: Facts) -> set[int]:
    return set(unpacked(facts.lines).tolist())


def test_lines_of_many_pages_are_furniture_and_a_pages_own_are_not() -> None:
    facts = learn([page(number) for number in range(20)])
    assert furniture(facts) == set(marks(("Home", ASIDE), ("About us", ASIDE), ("Imprint", FOOT)).tolist())
    assert (facts.pages, facts.languages, facts.page_types) == (20, {"en": 20}, {"article": 20})


def test_the_same_words_in_another_place_are_another_line() -> None:
    """A teaser that many lists repeat does not take the sentence away from its own page."""
    lists = [page(number, ("Own text 0", ASIDE)) for number in range(1, 20)]
    facts = learn([page(0), *lists])
    assert int(marks(("Own text 0", ASIDE))[0]) in furniture(facts)
    assert int(marks(("Own text 0", MAIN))[0]) not in furniture(facts)


def test_digits_count() -> None:
    """ "Price: 12" and "Price: 15" are facts of two pages."""
    facts = learn([page(number, (f"Price: {number}", MAIN)) for number in range(20)])
    assert len(furniture(facts)) == 3


@pytest.mark.parametrize(("pages", "least"), [(10, 3), (60, 3), (100, 5), (128, 7)])
def test_a_line_is_furniture_from_5_percent_and_three_pages_on(pages: int, least: int) -> None:
    for times in (least - 1, least):
        sample = [page(number, *([("Shared", ASIDE)] if number < times else [])) for number in range(pages)]
        is_furniture = int(marks(("Shared", ASIDE))[0]) in furniture(learn(sample))
        assert is_furniture == (times == least)


def test_a_place_whose_lines_mostly_repeat_is_furniture() -> None:
    facts = learn([page(number, (f"New post {number}", ASIDE)) for number in range(20)])
    places = set(unpacked(facts.places).tolist())
    assert places == {ASIDE, FOOT}  # two of three lines beside the text repeat; none in it does


def test_few_pages_say_nothing_about_their_site() -> None:
    assert not learn([page(number) for number in range(FEWEST - 1)])
    assert learn([page(number) for number in range(FEWEST)])


def test_names_that_a_fifth_of_the_pages_share_are_the_sites() -> None:
    sample = [page(number, name="series" if number < 2 else "") for number in range(20)]
    assert learn(sample).names == ("thedailyweb",)
    sample = [page(number, name="welcome" if number < 4 else "") for number in range(20)]
    assert learn(sample).names == ("thedailyweb", "welcome")


def test_the_order_of_the_pages_does_not_matter() -> None:
    sample = [page(number) for number in range(20)]
    assert learn(sample) == learn(sample[::-1])


def test_a_sketch_is_bounded_and_two_pages_agree_on_what_is_left_out() -> None:
    blocks = [(f"line {number}", MAIN) for number in range(5 * MOST_LINES)]
    names = [f"name{number}" for number in range(5 * MOST_NAMES)]
    one = sketch_of(marks(*blocks), names, ARTICLE)
    other = sketch_of(marks(*blocks[::-1]), names, ARTICLE)
    assert len(lines_of(one)) == MOST_LINES and len(one.names) == MOST_NAMES
    assert one.lines == other.lines


def test_facts_differ_as_much_as_the_furniture_on_pages() -> None:
    one = learn([page(number) for number in range(20)])
    sample = [page(number, *([("Cookies", FOOT)] if number < 4 else [])) for number in range(20)]
    assert difference(one, one, sample) == 0
    assert difference(Facts(), one, sample) == difference(one, Facts(), sample) == 1
    assert difference(one, learn(sample), sample) == pytest.approx(4 / 64)
    renamed = learn([page(number, name="welcome") for number in range(20)])
    assert difference(one, renamed, sample) == 1


def test_a_known_name_stays_the_sites_until_few_pages_have_it() -> None:
    """A section whose share of the pages goes up and down must not have all titles judged again each time."""
    known = learn([page(number, name="welcome" if number < 4 else "") for number in range(20)])
    fewer = [page(number, name="welcome" if number < 3 else "") for number in range(20)]
    assert learn(fewer).names == ("thedailyweb",)
    assert learn(fewer, known).names == ("thedailyweb", "welcome")


def test_a_line_among_own_lines_must_be_on_a_fifth_of_the_pages() -> None:
    """Instructions that some articles end with are text: readers look for them."""
    own = [(f"Sentence {n} of no other page", MAIN) for n in range(4)]
    for times, is_furniture in ((10, False), (20, True)):
        sample = [
            page(number, *((f"{text} but {number}", look) for text, look in own),
                 *([("How to install it", MAIN)] if number < times else []))
            for number in range(100)
        ]  # fmt: skip
        assert (int(marks(("How to install it", MAIN))[0]) in furniture(learn(sample))) == is_furniture


@pytest.mark.parametrize(
    ("teasing", "with_place", "is_of_teasers"), [(2, 2, False), (3, 3, True), (9, 20, False), (10, 20, True)]
)
def test_a_place_is_of_teasers_if_most_pages_that_have_it_show_some(
    teasing: int, with_place: int, is_of_teasers: bool
) -> None:
    """A column that now and then begins with links to older ones is text."""
    sample = []
    for number in range(40):
        blocks = marks((f"Own text {number}", MAIN), *([(f"Teaser {number}", ASIDE)] if number < with_place else []))
        shown = np.array([ASIDE] if number < teasing else [], np.uint64)
        sample.append(sketch_of(blocks, [f"title{number}"], ARTICLE, shown))
    places = unpacked(learn(sample).teasers).tolist()
    assert places == ([ASIDE] if is_of_teasers else [])
    assert learn(sample) == learn(sample[::-1])


def test_facts_that_differ_in_their_teasers_differ_as_much_as_pages_show_them() -> None:
    sample = [page(number, (f"Teaser {number}", 44)) for number in range(20)]
    shown = np.array([44], np.uint64)
    teasing = [sketch_of(lines_of(one), one.names, ARTICLE, shown) for one in sample]
    assert difference(learn(sample), learn(teasing), teasing) == pytest.approx(20 / 80)


def test_a_sketch_and_facts_of_an_older_version_can_be_read() -> None:
    one = learn([page(number) for number in range(20)])
    older = msgspec.msgpack.encode(list(msgspec.structs.astuple(one))[:-1])
    assert msgspec.msgpack.decode(older, type=Facts) == one
    sketch = page(1)
    assert (
        msgspec.msgpack.decode(msgspec.msgpack.encode(list(msgspec.structs.astuple(sketch))[:-1]), type=Sketch)
        == sketch
    )
