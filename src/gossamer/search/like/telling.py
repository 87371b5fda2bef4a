"""Which words of a page tell it from others: by how often it says them and how few pages do.

The cost is bounded whatever the page is: `MOST_CHARS` of its text are cut into words, `MOST_LOOKED_UP` of these are
looked up in the index, and `MOST_WORDS` are asked for. Left out are words that build sentences, numbers, and words that
no other page has or that too many have. A word of the title counts `TITLED` times.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator

from gossamer.index import analysis, schema
from gossamer.model.site import key64
from gossamer.model.url import Canonicalizer
from gossamer.search.corpus import rarity
from gossamer.search.like.values import Likeness, SaidWord, Sample, TellingWord, as_url, name_of
from gossamer.search.query.function_words import is_function_word
from gossamer.search.view import View

MOST_WORDS = 25
"""Words that pages like it are looked for by."""
MOST_CHARS = 20_000
"""Characters of its text that are looked at."""
MOST_LOOKED_UP = 200
"""Words whose frequency is looked up."""
TITLED = 2.0
"""What a word in the title counts, against 1 in the text."""
COMMON = 0.2
"""A word that a greater share of all pages has tells nothing."""
_FEW_PAGES = 40
"""In a smaller index no word is common."""
_ENOUGH = 40
"""Words that stand on a page more than once or in its title: if there are fewer, the others count as well."""


def sample(view: View, value: str) -> Sample | None:
    """The page that a value of `like:` names, as the index holds it; None where it does not."""
    for url in spellings(value):
        address = view.find(key64(url))
        page = view.stored(address) if address is not None else None
        if address is not None and page is not None and page.url == url:
            lang = page.lang or ""
            words = tuple(said(page.title, page.text[:MOST_CHARS], lang, view.extras))
            (cluster,) = view.numbers(schema.CLUSTER, [address])
            return Sample(url, page.title, lang, cluster, words)
    return None


def spellings(value: str) -> list[str]:
    """The URLs that a value may mean, the likeliest first: people leave out the scheme or a closing slash."""
    typed = [value] if "://" in value else [f"https://{value}", f"http://{value}"]
    parse = Canonicalizer().parse
    found = [one for url in typed for one in (url, as_url(url), parse(url), parse(as_url(url)))]
    urls = [one for one in found if isinstance(one, str)]
    return list(dict.fromkeys([*urls, *(url[:-1] if url.endswith("/") else f"{url}/" for url in urls)]))


def said(title: str, text: str, lang: str, using: Collection[str]) -> Iterator[SaidWord]:
    """The words of a page that may tell it from others, those that it says most often first."""
    titled = frozenset(analysis.stems(title, lang, using))
    times = Counter(analysis.stems(text, lang, using))
    times.update(titled - times.keys())
    shown = _written(f"{title}\n{text}", lang, using)
    several = [stem for stem, count in times.items() if count > 1 or stem in titled]
    stems = several if len(several) >= _ENOUGH else times
    left = MOST_LOOKED_UP
    for stem in sorted(stems, key=lambda stem: (stem not in titled, -times[stem])):
        word = shown.get(stem, stem)
        if left and _may_tell(stem, word, lang):
            left -= 1
            yield SaidWord(stem, word, times[stem], stem in titled)


def _written(text: str, lang: str, using: Collection[str]) -> dict[str, str]:
    """Stem → a word of the text that has it."""
    words = dict.fromkeys(analysis.words(text))
    return {analysis.stem_of(word, lang, using): word for word in reversed(words)}


def _may_tell(stem: str, word: str, lang: str) -> bool:
    if stem.isdigit() or (len(stem) < 2 and not analysis.is_spaceless(stem)):
        return False
    return not is_function_word(analysis.fold(word), (lang or "en",))


def likeness(page: Sample, documents: int, pages: Callable[[str, str], int]) -> Likeness:
    """What pages must share with a page. `pages`: how many of all documents have a term in a field."""
    most = COMMON * max(documents, _FEW_PAGES)
    weights: dict[SaidWord, float] = {}
    for word in page.words:
        count = pages(schema.BODY_STEMS, word.stem)
        if 1 < count <= most:
            weight = (1 + math.log(word.times)) * rarity(count, max(documents, count))
            weights[word] = weight * (TITLED if word.titled else 1.0)
    best = sorted(weights, key=lambda word: (-weights[word], word.stem))[:MOST_WORDS]
    words = tuple(TellingWord(word.stem, word.shown, weights[word] / weights[best[0]]) for word in best)
    return Likeness(name_of(page.title, page.url), page.url, True, page.lang, page.cluster, words)
