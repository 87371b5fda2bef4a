"""Did you mean, and suggestions: reasons to change a word, and reasons to leave it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from gossamer.search.suggest import TITLE_CHARS, Vocabulary, complete, did_you_mean

COUNTS = {
    "search": 900, "engine": 700, "searches": 90, "sea": 300, "arch": 30, "machine": 800, "learning": 750, "rocket": 60,
    "pocket": 50, "house": 500, "hours": 400, "mouse": 80, "the": 5000, "ten": 900, "form": 100, "from": 4000,
    "network": 600, "new": 3000, "york": 200, "hello": 300, "world": 900, "causal": 20, "casual": 21, "serch": 2,
    "привет": 300, "мир": 500, "ракета": 120, "ракеты": 200, "двигатель": 150, "жизнь": 300, "хорошо": 200, "как": 900,
    "что": 950, "дела": 300, "елка": 40, "не": 3000, "университет": 70,
    "火箭": 80, "火箭发动机": 10, "北京": 100, "สวัสดี": 9,
}  # fmt: skip
VOCABULARY = Vocabulary(COUNTS.items())
WORD = st.text(st.characters(exclude_categories=("Z", "C")), min_size=1)


# ---- vocabulary ----


def test_the_vocabulary_keeps_the_most_frequent_usable_words() -> None:
    counts = [("alpha", 3), ("beta", 9), ("gamma", 5), ("x", 99), ("mp3", 99), ("y" * 41, 99), ("٣٤", 99)]
    vocabulary = Vocabulary(counts, limit=2)
    assert [vocabulary.frequency(word) for word, _ in counts] == [0, 9, 5, 0, 0, 0, 0]
    assert len(vocabulary) == 2
    assert len(Vocabulary([])) == 0 and Vocabulary([]).closest("word") == []


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rockt", "rocket"),
        ("rockeet", "rocket"),
        ("rpcket", "rocket"),
        ("orcket", "rocket"),
        ("eocket", "rocket"),
        ("machien", "machine"),
        ("lerningg", "learning"),
        ("teh", "the"),
        ("пирвет", "привет"),
        ("рокета", "ракета"),
        ("двиготиль", "двигатель"),
        ("ниверситет", "университет"),
    ],
)
def test_a_mistake_in_any_letter_is_near(word: str, meant: str) -> None:
    assert VOCABULARY.closest(word)[0] == meant


def test_fewer_mistakes_come_first_and_then_more_pages() -> None:
    assert VOCABULARY.closest("hous") == ["house", "hours"]
    assert VOCABULARY.closest("houses")[:2] == ["house", "hours"]
    assert VOCABULARY.closest("wocket") == ["rocket", "pocket"]
    assert VOCABULARY.closest("wocket", limit=1) == ["rocket"]


def test_short_words_allow_one_mistake_and_the_word_itself_is_not_near() -> None:
    assert "search" not in VOCABULARY.closest("srrch")
    assert "search" not in VOCABULARY.closest("search")
    assert VOCABULARY.closest("te") == []


@given(
    st.lists(st.tuples(st.text("abcя", min_size=1, max_size=8), st.integers(1, 99)), max_size=40),
    st.text("abcя", max_size=8),
)
def test_all_words_within_the_distance_are_found(counts: list[tuple[str, int]], word: str) -> None:
    vocabulary = Vocabulary(counts)
    most = 0 if len(word) < 3 else 1 if len(word) < 6 else 2
    same_script = {known for known, _ in counts if len(known) > 1 and (known[0] == "я") == (word[:1] == "я")}
    expected = {known for known in same_script if 0 < OSA.distance(word, known) <= most}
    assert set(vocabulary.closest(word, limit=100)) == expected


@given(
    st.lists(st.tuples(st.text("abcd", min_size=2, max_size=8), st.integers(1, 99)), max_size=40),
    st.text("abcd", min_size=3, max_size=8),
)
def test_neighbours_are_the_nearest_words(counts: list[tuple[str, int]], word: str) -> None:
    vocabulary = Vocabulary(counts)
    near = [(OSA.distance(word, other), other) for other in vocabulary.closest(word, limit=100)]
    nearest = [match for match in near if match[0] == near[0][0]]
    assert vocabulary.neighbours(word) == (nearest if nearest and nearest[0][0] == 1 else near)


# ---- did you mean ----


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("machin lerning", "machine learning"),
        ("Machin, lerning!", "machine learning"),
        ("ракетв двиготель", "ракеты двигатель"),
        ("the rockte", "the rocket"),
        ("searchengine", "search engine"),
        ("newyork", "new york"),
        ("приветмир", "привет мир"),
        ("ghbdtn", "привет"),
        ("Ghbdtn vbh", "привет мир"),
        ("руддщ цщкдв", "hello world"),
        (";bpym [jhjij", "жизнь хорошо"),
        ("ghbdtn, rfr ltkf?", "привет как дела"),
        ("`krf", "елка"),
        ("ghbdtn b vbh", "привет и мир"),
        ("ghbdtn machine", "привет machine"),
        ("火箭 machin", "火箭 machine"),
    ],
)
def test_unknown_words_are_corrected(typed: str, meant: str) -> None:
    corrected = did_you_mean(typed.split(), VOCABULARY, found=0)
    assert corrected is not None
    assert " ".join(corrected) == meant
    assert len(corrected) == len(typed.split())


@pytest.mark.parametrize(
    "typed",
    [
        "", "machine learning", "ракета", "Ракеты", "火箭发东机", "火剪", "สวัสดิ", "mp4 rocket2", "zzzzzzzz", "x", "q w",
        "2024", "...", "foo:bar", "don't", "e-mail",
    ],
)  # fmt: skip
def test_known_words_other_scripts_and_what_has_no_neighbour_stay(typed: str) -> None:
    assert did_you_mean(typed.split(), VOCABULARY, found=0) is None


def test_a_rare_word_is_doubted_only_where_little_was_found_and_its_neighbour_is_everywhere() -> None:
    assert did_you_mean(["serch", "engine"], VOCABULARY, found=1) == ["search", "engine"]
    assert did_you_mean(["form", "engine"], VOCABULARY, found=100) is None
    assert did_you_mean(["form", "engine"], VOCABULARY, found=0) is None
    assert did_you_mean(["causal"], VOCABULARY, found=0) is None


def test_a_word_of_two_pages_is_doubted_if_its_neighbour_is_on_a_hundred_times_as_many() -> None:
    assert did_you_mean(["serch", "engine"], VOCABULARY, found=100) == ["search", "engine"]
    assert did_you_mean(["serch", "engine"], VOCABULARY, 100, frequency=lambda word: 10) is None
    assert did_you_mean(["rocket", "engine"], VOCABULARY, 100, frequency=lambda word: 2) is None


def test_what_a_word_may_begin_or_sound_like_is_weighed_by_its_pages() -> None:
    assert did_you_mean(["univ", "privet"], Vocabulary({"university": 30, "привет": 300, "private": 3}.items()), 0) == [
        "university", "привет",
    ]  # fmt: skip
    assert did_you_mean(["privat"], Vocabulary({"приват": 3, "private": 300}.items()), 0) == ["private"]


def test_a_single_word_that_was_found_is_not_unknown() -> None:
    assert did_you_mean(["rockets"], VOCABULARY, found=0) == ["rocket"]
    assert did_you_mean(["rockets"], VOCABULARY, found=60) is None
    assert did_you_mean(["rockets"], VOCABULARY, found=2) is None


def test_the_search_may_know_a_word_by_its_stem() -> None:
    words = ["ракетой", "привет"]
    assert did_you_mean(words, VOCABULARY, found=0) == ["ракеты", "привет"]
    assert did_you_mean(words, VOCABULARY, found=0, frequency=lambda word: 120 if "ракет" in word else 1) is None


def test_a_query_of_very_many_unknown_words_is_answered() -> None:
    corrected = did_you_mean(["machin"] * 1000, VOCABULARY, found=0)
    assert corrected is not None and len(corrected) == 1000 and corrected[0] == "machine"


@given(st.lists(st.text(), max_size=5), st.integers(0, 100))
def test_any_words_are_answered_one_for_one(words: list[str], found: int) -> None:
    corrected = did_you_mean(words, VOCABULARY, found)
    assert corrected is None or (len(corrected) == len(words) and corrected != words)


# ---- complete ----


def test_the_last_word_is_completed_after_the_words_before_it() -> None:
    terms = [("rocket", 10), ("rock", 90), ("rocks", 20)]
    assert complete("big  Ro", terms, []) == ["big rock", "big rocks", "big rocket"]
    assert complete("ракетный дв", [("двигатель", 5), ("двор", 9)], []) == ["ракетный двор", "ракетный двигатель"]


def test_a_word_may_begin_after_a_quote_an_operator_or_a_chinese_character() -> None:
    assert complete('-"big ro', [("rock", 1)], []) == ['-"big rock']
    assert complete("intitle:ro", [("rock", 1)], []) == ["intitle:rock"]
    assert complete("well-kno", [("known", 1)], []) == ["well-known"]
    assert complete("我爱北京", [("北京大学", 3)], []) == ["我爱北京大学"]
    assert complete("café", [("cafeteria", 1)], []) == ["cafeteria"]


def test_titles_that_match_come_first() -> None:
    titles = ["Rocket engines of the world", "Pocket guide", "The new ROCKET engine"]
    assert complete("rocket eng", [("engine", 5)], titles) == [titles[0], titles[2], "rocket engine"]
    assert complete("发动机", [], ["液体火箭发动机", "汽车"]) == ["液体火箭发动机"]
    assert complete("ракетн дв", [], ["Двигатель ракетный", "Ракета"]) == ["Двигатель ракетный"]


def test_after_a_space_only_titles_are_suggested() -> None:
    assert complete("rocket ", [("rocketry", 5)], ["Rocket engines"]) == ["Rocket engines"]


def test_long_titles_are_cut_at_a_word_and_must_still_match() -> None:
    title = "Rocket engines and everything else that one might want to know about – the complete story of propulsion"
    (short,) = complete("rocket", [], [title])
    assert title.startswith(short + " ") and TITLE_CHARS - 20 < len(short) <= TITLE_CHARS
    assert complete("propulsion", [], [title]) == []
    assert complete("火", [], ["火" * 100]) == ["火" * TITLE_CHARS]


def test_neither_titles_nor_words_push_the_others_out() -> None:
    titles = [f"Rocket number {number}" for number in range(20)]
    terms = [(f"rocket{letter}", 1) for letter in "abcdefghij"]
    assert complete("rocket", terms, titles, limit=8) == titles[:4] + [term for term, _ in terms[:4]]
    assert complete("rocket", terms[:2], titles, limit=8) == titles[:6] + [term for term, _ in terms[:2]]


def test_suggestions_differ_from_each_other_and_from_what_is_typed() -> None:
    titles = ["ROCKET", "Rocket Science", "rocket  science"]
    assert complete("rocket", [("rocket", 9), ("rocketry", 1)], titles) == ["Rocket Science", "rocketry"]
    assert complete("", [("a", 1)], ["b"]) == complete("  ", [("a", 1)], ["b"]) == []


@given(
    st.text(),
    st.lists(st.tuples(WORD, st.integers(1, 9)), max_size=9),
    st.lists(st.text(), max_size=9),
    st.integers(0, 9),
)
def test_any_text_is_completed_within_the_limit(
    prefix: str, terms: list[tuple[str, int]], titles: list[str], limit: int
) -> None:
    suggestions = complete(prefix, terms, titles, limit)
    assert len(suggestions) <= limit
    assert len({suggestion.casefold() for suggestion in suggestions}) == len(suggestions)
    assert all(suggestion.strip() and suggestion != prefix for suggestion in suggestions)


# ---- words that begin nearly so ----


@pytest.mark.parametrize(
    ("start", "word"),
    [("machn", "machine"), ("mcahi", "machine"), ("serach", "search"), ("двигт", "двигатель"), ("univrs", "")],
)
def test_a_beginning_with_a_mistake_is_near_words_that_begin_so(start: str, word: str) -> None:
    found = [near for near, _ in VOCABULARY.beginning_nearly(start)]
    assert found[:1] == ([word] if word else [])


@given(st.text(max_size=50))
def test_any_beginning_is_answered(start: str) -> None:
    assert len(VOCABULARY.beginning_nearly(start)) <= 8
