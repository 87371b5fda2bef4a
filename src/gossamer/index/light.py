"""Light stemmers for languages that Snowball has none for: endings cut off, then a few sounds made equal.

Each language lists its endings. The longest that leaves enough of the word is cut, once; what vowels and consonants
at the end of a stem then do in that language (`кінець`, `кінця`; `език`, `езици`) is undone by its `sounds`, in order.
The result need not be a word. It has to be the same for the forms of a word, and for few others.

A lemma (`index/lemmas.py`) is stemmed by these too. So a form that the dictionary lacks still meets those it has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

LightStemmer = Callable[[str], str]
"""A lower-case word to its stem, never empty."""


class _Endings:
    """A language's endings and sounds."""

    def __init__(self, endings: str, sounds: Sequence[tuple[str, str]] = (), least: int = 3) -> None:
        """`least`: letters that must be left before an ending."""
        self._endings = frozenset(endings.split())
        self._longest = max(map(len, self._endings))
        self._sounds = [(re.compile(pattern), new) for pattern, new in sounds]
        self._least = least

    def __call__(self, word: str) -> str:
        stem = self._cut(word)
        for pattern, new in self._sounds:
            stem = pattern.sub(new, stem)
        return stem or word

    def _cut(self, word: str) -> str:
        for size in range(min(self._longest, len(word) - self._least), 0, -1):
            if word[-size:] in self._endings:
                return word[:-size]
        return word


_ukrainian = _Endings(
    """
    а я о е є у ю и і ї ь й ам ям ами ями ах ях ою ею єю ом ем єм ів їв ей ові еві єві
    ий ій ого його ому йому им їм ої єї ім их їх ими їми ую юю ії ію ією іям іями іях ія ій іє
    ть ться ати ав ала ало али аю аєш ає аємо аєте ають аючи атися ався алася алося алися ається аються
    яти яв яла яло яли яю яєш яє яємо яєте яють ятися явся ялася ялося ялися яється яються
    ити ив ила ило или иш ить имо ите ять ать итися ився илася илося илися иться яться аться
    іти іла іло іли ію ієш іє іємо ієте іють ітися
    увати ював ювала ювало ювали ювати ював увала увало ували ував ую уєш ує уємо уєте ують уючи
    уватися увався увалася увалося увалися ується уються
    юю юєш ює юємо юєте юють юється юються юватися ювався ювалася ювалося ювалися
    еш емо ете уть уться еться
    ість ості істю остей остям остями остях
    """,
    (
        ("[ьй']+$", ""),
        ("([бвгґджзклмнпрстфхцчшщ])\\1$", "\\1"),
        ("(?<=[бвгґджзклмнпрстфхчшщ])ец$", "ц"),
        ("(?<=[бвгґджзклмнпрстфхчшщ])ц$", "к"),
        ("(?<=[а-яіїєґ]{2}[бвгґджзклмнпрстфхцчшщ])ок$", "к"),
        ("[іе](?=[бвгґджзклмнпрстфхцчшщ]{1,2}$)", "о"),
    ),
)
_belarusian = _Endings(
    """
    а я о е ё у ю ы і ь й ам ям амі ямі ах ях ом ем ём аў оў ёў яў ой ай ей яй ою аю ею яю
    ы ая яя ое ае яе ыя ія ага яга ога ому аму яму ым ім ую юю ых іх ымі імі ыі ій ыю ію ыяй іяй
    ць цца аць ала ало алі аю аеш ае аем аеце аюць яць яла яло ялі
    іць іў іла іло ілі ыць ыў ыла ыло ылі еш еце уць юць іш іце
    аваць аваў авала авалі уе уюць
    нне ння нню ннем ннях асць асці асцю асцей
    """,
    (
        ("[ьй']+$", ""),
        ("ў$", "в"),
        ("([бвгджзклмнпрстфхцчш])\\1$", "\\1"),
        ("(?<=[бвгджзклмнпрстфхчш])[эе]ц$", "ц"),
        ("ц$", "к"),
    ),
)
_bulgarian = _Endings(
    """
    а я о е и й ъ ь то те ът ят ата ята ото ето ите ове еве овете евете ища ищата
    ия ият ията ии иите ие ието иета иетата ия о
    ам ям аме яме ате яте ат ят еш иш ем им ете ите
    ах ях аха яха ал ял ала яла али яли ало яло ене ане ението ането ения ания
    """,
    (
        ("(?<=[бвгджзклмнпрстфхцчшщ])ъ(?=[рлнмк]$)", ""),
        ("(?<=[бвгджзклмпрстфхцчшщ])е(?=[нлрц]$)", ""),
        ("ц$", "к"),
    ),
)
_macedonian = _Endings(
    """
    а о е и ј та то те от ва во ве ов на но не он ата ото ето ите ови еви овите евите ишта
    иот ија ијата ии иите ие ието иња ињата ам аш ме те ат еш ем ете иш им ите
    ав аше авме авте аа ал ала ало але ење ање ењето ањето
    """,
    (("(?<=[бвгджзклмнпрстфхцчшѓќљњџ])[еаo](?=[нрлц]$)", ""), ("ц$", "к")),
)
_slovak = _Endings(
    """
    a á ä e é i í o u ú y ý ia ie iu ami mi och ach ách iach ám iam om em ov ovi ovia iam
    ej ou ého ému ým ých ými eho emu im ich imi ím ích ími ou iou
    ť ať al ala alo ali ám áš á áme áte ajú iť il ila ilo ili ím íš íme íte ia
    ovať oval ovala ovalo ovali ujem uješ uje ujeme ujete ujú
    nie nia niu ním ní niach niami osť osti osťou ostí ostiam ostiach ostiami
    """,
    (
        ("([bcdfghjklmnprstvzčďľňšťž])\\1$", "\\1"),
        ("(?<=[a-zá-ž]{2}[bdfghjklmnprstvzčďľňšťž])e(?=[ckľlnr]$)", ""),
        ("(?<=[a-zá-ž]{2}[bdfghjlmnprstvzčďľňšťž])o(?=k$)", ""),
        ("i([ae])(?=[bcdfghjklmnprstvzčďľňšťž]+$)", "\\1"),
        ("á(?=[bcdfghjklmnprstvzčďľňšťž]+$)", "a"),
        ("c$", "k"),
    ),
)
_slovenian = _Endings(
    """
    a e i o u ja je ji jo ju am ah ama ami em om ema ov ev eh ih im ima imi ega emu
    mo te jo am aš amo ate ajo im iš imo ite ijo ati al ala alo ali iti il ila ilo ili
    ost osti ostjo ostih ostmi anje anja anju anjem enje enja enju enjem
    """,
    (("(?<=[a-zčšž]{2}[bcdfghjklmnprstvzčšž])e(?=[cklnr]$)", ""), ("c$", "k")),
)
_latvian = _Endings(
    """
    a e i o u ā ē ī ū s š as es is us os ās ēs īs ai ei ij ie am em im um ām ēm īm iem
    ajam ajai ajā ajos ajās ajiem ajām ais āks āka āki ākas
    t ju ja jam jat oju oja ojam ot ēt āt īt
    """,
    (("[ļ]$", "l"), ("[ņ]$", "n"), ("š$", "s"), ("ž$", "z"), ("dz$", "d"), ("c$", "k")),
)

_HEBREW_FINALS = str.maketrans("ךםןףץ", "כמנפצ")
_HEBREW_SUFFIXES = ("ויות", "יות", "אות", "ית", "ים", "ות")


def _hebrew(word: str) -> str:
    """Without what is written together with the word (and, the, in, to), and without the plural. `כ`, `מ` and `ש` begin
    too many words of their own."""
    stem = word
    if stem[0] == "ו" and len(stem) >= 5:
        stem = stem[1:]
    if (stem[0] == "ה" and len(stem) >= 4) or (stem[0] in "בל" and len(stem) >= 5):
        stem = stem[1:]
        if stem[0] == "ה" and len(stem) >= 5:
            stem = stem[1:]
    for suffix in _HEBREW_SUFFIXES:
        if stem.endswith(suffix) and len(stem) - len(suffix) >= 3:
            stem = stem[: -len(suffix)]
            break
    else:
        if stem[-1] == "ה" and len(stem) >= 4:
            stem = stem[:-1]
    return stem.translate(_HEBREW_FINALS)


STEMMERS: dict[str, LightStemmer] = {
    "be": _belarusian, "bg": _bulgarian, "he": _hebrew, "lv": _latvian, "mk": _macedonian, "sk": _slovak,
    "sl": _slovenian, "uk": _ukrainian,
}  # fmt: skip
"""By ISO 639-1 code."""
