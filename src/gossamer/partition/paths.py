"""The rule of the papers: a site is cut by the first directory of its URLs.

Links mostly stay in their directory, and few directories hold most URLs. So only those few, the *key paths*, are dealt
out; any crawler may fetch all others, which costs some pages fetched twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

KEY_SHARE = 0.9
"""Share of a site's URLs that key paths hold."""


def path_of(url: str) -> str:
    """The path of a canonical URL: `host/first-directory`, or `host/` if there is none."""
    start = url.index("//") + 2
    slash = url.find("/", start)
    if slash < 0:
        return url[start:] + "/"
    query = url.find("?", slash)
    end = url.find("/", slash + 1, query if query >= 0 else len(url))
    return url[start : slash + 1] if end < 0 else url[start:end]


def key_paths(counts: Mapping[str, int], share: float = KEY_SHARE) -> list[str]:
    """The largest paths that together hold this share of the URLs, largest first; of equal ones the first by name."""
    wanted = share * sum(counts.values())
    found, held = [], 0
    for path in sorted(counts, key=lambda path: (-counts[path], path)):
        if held >= wanted:
            break
        found.append(path)
        held += counts[path]
    return found


def deal_out(sizes: Sequence[int], parts: int) -> list[int]:
    """The crawler of each key path, given in the order of `key_paths`: the one with the fewest URLs so far."""
    loads = [0] * parts
    chosen = []
    for size in sizes:
        part = min(range(parts), key=loads.__getitem__)
        loads[part] += size
        chosen.append(part)
    return chosen
