r"""Rich Text Format (RTF 1.9.1): a stream of commands (`\b`), groups (`{…}`) and text.

Read are paragraphs, headings by their styles, lists, tables, links, footnotes and what the document says of itself.
Left out are headers and footers, pictures, comments, hidden and deleted text, and every destination that is not known:
the format asks for that.

Bytes beyond ASCII are text of a code page, which the document names and each font may change; `\u` gives the number of
a character in Unicode, followed by what older readers show instead.
"""

from __future__ import annotations

import codecs
import re

from gossamer.model.records import ParseJob
from gossamer.parse.documents.limits import MAX_DEPTH, Bomb, Budget, Unreadable
from gossamer.parse.documents.properties import day
from gossamer.parse.documents.writer import Writer

_TOKEN = re.compile(
    r"\\(?:([a-zA-Z]{1,32})(-?\d{1,10})? ?|'([0-9a-fA-F]{2})|([^a-zA-Z]))|([{}])|([^\\{}\r\n]+)|[\r\n]+", re.S
)
_FIELD = re.compile(r'\s*HYPERLINK\s+(?:\\[a-km-z]\s+)*"([^"]{1,4096})"', re.I)
_HEADING = re.compile(r"\s*heading\s*([1-9])", re.I)
_BULLET = re.compile(r"\s*([•·●▪◦‣–*o-]|\(?\w{1,5}[.)])\t\s*")
_STARTS = b"{\\rtf"
_CODE_PAGES = {
    0: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254",
    163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250",
}  # fmt: skip
"""Character sets of fonts."""
_SIGNS = {
    "tab": "\t", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
_SKIPPED = frozenset(
    ("colortbl", "listtable", "listoverridetable", "pict", "objdata", "objclass", "header", "headerl", "headerr",
     "headerf", "footer", "footerl", "footerr", "footerf", "xmlnstbl", "themedata", "colorschememapping", "datastore",
     "generator", "filetbl", "revtbl", "rsidtbl", "pgptbl", "bkmkstart", "bkmkend", "atnid", "atnauthor", "atntime",
     "atnref", "annotation", "pntxta", "pntxtb", "nonshppict", "sp", "fontemb", "xe", "tc", "mmathPr", "latentstyles",
     "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "private", "docvar", "userprops")
)  # fmt: skip
_KEPT = frozenset(("fldinst", "shpinst", "shptxt", "footnote", "ud", "listtext", "pntext", "nesttableprops"))
"""Destinations that are read although they are marked as ones that may be left out."""
_INFO = ("title", "author", "subject", "doccomm", "creatim", "revtim")
_FONTS_KEPT = 10_000
_LONGEST = 4_000


class _State:
    """What a group inherits from the one around it."""

    __slots__ = ("bold", "font", "hidden", "href", "italic", "place", "skips")

    def __init__(self) -> None:
        self.place = "body"
        """`body`, `none` (left out), or the name of a destination."""
        self.skips = 1
        r"""Characters after a `\u` that stand for it."""
        self.font = -1
        self.bold = self.italic = self.hidden = False
        self.href = ""

    def copy(self) -> _State:
        other = _State()
        for name in _State.__slots__:
            setattr(other, name, getattr(self, name))
        return other


def convert(job: ParseJob, writer: Writer, budget: Budget) -> None:
    """Take down an RTF document."""
    body = job.body.lstrip(b"\xef\xbb\xbf\r\n\t ")
    if not body.startswith(_STARTS):
        raise Unreadable("no RTF: it does not begin like it")
    _Reader(writer, budget).read(body[: writer.limits.max_bytes].decode("latin-1"))


class _Reader:
    """Reads one document."""

    def __init__(self, writer: Writer, budget: Budget) -> None:
        self._writer, self._budget = writer, budget
        self._state = _State()
        self._stack: list[_State] = []
        self._may_skip = False
        r"""After `\*`: the destination that follows may be left out."""
        self._fallback = 0
        """Characters to leave out."""
        self._bytes = bytearray()
        self._code_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        """Style → level of the heading, 0 for the title."""
        self._texts: dict[str, list[str]] = {}
        """What destinations hold that are no text of the body."""
        self._days: dict[str, list[int]] = {}
        self._half = ""
        """The first half of a character that comes in two."""
        self._notes = 0
        self._item = ""
        """What stands before the item that is being read."""
        self._forget_paragraph()
        self._row_is_open = self._table_is_open = self._is_head = False

    def _forget_paragraph(self) -> None:
        self._style = -1
        self._outline = -1
        self._in_table = False
        self._level = 0
        self._indent = 0

    def read(self, text: str) -> None:
        """All of it."""
        at, end, match = 0, len(text), _TOKEN.match
        self._state.place = "body"
        while at < end:
            token = match(text, at)
            if token is None:  # a backslash at the very end
                at += 1
                continue
            at = token.end()
            self._budget.take_elements()
            word, number, code, sign, brace, plain = token.groups()
            if plain is not None:
                self._plain(plain)
            elif code is not None:
                self._byte(int(code, 16))
            elif word is not None:
                at += self._word(word, int(number) if number else None)
            elif brace is not None:
                self._brace(brace)
            elif sign is not None:
                self._sign(sign)
        self._flush()
        self._end_line()
        self._end_table()
        self._take_information()

    # --- groups ---------------------------------------------------------------------------------------

    def _brace(self, brace: str) -> None:
        self._flush()
        self._may_skip, self._fallback = False, 0
        if brace == "{":
            if len(self._stack) >= MAX_DEPTH:
                raise Bomb(f"its groups nest deeper than {MAX_DEPTH}")
            self._stack.append(self._state)
            self._state = self._state.copy()
        elif self._stack:
            closed, self._state = self._state, self._stack.pop()
            if closed.place != self._state.place:
                self._leave(closed.place)

    def _leave(self, place: str) -> None:
        if place == "fldinst":
            found = _FIELD.match("".join(self._texts.pop("fldinst", [])))
            self._state.href = found[1] if found else ""
        elif place == "footnote":
            self._writer.end_note()
        elif place in ("listtext", "pntext"):
            self._item = "".join(self._texts.pop(place, [])).strip() or "•"
        elif place == "stylesheet":
            self._texts.pop("stylesheet", None)

    def _enter(self, place: str) -> None:
        state = self._state
        if state.place == "none":
            return
        if place == "footnote":
            self._flush()
            self._notes += 1
            self._writer.run(f"[{self._notes}]")
            self._writer.begin_note()
            self._writer.run(f"[{self._notes}] ")
        state.place = place

    # --- text -----------------------------------------------------------------------------------------

    def _plain(self, text: str) -> None:
        if self._fallback:
            left = min(self._fallback, len(text))
            self._fallback -= left
            text = text[left:]
        if text.isascii():
            self._flush()
            self._say(text)
        else:
            self._bytes += text.encode("latin-1")

    def _byte(self, code: int) -> None:
        if self._fallback:
            self._fallback -= 1
        else:
            self._bytes.append(code)

    def _flush(self) -> None:
        """Decode the bytes that came one by one: characters may be made of two."""
        if self._bytes:
            code_page = self._fonts.get(self._state.font, self._code_page)
            data, self._bytes = bytes(self._bytes), bytearray()
            self._say(data.decode(code_page, "replace"))

    def _sign(self, sign: str) -> None:
        if sign == "*":
            self._may_skip = True
        elif self._fallback:
            self._fallback -= 1
        elif sign == "~":
            self._flush()
            self._say(" ")
        elif sign == "_":
            self._flush()
            self._say("-")
        elif sign in "\\{}":
            self._flush()
            self._say(sign)
        elif sign in "\r\n":
            self._word("par", None)

    def _say(self, text: str) -> None:
        state = self._state
        place = state.place
        if place in ("body", "footnote"):
            if not state.hidden and text:
                if place == "body":
                    self._place_in_table()
                self._writer.run(text, state.href, state.bold, state.italic)
        elif place != "none":
            said = self._texts.setdefault(place, [])
            if len(said) < 1_000:
                said.append(text[:_LONGEST])
            if place == "stylesheet" and ";" in text:
                self._name_style("".join(said).partition(";")[0])
                said.clear()

    def _name_style(self, name: str) -> None:
        if self._style < 0:
            return
        if heading := _HEADING.match(name):
            self._levels[self._style] = int(heading[1])
        elif name.strip().lower() == "title":
            self._levels[self._style] = 0
        self._style = -1

    def _character(self, number: int) -> None:
        code = number + 65_536 if number < 0 else number
        self._flush()
        if 0xD800 <= code < 0xDC00:
            self._half = chr(code)
        elif 0xDC00 <= code < 0xE000:
            pair = self._half + chr(code)
            self._half = ""
            self._say(pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
        elif 0 < code < 0x110000:
            self._say(chr(code))
        self._fallback = self._state.skips

    # --- commands -------------------------------------------------------------------------------------

    def _word(self, word: str, number: int | None) -> int:
        """Obey a command; how many characters behind it are data of its own."""
        state = self._state
        may_skip, self._may_skip = self._may_skip, False
        if word == "bin":
            return max(number or 0, 0)
        if word == "u":
            self._character(number or 0)
            return 0
        if self._fallback:
            self._fallback -= 1
            return 0
        self._flush()
        if word in _SKIPPED or (may_skip and word not in _KEPT):
            state.place = "none"
        elif (sign := _SIGNS.get(word)) is not None:
            self._say(sign)
        elif (obey := getattr(self, f"_do_{word}", None)) is not None:
            obey(number)
        elif word in _INFO and state.place == "info":
            state.place = word
            self._texts.pop(word, None)  # what is said again in Unicode comes last
        return 0

    def _do_par(self, number: int | None) -> None:
        if self._state.place in ("body", "footnote"):
            self._end_line()

    _do_sect = _do_page = _do_par

    def _do_line(self, number: int | None) -> None:
        if self._state.place in ("body", "footnote"):
            self._writer.line_break()

    def _do_pard(self, number: int | None) -> None:
        if self._state.place == "body":
            self._forget_paragraph()

    def _do_plain(self, number: int | None) -> None:
        state = self._state
        state.bold = state.italic = state.hidden = False

    def _do_b(self, number: int | None) -> None:
        self._state.bold = number != 0

    def _do_i(self, number: int | None) -> None:
        self._state.italic = number != 0

    def _do_v(self, number: int | None) -> None:
        self._state.hidden = number != 0

    _do_deleted = _do_v

    def _do_uc(self, number: int | None) -> None:
        self._state.skips = min(max(number or 0, 0), 10)

    def _do_f(self, number: int | None) -> None:
        self._state.font = -1 if number is None else number

    def _do_fcharset(self, number: int | None) -> None:
        if self._state.place == "fonttbl" and len(self._fonts) < _FONTS_KEPT and number in _CODE_PAGES and number:
            self._fonts[self._state.font] = _CODE_PAGES[number]

    def _do_ansicpg(self, number: int | None) -> None:
        name = "utf-8" if number == 65001 else f"cp{number}"
        try:
            codecs.lookup(name)
        except LookupError:
            return
        self._code_page = name

    def _do_mac(self, number: int | None) -> None:
        self._code_page = "mac-roman"

    def _do_pc(self, number: int | None) -> None:
        self._code_page = "cp437"

    def _do_s(self, number: int | None) -> None:
        self._style = -1 if number is None else number

    def _do_outlinelevel(self, number: int | None) -> None:
        if self._state.place == "stylesheet":
            return
        self._outline = -1 if number is None else number

    def _do_intbl(self, number: int | None) -> None:
        self._in_table = True

    def _do_ilvl(self, number: int | None) -> None:
        self._level = max(number or 0, 0)

    def _do_ls(self, number: int | None) -> None:
        if self._state.place == "body" and number:
            self._item = self._item or "•"

    def _do_li(self, number: int | None) -> None:
        self._indent = number or 0

    # --- destinations ---------------------------------------------------------------------------------

    def _do_fonttbl(self, number: int | None) -> None:
        self._enter("fonttbl")

    def _do_stylesheet(self, number: int | None) -> None:
        self._enter("stylesheet")

    def _do_info(self, number: int | None) -> None:
        self._enter("info")

    def _do_fldinst(self, number: int | None) -> None:
        self._enter("fldinst")

    def _do_listtext(self, number: int | None) -> None:
        self._enter("listtext")

    def _do_pntext(self, number: int | None) -> None:
        self._enter("pntext")

    def _do_footnote(self, number: int | None) -> None:
        self._enter("footnote")

    def _do_chftn(self, number: int | None) -> None:
        """The number of a note, which we give ourselves."""

    def _do_yr(self, number: int | None) -> None:
        if self._state.place in ("creatim", "revtim"):
            self._days[self._state.place] = [number or 0]

    def _do_mo(self, number: int | None) -> None:
        if len(said := self._days.get(self._state.place, [])) == 1:
            said.append(number or 0)

    def _do_dy(self, number: int | None) -> None:
        if len(said := self._days.get(self._state.place, [])) == 2:
            said.append(number or 0)

    # --- tables ---------------------------------------------------------------------------------------

    def _do_trowd(self, number: int | None) -> None:
        if self._state.place == "body" and not self._row_is_open:
            self._begin_row()

    def _do_trhdr(self, number: int | None) -> None:
        self._is_head = True

    def _begin_row(self) -> None:
        if not self._table_is_open:
            self._writer.begin_table()
            self._table_is_open = True
        self._writer.begin_row()
        self._writer.begin_cell()
        self._row_is_open = True

    def _do_cell(self, number: int | None) -> None:
        if self._state.place != "body":
            return
        if not self._row_is_open:
            self._begin_row()
        self._end_line()
        self._writer.end_cell()
        self._writer.begin_cell()

    def _do_row(self, number: int | None) -> None:
        if self._state.place == "body" and self._row_is_open:
            self._writer.end_cell()
            self._writer.end_row(self._is_head)
            self._row_is_open = self._is_head = False

    def _place_in_table(self) -> None:
        """Before a text: begin the row that it stands in, or end the table that it follows."""
        if self._in_table and not self._row_is_open:
            self._begin_row()
        elif self._table_is_open and not self._row_is_open:
            self._end_table()

    def _end_table(self) -> None:
        if self._table_is_open:
            self._do_row(None)
            self._writer.end_table()
            self._table_is_open = False

    # --- paragraphs -----------------------------------------------------------------------------------

    def _end_line(self) -> None:
        writer = self._writer
        level = self._levels.get(self._style, self._outline + 1 if 0 <= self._outline < 6 else -1)
        bullet = self._item or writer.take_start(_BULLET)
        if self._state.place == "body" and level >= 0:
            writer.end_heading(max(level, 1), is_title=level == 0)
        elif bullet:
            depth = self._level or max(self._indent // 360 - 1, 0)
            writer.end_item(depth, bullet[:1].isalnum() and bullet != "o")
        else:
            writer.end_paragraph()
        self._item = ""

    def _take_information(self) -> None:
        properties, said = self._writer.properties, self._texts
        properties.title, properties.author = ("".join(said.get(name, [])).strip() for name in ("title", "author"))
        properties.description = "".join(said.get("subject", [])).strip() or "".join(said.get("doccomm", [])).strip()
        properties.published, properties.updated = (_day(self._days.get(name, [])) for name in ("creatim", "revtim"))


def _day(numbers: list[int]) -> str:
    return day("-".join(f"{number:02}" for number in numbers)) if len(numbers) == 3 else ""
