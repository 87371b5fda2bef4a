"""Text is decoded as the author meant it: mark, header, markup, detection, and lies seen through."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.charset import decode, known_label

RUSSIAN = "Съешь ещё этих мягких французских булок, да выпей же чаю. "
CHINESE = "北京是中华人民共和国的首都，也是全国的政治中心和文化中心。"
JAPANESE = "東京都は日本の首都であり、人口は約千四百万人である。"
KOREAN = "서울은 대한민국의 수도이며 한강을 끼고 있는 도시이다."

ENCODED = [
    ("windows-1251", "cp1251", RUSSIAN),
    ("koi8-r", "koi8_r", RUSSIAN),
    ("ibm866", "cp866", RUSSIAN),
    ("gb18030", "gb18030", CHINESE),
    ("gb2312", "gbk", CHINESE),
    ("big5", "big5", "臺灣的首都是臺北市，人口約二百五十萬人。"),
    ("shift_jis", "cp932", JAPANESE),
    ("euc-jp", "euc_jp", JAPANESE),
    ("iso-2022-jp", "iso2022_jp", JAPANESE),
    ("euc-kr", "euc_kr", KOREAN),
    ("windows-1252", "cp1252", "Überraschung – naïve café “quotes”"),
    ("utf-8", "utf_8", RUSSIAN),
]


@pytest.mark.parametrize(("label", "codec", "text"), ENCODED, ids=[e[0] for e in ENCODED])
def test_the_header_names_the_encoding(label, codec, text):
    assert decode(text.encode(codec), f'text/html; charset="{label.upper()}"').text == text


@pytest.mark.parametrize(("label", "codec", "text"), ENCODED, ids=[e[0] for e in ENCODED])
@pytest.mark.parametrize(
    "form", ['<meta charset="{}">', "<META http-equiv=content-type content='text/html; charset={}'>"]
)
def test_a_meta_element_names_the_encoding(label, codec, text, form):
    page = form.format(label) + text
    assert decode(page.encode(codec)).text == page


@pytest.mark.parametrize(
    ("codec", "text"),
    [e[1:] for e in ENCODED if e[1] in ("cp1251", "koi8_r", "cp932", "euc_kr", "gb18030", "big5")],
)
def test_without_a_declaration_the_encoding_is_detected(codec, text):
    assert decode((text * 4).encode(codec)).text == text * 4


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_beats_the_header(codec):
    assert decode(RUSSIAN.encode(codec), "text/html; charset=koi8-r").text == RUSSIAN


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_shows_by_its_zeros(codec):
    page = f"<html><p>{RUSSIAN}"
    assert decode(page.encode(codec)).text == page


def test_the_header_beats_the_markup():
    page = '<meta charset="koi8-r">' + RUSSIAN
    assert decode(page.encode("cp1251"), "text/html;charset=windows-1251").text == page


def test_utf8_declared_as_something_else_is_seen_through():
    assert decode(RUSSIAN.encode(), "text/html; charset=iso-8859-1") == (RUSSIAN, "utf-8")


def test_another_encoding_declared_as_utf8_is_seen_through():
    assert decode((RUSSIAN * 3).encode("cp1251"), "text/html; charset=utf-8") == (RUSSIAN * 3, "windows-1251")


def test_a_few_broken_bytes_do_not_change_the_encoding():
    broken = RUSSIAN.encode() + b"\xff\xfe" + RUSSIAN.encode()
    assert decode(broken, "text/html; charset=utf-8").text == RUSSIAN + "\ufffd\ufffd" + RUSSIAN


def test_two_chinese_characters_in_gbk_that_happen_to_be_utf8_stay_gbk():
    assert decode("茅台".encode("gbk"), "text/html; charset=gb2312").text == "茅台"


@pytest.mark.parametrize("label", ["rot13", "base64", "zip", "idna", "utf-7", "no-such", "", "x" * 10_000, "\0"])
def test_an_unknown_label_is_no_declaration(label):
    assert known_label(label) == ""
    assert decode(RUSSIAN.encode(), f"text/html; charset={label}").text == RUSSIAN


def test_a_declaration_in_a_comment_is_none():
    page = f'<!-- <meta charset="koi8-r"> --><meta charset="windows-1251">{RUSSIAN}'
    assert decode(page.encode("cp1251")).text == page


@given(st.binary(), st.text())
def test_any_bytes_and_any_header_can_be_decoded(body, content_type):
    text, charset = decode(body, content_type)
    text.encode()
    assert charset


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_utf8_comes_back_unchanged(text):
    body = b"\xef\xbb\xbf" + text.encode()
    assert decode(body) == (text, "utf-8")
