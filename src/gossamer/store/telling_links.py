"""Links whose texts say something about the pages they point to."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc


def telling_links(table: pa.Table) -> list[tuple[str, str]]:
    """Target and text of the links that a page vouches for, each pair once, in order."""
    wanted = pc.and_(
        pc.and_(pc.is_in(table.column("tag"), pa.array(["a", "area"])), pc.not_equal(table.column("anchor"), "")),
        pc.and_(
            pc.invert(pc.match_substring(table.column("rel"), "nofollow")),
            pc.not_equal(table.column("source"), table.column("target")),
        ),
    )
    pairs = table.filter(wanted).select(["target", "anchor"]).group_by(["target", "anchor"]).aggregate([])
    return sorted(zip(pairs.column("target").to_pylist(), pairs.column("anchor").to_pylist(), strict=True))
