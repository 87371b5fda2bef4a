"""The token range of linear time is the one a search over all ranges finds."""

from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.text.token_range import best_range, densest_text


def by_definition(weights):
    """The greatest tags before i + words inside + tags after j, tried for all ranges."""
    words = [max(weight, 0) for weight in weights]
    tags = [max(-weight, 0) for weight in weights]
    size = len(weights)
    return max(sum(tags[:i]) + sum(words[i:j]) + sum(tags[j:]) for i in range(size + 1) for j in range(i, size + 1))


def value_of(weights, first, end):
    tags = [max(-weight, 0) for weight in weights]
    return sum(tags[:first]) + sum(max(weight, 0) for weight in weights[first:end]) + sum(tags[end:])


@given(st.lists(st.sampled_from([1, -1]), max_size=40))
def test_the_range_is_as_good_as_the_best_of_all(weights):
    first, end = best_range(weights)
    assert 0 <= first <= end <= len(weights)
    assert value_of(weights, first, end) == by_definition(weights)


@given(st.lists(st.integers(-3, 6), max_size=25))
def test_runs_of_words_may_be_counted_together(weights):
    assert value_of(weights, *best_range(weights)) == by_definition(weights)


def test_nothing_positive_is_no_range():
    assert best_range([-1, -1, 0]) == (0, 0)
    assert densest_text("<ul><li></li></ul>") == ""


def test_the_text_is_taken_and_the_menu_is_not():
    menu = "".join(f"<li><a href=/{n}>item</a></li>" for n in range(20))
    article = "<p>" + "word " * 30 + "&amp; <b>bold</b></p><p>" + "more " * 30 + "</p>"
    lines = densest_text(f"<ul>{menu}</ul>{article}<ul>{menu}</ul>").split("\n")
    text = " ".join(" ".join(lines).split())
    assert text == "word " * 30 + "& bold " + " ".join(["more"] * 30)
