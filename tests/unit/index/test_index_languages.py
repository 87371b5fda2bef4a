"""Inflected words of languages that Snowball has no stemmer for, and spellings that mean the same word."""

from __future__ import annotations

from itertools import combinations

import pytest

from gossamer.index import schema
from gossamer.index.analysis import Languages, both, forms, query_stems, stems, surface, surface_words, words
from gossamer.search.corpus import narrowed, usual_languages
from gossamer.search.matching import matchers, ranges
from gossamer.search.query.words import units

INFLECTED = {
    "uk": [
        "книга книги книгу книгою книг книгам", "стіл стола столом столи столів", "рік року роки років",
        "жінка жінки жінці жінкою жінок", "сторінка сторінці сторінок", "новий нова нового новому нових новими",
        "український українська українського українських", "читати читає читають читав читала",
        "працювати працює працюють працювала", "будинок будинку будинки", "вечір вечора вечори",
        "кінець кінця кінці", "питання питанню питань питаннями", "школа школі шкіл", "село сіл",
    ],
    "bg": [
        "книга книгата книги книгите", "град градът градове градовете", "език езикът езици езиците",
        "университет университета университетите", "история историята истории историите",
        "нов нова новия новият новите", "център центъра центрове", "въпрос въпросът въпросите",
    ],
    "be": ["кніга кнігі кнігу кнігай кнігамі", "мова мовы мовай моў", "новы новая новага новых", "чытаць чытае чытала"],
    "cs": ["kniha knihy knihu knihou knih knihách", "město města městem", "nový nového nových", "hrad hradu hradů"],
    "sk": [
        "kniha knihy knihou knihách", "mesto mesta mestom miest", "žena ženy žien", "nový nového novým nových",
        "pracovať pracuje pracovala", "rýchlosť rýchlosti rýchlosťou",
    ],
    "sl": ["knjiga knjige knjigo knjig knjigah", "mesto mesta mestom mestih", "jezik jezika jezikov"],
    "mk": ["книга книгата книги книгите", "град градот градови градовите", "нов нова новиот новите"],
    "lv": ["grāmata grāmatas grāmatu grāmatām", "pilsēta pilsētas pilsētā", "valoda valodas valodām"],
    "he": ["ספר הספר ספרים הספרים", "מדינה המדינה מדינות המדינות", "חדש החדש חדשה חדשים", "שאלה שאלות השאלות"],
    "fa": ["شهر شهرها شهرهای", "کتاب كتاب کتابها"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("lang", "line"), [(lang, line) for lang, lines in INFLECTED.items() for line in lines], ids=str
)
def test_forms_of_a_word_meet(lang, line):
    found = {form: stems(form, lang)[0] for form in line.split()}
    assert len(set(found.values())) == 1, found


@pytest.mark.parametrize("lang", INFLECTED)
def test_different_words_of_a_language_stay_apart(lang):
    firsts = [stems(line.split()[0], lang)[0] for line in INFLECTED[lang]]
    assert all(one != other for one, other in combinations(firsts, 2)), firsts


@pytest.mark.parametrize(
    ("lang", "spellings"),
    [
        ("hi", "हिन्दी हिंदी"), ("hi", "सम्बन्ध संबंध"), ("hi", "हँसना हंसना"), ("hi", "ज़िला जिला"), ("hi", "२०२४ 2024"),
        ("ar", "أحمد احمد"), ("ar", "كِتَابٌ كتاب"), ("ar", "محـــمد محمد"), ("ar", "على علي"),
        ("fa", "کتاب كتاب"), ("fa", "ایران ايران"), ("he", "שָׁלוֹם שלום"), ("ru", "кни́га книга"), ("ru", "ёлка елка"),
    ],
)  # fmt: skip
def test_spellings_of_a_word_are_one_word_in_texts_and_as_stems(lang, spellings):
    one, other = spellings.split()
    assert surface_words(one) == surface_words(other)
    assert stems(one, lang) == stems(other, lang)


@pytest.mark.parametrize(
    "text", ["हिन्दी", "क्षत्रिय", "বাংলাদেশ", "বিজ্ঞান", "தமிழ்", "తెలుగు", "മലയാളം", "ಕನ್ನಡ", "ગુજરાતી", "සිංහල"]
)
def test_a_word_of_an_indian_script_is_one_word_in_texts_and_in_queries(text):
    assert len(surface_words(text)) == 1
    assert len(words(text)) == 1
    assert len(query_stems(text, Languages(("hi", "bn", "ta")))) == 1


def test_vietnamese_keeps_the_accents_that_make_other_words():
    assert stems("má mà ma", "vi") == ["má", "mà", "ma"]
    assert surface_words("má mà ma") == ["ma", "ma", "ma"]
    assert query_stems("má", Languages(("vi", "en"))) == ["má", "ma"]


def test_a_query_word_is_stemmed_with_its_accents():
    spanish = Languages(("es",))
    assert query_stems("comunicación", spanish) == stems("comunicaciones", "es")
    assert forms("comunicación", spanish)("comunicaciones")


def test_what_is_indexed_is_the_same_together_and_apart():
    for text in ("Plain words, 3.14 of them", "Élèves d’été", "北京大学 and हिन्दी", "ภาษาไทย", ""):
        written, stemmed = both(text, "fr")
        assert written == surface(text)
        assert stemmed.split() == stems(text, "fr")


def test_the_two_spellings_of_an_arabic_ending_share_a_stem():
    assert stems("مدرسة", "ar") == stems("مدرسه", "ar")


@pytest.mark.parametrize(
    ("lang", "query", "text", "marked"),
    [
        ("ar", "كتاب", "قرأت الكتاب أمس", ["الكتاب"]), ("ar", "الكتاب", "هذا كتاب جديد", ["كتاب"]),
        ("ar", "أحمد", "جاء احمد", ["احمد"]), ("he", "ספר", "קראתי את הספרים", ["הספרים"]),
        ("hi", "हिंदी", "मुझे हिन्दी पसंद है", ["हिन्दी"]), ("uk", "книга", "читаю книгою", ["книгою"]),
        ("es", "comunicaciones", "la comunicación", ["comunicación"]), ("ru", "книга", "прочли книги", ["книги"]),
    ],
)  # fmt: skip
def test_forms_are_marked_in_excerpts_with_what_is_written_together_with_them(lang, query, text, marked):
    weights = dict.fromkeys((schema.TITLE, schema.BODY, schema.TITLE_STEMS, schema.BODY_STEMS), 1.0)
    needles = [unit.needle for unit in units(query, Languages((lang,)), weights)]
    assert [text[start:end] for start, end in ranges(text, matchers(needles))] == marked


# -- in which languages a query is stemmed ----------------------------------------------------------------


def test_a_rare_language_counts_if_its_script_is_rare():
    languages = usual_languages({"en": 9_700, "ru": 200, "uk": 100}, 10_000)
    assert set(languages.codes) == {"en", "ru", "uk"}
    assert stems("книгою", "uk")[0] in query_stems("книга", languages)


def test_languages_of_other_scripts_do_not_displace_each_other():
    counted = dict.fromkeys(("en", "de", "fr", "es", "ru", "uk", "bg", "ar", "fa", "hi", "el"), 100)
    assert set(usual_languages(counted, 1_100).codes) == set(counted)


def test_a_few_stray_pages_do_not_make_a_language_of_the_index():
    assert usual_languages({"en": 10_000, "sw": 3, "nl": 5}, 10_008).codes[0] == "en"
    assert "nl" not in usual_languages({"en": 10_000, "nl": 5}, 10_005).codes


def test_pages_without_a_language_are_asked_as_they_were_stemmed():
    languages = usual_languages({"de": 90}, 100)
    assert languages.codes == ("de", "")
    assert stems("universities", None)[0] in query_stems("universities", languages)
    assert stems("книгами", None)[0] in query_stems("книга", languages)


def test_a_word_in_another_script_than_the_pages_has_the_stemmer_of_its_own():
    assert query_stems("книгами", Languages(("de",))) == ["книг"]
    assert query_stems("connections", Languages(("ru", "zh"))) == ["connect"]
    assert query_stems("λόγος", Languages(("en",))) == stems("λόγος", "el")


def test_a_chosen_language_is_the_only_one():
    usual = Languages(("en", "de", "ru", "uk"))
    assert narrowed(usual, ["uk"]).codes == ("uk",)
    assert query_stems("книга", narrowed(usual, ["uk"])) == stems("книгою", "uk")
    assert narrowed(usual, []) == usual


def test_an_index_without_languages_is_asked_in_english_and_russian():
    languages = usual_languages({}, 10)
    assert query_stems("running", languages) == ["run"]
    assert query_stems("книгами", languages) == ["книг"]
