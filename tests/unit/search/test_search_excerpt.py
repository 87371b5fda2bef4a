"""An excerpt shows where the query's words stand together, and marks them and nothing else, in every script."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.index.analysis import fold, stem_of
from gossamer.index.spelling import respelled_in_place
from gossamer.search import excerpt as excerpts
from gossamer.search.excerpt import MAX_SCAN, Highlighter, Needle, Phrase

FEW = 16
"""What ellipses may add to the length."""
FILLER = "Nothing of interest happens in this sentence at all. "
RUSSIAN_FILLER = "В этом предложении совсем ничего не происходит. "
CHINESE_FILLER = "这一句话里面没有任何值得注意的内容。"


def word(text: str, lang: str = "en", weight: float = 1.0) -> Needle:
    stem = stem_of(text, lang)
    beginning = stem if text.startswith(stem) else text[:3]
    return Needle(beginning, text, lambda other: stem_of(other, lang) == stem, weight=weight)


def exact(text: str) -> Needle:
    return Needle(text, text, lambda other: fold(other) == text)


def characters(text: str) -> Needle:
    return Needle(text, text, lambda _: False, inside=True)


def mark(text: str, needles):
    return Highlighter(needles).mark(text)


def excerpt(text: str, needles, length: int = 240):
    return Highlighter(needles).excerpt(text, length)


def marked(found) -> list[str]:
    return [piece for piece, hit in found.pieces() if hit]


# --- marking


def test_all_forms_of_a_word_are_marked_and_other_words_with_its_beginning_are_not():
    found = mark("Rockets! A rocket-like ROCKET; rocketry, sprocket, the rocket's", [word("rocket")])
    assert marked(found) == ["Rockets", "rocket", "ROCKET", "rocket"]


def test_russian_inflections_are_marked_and_yo_is_ye():
    found = mark("Ракета, ракеты, РАКЕТОЙ и ракетка; ёлки, ЁЛКОЙ", [word("ракету", "ru"), word("елка", "ru")])
    assert marked(found) == ["Ракета", "ракеты", "РАКЕТОЙ", "ёлки", "ЁЛКОЙ"]


def test_a_word_of_two_characters_is_found_inside_a_longer_chinese_word():
    assert marked(mark("中华人民共和国的人民", [characters("人民")])) == ["人民", "人民"]


def test_latin_words_end_where_chinese_begins():
    found = mark("使用GitHub平台,github、GitHubs 和MyGitHub", [word("github")])
    assert marked(found) == ["GitHub", "github", "GitHubs"]


def test_touching_and_overlapping_matches_are_one_mark():
    found = mark("中国人民", [characters("中国"), characters("国人"), characters("民")])
    assert found.marks == ((0, 4),)
    assert mark("red rose", [word("red"), word("rose")]).marks == ((0, 3), (4, 8))


def test_accents_do_not_matter_but_the_stemmer_sees_them():
    seen = []

    def forms(other):
        seen.append(other)
        return True

    found = mark(
        "Le Café et la cafétéria, Łódź, façade", [Needle("cafe", "cafe", forms), exact("lodz"), exact("facade")]
    )
    assert marked(found) == ["Café", "cafétéria", "Łódź", "façade"]
    assert seen == ["café", "cafétéria"]


def test_an_accent_in_the_query_finds_the_word_without():
    assert marked(mark("cafe Café", [Needle("café", "café", lambda _: True)])) == ["cafe", "Café"]


def test_a_letter_that_grows_in_lower_case_does_not_shift_the_marks():
    found = mark("İİİ İstanbul ve İzmir, Ankara", [exact("istanbul"), exact("ankara")])
    assert marked(found) == ["İstanbul", "Ankara"]


def test_words_with_combining_marks_are_taken_whole():
    decomposed = unicodedata.normalize("NFD", "й é")
    text = f"стро{decomposed[:2]}ка, {decomposed[3:]}tat tat; हिन्दी"
    found = mark(text, [Needle("стро", "", lambda _: True), exact("tat"), Needle("हि", "", lambda w: w == "हिन्दी")])
    assert marked(found) == [f"стро{decomposed[:2]}ка", "tat", "हिन्दी"]
    assert found.text.index("tat;") == found.marks[1][0]


def test_right_to_left_text_is_marked_in_reading_order():
    assert marked(mark("قال الرئيس إن الحكومة", [exact("الحكومة"), exact("الرئيس")])) == ["الرئيس", "الحكومة"]


def test_an_empty_needle_finds_nothing():
    assert mark("some text", [exact(""), characters(""), Phrase(()), Phrase((exact(""),))]).marks == ()


def test_a_stemmer_is_asked_once_for_each_word():
    asked = []
    mark("spark sparks spark sparks Spark", [Needle("spar", "", lambda other: not asked.append(other))])
    assert asked == ["spark", "sparks"]


# --- phrases


def test_a_phrase_is_one_mark_and_its_words_elsewhere_are_none():
    phrase = Phrase((word("prime"), word("minister")))
    found = mark("Prime ministers: the “prime”  minister, minister prime, prime old minister, primeminister", [phrase])
    assert marked(found) == ["Prime ministers", "prime”  minister"]


def test_a_phrase_is_found_by_its_rarest_word_behind_common_ones():
    phrase = Phrase((word("the", weight=0.1), word("red", weight=0.2), word("planet", weight=2.0)))
    text = "The red house. " * 300 + "To the red planet we go, the planet."
    assert marked(excerpt(text, [phrase])) == ["the red planet"]


def test_a_chinese_phrase_must_be_adjacent():
    phrase = Phrase(tuple(characters(one) for one in "诺曼底"))
    assert marked(mark("诺曼底,诺曼人,诺曼 底,诺诺曼底", [phrase])) == ["诺曼底", "诺曼底"]


def test_a_phrase_of_mixed_scripts():
    phrase = Phrase((exact("linux"), characters("内核")))
    assert marked(mark("Linux 内核、Linux内核、内核 Linux", [phrase])) == ["Linux 内核", "Linux内核"]


# --- choosing


def test_the_place_where_the_words_stand_together_wins_over_earlier_and_denser_ones():
    text = f"Comets. {FILLER * 5} Comet comet comet. {FILLER * 5}A comet met the probe there. {FILLER * 10}"
    found = excerpt(text, [word("comet"), word("probe")])
    assert "A comet met the probe there." in found.text
    assert marked(found) == ["comet", "probe"]


def test_a_rare_word_is_worth_more_than_two_common_ones():
    text = f"The way of the world. {FILLER * 20}Zirconium melts. {FILLER * 20}"
    found = excerpt(text, [word("way", weight=0.3), word("world", weight=0.3), word("zirconium", weight=5)], 60)
    assert marked(found) == ["Zirconium"]


def test_words_far_apart_are_shown_in_two_fragments():
    found = excerpt(
        f"Start. {FILLER * 9}One comet.\n{FILLER * 9}One probe. {FILLER * 9}", [word("probe"), word("comet")]
    )
    assert marked(found) == ["comet", "probe"]
    before, after = found.text.split(" … ")
    assert "comet" in before
    assert "probe" in after


def test_the_very_word_is_preferred_to_another_form():
    found = excerpt(f"The comets. {FILLER * 5}The comet. {FILLER * 20}", [word("comet")], 60)
    assert marked(found) == ["comet"]


def test_a_half_that_holds_forms_of_every_word_leaves_nothing_for_a_second_one():
    together = "rockets and engines in general"
    exactly = f"a rocket {'and so on ' * 12}its engine"
    words = [word("rocket"), word("engine"), word("general", weight=0.2)]
    found = excerpt(f"{together} {FILLER * 10}{exactly} {FILLER * 10}", words)
    assert marked(found) == ["rocket", "engine"]


def test_the_earliest_of_equal_places_is_shown():
    text = "".join(f"{FILLER * 6}Comet number {n}. " for n in range(5))
    assert "Comet number 0." in excerpt(text, [word("comet")]).text


def test_a_phrase_is_worth_more_than_its_words_apart():
    text = f"A minister, prime of all. {FILLER * 20}The prime minister. {FILLER * 20}"
    needles = [Phrase((word("prime"), word("minister"))), word("prime"), word("minister")]
    assert marked(excerpt(text, needles)) == ["prime minister"]


def test_nothing_found_gives_the_beginning():
    found = excerpt(FILLER * 40, [word("zebra")])
    assert found.text.startswith(FILLER + FILLER.strip())
    assert found.marks == ()
    assert excerpt("", [word("zebra")]).text == ""


def test_only_the_first_part_of_an_endless_text_is_searched():
    text = "x " * (MAX_SCAN // 2) + "comet"
    assert marked(excerpt(text, [word("comet")])) == []
    assert marked(excerpt(text[10:], [word("comet")])) == ["comet"]


def test_many_words_in_many_long_texts_are_looked_for_within_a_bound(monkeypatch):
    """128 words in 100 long texts would be six seconds of looking for what is not there."""
    searched = []
    places = excerpts.places
    monkeypatch.setattr(excerpts, "places", lambda text, sought: searched.append(len(text)) or places(text, sought))
    many = Highlighter([exact(f"word{number}") for number in range(128)])
    found = [many.excerpt("x " * (MAX_SCAN // 2)) for _ in range(100)]
    assert len(found) == 100 and not any(map(marked, found))
    assert sum(searched) < 100 * MAX_SCAN / 10


def test_when_much_was_searched_the_beginnings_of_further_texts_still_are():
    many = Highlighter([exact(f"word{number}") for number in range(128)])
    far, near = "x " * 50_000 + "word7", "x " * 4_000 + "word7" + " x" * 50_000
    assert marked(many.excerpt(far)) == ["word7"]
    assert [marked(many.excerpt(far)) for _ in range(50)][-1] == []
    assert marked(many.excerpt(near)) == ["word7"]


def test_a_few_words_are_looked_for_in_all_of_the_texts_of_a_page_of_results():
    few = Highlighter([exact("comet"), exact("nucleus"), exact("tail")])
    text = "x " * (MAX_SCAN // 2 - 10) + "comet"
    assert [marked(few.excerpt(text)) for _ in range(10)] == [["comet"]] * 10


# --- cutting


@pytest.mark.parametrize(
    ("filler", "sentence", "needle"),
    [
        (FILLER, "At last a comet is seen. ", word("comet")),
        (RUSSIAN_FILLER, "Наконец видна комета. ", word("кометы", "ru")),
        (CHINESE_FILLER, "终于看见了彗星。", characters("彗星")),
    ],
    ids=["English", "Russian", "Chinese"],
)
def test_an_excerpt_begins_with_the_sentence_of_the_match(filler, sentence, needle):
    found = excerpt(filler * 20 + sentence + filler * 20, [needle])
    assert found.text.startswith(sentence.strip())
    assert not found.text.startswith("…")


def test_a_cut_sentence_has_ellipses_and_whole_words():
    words = [f"word{n}" for n in range(400)]
    words[200] = "comet"
    found = excerpt(" ".join(words), [word("comet")])
    assert found.text.startswith("… word")
    assert found.text.endswith(" …")
    assert set(found.text.split()) <= {*words, "…"}


def test_white_space_is_collapsed_and_marks_still_fit():
    found = excerpt("One\n\n\ttwo \u3000 comet\n\n  three\u00a0 \tprime   \n minister.", [
        word("comet"), word("three"), Phrase((word("prime"), word("minister")))])  # fmt: skip
    assert found.text == "One two comet three prime minister."
    assert marked(found) == ["comet", "three", "prime minister"]


def test_a_match_in_the_last_sentence_comes_with_what_stands_before_it():
    found = excerpt(FILLER * 20 + "A comet.", [word("comet")])
    assert found.text.endswith(FILLER + "A comet.")
    assert len(found.text) > 150


def test_a_short_text_is_shown_whole():
    text = "First sentence. Second sentence. A comet. The end"
    assert excerpt(text, [word("comet")]).text == text


def test_chinese_gets_half_the_characters_because_they_are_twice_as_wide():
    found = excerpt(CHINESE_FILLER * 60, [characters("注意")], 200)
    assert 60 <= len(found.text) <= 100 + FEW


def test_an_endless_word_is_cut():
    found = excerpt("a" * 5_000 + "comet" + "b" * 5_000 + " comet " + "c" * 5_000, [word("comet")])
    assert marked(found) == ["comet"]
    assert len(found.text) <= 240 + FEW


def test_no_cut_separates_a_letter_from_its_marks_or_an_emoji_from_its_parts():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    accent = "e\u0301"
    for n in range(30):
        text = "x" * n + accent * 400 + "中" + family * 200
        for needle in (characters("中"), exact("nothing")):
            shown = excerpt(text, [needle], 100 + n).text.strip("… ")
            assert not unicodedata.combining(shown[0])
            assert shown[0] != "\u200d"
            assert shown[-1] not in ("e", "\u200d")


# --- laws

LETTERS = "abcABC .\n,…'-_1ёЁйИ中国人。，กำ한국İıßéﬁΣאعǄ\u0301\u3099\u200d\u202e\x00\ud800\udc00\U0001f600\U0001f1e9"
ALPHABET = st.sampled_from([*LETTERS, "\U0001f468\u200d\U0001f469"])
TEXTS = st.lists(st.one_of(ALPHABET, st.sampled_from(["word ", "aba ", "中国", ". "])), max_size=400).map("".join)
BEGINNINGS = st.one_of(
    st.sampled_from(["a", "ab", "word", "中", "国人", "е", "e", "i", "ก", "한"]), st.text(max_size=3)
).map(lambda text: "".join(text.lower().replace("i\u0307", "i").replace("ё", "е").split()))
NEEDLES = st.builds(
    Needle, BEGINNINGS, BEGINNINGS, st.sampled_from([lambda _: True, lambda w: len(w) % 2 == 0]), st.booleans(),
    st.floats(0, 10),
)  # fmt: skip
QUERIES = st.lists(st.one_of(NEEDLES, st.builds(Phrase, st.lists(NEEDLES, max_size=3).map(tuple))), max_size=4)


def _plain(text: str) -> str:
    lower = text.replace("İ", "i").lower().replace("ё", "е")
    return respelled_in_place("".join(fold(one) if len(fold(one)) == 1 else one for one in lower))


def _check(found, needles):
    assert "".join(piece for piece, _ in found.pieces()) == found.text
    last = 0
    firsts = [n.words[0] if isinstance(n, Phrase) else n for n in needles if not isinstance(n, Phrase) or n.words]
    for start, end in found.marks:
        assert last <= start < end <= len(found.text)
        assert any(n.prefix and _plain(found.text[start:end]).startswith(_plain(n.prefix)) for n in firsts)
        last = end


@given(TEXTS, QUERIES)
@example("aЁлка", [exact("елка")])
@example("ı中国", [characters("?")])
def test_marks_of_any_text_are_in_order_and_begin_with_a_needle(text, needles):
    found = mark(text, needles)
    assert found.text == text
    _check(found, needles)


@given(TEXTS, QUERIES, st.integers(20, 300))
def test_an_excerpt_of_any_text_is_short_on_one_line_and_rightly_marked(text, needles, length):
    found = excerpt(text, needles, length)
    _check(found, needles)
    assert len(found.text) <= length + FEW
    assert found.text == " ".join(found.text.split())
    shown = found.text.replace("…", "").split()
    assert set("".join(shown)) <= set(text)


@given(st.text(max_size=2_000), st.text(min_size=1, max_size=4))
def test_a_word_that_stands_in_the_text_is_always_found(text, needle):
    needle = "".join(c for c in needle.lower() if c.isalnum() and c.isascii()) or "x"
    found = excerpt(f"{text} {needle} {text}", [exact(needle)])
    assert needle in [piece.lower() for piece in marked(found)]


@given(TEXTS)
def test_what_is_cut_out_is_a_part_of_the_text(text):
    found = excerpt(text, [exact("nothing")], 60)
    plain = " ".join(text.split())
    assert plain.startswith(found.text.removesuffix(" …").strip()[:40])
