"""Which terms are words: of a dictionary, English or Russian in Latin letters, or of the language of URLs.

The dictionary is a bitmap: a word sets the bit that the upper bits of its hash name. One term in
thirty is taken for a word by chance, which no count of terms minds. Russian inflects: its long words
are known by their first letters. The bitmap is made by `training/qrank_words.py`; sources and licences
stand there and in `data/WORDS.md`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from gossamer.priority.qrank.tokens import Hashes, hash_of

BITS = 23
"""Of a hash, that find a bit of the dictionary."""
STEM = 6
"""Letters by which longer Russian words are known."""
_STEM_MARK = np.uint64(0xA0761D6478BD642F)
"""Tells the beginnings of words from words."""

ROLES: dict[str, str] = {
    "paging": "page pages p pg paged start offset comment comments commentpage cpage list next prev seite pagina",
    "tag": "tag tags label labels keyword keywords tegi teg metka metki",
    "category": "category categories cat cats topic topics subject subjects section sections rubric rubrics rubriki "
    "rubrika kategoria kategorii kategoriya genre series kategorie categoria",
    "archive": "archive archives arhiv arhive history old past year month day calendar date daily weekly monthly",
    "entrance": "about contact contacts contactus faq help support news blog download downloads products product "
    "services home main start welcome sitemap map search site overview toc contents guide glavnaya novosti o kontakty "
    "onas kontakti why who team people mission policy privacy terms legal license copyright donate join links",
    "feed": "feed feeds rss atom rdf xml json amp embed trackback xmlrpc api oembed",
    "service": "login logout signin signup register registration admin wp cgi bin print printer share reply replytocom "
    "action session sid sessionid phpsessid edit diff user users account cart profile member members author authors "
    "redirect goto url return attachment attachments image images img photo photos gallery media files file static "
    "assets css js scripts tmp temp test tests xref src source doc raw view viewer popup preview template templates",
    "index": "index default home main",
    "plain": "html htm shtml xhtml md",
    "dynamic": "php php3 php4 php5 asp aspx jsp jspx cgi pl do cfm cfml dll exe py action phtml",
    "document": "pdf doc docx ppt pptx xls xlsx odt ods odp txt rtf ps tex csv xml json zip gz tgz tar jpg jpeg png "
    "gif svg mp3 mp4",
    "language": "en ru de fr es it pt nl pl cs sk uk be bg sr hr sl hu ro el tr ar he fa hi zh cn tw ja jp ko kr vi th "
    "id da sv no nb fi et lv lt ca eu gl eng rus deu fra",
}
"""Terms of the language of URLs, by what pages they lead to."""
_ROLE_BITS = 16


def are_words(words: Hashes) -> NDArray[np.bool_]:
    """Whether terms are words, by their hashes."""
    return _known(words)


def begin_words(beginnings: Hashes) -> NDArray[np.bool_]:
    """Whether longer terms are Russian words, by the hashes of their first `STEM` letters."""
    return _known(beginnings ^ _STEM_MARK)


def roles(words: Hashes) -> NDArray[np.uint8]:
    """A number for each term that says which roles it has: an index of `role_sets`."""
    found: NDArray[np.uint8] = _role_table()[0][words >> np.uint64(64 - _ROLE_BITS)]
    return found


def role_sets() -> list[frozenset[str]]:
    """The sets of roles that `roles` numbers."""
    return _role_table()[1]


def bitmap(words: set[str], stems: set[str]) -> NDArray[np.uint8]:
    """The dictionary of words, and of first letters of words."""
    bits = np.zeros(1 << BITS, np.uint8)
    shift = 64 - BITS
    bits[[hash_of(word) >> shift for word in sorted(words)]] = 1
    bits[[(hash_of(stem) ^ int(_STEM_MARK)) >> shift for stem in sorted(stems)]] = 1
    return np.packbits(bits, bitorder="little")


def _known(hashes: Hashes) -> NDArray[np.bool_]:
    places = (hashes >> np.uint64(64 - BITS)).view(np.int64)
    bytes_ = _dictionary()[places >> 3]
    found: NDArray[np.bool_] = (bytes_ >> (places & 7).astype(np.uint8) & 1).view(np.bool_)
    return found


@cache
def _dictionary() -> NDArray[np.uint8]:
    source = files("gossamer.priority.qrank") / "data" / "words.npz"
    with source.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return np.asarray(arrays["bitmap"], np.uint8)


@cache
def _role_table() -> tuple[NDArray[np.uint8], list[frozenset[str]]]:
    sets: dict[int, set[str]] = {}
    for role, terms in ROLES.items():
        for term in terms.split():
            sets.setdefault(hash_of(term) >> (64 - _ROLE_BITS), set()).add(role)
    distinct = [frozenset[str](), *sorted({frozenset(found) for found in sets.values()}, key=sorted)]
    table = np.zeros(1 << _ROLE_BITS, np.uint8)
    for place, found in sets.items():
        table[place] = distinct.index(frozenset(found))
    return table, distinct
