"""Language: an answer only where there is reason for one."""

import pytest

from gossamer.parse.language import detect_language

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
