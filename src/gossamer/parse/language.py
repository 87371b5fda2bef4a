"""The language a page is written in: from its text, from what it claims and from its site, or no answer.

CLD2 is right on 98 of 100 texts of 120 characters and on all of 1,000; below that it guesses. Its own doubt
(`reliable`) is respected, and so is a mixture: a text of which the leading language covers less than 60 % has no
language by itself. Chinese, Japanese and Korean are told by their script, which nobody uses by accident, while commands
and product names make CLD2 doubt them: for these 40 % are enough.

Where the text is too short or too mixed, title and description are read with it, and others are asked:

- the **script**: letters that are not Latin are never there by accident, so that 30 % of them decide; many scripts
  belong to one language;
- the page's **claim** (`<html lang>`), if it fits the script and CLD2 does not see another language: templates claim
  English whatever is written in them, so a claim never wins against the text;
- the languages of the **site's** other pages, if most of them are in one that fits the script.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping

import pycld2

MIN_BYTES = 60
"""UTF-8 bytes of letters below which there is no answer: 10 words, or 20 Chinese characters."""
_SAMPLE = 2_000
"""Characters looked at; more changes no answer and costs 10 µs per thousand."""
_SKIP = 500
"""Characters left out at the start of a long text, where navigation tends to be."""
_PERCENT = 60
_SCRIPT_PERCENT = 40
_BY_SCRIPT = frozenset(("zh", "ja", "ko"))
_RENAMED = {"iw": "he", "jw": "jv", "in": "id", "mo": "ro", "sh": "sr"}
_GUESS_BYTES = 24
"""UTF-8 bytes of letters from which on CLD2's guess, sure or not, speaks against a claim of another language."""
_SCRIPT_SHARE = 0.3
"""Share of the letters from which on a script that is not Latin is the page's."""
_KANA_SHARE = 0.1
_MOST = 0.7
"""Share of a site's pages that must be in one language, for a page that says nothing itself."""

_SCRIPTS: tuple[tuple[str, str, tuple[tuple[int, int], ...]], ...] = (
    ("cyrillic", "ru uk be bg sr mk kk ky tg mn tt ba cv ce os sah uz", ((0x400, 0x530),)),
    ("han", "zh ja", ((0x3400, 0x4DC0), (0x4E00, 0xA000), (0xF900, 0xFB00))),
    ("kana", "ja", ((0x3040, 0x3100),)),
    ("hangul", "ko", ((0x1100, 0x1200), (0xAC00, 0xD7A4))),
    ("arabic", "ar fa ur ps ug sd ku", ((0x600, 0x700), (0x750, 0x780))),
    ("devanagari", "hi mr ne sa", ((0x900, 0x980),)),
    ("greek", "el", ((0x370, 0x400),)),
    ("hebrew", "he yi", ((0x590, 0x600),)),
    ("bengali", "bn as", ((0x980, 0xA00),)),
    ("gurmukhi", "pa", ((0xA00, 0xA80),)),
    ("gujarati", "gu", ((0xA80, 0xB00),)),
    ("tamil", "ta", ((0xB80, 0xC00),)),
    ("telugu", "te", ((0xC00, 0xC80),)),
    ("kannada", "kn", ((0xC80, 0xD00),)),
    ("malayalam", "ml", ((0xD00, 0xD80),)),
    ("sinhala", "si", ((0xD80, 0xE00),)),
    ("thai", "th", ((0xE00, 0xE80),)),
    ("lao", "lo", ((0xE80, 0xF00),)),
    ("burmese", "my", ((0x1000, 0x10A0),)),
    ("georgian", "ka", ((0x10A0, 0x1100),)),
    ("armenian", "hy", ((0x530, 0x590),)),
    ("ethiopic", "am ti", ((0x1200, 0x1380),)),
    ("khmer", "km", ((0x1780, 0x1800),)),
)
"""Name of a script, its languages, its letters."""
_LANGUAGES = {name: tuple(languages.split()) for name, languages, _ in _SCRIPTS}
_DENSE = frozenset(("han", "kana", "hangul"))
"""Scripts of which a character says as much as two letters."""
_ALSO_LATIN = frozenset(("sr", "uz", "kk", "ku", "tt", "mn"))
_NOT_LATIN = frozenset(code for codes in _LANGUAGES.values() for code in codes) - _ALSO_LATIN
_RUSSIAN = re.compile("[ыэё]", re.I)
_NOT_RUSSIAN = re.compile("[іїєґўјљњќђћџѓѕәғқңөұүһ]", re.I)


def page_language(text: str, claim: str = "", others: str = "", site: Mapping[str, int] | None = None) -> str:
    """ISO 639-1 code of a page; `""` where nobody could tell.

    `claim` is what the page says (`en-gb`), `others` is title and description, `site` says how many pages of the site
    are in each language."""
    if found := detect_language(text):
        return found
    sample = f"{others}\n{text}"[:_SAMPLE]
    if others and (found := detect_language(sample)):
        return found
    script, guess = script_of(sample), _guess(sample)
    claimed, usual = _code(claim.partition("-")[0].lower()), _usual(site)
    if not script:
        return claimed or usual
    if script == "latin":
        return _in_latin(*["" if code in _NOT_LATIN else code for code in (claimed, usual, guess)])
    return _in_script(script, sample, claimed, usual, guess)


def _in_latin(claimed: str, usual: str, guess: str) -> str:
    """The language of a few Latin letters: what two of the three say, or what nobody denies."""
    if guess:
        return guess if guess in (claimed, usual) else ""
    return claimed or usual


def _in_script(script: str, sample: str, claimed: str, usual: str, guess: str) -> str:
    """The language of a text in a script that is not Latin."""
    languages = _LANGUAGES[script]
    if script == "cyrillic":
        if not _NOT_RUSSIAN.search(sample):
            if claimed == "ru" or _RUSSIAN.search(sample):
                return "ru"
        else:
            languages = languages[1:]
    if len(languages) == 1:
        return languages[0]
    named = next((code for code in (claimed, usual, guess) if code in languages), "")
    return named or ("zh" if script == "han" else "")


def _usual(site: Mapping[str, int] | None) -> str:
    """The language of most pages of a site."""
    if not site:
        return ""
    code, count = max(site.items(), key=lambda item: item[1])
    return code if count >= _MOST * sum(site.values()) else ""


def script_of(text: str) -> str:
    """The script that tells the language of a text: the most frequent that is not Latin, if it has a good part of the
    letters, else `latin`; `""` where there are no letters."""
    counts: Counter[str] = Counter()
    for char, count in Counter(text).items():
        if char.isalpha():
            counts[_SCRIPT_AT[bisect_right(_STARTS, ord(char)) - 1]] += count
    letters = counts.total()
    if not letters:
        return ""
    if counts["kana"] > _KANA_SHARE * counts["han"]:
        counts["kana"] += counts.pop("han", 0)
    best = max(_LANGUAGES, key=counts.__getitem__)
    worth = 2 if best in _DENSE else 1
    return best if counts[best] * worth >= _SCRIPT_SHARE * letters else "latin"


def _ranges() -> list[tuple[int, str]]:
    """Where each stretch of code points begins and whose it is; what belongs to nobody here is as good as Latin."""
    ranges = sorted((start, stop, name) for name, _, ranges in _SCRIPTS for start, stop in ranges)
    found = [(0, "latin")]
    for start, stop, name in ranges:
        found += [(start, name), (stop, "latin")]
    return list(dict(found).items())


_STARTS, _SCRIPT_AT = zip(*_ranges(), strict=True)


def detect_language(text: str) -> str:
    """ISO 639-1 code of a cleaned text, by CLD2 alone; `""` where it is short or doubtful."""
    sample = text[_SKIP : _SKIP + _SAMPLE] if len(text) >= _SKIP + _SAMPLE else text[:_SAMPLE]
    reliable, size, code, percent = _asked(sample)
    sure = percent >= _SCRIPT_PERCENT if code in _BY_SCRIPT else reliable and percent >= _PERCENT
    return code if sure and size >= MIN_BYTES else ""


def _guess(sample: str) -> str:
    """What CLD2 takes a text for, sure or not; `""` where it has seen next to nothing."""
    _, size, code, percent = _asked(sample)
    return code if percent >= _PERCENT and size >= _GUESS_BYTES else ""


def _asked(sample: str) -> tuple[bool, int, str, int]:
    try:
        reliable, size, details = pycld2.detect(sample, isPlainText=True)
    except (pycld2.error, UnicodeEncodeError):  # bytes CLD2 will not read, though they are valid UTF-8
        return False, 0, "", 0
    _, code, percent, _ = details[0]
    return reliable, size, _code(code.partition("-")[0]), percent


def _code(code: str) -> str:
    return _RENAMED.get(code, code) if len(code) == 2 and code not in ("un", "xx") else ""
