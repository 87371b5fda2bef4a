"""Promise: a copy of a short post is found, and posts of one template stay apart."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from near_kit import SCRIPTS, some_words, text_of

from gossamer.dedup.near.contract import same, unlike
from gossamer.dedup.near.minhash import MinHash
from gossamer.dedup.near.own import own_title
from gossamer.dedup.near.posts import MOST_WORDS, post_print
from gossamer.dedup.passing import unsigned

METHOD = MinHash()
TITLE = "The ferry is late again"
POST = (
    "The ferry to the island left an hour late today, because nobody had told the captain that the clocks had changed. "
    "The passengers took it with humour and sang on the quay."
)
MENU = "The kitchen is open until late, and children eat half of what their parents eat. Ask for the dish of the day."


def are_same(left: str, right: str, title: str = TITLE, other: str | None = None) -> bool:
    """As a crawl decides: they share a key, and are alike."""
    prints = METHOD.fingerprint(left, title), METHOD.fingerprint(right, title if other is None else other)
    keys = [set(METHOD.keys(one)) for one in prints]
    assert same(METHOD, *prints) == same(METHOD, *reversed(prints)), "the order of two pages decides nothing"
    return not keys[0].isdisjoint(keys[1]) and same(METHOD, *prints)


@pytest.mark.parametrize(
    "copy",
    [
        POST.replace("humour", "patience"),
        f"{POST}\nTell your friends about it",
        f"Read all about the ferry\n{POST}",
        f"By Ann Miller, 15 September 2015\n{POST}",
        f"{POST}\nPosted by Ann on 3 March 2016 at 14:30",
        f"14:30\n{POST.upper()}\nShare this",
    ],
    ids=["word", "line", "line-before", "byline", "dateline", "theme"],
)
def test_a_copy_of_a_post_with_a_word_or_a_line_of_its_own_is_found(copy: str) -> None:
    assert not same(METHOD, *map(METHOD.fingerprint, (POST, copy.replace("\n", " ") + " and more of it"))), "no title"
    assert are_same(POST, copy)


def test_two_copies_with_different_bylines_are_one() -> None:
    assert are_same(f"By Ann Miller, 15 September 2015\n{POST}", f"Posted by Carl on March 3, 2016 at 14:30\n{POST}")
    assert are_same(f"Von Ann Müller\n{POST}", f"Автор: Карл Иванов\n{POST}")


@pytest.mark.parametrize(
    ("left", "right", "title", "other"),
    [
        (f"Video: Storm\n{MENU}", f"Video: Harvest\n{MENU}", "Video: Storm", "Video: Harvest"),
        (f"{MENU}\nIn the morning 5 degrees", f"{MENU}\nIn the morning 8 degrees", "Weather", "Weather"),
        (f"{MENU}\nFor version 3.0.1 only", f"{MENU}\nFor version 3.1.1 only", "Download", "Download"),
        (POST.replace("ferry", "train"), POST, TITLE, "The train is late again"),
        ("The shop is closed today, we are sorry.", "The shop is open today, we are sorry.", "Shop", "Shop"),
        (POST, POST[: len(POST) // 2], TITLE, TITLE),
        (f"Test of sxd files\n{MENU} Opens sxd and saves sxd. Needs an sxd file.",
         f"Test of tga files\n{MENU} Opens tga and saves tga. Needs an tga file.", "Tests", "Tests"),
    ],
    ids=["template", "numbers", "versions", "titles", "one-word-of-few", "half", "a-word-of-many-places"],
)  # fmt: skip
def test_posts_of_one_template_stay_apart(left: str, right: str, title: str, other: str) -> None:
    assert not are_same(left, right, title, other)


def test_a_number_parts_two_posts_that_share_all_else_and_a_line_with_one_more_does_not() -> None:
    words = " ".join(some_words(3, 120))
    one, other = f"{words}\nThere are 5 left", f"{words}\nThere are 8 left"
    assert same(METHOD, *map(METHOD.fingerprint, (one, other))), "by their runs of four words alone"
    assert not are_same(one, other)
    assert are_same(words, other)


def test_posts_without_a_text_of_their_own_are_not_joined_by_the_sidebar() -> None:
    sidebar = "She writes about what people make by hand, owns a typewriter, and collects the records of her parents."
    posts = [(title, f"{title}\n{sidebar}") for title in ("Enjoy!", "A test", "Found this", "342241033")]
    assert not any(are_same(left, right, title, other) for (title, left), (other, right) in combinations(posts, 2))


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize("number", [60, 100, 150, 158])
def test_one_other_word_is_forgiven_in_every_script_and_length(script: str, number: int) -> None:
    words = some_words(5, number, script)
    changed = [*words[: number // 2], "王" if script == "Chinese" else "otherwise", *words[number // 2 + 1 :]]
    assert are_same(text_of(words, script), text_of(changed, script))


def test_a_text_is_a_post_if_it_has_a_title_and_neither_few_words_nor_many() -> None:
    assert post_print(TITLE, POST)
    assert not post_print("", POST) and not post_print(" – ", POST)
    assert not post_print(TITLE, "Back soon.")
    assert not post_print(TITLE, "word " * (MOST_WORDS + 1)) and not post_print(TITLE, "w" * 100_000)


def test_long_texts_and_lists_have_no_other_fingerprint_than_without_their_titles() -> None:
    long = " ".join(some_words(6, 400))
    assert METHOD.fingerprint(long, TITLE) == METHOD.fingerprint(long)
    assert own_title(TITLE, "listing") == "" and own_title(TITLE, "article") == TITLE


def test_a_fingerprint_made_before_posts_were_compared_is_compared_by_its_runs() -> None:
    words = " ".join(some_words(7, 130))
    old, new = METHOD.fingerprint(words), METHOD.fingerprint(words, TITLE)
    assert new.startswith(old) and len(new) > len(old)
    assert same(METHOD, old, new) and same(METHOD, new, old)
    assert METHOD.long_part(new) == old


def test_a_post_of_too_few_words_for_runs_is_unlike_nothing() -> None:
    few = "The ferry left an hour late today, because nobody had told the captain."
    post, long = METHOD.fingerprint(few, TITLE), METHOD.fingerprint(" ".join(some_words(8, 400)), TITLE)
    assert post and not METHOD.long_part(post)
    assert METHOD.similarity(post, post) == 1 and METHOD.similarity(post, long) == METHOD.similarity(long, post) == 0
    assert not unlike(METHOD, post, long) and not unlike(METHOD, long, post)


@given(st.text(), st.text())
def test_any_post_equals_itself(title: str, text: str) -> None:
    found = METHOD.fingerprint(text * 5, title)
    assert METHOD.similarity(found, found) == bool(found)
    assert len(METHOD.keys(found)) <= 10 and len(found) <= 1_300


@pytest.mark.parametrize("evil", ["by a", "1", "1.", "\n1:1", "by ", "2015 ", "a1.,:/-", "\u0660:"])
def test_no_text_takes_long(evil: str) -> None:
    """Quadratic in a page, any of them would take minutes."""
    unsigned(evil * (300_000 // len(evil)))
    post_print("title", evil * (4_000 // len(evil)))


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("By Ann Miller", False),
        ("Posted by Carl on March 3, 2016 at 14:30", False),
        ("15 September 2015 by Ann", False),
        ("14:30", False),
        ("Опубликовано 3 марта 2016 года", False),
        ("By noon all tickets were sold.", True),
        ("Concert in the hall, 3 March 2016", True),
        ("We sold 12 tons in May", True),
        ("Bus 14 leaves at 18:05 from the old harbour", True),
    ],
)
def test_lines_that_say_when_or_by_whom_a_post_was_written_do_not_count(line: str, stays: bool) -> None:
    assert (line in unsigned(f"{POST}\n{line}\n{MENU}")) == stays


def test_a_list_of_dates_is_content() -> None:
    text = POST + "".join(f"\n{day} March 2016" for day in range(1, 9))
    assert unsigned(text) == text
