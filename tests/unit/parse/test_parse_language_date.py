"""Language: an answer only where there is reason for one."""

import pytest

from gossamer.parse.language import detect_language, page_language, script_of

TEXTS = {
    "en": "The crawler keeps a clock for each site and never asks more often than the site can bear. ",
    "ru": "Робот хранит часы для каждого сайта и никогда не спрашивает чаще, чем сайт может вынести. ",
    "zh": "爬虫为每个网站保留一个时钟，从不以网站无法承受的频率发出请求，并且保存所有下载的页面。",
    "de": "Der Crawler führt für jede Website eine Uhr und fragt niemals öfter, als die Website verträgt. ",
    "ja": "クローラーはサイトごとに時計を持ち、サイトが耐えられる以上の頻度で要求することはありません。",
}


@pytest.mark.parametrize(("code", "text"), TEXTS.items())
def test_the_language_of_a_paragraph(code, text):
    assert detect_language(text * 3) == code


def test_traditional_chinese_is_chinese():
    assert detect_language("網路爬蟲為每個網站保留一個時鐘，從不以網站無法承受的頻率發出請求。" * 3) == "zh"


def test_chinese_among_commands_and_product_names_is_chinese():
    text = (
        "我们将在 CentOS 服务器上安装 Apache Hadoop 软件库，"
        "然后用 systemctl 启动 nginx 服务，并检查它的运行状态和日志。"
    )
    assert detect_language(text * 3) == "zh"


@pytest.mark.parametrize("text", ["", "ok", "123 456 789 " * 30, "\U0010ffff" * 100, "x\ufffd" * 50])
def test_short_or_doubtful_texts_have_no_language(text):
    assert detect_language(text) == ""


def test_half_and_half_has_no_language():
    assert detect_language((TEXTS["en"] + TEXTS["de"]) * 5) == ""


def test_a_short_page_is_in_the_language_that_it_claims_if_the_script_fits():
    assert page_language("Дельта реки", "ru-ru") == "ru"
    assert page_language("Контакти", "uk") == "uk"
    assert page_language("Yeah.", "en-us") == "en"
    assert page_language("会社", "ja") == "ja"
    assert page_language("12:30", "ru") == "ru"


def test_a_claim_never_wins_against_the_script():
    assert page_language("网络时间协议", "en") == "zh"
    assert page_language("Новый игрок", "en-us") == "ru"
    assert page_language("tba config", "ru") == ""
    assert page_language("Їжак і ґава", "ru") != "ru"


def test_a_claim_that_the_words_deny_does_not_count():
    assert page_language("Öffnungszeiten und Anfahrt für Besucher", "en") == ""


def test_title_and_description_help_a_short_text():
    assert page_language("ok", "", TEXTS["de"] * 2) == "de"


def test_letters_that_are_not_latin_decide_among_product_names():
    text = "DPI мышки: 400, Hz мышки: 1000, Монитор: BenQ XL2411, Коврик: QcK+, launch -freq 144 -novid -high"
    assert page_language(text, "ru-ru") == "ru"


def test_the_languages_of_the_site_decide_where_the_page_says_nothing():
    assert page_language("Impressum", "", "", {"de": 95, "en": 5}) == "de"
    assert page_language("Impressum", "", "", {"de": 50, "en": 50}) == ""
    assert page_language("Команда", "", "", {"bg": 95, "en": 5}) == "bg"
    assert page_language("Команда", "", "", {"en": 95}) == ""


SCRIPTS = {
    "": "", "12 34": "", "word": "latin", "слово and": "cyrillic", "日本語のページ": "kana", "中文 GitHub": "han",
    "ข่าว": "thai",
}  # fmt: skip


@pytest.mark.parametrize(("text", "script"), SCRIPTS.items())
def test_the_script_that_tells_the_language(text, script):
    assert script_of(text) == script


@pytest.mark.parametrize("text", ["", "12", "\ud800", "\U0010ffff" * 9])
def test_nobody_can_tell_the_language_of_nothing(text):
    assert page_language(text) == ""
