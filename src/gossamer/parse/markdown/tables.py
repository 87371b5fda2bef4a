"""Tables: which hold data, and how they become a grid that Markdown can show.

A table of GitHub's Markdown has one header row, and as many plain cells in each row. Cells that span others are
followed by empty ones, short rows are filled up, a caption becomes a paragraph. A table that only arranges a page
becomes boxes, and one around numbered lines of code becomes the code.
"""

from __future__ import annotations

from gossamer.parse.html import Element, detach

_LAYOUT_PARTS = "table,h1,h2,h3,h4,h5,h6,form,blockquote,article,section,pre"
"""What no cell of data holds."""
_MOST_CELLS = 20_000
_MOST_COLUMNS = 100
_LONGEST_SPAN = 1000


def rows_of(table: Element) -> list[Element]:
    """The rows of a table, without those of tables inside."""
    groups = [child for child in table.children if isinstance(child, Element)]
    return [
        row
        for group in groups
        for row in (
            [group] if group.tag == "tr" else group.children if group.tag in ("thead", "tbody", "tfoot") else ()
        )
        if isinstance(row, Element) and row.tag == "tr"
    ]


def cells_of(row: Element) -> list[Element]:
    """The cells of a row."""
    return [cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th")]


def holds_data(table: Element) -> bool:
    """Whether a table holds data: two rows and two columns or more, and nothing that only pages are made of."""
    if table.attr("role") in ("presentation", "none"):
        return False
    widths = [len(cells_of(row)) for row in rows_of(table)]
    if max(widths, default=0) < 2 or len(widths) < 2:
        return table.select_one("th") is not None and len(widths) > 1 and table.select_one(_LAYOUT_PARTS) is None
    return max(widths) <= _MOST_COLUMNS and table.select_one(_LAYOUT_PARTS) is None


def make_boxes(table: Element) -> None:
    """A table that only arranges a page: its cells follow each other. Tables inside stay what they are."""
    rows = rows_of(table)
    own = [table, *(child for child in table.children if isinstance(child, Element)), *rows]
    for part in (*own, *(cell for row in rows for cell in cells_of(row))):
        part.tag = "div"


def make_grid(table: Element) -> None:
    """A table of data as rows of equal length; one that is too large becomes boxes."""
    rows = rows_of(table)
    grid = _grid(rows)
    if grid is None:
        make_boxes(table)
        return
    for number, (row, cells) in enumerate(zip(rows, grid, strict=True)):
        detach(list(row.children))
        is_header = not number and _names_columns(row, cells)
        for cell in cells:
            row.append(Element("th" if is_header else "td", {}, [] if cell is None else list(cell.children)))
    for caption in table.select("caption"):
        caption.tag = "p"
        table.insert_before(caption)


def _grid(rows: list[Element]) -> list[list[Element | None]] | None:
    """The cells by row and column, None for a place without one; None where there are too many."""
    grid: list[list[Element | None]] = []
    held: list[int] = []
    """For each column the first row that no cell from above reaches into."""
    for number, row in enumerate(rows):
        cells: list[Element | None] = []
        for cell in cells_of(row):
            while len(cells) < len(held) and held[len(cells)] > number:
                cells.append(None)
            width, height = _span(cell, "colspan"), _span(cell, "rowspan")
            if len(cells) + width > _MOST_COLUMNS:
                return None
            held += [0] * (len(cells) + width - len(held))
            held[len(cells) : len(cells) + width] = [number + height] * width
            cells += [cell, *[None] * (width - 1)]
        grid.append(cells)
    if len(held) * len(grid) > _MOST_CELLS:
        return None
    return [cells + [None] * (len(held) - len(cells)) for cells in grid]


def _span(cell: Element, name: str) -> int:
    value = cell.attr(name) or ""
    return min(max(int(value), 1), _LONGEST_SPAN) if value.isdecimal() and len(value) < 6 else 1


def _names_columns(row: Element, cells: list[Element | None]) -> bool:
    """Whether the first row is a header: by its place, by its cells, or because all that it says is bold. Names of rows
    are none."""
    parent = row.parent
    if isinstance(parent, Element) and parent.tag == "thead":
        return True
    present = [cell for cell in cells if cell is not None]
    return all(cell.tag == "th" or not cell.text.strip() for cell in present) or all(map(_is_bold, present))


def _is_bold(cell: Element) -> bool:
    bold, words = cell.select_one("b,strong"), cell.text.strip()
    return bold is not None and bold.text.strip() == words != ""
