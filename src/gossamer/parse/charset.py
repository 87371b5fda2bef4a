"""Bytes to characters, the way browsers do it, and better where pages lie.

The order is: byte-order mark, `Content-Type`, `<meta>` or XML declaration,
detection. Two corrections come from what real servers send:

- bytes that *are* valid UTF-8, with enough of them outside ASCII that this is no
  accident, are UTF-8 whatever was declared: no other encoding yields that;
- bytes declared as UTF-8 that mostly are not (a quarter of the high bytes are
  broken) are given to detection; a page with a few broken bytes stays UTF-8.

Labels are those of the WHATWG Encoding Standard. Python's own registry is not
asked: it imports modules by the name a page gives it, and remembers every name.
Decoding never fails; what cannot be read becomes U+FFFD.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from chardetng_py import EncodingDetector

_ENOUGH = 24
"""High bytes from which on valid UTF-8 is no accident: 8 Chinese or 12 Cyrillic letters."""
_PRESCAN = 4096
"""Bytes searched for a declaration; browsers search 1,024, but scripts often come first."""
_SAMPLE = 65_536
"""Bytes given to detection."""
_ASCII = bytes(range(128))

_META = re.compile(rb"<(?:meta|\?xml)\b[^>]{0,500}?(?:charset|encoding)\s*=\s*[\"']?\s*([\w:.+-]{2,40})", re.I)
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.S)
_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.+-]{2,40})", re.I)

# WHATWG name, Python codec, labels. Where Python's codec of the same name is narrower
# than the web's (gbk, shift_jis, euc-kr, big5), the wider one is named.
_TABLE = """
utf-8         utf_8         utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8
ibm866        cp866         866 cp866 csibm866 ibm866
iso-8859-2    iso8859_2     csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 l2 latin2
iso-8859-3    iso8859_3     csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 l3 latin3
iso-8859-4    iso8859_4     csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 l4 latin4
iso-8859-5    iso8859_5     csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5
iso-8859-6    iso8859_6     arabic asmo-708 csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso8859-6
iso-8859-7    iso8859_7     csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso8859-7 iso88597 iso_8859-7
iso-8859-8    iso8859_8     csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-8859-8-i iso8859-8 logical visual
iso-8859-10   iso8859_10    csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13   iso8859_13    iso-8859-13 iso8859-13 iso885913
iso-8859-14   iso8859_14    iso-8859-14 iso8859-14 iso885914
iso-8859-15   iso8859_15    csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9 latin9
iso-8859-16   iso8859_16    iso-8859-16
koi8-r        koi8_r        cskoi8r koi koi8 koi8-r koi8_r
koi8-u        koi8_u        koi8-ru koi8-u
macintosh     mac_roman     csmacintosh mac macintosh x-mac-roman
windows-874   cp874         dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250  cp1250        cp1250 windows-1250 x-cp1250
windows-1251  cp1251        cp1251 windows-1251 x-cp1251 win-1251 windows1251
windows-1252  cp1252        ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 l1 latin1 us-ascii windows-1252 x-cp1252
windows-1253  cp1253        cp1253 windows-1253 x-cp1253
windows-1254  cp1254        cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 l5 latin5 windows-1254 x-cp1254
windows-1255  cp1255        cp1255 windows-1255 x-cp1255
windows-1256  cp1256        cp1256 windows-1256 x-cp1256
windows-1257  cp1257        cp1257 windows-1257 x-cp1257
windows-1258  cp1258        cp1258 windows-1258 x-cp1258
x-mac-cyrillic mac_cyrillic x-mac-cyrillic x-mac-ukrainian
gbk           gb18030       chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk cp936
gb18030       gb18030       gb18030
hz-gb-2312    hz            hz-gb-2312
big5          big5hkscs     big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp        euc_jp        cseucpkdfmtjapanese euc-jp x-euc-jp
iso-2022-jp   iso2022_jp    csiso2022jp iso-2022-jp
shift_jis     cp932         csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
euc-kr        cp949         cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
utf-16be      utf_16_be     unicodefffe utf-16be
utf-16le      utf_16_le     csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
"""  # noqa: E501 - an encoding is a line
_CODECS: dict[str, str] = {}
_LABELS: dict[str, str] = {}
for _name, _codec, *_labels in map(str.split, _TABLE.strip().splitlines()):
    _CODECS[_name] = _codec
    _LABELS.update(dict.fromkeys(_labels, _name))

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
_ASCII_SHAPED = frozenset(("iso-2022-jp", "hz-gb-2312"))
"""Encodings whose every byte is below 128."""
_WIDE = frozenset(("gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr"))
"""Encodings a few characters of which can look like UTF-8."""


class Decoded(NamedTuple):
    """The text and the WHATWG name, in lower case, of the encoding it was in."""

    text: str
    charset: str


def known_label(label: str) -> str:
    """The encoding a label stands for; `""` for an unknown one."""
    return _LABELS.get(label.strip().lower(), "")


def decode(body: bytes, content_type: str = "", top_level_domain: str = "") -> Decoded:
    """The characters of a body; never fails."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return Decoded(body[len(mark) :].decode(_CODECS[name], "replace"), name)
    if body.isascii() and b"\x1b" not in body and b"~{" not in body and b"\0" not in body[:4]:
        return Decoded(body.decode("ascii"), "utf-8")
    declared = _from_header(content_type) or _utf16_shape(body) or _from_markup(body)
    return _decode_declared(body, declared, top_level_domain)


def _decode_declared(body: bytes, declared: str, top_level_domain: str) -> Decoded:
    if declared.startswith("utf-16") or (declared in _ASCII_SHAPED and body.isascii()):
        return Decoded(body.decode(_CODECS[declared], "replace"), declared)
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        return _decode_other(body, declared, top_level_domain)
    if declared in _WIDE and len(body.translate(None, _ASCII)) < _ENOUGH:
        try:
            return Decoded(body.decode(_CODECS[declared]), declared)
        except UnicodeDecodeError:
            pass
    return Decoded(text, "utf-8")


def _decode_other(body: bytes, declared: str, top_level_domain: str) -> Decoded:
    """For bytes that are not valid UTF-8 from end to end."""
    if declared in ("utf-8", ""):
        text = body.decode("utf-8", "replace")
        if text.count("\ufffd") * 4 < len(body.translate(None, _ASCII)):
            return Decoded(text, "utf-8")
        declared = _detect(body, top_level_domain)
    return Decoded(body.decode(_CODECS[declared], "replace"), declared)


def _from_header(content_type: str) -> str:
    found = _HEADER.search(content_type[:500])
    return known_label(found[1]) if found else ""


def _from_markup(body: bytes) -> str:
    head = body[:_PRESCAN]
    if b"<!--" in head:
        head = _COMMENT.sub(b"", head)
    for found in _META.finditer(head):
        name = known_label(found[1].decode("ascii", "replace"))
        if name:
            # a declaration that could be read byte by byte was not in UTF-16
            return "utf-8" if name.startswith("utf-16") else name
    return ""


def _utf16_shape(body: bytes) -> str:
    """UTF-16 without a mark shows by the zero half of its first `<` and letter."""
    if body[1:2] == b"\0" and body[3:4] == b"\0" and body[0] and body[2:3] != b"\0":
        return "utf-16le"
    if body[:1] == b"\0" and body[2:3] == b"\0" and body[1:2] != b"\0" and body[3:4] != b"\0":
        return "utf-16be"
    return ""


def _detect(body: bytes, top_level_domain: str) -> str:
    detector = EncodingDetector()
    detector.feed(body[:_SAMPLE], last=len(body) <= _SAMPLE)
    tld = top_level_domain.encode() if top_level_domain.isascii() and top_level_domain.islower() else None
    guess: str = detector.guess(tld=tld, allow_utf8=False)
    return known_label(guess) or "windows-1252"
