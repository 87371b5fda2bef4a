"""One chain per script, the same for pages and queries: what belongs together meets in the index."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
import tantivy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from indexing_kit import new_index, open_writer

from gossamer.index import schema
from gossamer.index.analysis import (
    Languages,
    address_words,
    encodable,
    fold,
    is_spaceless,
    joined,
    query_stems,
    stem_of,
    stems,
    surface,
    surface_words,
)
from gossamer.index.document import IndexPage, build

ANY_TEXT = st.text(st.characters())
"""Lone surrogates too."""
SCRIPTS = st.text(
    st.sampled_from(
        "abcXYZ09 _-.,\n'éßİıñøæёЁйжщіїґ我们在中文北京大学日本語ひらカタ한국어"
        "ภาษาไทยहिन्दीதமிழ்עבריתعربي\u0301\u0307²Ⅷﬁ😀\u200d"
    )
)
LANGUAGES = st.sampled_from([None, "", "en", "ru", "zh", "de", "fr", "tr", "ar", "hi", "ta", "yi", "xx", "ja"])


# -- words of one meaning meet --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lang", "forms"),
    [
        ("en", "connect connects connected connecting connection"),
        ("en", "city cities"),
        ("ru", "книга книги книгу книгой книгам"),
        ("ru", "красивый красивая красивого красивыми"),
        ("ru", "ёлка елка ёлки елками Ёлку"),
        ("ru", "учёный ученый ученые учёного"),
        ("de", "Haus Hauses Häuser Häusern"),
        ("fr", "élève élèves Élève ELEVE"),
        ("es", "canción canciones CANCIÓN"),
        ("it", "città citta"),
        ("pt", "coração CORAÇÃO"),
        ("nl", "boek boeken"),
        ("sv", "hund hundar hundarna"),
        ("fi", "talo talot"),
        ("pl", "książka książki"),
        ("tr", "kitap kitaplar"),
        ("el", "φίλος φίλοι"),
        ("hu", "ház házak"),
        ("no", "bil biler bilen"),
        ("da", "hus huset"),
        ("ro", "carte cărți"),
        ("lt", "namas namai"),
        ("id", "makan makanan"),
        ("ar", "كتاب الكتاب"),
        ("hi", "लड़का लड़के"),
    ],
)
def test_inflected_forms_share_a_stem(lang, forms):
    found = {form: tuple(stems(form, lang)) for form in forms.split()}
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize(
    ("lang", "one", "other"),
    [("en", "universe", "city"), ("ru", "книга", "книжка"), ("ru", "мир", "мэр"), ("de", "Haus", "Hase")],
)  # fmt: skip
def test_different_words_stay_apart(lang, one, other):
    assert set(stems(one, lang)).isdisjoint(stems(other, lang))


def test_russian_surface_forms_are_kept_beside_the_stems():
    assert surface_words("Книгами учёного") == ["книгами", "ученого"]
    assert stems("Книгами учёного", "ru") == ["книг", "учен"]


def test_accents_do_not_matter_in_surface_forms():
    assert surface_words("Crème BRÛLÉE naïve Straße Ærø łódź") == [
        "creme",
        "brulee",
        "naive",
        "strasse",
        "aero",
        "lodz",
    ]
    assert fold("crème brûlée straße") == "creme brulee strasse"


@pytest.mark.parametrize("text", ["résumé café", "й ё Ї", "ñandú", "Tiếng Việt", "한국어", "がぎぐ", "Ångström"])
def test_decomposed_text_is_the_same_text(text):
    """As macOS writes file names, and some editors whole pages."""
    apart = unicodedata.normalize("NFD", text)
    assert apart != text
    assert stems(apart) == stems(text)
    assert surface_words(apart) == surface_words(text)
    assert address_words(f"https://a.example/{apart}") == address_words(f"https://a.example/{text}")


@pytest.mark.parametrize("typed", ["istanbul", "İstanbul", "ISTANBUL", "İSTANBUL", "İstanbul".lower()])
def test_the_turkish_capital_i_with_a_dot_is_an_i(typed):
    assert stems(typed, "tr") == stems("istanbul", "tr")
    assert surface_words(typed) == ["istanbul"]


# -- writing without spaces -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("北京大学的学生", "北京 大学 学生 京大"),
        ("中华人民共和国", "中华 人民 共和 华人"),
        ("自然语言处理", "自然 语言 处理"),
        ("我们在搜索引擎上找", "搜索 引擎 索引"),
    ],
)
def test_chinese_words_of_two_characters_are_found_inside_longer_ones(text, inside):
    assert set(inside.split()) <= set(stems(text, "zh"))


def test_chinese_dictionary_words_longer_than_a_pair_are_terms_of_their_own():
    assert "中华人民共和国" in stems("中华人民共和国成立", "zh")
    assert "搜索引擎" in stems("搜索引擎", "zh")


def test_a_single_chinese_character_is_a_term():
    assert stems("猫", "zh") == ["猫", "猫"] or stems("猫", "zh") == ["猫"]
    assert "猫" in stems("a 猫 b", "en")


def test_chinese_surface_words_are_single_characters_in_order_so_that_phrases_work():
    assert surface_words("搜索GitHub平台") == ["搜", "索", "github", "平", "台"]


@pytest.mark.parametrize("text", ["日本語の検索", "ひらがな", "カタカナ"])
def test_japanese_gives_pairs_of_characters(text):
    assert is_spaceless(text)
    assert text[:2] in stems(text)
    assert text[-2:] in stems(text)


@pytest.mark.parametrize(
    "syllables", ["ภา ษา ไท ย ที่", "ພາ ສາ ລາ ວ", "ភា សា ខ្មែ រ", "မြ န် မာ", "က မ္ဘာ"]
)  # fmt: skip
def test_thai_and_its_neighbours_give_syllables_and_pairs_of_them(syllables):
    parts = syllables.split()
    assert is_spaceless(parts[0])
    pairs = ["".join(two) for two in pairwise(parts)]
    assert sorted(stems("".join(parts))) == sorted([*parts, *pairs])
    assert stems(parts[0]) == [parts[0]]


def test_thai_beside_chinese_is_cut_by_itself():
    assert set(stems("北京ภาษา", "th")) == {"北京", "ภาษา", "ภา", "ษา"}


def test_korean_gives_pairs_for_stems_and_whole_words_for_phrases():
    assert stems("한국어를 배우다", "ko") == ["한국", "국어", "어를", "배우", "우다"]
    assert surface_words("한국어를 배우다") == ["한국어를", "배우다"]


# -- mixtures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lang", [None, "en", "ru", "zh", "de", "nonsense"])
def test_a_page_that_lies_about_its_language_still_has_its_russian_and_chinese_terms(lang):
    found = stems("Новые книги о 北京大学", lang)
    assert {"книг", "нов", "北京", "大学"} <= set(found)


@pytest.mark.parametrize("lang", ["ru", "zh", "el", "ar", "hi", "ja", None])
def test_english_words_on_a_page_in_another_script_are_stemmed_as_english(lang):
    assert {"server", "connect"} <= set(stems("Наши servers connected 数据库", lang))


def test_scripts_are_cut_from_each_other():
    assert stems("Linux内核development", "zh") == ["内核", "linux", "develop"]


def test_words_of_indian_scripts_stay_whole():
    assert stems("हिन्दी किताबें", "hi") != []
    assert all(len(term) > 2 for term in stems("हिन्दी किताबें", "hi"))
    assert len(stems("தமிழ் மொழி", "ta")) == 2


def test_pointed_hebrew_and_arabic_words_stay_whole():
    assert len(stems("שָׁלוֹם עוֹלָם", "he")) == 2
    assert len(stems("كِتَابٌ جَدِيدٌ", "ar")) == 2


def test_numbers_and_letters_are_words_and_punctuation_is_none():
    assert stems("C++, 3.14 foo_bar (x²) — «да»") == ["c", "3", "14", "foo", "bar", "x²", "да"]
    assert surface_words("!!! ... — _ ") == []
    assert stems("!!! ... — _ ") == []


def test_a_query_is_stemmed_in_every_language_of_the_index():
    assert query_stems("connections", Languages(("en", "de"))) == ["connect", "connection"]
    assert query_stems("книгами", Languages(("en", "ru"))) == ["книг"]
    assert query_stems("running", Languages(())) == ["run"]
    assert set(stems("Häuser", "de")) <= set(query_stems("häuser", Languages(("en", "de"))))


def test_the_words_of_an_address_are_what_it_spells():
    assert address_words("https://www.a-b.example/Kuchen/%D0%BA%D0%BD%D0%B8%D0%B3%D0%B0_2.html?q=caf%C3%A9") == [
        "www", "a", "b", "example", "kuchen", "книга", "2", "html", "q", "cafe",
    ]  # fmt: skip
    assert address_words("%FF%zz%") == ["zz"]


# -- laws -----------------------------------------------------------------------------------------------


@settings(max_examples=500)
@given(ANY_TEXT | SCRIPTS, LANGUAGES)
def test_no_text_is_an_error_and_no_term_has_white_space(text, lang):
    for term in stems(text, lang):
        assert term
        assert term.split() == [term]
        term.encode()
    for word in surface_words(text):
        assert word
        assert word.split() == [word]
    encodable(surface(text)).encode()
    for word in address_words("https://a.example/" + text):
        assert word


@settings(max_examples=500)
@given(ANY_TEXT | SCRIPTS, LANGUAGES)
@example("İ\u03000", None)
@example("I\u0307\u0307", None)
@example("Ё\u0308\u0300", "ru")
def test_analysing_twice_gives_the_same(text, lang):
    assert stems(text, lang) == stems(text, lang)
    assert surface_words(text) == surface_words(text)
    assert surface_words(surface(text)) == surface_words(text)


@given(SCRIPTS, SCRIPTS, LANGUAGES)
def test_texts_next_to_each_other_do_not_mix(one, other, lang):
    assert sorted(stems(f"{one}\n{other}", lang)) == sorted(stems(one, lang) + stems(other, lang))
    assert joined([one, other], lang).split() == stems(f"{one}\n{other}", lang)


@given(SCRIPTS, LANGUAGES)
def test_case_does_not_matter(text, lang):
    lower = text.lower()
    if lower.upper().lower() == lower:  # not so for ß, ﬁ and the like
        assert stems(lower.upper(), lang) == stems(lower, lang)


@given(st.text("абвгдежзийклмнопрстуфхцчшщъыьэюя", min_size=1, max_size=15), LANGUAGES)
def test_one_word_is_one_stem_and_the_same_for_a_query(word, lang):
    assert stems(word, lang) == [stem_of(word, lang)]


# -- in the index ---------------------------------------------------------------------------------------

PAGES = {
    "english": IndexPage(url="https://a.example/en", text="He was connecting the servers.", lang="en"),
    "russian": IndexPage(url="https://a.example/ru", text="Мы прочли ёлочные книги.", lang="ru"),
    "chinese": IndexPage(url="https://a.example/zh", text="北京大学的学生喜欢搜索引擎。", lang="zh"),
    "japanese": IndexPage(url="https://a.example/ja", text="東京タワーへ行きました。", lang="ja"),
    "korean": IndexPage(url="https://a.example/ko", text="서울에서 한국어를 배웁니다.", lang="ko"),
    "thai": IndexPage(url="https://a.example/th", text="ฉันรักภาษาไทยมาก", lang="th"),
    "german": IndexPage(url="https://a.example/de", text="Die Häuser der Straßen.", lang="de"),
    "french": IndexPage(url="https://a.example/fr", text="Les élèves sont rentrés.", lang="fr"),
    "hindi": IndexPage(url="https://a.example/hi", text="मुझे हिन्दी किताबें पसंद हैं।", lang="hi"),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = new_index(tmp_path_factory.mktemp("analysed"))
    writer = open_writer(folder)
    writer.apply({page.key: build(page) for page in PAGES.values()}, (), 1, 1.0)
    writer.close()
    return schema.prepare(tantivy.Index.open(str(folder)))


def found_by(index: tantivy.Index, field: str, terms: list[str]) -> set[str]:
    """The pages that have all of the terms."""
    searcher = index.searcher()
    queries = [(tantivy.Occur.Must, tantivy.Query.term_query(index.schema, field, term)) for term in terms]
    hits = searcher.search(tantivy.Query.boolean_query(queries), 20).hits
    urls = {schema.decode(searcher.doc(address)).url for _, address in hits}
    return {name for name, page in PAGES.items() if page.url in urls}


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("english", "connection server"), ("russian", "елочными книгу"), ("russian", "ЁЛОЧНЫХ"), ("chinese", "大学"),
        ("chinese", "学生"), ("chinese", "搜索引擎"), ("japanese", "東京"), ("japanese", "タワー"), ("korean", "한국"),
        ("korean", "한국어"), ("thai", "ภาษา"), ("german", "haus strasse"), ("french", "eleve"), ("hindi", "हिन्दी"),
    ],
)  # fmt: skip
def test_a_query_finds_the_page_by_its_stems(index, page, query):
    lang = PAGES[page].lang
    terms = [term for word in query.split() for term in stems(word, lang) if len(word) != 1]
    assert found_by(index, schema.BODY_STEMS, terms) == {page}


@pytest.mark.parametrize(
    ("page", "phrase"),
    [("english", "connecting the servers"), ("russian", "прочли елочные"), ("chinese", "京大学"),
     ("japanese", "京タワ"), ("korean", "한국어를"), ("thai", "ภาษาไทย"), ("german", "der strassen"),
     ("french", "les élèves"),
     ("hindi", "हिन्दी किताबें")],
)  # fmt: skip
def test_a_phrase_is_found_as_it_stands(index, page, phrase):
    words = surface_words(phrase)
    query = (
        tantivy.Query.phrase_query(index.schema, schema.BODY, list(words))
        if len(words) > 1
        else tantivy.Query.term_query(index.schema, schema.BODY, words[0])
    )
    searcher = index.searcher()
    assert [schema.decode(searcher.doc(address)).url for _, address in searcher.search(query, 5).hits] == [
        PAGES[page].url
    ]
