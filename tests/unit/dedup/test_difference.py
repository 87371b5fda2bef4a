"""A difference leads exactly from one text to the other, shows what changed and counts what did not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.dedup import difference as differences
from gossamer.dedup.alignment import Budget, matches
from gossamer.dedup.difference import WORK, Change, Difference, Piece, difference, folded

words = st.sampled_from(["the", "rocket", "flies", "moon", "a", "火箭", "ракета", ",", "  ", "7", ""])
texts = st.lists(st.lists(words, max_size=12).map(" ".join), max_size=10).map("\n".join) | st.text(max_size=80)
letters = st.text(alphabet="abc", max_size=40)


def shown(text: Difference) -> str:
    marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    lines = []
    for change in text.changes:
        pieces = "".join(marks[piece.kind].format(piece.text) for piece in change.pieces)
        lines.append(pieces if change.kind != "same" else f"={change.paragraphs}")
    return "\n".join(lines)


def apply(old: str, changed: Difference) -> str:
    """The new text. Raises ValueError where the difference is not one of this text."""
    paragraphs = old.split("\n")
    at, made = 0, []
    for change in changed.changes:
        if change.kind == "same":
            made += paragraphs[at : at + change.paragraphs]
        here = "\n".join(paragraphs[at : at + change.paragraphs])
        if change.kind in ("removed", "changed") and _side(change, "added") != here:
            raise ValueError(f"paragraph {at} is another one")
        if change.kind in ("added", "changed"):
            made.append(_side(change, "removed"))
        at += change.paragraphs if change.kind != "added" else 0
    if at != len(paragraphs):
        raise ValueError(f"there are {len(paragraphs)} paragraphs, not {at}")
    return "\n".join(made)


def _side(change: Change, without: str) -> str:
    return "".join(piece.text for piece in change.pieces if piece.kind != without)


@given(texts, texts)
def test_the_difference_and_the_old_text_give_the_new_one(old: str, new: str) -> None:
    assert apply(old, difference(old, new)) == new


@given(texts, texts, st.integers(0, 400))
def test_that_holds_however_little_work_may_be_done(old: str, new: str, work: int) -> None:
    assert apply(old, difference(old, new, work)) == new


@given(texts)
def test_a_text_does_not_differ_from_itself(text: str) -> None:
    assert difference(text, text).is_empty


@given(texts, texts)
def test_different_texts_differ_and_nothing_is_said_without_a_change(old: str, new: str) -> None:
    found = difference(old, new)
    assert found.is_empty == (old == new)
    for change in found.changes:
        kinds = {piece.kind for piece in change.pieces}
        assert (change.kind == "same") == (not kinds)
        assert change.kind == "same" or kinds & {"removed", "added"}


@given(letters, letters, st.integers(0, 3000))
def test_common_stretches_are_equal_in_order_and_do_not_overlap(old: str, new: str, work: int) -> None:
    at = (0, 0)
    for match in matches(old, new, Budget(work)):
        assert old[match.old_at : match.old_at + match.size] == new[match.new_at : match.new_at + match.size]
        assert match.size and at[0] <= match.old_at and at[1] <= match.new_at
        at = (match.old_at + match.size, match.new_at + match.size)


def test_words_that_changed_are_marked_and_other_paragraphs_only_counted() -> None:
    old = "One stays.\nTwo stays.\nThe big rocket flies to the moon.\nThree stays."
    new = "One stays.\nTwo stays.\nThe small rocket flies to the moon today.\nThree stays."
    assert shown(difference(old, new)) == (
        "=2\nThe [-big-]{+small+} rocket flies to the moon{+ today+}.\n=1"
    )  # fmt: skip


def test_paragraphs_that_come_and_go_are_shown_whole() -> None:
    old, new = "One.\nThis one goes away now.\nTwo.", "One.\nTwo.\nSomething else comes here."
    assert shown(difference(old, new)) == "=1\n[-This one goes away now.-]\n=1\n{+Something else comes here.+}"


def test_a_paragraph_with_few_words_in_common_is_replaced_not_mended() -> None:
    old, new = "The rocket flies to the moon.", "Our garden is full of the first leaves."
    assert shown(difference(old, new)) == f"[-{old}-]\n{{+{new}+}}"


def test_a_changed_paragraph_is_found_behind_new_ones() -> None:
    old = "The rocket flies to the moon at night."
    new = "A word before.\nAnd one more of them.\nThe rocket flies to the moon at noon."
    assert shown(difference(old, new)).splitlines()[-1] == "The rocket flies to the moon at [-night-]{+noon+}."


def test_scripts_without_spaces_are_compared_by_character() -> None:
    assert shown(difference("火箭队昨晚获胜了", "火箭队今晚获胜了")) == "火箭队[-昨-]{+今+}晚获胜了"


def test_a_word_in_common_amidst_changes_is_not_picked_out() -> None:
    old = "We came to see one a thing of beauty, and stayed for long in the old house."
    new = "We came to see many a sight so ugly, and stayed for long in the old house."
    assert shown(difference(old, new)).startswith(
        "We came to see [-one a thing of beauty-]{+many a sight so ugly+}, and"
    )


def test_words_are_counted() -> None:
    found = difference("one two three four five", "one 2 3 three four five")
    assert (found.words("removed"), found.words("added")) == (1, 2)


@given(st.integers(0, 5), st.integers(1, 5))
def test_of_a_long_paragraph_only_the_neighbourhood_of_changes_is_left(at: int, changes: int) -> None:
    old = [f"word{number}" for number in range(3000)]
    new = list(old)
    for number in range(changes):
        new[at + number * 500] = "other"
    (change,) = difference(" ".join(old), " ".join(new)).changes
    left = "".join(piece.text for piece in folded(change.pieces, context=40))
    assert len(left) <= (changes + 1) * (2 * 40 + 2 * 10)
    assert left.count("other") == changes


def test_what_is_folded_away_is_only_what_stayed() -> None:
    pieces = (Piece("same", "x " * 500), Piece("removed", "y " * 500), Piece("added", "z"), Piece("same", "end"))
    kept = list(folded(pieces, context=20))
    assert kept[1:] == list(pieces[1:])
    assert kept[0].text.startswith("… x x") and kept[0].text.endswith("x ")


def test_a_difference_of_another_text_is_refused() -> None:
    found = difference("one\ntwo", "one\nthree")
    with pytest.raises(ValueError, match="another one"):
        apply("one\nfour", found)
    with pytest.raises(ValueError, match="3 paragraphs"):
        apply("one\ntwo\nthree", found)


def test_very_different_large_texts_come_to_an_end_and_stay_exact() -> None:
    """Texts of two letters share a stretch everywhere: without a bound this would take the cube of their length."""
    old, new = ("\n".join(letter * 3 for letter in "ab" * 100_000), " ".join("ba" * 200_000))
    assert apply(old, difference(old, new)) == new
    assert apply(new, difference(new, new[::-1])) == new[::-1]


def test_texts_of_very_many_short_lines_are_paid_for_by_the_line() -> None:
    """What is found costs work as well: half a million landmarks would take three seconds to put together."""
    old = "\n".join(f"{number:x}" for number in range(400_000))
    new = "\n".join(f"{number:x}" if number % 2 else f"y{number:x}" for number in range(400_000))
    found = difference(old, new)
    assert apply(old, found) == new
    assert sum(len(change.pieces) or 1 for change in found.changes) < WORK / 30


def test_when_the_work_is_done_no_more_paragraphs_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []
    monkeypatch.setattr(differences, "_like", lambda text, *_: looked.append(text))
    assert difference("a\nb\nc", "d\ne", work=0).words("removed") == 3
    assert looked == []


def test_large_texts_with_few_changes_are_compared_to_the_word() -> None:
    lines = [f"item {number} costs {number * 7 % 100} euro" for number in range(50_000)]
    changed = [f"item {number} costs 1000 euro" if number % 50 == 0 else line for number, line in enumerate(lines)]
    found = difference("\n".join(lines), "\n".join(changed))
    assert (found.words("removed"), found.words("added")) == (1_000, 1_000)


def test_a_change_says_how_many_paragraphs_it_stands_for() -> None:
    assert difference("a\nb\nc", "").changes == (
        Change("removed", 3, (Piece("removed", "a\nb\nc"),)),
        Change("added", 1, (Piece("added", ""),)),
    )
