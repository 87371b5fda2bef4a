"""Writes `docs/settings.md` from the code: `python -m gossamer.cli.reference`."""

from __future__ import annotations

import sys

from gossamer import settings


def settings_page() -> str:
    """All settings as a Markdown page."""
    lines = [
        "# Settings",
        "",
        "Generated from the code by `make docs`. They stand in `gossamer.toml` in the data folder, a table a section.",
    ]
    section = ""
    for setting in settings.describe():
        if setting.section != section:
            section = setting.section
            header = 'sites."HOST"' if section == "sites" else section
            lines += ["", f"## [{header}]", "", settings.section_sentence(section), ""]
            lines += ["| setting | type | default | meaning |", "|---|---|---|---|"]
        default = settings.toml_value(setting.default)
        default = default if len(default) <= 60 else default[:57] + "…"
        cells = (f"`{setting.name}`", f"`{setting.type}`", f"`{default}`", setting.sentence)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.write(settings_page())
