"""Makes `src/gossamer/priority/qrank/data/words.npz`, the dictionary of words that URLs are made of.

    apt-get install scowl hunspell-ru
    python training/qrank_words.py

English: SCOWL, sizes 10 to 50, the words a spelling dictionary of small size has; free to use, copy, modify,
distribute and sell. Russian: the dictionary of Alexander I. Lebedev, as it comes with hunspell; BSD with
the clause that changed versions say that they are: this one is transliterated, cut to first letters and
hashed. `data/WORDS.md` carries both notices.

Russian is written in Latin letters in several ways at once. Each word is written in every way below, all
its letters in the same one. Words of up to `STEM` letters are kept as they are, with their forms (endings from the
affix file); of longer ones the first `STEM` Latin letters.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from gossamer.priority.qrank.words import STEM, bitmap  # noqa: E402

SIZES = ("10", "20", "35", "40", "50")
SHORTEST = 2
_SAME = dict(zip("абвгдезиклмнопрстуф", "abvgdeziklmnoprstuf", strict=True)) | {"ъ": ""}
_DIALECTS: tuple[dict[str, str], ...] = (
    # passports and most content managers
    dict(zip("ё ж й х ц ч ш щ ы ь э ю я".split(), "e zh y kh ts ch sh shch y  e yu ya".split(" "), strict=True)),
    # Yandex, and WordPress plugins after it
    dict(zip("ё ж й х ц ч ш щ ы ь э ю я".split(), "yo zh j h c ch sh shh y  e yu ya".split(" "), strict=True)),
    dict(zip("ё ж й х ц ч ш щ ы ь э ю я".split(), "yo zh i h ts ch sh sch y  e yu ya".split(" "), strict=True)),
    # GOST
    dict(zip("ё ж й х ц ч ш щ ы ь э ю я".split(), "jo zh j x cz ch sh shh y  e yu ya".split(" "), strict=True)),
    # as typed by hand
    dict(zip("ё ж й х ц ч ш щ ы ь э ю я".split(), "e j y h c ch sh sch i  e u ia".split(" "), strict=True)),
    dict(zip("ё ж й х ц ч ш щ ы ь э ю я".split(), "e zh i h c ch sh shch y  e ju ja".split(" "), strict=True)),
)


def latin(word: str) -> set[str]:
    """A Russian word in Latin letters, each way."""
    return {"".join(_SAME.get(char) if char in _SAME else dialect[char] for char in word) for dialect in _DIALECTS}


def english(folder: Path) -> set[str]:
    """English words of plain letters."""
    found: set[str] = set()
    for kind in ("english-words", "american-words", "british-words", "english-upper"):
        for size in SIZES:
            file = folder / f"{kind}.{size}"
            if file.exists():
                found |= {line.lower() for line in file.read_text("latin-1").split()}
    return {word for word in found if len(word) >= SHORTEST and word.isascii() and word.isalpha()}


def russian(dictionary: Path, affixes: Path) -> tuple[set[str], set[str]]:
    """Short Russian words and the first letters of long ones, in Latin letters."""
    endings = _endings(affixes)
    words: set[str] = set()
    stems: set[str] = set()
    for line in dictionary.read_text("utf-8").split()[1:]:
        base, _, flags = line.partition("/")
        if base != base.lower() or len(base) < SHORTEST:
            continue  # names and abbreviations
        forms = {base}
        if len(base) <= STEM + 1:
            for flag in flags:
                forms |= {
                    base[: len(base) - len(cut)] + add for cut, add in endings.get(flag, ()) if base.endswith(cut)
                }
        for form in forms:
            if set(form) <= set(_SAME) | set(_DIALECTS[0]):
                for written in latin(form):
                    (words.add(written) if len(written) <= STEM else stems.add(written[:STEM]))
    return {word for word in words if len(word) >= SHORTEST}, stems


def _endings(affixes: Path) -> dict[str, list[tuple[str, str]]]:
    """For each flag what is cut off and what is put there; conditions are left to `endswith`."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in affixes.read_text("utf-8").splitlines():
        fields = line.split()
        if len(fields) == 5 and fields[0] == "SFX":
            found.setdefault(fields[1], []).append((fields[2].strip("0"), fields[3].strip("0")))
    return found


def main() -> None:
    """Writes the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scowl", type=Path, default=Path("/usr/share/dict/scowl"))
    parser.add_argument("--hunspell", type=Path, default=Path("/usr/share/hunspell"))
    parser.add_argument("--out", type=Path, default=ROOT / "src/gossamer/priority/qrank/data/words.npz")
    args = parser.parse_args()
    words = english(args.scowl)
    short, stems = russian(args.hunspell / "ru_RU.dic", args.hunspell / "ru_RU.aff")
    table = bitmap(words | short, stems)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, bitmap=table)
    share = np.unpackbits(table).mean()
    print(f"{len(words)} English words, {len(short)} short Russian forms, {len(stems)} beginnings")
    print(f"{args.out.stat().st_size} bytes; {share:.2%} of other terms are taken for words")


if __name__ == "__main__":
    main()
