"""How figures look on the console: short, with a unit, and the same on every page."""

from __future__ import annotations

from gossamer.model.counts import counted as counted

_UNITS = ((86_400.0, "days"), (3_600.0, "h"), (60.0, "min"), (1.0, "s"))


def duration(seconds: float) -> str:
    """A time span in one unit, such as `5 s`, `12 min` or `3.5 days`."""
    seconds = max(0.0, seconds)
    for size, unit in _UNITS:
        if seconds >= 1.5 * size or size == 1.0:
            return f"{_short(seconds / size)} {unit}"
    raise AssertionError("seconds are a unit")


def ago(then: float | None, now: float) -> str:
    """When something was; a dash where it never was."""
    return f"{duration(now - then)} ago" if then else "–"


def ahead(then: float, now: float) -> str:
    """When something will be."""
    return f"in {duration(then - now)}" if then > now else "now"


def size(count: float) -> str:
    """Bytes in one unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{_short(count)} {unit}"
        count /= 1000
    return f"{_short(count)} TB"


def number(count: float) -> str:
    """A count with its thousands told apart."""
    return f"{count:,.0f}"


def percent(share: float) -> str:
    """A share; what is not all is never shown as 100 %, and what is not nothing never as 0 %."""
    hundred = 100.0 * share
    if 0.0 < hundred < 0.1:
        return "< 0.1 %"
    if 99.9 < hundred < 100.0:
        return "> 99.9 %"
    return f"{_short(hundred)} %"


def capitalised(sentence: str) -> str:
    """A sentence with a capital letter, unless it begins with a URL, a name or a setting."""
    first = sentence.split(maxsplit=1)[0] if sentence.strip() else ""
    return sentence[:1].upper() + sentence[1:] if first.rstrip(".,:;").isalpha() else sentence


def _short(value: float) -> str:
    text = f"{value:.0f}" if value >= 99.5 else f"{value:.1f}"
    return text.removesuffix(".0")
