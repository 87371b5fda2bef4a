"""Lines that change by themselves: clocks, counters, times of generation.

"Page generated in 0.031 seconds", "Visitors: 12,345" and "It is currently 14:30" differ at every request, so a hash
over them would make a new text of an old one: each visit would look like a change, and no two copies would be equal.

A line is *passing* if it has a number, a word that names such a number, and no other words but fillers and those of
dates. That is strict on purpose: a wrong join hides a page, a missed one only shows it twice. "Today is the 50th
anniversary" has other words and stays. A date alone stays, too, because it tells two posts apart; only a clock shows
seconds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from gossamer.compiled import twin

_MOST_LINES = 1_000
"""Lines with numbers that are looked at, so that a text of a million numbers takes no longer."""
_FEW_DATES = 3
"""Dates of a post: when it was written, changed, read."""
_BEFORE, _AFTER = 50, 70
_NUMBERED = re.compile(rf"^[^\n\d]{{0,{_BEFORE}}}\d[^\n]{{0,{_AFTER}}}$", re.MULTILINE)
"""A short line with a digit."""
_COMPILED = twin("words")
_last: tuple[str, list[tuple[int, int]]] = ("", [])
_WORD = re.compile(r"[^\W\d_]+")
_SECONDS = re.compile(r"\d:\d\d:\d\d")
_DAY = re.compile(r"[^\W\d_]|\d[-./]\d\d?[-./]\d")

_WORD_OR_NUMBER = re.compile(r"[^\W\d_]+|\d+")
_CLOCK_ALONE = re.compile(r"\s*\d\d?[:.]\d\d\s*(?:[ap]\.?m\.?|uhr|h)?\s*", re.IGNORECASE)
_YEAR_OR_CLOCK = re.compile(r"\b(?:19|20)\d\d\b|\b\d\d?:\d\d\b")
_BYLINE = re.compile(
    r"^[ \t]{0,9}(?:(?:posted|written|published|submitted|reported)[ ]by|by|von|par|por|автор|作者)\b[ :|]{0,3}"
    r"[^\W\d_][^\n.!?。]{0,50}$",
    re.IGNORECASE | re.MULTILINE,
)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WRITTEN = _words(
    """by posted published written submitted filed added updated created reported on von geschrieben veröffentlicht
    erstellt par publié écrit por publicado escrito автор опубликовано добавлено обновлено написано
    作者 发布 发表 发布于 发表于 更新"""
)


class _Kind(NamedTuple):
    """A kind of passing line: it needs a word of `keys`, and one of `beside` if there are any."""

    keys: frozenset[str]
    fillers: frozenset[str]
    beside: frozenset[str] = frozenset()


_DATE = _words(
    """a am pm m p h t z at on of the is gmt utc est edt cst cdt mst mdt pst pdt cet cest bst jst msk мск st nd rd th
    mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday jan feb mar apr may jun jul aug
    sep sept oct nov dec january february march april june july august september october november december
    um uhr der den montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober
    dezember le à lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril juin juillet août
    septembre octobre novembre décembre el de del las lunes martes miércoles jueves viernes sábado domingo enero febrero
    marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    в г года понедельник вторник среда четверг пятница суббота воскресенье января февраля марта апреля мая июня июля
    августа сентября октября ноября декабря
    年 月 日 时 時 分 秒 上午 下午 午前 午後 星期一 星期二 星期三 星期四 星期五 星期六 星期日 년 월 일 오전 오후"""
)
_CLOCK = _Kind(
    _words(
        """now currently current today clock uhrzeit heute jetzt maintenant aujourd hoy ahora hora сейчас сегодня
        текущее 今天是 今天 现在时间 現在時刻 当前时间 北京时间 현재"""
    ),
    _words(
        """it time times date day all are your local server last visit was es ist zeit datum aktuelle il est heure hui
        serveur fecha actual son время дата на сервере сервера местное 시간"""
    )
    | _DATE,
)
_COUNTER = _Kind(
    _words(
        """visitor visitors visit visits hit hits view views viewed pageviews online guests comments replies likes
        besucher aufrufe zugriffe kommentare visiteurs visites vues commentaires visitas visitantes vistas comentarios
        просмотров просмотры просмотра посетителей посещений комментариев комментарии гостей
        访问量 访问次数 浏览 浏览次数 浏览量 次浏览 点击 点击数 阅读 阅读数 评论
        閲覧数 アクセス数 コメント 조회수 댓글"""
    ),
    _words(
        """this page site you are our the has been have was since times time number no total of today and so far user
        users member members guest there is in unique counter on diese seite wurde mal sie sind der heute gesamt nummer
        seit всего сегодня сейчас на сайте пользователей пользователь гость сайт вы страница за день
        本页 总 今日 次 您是第 位访客 共 回"""
    ),
)
_MADE = _Kind(
    _words(
        """generated created rendered executed loaded load processed built served parsed generation creation execution
        processing rendering queries query erzeugt generiert erstellt geladen générée generada gerada chargée
        сгенерирована создана загружена генерации загрузки запросов 页面执行时间 页面生成 执行时间 用时 耗时"""
    ),
    _words(
        """page pages this time times took was in within by with using and sql mysql database db memory mb kb php cpu
        usage gzip script seite wurde mit abfragen página page en страница страницы время за запроса к базе 次查询"""
    ),
    _words("s sec secs second seconds ms сек секунд секунды мс sekunden secondes segundos 秒 毫秒"),
)
_KINDS = (_CLOCK, _COUNTER, _MADE)
_KNOWN = _DATE.union(*(kind.keys | kind.fillers | kind.beside for kind in _KINDS))


def steady(text: str) -> str:
    """The text without its passing lines; the whole text if it has no other words."""
    return _without(text, [(start, end) for start, end in _numbered(text) if is_passing(text[start:end])])


def undated(text: str) -> str:
    """The text without lines that are nothing but a date. They stay if there are many: a list of dates is content."""
    dated = [(start, end) for start, end in _numbered(text) if is_date(text[start:end])]
    return _without(text, dated) if len(dated) <= _FEW_DATES else text


def unsigned(text: str) -> str:
    """The text without the lines that say only when it was written, or by whom; without a few of each, as in
    `undated`."""
    dated = [(start, end) for start, end in _numbered(text) if is_dateline(text[start:end])]
    if len(dated) <= _FEW_DATES:
        text = _without(text, dated)
    named = [line.span() for line in islice(_BYLINE.finditer(text), _FEW_DATES + 1)]
    return _without(text, named) if len(named) <= _FEW_DATES else text


def _numbered(text: str) -> list[tuple[int, int]]:
    """Where short lines with a number begin and end. The last answer is kept, because two ask for it in a row."""
    global _last
    if _last[0] is not text:
        _last = (text, numbered_lines(text))
    return _last[1]


def numbered_lines(text: str) -> list[tuple[int, int]]:
    """Where short lines with a number begin and end."""
    if _COMPILED is not None:
        found: list[tuple[int, int]] = _COMPILED.numbered(text, _MOST_LINES)
        return found
    return [line.span() for line in islice(_NUMBERED.finditer(text), _MOST_LINES)]


def _without(text: str, lines: Sequence[tuple[int, int]]) -> str:
    if not lines:
        return text
    kept, at = [], 0
    for start, end in lines:
        kept.append(text[at:start])
        at = end
    rest = "".join((*kept, text[at:]))
    return rest if _WORD.search(rest) else text


def is_date(line: str) -> bool:
    """Whether a line with a number is nothing but a date."""
    first = _WORD.search(lowered := line.lower())
    if first is not None and first[0] not in _DATE:  # most lines
        return False
    return _DAY.search(line) is not None and frozenset(_WORD.findall(lowered)) <= _DATE


def is_dateline(line: str) -> bool:
    """Whether a line with a number is a date or a clock, alone or in a post's head: half of the words belong to the
    date, and the line begins with it, or says that something was written."""
    if is_date(line) or _CLOCK_ALONE.fullmatch(line):
        return True
    words = _WORD_OR_NUMBER.findall(line.lower())
    timely = [word for word in words if word in _DATE or word.isdecimal()]
    return (
        2 * len(timely) >= len(words)
        and _DAY.search(line) is not None
        and (words[0] in _WRITTEN or (words[0] in timely and _YEAR_OR_CLOCK.search(line) is not None))
    )


def is_passing(line: str) -> bool:
    """Whether a line with a number is a clock, a counter or a time of generation."""
    first = _WORD.search(lowered := line.lower())
    if first is not None and first[0] not in _KNOWN:  # most lines, so this is what a look at a line costs
        return False
    words = frozenset(_WORD.findall(lowered))
    if words <= _DATE and _SECONDS.search(line):
        return True
    return any(
        not words.isdisjoint(kind.keys)
        and (not kind.beside or not words.isdisjoint(kind.beside))
        and words <= kind.keys | kind.fillers | kind.beside
        for kind in _KINDS
    )
