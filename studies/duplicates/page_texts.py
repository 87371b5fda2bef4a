"""Texts of pages to compare: of manuals that exist in two versions, or made up.

Manuals come from Debian packages. Versions that cannot be installed side by side may be unpacked instead:

    apt-get download libboost1.74-doc
    dpkg-deb -x libboost1.74-doc_*.deb ~/.cache/gossamer-lab/packages
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from random import Random

from gossamer.parse.html import Tree, rendered

INSTALLED = Path("/usr/share/doc")
MANUALS = {"guides": "installation-guide-*", "boost": "libboost1.*-doc"}
"""Collection → pattern of the packages that hold versions of one manual."""
_MAX_TAGS = 200_000
_VOCABULARY = 20_000
_SYLLABLES = ("ka", "ri", "to", "men", "sul", "pa", "ve", "ngo", "lis", "tra", "du", "ber", "on", "shi", "el", "fam")


def versions(collection: str, unpacked: Path) -> list[Path]:
    """Folders of the oldest and the newest version at hand; fewer where the machine has fewer."""
    roots = (INSTALLED, unpacked / "usr/share/doc")
    folders = {folder.name: folder for root in roots for folder in root.glob(MANUALS[collection]) if _has_pages(folder)}
    ordered = [folders[name] for name in sorted(folders)]
    return ordered if len(ordered) < 3 else [ordered[0], ordered[-1]]


def _has_pages(folder: Path) -> bool:
    return next(folder.rglob("*.html"), None) is not None


def page_texts(folders: Sequence[Path], every: int = 1) -> Iterator[str]:
    """Texts of the pages of a manual's versions: all of them, or every so-manyth, the same ones of each version."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*.html"))]
    kept = set(sorted({_page(path) for path in paths})[::every])
    return (page_text(path) for path in paths if _page(path) in kept)


def _page(path: Path) -> str:
    """What a page is called in all versions."""
    return path.name + path.parent.name


def page_text(path: Path) -> str:
    """All that a reader sees of a page."""
    body = Tree(path.read_bytes().decode("utf-8", "replace"), max_tags=_MAX_TAGS).body
    if body is None:
        return ""
    for element in list(body.iter_elements(("script", "style", "noscript"))):
        element.extract()
    return rendered(body)


def made_up_texts(number: int, seed: int) -> list[str]:
    """Texts of 250 to 1,200 words, as frequent as words of a language are; a tenth of them are a page's own."""
    dice = Random(f"{seed} texts")
    words = ["".join(dice.choices(_SYLLABLES, k=dice.randint(1, 5))) for _ in range(_VOCABULARY)]
    weights = list(accumulate(1 / (rank + 20) for rank in range(_VOCABULARY)))
    texts = []
    for _ in range(number):
        topic = dice.sample(words, 30)
        length = dice.randint(250, 1200)
        general = dice.choices(words, cum_weights=weights, k=length)
        texts.append(" ".join(dice.choice(topic) if dice.random() < 0.1 else word for word in general))
    return texts
