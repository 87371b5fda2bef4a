"""`bench/sites.py --quick` from archives to tables, on two small sites made here in the templates of the real ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from kit.made_up_sites import ITW66, MIRCSGO, pages, write_archive

SCRIPT = Path(__file__).parents[2] / "bench" / "sites.py"
ARTICLES, TAGS = 24, 4


def test_the_benchmark_of_sites_runs_from_archives_to_tables(tmp_path: Path) -> None:
    itw66 = pages(ITW66, "blog/space/{}.html", "tags/t{}/", "", ARTICLES, TAGS)
    mircsgo = pages(MIRCSGO, "story-{}/", "category/c{}/", "http://mircsgo.ru", ARTICLES, TAGS)
    write_archive(tmp_path / "itw66.tar.zst", itw66)
    write_archive(tmp_path / "ex-animo.tar.zst", mircsgo)
    figures = tmp_path / "figures.json"
    command = [sys.executable, str(SCRIPT), "--quick", "--archives", str(tmp_path), "--cache", str(tmp_path / "cache")]
    done = subprocess.run([*command, "--json", str(figures)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    found = json.loads(figures.read_bytes())["details"]
    assert {result["site"] for result in found["sites"]} == {"itw66", "mircsgo"}
    assert found["sites"][0]["level"] == "page level"
    for result in found["sites"]:
        assert result["pages"] == ARTICLES + TAGS + 1
        assert result["articles"]["pages"] == ARTICLES
        assert result["closeness"]["pages"] + result["kept_back"]["pages"] == ARTICLES
        assert result["closeness"]["recall"] > 0.9
        assert result["lists"]["queries"] == ARTICLES
        assert result["lists"]["found"] > 0.5
    for result in found["themes"]:
        assert result["pairs"]["stored"] == result["pairs"]["articles"] == ARTICLES
        assert 0 <= result["pairs"]["found"] <= 1
    assert "| mircsgo | page level |" in done.stdout
    assert f"| pairs stored of {ARTICLES} | {ARTICLES} |" in done.stdout
